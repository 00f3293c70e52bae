//! XLA shapes and layouts as values: their text, their rules, their sizes and where each element lies.
//!
//! ```
//! use xla_shape_core::{Shape, Slot};
//!
//! let shape: Shape = "bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}".parse()?;
//! assert_eq!(shape.byte_size(), Ok(335_544_320));
//!
//! let array = shape.array().unwrap();
//! let table = array.stride_table()?;
//! assert_eq!(table.linear_index(&[0, 0, 1, 0]), 1); // rows lie in pairs
//! assert_eq!(table.multi_index(1), Slot::Element(vec![0, 0, 1, 0]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate is the one place that knows the rules. The macros of `xla-shape` ask it while they expand, the types of
//! `xla-shape` ask it in `const`s, and programs ask it at run time. It uses no `std`.
//!
//! | module | holds |
//! |---|---|
//! | [`text`] | the grammar: lexer, parser, printer, errors with positions |
//! | [`validate`] | what makes a shape valid |
//! | [`stride_table`] | from an element to its place and back; its canonical form; facts and algebra of layouts |
//! | [`bitcast`] | which reshapes and transposes leave every byte where it is |
//! | [`infer`] | the dimensions of an operation's result |
//! | [`hlo`] | HLO modules: reading them and finding their shapes |
//! | [`compare`] | equal in all, or only in part |
//! | [`index`] | walking over indices |
//! | [`memory_space`] | the names of memory spaces |
//! | [`tpu`] | what TPUs hold, and the layouts that they choose |
//!
//! The values themselves are [`Shape`], [`ArrayShape`], [`TupleShape`], [`Layout`], [`Tile`], [`Dimension`] and
//! [`ElementType`]; what makes new ones of them are their methods, by XLA's names for them. A dimension is named by a [`DimensionNumber`], a part of a
//! tuple by a [`ShapeIndex`].
//!
//! Sizes are `usize` and at most `i64::MAX`, as in XLA; targets with other than 64-bit pointers are not supported.

#![no_std]
#![forbid(unsafe_code)]
// What input can reach neither indexes nor computes without a check; what seems to, says why it cannot fail.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

extern crate alloc;

#[cfg(not(target_pointer_width = "64"))]
compile_error!("XLA's sizes are 64-bit; so must be `usize`");

mod advise;
pub mod bitcast;
pub mod compare;
mod dimension;
mod dimension_number;
mod dynamic;
mod element_type;
mod extent;
pub mod hlo;
pub mod index;
pub mod infer;
mod layout;
mod legacy;
mod list;
pub mod memory_space;
mod order;
mod padding;
mod placement;
mod program_shape;
mod reshape;
#[cfg(feature = "serde")]
mod serde;
mod shape;
mod shape_index;
mod size;
pub mod static_shape;
pub mod stride_table;
pub mod text;
mod tile;
mod tile_block;
pub mod tpu;
mod transform;
mod tuple_shape;
pub mod validate;

pub use advise::tpu_tilings;
pub use dimension::Dimension;
pub use dimension_number::{DimensionError, DimensionNumber, dimension_letter};
pub use element_type::{ElementClass, ElementType, UnknownElementType};
pub use extent::byte_strides_is_major_to_minor;
pub use layout::{Layout, LayoutAttributes, SplitConfig};
pub use legacy::{LegacyShape, PaddingValue};
pub use padding::PaddedDimension;
pub use placement::{BitOffset, Placement};
pub use program_shape::{ProgramParameter, ProgramShape};
pub use reshape::ShapeEqualityDescriptor;
pub use shape::{ArrayShape, Shape, SizeError, Sizes};
pub use shape_index::{ShapeIndex, Subshapes};
pub use stride_table::{Slot, StrideTable, StrideTableError};
pub use text::{ParseError, Span};
pub use tile::{Tile, TileDimension};
pub use tile_block::{TileBlock, TileBlockError};
pub use transform::TransformError;
pub use tuple_shape::TupleShape;
pub use validate::ValidationError;
