//! What makes a layout and an array shape valid: the one place that decides, for the parser, the macros and the API.

use crate::dimension::Dimension;
use crate::element_type::ElementType;
use crate::layout::{Layout, SplitConfig};
use crate::size;
use crate::text::sink::{self, ConstText, Sink};
use crate::tile::{Tile, TileDimension};
use crate::tuple_shape::MAX_NESTING;
use alloc::vec;
use core::fmt;

/// The largest size, count or attribute: XLA holds them in an `i64`.
pub const MAX_SIZE: usize = i64::MAX as usize;

/// The highest memory space: XLA holds it in a signed byte.
pub const MAX_MEMORY_SPACE: usize = 127;

/// A rule of XLA shapes that is broken, with the numbers that break it.
///
/// [`part`](Self::part) tells where; the parser turns that into a position in the text.
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
        /// The place in `minor_to_major`.
        position: usize,
        /// The dimension number there.
        dimension: usize,
        /// How many dimensions there are.
        num_dimensions: usize,
    },
    /// `minor_to_major` may name a dimension only once.
    DuplicateDimensionNumber {
        /// The place in `minor_to_major` of the second mention.
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
        size: usize,
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
        /// The memory space that was asked for.
        memory_space: usize,
    },
    /// `L(n)`, `E(n)` and `M(n)` fit in an `i64`.
    AttributeTooLarge {
        /// Which attribute.
        attribute: Attribute,
        /// Its value.
        value: usize,
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
    /// The indices of a split increase and begin above 0.
    SplitIndexNotIncreasing {
        /// Which split, counted from 0.
        split: usize,
        /// Which of its indices.
        position: usize,
        /// That index.
        index: usize,
        /// What it must be greater than.
        previous: usize,
    },
    /// The indices of a split lie inside the dimension.
    SplitIndexOutOfRange {
        /// Which split, counted from 0.
        split: usize,
        /// Which of its indices.
        position: usize,
        /// That index.
        index: usize,
        /// The size of the physical dimension.
        size: usize,
    },
    /// An unbounded dimension cannot be split.
    SplitOfUnboundedDimension {
        /// Which split, counted from 0.
        split: usize,
        /// The physical dimension that it names.
        dimension: usize,
    },
    /// `#(…)` and `*(…)` and `P(…)` belong to sparse arrays, which XLA no longer has.
    SparseAttribute {
        /// Which attribute.
        attribute: Attribute,
    },
    /// `padded_dimensions` of an older layout must give a width for every dimension.
    PaddedDimensionsMismatch {
        /// How many dimensions the array has.
        dimensions: usize,
        /// How many widths there are.
        padded_dimensions: usize,
    },
    /// A padded dimension is at least as wide as its size.
    PaddedDimensionTooSmall {
        /// Which dimension.
        dimension: usize,
        /// Its width.
        width: usize,
        /// Its size.
        size: usize,
    },
    /// The width of a padded dimension fits in an `i64`.
    PaddedDimensionTooLarge {
        /// Which dimension.
        dimension: usize,
        /// Its width.
        width: usize,
    },
    /// A size fits in an `i64`.
    DimensionTooLarge {
        /// Which dimension.
        dimension: usize,
        /// Its size or bound.
        size: usize,
    },
    /// The number of elements fits in an `i64`.
    ElementCountOverflow,
    /// The number of bytes, without padding, fits in an `i64`.
    ByteCountOverflow,
    /// The number of elements with padding fits in an `i64`.
    PaddedElementCountOverflow,
    /// The number of bytes with padding fits in an `i64`.
    PaddedByteCountOverflow,
    /// The value of padding has one of the numbers of the schema of 2017.
    UnknownPaddingValue {
        /// The number.
        number: i32,
    },
    /// Tuples in tuples are at most [`MAX_NESTING`] deep.
    NestedTooDeep {
        /// How many levels there may be.
        limit: usize,
    },
}

