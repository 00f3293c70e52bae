//! serde: human-readable formats hold the text of a shape, binary formats its structure.
//!
//! Deserialization checks everything, so that a value of these types is always valid. In binary formats, a shape is the
//! list of its parts, each tuple before its elements, so that reading needs no recursion.

use crate::text::MAX_NESTING;
use crate::{ArrayShape, Dimension, ElementType, Layout, Shape, SplitConfig, Tile, TileDimension, ValidationError};
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use core::str::FromStr;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A visitor that parses a text.
struct Text<T>(PhantomData<T>);

impl<T: FromStr<Err: fmt::Display>> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the text of a shape")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

macro_rules! text_or_structure {
    ($($type:ident as $structure:ty;)*) => {
        $(
            impl Serialize for $type {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    if serializer.is_human_readable() {
                        serializer.collect_str(self)
                    } else {
                        <$structure>::from(self).serialize(serializer)
                    }
                }
            }

            impl<'de> Deserialize<'de> for $type {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    if deserializer.is_human_readable() {
                        deserializer.deserialize_str(Text(PhantomData))
                    } else {
                        <$structure>::deserialize(deserializer)?.try_into().map_err(D::Error::custom)
                    }
                }
            }
        )*
    };
}

text_or_structure! {
    Shape as Nodes;
    ArrayShape as ArrayStructure;
    Layout as LayoutStructure;
    ElementType as ElementTypeNumber;
}

#[derive(Serialize, Deserialize)]
struct ElementTypeNumber(i32);

impl From<&ElementType> for ElementTypeNumber {
    fn from(element_type: &ElementType) -> Self {
        Self(element_type.proto_number())
    }
}

impl TryFrom<ElementTypeNumber> for ElementType {
    type Error = StructureError;

    fn try_from(ElementTypeNumber(number): ElementTypeNumber) -> Result<Self, StructureError> {
        Self::from_proto_number(number).ok_or(StructureError::UnknownElementType(number))
    }
}

macro_rules! layout_structure {
    ($($variant:ident $symbol:literal $field:ident $type:ident $default:literal ($tag:literal) $with:ident $ignore:ident
        [$($parameter:ident)?] $doc:literal $cells:tt)*) => {
        #[derive(Serialize, Deserialize)]
        struct LayoutStructure {
            minor_to_major: Vec<usize>,
            /// `None` is `*`.
            tiles: Vec<Vec<Option<u64>>>,
            $($field: $type,)*
            split_configs: Vec<(usize, Vec<u64>)>,
        }

        impl From<&Layout> for LayoutStructure {
            fn from(layout: &Layout) -> Self {
                let entry = |entry: &TileDimension| match *entry {
                    TileDimension::Size(size) => Some(size),
                    TileDimension::Combine => None,
                };
                let split = |split: &SplitConfig| (split.dimension(), split.split_indices().to_vec());
                Self {
                    minor_to_major: layout.minor_to_major().to_vec(),
                    tiles: layout.tiles().iter().map(|tile| tile.dimensions().iter().map(entry).collect()).collect(),
                    $($field: layout.$field(),)*
                    split_configs: layout.split_configs().iter().map(split).collect(),
                }
            }
        }

        impl TryFrom<LayoutStructure> for Layout {
            type Error = ValidationError;

            fn try_from(layout: LayoutStructure) -> Result<Self, ValidationError> {
                let tile = |entries: &Vec<Option<u64>>| {
                    let entry = |size: &Option<u64>| size.map_or(TileDimension::Combine, TileDimension::Size);
                    Tile::new(&entries.iter().map(entry).collect::<Vec<_>>())
                };
                let splits = layout.split_configs.iter().map(|(dimension, indices)| SplitConfig::new(*dimension, indices));
                Self::new(&layout.minor_to_major)?
                    .with_tiles(&layout.tiles.iter().map(tile).collect::<Vec<_>>())?
                    $(.$with(layout.$field)?)*
                    .with_split_configs(&splits.collect::<Vec<_>>())
            }
        }
    };
}

crate::layout_numbers!(layout_structure);

#[derive(Serialize, Deserialize)]
enum DimensionStructure {
    Static(u64),
    Bounded(u64),
    Unbounded,
}

#[derive(Serialize, Deserialize)]
struct ArrayStructure {
    element_type: ElementTypeNumber,
    dimensions: Vec<DimensionStructure>,
    layout: LayoutStructure,
}

