//! Constructors of stride tables, and access to their parts.

use super::{
    Digit, Extents, Intermediate, StaticStrideTable, StrideTable, StrideTableError, StrideTableRef, Workspace, build,
};
use crate::layout::Layout;
use crate::layout::dimension::Dimension;
use crate::list::{Blank, List};

impl<'a> StrideTableRef<'a> {
    /// The sizes (or bounds) of the logical dimensions, in elements.
    ///
    /// ```
    /// let table = "f32[3,5]{0,1}".parse::<xla_shape_core::ArrayShape>()?.stride_table()?;
    /// assert_eq!(table.as_ref().extents(), [3, 5]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub const fn extents(self) -> &'a [u64] {
        self.extents
    }

    /// The digits, from the largest stride to the smallest. Digits of size 1 are left out, and digits that continue
    /// each other are one.
    ///
    /// ```
    /// let table = "f32[3,5]{0,1}".parse::<xla_shape_core::ArrayShape>()?.stride_table()?;
    /// let strides: Vec<_> = table.as_ref().digits().iter().map(|digit| digit.stride).collect();
    /// assert_eq!(strides, [3, 1]); // dimension 1, then dimension 0
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub const fn digits(self) -> &'a [Digit] {
        self.digits
    }

    /// The intermediate values that digits refer to; each refers to earlier ones only.
    ///
    /// ```
    /// use xla_shape_core::map::Intermediate;
    ///
    /// let table = "f32[3,5]{1,0:T(*,4)}".parse::<xla_shape_core::ArrayShape>()?.stride_table()?;
    /// assert!(matches!(table.as_ref().intermediates(), [Intermediate::Combine { size: 15, .. }]));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub const fn intermediates(self) -> &'a [Intermediate] {
        self.intermediates
    }

    /// How many positions the digits span, in elements: the elements and the padding of tiles, without the padding
    /// of [`tail_padding_alignment_in_elements`](crate::Layout::tail_padding_alignment_in_elements).
    ///
    /// ```
    /// let table = "f32[3,5]{1,0:T(2,2)}".parse::<xla_shape_core::ArrayShape>()?.stride_table()?;
    /// assert_eq!(table.as_ref().positions(), 4 * 6); // padded to 4 rows and 6 columns
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub const fn positions(self) -> u64 {
        self.positions
    }
}

impl StrideTableRef<'_> {
    /// An owned copy of the table.
    ///
    /// ```
    /// let table = "f32[3,5]{0,1}".parse::<xla_shape_core::ArrayShape>()?.stride_table()?;
    /// assert_eq!(table.as_ref().to_owned(), table);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn to_owned(self) -> StrideTable {
        StrideTable {
            extents: List::from_slice(self.extents),
            digits: List::from_slice(self.digits),
            intermediates: self.intermediates.to_vec(),
            positions: self.positions,
        }
    }
}

impl StaticStrideTable {
    /// The most digits that a table in a `const` can have: more than enough for the dimensions and tiles that a type
    /// can have.
    pub const MAX_DIGITS: usize = 32;
    /// The most intermediate values that a table in a `const` can have.
    pub const MAX_INTERMEDIATES: usize = 16;

    /// The table of a valid layout over dimensions of these sizes.
    ///
    /// ```
    /// use xla_shape_core::{Layout, LayoutAttributes, map::StaticStrideTable};
    ///
    /// static LAYOUT: Layout = Layout::from_static(&[0, 1], &[], LayoutAttributes::DEFAULT);
    /// const POSITIONS: u64 = match StaticStrideTable::new(&[3, 5], &LAYOUT) {
    ///     Ok(table) => table.positions(),
    ///     Err(error) => error.panic(),
    /// };
    /// assert_eq!(POSITIONS, 15);
    /// ```
    ///
    /// # Errors
    /// Same as [`ArrayShape::stride_table`](crate::ArrayShape::stride_table), or if the table is too large for a
    /// `const`.
    pub const fn new(extents: &[u64], layout: &Layout) -> Result<Self, StrideTableError> {
        Self::build(Extents::Logical(extents), layout)
    }

    /// The table of a valid layout over these dimensions; some may be unbounded.
    ///
    /// The size of a digit that counts an unbounded dimension [is not known](Digit::is_unbounded). Once the size is known, multiply
    /// the strides of the digits before it by the size, as [`with_sizes`](Self::with_sizes) does.
    ///
    /// ```
    /// use xla_shape_core::{Dimension, Layout, map::StaticStrideTable};
    ///
    /// let layout: Layout = "{1,0:T(8,128)}".parse()?;
    /// let dimensions = [Dimension::Unbounded, Dimension::Static(256)];
    /// let table = StaticStrideTable::from_dimensions(&dimensions, &layout)?;
    /// assert!(table.digit(0).is_unbounded()); // counts the tiles of dimension 0
    /// assert_eq!(table.with_sizes(&[64, 256]).positions(), 64 * 256);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If `*` combines an unbounded dimension with another, or the table is too large for a `const`.
    pub const fn from_dimensions(dimensions: &[Dimension], layout: &Layout) -> Result<Self, StrideTableError> {
        Self::build(Extents::OrUnknown(dimensions), layout)
    }

