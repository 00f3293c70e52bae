//! The file does not exist. Code that uses its types causes no further errors.

use xla_shape::{View, hlo_types};

hlo_types! {
    mod program = "hlo/stp.hlo" {
        type Product = "dot.3"(X, _);
    }
}

hlo_types!(mod elsewhere = "elsewhere/step.hlo";);

fn kernel(_: View<program::X>, _: View<program::Parameter1>, _: View<program::Product>) -> program::Result0 {
    Default::default()
}

fn main() {}
