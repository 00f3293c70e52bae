//! Whether a vector in one layout can be used as if it had another, and which steps change the layout if not.

use super::{ImplicitDimensions, LANES, Offset, VectorLayout, VectorLayoutError};
use alloc::vec::Vec;
use core::fmt;

/// A step of the change from one vector layout to another: how elements move between registers or within them.
///
/// ```
/// use xla_shape_core::tpu::vector::{RelayoutStep, VectorLayout};
///
/// let (from, to): (VectorLayout, VectorLayout) = ("32,{3,0},(8,128)".parse()?, "32,{0,0},(8,128)".parse()?);
/// assert_eq!(from.relayout(&to, &[16, 256])?, [RelayoutStep::Rows { from: 3, to: 0 }]);
/// assert_eq!(to.relayout(&to, &[16, 256])?, [], "nothing moves");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum RelayoutStep {
    /// The elements change their width, and with it the number of them that share a word.
    Packing {
        /// The bits of an element before and after.
        bits: [u64; 2],
    },
    /// Other dimensions of the vector become the rows and columns of registers.
    ImplicitDimensions,
    /// The tiles in a register change.
    Tile {
        /// Rows and columns before.
        from: [u64; 2],
        /// Rows and columns after.
        to: [u64; 2],
    },
    /// Rows move along the sublanes.
    Rows {
        /// The row of the first element before.
        from: u64,
        /// The row of the first element after.
        to: u64,
    },
    /// Columns move along the lanes.
    Columns {
        /// The column of the first element before.
        from: u64,
        /// The column of the first element after.
        to: u64,
    },
    /// One row is copied to all rows of its register.
    ReplicateRows,
    /// One column is copied to all columns of its register.
    ReplicateColumns,
}

impl fmt::Display for RelayoutStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packing { bits: [from, to] } => write!(f, "packs elements of {from} bits as {to}"),
            Self::ImplicitDimensions => f.write_str("makes other dimensions the rows and columns of registers"),
            Self::Tile { from, to } => {
                write!(f, "changes tiles from ({},{}) to ({},{})", from[0], from[1], to[0], to[1])
            }
            Self::Rows { from, to } => write!(f, "moves rows along the sublanes, from row {from} to {to}"),
            Self::Columns { from, to } => write!(f, "moves columns along the lanes, from column {from} to {to}"),
            Self::ReplicateRows => f.write_str("copies a row to all rows of its register"),
            Self::ReplicateColumns => f.write_str("copies a column to all columns of its register"),
        }
    }
}

