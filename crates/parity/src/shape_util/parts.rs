//! Tuples: the parts of a shape and their indices.

use alloc::vec::Vec;
use core::ops::ControlFlow;
use xla_shape_core::{ElementType, Shape, ShapeIndex, TransformError, ValidationError};

/// The shape itself if there is exactly one, otherwise a tuple of the shapes.
///
/// ```
/// use xla_shape_core::Shape;
/// use xla_shape_parity::shape_util::make_maybe_tuple_shape;
///
/// assert_eq!(make_maybe_tuple_shape(vec![Shape::Token])?.to_string(), "token[]");
/// assert_eq!(make_maybe_tuple_shape(vec![Shape::Token, Shape::Token])?.to_string(), "(token[], token[])");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// Same as [`tuple`](Shape::tuple).
pub fn make_maybe_tuple_shape(mut shapes: Vec<Shape>) -> Result<Shape, ValidationError> {
    match (shapes.pop(), shapes.is_empty()) {
        (Some(only), true) => Ok(only),
        (last, _) => {
            shapes.extend(last);
            Shape::tuple(shapes)
        }
    }
}

/// Whether the shape is an array. A buffer is not.
///
/// ```
/// use xla_shape_core::Shape;
/// use xla_shape_parity::shape_util::is_array_excluding_buffer;
///
/// assert!(!is_array_excluding_buffer(&"b(f32[2])".parse::<Shape>()?));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub const fn is_array_excluding_buffer(shape: &Shape) -> bool {
    matches!(shape, Shape::Array(_))
}

/// Whether the shape is a buffer.
///
/// ```
/// use xla_shape_core::Shape;
/// use xla_shape_parity::shape_util::is_buffer;
///
/// assert!(is_buffer(&"b(f32[2])".parse::<Shape>()?));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub const fn is_buffer(shape: &Shape) -> bool {
    matches!(shape, Shape::Buffer(_))
}

/// Whether the shape is a token.
///
/// ```
/// use xla_shape_core::Shape;
/// use xla_shape_parity::shape_util::is_token;
///
/// assert!(is_token(&Shape::Token));
/// ```
#[must_use]
pub const fn is_token(shape: &Shape) -> bool {
    matches!(shape, Shape::Token)
}

/// Whether the shape is opaque.
///
/// ```
/// use xla_shape_core::Shape;
/// use xla_shape_parity::shape_util::is_opaque;
///
/// assert!(is_opaque(&Shape::Opaque));
/// ```
#[must_use]
pub const fn is_opaque(shape: &Shape) -> bool {
    matches!(shape, Shape::Opaque)
}

/// Whether the shape is a tuple without elements.
///
/// ```
/// use xla_shape_core::Shape;
/// use xla_shape_parity::shape_util::is_empty_tuple;
///
/// assert!(is_empty_tuple(&"()".parse::<Shape>()?));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn is_empty_tuple(shape: &Shape) -> bool {
    shape.tuple_shapes().is_some_and(<[Shape]>::is_empty)
}

/// Whether the shape is a tuple with an element that is a tuple.
///
/// ```
/// use xla_shape_core::Shape;
/// use xla_shape_parity::shape_util::is_nested_tuple;
///
/// assert!(is_nested_tuple(&"((), f32[])".parse::<Shape>()?));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn is_nested_tuple(shape: &Shape) -> bool {
    shape.tuple_shapes().is_some_and(|elements| elements.iter().any(Shape::is_tuple))
}

/// How many elements the tuple has; `None` if the shape is not a tuple.
///
/// ```
/// use xla_shape_parity::shape_util::tuple_element_count;
///
/// let shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
/// assert_eq!(tuple_element_count(&shape), Some(2));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub const fn tuple_element_count(shape: &Shape) -> Option<usize> {
    match shape.tuple_shapes() {
        Some(elements) => Some(elements.len()),
        None => None,
    }
}

/// A tuple of the elements `start..limit`; `None` if the shape is not a tuple or has fewer elements.
///
/// ```
/// use xla_shape_parity::shape_util::slice_tuple;
///
/// let shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
/// assert_eq!(slice_tuple(&shape, 0, 1).unwrap().to_string(), "(f32[2]{0})");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn slice_tuple(shape: &Shape, start: usize, limit: usize) -> Option<Shape> {
    Shape::tuple(shape.tuple_shapes()?.get(start..limit)?.to_vec()).ok()
}

