//! Tuples: the parts of a shape and their indices, with the names of `ShapeUtil` (`xla/shape_util.h`).

use crate::element_type::ElementType;
use crate::layout::error::ValidationError;
use crate::limits::MAX_NESTING;
use crate::shape::Shape;
use crate::shape::TupleShape;
use crate::shape::array::ArrayShape;
use crate::util::transform::TransformError;
use alloc::vec::Vec;
use core::fmt;
use core::iter::FusedIterator;
use core::ops::{ControlFlow, Deref};

/// The index of a part of a shape: the numbers of the tuple elements that lead to it. XLA's `ShapeIndex`
/// (`xla/shape_util.h`).
///
/// `{}` is the whole shape; `{1,0}` is the first element of the second element.
///
/// ```
/// use xla_shape_core::{Shape, ShapeIndex};
///
/// let shape: Shape = "(f32[2], (s32[], u8[4]))".parse()?;
/// let index = ShapeIndex::from([1, 1]);
/// assert_eq!(index.to_string(), "{1,1}");
/// assert_eq!(shape.get_subshape(&index).unwrap().to_string(), "u8[4]{0}");
/// assert_eq!(shape.get_subshape(&[0, 0]), None);
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ShapeIndex(Vec<usize>);

impl ShapeIndex {
    /// The index of the whole shape.
    ///
    /// ```
    /// use xla_shape_core::ShapeIndex;
    ///
    /// assert_eq!(ShapeIndex::new().to_string(), "{}");
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Appends an element number: the index of element `element` of the part.
    ///
    /// ```
    /// use xla_shape_core::ShapeIndex;
    ///
    /// let mut index = ShapeIndex::from([1]);
    /// index.push_back(0);
    /// assert_eq!(index, ShapeIndex::from([1, 0]));
    /// ```
    pub fn push_back(&mut self, element: usize) {
        self.0.push(element);
    }

    /// Removes and returns the last element number: the index of the tuple that the part is an element of.
    ///
    /// ```
    /// use xla_shape_core::ShapeIndex;
    ///
    /// let mut index = ShapeIndex::from([1, 0]);
    /// assert_eq!((index.pop_back(), index.to_string()), (Some(0), "{1}".into()));
    /// ```
    pub fn pop_back(&mut self) -> Option<usize> {
        self.0.pop()
    }

    /// Inserts an element number at the front: the index of the same part in a tuple that has the shape as element
    /// `element`.
    ///
    /// ```
    /// use xla_shape_core::ShapeIndex;
    ///
    /// let mut index = ShapeIndex::from([0]);
    /// index.push_front(1);
    /// assert_eq!(index, ShapeIndex::from([1, 0]));
    /// ```
    pub fn push_front(&mut self, element: usize) {
        self.0.insert(0, element);
    }

    /// Removes and returns the first element number: the index of the same part in that element.
    ///
    /// ```
    /// use xla_shape_core::ShapeIndex;
    ///
    /// let mut index = ShapeIndex::from([1, 0]);
    /// assert_eq!((index.pop_front(), index.to_string()), (Some(1), "{0}".into()));
    /// ```
    pub fn pop_front(&mut self) -> Option<usize> {
        (!self.0.is_empty()).then(|| self.0.remove(0))
    }
}

impl Deref for ShapeIndex {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl<const N: usize> From<[usize; N]> for ShapeIndex {
    fn from(elements: [usize; N]) -> Self {
        Self(elements.into())
    }
}

impl From<&[usize]> for ShapeIndex {
    fn from(elements: &[usize]) -> Self {
        Self(elements.into())
    }
}

impl FromIterator<usize> for ShapeIndex {
    fn from_iter<I: IntoIterator<Item = usize>>(elements: I) -> Self {
        Self(elements.into_iter().collect())
    }
}

impl fmt::Display for ShapeIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (i, element) in self.0.iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            write!(f, "{comma}{element}")?;
        }
        f.write_str("}")
    }
}