/// An attribute of a layout, by the letter that introduces it in text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Attribute {
    /// `D(…)`: the levels of sparse dimensions; read and dropped.
    DimLevels,
    /// `T(…)…`: tiles.
    Tiles,
    /// `L(n)`: tail padding alignment, in elements.
    TailPaddingAlignment,
    /// `#(type)`: the type of a sparse array's indices.
    IndexPrimitiveType,
    /// `*(type)`: the type of a sparse array's pointers.
    PointerPrimitiveType,
    /// `E(n)`: bits of one element.
    ElementSizeInBits,
    /// `S(n)`: memory space.
    MemorySpace,
    /// `SC(…)…`: splits.
    SplitConfigs,
    /// `P(shape)`: the shape of a sparse array's data.
    PhysicalShape,
    /// `M(n)`: bytes before the data.
    DynamicShapeMetadataPrefixBytes,
    /// `PAD(…)`: the widths of an older layout; no XLA text has it.
    PaddedDimensions,
    /// `V(…)`: the value in the padding of an older layout; no XLA text has it.
    PaddingValue,
}

impl Attribute {
    /// Every attribute of XLA's text, in the order in which it must have them.
    pub const ALL: [Self; 10] = [
        Self::DimLevels,
        Self::Tiles,
        Self::TailPaddingAlignment,
        Self::IndexPrimitiveType,
        Self::PointerPrimitiveType,
        Self::ElementSizeInBits,
        Self::MemorySpace,
        Self::SplitConfigs,
        Self::PhysicalShape,
        Self::DynamicShapeMetadataPrefixBytes,
    ];

    /// What introduces the attribute in text, such as `SC`.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::DimLevels => "D",
            Self::Tiles => "T",
            Self::TailPaddingAlignment => "L",
            Self::IndexPrimitiveType => "#",
            Self::PointerPrimitiveType => "*",
            Self::ElementSizeInBits => "E",
            Self::MemorySpace => "S",
            Self::SplitConfigs => "SC",
            Self::PhysicalShape => "P",
            Self::DynamicShapeMetadataPrefixBytes => "M",
            Self::PaddedDimensions => "PAD",
            Self::PaddingValue => "V",
        }
    }

    /// XLA's name for it, such as `memory_space`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DimLevels => "dim_level_types",
            Self::Tiles => "tiles",
            Self::TailPaddingAlignment => "tail_padding_alignment_in_elements",
            Self::IndexPrimitiveType => "index_primitive_type",
            Self::PointerPrimitiveType => "pointer_primitive_type",
            Self::ElementSizeInBits => "element_size_in_bits",
            Self::MemorySpace => "memory_space",
            Self::SplitConfigs => "split_configs",
            Self::PhysicalShape => "physical_shape",
            Self::DynamicShapeMetadataPrefixBytes => "dynamic_shape_metadata_prefix_bytes",
            Self::PaddedDimensions => "padded_dimensions",
            Self::PaddingValue => "padding_value",
        }
    }
}

impl fmt::Display for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.symbol())
    }
}

/// A part of an array shape: what a [`ValidationError`] is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Part {
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
    Attribute(Attribute),
    /// One split.
    Split(usize),
    /// The dimension that a split names.
    SplitDimension(usize),
    /// An index (second number) of a split (first number).
    SplitIndex(usize, usize),
    /// The width of one dimension in an older layout.
    PaddedDimension(usize),
    /// An element of a tuple.
    TupleElement(usize),
}

impl ValidationError {
    pub(crate) const NESTED_TOO_DEEP: Self = Self::NestedTooDeep { limit: MAX_NESTING };

