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
//! | [`stride_table`] | from an element to its place and back |
//! | [`hlo`] | HLO modules: reading them and finding their shapes |
//!
//! The values themselves are [`Shape`], [`ArrayShape`], [`Layout`], [`Tile`], [`Dimension`] and [`ElementType`].
//!
//! Sizes are `usize` and at most `i64::MAX`, as in XLA; targets with other than 64-bit pointers are not supported.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

#[cfg(not(target_pointer_width = "64"))]
compile_error!("XLA's sizes are 64-bit; so must be `usize`");

mod dimension;
mod element_type;
pub mod hlo;
mod layout;
mod list;
mod shape;
mod size;
pub mod stride_table;
pub mod text;
mod tile;
pub mod validate;

pub use dimension::Dimension;
pub use element_type::{ElementClass, ElementType};
pub use layout::{Layout, LayoutAttributes, SplitConfig};
pub use shape::{ArrayShape, Shape, SizeError, Sizes};
pub use stride_table::{Slot, StrideTable, StrideTableError};
pub use text::{ParseError, Span};
pub use tile::{Tile, TileDimension};
pub use validate::ValidationError;
