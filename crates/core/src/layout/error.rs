//! The error of an invalid shape: which of XLA's rules it breaks, and which part of it.

use crate::layout::attribute::LayoutAttribute;
use crate::limits::{MAX_MEMORY_SPACE, MAX_NESTING};
use crate::sink::{self, ConstText, Sink};
use core::fmt;

/// The rule that a shape or layout breaks, with the numbers that break it.
///
/// [`part`](Self::part) is the part of the shape that breaks the rule; the parser turns it into a position in the text. XLA checks
/// layouts in `LayoutUtil::ValidateLayoutForShape` (`xla/layout_util.cc`) and shapes in `ShapeUtil::ValidateShape`
/// (`xla/shape_util.cc`).
///
/// ```
/// use xla_shape_core::ValidationError;
///
/// let error = xla_shape_core::Layout::new(&[1, 2]).unwrap_err();
/// assert_eq!(error, ValidationError::DimensionNumberOutOfRange { position: 1, dimension: 2, num_dimensions: 2 });
/// assert_eq!(error.to_string(), "expected a dimension number less than 2, found 2");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ValidationError {
    /// `minor_to_major` must name every dimension.
    NumDimensionsMismatch {
        /// How many dimensions the array has.
        dimensions: usize,
        /// How many `minor_to_major` names.
        minor_to_major: usize,
    },
    /// `minor_to_major` may only name dimensions of the array.
    DimensionNumberOutOfRange {
        /// The index in `minor_to_major`.
        position: usize,
        /// The dimension number there.
        dimension: usize,
        /// How many dimensions there are.
        num_dimensions: usize,
    },
    /// `minor_to_major` may name a dimension only once.
    DuplicateDimensionNumber {
        /// The index in `minor_to_major` of the second mention.
        position: usize,
        /// The dimension number there.
        dimension: usize,
    },
    /// A tile needs at least one entry.
    EmptyTile {
        /// Which tile, counted from 0.
        tile: usize,
    },
    /// A tile's entries are `*` or at least 1.
    ZeroTileDimension {
        /// Which tile, counted from 0.
        tile: usize,
        /// Which of its entries.
        position: usize,
    },
    /// A tile's entries fit in an `i64`.
    TileDimensionTooLarge {
        /// Which tile, counted from 0.
        tile: usize,
        /// Which of its entries.
        position: usize,
        /// The entry.
        size: u64,
    },
    /// A tile cannot end with `*`: there is no more minor dimension to combine with.
    TrailingCombine {
        /// Which tile, counted from 0.
        tile: usize,
        /// Which of its entries.
        position: usize,
    },
    /// `L(n)` is at least 1.
    ZeroTailPaddingAlignment,
    /// `S(n)` is at most [`MAX_MEMORY_SPACE`].
    MemorySpaceOutOfRange {
        /// The number of the memory space.
        memory_space: u64,
    },
    /// `L(n)`, `E(n)` and `M(n)` fit in an `i64`.
    AttributeTooLarge {
        /// Which attribute.
        attribute: LayoutAttribute,
        /// Its value.
        value: u64,
    },
    /// A split names a physical dimension of the array.
    SplitDimensionOutOfRange {
        /// Which split, counted from 0.
        split: usize,
        /// The physical dimension that it names.
        dimension: usize,
        /// How many dimensions there are.
        num_dimensions: usize,
    },
    /// A physical dimension is split only once.
    DuplicateSplitDimension {
        /// Which split, counted from 0.
        split: usize,
        /// The physical dimension that it names again.
        dimension: usize,
    },
    /// A split has at least one index.
    EmptySplit {
        /// Which split, counted from 0.
        split: usize,
    },
    /// The indices of a split are above 0 and increasing.
    SplitIndexNotIncreasing {
        /// Which split, counted from 0.
        split: usize,
        /// Which of its indices.
        position: usize,
        /// That index.
        index: u64,
        /// The index before it, or 0 for the first index: the greatest value that is too small.
        previous: u64,
    },
    /// The indices of a split lie inside the dimension.
    SplitIndexOutOfRange {
        /// Which split, counted from 0.
        split: usize,
        /// Which of its indices.
        position: usize,
        /// That index.
        index: u64,
        /// The size of the physical dimension.
        size: u64,
    },
    /// An unbounded dimension cannot be split.
    SplitOfUnboundedDimension {
        /// Which split, counted from 0.
        split: usize,
        /// The physical dimension that it names.
        dimension: usize,
    },
    /// `#(…)`, `*(…)` and `P(…)` belong to sparse arrays, which XLA no longer has.
    SparseAttribute {
        /// Which attribute.
        attribute: LayoutAttribute,
    },
    /// A size fits in an `i64`.
    DimensionTooLarge {
        /// Which dimension.
        dimension: usize,
        /// Its size or bound.
        size: u64,
    },
    /// The number of elements fits in an `i64`.
    ElementCountOverflow,
    /// The number of bytes, without padding, fits in an `i64`.
    ByteCountOverflow,
    /// The number of elements with padding fits in an `i64`.
    PaddedElementCountOverflow,
    /// The number of bytes with padding fits in an `i64`.
    PaddedByteCountOverflow,
    /// Tuples in tuples are at most [`MAX_NESTING`] deep.
    NestedTooDeep {
        /// The deepest nesting that is allowed.
        limit: usize,
    },
}

