//! The table of an array's shape.

use super::{StrideTable, StrideTableError};
use crate::list::List;
use crate::shape::array::ArrayShape;
use alloc::vec::Vec;

impl StrideTable {
    /// The table of `shape`.
    ///
    /// # Errors
    /// If a dimension is unbounded, or if the shape has splits and would be too large without them.
    pub fn new(shape: &ArrayShape) -> Result<Self, StrideTableError> {
        let mut table = Self::with_all_digits(known_extents(shape)?, shape.layout())?;
        table.simplify();
        Ok(table)
    }

    /// The table as it is after the first `tiles` tiles of the layout, to show how it comes about: unlike in the whole
    /// table, every dimension and every entry of a tile has its own digit, also of size 1.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, StrideTable};
    ///
    /// let shape: ArrayShape = "f32[3,1000]{1,0:T(8,128)}".parse()?;
    /// let sizes = |tiles| -> Result<Vec<_>, _> {
    ///     Ok(StrideTable::after_tiles(&shape, tiles)?.digits().iter().map(|digit| digit.size).collect())
    /// };
    /// assert_eq!(sizes(0), Ok(vec![3, 1000]));
    /// assert_eq!(sizes(1), Ok::<_, xla_shape_core::StrideTableError>(vec![1, 8, 8, 128]));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`StrideTable::new`].
    pub fn after_tiles(shape: &ArrayShape, tiles: usize) -> Result<Self, StrideTableError> {
        let mut layout = shape.layout().clone();
        let kept = layout.tiles().get(..tiles).map(List::from_slice);
        layout.tiles = kept.unwrap_or(layout.tiles);
        Self::with_all_digits(known_extents(shape)?, &layout)
    }
}

/// The sizes or bounds of all dimensions.
fn known_extents(shape: &ArrayShape) -> Result<Vec<u64>, StrideTableError> {
    let extents = shape.dimensions().iter().map(|dimension| dimension.extent()).enumerate();
    extents.map(|(dimension, extent)| extent.ok_or(StrideTableError::UnboundedDimension { dimension })).collect()
}