impl VectorLayout {
    /// Whether a vector of these sizes in this layout can be used as if it had `other`: this layout stores each element
    /// at every location where `other` stores it. Then the change of layout is free.
    ///
    /// A replicated offset generalizes any fixed offset, but not the reverse. Layouts that are the same for these
    /// sizes, such as different tiles that each hold the whole vector, generalize each other. The rule is the
    /// compiler's (`VectorLayout::generalizes` in `xla/mosaic/dialect/tpu/layout.cc`, with the offsets of
    /// `getCanonicalOffsets`).
    ///
    /// # Errors
    ///
    /// If a vector of these sizes cannot have one of the two layouts.
    ///
    /// ```
    /// use xla_shape_core::tpu::vector::VectorLayout;
    ///
    /// let replicated: VectorLayout = "32,{0,*},(8,128)".parse()?;
    /// let fixed: VectorLayout = "32,{0,0},(8,128)".parse()?;
    /// assert!(replicated.generalizes(&fixed, &[8, 128])?);
    /// assert!(!fixed.generalizes(&replicated, &[8, 128])?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn generalizes(&self, other: &Self, sizes: &[u64]) -> Result<bool, VectorLayoutError> {
        Ok(self.relayout(other, sizes)?.is_empty())
    }

    /// The steps that change the layout of a vector of these sizes to `to`; none if this layout
    /// [generalizes](Self::generalizes) `to`.
    ///
    /// The cost of a step depends on the compiler: some need an instruction for each register, some none.
    ///
    /// # Errors
    ///
    /// If a vector of these sizes cannot have one of the two layouts.
    ///
    /// ```
    /// use xla_shape_core::tpu::vector::{RelayoutStep, VectorLayout};
    ///
    /// let from: VectorLayout = "32,{3,0},(8,128)".parse()?;
    /// let to: VectorLayout = "32,{0,0},(8,128)".parse()?;
    /// assert_eq!(from.relayout(&to, &[16, 256])?, [RelayoutStep::Rows { from: 3, to: 0 }]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn relayout(&self, to: &Self, sizes: &[u64]) -> Result<Vec<RelayoutStep>, VectorLayoutError> {
        self.registers(sizes)?;
        to.registers(sizes)?;
        let (extents, others) = (self.rows_and_columns(sizes)?, to.rows_and_columns(sizes)?);
        let mut steps = Vec::new();
        if self.bits != to.bits {
            steps.push(RelayoutStep::Packing { bits: [self.bits, to.bits] });
        }
        if extents != others && !self.rows_are_leading(to) {
            steps.push(RelayoutStep::ImplicitDimensions);
        }
        if self.tile != to.tile && !self.is_one_tile_of_both(to, extents) {
            steps.push(RelayoutStep::Tile { from: self.tile, to: to.tile });
        }
        let ([row, column], [to_row, to_column]) = (self.offsets, to.offsets);
        // If both tiles and the vector have one row, the row offset does not matter.
        if !(self.tile[0] == 1 && extents[0] == 1 && to.tile[0] == 1 && others[0] == 1) {
            match (row, to_row) {
                (Offset::Fixed(from), Offset::Fixed(to)) if from != to => steps.push(RelayoutStep::Rows { from, to }),
                (Offset::Fixed(_), Offset::Replicated) => steps.push(RelayoutStep::ReplicateRows),
                _ => {}
            }
        }
        match (column, to_column) {
            (Offset::Fixed(from), Offset::Fixed(to)) if from != to => steps.push(RelayoutStep::Columns { from, to }),
            (Offset::Fixed(_), Offset::Replicated) => steps.push(RelayoutStep::ReplicateColumns),
            _ => {}
        }
        Ok(steps)
    }

    /// Whether a vector of these sizes gets the layout `to` without an instruction: this layout
    /// [generalizes](Self::generalizes) `to`, or each register holds one value, in all of its places.
    ///
    /// The second rule is read from what the compiler makes of such vectors (the stage `apply-vector-layout` of Mosaic).
    ///
    /// # Errors
    ///
    /// If a vector of these sizes cannot have one of the two layouts.
    ///
    /// ```
    /// use xla_shape_core::tpu::vector::VectorLayout;
    ///
    /// let same_everywhere: VectorLayout = "32,{*,*},(8,128),-2".parse()?;
    /// let rows: VectorLayout = "32,{0,*},(8,128),-1".parse()?;
    /// assert!(same_everywhere.relayout_is_free(&rows, &[128])?);
    /// assert!(!rows.relayout_is_free(&same_everywhere, &[128])?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn relayout_is_free(&self, to: &Self, sizes: &[u64]) -> Result<bool, VectorLayoutError> {
        // Each index of the leading dimensions has registers of its own, and keeps them if the implicit dimensions stay the same.
        let one_value = self.offsets == [Offset::Replicated; 2]
            && self.bits == to.bits
            && (self.registers(sizes)? == 1 || self.implicit == to.implicit);
        Ok(self.generalizes(to, sizes)? || one_value)
    }

    /// Whether the rows of one layout are the last leading dimension of the other, and in both each row has registers
    /// of its own.
    fn rows_are_leading(&self, other: &Self) -> bool {
        use ImplicitDimensions::{None, SecondMostMinor};
        let one_row = self.tile[0] == 1 && other.tile[0] == 1;
        // If the rows are replicated, one register holds all of them.
        let one_register = other.implicit == None && other.offsets[0] == Offset::Replicated;
        one_row
            && !one_register
            && matches!((self.implicit, other.implicit), (None, SecondMostMinor) | (SecondMostMinor, None))
    }

    /// Whether all elements are in the first tile of either layout, at the same locations.
    ///
    /// This is stricter than the compiler's rule if `other` is replicated, because then it also fills the rest of its
    /// tile.
    fn is_one_tile_of_both(&self, other: &Self, [rows, columns]: [u64; 2]) -> bool {
        let ([row, column], [other_row, other_column]) = (self.offsets, other.offsets);
        let ([tile_rows, tile_columns], [other_rows, other_columns]) = (self.tile, other.tile);
        let fits = |offset, extent, room| match offset {
            Offset::Fixed(offset) => u64::checked_add(offset, extent).is_some_and(|end| end <= room),
            Offset::Replicated => extent <= room,
        };
        tile_columns == LANES
            && other_columns == LANES
            && other_column != Offset::Replicated
            && (other_row != Offset::Replicated || other_rows <= tile_rows)
            && fits(column, columns, LANES)
            && fits(row, rows, tile_rows.min(other_rows))
    }
}