/// A part of a shape: the part that a [`ValidationError`] is about.
///
/// ```
/// use xla_shape_core::{Layout, validate::ShapePart};
///
/// let error = Layout::new(&[1, 1]).unwrap_err();
/// assert_eq!(error.part(), ShapePart::MinorToMajorEntry(1), "the second 1 is wrong");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ShapePart {
    /// The whole shape.
    Shape,
    /// One dimension.
    Dimension(usize),
    /// The list of dimension numbers.
    MinorToMajor,
    /// One of the dimension numbers.
    MinorToMajorEntry(usize),
    /// One tile.
    Tile(usize),
    /// An entry (second number) of a tile (first number).
    TileEntry(usize, usize),
    /// One attribute.
    Attribute(LayoutAttribute),
    /// One split.
    Split(usize),
    /// The dimension that a split names.
    SplitDimension(usize),
    /// An index of a split: the number of the split, then that of the index.
    SplitIndex(usize, usize),
    /// An element of a tuple.
    TupleElement(usize),
}

impl ValidationError {
    pub(crate) const NESTED_TOO_DEEP: Self = Self::NestedTooDeep { limit: MAX_NESTING };

    /// The part of the shape that breaks the rule.
    ///
    /// ```
    /// use xla_shape_core::{Layout, validate::ShapePart};
    ///
    /// let error = Layout::new(&[1, 1]).unwrap_err();
    /// assert_eq!(error.part(), ShapePart::MinorToMajorEntry(1));
    /// ```
    #[must_use]
    pub const fn part(&self) -> ShapePart {
        match *self {
            Self::NumDimensionsMismatch { .. } => ShapePart::MinorToMajor,
            Self::DimensionNumberOutOfRange { position, .. } | Self::DuplicateDimensionNumber { position, .. } => {
                ShapePart::MinorToMajorEntry(position)
            }
            Self::EmptyTile { tile } => ShapePart::Tile(tile),
            Self::ZeroTileDimension { tile, position }
            | Self::TileDimensionTooLarge { tile, position, .. }
            | Self::TrailingCombine { tile, position } => ShapePart::TileEntry(tile, position),
            Self::ZeroTailPaddingAlignment => ShapePart::Attribute(LayoutAttribute::TailPaddingAlignment),
            Self::MemorySpaceOutOfRange { .. } => ShapePart::Attribute(LayoutAttribute::MemorySpace),
            Self::AttributeTooLarge { attribute, .. } | Self::SparseAttribute { attribute } => {
                ShapePart::Attribute(attribute)
            }
            Self::EmptySplit { split } => ShapePart::Split(split),
            Self::SplitDimensionOutOfRange { split, .. }
            | Self::DuplicateSplitDimension { split, .. }
            | Self::SplitOfUnboundedDimension { split, .. } => ShapePart::SplitDimension(split),
            Self::SplitIndexNotIncreasing { split, position, .. }
            | Self::SplitIndexOutOfRange { split, position, .. } => ShapePart::SplitIndex(split, position),
            Self::DimensionTooLarge { dimension, .. } => ShapePart::Dimension(dimension),
            Self::ElementCountOverflow
            | Self::ByteCountOverflow
            | Self::PaddedElementCountOverflow
            | Self::PaddedByteCountOverflow
            | Self::NestedTooDeep { .. } => ShapePart::Shape,
        }
    }

    /// Panics with the message of this error; in a `const`, that is a compile error with the message.
    ///
    /// # Panics
    /// Always.
    #[track_caller]
    pub const fn panic(&self) -> ! {
        panic!("{}", self.const_text().as_str())
    }

    /// Panics with the message and `what`, the text of the shape or layout that is wrong; usable in a `const`.
    #[track_caller]
    pub(crate) const fn panic_about(&self, what: &str) -> ! {
        panic!("{}", self.const_text().push_str(": ").push_str(what).as_str())
    }

