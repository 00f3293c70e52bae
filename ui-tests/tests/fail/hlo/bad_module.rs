//! An error in the module is shown with the line and column in its file.

xla_shape::hlo_types! {
    mod program = "hlo/broken.hlo" {
        type Z = "z";
    }
}

fn z(_: program::Z) {}

fn main() {}