impl From<&ArrayShape> for ArrayStructure {
    fn from(array: &ArrayShape) -> Self {
        let dimension = |dimension: &Dimension| match *dimension {
            Dimension::Static(size) => DimensionStructure::Static(size),
            Dimension::Bounded(bound) => DimensionStructure::Bounded(bound),
            Dimension::Unbounded => DimensionStructure::Unbounded,
        };
        Self {
            element_type: (&array.element_type()).into(),
            dimensions: array.dimensions().iter().map(dimension).collect(),
            layout: array.layout().into(),
        }
    }
}

impl TryFrom<ArrayStructure> for ArrayShape {
    type Error = StructureError;

    fn try_from(array: ArrayStructure) -> Result<Self, StructureError> {
        let dimension = |dimension| match dimension {
            DimensionStructure::Static(size) => Dimension::Static(size),
            DimensionStructure::Bounded(bound) => Dimension::Bounded(bound),
            DimensionStructure::Unbounded => Dimension::Unbounded,
        };
        let dimensions = array.dimensions.into_iter().map(dimension).collect::<Vec<_>>();
        let layout = array.layout.try_into().map_err(StructureError::Invalid)?;
        Self::new(array.element_type.try_into()?, &dimensions, layout).map_err(StructureError::Invalid)
    }
}

/// The parts of a shape, a tuple before its elements.
#[derive(Serialize, Deserialize)]
struct Nodes(Vec<Node>);

#[derive(Serialize, Deserialize)]
enum Node {
    Array(ArrayStructure),
    /// The number of elements, which follow, each with its parts.
    Tuple(usize),
    Token,
    Opaque,
    Buffer(ArrayStructure),
}

impl From<&Shape> for Nodes {
    fn from(shape: &Shape) -> Self {
        let node = |part: &Shape| match part {
            Shape::Array(array) => Node::Array(array.into()),
            Shape::Tuple(elements) => Node::Tuple(elements.len()),
            Shape::Token => Node::Token,
            Shape::Opaque => Node::Opaque,
            Shape::Buffer(array) => Node::Buffer(array.into()),
        };
        Self(shape.subshapes().map(|(_, part)| node(part)).collect())
    }
}

impl TryFrom<Nodes> for Shape {
    type Error = StructureError;

    fn try_from(Nodes(nodes): Nodes) -> Result<Self, StructureError> {
        // The tuples whose elements have not all been read: the number of elements, and those read so far.
        let mut open = Vec::<(usize, Vec<Self>)>::new();
        let mut nodes = nodes.into_iter();
        loop {
            let mut shape = match nodes.next().ok_or(StructureError::MissingParts)? {
                Node::Array(array) => Self::Array(array.try_into()?),
                Node::Buffer(array) => Self::Buffer(array.try_into()?),
                Node::Token => Self::Token,
                Node::Opaque => Self::Opaque,
                Node::Tuple(_) if open.len() == MAX_NESTING => {
                    return Err(StructureError::Invalid(ValidationError::NESTED_TOO_DEEP));
                }
                Node::Tuple(0) => Self::make_nil(),
                Node::Tuple(elements) => {
                    open.push((elements, Vec::new()));
                    continue;
                }
            };
            // A complete shape may complete the tuple that contains it, and so on outwards.
            loop {
                let Some((expected, mut elements)) = open.pop() else {
                    return if nodes.len() == 0 { Ok(shape) } else { Err(StructureError::TooManyParts) };
                };
                elements.push(shape);
                if elements.len() < expected {
                    open.push((expected, elements));
                    break;
                }
                shape = Self::tuple(elements).map_err(StructureError::Invalid)?;
            }
        }
    }
}

/// Why the structure of a shape is not valid.
#[derive(Debug)]
enum StructureError {
    UnknownElementType(i32),
    MissingParts,
    TooManyParts,
    Invalid(ValidationError),
}

impl fmt::Display for StructureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownElementType(number) => write!(f, "expected the number of an element type, found {number}"),
            Self::MissingParts => f.write_str("expected as many parts as the tuples have, found fewer"),
            Self::TooManyParts => f.write_str("expected one shape, found more parts after it"),
            Self::Invalid(error) => error.fmt(f),
        }
    }
}