    /// What the error is about.
    #[must_use]
    pub const fn part(&self) -> Part {
        match *self {
            Self::NumDimensionsMismatch { .. } => Part::MinorToMajor,
            Self::DimensionNumberOutOfRange { position, .. } | Self::DuplicateDimensionNumber { position, .. } => {
                Part::MinorToMajorEntry(position)
            }
            Self::EmptyTile { tile } => Part::Tile(tile),
            Self::ZeroTileDimension { tile, position }
            | Self::TileDimensionTooLarge { tile, position, .. }
            | Self::TrailingCombine { tile, position } => Part::TileEntry(tile, position),
            Self::ZeroTailPaddingAlignment => Part::Attribute(Attribute::TailPaddingAlignment),
            Self::MemorySpaceOutOfRange { .. } => Part::Attribute(Attribute::MemorySpace),
            Self::AttributeTooLarge { attribute, .. } | Self::SparseAttribute { attribute } => {
                Part::Attribute(attribute)
            }
            Self::EmptySplit { split } => Part::Split(split),
            Self::SplitDimensionOutOfRange { split, .. }
            | Self::DuplicateSplitDimension { split, .. }
            | Self::SplitOfUnboundedDimension { split, .. } => Part::SplitDimension(split),
            Self::SplitIndexNotIncreasing { split, position, .. }
            | Self::SplitIndexOutOfRange { split, position, .. } => Part::SplitIndex(split, position),
            Self::PaddedDimensionsMismatch { .. } => Part::Attribute(Attribute::PaddedDimensions),
            Self::PaddedDimensionTooSmall { dimension, .. } | Self::PaddedDimensionTooLarge { dimension, .. } => {
                Part::PaddedDimension(dimension)
            }
            Self::DimensionTooLarge { dimension, .. } => Part::Dimension(dimension),
            Self::ElementCountOverflow
            | Self::ByteCountOverflow
            | Self::PaddedElementCountOverflow
            | Self::PaddedByteCountOverflow
            | Self::NestedTooDeep { .. } => Part::Shape,
            Self::UnknownPaddingValue { .. } => Part::Attribute(Attribute::PaddingValue),
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

    /// Panics with the text of the error and that of the shape or layout that it is about, usable in a `const`.
    #[track_caller]
    pub(crate) const fn panic_about(&self, what: &str) -> ! {
        panic!("{}", self.const_text().push_str(": ").push_str(what).as_str())
    }

    const fn const_text(&self) -> ConstText<1024> {
        let mut text = ConstText::new();
        let mut sink = text.sink();
        self.write(&mut sink);
        let written = sink.written();
        text.set_len(written)
    }

    pub(crate) const fn write(&self, sink: &mut Sink<'_>) {
        match *self {
            Self::NumDimensionsMismatch { dimensions, minor_to_major } => {
                sink.text("expected as many dimension numbers in minor_to_major as the array has dimensions (");
                sink.number(dimensions);
                sink.text("), found ");
                sink.number(minor_to_major);
            }
            Self::DimensionNumberOutOfRange { dimension, num_dimensions, .. } => {
                out_of_range(sink, "dimension number", dimension, num_dimensions);
            }
            Self::DuplicateDimensionNumber { dimension, .. } => {
                sink.text("expected every dimension once in minor_to_major, found ");
                sink.number(dimension);
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
                sink.text("expected a memory_space of at most 127, found ");
                sink.number(memory_space);
            }
            Self::AttributeTooLarge { attribute, value } => too_large(sink, attribute.name(), value),
            Self::SplitDimensionOutOfRange { dimension, num_dimensions, .. } => {
                out_of_range(sink, "physical dimension", dimension, num_dimensions);
            }
            Self::DuplicateSplitDimension { dimension, .. } => {
                sink.text("expected every physical dimension to be split at most once, found ");
                sink.number(dimension);
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
                sink.number(dimension);
                sink.text(", which is unbounded");
            }
            Self::SparseAttribute { attribute } => {
                sink.text("expected a dense layout, found ");
                sink.text(attribute.name());
                sink.text(", which only the former sparse layouts had");
            }
            Self::PaddedDimensionsMismatch { dimensions, padded_dimensions } => {
                sink.text("expected padded_dimensions to have a width for each of ");
                sink.number(dimensions);
                sink.text(" dimensions, found ");
                sink.number(padded_dimensions);
            }
            Self::PaddedDimensionTooSmall { width, size, .. } => {
                sink.text("expected a padded dimension at least as wide as its size ");
                sink.number(size);
                sink.text(", found ");
                sink.number(width);
            }
            Self::PaddedDimensionTooLarge { width, .. } => too_large(sink, "a padded dimension's width", width),
            Self::DimensionTooLarge { size, .. } => too_large(sink, "a dimension's size", size),
            Self::ElementCountOverflow => overflow(sink, "elements"),
            Self::ByteCountOverflow => overflow(sink, "bytes"),
            Self::PaddedElementCountOverflow => overflow(sink, "elements with padding"),
            Self::PaddedByteCountOverflow => overflow(sink, "bytes with padding"),
            Self::UnknownPaddingValue { number } => {
                sink.text("expected the number of a padding value (0 to 5), found ");
                if number < 0 {
                    sink.text("-");
                }
                sink.number(number.unsigned_abs() as usize);
            }
            Self::NestedTooDeep { limit } => {
                sink.text("expected at most ");
                sink.number(limit);
                sink.text(" tuples inside each other, found more");
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
        sink.number(num_dimensions);
        sink.text(", found ");
    }
    sink.number(found);
}

const fn too_large(sink: &mut Sink<'_>, what: &str, found: usize) {
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

type Check = Result<(), ValidationError>;

/// Bits to mark dimensions with, for a `const`: enough for 1,024 dimensions.
pub(crate) const STATIC_SEEN_WORDS: usize = 16;

/// Hands `check` a cleared bit for each of `num_dimensions` dimensions.
pub(crate) fn with_seen(num_dimensions: usize, check: impl FnOnce(&mut [u64]) -> Check) -> Check {
    match num_dimensions.div_ceil(64) {
        0 | 1 => check(&mut [0]),
        words => check(&mut vec![0; words]),
    }
}

/// Marks dimension `number`; whether it was marked before.
#[expect(clippy::indexing_slicing, reason = "`seen` has a bit for each dimension, and the caller compared `number`")]
const fn mark(seen: &mut [u64], number: usize) -> bool {
    let bit = 1 << (number % 64);
    let marked = seen[number / 64] & bit != 0;
    seen[number / 64] |= bit;
    marked
}

#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]
const fn clear(seen: &mut [u64]) {
    let mut i = 0;
    while i < seen.len() {
        seen[i] = 0;
        i = i.saturating_add(1);
    }
}

/// Checks what a layout must be whatever the array: rules 1, 2, 3 and the first half of 5.
///
/// `seen` has a bit for each dimension, all clear.
pub(crate) const fn layout(layout: &Layout, seen: &mut [u64]) -> Check {
    let num_dimensions = layout.num_dimensions();
    if num_dimensions > seen.len().saturating_mul(64) {
        panic!("a layout in a `const` has at most 1024 dimensions");
    }
    if let Err(error) = permutation(layout.minor_to_major(), seen) {
        return Err(error);
    }
    if let Err(error) = tiles(layout.tiles()) {
        return Err(error);
    }
    if let Err(error) = attributes(layout) {
        return Err(error);
    }
    clear(seen);
    split_configs(layout.split_configs(), num_dimensions, seen)
}

#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]
const fn permutation(minor_to_major: &[usize], seen: &mut [u64]) -> Check {
    let num_dimensions = minor_to_major.len();
    let mut position = 0;
    while position < num_dimensions {
        let dimension = minor_to_major[position];
        if dimension >= num_dimensions {
            return Err(ValidationError::DimensionNumberOutOfRange { position, dimension, num_dimensions });
        }
        if mark(seen, dimension) {
            return Err(ValidationError::DuplicateDimensionNumber { position, dimension });
        }
        position = position.saturating_add(1);
    }
    Ok(())
}

#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]
const fn tiles(tiles: &[Tile]) -> Check {
    let mut tile = 0;
    while tile < tiles.len() {
        let dimensions = tiles[tile].dimensions();
        if dimensions.is_empty() {
            return Err(ValidationError::EmptyTile { tile });
        }
        let mut position = 0;
        while position < dimensions.len() {
            match dimensions[position] {
                TileDimension::Size(0) => return Err(ValidationError::ZeroTileDimension { tile, position }),
                TileDimension::Size(size) if size > MAX_SIZE => {
                    return Err(ValidationError::TileDimensionTooLarge { tile, position, size });
                }
                TileDimension::Combine if position.saturating_add(1) == dimensions.len() => {
                    return Err(ValidationError::TrailingCombine { tile, position });
                }
                TileDimension::Size(_) | TileDimension::Combine => {}
            }
            position = position.saturating_add(1);
        }
        tile = tile.saturating_add(1);
    }
    Ok(())
}

const fn attributes(layout: &Layout) -> Check {
    if layout.tail_padding_alignment_in_elements() == 0 {
        return Err(ValidationError::ZeroTailPaddingAlignment);
    }
    if let Err(error) = memory_space(layout.memory_space() as usize) {
        return Err(error);
    }
    let (attribute, value) = if layout.tail_padding_alignment_in_elements() > MAX_SIZE {
        (Attribute::TailPaddingAlignment, layout.tail_padding_alignment_in_elements())
    } else if layout.element_size_in_bits() > MAX_SIZE {
        (Attribute::ElementSizeInBits, layout.element_size_in_bits())
    } else if layout.dynamic_shape_metadata_prefix_bytes() > MAX_SIZE {
        (Attribute::DynamicShapeMetadataPrefixBytes, layout.dynamic_shape_metadata_prefix_bytes())
    } else {
        return Ok(());
    };
    Err(ValidationError::AttributeTooLarge { attribute, value })
}

/// The memory space with this number.
pub(crate) const fn memory_space(memory_space: usize) -> Result<u8, ValidationError> {
    if memory_space > MAX_MEMORY_SPACE {
        return Err(ValidationError::MemorySpaceOutOfRange { memory_space });
    }
    Ok(memory_space as u8)
}

#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]
const fn split_configs(splits: &[SplitConfig], num_dimensions: usize, seen: &mut [u64]) -> Check {
    let mut split = 0;
    while split < splits.len() {
        let dimension = splits[split].dimension();
        if dimension >= num_dimensions {
            return Err(ValidationError::SplitDimensionOutOfRange { split, dimension, num_dimensions });
        }
        if mark(seen, dimension) {
            return Err(ValidationError::DuplicateSplitDimension { split, dimension });
        }
        let indices = splits[split].split_indices();
        if indices.is_empty() {
            return Err(ValidationError::EmptySplit { split });
        }
        let mut previous = 0;
        let mut position = 0;
        while position < indices.len() {
            let index = indices[position];
            if index <= previous {
                return Err(ValidationError::SplitIndexNotIncreasing { split, position, index, previous });
            }
            previous = index;
            position = position.saturating_add(1);
        }
        split = split.saturating_add(1);
    }
    Ok(())
}

/// Checks that a valid layout fits these dimensions, and that all sizes fit in an `i64`: rules 1, 4 and the second
/// half of 5.
pub(crate) const fn array(
    element_type: ElementType,
    dimensions: &[Dimension],
    layout: &Layout,
    scratch: size::Scratch<'_>,
) -> Check {
    if let Err(error) = self::dimensions(dimensions, layout) {
        return Err(error);
    }
    size::check(element_type, dimensions, layout, scratch)
}

/// Checks that a valid layout fits these dimensions, whatever the sizes of the array are.
#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]
#[inline]
pub(crate) const fn dimensions(dimensions: &[Dimension], layout: &Layout) -> Check {
    if let Err(error) = num_dimensions(dimensions, layout) {
        return Err(error);
    }
    let mut dimension = 0;
    while dimension < dimensions.len() {
        if let Some(size) = dimensions[dimension].extent()
            && size > MAX_SIZE
        {
            return Err(ValidationError::DimensionTooLarge { dimension, size });
        }
        dimension = dimension.saturating_add(1);
    }
    if layout.split_configs().is_empty() { Ok(()) } else { splits_fit(dimensions, layout) }
}

/// Checks that `minor_to_major` names as many dimensions as there are.
#[inline]
pub(crate) const fn num_dimensions(dimensions: &[Dimension], layout: &Layout) -> Check {
    if layout.num_dimensions() == dimensions.len() {
        return Ok(());
    }
    Err(ValidationError::NumDimensionsMismatch {
        dimensions: dimensions.len(),
        minor_to_major: layout.num_dimensions(),
    })
}

#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "the layout is valid: a split's dimension is less than their number"
)]
const fn splits_fit(dimensions: &[Dimension], layout: &Layout) -> Check {
    let splits = layout.split_configs();
    let mut split = 0;
    while split < splits.len() {
        let indices = splits[split].split_indices();
        let physical = layout.num_dimensions() - 1 - splits[split].dimension();
        let Some(size) = dimensions[layout.minor_to_major()[physical]].extent() else {
            return Err(ValidationError::SplitOfUnboundedDimension { split, dimension: splits[split].dimension() });
        };
        let mut position = 0;
        while position < indices.len() {
            if indices[position] >= size {
                let index = indices[position];
                return Err(ValidationError::SplitIndexOutOfRange { split, position, index, size });
            }
            position = position.saturating_add(1);
        }
        split = split.saturating_add(1);
    }
    Ok(())
}
