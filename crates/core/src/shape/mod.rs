//! Shapes of values: arrays, tuples, tokens, opaque values and buffers.

// rustdoc lists the methods of `Shape` in the order of these modules.
mod access;

pub(crate) mod array;
mod extent;

pub(crate) mod parts;

pub(crate) mod transform;

pub mod compare;
mod dynamic;
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

/// The shape of any XLA value: an array, a tuple, a token, an opaque value or a buffer. It is XLA's `Shape`
/// (`xla/shape.h`).
///
/// ```
/// use xla_shape_core::Shape;
///
/// let shape: Shape = "(f32[2], /*index=1*/s32[])".parse()?;
/// assert_eq!(shape.to_string(), "(f32[2]{0}, s32[])");
/// assert_eq!(shape.byte_size(), Some(12));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Shape {
    /// An array.
    Array(ArrayShape),
    /// A tuple of values.
    Tuple(TupleShape),
    /// A token: a value without data that orders side effects.
    Token,
    /// An opaque value, whose content XLA does not know.
    Opaque,
    /// A buffer: an array that is passed by reference.
    Buffer(ArrayShape),
}

// The parser moves shapes, and a line of text can have thousands of them: keep them small.
const _: () = assert!(size_of::<Shape>() <= 72, "a shape has become larger");

impl From<ArrayShape> for Shape {
    fn from(array: ArrayShape) -> Self {
        Self::Array(array)
    }
}

/// The shape of a tuple: the shapes of its elements. At most [`MAX_NESTING`] tuples are nested.
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
    /// The nesting depth of tuples, this one included.
    depth: usize,
}

impl TupleShape {
    /// A tuple without elements.
    pub const NIL: Self = Self { elements: Cow::Borrowed(&[]), depth: 1 };

    /// A tuple of these elements.
    ///
    /// ```
    /// use xla_shape_core::{Shape, TupleShape};
    ///
    /// let tuple = TupleShape::new(vec![Shape::Token, Shape::Opaque])?;
    /// assert_eq!(tuple.elements(), [Shape::Token, Shape::Opaque]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If more than [`MAX_NESTING`] tuples are nested.
    pub fn new(elements: Vec<Shape>) -> Result<Self, ValidationError> {
        let depth = depth_around(&elements)?;
        Ok(Self { elements: Cow::Owned(elements), depth })
    }

    /// A tuple of these elements, usable in a `const` without allocation.
    ///
    /// ```
    /// use xla_shape_core::{Shape, TupleShape};
    ///
    /// static TUPLE: TupleShape = TupleShape::from_static(&[Shape::Token, Shape::Opaque]);
    /// assert_eq!(TUPLE.len(), 2);
    /// ```
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
    ///
    /// ```
    /// use xla_shape_core::{Shape, TupleShape};
    ///
    /// assert_eq!(TupleShape::new(vec![Shape::Token])?.elements(), [Shape::Token]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn elements(&self) -> &[Shape] {
        match &self.elements {
            Cow::Borrowed(elements) => elements,
            Cow::Owned(elements) => elements.as_slice(),
        }
    }

    /// The elements, owned.
    ///
    /// ```
    /// use xla_shape_core::{Shape, TupleShape};
    ///
    /// let tuple = TupleShape::new(vec![Shape::Token])?;
    /// assert_eq!(tuple.into_elements(), vec![Shape::Token]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn into_elements(self) -> Vec<Shape> {
        self.elements.into_owned()
    }

    /// The nesting depth of tuples: 1 if no element is a tuple.
    ///
    /// ```
    /// use xla_shape_core::{Shape, TupleShape};
    ///
    /// assert_eq!(TupleShape::NIL.depth(), 1);
    /// assert_eq!(TupleShape::new(vec![Shape::Tuple(TupleShape::NIL)])?.depth(), 2);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn depth(&self) -> usize {
        self.depth
    }

    /// The elements, mutable. The caller must not change their nesting depth.
    pub(crate) fn elements_mut(&mut self) -> &mut [Shape] {
        self.elements.to_mut()
    }

    /// Adds an element at the end.
    ///
    /// ```
    /// use xla_shape_core::{Shape, TupleShape};
    ///
    /// let mut tuple = TupleShape::new(vec![Shape::Token])?;
    /// tuple.push(Shape::Opaque)?;
    /// assert_eq!(tuple.len(), 2);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the tuple would be nested too deeply; it is unchanged.
    pub fn push(&mut self, element: Shape) -> Result<(), ValidationError> {
        let depth = depth_around(core::slice::from_ref(&element))?;
        self.depth = self.depth.max(depth);
        self.elements.to_mut().push(element);
        Ok(())
    }

    /// Replaces the part at index `first`, then `rest`, by `shape`, and returns the old part; `None` if there is no
    /// such part. The caller checks that the result is not nested too deeply.
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

/// The nesting depth of a tuple of these elements.
#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]
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
    use super::transform::TransformError;
    use super::{MAX_NESTING, Shape, TupleShape};
    use crate::layout::error::ValidationError;
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

        let mut tuple = TupleShape::NIL;
        assert_eq!(tuple.push(deepest.clone()), Err(TOO_DEEP));
        assert_eq!(tuple, TupleShape::NIL);
        tuple.push(nested(MAX_NESTING - 1)).unwrap();
        let mut tuple = Shape::Tuple(tuple);
        assert_eq!(tuple, deepest);
        assert_eq!(tuple.update_subshape(&[0], deepest.clone()), Err(TransformError::Invalid(TOO_DEEP)));
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
        shape.update_subshape(&[0], Shape::Token).unwrap();
        assert_eq!(shape, "(token[], ())".parse().unwrap());
        let Shape::Tuple(tuple) = &mut shape else { panic!("a tuple") };
        tuple.push(nested(4)).unwrap();
        assert_eq!(shape.depth(), 5);
        assert_eq!((Shape::Token.depth(), Shape::make_nil().depth()), (0, 1));
    }

    #[test]
    #[should_panic(expected = "expected at most 200 nested tuples, found more")]
    fn constants_have_the_same_limit() {
        let _ = TupleShape::from_static(vec![nested(MAX_NESTING)].leak());
    }
}
