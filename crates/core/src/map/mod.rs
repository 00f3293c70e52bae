//! The stride table: where every element of an array lies.
//!
//! For any tiles, the position of an element is a sum `Σ digit · stride`. A digit follows from the element's index by
//! one division and one remainder: `(index[dimension] / divisor) % modulus`. An untiled layout has one digit for each
//! dimension; `T(8,128)(2,1)` on two dimensions has five. Two cases need more than one division: `*` makes the source
//! of a digit a sum of several indices, and a later tile that does not divide an earlier one cuts a remainder again.
//! For these the table holds [`Intermediate`] values, which a digit can have as its source.
//!
//! A `const fn` builds the table from the definition on XLA's page
//! [Tiled layout](https://openxla.org/xla/tiled_layout). Indexing, its inverse, padding, sizes and copies between
//! layouts all use this table and nothing else.
//!
//! ```
//! use xla_shape_core::ArrayShape;
//!
//! let table = "bf16[64,256]{1,0:T(8,128)(2,1)}".parse::<ArrayShape>()?.stride_table()?;
//! let digits = table.as_ref().digits().iter();
//! let digits: Vec<_> = digits.map(|digit| (digit.term.divisor.get(), digit.size, digit.stride)).collect();
//! // position = i/8·2048 + j/128·1024 + i%8/2·256 + j%128·2 + i%2
//! assert_eq!(digits, [(8, 8, 2048), (128, 2, 1024), (2, 4, 256), (1, 128, 2), (1, 2, 1)]);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

// rustdoc lists the methods of a table in the order of these modules: constructors and accessors first, then groups.
mod access;
mod parts;

mod lookup;

mod walk;

mod facts;
mod offsets;
mod period;
mod runs;
pub(crate) mod section;
mod segments;

mod canonical;
mod mapping;

mod arithmetic;
mod assert;
mod build;
mod normal;
pub(crate) mod size;
mod terms;
pub(crate) mod tile_block;

pub use arithmetic::{
    common_factors, greatest_common_divisor, increment, least_common_multiple, row_major_entries, row_major_index,
    row_major_number, same_sizes,
};
#[doc(hidden)]
pub use assert::assert_same_map;
pub(crate) use build::{BuildError, Extents, Workspace, build, capacity, capacity_for_sizes, largest_piece};
pub(crate) use canonical::{CONST_WORKSPACE, Comparison, canonical, compare_in_const, first_moved};
pub use lookup::Slot;
pub use mapping::LayoutMapping;
pub use offsets::OffsetTables;
pub use runs::{Bands, CommonBlock, Extension, Run};
pub(crate) use terms::{View, fill_row_major_terms, row_major_terms, whole_dimension};

use crate::layout::Layout;
use crate::layout::dimension::Dimension;
use crate::list::{Blank, List};
use crate::sink::{Sink, error_in_const};
use alloc::vec::Vec;
use core::num::NonZeroU64;

/// The number that a [`Term`] divides.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    /// The constant 0: a tile has more dimensions than the array.
    Zero,
    /// The element's index in this logical dimension.
    Dimension(u32),
    /// The intermediate value with this number.
    Intermediate(u32),
}

/// `(source / divisor) % modulus`, or `source / divisor` if there is no modulus.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Term {
    /// The dividend.
    pub source: Source,
    /// The divisor.
    pub divisor: NonZeroU64,
    /// The modulus of the quotient; `None` if the quotient is never that large.
    pub modulus: Option<NonZeroU64>,
}

impl Source {
    /// Whether the two are equal; usable in a `const`, where `==` is not.
    ///
    /// ```
    /// use xla_shape_core::map::Source;
    ///
    /// const SAME: bool = Source::Dimension(0).same(Source::Dimension(1));
    /// assert!(!SAME);
    /// ```
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

    /// Whether the source of the term is the index in this dimension.
    ///
    /// ```
    /// let table = "f32[3,5]".parse::<xla_shape_core::ArrayShape>()?.stride_table()?;
    /// assert!(table.as_ref().digits()[0].term.is_of(0));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn is_of(self, dimension: usize) -> bool {
        matches!(self.source, Source::Dimension(number) if number as usize == dimension)
    }

    pub(crate) const fn whole(source: Source) -> Self {
        Self { source, divisor: NonZeroU64::MIN, modulus: None }
    }
}

/// One summand of an element's position: `term · stride`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Digit {
    /// How the digit follows from the element's index.
    pub term: Term,
    /// How many values positions are reserved for. Values that `term` never has are padding.
    pub size: u64,
    /// The distance between consecutive values, in elements.
    pub stride: u64,
}

impl Digit {
    /// Whether the digit counts the tiles of an unbounded dimension, so that its size is not known. Only tables made by
    /// [`StaticStrideTable::from_dimensions`] have such digits.
    ///
    /// ```
    /// use xla_shape_core::{Dimension, Layout, map::StaticStrideTable};
    ///
    /// let layout: Layout = "{1,0:T(8,128)}".parse()?;
    /// let dimensions = [Dimension::Unbounded, Dimension::Static(256)];
    /// let table = StaticStrideTable::from_dimensions(&dimensions, &layout)?;
    /// assert!(table.digit(0).is_unbounded() && !table.digit(1).is_unbounded());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn is_unbounded(self) -> bool {
        self.size == build::UNKNOWN
    }
}

