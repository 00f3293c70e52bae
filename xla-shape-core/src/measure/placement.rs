//! Where each element of an array lies in its buffer, and what lies at each place: the stride table together with the rest of
//! the layout.

use crate::layout::tile::TileDimension;
use crate::map::{Slot, Source, StrideTable, StrideTableError, StrideTableRef, row_major_number};
use crate::shape::array::ArrayShape;
use alloc::vec::Vec;

/// Where the elements of an array lie in its buffer.
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
    /// Where the elements lie in the array's buffer.
    ///
    /// Ignores splits.
    ///
    /// # Errors
    /// Same as [`ArrayShape::stride_table`].
    pub fn placement(&self) -> Result<Placement, StrideTableError> {
        let table = self.stride_table()?;
        let layout = self.layout();
        let positions =
            table.as_ref().positions().checked_next_multiple_of(layout.tail_padding_alignment_in_elements());
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
    /// The map.
    #[must_use]
    pub fn table(&self) -> StrideTableRef<'_> {
        self.table.as_ref()
    }

    /// How many positions there are, in elements, with all padding: that of the tiles, as in
    /// [`StrideTableRef::positions`], and that at the end.
    #[must_use]
    pub const fn padded_positions(&self) -> u64 {
        self.padded_positions
    }

    /// What lies at a position.
    #[must_use]
    pub fn slot(&self, position: u64) -> Slot<Vec<u64>> {
        let mut index = alloc::vec![0; self.table().extents().len()];
        self.slot_into(position, &mut index).map(|()| index)
    }

    /// What lies at a position; the element's index, if there is one, is written into `index`.
    ///
    /// # Panics
    /// If `index` has not exactly one entry for each dimension.
    pub fn slot_into(&self, position: u64, index: &mut [u64]) -> Slot<()> {
        match self.table().multi_index_into(position, index) {
            // Behind the tiles there may be more padding.
            Slot::OutOfRange if position < self.padded_positions => Slot::Padding,
            slot => slot,
        }
    }

    /// Where the element at a position begins: in bytes from the start of the buffer, the prefix for bounded dimensions
    /// included, and in bits from the lowest of that byte, 0 to 7. For a position far after the end, the largest number.
    #[must_use]
    pub const fn bit_offset(&self, position: u64) -> (u64, u64) {
        // A product of two numbers below 2^64.
        let bits = (position as u128).saturating_mul(self.element_bits as u128);
        let byte = (bits / 8).saturating_add(self.prefix_bytes as u128);
        (if byte > u64::MAX as u128 { u64::MAX } else { byte as u64 }, (bits % 8) as u64)
    }

    /// The element's number when all are counted in the order of their indices, the last dimension first (row-major),
    /// whatever the layout. `None` if the index is not inside the array.
    #[must_use]
    pub fn row_major_index(&self, index: &[u64]) -> Option<u64> {
        row_major_number(index, self.table().extents())
    }

    /// The indices of a dimension, above 0 and in ascending order, at which a tile, or a part of one, begins in memory. Empty
    /// where `*` combines the dimension with another.
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

    /// The block of the first tile that the element lies in, by its number in every direction, major to minor. `None`
    /// if there are no tiles or the index is not inside the array.
    #[must_use]
    pub fn tile_of(&self, index: &[u64]) -> Option<Vec<u64>> {
        let (table, outer) = self.first_tile.as_ref()?;
        table.as_ref().contains(index).then_some(())?;
        let values = table.as_ref().intermediate_values(index);
        Some(table.as_ref().digits().iter().take(*outer).map(|digit| digit.of(index, &values)).collect())
    }
}
