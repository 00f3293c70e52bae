//! Compiles the program for TPU v5e, or takes the module that is checked in where there is no compiler.

use xla_shape_pjrt::build::Compile;

fn main() {
    Compile::new("program.mlir", "v5e:2x2").or_checked_in("hlo/program.hlo").write("program.hlo");
}