/// An intermediate value: the source of digits, or of later intermediate values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Intermediate {
    /// The value of a term, which a later tile cuts unevenly.
    Term {
        /// The term.
        term: Term,
        /// An exclusive upper bound of the value.
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
        /// An exclusive upper bound of the value.
        size: u64,
    },
}

impl Intermediate {
    /// An exclusive upper bound of the value.
    ///
    /// ```
    /// use xla_shape_core::{Layout, map::StaticStrideTable};
    ///
    /// let layout: Layout = "{1,0:T(*,4)}".parse()?; // `*` combines both dimensions
    /// let table = StaticStrideTable::new(&[3, 5], &layout)?;
    /// assert_eq!(table.intermediate(0).size(), 3 * 5);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
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

/// The map from indices to positions: a borrowed [`StrideTable`] or [`StaticStrideTable`]. It has the methods of both.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StrideTableRef<'a> {
    pub(crate) extents: &'a [u64],
    pub(crate) digits: &'a [Digit],
    pub(crate) intermediates: &'a [Intermediate],
    pub(crate) positions: u64,
}

/// Why a shape has no stride table, or why two tables cannot be compared.
///
/// ```
/// use xla_shape_core::{ArrayShape, StrideTableError};
///
/// let shape: ArrayShape = "f32[2,?]".parse()?;
/// assert_eq!(shape.stride_table().unwrap_err(), StrideTableError::UnboundedDimension { dimension: 1 });
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum StrideTableError {
    /// A dimension is unbounded: positions are unknown until its size is known.
    UnboundedDimension {
        /// Which dimension.
        dimension: usize,
    },
    /// The number of positions does not fit in an `i64`. Only a valid shape with splits can be so large.
    Overflow,
    /// `*` combines an unbounded dimension with another one.
    CombinesUnbounded,
    /// A table in a `const` has at most [`StaticStrideTable::MAX_DIGITS`] digits.
    TooManyDigits,
    /// A table in a `const` has at most [`StaticStrideTable::MAX_INTERMEDIATES`] intermediate values.
    TooManyIntermediates,
    /// The two tables have different extents, so they cannot be compared.
    OtherDimensions,
    /// A comparison reached its step limit: in a large array, `*` combines sizes that have no common divisor with the
    /// tiles. The tables may be equal or not.
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

/// The stride table of a shape that is known at run time. Its methods are those of [`StrideTableRef`]: call
/// [`as_ref`](Self::as_ref).
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
    // Eight are enough for four dimensions with tiles such as `(8,128)(2,1)`.
    digits: List<Digit, 8>,
    intermediates: Vec<Intermediate>,
    positions: u64,
}

impl StrideTable {
    /// A table of no dimensions, for [`ArrayShape::stride_table_into`](crate::ArrayShape::stride_table_into) to fill.
    pub const BLANK: Self = Self { extents: List::BLANK, digits: List::BLANK, intermediates: Vec::new(), positions: 1 };

    /// Makes this the table of a valid layout over these dimensions.
    pub(crate) fn assign(&mut self, dimensions: &[Dimension], layout: &Layout) -> Result<(), StrideTableError> {
        self.assign_unsimplified(dimensions, layout)?;
        self.simplify();
        Ok(())
    }

    /// Makes this the table of the layout with only its first `tiles` tiles, digits of size 1 included.
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
        let extents = extents.resize_for_overwrite(dimensions.len());
        for (dimension, (size, extent)) in dimensions.iter().zip(&mut *extents).enumerate() {
            *extent = size.extent().ok_or(StrideTableError::UnboundedDimension { dimension })?;
        }
        let (num_digits, num_intermediates) = capacity(layout);
        let room = digits.resize_for_overwrite(num_digits);
        // Few tables have intermediate values: try without room for them first.
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

    /// The table of the array whose elements are each cut into this many parts, counted by a new last dimension.
    pub(crate) fn in_parts(mut self, parts: u64) -> Self {
        if parts > 1 {
            // Part `p` of the element at position `q` is at position `parts * q + p`.
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
    ///
    /// ```
    /// let table = "f32[3,5]{0,1}".parse::<xla_shape_core::ArrayShape>()?.stride_table()?;
    /// assert_eq!(table.as_ref().linear_index(&[1, 2]), 1 + 2 * 3);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
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

/// The stride table of a shape that is known at compile time, as a value of fixed size. Its methods are those of
/// [`StrideTableRef`]: call [`with_extents`](Self::with_extents).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StaticStrideTable {
    digits: [Digit; Self::MAX_DIGITS],
    num_digits: usize,
    intermediates: [Intermediate; Self::MAX_INTERMEDIATES],
    num_intermediates: usize,
    positions: u64,
}
