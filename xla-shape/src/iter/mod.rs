//! Walking over arrays at the speed of their memory.
//!
//! Elements one by one, by their indices, cost an index computation each. These methods of [`BufferBase`] walk along memory
//! instead, and give inner loops that the compiler can make vector instructions of:
//!
//! | to | use |
//! |---|---|
//! | read or write all elements, in whatever order | [`for_each`](BufferBase::for_each), [`apply`](BufferBase::apply), [`fill`](BufferBase::fill), [`fold_lanes`](BufferBase::fold_lanes) |
//! | write an array from others, of any layouts | [`apply_with`](BufferBase::apply_with), [`apply_with_2`](BufferBase::apply_with_2) |
//! | work along rows, columns or another dimension | [`for_each_band`](BufferBase::for_each_band), [`for_each_band_mut`](BufferBase::for_each_band_mut); one at a time [`line`](BufferBase::line) |
//! | work on whole tiles | [`as_tiles`](BufferBase::as_tiles), [`tiles`](BufferBase::tiles) |
//! | have slices that hold nothing but elements | [`for_each_segment`](BufferBase::for_each_segment) |
//! | have indices | [`for_each_indexed`](BufferBase::for_each_indexed) |
//! | have the padding too | [`for_each_position`](BufferBase::for_each_position), [`fill_padding`](BufferBase::fill_padding) |
//!
//! Padding is only seen where the method says so. But for the last two lines, elements must be whole (`Plain`), not packed
//! bits.
//!
//! Row softmax, for any layout:
//!
//! ```
//! use xla_shape::buffer::{BufferBase, BytesMut};
//! use xla_shape::element::F32;
//! use xla_shape::types::ArrayType;
//! use xla_shape::{Buffer, shape};
//!
//! fn softmax<S: ArrayType<Element = F32>, B: BytesMut>(x: &mut BufferBase<S, B>) {
//!     x.for_each_band_mut::<-1>(|mut rows| {
//!         let max = rows.fold_lanes([f32::MIN; 16], f32::max, f32::max);
//!         rows.apply_lanes(max, |x, max| (x - max).exp());
//!         let sum = rows.fold_lanes([0.0; 16], |sum, x| sum + x, |a, b| a + b);
//!         rows.apply_lanes(sum, |x, sum| x / sum);
//!     });
//! }
//!
//! let mut x = Buffer::<shape!(f32[10,200]{1,0:T(8,128)})>::from_fn(|[i, j]| (i * j % 7) as f32);
//! softmax(&mut x);
//! let mut sum = 0.0;
//! x.line::<-1>([9, 0]).unwrap().for_each(|x| sum += x);
//! assert!((sum - 1.0).abs() < 1e-5);
//! ```

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
