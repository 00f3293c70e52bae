//! The stride table: where every element of an array lies.
//!
//! For any tiles, the position of an element is a sum `Σ digit · stride`. A digit follows from the element's index by one
//! division and one remainder: `(index[dimension] / divisor) % modulus`. Untiled, there is one digit for each dimension;
//! `T(8,128)(2,1)` on two dimensions gives five. Two things need more than one division: `*` makes a digit's source a sum of
//! several indices, and a later tile that does not divide an earlier one cuts a remainder again. For those the table holds
//! [`Intermediate`] values, which digits may take as their source.
//!
//! The table is built by a `const fn` from the definition in XLA's documentation on tiled layouts, and indexing, its inverse,
//! padding, sizes and copies use nothing else.

mod arithmetic;
mod build;
mod canonical;
mod facts;
mod lookup;
mod mapping;
mod normal;
mod offsets;
mod period;
mod runs;
mod segments;
pub(crate) mod size;
mod terms;
pub(crate) mod tile_block;
mod walk;

pub use arithmetic::{
    greatest_common_divisor, increment, least_common_multiple, row_major_index, row_major_number, same_sizes,
};
pub(crate) use build::{BuildError, Extents, Workspace, build, capacity, capacity_for_sizes, largest_piece};
pub(crate) use canonical::{Comparison, canonical, compare_in_const, first_moved};
pub use lookup::Slot;
pub use mapping::{LayoutMapping, MappingError};
pub use offsets::OffsetTables;
pub use runs::{Bands, Run};
pub(crate) use terms::{View, fill_row_major_terms, row_major_terms, whole_dimension};

use crate::layout::Layout;
use crate::layout::dimension::Dimension;
use crate::list::{Blank, List};
use crate::sink::{Sink, error_in_const};
use alloc::vec::Vec;
use core::num::NonZeroU64;

/// What a [`Term`] is cut out of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    /// Nothing: the digit is always 0, as where a tile has more dimensions than the array.
    Zero,
    /// The element's index in this logical dimension.
    Dimension(u32),
    /// The intermediate value with this number.
    Intermediate(u32),
}

/// `(source / divisor) % modulus`, without the remainder if there is no modulus.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Term {
    /// What is divided.
    pub source: Source,
    /// By what.
    pub divisor: NonZeroU64,
    /// What the quotient is reduced by, if it can be larger.
    pub modulus: Option<NonZeroU64>,
}

impl Source {
    /// Whether the two are the same; usable in a `const`, where `==` is not.
    #[must_use]
    pub const fn same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Zero, Self::Zero) => true,
            (Self::Dimension(a), Self::Dimension(b)) | (Self::Intermediate(a), Self::Intermediate(b)) => a == b,
            _ => false,
        }
    }
}

impl Term {
    pub(crate) const ZERO: Self = Self::whole(Source::Zero);

    /// Whether the term is cut out of this dimension's index itself.
    #[must_use]
    pub const fn is_of(self, dimension: usize) -> bool {
        matches!(self.source, Source::Dimension(number) if number as usize == dimension)
    }

    pub(crate) const fn whole(source: Source) -> Self {
        Self { source, divisor: NonZeroU64::MIN, modulus: None }
    }
}

/// One summand of an element's place: `term · stride`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Digit {
    /// How the digit follows from the element's index.
    pub term: Term,
    /// How many values the place has room for. Values that `term` never takes are padding.
    pub size: u64,
    /// How far apart neighbouring values lie, in elements.
    pub stride: u64,
}

impl Digit {
    /// Whether the digit counts the tiles of an unbounded dimension, so that its size is not known. Only digits of
    /// [`StaticStrideTable::of`] can be unbounded.
    #[must_use]
    pub const fn is_unbounded(self) -> bool {
        self.size == build::UNKNOWN
    }
}

