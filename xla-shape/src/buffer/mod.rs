//! Arrays in memory: owned or borrowed, with the shape as a type or known at run time.
//!
//! | | shape in the type | shape at run time |
//! |---|---|---|
//! | owned | [`Buffer`] | [`DynBuffer`] |
//! | borrowed | [`View`] | [`DynView`] |
//! | borrowed to write | [`ViewMut`] | [`DynViewMut`] |
//!
//! All six are one type, [`Buffer`], over a shape and [`Bytes`]; methods with the same name do the same. If the shape is known at run time, a method
//! returns an error where the typed method does not compile, and methods with values name their element type: `x.get::<F32>(&[3, 5])`.
//!
//! | methods | type with static sizes | type with sizes known at run time | shape known at run time |
//! |---|---|---|---|
//! | `get`, `set`, `iter`, `fill_with`, `as_slice`, `to_row_major`, `for_each`, `apply`, `fold_lanes`, `all_with`, … | yes | yes | yes |
//! | constant indices (`at`, `set_at`) | yes | | |
//! | `relayout`, `relayout_into`, `transpose`, `reshape`, `retile`, `slice` | yes | | yes |
//! | several arrays together and new arrays (`map`, `zip_with`, `apply_with`), lines, bands, tiles, blocks | yes | yes | |
//! | `accessor` (prepared access; types have its tables as constants), `stride_table` | | | yes |
//!
//! [`into_dyn`](Buffer::into_dyn), [`into_typed`](Buffer::into_typed) and [`dispatch!`](crate::dispatch) convert between the two.
//!
//! # Constructors
//!
//! | from | method |
//! |---|---|
//! | nothing: zeros | `zeroed` |
//! | one value, or a function of the index | `filled`, `from_fn` |
//! | values in row-major order | `from_row_major` |
//! | values in the order of memory, padding included | `from_slice` (borrowed), [`from_vec`](Buffer::from_vec) (owned) |
//! | bytes in the order of memory, padding included | `from_bytes` |
//!
//! If all sizes are in the type, these take no shape. Otherwise their names end in `_with` and the shape is the first argument:
//! `DynBuffer::zeroed_with(shape)`. `from_parts` takes a shape and bytes, [`from_raw_parts`](View::from_raw_parts) a pointer to bytes.

// In this order, the page of `Buffer` shows their methods.
mod constructors;

mod values;

mod raw;

mod typed;

mod storage;

mod slice;

mod bitcast;

mod convert;

mod equal;

mod dynamic;

mod accessor;

mod dynamic_bitcast;

#[cfg(feature = "ndarray")]
mod ndarray;
#[cfg(not(feature = "ndarray"))]
mod without_ndarray;

pub(crate) mod bits;
mod bytes;
pub(crate) mod cells;
mod display;
mod error;
#[cfg(feature = "serde")]
mod serialize;

pub use accessor::Accessor;
pub use bytes::{Bytes, BytesMut, Lender, Lends, Mut, Ref, Storage, StorageMut};
pub(crate) use cells::{Values, ValuesMut, Width};
pub use dynamic::{DynBuffer, DynShape, DynView, DynViewMut};
pub(crate) use error::SPLIT;
pub use error::{AccessError, BufferError, ShapeMismatch};
// Hidden: a bound of methods; generic code names `WholeShape` or `ArrayType`.
#[doc(hidden)]
pub use storage::BufferShape;
pub use storage::{Buffer, View, ViewMut, WholeShape};
pub(crate) use typed::{assert_whole, width_of};
pub use values::ValueVec;
pub use xla_shape_relayout::{AlignedBytes, OutOfMemory};