impl Shape {
    /// A tuple without elements.
    ///
    /// ```
    /// use xla_shape_core::Shape;
    ///
    /// assert_eq!(Shape::make_nil().to_string(), "()");
    /// ```
    #[must_use]
    pub const fn make_nil() -> Self {
        Self::Tuple(TupleShape::NIL)
    }

    /// The shape itself if there is exactly one, otherwise a tuple of the shapes.
    ///
    /// ```
    /// use xla_shape_core::Shape;
    ///
    /// assert_eq!(Shape::make_maybe_tuple_shape(vec![Shape::Token])?.to_string(), "token[]");
    /// assert_eq!(Shape::make_maybe_tuple_shape(vec![Shape::Token, Shape::Token])?.to_string(), "(token[], token[])");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`tuple`](Self::tuple).
    pub fn make_maybe_tuple_shape(mut shapes: Vec<Self>) -> Result<Self, ValidationError> {
        match (shapes.pop(), shapes.is_empty()) {
            (Some(only), true) => Ok(only),
            (last, _) => {
                shapes.extend(last);
                Self::tuple(shapes)
            }
        }
    }

    /// Whether the shape is an array. A buffer is not.
    ///
    /// ```
    /// use xla_shape_core::Shape;
    ///
    /// assert!(!"b(f32[2])".parse::<Shape>()?.is_array_excluding_buffer());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn is_array_excluding_buffer(&self) -> bool {
        matches!(self, Self::Array(_))
    }

    /// Whether the shape is an array or a buffer.
    ///
    /// ```
    /// use xla_shape_core::Shape;
    ///
    /// assert!("b(f32[2])".parse::<Shape>()?.is_array());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn is_array(&self) -> bool {
        matches!(self, Self::Array(_) | Self::Buffer(_))
    }

    /// Whether the shape is a buffer.
    ///
    /// ```
    /// use xla_shape_core::Shape;
    ///
    /// assert!("b(f32[2])".parse::<Shape>()?.is_buffer());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn is_buffer(&self) -> bool {
        matches!(self, Self::Buffer(_))
    }

    /// Whether the shape is a tuple.
    ///
    /// ```
    /// use xla_shape_core::Shape;
    ///
    /// assert!("(f32[2])".parse::<Shape>()?.is_tuple());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn is_tuple(&self) -> bool {
        matches!(self, Self::Tuple(_))
    }

    /// Whether the shape is a token.
    ///
    /// ```
    /// use xla_shape_core::Shape;
    ///
    /// assert!(Shape::Token.is_token());
    /// ```
    #[must_use]
    pub const fn is_token(&self) -> bool {
        matches!(self, Self::Token)
    }

    /// Whether the shape is opaque.
    ///
    /// ```
    /// use xla_shape_core::Shape;
    ///
    /// assert!(Shape::Opaque.is_opaque());
    /// ```
    #[must_use]
    pub const fn is_opaque(&self) -> bool {
        matches!(self, Self::Opaque)
    }

    /// Whether the shape is a tuple without elements.
    ///
    /// ```
    /// use xla_shape_core::Shape;
    ///
    /// assert!("()".parse::<Shape>()?.is_empty_tuple());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_empty_tuple(&self) -> bool {
        self.tuple_shapes().is_some_and(<[Self]>::is_empty)
    }

    /// Whether the shape is a tuple with an element that is a tuple.
    ///
    /// ```
    /// use xla_shape_core::Shape;
    ///
    /// assert!("((), f32[])".parse::<Shape>()?.is_nested_tuple());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_nested_tuple(&self) -> bool {
        self.tuple_shapes().is_some_and(|elements| elements.iter().any(Self::is_tuple))
    }

    /// How many elements the tuple has; `None` if the shape is not a tuple.
    ///
    /// ```
    /// let shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
    /// assert_eq!(shape.tuple_element_count(), Some(2));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn tuple_element_count(&self) -> Option<usize> {
        match self.tuple_shapes() {
            Some(elements) => Some(elements.len()),
            None => None,
        }
    }

    /// Element `element` of the tuple; `None` if the shape is not a tuple or has no such element.
    ///
    /// ```
    /// let shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
    /// assert_eq!(shape.get_tuple_element_shape(0).unwrap().to_string(), "f32[2]{0}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn get_tuple_element_shape(&self, element: usize) -> Option<&Self> {
        self.tuple_shapes()?.get(element)
    }

    /// A tuple of the elements `start..limit`; `None` if the shape is not a tuple or has fewer elements.
    ///
    /// ```
    /// let shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
    /// assert_eq!(shape.slice_tuple(0, 1).unwrap().to_string(), "(f32[2]{0})");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn slice_tuple(&self, start: usize, limit: usize) -> Option<Self> {
        Self::tuple(self.tuple_shapes()?.get(start..limit)?.to_vec()).ok()
    }

    /// Appends an element to the tuple.
    ///
    /// ```
    /// let mut shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
    /// shape.append_shape_to_tuple("u8[]".parse()?)?;
    /// assert_eq!(shape.to_string(), "(f32[2]{0}, (s32[], token[]), u8[])");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the shape is not a tuple, or tuples would be nested too deeply; then the shape is unchanged.
    pub fn append_shape_to_tuple(&mut self, element: Self) -> Result<(), TransformError> {
        match self {
            Self::Tuple(elements) => Ok(elements.push(element)?),
            _ => Err(TransformError::NotATuple),
        }
    }

    /// Replaces element `element` of the tuple by `shape` and returns the old element.
    ///
    /// ```
    /// let mut shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
    /// shape.update_tuple_shape(1, "u8[]".parse()?)?;
    /// assert_eq!(shape.to_string(), "(f32[2]{0}, u8[])");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`update_subshape`](Self::update_subshape).
    pub fn update_tuple_shape(&mut self, element: usize, shape: Self) -> Result<Self, TransformError> {
        self.update_subshape(&[element], shape)
    }

    /// Replaces the part at this index by `shape` and returns the old part.
    ///
    /// ```
    /// let mut shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
    /// shape.update_subshape(&[1, 0], "u8[]".parse()?)?;
    /// assert_eq!(shape.to_string(), "(f32[2]{0}, (u8[], token[]))");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such part, or tuples would be nested too deeply; then the shape is unchanged.
    pub fn update_subshape(&mut self, index: &[usize], shape: Self) -> Result<Self, TransformError> {
        if !self.index_is_valid(index) {
            return Err(TransformError::NoSuchPart);
        }
        if index.len().saturating_add(shape.depth()) > MAX_NESTING {
            return Err(ValidationError::NESTED_TOO_DEEP.into());
        }
        match (index.split_first(), self) {
            (Some((&first, rest)), Self::Tuple(tuple)) => {
                tuple.replace(first, rest, shape).ok_or(TransformError::NoSuchPart)
            }
            (_, whole) => Ok(core::mem::replace(whole, shape)),
        }
    }

    /// Whether there is a part at this index.
    ///
    /// ```
    /// let shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
    /// assert!(shape.index_is_valid(&[1, 0]) && !shape.index_is_valid(&[0, 0]));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn index_is_valid(&self, index: &[usize]) -> bool {
        self.get_subshape(index).is_some()
    }

    /// The part at this index; `None` if there is none.
    ///
    /// ```
    /// let shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
    /// assert_eq!(shape.get_subshape(&[1, 0]).unwrap().to_string(), "s32[]");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn get_subshape(&self, index: &[usize]) -> Option<&Self> {
        index.iter().try_fold(self, |shape, &element| shape.get_tuple_element_shape(element))
    }

    /// The array at this index, or the array that a buffer there refers to, mutable; `None` if there is none. Use
    /// [`update_subshape`](Self::update_subshape) to replace parts that are not arrays.
    ///
    /// ```
    /// let mut shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
    /// let array = shape.get_mutable_array(&[0]).unwrap();
    /// *array = array.append_major_dimension(3)?;
    /// assert_eq!(shape.to_string(), "(f32[2,3]{0,1}, (s32[], token[]))");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn get_mutable_array(&mut self, index: &[usize]) -> Option<&mut ArrayShape> {
        let part = index.iter().try_fold(self, |shape, &element| match shape {
            Self::Tuple(elements) => elements.elements_mut().get_mut(element),
            _ => None,
        });
        match part? {
            Self::Array(array) | Self::Buffer(array) => Some(array),
            Self::Tuple(_) | Self::Token | Self::Opaque => None,
        }
    }

    /// Whether there is a part at this index that is not a tuple.
    ///
    /// ```
    /// let shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
    /// assert!(shape.is_leaf_index(&[1, 0]) && !shape.is_leaf_index(&[1]));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_leaf_index(&self, index: &[usize]) -> bool {
        self.get_subshape(index).is_some_and(|shape| !shape.is_tuple())
    }

    /// The number of parts: the whole shape, and, for a tuple, the parts of its elements.
    ///
    /// ```
    /// let shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
    /// assert_eq!(shape.subshape_count(), 5);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn subshape_count(&self) -> usize {
        let elements = self.tuple_shapes().unwrap_or_default();
        elements.iter().map(Self::subshape_count).fold(1, usize::saturating_add)
    }

    /// The number of leaves: parts that are not tuples.
    ///
    /// ```
    /// let shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
    /// assert_eq!(shape.get_leaf_count(), 3);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn get_leaf_count(&self) -> usize {
        match self.tuple_shapes() {
            Some(elements) => elements.iter().map(Self::get_leaf_count).fold(0, usize::saturating_add),
            None => 1,
        }
    }

    /// Every part with its index: a tuple before its elements.
    ///
    /// ```
    /// let shape: xla_shape_core::Shape = "(f32[], (s32[]))".parse()?;
    /// let indices = shape.subshapes().map(|(index, _)| index.to_string()).collect::<Vec<_>>();
    /// assert_eq!(indices, ["{}", "{0}", "{1}", "{1,0}"]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn subshapes(&self) -> impl FusedIterator<Item = (ShapeIndex, &Self)> {
        Subshapes { next: Some(self), index: ShapeIndex::new(), path: Vec::new() }
    }

    /// Every leaf (part that is not a tuple) with its index, in the order of [`subshapes`](Self::subshapes).
    ///
    /// ```
    /// let shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
    /// let indices: Vec<_> = shape.get_leaf_shapes().map(|(index, _)| index.to_string()).collect();
    /// assert_eq!(indices, ["{0}", "{1,0}", "{1,1}"]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn get_leaf_shapes(&self) -> impl Iterator<Item = (ShapeIndex, &Self)> {
        self.subshapes().filter(|(_, shape)| !shape.is_tuple())
    }

    /// Every leaf (part that is not a tuple), in order.
    ///
    /// ```
    /// let shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
    /// let leaves: Vec<_> = shape.flatten_tuple_shape().map(ToString::to_string).collect();
    /// assert_eq!(leaves, ["f32[2]{0}", "s32[]", "token[]"]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn flatten_tuple_shape(&self) -> impl Iterator<Item = &Self> {
        self.get_leaf_shapes().map(|(_, shape)| shape)
    }

    /// The array shapes of all leaves that are arrays or buffers.
    ///
    /// ```
    /// let shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]), b(u8[4]))".parse()?;
    /// let sizes: Vec<_> = shape.arrays().map(|array| array.byte_size()).collect();
    /// assert_eq!(sizes, [Some(8), Some(4), Some(4)]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    pub fn arrays(&self) -> impl Iterator<Item = &ArrayShape> {
        self.flatten_tuple_shape().filter_map(Self::array)
    }

    /// Calls `visit` with every part and its index until it breaks, a tuple before its elements. Returns the break of
    /// `visit`.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// let shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
    /// let found = shape.for_each_subshape(|part, index| match part.is_token() {
    ///     true => ControlFlow::Break(index.to_string()),
    ///     false => ControlFlow::Continue(()),
    /// });
    /// assert_eq!(found, ControlFlow::Break("{1,1}".into()));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn for_each_subshape<B>(&self, mut visit: impl FnMut(&Self, &ShapeIndex) -> ControlFlow<B>) -> ControlFlow<B> {
        self.subshapes().try_for_each(|(index, shape)| visit(shape, &index))
    }

    /// [`for_each_subshape`](Self::for_each_subshape) in post-order: the elements of a tuple before the tuple.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// let shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
    /// let mut indices = vec![];
    /// let _ = shape.for_each_subshape_post_order::<()>(|_, index| {
    ///     indices.push(index.to_string());
    ///     ControlFlow::Continue(())
    /// });
    /// assert_eq!(indices, ["{0}", "{1,0}", "{1,1}", "{1}", "{}"]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn for_each_subshape_post_order<B>(
        &self,
        mut visit: impl FnMut(&Self, &ShapeIndex) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        fn walk<B>(
            shape: &Shape,
            index: &mut ShapeIndex,
            visit: &mut impl FnMut(&Shape, &ShapeIndex) -> ControlFlow<B>,
        ) -> ControlFlow<B> {
            for (number, element) in shape.tuple_shapes().unwrap_or_default().iter().enumerate() {
                index.push_back(number);
                walk(element, index, visit)?;
                index.pop_back();
            }
            visit(shape, index)
        }
        walk(self, &mut ShapeIndex::new(), &mut visit)
    }

    /// Calls `visit` with every leaf (part that is not a tuple) and its index until it breaks. Returns the break of
    /// `visit`.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// let shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
    /// let mut leaves = 0;
    /// let _ = shape.for_each_leaf_shape::<()>(|_, _| {
    ///     leaves += 1;
    ///     ControlFlow::Continue(())
    /// });
    /// assert_eq!(leaves, 3);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn for_each_leaf_shape<B>(
        &self,
        mut visit: impl FnMut(&Self, &ShapeIndex) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.get_leaf_shapes().try_for_each(|(index, shape)| visit(shape, &index))
    }

    /// Calls `visit` with every array, including those that buffers refer to, mutable, and its index. The structure of
    /// tuples cannot change.
    ///
    /// ```
    /// let mut shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
    /// shape.for_each_mutable_leaf_shape(|array, _| {
    ///     *array = array.change_element_type(xla_shape_core::ElementType::Bf16)?;
    ///     Ok::<_, xla_shape_core::TransformError>(())
    /// })?;
    /// assert_eq!(shape.to_string(), "(bf16[2]{0}, (bf16[], token[]))");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The first error of `visit`. Arrays that were changed before stay changed.
    pub fn for_each_mutable_leaf_shape<E>(
        &mut self,
        mut visit: impl FnMut(&mut ArrayShape, &ShapeIndex) -> Result<(), E>,
    ) -> Result<(), E> {
        fn walk<E>(
            shape: &mut Shape,
            index: &mut ShapeIndex,
            visit: &mut impl FnMut(&mut ArrayShape, &ShapeIndex) -> Result<(), E>,
        ) -> Result<(), E> {
            match shape {
                Shape::Array(array) | Shape::Buffer(array) => return visit(array, index),
                Shape::Token | Shape::Opaque => {}
                Shape::Tuple(elements) => {
                    for (number, element) in elements.elements_mut().iter_mut().enumerate() {
                        index.push_back(number);
                        walk(element, index, visit)?;
                        index.pop_back();
                    }
                }
            }
            Ok(())
        }
        walk(self, &mut ShapeIndex::new(), &mut visit)
    }

    /// The same shape with `change` applied to every array, including those that buffers refer to.
    ///
    /// ```
    /// let shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
    /// let rows = shape.try_map_arrays(|array| array.prepend_major_dimension(8))?;
    /// assert_eq!(rows.to_string(), "(f32[8,2]{1,0}, (s32[8]{0}, token[]))");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The first error of `change`.
    pub fn try_map_arrays<E>(mut self, mut change: impl FnMut(ArrayShape) -> Result<ArrayShape, E>) -> Result<Self, E> {
        self.for_each_mutable_leaf_shape(|array, _| {
            *array = change(array.clone())?;
            Ok(())
        })?;
        Ok(self)
    }

    /// Whether an array in the shape has this element type.
    ///
    /// ```
    /// let shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
    /// assert!(shape.has_primitive_type(xla_shape_core::ElementType::S32));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn has_primitive_type(&self, element_type: ElementType) -> bool {
        self.arrays().any(|array| array.element_type() == element_type)
    }

    /// Whether every leaf is an array of integers.
    ///
    /// ```
    /// use xla_shape_core::Shape;
    ///
    /// assert!("(s32[2], u8[])".parse::<Shape>()?.are_all_leaves_integers());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn are_all_leaves_integers(&self) -> bool {
        self.flatten_tuple_shape().all(|leaf| leaf.array().is_some_and(|array| array.element_type().is_integral()))
    }

    /// Whether every dimension of every array in the shape is static.
    ///
    /// ```
    /// use xla_shape_core::Shape;
    ///
    /// assert!("(f32[2], token[])".parse::<Shape>()?.is_static());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_static(&self) -> bool {
        self.arrays().all(ArrayShape::is_static)
    }

    /// Whether a dimension of an array in the shape is dynamic: bounded or unbounded.
    ///
    /// ```
    /// use xla_shape_core::Shape;
    ///
    /// assert!("(f32[<=2], s32[])".parse::<Shape>()?.is_dynamic());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_dynamic(&self) -> bool {
        !self.is_static()
    }

    /// Whether a dimension of an array in the shape is unbounded.
    ///
    /// ```
    /// use xla_shape_core::Shape;
    ///
    /// assert!("(f32[?], s32[])".parse::<Shape>()?.is_unbounded_dynamic());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_unbounded_dynamic(&self) -> bool {
        self.arrays().any(ArrayShape::is_unbounded_dynamic)
    }

    /// Whether a dimension of an array in the shape has a bound instead of a static size.
    ///
    /// ```
    /// use xla_shape_core::Shape;
    ///
    /// assert!("(f32[<=2], token[])".parse::<Shape>()?.is_bounded_dynamic());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_bounded_dynamic(&self) -> bool {
        self.arrays().any(ArrayShape::is_bounded_dynamic)
    }
}

