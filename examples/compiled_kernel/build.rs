//! Compiles the program for TPU v5e; without a compiler, uses the checked-in module.

use xla_shape_pjrt::build::Compile;

fn main() {
    let program = Compile::new("program.mlir", "v5e:2x2").or_checked_in("hlo/program.hlo");
    // SAFETY: the plug-in is libtpu, as `pip install libtpu` installs it.
    unsafe { program.write("program.hlo") };
}