/// Appends an element to the tuple.
///
/// ```
/// use xla_shape_parity::shape_util::append_shape_to_tuple;
///
/// let mut shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
/// append_shape_to_tuple(&mut shape, "u8[]".parse()?)?;
/// assert_eq!(shape.to_string(), "(f32[2]{0}, (s32[], token[]), u8[])");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// If the shape is not a tuple, or tuples would be nested too deeply; then the shape is unchanged.
pub fn append_shape_to_tuple(shape: &mut Shape, element: Shape) -> Result<(), TransformError> {
    match shape {
        Shape::Tuple(elements) => Ok(elements.push(element)?),
        _ => Err(TransformError::NotATuple),
    }
}

/// Replaces element `element` of the tuple by `shape` and returns the old element.
///
/// ```
/// use xla_shape_parity::shape_util::update_tuple_shape;
///
/// let mut shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
/// update_tuple_shape(&mut shape, 1, "u8[]".parse()?)?;
/// assert_eq!(shape.to_string(), "(f32[2]{0}, u8[])");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// Same as [`update_subshape`](Shape::update_subshape).
pub fn update_tuple_shape(shape: &mut Shape, element: usize, part: Shape) -> Result<Shape, TransformError> {
    shape.update_subshape(&[element], part)
}

/// Whether there is a part at this index that is not a tuple.
///
/// ```
/// use xla_shape_parity::shape_util::is_leaf_index;
///
/// let shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
/// assert!(is_leaf_index(&shape, &[1, 0]) && !is_leaf_index(&shape, &[1]));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn is_leaf_index(shape: &Shape, index: &[usize]) -> bool {
    shape.get_subshape(index).is_some_and(|shape| !shape.is_tuple())
}

/// The number of leaves: parts that are not tuples.
///
/// ```
/// use xla_shape_parity::shape_util::get_leaf_count;
///
/// let shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
/// assert_eq!(get_leaf_count(&shape), 3);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn get_leaf_count(shape: &Shape) -> usize {
    match shape.tuple_shapes() {
        Some(elements) => elements.iter().map(get_leaf_count).fold(0, usize::saturating_add),
        None => 1,
    }
}

/// Calls `visit` with every part and its index until it breaks, a tuple before its elements. Returns the break of
/// `visit`.
///
/// ```
/// use std::ops::ControlFlow;
/// use xla_shape_parity::shape_util::{for_each_subshape, is_token};
///
/// let shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
/// let found = for_each_subshape(&shape, |part, index| match is_token(part) {
///     true => ControlFlow::Break(index.to_string()),
///     false => ControlFlow::Continue(()),
/// });
/// assert_eq!(found, ControlFlow::Break("{1,1}".into()));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub fn for_each_subshape<B>(
    shape: &Shape,
    mut visit: impl FnMut(&Shape, &ShapeIndex) -> ControlFlow<B>,
) -> ControlFlow<B> {
    shape.subshapes().try_for_each(|(index, shape)| visit(shape, &index))
}

/// [`for_each_subshape`] in post-order: the elements of a tuple before the tuple.
///
/// ```
/// use std::ops::ControlFlow;
/// use xla_shape_parity::shape_util::for_each_subshape_post_order;
///
/// let shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
/// let mut indices = vec![];
/// let _ = for_each_subshape_post_order::<()>(&shape, |_, index| {
///     indices.push(index.to_string());
///     ControlFlow::Continue(())
/// });
/// assert_eq!(indices, ["{0}", "{1,0}", "{1,1}", "{1}", "{}"]);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub fn for_each_subshape_post_order<B>(
    shape: &Shape,
    mut visit: impl FnMut(&Shape, &ShapeIndex) -> ControlFlow<B>,
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
    walk(shape, &mut ShapeIndex::new(), &mut visit)
}

/// Calls `visit` with every leaf (part that is not a tuple) and its index until it breaks. Returns the break of
/// `visit`.
///
/// ```
/// use std::ops::ControlFlow;
/// use xla_shape_parity::shape_util::for_each_leaf_shape;
///
/// let shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
/// let mut leaves = 0;
/// let _ = for_each_leaf_shape::<()>(&shape, |_, _| {
///     leaves += 1;
///     ControlFlow::Continue(())
/// });
/// assert_eq!(leaves, 3);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub fn for_each_leaf_shape<B>(
    shape: &Shape,
    mut visit: impl FnMut(&Shape, &ShapeIndex) -> ControlFlow<B>,
) -> ControlFlow<B> {
    shape.get_leaf_shapes().try_for_each(|(index, shape)| visit(shape, &index))
}

