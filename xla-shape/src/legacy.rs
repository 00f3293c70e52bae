//! Arrays in the layouts of 2017, with padded dimensions and a value in the padding: as types, as buffers, and, from `xla-shape-parity`, as
//! values.

use crate::buffer::{Buffer, BufferError, DynBuffer};
use crate::element::{Element, Stored};
use crate::sealed::named_in_errors;
use crate::types::{Array, LayoutType, StaticArray, StaticDimensions};
use core::fmt::Debug;
use core::marker::PhantomData;
use xla_shape_core::ArrayShape;
use xla_shape_core::text::ConstText;
pub use xla_shape_parity::legacy::*;
use xla_shape_relayout::wide::wide;

/// An array in a layout of 2017: `Modern` is the same shape in a modern layout; `Widths` is a tuple of [`Size`](crate::types::Size) with the
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
///
/// ```
/// use xla_shape::legacy::{Padded, PaddingType};
///
/// fn is_known<M, W, V: PaddingType>(_: Padded<M, W, V>) -> bool {
///     V::VALUE.is_some()
/// }
/// assert!(is_known(<xla_shape::shape!(f32[2,3]{0,1:PAD(3,5)V(zero)})>::default()));
/// ```
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
    ///
    /// ```
    /// use xla_shape::legacy::{AnyPadding, PaddingType};
    ///
    /// assert_eq!(AnyPadding::VALUE, None);
    /// ```
    AnyPadding None;
    /// The padding holds 0.
    ///
    /// ```
    /// use xla_shape::legacy::{ZeroPadding, PaddingType, PaddingValue};
    ///
    /// assert_eq!(ZeroPadding::VALUE, Some(PaddingValue::Zero));
    /// ```
    ZeroPadding Some(PaddingValue::Zero);
    /// The padding holds 1.
    ///
    /// ```
    /// use xla_shape::legacy::{OnePadding, PaddingType, PaddingValue};
    ///
    /// assert_eq!(OnePadding::VALUE, Some(PaddingValue::One));
    /// ```
    OnePadding Some(PaddingValue::One);
    /// The padding holds the lowest value of the element type.
    ///
    /// ```
    /// use xla_shape::legacy::{LowestPadding, PaddingType, PaddingValue};
    ///
    /// assert_eq!(LowestPadding::VALUE, Some(PaddingValue::Lowest));
    /// ```
    LowestPadding Some(PaddingValue::Lowest);
    /// The padding holds the highest value of the element type.
    ///
    /// ```
    /// use xla_shape::legacy::{HighestPadding, PaddingType, PaddingValue};
    ///
    /// assert_eq!(HighestPadding::VALUE, Some(PaddingValue::Highest));
    /// ```
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

impl DynBuffer {
    /// An array in a layout of 2017 with the padding value at every position; elements can then be written. If the padding value is unspecified, all
    /// positions are 0. The buffer's own shape is the modern one.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::U8;
    ///
    /// let mut x = DynBuffer::padded(&"u8[2,3]{0,1:PAD(3,5)V(highest)}".parse()?)?;
    /// x.fill_with::<U8>(|index| (3 * index[0] + index[1]) as u8)?;
    /// assert_eq!(x.as_bytes(), [0, 3, 255, 1, 4, 255, 2, 5, 255, 255, 255, 255, 255, 255, 255]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the element type does not have the padding value, or there is not enough memory.
    pub fn padded(shape: &LegacyShape) -> Result<Self, BufferError> {
        let mut buffer = Self::zeroed_with(shape.modern().clone())?;
        if let Some(padding_value) = shape.padding_value() {
            let element_type = shape.element_type();
            let no_such_value = BufferError::NoSuchPaddingValue { element_type, padding_value: padding_value.name() };
            fill(
                buffer.as_bytes_mut(),
                shape.padding_bits().ok_or(no_such_value)?,
                element_type.storage_bytes() as usize,
            );
        }
        Ok(buffer)
    }
}

/// Writes the low `element` bytes of `bits` to every element.
fn fill(bytes: &mut [u8], bits: u128, element: usize) {
    let value = bits.to_le_bytes();
    for element in bytes.chunks_exact_mut(element) {
        element.copy_from_slice(&value[..element.len()]);
    }
}

impl<E, D, L, W, V> Padded<Array<E, D, L>, W, V>
where
    E: Element,
    D: StaticDimensions,
    L: LayoutType,
    W: StaticDimensions,
    V: PaddingType,
    Array<E, D, L>: StaticArray<Element: Stored>,
{
    /// An array of this shape with the padding value at every position, as [`DynBuffer::padded`]; writing elements does not change the
    /// padding.
    ///
    /// A padding value that the element type does not have does not compile; that shows in `cargo build`, not in `cargo check`.
    ///
    /// ```
    /// use xla_shape::shape;
    ///
    /// let mut x = <shape!(u8[2,3]{0,1:PAD(3,5)V(highest)})>::buffer();
    /// x.fill_with(|[i, j]| (3 * i + j) as u8);
    /// assert_eq!(x.as_bytes(), [0, 3, 255, 1, 4, 255, 2, 5, 255, 255, 255, 255, 255, 255, 255]);
    /// ```
    ///
    /// # Panics
    /// If there is not enough memory; see [`try_buffer`](Self::try_buffer).
    #[must_use]
    #[track_caller]
    pub fn buffer() -> Buffer<Array<E, D, L>> {
        named_in_errors!(Self);
        const { assert_value::<E, V>(Self::PADDING_BITS) };
        Self::padded().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Like [`buffer`](Self::buffer), but returns an error instead of panicking.
    ///
    /// ```
    /// use xla_shape::shape;
    ///
    /// let x = <shape!(u8[2,3]{0,1:PAD(3,5)V(one)})>::try_buffer()?;
    /// assert_eq!(x.as_bytes(), [1; 15]);
    /// # Ok::<(), xla_shape::BufferError>(())
    /// ```
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn try_buffer() -> Result<Buffer<Array<E, D, L>>, BufferError> {
        named_in_errors!(Self);
        const { assert_value::<E, V>(Self::PADDING_BITS) };
        Self::padded()
    }

    fn padded() -> Result<Buffer<Array<E, D, L>>, BufferError> {
        let mut buffer = Buffer::try_zeroed()?;
        if let Some(bits) = Self::PADDING_BITS {
            fill(buffer.as_bytes_mut(), bits, E::TYPE.storage_bytes() as usize);
        }
        Ok(buffer)
    }
}

/// Fails the compilation if the padding cannot hold the value.
///
/// Every constructor evaluates this in its own `const` block, so that the compiler shows the line that calls the constructor.
#[track_caller]
const fn assert_value<E: Element, V: PaddingType>(bits: Option<u128>) {
    if let (Some(value), None) = (V::VALUE, bits) {
        let problem = ConstText::<128>::new()
            .push_str("expected a padding value that ")
            .push_str(E::TYPE.name())
            .push_str(" has, found `")
            .push_str(value.name())
            .push_str("`");
        panic!("{}", problem.as_str())
    }
}
