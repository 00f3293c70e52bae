//! What is wrong in the module is shown, by line and column of its file.

xla_shape::hlo_types! {
    mod program = "hlo/broken.hlo" {
        type Z = "z";
    }
}

fn z(_: program::Z) {}

fn main() {}