/// The iterator of [`Shape::subshapes`].
struct Subshapes<'a> {
    next: Option<&'a Shape>,
    index: ShapeIndex,
    /// The elements of each tuple on the path to the next part.
    path: Vec<&'a [Shape]>,
}

impl<'a> Iterator for Subshapes<'a> {
    type Item = (ShapeIndex, &'a Shape);

    fn next(&mut self) -> Option<Self::Item> {
        let shape = self.next?;
        let index = self.index.clone();
        self.next = None;
        if let Some(elements) = shape.tuple_shapes()
            && let Some(first) = elements.first()
        {
            self.path.push(elements);
            self.index.push_back(0);
            self.next = Some(first);
            return Some((index, shape));
        }
        while let Some(elements) = self.path.last() {
            let following = self.index.pop_back().map_or(0, |element| element.saturating_add(1));
            if let Some(element) = elements.get(following) {
                self.index.push_back(following);
                self.next = Some(element);
                break;
            }
            self.path.pop();
        }
        Some((index, shape))
    }
}

impl FusedIterator for Subshapes<'_> {}

#[cfg(test)]
mod tests {
    use super::ShapeIndex;
    use crate::shape::Shape;
    use crate::util::transform::TransformError;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;
    use core::ops::ControlFlow;

    fn shape(text: &str) -> Shape {
        text.parse().unwrap()
    }

