//! No instruction has this name. Code that uses the types causes no further errors.

use xla_shape::{View, hlo_types};

hlo_types! {
    mod program = "hlo/step.hlo" {
        type Product = "dot.33"(X, Weights);
        type Sum = "fused_computation"::"sum";
        type Tanh = "fused_computatoin"::"tanh.1";
        type Nothing = "";
        (Maximum) = "fusion.1";
        type Result0 = "dot.3";
    }
}

fn kernel(_: View<program::Product>, _: View<program::Weights>, _: View<program::Parameter1>) {}

fn main() {}
