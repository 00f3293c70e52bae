//! Where each element of an array lies in its buffer, and what each position holds: the stride table together with the
//! layout's attributes.

use crate::layout::tile::TileDimension;
use crate::map::{Slot, Source, StrideTable, StrideTableError, StrideTableRef, row_major_number};
use crate::shape::array::ArrayShape;
use alloc::vec::Vec;

/// Where the elements of an array lie in its buffer: its stride table, tail padding, element bits and metadata prefix.
///
/// ```
/// use xla_shape_core::{ArrayShape, Slot};
///
/// let shape: ArrayShape = "s4[3,5]{1,0:T(2,2)L(32)E(4)}".parse()?;
/// let placement = shape.placement()?;
/// assert_eq!(placement.table().linear_index(&[2, 3]), 17);
/// assert_eq!(placement.bit_offset(17), (8, 4));
/// assert_eq!((placement.slot(17), placement.slot(31)), (Slot::Element(vec![2, 3]), Slot::Padding));
/// assert_eq!(placement.tile_of(&[2, 3]), Some(vec![1, 1]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Placement {
    table: StrideTable,
    /// The table after the first tile, and how many of its digits, counted from the first, number the tiles.
    first_tile: Option<(StrideTable, usize)>,
    padded_positions: u64,
    element_bits: u64,
    prefix_bytes: u64,
}

impl ArrayShape {
    /// Where the elements lie in the array's buffer. Splits are ignored.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[3,5]{1,0:T(2,2)L(32)}".parse()?;
    /// assert_eq!(shape.placement()?.padded_positions(), 32);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`ArrayShape::stride_table`].
    pub fn placement(&self) -> Result<Placement, StrideTableError> {
        let table = self.stride_table()?;
        let layout = self.layout();
        let positions =
            table.as_ref().positions().checked_next_multiple_of(layout.tail_padding_alignment_in_elements());
        // The last digits of that table count within a tile, one for each size of the tile; the others number the
        // tiles.
        let first_tile = match layout.tiles().first() {
            Some(tile) => {
                let inner = tile.dimensions().iter().filter(|dimension| matches!(dimension, TileDimension::Size(_)));
                let inner = inner.count();
                let table = self.stride_table_after_tiles(1)?;
                let outer = table.as_ref().digits().len().saturating_sub(inner);
                Some((table, outer))
            }
            None => None,
        };
        Ok(Placement {
            padded_positions: positions.ok_or(StrideTableError::Overflow)?,
            table,
            first_tile,
            element_bits: self.element_bits(),
            prefix_bytes: layout.dynamic_shape_metadata_prefix_bytes(),
        })
    }
}

