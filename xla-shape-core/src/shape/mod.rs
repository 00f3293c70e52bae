//! Shapes: what XLA says of a value without holding it.

pub(crate) mod array;
pub mod compare;
pub(crate) mod legacy;
pub(crate) mod program;
pub mod type_limits;
pub mod validate;

use crate::layout::error::ValidationError;
use crate::limits::MAX_NESTING;
use alloc::borrow::Cow;
use alloc::vec::Vec;
use array::ArrayShape;
use core::fmt;
use core::ops::Deref;

/// The shape of any XLA value.
///
/// ```
/// use xla_shape_core::Shape;
///
/// let shape: Shape = "(f32[2], /*index=1*/s32[])".parse()?;
/// assert_eq!(shape.to_string(), "(f32[2]{0}, s32[])");
/// assert_eq!(shape.byte_size(), Some(12));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Shape {
    /// An array.
    Array(ArrayShape),
    /// Several values.
    Tuple(TupleShape),
    /// No data: only orders side effects.
    Token,
    /// Something that XLA does not look into.
    Opaque,
    /// An array that is passed by reference.
    Buffer(ArrayShape),
}

// A line of text can be full of shapes, and each is moved before it has its place.
const _: () = assert!(size_of::<Shape>() <= 72, "a shape has become larger");

impl Shape {
    /// A tuple of these shapes.
    ///
    /// # Errors
    /// If more than [`MAX_NESTING`](crate::text::MAX_NESTING) tuples are nested.
    pub fn tuple(elements: Vec<Self>) -> Result<Self, ValidationError> {
        TupleShape::new(elements).map(Self::Tuple)
    }

    /// How deep tuples are nested; 0 if it is not a tuple.
    #[must_use]
    pub const fn depth(&self) -> usize {
        match self {
            Self::Tuple(elements) => elements.depth(),
            _ => 0,
        }
    }

    /// The array shape of an array, or of the array that a buffer refers to.
    #[must_use]
    pub const fn array(&self) -> Option<&ArrayShape> {
        match self {
            Self::Array(array) | Self::Buffer(array) => Some(array),
            Self::Tuple(_) | Self::Token | Self::Opaque => None,
        }
    }

    /// The elements of a tuple.
    #[must_use]
    pub const fn tuple_shapes(&self) -> Option<&[Self]> {
        match self {
            Self::Tuple(elements) => Some(elements.elements()),
            _ => None,
        }
    }

    /// The bytes that the value takes: for a tuple, the sum over its leaves. Tokens and opaque values take none. `None` if a
    /// dimension is unbounded, or the sum does not fit in a `u64`.
    #[must_use]
    pub fn byte_size(&self) -> Option<u64> {
        self.sum_over_arrays(ArrayShape::byte_size)
    }

    /// The bytes on the heap that the shape holds.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        match self {
            Self::Array(array) | Self::Buffer(array) => array.heap_bytes(),
            Self::Token | Self::Opaque => 0,
            Self::Tuple(elements) => {
                let elements = elements.elements();
                let inside = elements.iter().map(Self::heap_bytes);
                inside.fold(size_of_val(elements), usize::saturating_add)
            }
        }
    }

    pub(crate) fn sum_over_arrays(&self, size: fn(&ArrayShape) -> Option<u64>) -> Option<u64> {
        match self {
            Self::Array(array) | Self::Buffer(array) => size(array),
            Self::Token | Self::Opaque => Some(0),
            Self::Tuple(elements) => {
                elements.iter().try_fold(0_u64, |sum, element| sum.checked_add(element.sum_over_arrays(size)?))
            }
        }
    }
}

impl From<ArrayShape> for Shape {
    fn from(array: ArrayShape) -> Self {
        Self::Array(array)
    }
}

/// The shape of a tuple: those of its elements, at most [`MAX_NESTING`] nested tuples.
///
/// ```
/// use xla_shape_core::{Shape, TupleShape};
///
/// let tuple = TupleShape::new(vec!["f32[2]".parse()?, Shape::Token])?;
/// assert_eq!(tuple.len(), 2);
/// assert_eq!(Shape::Tuple(tuple).to_string(), "(f32[2]{0}, token[])");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TupleShape {
    elements: Cow<'static, [Shape]>,
    /// How deep tuples are nested, this one included.
    depth: usize,
}

impl TupleShape {
    /// A tuple without elements.
    pub const NIL: Self = Self { elements: Cow::Borrowed(&[]), depth: 1 };

    /// A tuple of these elements.
    ///
    /// # Errors
    /// If more than [`MAX_NESTING`] tuples are nested.
    pub fn new(elements: Vec<Shape>) -> Result<Self, ValidationError> {
        let depth = depth_around(&elements)?;
        Ok(Self { elements: Cow::Owned(elements), depth })
    }

    /// A tuple of these elements, usable in a `const` without allocation.
    ///
    /// # Panics
    /// If [`new`](Self::new) has an error; in a `const`, that is a compile error.
    #[must_use]
    pub const fn from_static(elements: &'static [Shape]) -> Self {
        match depth_around(elements) {
            Ok(depth) => Self { elements: Cow::Borrowed(elements), depth },
            Err(error) => error.panic(),
        }
    }

    /// The elements.
    #[must_use]
    pub const fn elements(&self) -> &[Shape] {
        match &self.elements {
            Cow::Borrowed(elements) => elements,
            Cow::Owned(elements) => elements.as_slice(),
        }
    }