/// Whether an array in the shape has this element type.
///
/// ```
/// use xla_shape_parity::shape_util::has_primitive_type;
///
/// let shape: xla_shape_core::Shape = "(f32[2], (s32[], token[]))".parse()?;
/// assert!(has_primitive_type(&shape, xla_shape_core::ElementType::S32));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn has_primitive_type(shape: &Shape, element_type: ElementType) -> bool {
    shape.arrays().any(|array| array.element_type() == element_type)
}

/// Whether every leaf is an array of integers.
///
/// ```
/// use xla_shape_core::Shape;
/// use xla_shape_parity::shape_util::are_all_leaves_integers;
///
/// assert!(are_all_leaves_integers(&"(s32[2], u8[])".parse::<Shape>()?));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn are_all_leaves_integers(shape: &Shape) -> bool {
    shape.flatten_tuple_shape().all(|leaf| leaf.array().is_some_and(|array| array.element_type().is_integral()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::{String, ToString};

    fn shape(text: &str) -> Shape {
        text.parse().unwrap()
    }

    #[test]
    fn both_orders_visit_every_part_once() {
        let shape = shape("((), (f32[], ((s32[]))), token[])");
        let mut pre = Vec::<String>::new();
        let mut post = Vec::<String>::new();
        let _ = for_each_subshape::<()>(&shape, |_, index| {
            pre.push(index.to_string());
            ControlFlow::Continue(())
        });
        let _ = for_each_subshape_post_order::<()>(&shape, |_, index| {
            post.push(index.to_string());
            ControlFlow::Continue(())
        });
        assert_eq!(pre, ["{}", "{0}", "{1}", "{1,0}", "{1,1}", "{1,1,0}", "{1,1,0,0}", "{2}"]);
        assert_eq!(post, ["{0}", "{1,0}", "{1,1,0,0}", "{1,1,0}", "{1,1}", "{1}", "{2}", "{}"]);
        assert_eq!(shape.subshape_count(), 8);
        assert_eq!(get_leaf_count(&shape), 3);
        assert_eq!(shape.get_leaf_shapes().count(), 3);
    }

    #[test]
    fn a_break_ends_the_walk() {
        let shape = shape("(f32[], s32[])");
        let found = for_each_leaf_shape(&shape, |leaf, index| {
            if leaf.is_array() { ControlFlow::Break(index.clone()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!(found, ControlFlow::Break(ShapeIndex::from([0])));
    }

    #[test]
    fn tuples_are_cut_and_changed() {
        let mut tuple = shape("(f32[], s32[], u8[])");
        assert_eq!(slice_tuple(&tuple, 1, 3), Some(shape("(s32[], u8[])")));
        assert_eq!(slice_tuple(&tuple, 2, 4), None);
        assert_eq!(update_tuple_shape(&mut tuple, 1, Shape::Token), Ok(shape("s32[]")));
        assert_eq!(append_shape_to_tuple(&mut tuple, Shape::make_nil()), Ok(()));
        assert_eq!(tuple, shape("(f32[], token[], u8[], ())"));
        assert_eq!(update_tuple_shape(&mut tuple, 4, Shape::Token), Err(TransformError::NoSuchPart));
        assert_eq!(append_shape_to_tuple(&mut shape("f32[]"), Shape::Token), Err(TransformError::NotATuple));
        assert_eq!(TransformError::NotATuple.to_string(), "expected a tuple, found another kind of shape");
        assert_eq!(
            TransformError::NoSuchPart.to_string(),
            "expected a part of the shape at this index, found none of the required kind"
        );
        assert_eq!(make_maybe_tuple_shape(alloc::vec![Shape::Token]), Ok(Shape::Token));
        assert_eq!(make_maybe_tuple_shape(alloc::vec![]), Ok(Shape::make_nil()));
        let two = alloc::vec![Shape::Token, Shape::Opaque];
        assert_eq!(make_maybe_tuple_shape(two.clone()), Shape::tuple(two));
    }
}
