//! Shapes as users give them: with a layout, or without one.

use std::str::FromStr;
use xla_shape_core::text::Parser;
use xla_shape_core::{ArrayShape, Layout, ParseError, Shape};

/// A shape, and which of its arrays were given a layout. For the others, a compiler chooses it.
///
/// A text says which. For a value this is unknown; the default layout counts as none.
///
/// ```
/// use xla_shape_render::Given;
///
/// let given: Given = "f32[2,3]{1,0}".parse()?;
/// assert!(given.array().unwrap().has_layout);
/// let given: Given = "f32[2,3]".parse()?;
/// assert!(!given.array().unwrap().has_layout);
/// assert!(!Given::from(given.shape().clone()).array().unwrap().has_layout);
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Given {
    shape: Shape,
    /// For each leaf.
    layouts: Vec<bool>,
}

/// An array, and whether it has a layout of its own.
#[derive(Clone, Debug)]
pub struct GivenArray {
    /// The array; in the row-major layout, if it has none of its own.
    pub array: ArrayShape,
    /// Whether it has one.
    pub has_layout: bool,
}

impl Given {
    /// The shape.
    #[must_use]
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The array, or the array in a buffer, if it is one.
    #[must_use]
    pub fn array(&self) -> Option<GivenArray> {
        let array = self.shape.array()?.clone();
        Some(GivenArray { array, has_layout: self.layouts.first().is_some_and(|&written| written) })
    }

    /// Whether each leaf has a layout of its own.
    pub(crate) fn layouts(&self) -> impl Iterator<Item = bool> {
        self.layouts.iter().copied()
    }
}

/// Whether a layout is not the one that text without a layout has.
fn is_special(array: &ArrayShape) -> bool {
    *array.layout() != Layout::descending(array.num_dimensions())
}

impl From<Shape> for Given {
    fn from(shape: Shape) -> Self {
        let leaves = shape.get_leaf_shapes();
        let layouts = leaves.map(|(_, leaf)| leaf.array().is_some_and(is_special)).collect();
        Self { shape, layouts }
    }
}

impl From<&ArrayShape> for GivenArray {
    fn from(array: &ArrayShape) -> Self {
        Self { array: array.clone(), has_layout: is_special(array) }
    }
}

impl FromStr for Given {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Ok(Self { shape: text.parse()?, layouts: Parser::whole(text).written_layouts() })
    }
}

#[cfg(test)]
mod tests {
    use super::Given;

    #[test]
    fn leaves_and_layouts_are_as_many() {
        for (text, layouts) in [
            ("()", &[][..]),
            ("token[]", &[false]),
            ("f32[]", &[false]),
            ("f32[]{:T(128)}", &[true]),
            ("b(f32[2]{0})", &[true]),
            (
                "((f32[2], ()), opaque[], b(s8[3]{0:T(128)}), f32[2,3] /* a comment */ {1,0})",
                &[false, false, true, true],
            ),
        ] {
            let given: Given = text.parse().unwrap();
            assert_eq!(given.layouts().collect::<Vec<_>>(), layouts, "{text}");
            let leaves = given.shape().get_leaf_shapes().count();
            assert_eq!(leaves, layouts.len(), "{text}");
            assert_eq!(Given::from(given.shape().clone()).layouts().count(), leaves);
        }
    }
}
