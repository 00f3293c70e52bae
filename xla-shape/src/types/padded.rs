//! Shapes in the layout of 2017, as types.

use super::array::Array;
use super::dimensions::StaticDimensions;
use super::layout::LayoutType;
use crate::element::Element;
use core::fmt::Debug;
use core::marker::PhantomData;
use xla_shape_core::{ArrayShape, LegacyShape, PaddingValue};
use xla_shape_relayout::wide::wide;

/// An array in a layout of 2017: `Modern` is the same shape in a modern layout; `Widths` is a tuple of [`Size`](super::Size) with the
/// padded size of each dimension, empty without padding; `Value` is the value of the padding.
///
/// Elements have the positions of `Modern`; indices, buffers and copies are those of `Modern`. [`buffer`](Self::buffer) makes a buffer
/// whose padding holds the value. No width is 0: see [`LegacyShape`].
///
/// ```
/// use xla_shape::shape;
///
/// type Old = shape!(f32[2,3]{0,1:PAD(3,5)V(zero)});
/// assert_eq!(Old::LEGACY, &"f32[2,3]{0,1:PAD(3,5)V(zero)}".parse().unwrap());
/// assert_eq!(Old::PADDING_BITS, Some(0));
///
/// fn modern(old: Old) -> shape!(f32[2,3]{0,1:T(5,3)}) { old.modern() }
/// assert_eq!(modern(Old::default()).to_string(), "f32[2,3]{0,1:T(5,3)}");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Padded<Modern, Widths, Value> {
    modern: Modern,
    widths_and_value: PhantomData<(Widths, Value)>,
}

/// The value of an array's padding, as a type.
#[diagnostic::on_unimplemented(message = "`{Self}` is not the value of padding", label = "expected `ZeroPadding`, …")]
pub trait PaddingType: Copy + Debug + Default + 'static {
    /// The value; `None` if it is unspecified.
    const VALUE: Option<PaddingValue>;
}

macro_rules! padding_types {
    ($($(#[$doc:meta])* $name:ident $value:expr;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        pub struct $name;

        impl PaddingType for $name {
            const VALUE: Option<PaddingValue> = $value;
        }
    )* };
}

padding_types! {
    /// The value of the padding is unspecified.
    AnyPadding None;
    /// The padding holds 0.
    ZeroPadding Some(PaddingValue::Zero);
    /// The padding holds 1.
    OnePadding Some(PaddingValue::One);
    /// The padding holds the lowest value of the element type.
    LowestPadding Some(PaddingValue::Lowest);
    /// The padding holds the highest value of the element type.
    HighestPadding Some(PaddingValue::Highest);
}

impl<E: Element, D: StaticDimensions, L: LayoutType, W: StaticDimensions, V: PaddingType> Padded<Array<E, D, L>, W, V> {
    /// The shape as a value.
    pub const LEGACY: &'static LegacyShape =
        &LegacyShape::from_static(ArrayShape::from_static(E::TYPE, D::DIMENSIONS, L::LAYOUT), wide(W::SIZES), V::VALUE);

    /// The bits of an element of padding; `None` if they are unspecified, or the element type does not have the value.
    pub const PADDING_BITS: Option<u128> = match V::VALUE {
        Some(value) => value.bits(E::TYPE),
        None => None,
    };

    /// The same shape in a modern layout. See the type for an example.
    #[must_use]
    pub fn modern(self) -> Array<E, D, L> {
        self.modern
    }
}
