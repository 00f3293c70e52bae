//! Loops over arrays in the order of memory.
//!
//! Each access by an index computes a position. These methods of [`Buffer`] follow the order of memory instead, and the compiler can
//! vectorize their inner loops:
//!
//! | to | use |
//! |---|---|
//! | read or write all elements, in any order | [`for_each`](Buffer::for_each), [`apply`](Buffer::apply), [`fill`](Buffer::fill), [`fold_lanes`](Buffer::fold_lanes) |
//! | write an array from others, of any layouts | [`apply_with`](Buffer::apply_with), [`apply_with_2`](Buffer::apply_with_2), [`apply_along`](Buffer::apply_along) |
//! | write the result to a new array | [`map`](Buffer::map), [`zip_with`](Buffer::zip_with), [`fold`](Buffer::fold) |
//! | work along rows, columns or another dimension | [`for_each_band`](Buffer::for_each_band), [`for_each_band_mut`](Buffer::for_each_band_mut), [`for_each_band_mut_with`](Buffer::for_each_band_mut_with); in threads [`bands_mut`](Buffer::bands_mut); one at a time [`line`](Buffer::line) |
//! | walk along several arrays, blocks or lines together, of any layouts | `for (y, x) in` [`runs`]`((&mut y, &x))`: slices, or elements at equal distances |
//! | read what lies around an element, or a part at any index | lines above and below, by number (`line[i]`), [`windows`](Buffer::windows) or [`copy_window_to`](Buffer::copy_window_to) |
//! | work on whole tiles | [`as_tiles`](Buffer::as_tiles), [`tiles`](Buffer::tiles) |
//! | get slices of elements, without padding | [`for_each_segment`](Buffer::for_each_segment) |
//! | get indices, too | [`for_each_indexed`](Buffer::for_each_indexed) |
//! | get the padding, too | [`for_each_position`](Buffer::for_each_position), [`fill_padding`](Buffer::fill_padding) |
//!
//! Arrays whose shape is known at run time have the methods for elements, segments, indices and padding, too; they return an error if
//! the elements are of another type. Lines, bands and tiles are compiled for a layout: convert the array with
//! [`into_typed`](Buffer::into_typed) or [`dispatch!`](crate::dispatch).
//!
//! Methods skip padding unless they say otherwise. Packed elements are accepted only by
//! [`for_each_indexed`](Buffer::for_each_indexed) and [`for_each_position`](Buffer::for_each_position); the other methods need whole
//! elements (`Plain`).
//!
//! Row softmax, for any layout:
//!
//! ```
//! use xla_shape::buffer::BytesMut;
//! use xla_shape::element::F32;
//! use xla_shape::types::ArrayType;
//! use xla_shape::{Buffer, shape};
//!
//! fn softmax<S: ArrayType<Element = F32>, B: BytesMut>(x: &mut Buffer<S, B>) {
//!     x.for_each_band_mut::<-1>(|mut rows| {
//!         let max = rows.fold(f32::MIN, f32::max, f32::max);
//!         rows.apply(&max, |x, max| (x - max).exp());
//!         let sum = rows.fold(0.0, |sum, x| sum + x, |a, b| a + b);
//!         rows.apply(&sum, |x, sum| x / sum);
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
mod pairs;
mod rows;
mod runs;
mod segments;
mod strided;
mod tiles;
mod values;
mod window;
mod words;
mod zip;

#[cfg(doc)]
use crate::buffer::Buffer;
pub use bands::{Band, LineValues};
pub use lines::{Line, LineElements};
pub(crate) use rows::copy_rows;
pub use runs::{IndexedRuns, RunOperand, RunOperands, Runs, SameDimensions, runs};
pub use strided::{Elements, Strided, StridedIter};
pub use tiles::{NestedArray, TileView};
pub(crate) use tiles::{assert_tiles_are_whole, is_tile};
pub(crate) use window::copy_window;
pub(crate) use zip::copy_common;