/// An intermediate value that digits, or later intermediate values, are cut out of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Intermediate {
    /// The term itself: a later tile cuts it unevenly.
    Term {
        /// The term.
        term: Term,
        /// How many values it can have: it is less than this.
        size: u64,
    },
    /// `major · minor_size + minor`: two dimensions combined by `*`.
    Combine {
        /// The more major of the two.
        major: Term,
        /// The more minor of the two.
        minor: Term,
        /// The size of the more minor one.
        minor_size: NonZeroU64,
        /// How many values it can have: it is less than this.
        size: u64,
    },
}

impl Intermediate {
    /// How many values it can have: it is less than this.
    #[must_use]
    pub const fn size(self) -> u64 {
        match self {
            Self::Term { size, .. } | Self::Combine { size, .. } => size,
        }
    }
}

impl Blank for Digit {
    const BLANK: Self = Self { term: Term::ZERO, size: 1, stride: 0 };
}

impl Blank for Intermediate {
    const BLANK: Self = Self::Term { term: Term::ZERO, size: 1 };
}

/// The map from indices to positions, and what follows from it: a stride table that is borrowed, wherever it is kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StrideTableRef<'a> {
    pub(crate) extents: &'a [u64],
    pub(crate) digits: &'a [Digit],
    pub(crate) intermediates: &'a [Intermediate],
    pub(crate) positions: u64,
}

impl<'a> StrideTableRef<'a> {
    /// The sizes (or bounds) of the logical dimensions, in elements.
    #[must_use]
    #[inline]
    pub const fn extents(self) -> &'a [u64] {
        self.extents
    }

    /// The digits, from the largest stride to the smallest: the fewest that give the same map.
    #[must_use]
    #[inline]
    pub const fn digits(self) -> &'a [Digit] {
        self.digits
    }

    /// The intermediate values that digits refer to; each refers to earlier ones only.
    #[must_use]
    #[inline]
    pub const fn intermediates(self) -> &'a [Intermediate] {
        self.intermediates
    }

    /// How many positions the digits span, in elements: the elements and the padding that tiles bring, but not that
    /// of [`tail_padding_alignment_in_elements`](crate::Layout::tail_padding_alignment_in_elements).
    #[must_use]
    #[inline]
    pub const fn positions(self) -> u64 {
        self.positions
    }
}

impl StrideTableRef<'_> {
    /// The table in memory of its own.
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

/// Why a shape has no stride table, or a question about two of them no answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum StrideTableError {
    /// A dimension is unbounded: positions are unknown until its size is known.
    UnboundedDimension {
        /// Which dimension.
        dimension: usize,
    },
    /// The positions do not fit in an `i64`. For a valid shape, only one with splits can be so large.
    Overflow,
    /// `*` combines an unbounded dimension with another one.
    CombinesUnbounded,
    /// A table in a `const` has at most [`StaticStrideTable::MAX_DIGITS`] digits.
    TooManyDigits,
    /// A table in a `const` has at most [`StaticStrideTable::MAX_INTERMEDIATES`] intermediate values.
    TooManyIntermediates,
    /// Tables over other dimensions are not compared.
    OtherDimensions,
    /// Tiles combine and cut dimensions so unevenly (`*` over sizes that share no divisor with the tiles, in a large
    /// array) that a comparison found neither a difference nor its absence.
    TooIntricate,
}

impl StrideTableError {
    const fn write(self, sink: &mut Sink<'_>) {
        match self {
            Self::UnboundedDimension { dimension } => {
                sink.text("dimension ");
                sink.count(dimension);
                sink.text(" is unbounded: positions are unknown until its size is known");
            }
            Self::Overflow => sink.text("the array spans more positions than fit in an i64"),
            Self::CombinesUnbounded => {
                sink.text("`*` combines an unbounded dimension with another one: their common size is not known");
            }
            Self::TooManyDigits => {
                sink.text("expected a stride table of at most ");
                sink.count(StaticStrideTable::MAX_DIGITS);
                sink.text(" digits, found more");
            }
            Self::TooManyIntermediates => {
                sink.text("expected tiles in which `*` combines at most ");
                sink.count(StaticStrideTable::MAX_INTERMEDIATES);
                sink.text(" times, found more");
            }
            Self::OtherDimensions => sink.text("the arrays differ in their dimensions"),
            Self::TooIntricate => sink.text("the comparison gave up: `*` in the tiles makes it too expensive"),
        }
    }
}

