//! XLA shapes and layouts as values: their text, their rules, their sizes and where each element lies.
//!
//! ```
//! use xla_shape_core::{Shape, Slot};
//!
//! let shape: Shape = "bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}".parse()?;
//! assert_eq!(shape.byte_size(), Some(335_544_320));
//!
//! let array = shape.array().unwrap();
//! let table = array.stride_table()?;
//! assert_eq!(table.as_ref().linear_index(&[0, 0, 1, 0]), 1); // rows lie in pairs
//! assert_eq!(table.as_ref().multi_index(1), Slot::Element(vec![0, 0, 1, 0]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate is the one place that knows the rules. The macros of `xla-shape` ask it while they expand, the types of
//! `xla-shape` ask it in `const`s, and programs ask it at run time. It uses no `std`.
//!
//! | module | holds |
//! |---|---|
//! | [`limits`], `list`, `sink` | how long, deep and large what is read may be; short lists; text that a const can write |
//! | `element_type` | the table of element types |
//! | `layout` | dimensions, tiles, layouts |
//! | [`map`] | where each element lies: the stride table, its canonical form, facts and algebra |
//! | `shape` | arrays and tuples; what makes them [valid](validate), whether they are [equal](compare) |
//! | `util` | XLA's helper functions, by their names |
//! | `measure` | padding, strides, places in a buffer |
//! | [`tpu`] | what TPUs hold, and the layouts that they choose |
//! | [`infer`] | the shape of an operation's result |
//! | [`shard`] | shardings: which device has which part of an array |
//! | `equal` | which arrays are [the same bytes](bitcast) |
//! | [`text`] | the grammars: lexers, parsers, printers, errors with positions |
//! | `serde`, `proto` | the values in other forms (features of these names) |
//!
//! Each uses only those above it.
//!
//! The values themselves are [`Shape`], [`ArrayShape`], [`TupleShape`], [`Layout`], [`Tile`], [`Dimension`] and
//! [`ElementType`]; their methods, with XLA's names, make new values from them. A dimension is named by a [`DimensionNumber`],
//! a part of a tuple by a [`ShapeIndex`].
//!
//! Sizes, positions and bytes are `u64` and at most `i64::MAX`, as in XLA, on every target: a shape may describe memory of
//! another machine. The numbers of dimensions, and the lengths of lists, are `usize`.

#![no_std]
#![forbid(unsafe_code)]
// What input can reach neither indexes nor computes without a check; what seems to, says why it cannot fail.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

extern crate alloc;

mod element_type;
mod equal;
pub mod infer;
mod layout;
pub mod limits;
mod list;
pub mod map;
mod measure;
#[cfg(feature = "proto")]
pub mod proto;
#[cfg(feature = "serde")]
mod serde;
mod shape;
pub mod shard;
mod sink;
pub mod text;
pub mod tpu;
mod util;

pub use equal::bitcast;
pub use layout::memory_space;
pub use shape::{compare, type_limits, validate};
pub use util::index;

pub use element_type::{ElementClass, ElementType};
pub use equal::movement::Movement;
pub use layout::dimension::Dimension;
pub use layout::error::ValidationError;
pub use layout::number::{DimensionError, DimensionNumber, dimension_letter};
pub use layout::tile::{Tile, TileDimension};
pub use layout::{Layout, LayoutAttributes, SplitConfig};
pub use map::tile_block::{TileBlock, TileBlockError};
pub use map::{Slot, StrideTable, StrideTableError};
pub use measure::padding::PaddedDimension;
pub use measure::placement::Placement;
pub use measure::strides::{StridedDimensions, StridesError};
pub use shape::Shape;
pub use shape::TupleShape;
pub use shape::array::{ArrayShape, Sizes};
pub use shape::legacy::{LegacyShape, PaddingValue};
pub use shape::program::{ProgramParameter, ProgramShape};
pub use text::{ParseError, Span};
pub use util::extent::byte_strides_is_major_to_minor;
pub use util::reshape::ShapeEqualityDescriptor;
pub use util::subshape::ShapeIndex;
pub use util::transform::TransformError;

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