    const fn const_text(&self) -> ConstText<1024> {
        let mut text = ConstText::new();
        self.write(&mut text.sink());
        text
    }

    pub(crate) const fn write(&self, sink: &mut Sink<'_>) {
        match *self {
            Self::NumDimensionsMismatch { dimensions, minor_to_major } => {
                sink.text("expected as many dimension numbers in minor_to_major as the array has dimensions (");
                sink.count(dimensions);
                sink.text("), found ");
                sink.count(minor_to_major);
            }
            Self::DimensionNumberOutOfRange { dimension, num_dimensions, .. } => {
                out_of_range(sink, "dimension number", dimension, num_dimensions);
            }
            Self::DuplicateDimensionNumber { dimension, .. } => {
                sink.text("expected every dimension once in minor_to_major, found ");
                sink.count(dimension);
                sink.text(" again");
            }
            Self::EmptyTile { .. } => sink.text("expected at least one dimension in a tile, found none"),
            Self::ZeroTileDimension { .. } => sink.text("expected a tile dimension of at least 1 or `*`, found 0"),
            Self::TileDimensionTooLarge { size, .. } => too_large(sink, "a tile dimension", size),
            Self::TrailingCombine { .. } => {
                sink.text("expected a size at the end of a tile, found `*`: no dimension is left to combine with");
            }
            Self::ZeroTailPaddingAlignment => {
                sink.text("expected a tail_padding_alignment_in_elements of at least 1, found 0");
            }
            Self::MemorySpaceOutOfRange { memory_space } => {
                sink.text("expected a memory_space of at most ");
                sink.number(MAX_MEMORY_SPACE);
                sink.text(", found ");
                sink.number(memory_space);
            }
            Self::AttributeTooLarge { attribute, value } => too_large(sink, attribute.name(), value),
            Self::SplitDimensionOutOfRange { dimension, num_dimensions, .. } => {
                out_of_range(sink, "physical dimension", dimension, num_dimensions);
            }
            Self::DuplicateSplitDimension { dimension, .. } => {
                sink.text("expected every physical dimension to be split at most once, found ");
                sink.count(dimension);
                sink.text(" again");
            }
            Self::EmptySplit { .. } => sink.text("expected at least one split index, found none"),
            Self::SplitIndexNotIncreasing { index, previous, .. } => {
                sink.text("expected a split index greater than ");
                sink.number(previous);
                sink.text(", found ");
                sink.number(index);
            }
            Self::SplitIndexOutOfRange { index, size, .. } => {
                sink.text("expected a split index less than the dimension's size ");
                sink.number(size);
                sink.text(", found ");
                sink.number(index);
            }
            Self::SplitOfUnboundedDimension { dimension, .. } => {
                sink.text("expected to split a dimension with a size, found physical dimension ");
                sink.count(dimension);
                sink.text(", which is unbounded");
            }
            Self::SparseAttribute { attribute } => {
                sink.text("expected a dense layout, found ");
                sink.text(attribute.name());
                sink.text(", which only sparse layouts of old versions of XLA had");
            }
            Self::DimensionTooLarge { size, .. } => too_large(sink, "a dimension's size", size),
            Self::ElementCountOverflow => overflow(sink, "elements"),
            Self::ByteCountOverflow => overflow(sink, "bytes"),
            Self::PaddedElementCountOverflow => overflow(sink, "elements with padding"),
            Self::PaddedByteCountOverflow => overflow(sink, "bytes with padding"),
            Self::NestedTooDeep { limit } => {
                sink.text("expected at most ");
                sink.count(limit);
                sink.text(" nested tuples, found more");
            }
        }
    }
}

const fn out_of_range(sink: &mut Sink<'_>, what: &str, found: usize, num_dimensions: usize) {
    if num_dimensions == 0 {
        sink.text("expected no ");
        sink.text(what);
        sink.text(", since a scalar has none, found ");
    } else {
        sink.text("expected a ");
        sink.text(what);
        sink.text(" less than ");
        sink.count(num_dimensions);
        sink.text(", found ");
    }
    sink.count(found);
}

const fn too_large(sink: &mut Sink<'_>, what: &str, found: u64) {
    sink.text("expected ");
    sink.text(what);
    sink.text(" that fits in an i64, found ");
    sink.number(found);
}

const fn overflow(sink: &mut Sink<'_>, what: &str) {
    sink.text("expected a number of ");
    sink.text(what);
    sink.text(" that fits in an i64, found more");
}

impl fmt::Display for ValidationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        sink::display(f, |sink| self.write(sink))
    }
}

impl core::error::Error for ValidationError {}
