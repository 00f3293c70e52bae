//! Memory with a shape: owned and borrowed, with the shape in the type or known at run time.
//!
//! | | shape in the type | shape at run time |
//! |---|---|---|
//! | owned | [`Buffer`] | [`DynBuffer`] |
//! | borrowed | [`View`] | [`DynView`] |
//! | borrowed to write | [`ViewMut`] | [`DynViewMut`] |
//!
//! The three of a column are one type over different [`Bytes`] and have the same methods.

mod accessor;
mod bitcast;
pub(crate) mod bits;
mod bytes;
mod dynamic;
mod error;
mod legacy;
#[cfg(feature = "ndarray")]
mod ndarray;
mod part;
mod raw;
mod slice;
mod typed;

pub use accessor::Accessor;
pub use bytes::{AlignedBytes, Bytes, BytesMut};
pub use dynamic::{DynBuffer, DynBufferBase, DynView, DynViewMut};
pub use error::{AccessError, BufferError, ShapeMismatch};
pub use typed::{Buffer, BufferBase, View, ViewMut};
