//! Constructors of shapes, and access to their parts.

use crate::layout::error::ValidationError;
use crate::shape::array::ArrayShape;
use crate::shape::{Shape, TupleShape};
use alloc::vec::Vec;

impl Shape {
    /// A tuple of these shapes.
    ///
    /// ```
    /// use xla_shape_core::Shape;
    ///
    /// let shape = Shape::tuple(vec!["f32[2]".parse()?, Shape::Token])?;
    /// assert_eq!(shape.to_string(), "(f32[2]{0}, token[])");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If more than [`MAX_NESTING`](crate::text::MAX_NESTING) tuples are nested.
    pub fn tuple(elements: Vec<Self>) -> Result<Self, ValidationError> {
        TupleShape::new(elements).map(Self::Tuple)
    }

    /// The nesting depth of tuples: 0 if the shape is not a tuple.
    ///
    /// ```
    /// let shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
    /// assert_eq!(shape.depth(), 2);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn depth(&self) -> usize {
        match self {
            Self::Tuple(elements) => elements.depth(),
            _ => 0,
        }
    }

    /// The array shape of an array, or of the array that a buffer refers to; `None` for other shapes.
    ///
    /// ```
    /// use xla_shape_core::Shape;
    ///
    /// let shape: Shape = "f32[2,3]".parse()?;
    /// assert_eq!(shape.array().unwrap().num_dimensions(), 2);
    /// assert_eq!(Shape::Token.array(), None);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn array(&self) -> Option<&ArrayShape> {
        match self {
            Self::Array(array) | Self::Buffer(array) => Some(array),
            Self::Tuple(_) | Self::Token | Self::Opaque => None,
        }
    }

    /// The elements of a tuple; `None` for other shapes.
    ///
    /// ```
    /// let shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
    /// assert_eq!(shape.tuple_shapes().unwrap().len(), 2);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn tuple_shapes(&self) -> Option<&[Self]> {
        match self {
            Self::Tuple(elements) => Some(elements.elements()),
            _ => None,
        }
    }

    /// The bytes that the value takes; for a tuple, the sum over its leaves. Tokens and opaque values take none. `None`
    /// if a dimension is unbounded, or the sum does not fit in a `u64`.
    ///
    /// ```
    /// let shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
    /// assert_eq!(shape.byte_size(), Some(12)); // 8 bytes and 4 bytes
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn byte_size(&self) -> Option<u64> {
        self.sum_over_arrays(ArrayShape::byte_size)
    }

    /// The bytes of heap memory that this `Shape` value itself occupies.
    ///
    /// ```
    /// use xla_shape_core::Shape;
    ///
    /// assert_eq!("f32[2]".parse::<Shape>()?.heap_bytes(), 0); // stored inline
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        match self {
            Self::Array(array) | Self::Buffer(array) => array.heap_bytes(),
            Self::Token | Self::Opaque => 0,
            Self::Tuple(elements) => {
                let elements = elements.elements();
                size_of_val(elements) + elements.iter().map(Self::heap_bytes).sum::<usize>()
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
