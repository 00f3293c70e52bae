//! XLA shapes and layouts as values: parsing and printing, validation, sizes in bytes, and the position of each element
//! in memory.
//!
//! ```
//! use xla_shape_core::{Shape, Slot};
//!
//! let shape: Shape = "bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}".parse()?;
//! assert_eq!(shape.byte_size(), Some(335_544_320));
//!
//! let array = shape.array().unwrap();
//! let table = array.stride_table()?;
//! assert_eq!(table.as_ref().linear_index(&[0, 0, 1, 0]), 1); // rows alternate in pairs
//! assert_eq!(table.as_ref().multi_index(1), Slot::Element(vec![0, 0, 1, 0]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it has
//!
//! - [`Shape`] is the shape of any XLA value. [`ArrayShape`] is the shape of an array: an [`ElementType`], a
//!   [`Dimension`] for each axis, and a [`Layout`] with its [`Tile`]s. [`TupleShape`] is a tuple. Parse them with
//!   [`str::parse`] and print them with `to_string`; errors have positions ([`ParseError`]). Each value is always
//!   valid.
//! - [`ArrayShape::byte_size`], [`ArrayShape::padding_byte_size`] and [`ArrayShape::padded_dimensions`] are sizes with
//!   and without padding.
//! - [`StrideTable`], from [`ArrayShape::stride_table`], maps the index of an element to its position and back, for any
//!   tiles.
//! - [`compare`] compares shapes and ignores parts of them; [`bitcast`] decides which reshapes, transposes and slices
//!   move no bytes.
//! - [`infer`] computes the shapes of operations' results; [`shard`] has shardings; [`tpu`] the layouts that TPUs
//!   choose.
//!
//! The crate `xla-shape-parity` has XLA's helper functions, by their names in XLA.
//!
//! A dimension is given by its number, or by a [`DimensionNumber`]; a part of a tuple by a [`ShapeIndex`].
//!
//! # What it does not do
//!
//! It has no arrays, only their shapes: the crate `xla-shape` has types and buffers, and `xla-shape-hlo` reads
//! programs. It uses no `std` and no `unsafe`.
//!
//! Sizes, positions and bytes are `u64` and at most `i64::MAX`, as in XLA, on every target: a shape may describe the
//! memory of another machine. Numbers of dimensions and lengths of lists are `usize`.
//!
//! # Modules
//!
//! This crate is the only place that has the rules. The macros of `xla-shape` call it while they expand, its types call
//! it in `const`s, and programs call it at run time. Each module uses only those above it in this table.
//!
//! | module | holds |
//! |---|---|
//! | [`limits`], `list`, `sink` | limits of inputs; short lists; text that a `const` can write |
//! | `element_type` | element types |
//! | `layout` | dimensions, tiles, layouts |
//! | [`map`] | the stride table: from indices to positions and back; its canonical form and algebra |
//! | `shape` | arrays and tuples; their [validation](validate) and [comparison](compare) |
//! | `measure` | padding, strides, positions in a buffer |
//! | [`tpu`], [`gpu`] | the memories of TPUs, and the layouts that TPUs choose; what GPUs have |
//! | [`infer`] | the shapes of operations' results |
//! | [`shard`] | shardings: the part of an array that each device holds |
//! | `equal` | which operations are [bitcasts](bitcast) |
//! | [`text`] | the grammars: lexers, parsers, printers, errors with positions |
//! | `serde`, `proto` | serialization: features of the same names |

// docs.rs, which has a nightly compiler, says which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![forbid(unsafe_code)]
// Code that handles input must not panic: indexing and arithmetic are checked, or an `expect` gives the reason why they
// cannot fail.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

extern crate alloc;

// rustdoc lists the methods of a type in the order of these modules: constructors and accessors first, then groups.
mod element_type;
mod layout;
mod shape;

mod measure;

pub mod map;

pub mod text;

mod equal;
pub mod infer;
pub mod shard;
mod target;

pub mod limits;
mod list;
#[cfg(feature = "proto")]
pub mod proto;
#[cfg(feature = "serde")]
mod serde;
mod sink;
pub mod sorting;

pub use equal::bitcast;
pub use layout::memory_space;
pub use shape::{compare, type_limits, validate};
pub use target::{gpu, tpu};

pub use element_type::format::{FloatFormat, SpecialCodes};
pub use element_type::{ElementClass, ElementType};
pub use equal::movement::Movement;
pub use layout::dimension::Dimension;
pub use layout::error::ValidationError;
pub use layout::number::{DimensionError, DimensionNumber, check_permutation, dimension_letter, distinct_dimensions};
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
pub use shape::parts::ShapeIndex;
pub use shape::program::{ProgramParameter, ProgramShape};
pub use shape::transform::TransformError;
pub use text::{ParseError, Span};

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
