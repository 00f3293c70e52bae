//! XLA's `ShapeUtil` (`xla/shape_util.h`) and the class `Shape`.

mod compare;
mod dynamic;
mod iterate;
mod parts;
mod reshape;
mod sizes;
mod transform;

pub use compare::*;
pub use dynamic::*;
pub use iterate::*;
pub use parts::*;
pub use reshape::*;
pub use sizes::*;
pub use transform::*;

use xla_shape_core::{ArrayShape, Shape, TransformError};

/// The argument of functions that change every array in a shape: an array, or a shape of any kind.
///
/// ```
/// use xla_shape_core::{ArrayShape, Shape};
/// use xla_shape_parity::layout_util::clear_tiles;
///
/// let array: ArrayShape = "f32[16,256]{1,0:T(8,128)}".parse()?;
/// assert_eq!(clear_tiles(&array)?.to_string(), "f32[16,256]{1,0}");
/// let shape: Shape = "(f32[16,256]{1,0:T(8,128)}, token[])".parse()?;
/// assert_eq!(clear_tiles(&shape)?.to_string(), "(f32[16,256]{1,0}, token[])");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub trait EachArray: Clone {
    /// The shape with each of its arrays changed.
    ///
    /// # Errors
    /// The first error of `change`.
    fn each_array(
        &self,
        change: impl FnMut(ArrayShape) -> Result<ArrayShape, TransformError>,
    ) -> Result<Self, TransformError>;
}

impl EachArray for ArrayShape {
    fn each_array(
        &self,
        mut change: impl FnMut(ArrayShape) -> Result<ArrayShape, TransformError>,
    ) -> Result<Self, TransformError> {
        change(self.clone())
    }
}

impl EachArray for Shape {
    fn each_array(
        &self,
        change: impl FnMut(ArrayShape) -> Result<ArrayShape, TransformError>,
    ) -> Result<Self, TransformError> {
        self.clone().try_map_arrays(change)
    }
}
