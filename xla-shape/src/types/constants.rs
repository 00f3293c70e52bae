//! Types that each stand for a value, and tuples of such types, which stand for lists.

use crate::sealed::Sealed;
use core::fmt::Debug;

/// A type that stands for a value: `Size<8>` for an entry of a tile, `Tile<…>` for a tile, …
#[diagnostic::on_unimplemented(message = "`{Self}` does not stand for a `{T}`")]
pub trait Constant<T>: Copy + Debug + Default + 'static + Sealed {
    /// The value.
    const VALUE: T;
}

/// A list of values, as a tuple of types that each stand for one value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of `{T}`",
    label = "expected a tuple of up to 12 types, each for one `{T}`"
)]
pub trait Constants<T: 'static>: Copy + Debug + Default + 'static + Sealed {
    /// The values, in order.
    const VALUES: &'static [T];
}
