//! The parts of a shape and their indices, named as in `ShapeUtil` (`xla/shape_util.h`).

use crate::layout::error::ValidationError;
use crate::limits::MAX_NESTING;
use crate::shape::Shape;
use crate::shape::TupleShape;
use crate::shape::array::ArrayShape;
use crate::shape::transform::TransformError;
use alloc::vec::Vec;
use core::fmt;
use core::iter::FusedIterator;
use core::ops::Deref;

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

    /// Appends an element number: the index becomes that of element `element` of the part.
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

    /// Removes and returns the last element number: the index becomes that of the tuple that contains the part.
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

    /// Inserts an element number at the front: the index becomes that of the same part in a tuple whose element `element`
    /// is the shape.
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

    /// Removes and returns the first element number: the index becomes that of the same part in the element with this number.
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
        if index.len() + shape.depth() > MAX_NESTING {
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
        1 + elements.iter().map(Self::subshape_count).sum::<usize>()
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

    /// Calls `visit` with a mutable reference to every array, including those that buffers refer to, and with the
    /// array's index. The structure of tuples cannot change.
    ///
    /// ```
    /// let mut shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
    /// shape.for_each_mutable_leaf_shape(|array, _| {
    ///     *array = array.insert_dimension(0, 8.into(), array.num_dimensions())?;
    ///     Ok::<_, xla_shape_core::TransformError>(())
    /// })?;
    /// assert_eq!(shape.to_string(), "(f32[8,2]{1,0}, (s32[8]{0}, token[]))");
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
    /// let rows = shape.try_map_arrays(|array| array.insert_dimension(0, 8.into(), array.num_dimensions()))?;
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
        // An array, a token or an empty tuple has no parts: go up to the nearest tuple that has another element.
        while let Some(elements) = self.path.last() {
            let following = self.index.pop_back().map_or(0, |element| element + 1);
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
    use alloc::string::ToString;

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

    #[test]
    fn every_part_is_visited_once() {
        let shape: crate::Shape = "((), (f32[], ((s32[]))), token[])".parse().unwrap();
        let indices = shape.subshapes().map(|(index, _)| index.to_string()).collect::<alloc::vec::Vec<_>>();
        assert_eq!(indices, ["{}", "{0}", "{1}", "{1,0}", "{1,1}", "{1,1,0}", "{1,1,0,0}", "{2}"]);
        assert_eq!((shape.subshape_count(), shape.get_leaf_shapes().count()), (8, 3));
    }
}
