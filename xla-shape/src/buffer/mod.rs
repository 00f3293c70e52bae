//! Memory with a shape: owned and borrowed, with the shape in the type or known at run time.
//!
//! | | shape in the type | shape at run time |
//! |---|---|---|
//! | owned | [`Buffer`] | [`DynBuffer`] |
//! | borrowed | [`View`] | [`DynView`] |
//! | borrowed to write | [`ViewMut`] | [`DynViewMut`] |
//!
//! All six are one type, [`Buffer`], over a shape and [`Bytes`]; methods with the same name do the same. If the shape is a value, the
//! call returns an error where the compiler would have refused, and methods with values name their element type:
//! `x.get::<F32>(&[3, 5])`.
//!
//! | methods | static type | type with open sizes | value |
//! |---|---|---|---|
//! | `get`, `set`, `iter`, `fill_with`, `as_slice`, `to_row_major`, `for_each`, `apply`, `fold_lanes`, `all_with`, … | yes | yes | yes |
//! | constant indices (`at`, `set_at`) | yes | | |
//! | `relayout`, `relayout_into`, `transpose`, `reshape`, `retile`, `slice` | yes | | yes |
//! | arrays together and new ones (`map`, `zip_with`, `apply_with`), lines, bands, tiles, blocks | yes | yes | |
//! | `accessor` (positions prepared once; a type has them as constants), `stride_table` | | | yes |
//!
//! [`into_dyn`](Buffer::into_dyn), [`into_typed`](Buffer::into_typed) and [`dispatch!`](crate::dispatch) lead from one to the other.
//!
//! # What makes a buffer
//!
//! | from | method |
//! |---|---|
//! | nothing, zeros | `zeroed` |
//! | one value, a function of the index | `filled`, `from_fn` |
//! | values in row-major order | `from_row_major` |
//! | values as they are in memory, padding included | `from_slice` (borrowed), [`from_vec`](Buffer::from_vec) (owned) |
//! | bytes as they are in memory, padding included | `from_bytes` |
//!
//! These take no shape if it is a static type. Otherwise the names end in `_with` and the shape comes first:
//! `DynBuffer::zeroed_with(shape)`. Bytes and a shape go to `from_parts`,
//! a pointer to bytes and a shape to [`from_raw_parts`](View::from_raw_parts).

mod accessor;
mod bitcast;
pub(crate) mod bits;
mod bytes;
pub(crate) mod cells;
mod convert;
mod display;
mod dynamic;
mod dynamic_bitcast;
mod equal;
mod error;
mod legacy;
#[cfg(feature = "ndarray")]
mod ndarray;
mod raw;
#[cfg(feature = "serde")]
mod serialize;
mod slice;
mod storage;
mod typed;
mod values;

pub use accessor::Accessor;
pub use bytes::{AlignedBytes, Bytes, BytesMut, Lender, Mut, Ref, Storage, StorageMut};
pub(crate) use cells::Width;
pub use dynamic::{DynBuffer, DynShape, DynView, DynViewMut};
pub(crate) use error::SPLIT;
pub use error::{AccessError, BufferError, ShapeMismatch};
pub use storage::{Buffer, BufferShape, View, ViewMut, WholeShape};
pub(crate) use typed::{assert_whole, width_of};
pub use values::ValueVec;