    const fn build(extents: Extents<'_>, layout: &Layout) -> Result<Self, StrideTableError> {
        let mut digits = [Digit::BLANK; Self::MAX_DIGITS];
        let mut intermediates = [Intermediate::BLANK; Self::MAX_INTERMEDIATES];
        let workspace = Workspace { digits: &mut digits, intermediates: Some(&mut intermediates) };
        let built = match build(extents, layout, workspace) {
            Ok(built) => built,
            Err(error) => return Err(error.into_stride_table_error()),
        };
        let num_digits = build::simplify(&mut digits, built.digits);
        Ok(Self {
            digits,
            num_digits,
            intermediates,
            num_intermediates: built.intermediates,
            positions: built.positions,
        })
    }

    /// The table, borrowed, with the extents of its dimensions: the sizes that it was made for, or smaller ones.
    ///
    /// The table itself has no extents. With `&[]`, positions can be computed, but not indices.
    ///
    /// ```
    /// use xla_shape_core::{Layout, map::StaticStrideTable};
    ///
    /// let layout: Layout = "{1,0:T(8,128)}".parse()?;
    /// let table = StaticStrideTable::new(&[64, 256], &layout)?;
    /// assert_eq!(table.with_extents(&[64, 256]).linear_index(&[1, 128]), 1024 + 128);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub const fn with_extents<'a>(&'a self, extents: &'a [u64]) -> StrideTableRef<'a> {
        StrideTableRef {
            extents,
            digits: self.digits.split_at(self.num_digits).0,
            intermediates: self.intermediates.split_at(self.num_intermediates).0,
            positions: self.positions,
        }
    }

    /// A table with as few digits as possible that gives each element the same position. Use it only to compute
    /// positions: its first digit may count the indices of an unbounded dimension instead of its tiles.
    ///
    /// ```
    /// use xla_shape_core::{Dimension, Layout, map::StaticStrideTable};
    ///
    /// let layout: Layout = "{0:T(8)}".parse()?;
    /// let table = StaticStrideTable::from_dimensions(&[Dimension::Unbounded], &layout)?;
    /// assert_eq!((table.num_digits(), table.for_positions().num_digits()), (2, 1)); // i/8·8 + i%8 is i
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "indices are below `num_digits`")]
    pub const fn for_positions(&self) -> Self {
        let mut table = *self;
        if self.num_digits >= 2
            && let Some(joined) = build::join_outermost(self.digits[0], self.digits[1])
        {
            // The digits after the two move forward by one place.
            table.digits[0] = joined;
            table.num_digits -= 1;
            let mut i = 1;
            while i < table.num_digits {
                table.digits[i] = self.digits[i + 1];
                i += 1;
            }
        }
        table
    }

    /// How many positions the digits span, in elements.
    ///
    /// ```
    /// use xla_shape_core::{Layout, map::StaticStrideTable};
    ///
    /// let layout: Layout = "{1,0:T(8,128)}".parse()?;
    /// assert_eq!(StaticStrideTable::new(&[60, 200], &layout)?.positions(), 64 * 256);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn positions(&self) -> u64 {
        self.positions
    }

    /// How many digits there are.
    ///
    /// ```
    /// use xla_shape_core::{Layout, map::StaticStrideTable};
    ///
    /// let layout: Layout = "{1,0:T(8,128)}".parse()?;
    /// assert_eq!(StaticStrideTable::new(&[64, 256], &layout)?.num_digits(), 4);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn num_digits(&self) -> usize {
        self.num_digits
    }

    /// How many intermediate values there are.
    ///
    /// ```
    /// use xla_shape_core::{Layout, map::StaticStrideTable};
    ///
    /// let layout: Layout = "{1,0:T(*,4)}".parse()?; // `*` combines both dimensions
    /// let table = StaticStrideTable::new(&[3, 5], &layout)?;
    /// assert_eq!(table.num_intermediates(), 1);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn num_intermediates(&self) -> usize {
        self.num_intermediates
    }

    /// Digit number `i`; past the last one, a digit that is always 0.
    ///
    /// ```
    /// use xla_shape_core::{Layout, map::StaticStrideTable};
    ///
    /// let layout: Layout = "{1,0:T(8,128)}".parse()?;
    /// let table = StaticStrideTable::new(&[64, 256], &layout)?;
    /// assert_eq!((table.digit(0).size, table.digit(0).stride), (8, 2048)); // 8 rows of tiles
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "the index is compared with the length first")]
    pub const fn digit(&self, i: usize) -> Digit {
        if i < self.num_digits { self.digits[i] } else { Digit::BLANK }
    }

    /// Intermediate value number `i`; past the last one, one that is always 0.
    ///
    /// ```
    /// use xla_shape_core::{Layout, map::StaticStrideTable};
    ///
    /// let layout: Layout = "{1,0:T(*,4)}".parse()?; // `*` combines both dimensions
    /// let table = StaticStrideTable::new(&[3, 5], &layout)?;
    /// assert_eq!(table.intermediate(0).size(), 15);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "the index is compared with the length first")]
    pub const fn intermediate(&self, i: usize) -> Intermediate {
        if i < self.num_intermediates { self.intermediates[i] } else { Intermediate::BLANK }
    }
}
