//! A new compiler chose another layout: the kernel that was written for the old one does not compile.

use xla_shape::{View, ViewMut, hlo_types, shape};

hlo_types! {
    mod program = "hlo/step_of_a_new_compiler.hlo" {
        type Product = "dot.3"(X, Weights);
    }
}

fn kernel(
    _: View<shape!(bf16[16,256]{1,0:T(8,128)(2,1)S(1)})>,
    _: View<shape!(bf16[256,512]{1,0:T(8,128)(2,1)})>,
    _: ViewMut<shape!(bf16[16,512]{1,0:T(8,128)(2,1)})>,
) {
}

fn step(x: View<program::X>, weights: View<program::Weights>, product: ViewMut<program::Product>) {
    kernel(x, weights, product);
}

fn main() {}
