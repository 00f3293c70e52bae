//! The destination of a relayout.

use crate::error::Error;
use std::str::FromStr;
use xla_shape::relayout::RelayoutError;
use xla_shape::{ArrayShape, Layout, ParseError, Shape};

/// The array that a relayout makes. As text, a layout begins with a brace, and anything else is a shape.
///
/// ```
/// use xla_shape_files::Destination;
///
/// assert!(matches!("{0,1:T(8,128)}".parse()?, Destination::Layout(_)));
/// assert!(matches!("f32[3,2]{0,1}".parse()?, Destination::Shape(_)));
/// # Ok::<(), xla_shape::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub enum Destination {
    /// The dimensions of the source, transposed if that is asked for, in row-major order.
    #[default]
    RowMajor,
    /// The dimensions of the source, transposed if that is asked for, in this layout.
    Layout(Layout),
    /// An array, or the array in a buffer, of this shape. Its dimensions must be those of the source, transposed if that is asked for.
    Shape(Shape),
}

impl Destination {
    /// The shape of the array that is made of an array of shape `source`. Entry i of `permutation` is the dimension of the source that
    /// becomes dimension i; without one, all stay.
    ///
    /// ```
    /// use xla_shape::ArrayShape;
    /// use xla_shape_files::Destination;
    ///
    /// let source: ArrayShape = "f32[2,3]".parse()?;
    /// let to: Destination = "{1,0:T(8,128)}".parse()?;
    /// assert_eq!(to.shape_for(&source, None)?.to_string(), "f32[2,3]{1,0:T(8,128)}");
    /// assert_eq!(to.shape_for(&source, Some(&[1, 0]))?.to_string(), "f32[3,2]{1,0:T(8,128)}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the permutation does not permute the source's dimensions, the layout does not fit them, or the shape is not an array. Whether
    /// the source can be copied into the array is checked later, by [`Plan::check`](xla_shape::relayout::Plan::check).
    pub fn shape_for(&self, source: &ArrayShape, permutation: Option<&[usize]>) -> Result<ArrayShape, Error> {
        let layout = match self {
            Self::Shape(shape) => {
                return shape.array().cloned().ok_or_else(|| Error::NotAnArray(shape.clone().into()));
            }
            Self::Layout(layout) => Some(layout.clone()),
            Self::RowMajor => None,
        };
        let dimensions = match permutation {
            None => source.dimensions().to_vec(),
            Some(permutation) => {
                let dimension = |&number: &usize| source.dimensions().get(number).copied();
                permutation.iter().map(dimension).collect::<Option<Vec<_>>>().ok_or_else(|| {
                    let (permutation, num_dimensions) = (permutation.to_vec(), source.num_dimensions());
                    RelayoutError::InvalidPermutation { permutation, num_dimensions }
                })?
            }
        };
        let layout = layout.unwrap_or_else(|| Layout::descending(dimensions.len()));
        Ok(ArrayShape::new(source.element_type(), &dimensions, layout).map_err(RelayoutError::Invalid)?)
    }
}

impl FromStr for Destination {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text.trim_start().starts_with('{') {
            true => text.parse().map(Self::Layout),
            false => text.parse().map(Self::Shape),
        }
    }
}

impl From<Layout> for Destination {
    fn from(layout: Layout) -> Self {
        Self::Layout(layout)
    }
}

impl From<Shape> for Destination {
    fn from(shape: Shape) -> Self {
        Self::Shape(shape)
    }
}

#[cfg(test)]
mod tests {
    use super::Destination;
    use xla_shape::ArrayShape;

    #[test]
    fn a_text_is_a_layout_or_the_shape_of_an_array() {
        let array: ArrayShape = "f32[2,3]{0,1}".parse().unwrap();
        assert_eq!(" {0,1}".parse(), Ok(Destination::Layout(array.layout().clone())));
        let made = |text: &str| text.parse::<Destination>().unwrap().shape_for(&array, None);
        for text in ["f32[2,3]{0,1}", " b(f32[2,3]{0,1})", "{0,1}"] {
            assert_eq!(made(text).unwrap(), array, "{text}");
        }
        for text in ["(f32[2], f32[3])", "token[]", "()"] {
            assert!(
                made(text).unwrap_err().to_string().starts_with("expected an array as the destination, found "),
                "{text}"
            );
        }
        for (text, start) in [("f32[2", 5), ("{0,1:T()}", 6), ("", 0)] {
            assert_eq!(text.parse::<Destination>().unwrap_err().span().start, start, "{text}");
        }
    }

    #[test]
    fn bounds_stay_whatever_the_layout() {
        let source: ArrayShape = "f32[<=2,3]{0,1}".parse().unwrap();
        let made = |to: Destination| to.shape_for(&source, Some(&[1, 0])).unwrap().to_string();
        assert_eq!(made(Destination::RowMajor), "f32[3,<=2]{1,0}");
        assert_eq!(made("{0,1}".parse().unwrap()), "f32[3,<=2]{0,1}");
        for wrong in [&[0][..], &[0, 2], &[0, 1, 1]] {
            // A list of the wrong length is an error, at the latest when it is compared with the layout.
            assert!(Destination::from(source.layout().clone()).shape_for(&source, Some(wrong)).is_err(), "{wrong:?}");
        }
    }
}