impl Placement {
    /// The stride table: the map from indices to positions.
    ///
    /// ```
    /// let placement = "f32[3,5]{1,0:T(2,2)L(32)}".parse::<xla_shape_core::ArrayShape>()?.placement()?;
    /// assert_eq!(placement.table().linear_index(&[2, 3]), 17);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn table(&self) -> StrideTableRef<'_> {
        self.table.as_ref()
    }

    /// How many positions there are, in elements, with all padding: [`StrideTableRef::positions`], which has the
    /// padding of tiles, rounded up to the tail padding alignment.
    ///
    /// ```
    /// let placement = "f32[3,5]{1,0:T(2,2)L(32)}".parse::<xla_shape_core::ArrayShape>()?.placement()?;
    /// assert_eq!((placement.table().positions(), placement.padded_positions()), (24, 32));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn padded_positions(&self) -> u64 {
        self.padded_positions
    }

    /// What a position holds: an element, padding, or nothing if it is out of range.
    ///
    /// ```
    /// use xla_shape_core::Slot;
    ///
    /// let placement = "f32[3,5]{1,0:T(2,2)L(32)}".parse::<xla_shape_core::ArrayShape>()?.placement()?;
    /// assert_eq!(placement.slot(17), Slot::Element(vec![2, 3]));
    /// assert_eq!((placement.slot(31), placement.slot(32)), (Slot::Padding, Slot::OutOfRange));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn slot(&self, position: u64) -> Slot<Vec<u64>> {
        let mut index = alloc::vec![0; self.table().extents().len()];
        self.slot_into(position, &mut index).map(|()| index)
    }

    /// What a position holds. If it holds an element, its index is written into `index`.
    ///
    /// ```
    /// use xla_shape_core::Slot;
    ///
    /// let placement = "f32[3,5]{1,0:T(2,2)L(32)}".parse::<xla_shape_core::ArrayShape>()?.placement()?;
    /// let mut index = [0; 2];
    /// assert_eq!(placement.slot_into(17, &mut index), Slot::Element(()));
    /// assert_eq!(index, [2, 3]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If `index` does not have exactly one entry for each dimension.
    pub fn slot_into(&self, position: u64, index: &mut [u64]) -> Slot<()> {
        match self.table().multi_index_into(position, index) {
            // The tail padding follows the tiles.
            Slot::OutOfRange if position < self.padded_positions => Slot::Padding,
            slot => slot,
        }
    }

    /// Where the element at a position begins: the byte, counted from the start of the buffer (which includes the
    /// prefix for bounded dimensions), and the bit in that byte, 0 to 7, counted from the lowest. A byte offset that
    /// overflows is `u64::MAX`.
    ///
    /// ```
    /// let placement = "s4[16]{0:E(4)}".parse::<xla_shape_core::ArrayShape>()?.placement()?;
    /// assert_eq!(placement.bit_offset(3), (1, 4)); // in the upper half of byte 1
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[expect(clippy::arithmetic_side_effects, reason = "a product of two `u64`, and a third one, fit in a `u128`")]
    pub const fn bit_offset(&self, position: u64) -> (u64, u64) {
        let bits = position as u128 * self.element_bits as u128;
        let byte = bits / 8 + self.prefix_bytes as u128;
        (if byte > u64::MAX as u128 { u64::MAX } else { byte as u64 }, (bits % 8) as u64)
    }

    /// The row-major number of an element: how many elements come before it when the last dimension varies fastest,
    /// whatever the layout. `None` if the index is out of bounds.
    ///
    /// ```
    /// let placement = "f32[3,5]{1,0:T(2,2)L(32)}".parse::<xla_shape_core::ArrayShape>()?.placement()?;
    /// assert_eq!((placement.row_major_index(&[2, 3]), placement.row_major_index(&[3, 0])), (Some(13), None));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn row_major_index(&self, index: &[u64]) -> Option<u64> {
        row_major_number(index, self.table().extents())
    }

    /// The sizes into which tiles cut a dimension, in elements, in ascending order: the length of the tile, and the
    /// lengths of the parts into which later tiles cut it. Sizes that are not shorter than the dimension are left out.
    /// Empty if `*` combines the dimension with another.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "bf16[64,256]{1,0:T(8,128)(2,1)}".parse()?;
    /// let placement = shape.placement()?;
    /// assert_eq!((placement.boundaries(0), placement.boundaries(1)), (vec![2, 8], vec![128]));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn boundaries(&self, dimension: usize) -> Vec<u64> {
        let digits =
            self.table().digits().iter().chain(self.first_tile.iter().flat_map(|(table, _)| table.as_ref().digits()));
        let of_dimension = digits
            .filter(|digit| matches!(digit.term.source, Source::Dimension(source) if source as usize == dimension));
        let extent = self.table().extents().get(dimension).copied().unwrap_or(0);
        let mut boundaries = of_dimension.map(|digit| digit.term.divisor.get()).collect::<Vec<_>>();
        boundaries.retain(|&boundary| 1 < boundary && boundary < extent);
        boundaries.sort_unstable();
        boundaries.dedup();
        boundaries
    }

    /// The tile of the layout's first level that holds an element: its number in each tiled direction, major to minor.
    /// `None` if there are no tiles or the index is out of bounds.
    ///
    /// ```
    /// let placement = "f32[3,5]{1,0:T(2,2)L(32)}".parse::<xla_shape_core::ArrayShape>()?.placement()?;
    /// assert_eq!(placement.tile_of(&[2, 3]), Some(vec![1, 1]));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn tile_of(&self, index: &[u64]) -> Option<Vec<u64>> {
        let (table, outer) = self.first_tile.as_ref()?;
        table.as_ref().contains(index).then_some(())?;
        let values = table.as_ref().intermediate_values(index);
        Some(table.as_ref().digits().iter().take(*outer).map(|digit| digit.value(index, &values)).collect())
    }
}