    /// The elements, taken out.
    #[must_use]
    pub fn into_elements(self) -> Vec<Shape> {
        self.elements.into_owned()
    }

    /// How deep tuples are nested: 1 if no element is a tuple.
    #[must_use]
    pub const fn depth(&self) -> usize {
        self.depth
    }

    /// The elements, to be changed in ways that leave tuples as deep as they are.
    pub(crate) fn elements_mut(&mut self) -> &mut [Shape] {
        self.elements.to_mut()
    }

    /// Adds an element at the end, or nothing.
    pub(crate) fn push(&mut self, element: Shape) -> Result<(), ValidationError> {
        let depth = depth_around(core::slice::from_ref(&element))?;
        self.depth = self.depth.max(depth);
        self.elements.to_mut().push(element);
        Ok(())
    }

    /// Puts a shape in the place of the part at `index`, which exists, if it is not too deep there; what was there.
    pub(crate) fn replace(&mut self, first: usize, rest: &[usize], shape: Shape) -> Option<Shape> {
        let element = self.elements.to_mut().get_mut(first)?;
        let old = match (rest.split_first(), element) {
            (None, element) => core::mem::replace(element, shape),
            (Some((&first, rest)), Shape::Tuple(tuple)) => tuple.replace(first, rest, shape)?,
            _ => return None,
        };
        if let Ok(depth) = depth_around(&self.elements) {
            self.depth = depth;
        }
        Some(old)
    }
}

/// How deep tuples are nested in a tuple of these elements.
#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]
#[expect(clippy::arithmetic_side_effects, reason = "no counter exceeds the length, no depth the limit")]
const fn depth_around(elements: &[Shape]) -> Result<usize, ValidationError> {
    let mut inside = 0;
    let mut i = 0;
    while i < elements.len() {
        let depth = elements[i].depth();
        if depth > inside {
            inside = depth;
        }
        i += 1;
    }
    if inside == MAX_NESTING { Err(ValidationError::NESTED_TOO_DEEP) } else { Ok(inside + 1) }
}

impl Deref for TupleShape {
    type Target = [Shape];

    fn deref(&self) -> &[Shape] {
        self.elements()
    }
}

impl fmt::Debug for TupleShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.elements.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_NESTING, Shape, TupleShape};
    use crate::layout::error::ValidationError;
    use crate::util::transform::TransformError;
    use alloc::string::ToString;
    use alloc::vec;

    const TOO_DEEP: ValidationError = ValidationError::NestedTooDeep { limit: MAX_NESTING };

    fn nested(depth: usize) -> Shape {
        (0..depth).fold(Shape::Token, |inside, _| Shape::tuple(vec![inside]).unwrap())
    }

    #[test]
    fn no_tuple_is_deeper_than_the_limit() {
        let mut deepest = nested(MAX_NESTING);
        assert_eq!(deepest.depth(), MAX_NESTING);
        assert_eq!(deepest.to_string().parse(), Ok(deepest.clone()));
        assert_eq!(TupleShape::new(vec![Shape::Token, deepest.clone()]), Err(TOO_DEEP));
        assert_eq!(Shape::make_maybe_tuple_shape(vec![Shape::Token, deepest.clone()]), Err(TOO_DEEP));
        assert_eq!(Shape::make_maybe_tuple_shape(vec![deepest.clone()]), Ok(deepest.clone()));

        let mut tuple = Shape::make_nil();
        assert_eq!(tuple.append_shape_to_tuple(deepest.clone()), Err(TransformError::Invalid(TOO_DEEP)));
        assert_eq!(tuple, Shape::make_nil());
        tuple.append_shape_to_tuple(nested(MAX_NESTING - 1)).unwrap();
        assert_eq!(tuple, deepest);
        assert_eq!(tuple.update_tuple_shape(0, deepest.clone()), Err(TransformError::Invalid(TOO_DEEP)));
        assert_eq!(tuple, deepest);

        let bottom = [0; MAX_NESTING];
        assert_eq!(deepest.update_subshape(&bottom, Shape::make_nil()), Err(TransformError::Invalid(TOO_DEEP)));
        assert_eq!(deepest.update_subshape(&bottom, Shape::Opaque), Ok(Shape::Token));
        assert_eq!(deepest.update_subshape(&[0; MAX_NESTING + 1], Shape::Opaque), Err(TransformError::NoSuchPart));
        assert_eq!(deepest.get_subshape(&bottom), Some(&Shape::Opaque));
    }

    #[test]
    fn depth_follows_every_change() {
        let mut shape: Shape = "((f32[2], (token[])), ())".parse().unwrap();
        assert_eq!(shape.depth(), 3);
        shape.update_subshape(&[0, 1], Shape::Token).unwrap();
        assert_eq!(shape, "((f32[2], token[]), ())".parse().unwrap());
        shape.update_tuple_shape(0, Shape::Token).unwrap();
        assert_eq!(shape, "(token[], ())".parse().unwrap());
        shape.append_shape_to_tuple(nested(4)).unwrap();
        assert_eq!(shape.depth(), 5);
        assert_eq!(shape.slice_tuple(0, 1).unwrap().depth(), 1);
        assert_eq!((Shape::Token.depth(), Shape::make_nil().depth()), (0, 1));
    }

    #[test]
    #[should_panic(expected = "expected at most 200 nested tuples, found more")]
    fn constants_have_the_same_limit() {
        let _ = TupleShape::from_static(vec![nested(MAX_NESTING)].leak());
    }
}