error_in_const!(StrideTableError);

/// The stride table of a shape that is known at run time. [`as_ref`](Self::as_ref) has the methods.
///
/// ```
/// use xla_shape_core::{ArrayShape, Slot};
///
/// let shape: ArrayShape = "f32[3,5]{1,0:T(2,2)}".parse()?;
/// let table = shape.stride_table()?;
/// let map = table.as_ref();
/// assert_eq!(map.linear_index(&[2, 3]), 17);
/// assert_eq!(map.multi_index(17), Slot::Element(vec![2, 3]));
/// assert_eq!(map.multi_index(9), Slot::Padding);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct StrideTable {
    extents: List<u64, 4>,
    // In place there is room for four dimensions in tiles of pairs.
    digits: List<Digit, 8>,
    intermediates: Vec<Intermediate>,
    positions: u64,
}

impl StrideTable {
    /// A table with room for the digits of most: [`ArrayShape::stride_table_into`](crate::ArrayShape::stride_table_into) writes to it.
    pub const BLANK: Self = Self { extents: List::BLANK, digits: List::BLANK, intermediates: Vec::new(), positions: 1 };

    /// Becomes the table of a valid layout over these dimensions.
    pub(crate) fn assign(&mut self, dimensions: &[Dimension], layout: &Layout) -> Result<(), StrideTableError> {
        self.assign_unsimplified(dimensions, layout)?;
        self.simplify();
        Ok(())
    }

    /// Becomes the table after the first `tiles` tiles, with all digits.
    pub(crate) fn assign_after_tiles(
        &mut self,
        dimensions: &[Dimension],
        layout: &Layout,
        tiles: usize,
    ) -> Result<(), StrideTableError> {
        let Some(first) = layout.tiles().get(..tiles) else { return self.assign_unsimplified(dimensions, layout) };
        let mut layout = layout.clone();
        layout.tiles = List::from_slice(first);
        self.assign_unsimplified(dimensions, &layout)
    }

    fn assign_unsimplified(&mut self, dimensions: &[Dimension], layout: &Layout) -> Result<(), StrideTableError> {
        let Self { extents, digits, intermediates, positions } = self;
        let extents = extents.room(dimensions.len());
        for (dimension, (size, extent)) in dimensions.iter().zip(&mut *extents).enumerate() {
            *extent = size.extent().ok_or(StrideTableError::UnboundedDimension { dimension })?;
        }
        let (num_digits, num_intermediates) = capacity(layout);
        let room = digits.room(num_digits);
        // Hardly any table has intermediate values.
        intermediates.clear();
        let workspace = Workspace { digits: room, intermediates: Some(intermediates) };
        let built = match build(Extents::Logical(extents), layout, workspace) {
            Err(BuildError::TooManyIntermediates) => {
                intermediates.resize(num_intermediates, Intermediate::BLANK);
                let workspace = Workspace { digits: room, intermediates: Some(intermediates) };
                build(Extents::Logical(extents), layout, workspace)?
            }
            built => built?,
        };
        digits.truncate(built.digits);
        intermediates.truncate(built.intermediates);
        *positions = built.positions;
        Ok(())
    }

    fn simplify(&mut self) {
        let digits = self.digits.as_mut_slice();
        let count = build::simplify(digits, digits.len());
        self.digits.truncate(count);
    }

