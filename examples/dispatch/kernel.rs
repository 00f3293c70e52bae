//! The kernels, and the choice between them.

use std::error::Error;
use xla_shape::element::F32;
use xla_shape::types::ArrayType;
use xla_shape::{ArrayShape, DynBuffer, View, ViewMut, dispatch, shape};

/// The most frequent shape.
pub(crate) type Usual = shape!(f32[64,256]{1,0:T(8,128)});
/// A batch of any size. Positions inside a row are still compile-time constants.
pub(crate) type Batch = shape!(f32[?,256]{1,0:T(8,128)});
pub(crate) type Factors = shape!(f32[256]);

/// Multiplies each column by its factor; returns the name of the kernel that was used.
pub(crate) fn scale(x: &mut DynBuffer, factors: &DynBuffer) -> Result<&'static str, Box<dyn Error>> {
    Ok(dispatch!(match &mut x, &factors {
        (Usual, Factors) => {
            scale_columns(x, factors);
            "f32[64,256], static"
        }
        (Batch, Factors) => {
            scale_columns(x, factors);
            "f32[?,256], any number of rows"
        }
        _ => {
            let [rows, columns] = sizes(x.shape());
            for row in 0..rows {
                for column in 0..columns {
                    let product = x.get::<F32>(&[row, column])? * factors.get::<F32>(&[column])?;
                    x.set::<F32>(&[row, column], product)?;
                }
            }
            "fallback"
        }
    }))
}

/// The sizes of a matrix in memory.
pub(crate) fn sizes(shape: &ArrayShape) -> [usize; 2] {
    [0, 1].map(|dimension| shape.dimensions()[dimension].extent().unwrap_or(0) as usize)
}

/// For all shapes of two dimensions: the compiler makes a kernel for each type.
fn scale_columns<S: ArrayType<Element = F32>>(mut x: ViewMut<'_, S>, factors: View<'_, Factors>) {
    x.apply_along::<-1, _, _>(&factors, |x, factor| x * factor);
}