    #[test]
    fn both_orders_visit_every_part_once() {
        let shape = shape("((), (f32[], ((s32[]))), token[])");
        let mut pre = Vec::<String>::new();
        let mut post = Vec::<String>::new();
        let _ = shape.for_each_subshape::<()>(|_, index| {
            pre.push(index.to_string());
            ControlFlow::Continue(())
        });
        let _ = shape.for_each_subshape_post_order::<()>(|_, index| {
            post.push(index.to_string());
            ControlFlow::Continue(())
        });
        assert_eq!(pre, ["{}", "{0}", "{1}", "{1,0}", "{1,1}", "{1,1,0}", "{1,1,0,0}", "{2}"]);
        assert_eq!(post, ["{0}", "{1,0}", "{1,1,0,0}", "{1,1,0}", "{1,1}", "{1}", "{2}", "{}"]);
        assert_eq!(shape.subshape_count(), 8);
        assert_eq!(shape.get_leaf_count(), 3);
        assert_eq!(shape.get_leaf_shapes().count(), 3);
    }

    #[test]
    fn a_break_ends_the_walk() {
        let shape = shape("(f32[], s32[])");
        let found = shape.for_each_leaf_shape(|leaf, index| {
            if leaf.is_array() { ControlFlow::Break(index.clone()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!(found, ControlFlow::Break(ShapeIndex::from([0])));
    }

    #[test]
    fn tuples_are_cut_and_changed() {
        let mut tuple = shape("(f32[], s32[], u8[])");
        assert_eq!(tuple.slice_tuple(1, 3), Some(shape("(s32[], u8[])")));
        assert_eq!(tuple.slice_tuple(2, 4), None);
        assert_eq!(tuple.update_tuple_shape(1, Shape::Token), Ok(shape("s32[]")));
        assert_eq!(tuple.append_shape_to_tuple(Shape::make_nil()), Ok(()));
        assert_eq!(tuple, shape("(f32[], token[], u8[], ())"));
        assert_eq!(tuple.update_tuple_shape(4, Shape::Token), Err(TransformError::NoSuchPart));
        assert_eq!(shape("f32[]").append_shape_to_tuple(Shape::Token), Err(TransformError::NotATuple));
        assert_eq!(TransformError::NotATuple.to_string(), "expected a tuple, found another kind of shape");
        assert_eq!(
            TransformError::NoSuchPart.to_string(),
            "expected a part of the shape at this index, found none of the required kind"
        );
        assert_eq!(Shape::make_maybe_tuple_shape(alloc::vec![Shape::Token]), Ok(Shape::Token));
        assert_eq!(Shape::make_maybe_tuple_shape(alloc::vec![]), Ok(Shape::make_nil()));
        let two = alloc::vec![Shape::Token, Shape::Opaque];
        assert_eq!(Shape::make_maybe_tuple_shape(two.clone()), Shape::tuple(two));
    }

    #[test]
    fn an_index_grows_and_shrinks_at_both_ends() {
        let mut index = ShapeIndex::from([1, 2]);
        index.push_front(0);
        index.push_back(3);
        assert_eq!(&*index, [0, 1, 2, 3]);
        assert_eq!((index.pop_front(), index.pop_back()), (Some(0), Some(3)));
        assert_eq!(ShapeIndex::new().pop_front(), None);
        assert_eq!(ShapeIndex::new().to_string(), "{}");
    }
}