    /// The table of the array with every element cut into this many parts, which are a new last dimension.
    pub(crate) fn in_parts(mut self, parts: u64) -> Self {
        if parts > 1 {
            for digit in self.digits.as_mut_slice() {
                digit.stride = digit.stride.saturating_mul(parts);
            }
            let term = Term::whole(Source::Dimension(self.extents.as_slice().len() as u32));
            self.digits.push(Digit { term, size: parts, stride: 1 });
            self.extents.push(parts);
            self.positions = self.positions.saturating_mul(parts);
        }
        self
    }

    /// The table, borrowed.
    #[must_use]
    #[inline]
    pub fn as_ref(&self) -> StrideTableRef<'_> {
        StrideTableRef {
            extents: self.extents.as_slice(),
            digits: self.digits.as_slice(),
            intermediates: &self.intermediates,
            positions: self.positions,
        }
    }
}

/// The stride table of a shape that is known at compile time, as a plain value of fixed size. [`as_ref`](Self::as_ref) has the methods.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StaticStrideTable {
    digits: [Digit; Self::MAX_DIGITS],
    num_digits: usize,
    intermediates: [Intermediate; Self::MAX_INTERMEDIATES],
    num_intermediates: usize,
    positions: u64,
}

impl StaticStrideTable {
    /// The most digits that a table in a `const` can have: the dimensions and all entries of all tiles, with some
    /// room to spare.
    pub const MAX_DIGITS: usize = 32;
    /// The most intermediate values that a table in a `const` can have.
    pub const MAX_INTERMEDIATES: usize = 16;

    /// The table of a valid layout over dimensions of these sizes.
    ///
    /// # Errors
    /// Same as [`ArrayShape::stride_table`](crate::ArrayShape::stride_table), or if the table is too large for a `const`.
    pub const fn new(extents: &[u64], layout: &Layout) -> Result<Self, StrideTableError> {
        Self::build(Extents::Logical(extents), layout)
    }

    /// The table of a valid layout over these dimensions; some may be unbounded.
    ///
    /// The size of a digit that counts an unbounded dimension [is not known](Digit::is_unbounded); multiply the strides of the
    /// digits before it by that size once it is known.
    ///
    /// # Errors
    /// If a `*` combines an unbounded dimension, or the table is too large for a `const`.
    pub const fn of(dimensions: &[Dimension], layout: &Layout) -> Result<Self, StrideTableError> {
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

    /// The table, borrowed; `extents` are the sizes it was made for.
    #[must_use]
    #[inline]
    pub const fn as_ref<'a>(&'a self, extents: &'a [u64]) -> StrideTableRef<'a> {
        StrideTableRef {
            extents,
            digits: self.digits.split_at(self.num_digits).0,
            intermediates: self.intermediates.split_at(self.num_intermediates).0,
            positions: self.positions,
        }
    }

    /// The table with the fewest digits that gives the same positions of elements. Use it only to compute positions: its first
    /// digit may count the indices of an unbounded dimension, not its tiles.
    #[must_use]
    #[expect(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "indices are below `num_digits`")]
    pub const fn for_positions(&self) -> Self {
        let mut table = *self;
        if self.num_digits >= 2
            && let Some(joined) = build::join_outermost(self.digits[0], self.digits[1])
        {
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
    #[must_use]
    pub const fn positions(&self) -> u64 {
        self.positions
    }

    /// How many digits there are.
    #[must_use]
    pub const fn num_digits(&self) -> usize {
        self.num_digits
    }

    /// How many intermediate values there are.
    #[must_use]
    pub const fn num_intermediates(&self) -> usize {
        self.num_intermediates
    }

    /// Digit number `i`; past the last one, a digit that is always 0.
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "the index is compared with the length first")]
    pub const fn digit(&self, i: usize) -> Digit {
        if i < self.num_digits { self.digits[i] } else { Digit::BLANK }
    }

    /// Intermediate value number `i`; past the last one, one that is always 0.
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "the index is compared with the length first")]
    pub const fn intermediate(&self, i: usize) -> Intermediate {
        if i < self.num_intermediates { self.intermediates[i] } else { Intermediate::BLANK }
    }
}
