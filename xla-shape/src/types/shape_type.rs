//! Shapes of all kinds, as types.

use super::array::Array;
use super::dimensions::Dimensions;
use super::layout::LayoutType;
use crate::element::Element;
use crate::sealed::Sealed;
use core::marker::PhantomData;
use xla_shape_core::text::ConstText;
use xla_shape_core::{ArrayShape, Shape};

/// A shape, as a type: an [`Array`], a tuple of shapes (a Rust tuple), a [`Token`], an [`Opaque`] or a [`BufferOf`].
///
/// ```
/// use xla_shape::shape;
/// use xla_shape::types::{ShapeType, Token};
///
/// type Results = shape!((f32[2,3]{0,1}, (s32[], token[])));
/// assert_eq!(Results::TEXT, "(f32[2,3]{0,1}, (s32[], token[]))");
/// assert_eq!(Results::VALUE.byte_size(), Some(28));
///
/// fn same(x: Results) -> (shape!(f32[2,3]{0,1}), (shape!(s32[]), Token)) { x }
/// ```
#[diagnostic::on_unimplemented(message = "`{Self}` is not a shape", label = "expected a type made by `shape!(…)`")]
pub trait ShapeType: 'static + Sealed {
    /// The shape as a value.
    const VALUE: Shape;

    /// The canonical text.
    const TEXT: &'static str = {
        assert!(!Text::<Self>::BUFFER.is_cut(), "expected a shape whose text has at most 2048 bytes");
        Text::<Self>::BUFFER.as_str()
    };
}

struct Text<S: ?Sized>(PhantomData<S>);

impl<S: ShapeType + ?Sized> Text<S> {
    const VALUE: &'static Shape = &S::VALUE;
    const BUFFER: &'static ConstText<2048> = &Self::VALUE.const_text();
}

/// `token[]`: no data, only the order of side effects.
///
/// ```
/// use xla_shape::shape;
/// use xla_shape::types::{ShapeType, Token};
///
/// assert_eq!(Token::VALUE.to_string(), "token[]");
/// let _: Token = <shape!(token[])>::default();
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Token;

/// `opaque[]`: data that XLA does not interpret.
///
/// ```
/// use xla_shape::types::{Opaque, ShapeType};
///
/// assert_eq!(Opaque::VALUE.to_string(), "opaque[]");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Opaque;

/// `b(…)`: an array that is passed by reference.
///
/// ```
/// use xla_shape::shape;
/// use xla_shape::types::{BufferOf, ShapeType};
///
/// assert_eq!(<BufferOf<shape!(f32[2,3])> as ShapeType>::VALUE.to_string(), "b(f32[2,3]{1,0})");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct BufferOf<A>(PhantomData<A>);

impl Sealed for Token {}
impl Sealed for Opaque {}
impl<A> Sealed for BufferOf<A> {}

/// The shapes in a tuple.
pub(super) trait TupleShapes {
    const SHAPES: &'static [Shape];
}

impl<E: Element, D: Dimensions, L: LayoutType> ShapeType for Array<E, D, L> {
    const VALUE: Shape = Shape::Array(ArrayShape::from_static(E::TYPE, D::DIMENSIONS, L::LAYOUT));
}

impl<E: Element, D: Dimensions, L: LayoutType> ShapeType for BufferOf<Array<E, D, L>> {
    const VALUE: Shape = Shape::Buffer(ArrayShape::from_static(E::TYPE, D::DIMENSIONS, L::LAYOUT));
}

impl ShapeType for Token {
    const VALUE: Shape = Shape::Token;
}

impl ShapeType for Opaque {
    const VALUE: Shape = Shape::Opaque;
}
