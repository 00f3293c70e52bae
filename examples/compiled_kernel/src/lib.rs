//! Kernels for the shapes that the compiler chooses while the crate is built.
//!
//! `build.rs` compiles `program.mlir` for TPU v5e with libtpu, if it is installed (`pip install libtpu`), and uses `hlo/program.hlo` otherwise. If
//! the compiler chooses another layout, `product_of_step` does not compile, because its arrays are not those that `product` accepts; and the build
//! warns that the checked-in module is out of date.

use half::bf16;
use xla_shape::types::StaticArray;
use xla_shape::{Buffer, View, ViewMut, hlo_types, shape};
use xla_shape_ffi::{Error, export, kernel};

hlo_types! {
    /// The types of the compiled program's shapes.
    pub mod step = "$OUT_DIR/program.hlo";
}

/// `x · w`, for the layouts that the compiler has chosen: `x` has contiguous columns, `w` contiguous rows.
fn product(
    x: &View<'_, shape!(f32[100,200]{0,1:T(8,128)})>,
    w: &View<'_, shape!(bf16[200,300]{1,0:T(8,128)(2,1)})>,
    out: &mut ViewMut<'_, shape!(f32[100,300]{0,1:T(8,128)})>,
) {
    for column in 0..300 {
        for row in 0..100 {
            out[[row, column]] = (0..200).map(|k| x[[row, k]] * w[[k, column]].to_f32()).sum();
        }
    }
}

/// The product of arrays with the program's layouts.
pub fn product_of_step(
    x: &View<'_, step::Parameter0>,
    w: &View<'_, step::Parameter1>,
    out: &mut ViewMut<'_, step::Result>,
) {
    product(x, w, out);
}

const PLACES: usize = <step::Parameter0 as StaticArray>::PHYSICAL_ELEMENTS;

kernel! {
    /// An array in the program's layout on the TPU: all positions of its memory, including padding.
    fn for_step(x: View<'_, shape!(f32[100,200])>, mut y: ViewMut<'_, shape!(f32[{ PLACES }])>) -> Result<(), Error> {
        y.as_mut_slice().fill(0.0);
        let mut laid_out = ViewMut::<step::Parameter0>::from_slice(y.as_mut_slice())?;
        laid_out.fill_with(|index| x[index]);
        Ok(())
    }

    /// The product of row-major arrays, computed on arrays with the program's layouts.
    fn step_product(
        x: View<'_, shape!(f32[100,200])>,
        w: View<'_, shape!(bf16[200,300])>,
        mut out: ViewMut<'_, shape!(f32[100,300])>,
    ) {
        let x = Buffer::<step::Parameter0>::from_fn(|index| x[index]);
        let w = Buffer::<step::Parameter1>::from_fn(|index| -> bf16 { w[index] });
        let mut result = Buffer::<step::Result>::zeroed();
        product_of_step(&x.view(), &w.view(), &mut result.view_mut());
        out.fill_with(|index| result[index]);
    }
}

export![for_step, step_product];
