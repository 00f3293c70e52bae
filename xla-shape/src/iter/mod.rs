//! Walking over arrays at the speed of their memory.
//!
//! Elements one by one, by their indices, cost an index computation each. These methods of [`BufferBase`] walk along memory
//! instead, and give inner loops that the compiler can make vector instructions of:
//!
//! | to | use |
//! |---|---|
//! | read or write all elements, in whatever order | [`for_each`](BufferBase::for_each), [`apply`](BufferBase::apply), [`fill`](BufferBase::fill), [`fold_lanes`](BufferBase::fold_lanes) |
//! | have slices that hold nothing but elements | [`for_each_segment`](BufferBase::for_each_segment) |
//! | write the padding | [`fill_padding`](BufferBase::fill_padding) |
//! | work on whole tiles | [`as_tiles`](BufferBase::as_tiles), [`tiles`](BufferBase::tiles) |
//!
//! They are for whole elements (`Plain`), not packed bits. Padding is only seen where the method says so.

mod bands;
mod lanes;
mod lines;
mod memory;
mod memory_order;
mod segments;
mod tiles;
mod zip;

#[cfg(doc)]
use crate::buffer::BufferBase;
pub use bands::Band;
pub use lines::{Line, Strided};
pub use tiles::{NestedArray, TileView};
