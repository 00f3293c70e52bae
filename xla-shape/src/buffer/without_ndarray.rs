//! The methods of the feature `ndarray` where it is off: the compiler's error names the feature.

use super::storage::Buffer;

/// No type implements it.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "views of the crate `ndarray` need the feature `ndarray` of `xla-shape`",
    label = "this method is there with the feature",
    note = "in Cargo.toml: `xla-shape = {{ …, features = [\"ndarray\"] }}`"
)]
pub trait HasNdarray {}

#[doc(hidden)]
impl<S, B> Buffer<S, B> {
    pub fn as_ndarray(&self)
    where
        Self: HasNdarray,
    {
    }

    pub fn as_ndarray_mut(&mut self)
    where
        Self: HasNdarray,
    {
    }

    pub fn from_ndarray<A>(_: A)
    where
        Self: HasNdarray,
    {
    }
}
