//! A kernel with the signature of a program.

use xla_shape::types::ShapeType;
use xla_shape::{Buffer, View, ViewMut, hlo_types, shape};

hlo_types! {
    /// One step.
    pub mod program = "hlo/step.hlo" {
        type Product = "dot.3"(X, Weights);
        /// By row.
        type (Sum, Tanh) = "%fusion.1"(Same);
        type Factor = "dot.3"(_, ..);
        type Second = "add"::"%y";
        #[cfg(any())]
        type Unwanted = "x.1";
        type Inner = r"param_0.1";
    }
    pub(crate) mod many = "hlo/many.hlo";
}

// The types of the same file in another module are the same types.
hlo_types!(mod again = "hlo/step.hlo");

fn product(x: View<program::X>, weights: View<program::Weights>, mut out: ViewMut<program::Product>) {
    for i in 0..16 {
        for j in 0..512 {
            let terms = (0..256).map(|k| x[[i, k]].to_f32() * weights[[k, j]].to_f32());
            out[[i, j]] = half::bf16::from_f32(terms.sum());
        }
    }
}

fn same(parameters: program::Parameters) -> (program::X, program::Weights) {
    parameters
}

#[test]
fn passes() {
    assert_eq!(<program::Parameter0 as ShapeType>::TEXT, "bf16[16,256]{1,0:T(8,128)(2,1)S(1)}");
    assert_eq!(<program::Parameter1 as ShapeType>::TEXT, "bf16[256,512]{1,0:T(8,128)(2,1)}");
    assert_eq!(<program::Result as ShapeType>::TEXT, "(f32[16]{0:T(128)}, bf16[16,512]{1,0:T(8,128)(2,1)})");
    let _: (program::Sum, program::Tanh) = program::Result::default();
    let _: (program::Result0, program::Result1) = program::Result::default();
    let (_, _): (shape!(bf16[16,256]{1,0:T(8,128)(2,1)S(1)}), _) = same(Default::default());
    let _: program::Same = program::Inner::default();
    let _: program::Factor = program::Product::default();
    let _: program::Second = <shape!(f32[])>::default();
    let _: again::Result = program::Result::default();
    let _: many::Result13 = many::Parameter13::default();

    let x = Buffer::<program::X>::from_fn(|[i, _]| half::bf16::from_f32(i as f32));
    let weights = Buffer::<program::Weights>::from_fn(|_| half::bf16::ONE);
    let mut out = Buffer::<program::Product>::zeroed();
    product(x.view(), weights.view(), out.view_mut());
    assert_eq!(out[[3, 500]].to_f32(), 3.0 * 256.0);
}
