//! Shapes as users write them: with a layout or without one.

use std::str::FromStr;
use xla_shape_core::text::Parser;
use xla_shape_core::tpu::{DefaultLayoutError, Generation};
use xla_shape_core::{ArrayShape, Layout, ParseError, Shape};
use xla_shape_hlo::find_spelled_shapes;

/// A shape, and which of its arrays were written with a layout. A compiler chooses the layout of the others.
///
/// A text shows whether it has a layout. A [`Shape`] does not show it, so if a shape was not read from a text, a row-major layout without attributes
/// counts as no layout.
///
/// ```
/// use xla_shape_answers::Given;
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
    /// Whether each leaf was written with a layout.
    layouts: Vec<bool>,
}

/// An array, and whether it was written with a layout.
///
/// ```
/// use xla_shape_answers::GivenArray;
///
/// let array: xla_shape_core::ArrayShape = "f32[2,3]{0,1}".parse()?;
/// assert!(GivenArray::from(&array).has_layout, "row-major would count as no layout");
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct GivenArray {
    /// The array; row-major if it was written without a layout.
    pub array: ArrayShape,
    /// Whether it was written with a layout.
    pub has_layout: bool,
}

impl Given {
    /// Reads a shape. The error is the message for people: it shows the text with a mark, and says what to write instead if the text
    /// is a type of MLIR or a part of a shape.
    ///
    /// ```
    /// use xla_shape_answers::Given;
    ///
    /// let error = Given::read("tensor<2x3xf32>").unwrap_err();
    /// assert!(error.ends_with("help: XLA writes this type as `f32[2,3]`"));
    /// ```
    ///
    /// # Errors
    /// If the text is not a shape.
    pub fn read(text: &str) -> Result<Self, String> {
        text.parse().map_err(|error: ParseError| {
            // A type of MLIR, such as `tensor<2x3xf32>`.
            let in_xla = Self::spelled_elsewhere(text).filter(|_| text.trim().ends_with('>'));
            let in_xla = in_xla.map(|shape| format!("\nhelp: XLA writes this type as `{}`", shape.without_layout()));
            let in_xla = in_xla.or_else(|| {
                Some(format!("\nhelp: this is a part of a shape; write a whole one, such as `{}`", whole(text)?))
            });
            format!("{}{}", error.render(text), in_xla.unwrap_or_default())
        })
    }

    /// Reads a shape in the spelling of JAX, NumPy or MLIR, such as `bfloat16[8,128]`. These spellings have no layout, so the shape is row-major.
    /// `None` for any other text.
    ///
    /// ```
    /// use xla_shape_answers::Given;
    ///
    /// assert_eq!(Given::spelled_elsewhere("bfloat16[8,128]").unwrap().to_string(), "bf16[8,128]{1,0}");
    /// assert_eq!(Given::spelled_elsewhere("tensor<2x3xf32>").unwrap().to_string(), "f32[2,3]{1,0}");
    /// assert!(Given::spelled_elsewhere("bfloat16[8,128] and more").is_none());
    /// ```
    #[must_use]
    pub fn spelled_elsewhere(text: &str) -> Option<Shape> {
        let text = text.trim();
        let found = find_spelled_shapes(text).next()?;
        ((found.span.start, found.span.end) == (0, text.len())).then_some(found.shape)
    }

    /// The shape.
    ///
    /// ```
    /// let given: xla_shape_answers::Given = "f32[2,3]".parse()?;
    /// assert_eq!(given.shape().to_string(), "f32[2,3]{1,0}");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The array, or the array in a buffer; `None` for any other shape.
    ///
    /// ```
    /// use xla_shape_answers::Given;
    ///
    /// assert!("b(f32[2])".parse::<Given>()?.array().is_some());
    /// assert!("(f32[2], f32[3])".parse::<Given>()?.array().is_none());
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn array(&self) -> Option<GivenArray> {
        let array = self.shape.array()?.clone();
        Some(GivenArray { array, has_layout: self.layouts.first().is_some_and(|&written| written) })
    }

    /// The shape, and for each of its leaves, in order, whether it was written with a layout.
    ///
    /// ```
    /// let given: xla_shape_answers::Given = "(f32[2]{0}, f32[2])".parse()?;
    /// let (shape, layouts) = given.into_parts();
    /// assert_eq!((shape.to_string().as_str(), layouts), ("(f32[2]{0}, f32[2]{0})", vec![true, false]));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn into_parts(self) -> (Shape, Vec<bool>) {
        (self.shape, self.layouts)
    }

    /// The inverse of [`into_parts`](Self::into_parts). If `layouts` is too short, the remaining leaves count as written without a layout.
    ///
    /// ```
    /// use xla_shape_answers::Given;
    ///
    /// let given = Given::from_parts("f32[2]".parse()?, vec![true]);
    /// assert!(given.array().unwrap().has_layout);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn from_parts(shape: Shape, layouts: Vec<bool>) -> Self {
        Self { shape, layouts }
    }

    /// Whether each leaf was written with a layout, in the order of the leaves.
    ///
    /// ```
    /// let given: xla_shape_answers::Given = "(f32[2]{0}, f32[2])".parse()?;
    /// assert!(given.layouts().eq([true, false]));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    pub fn layouts(&self) -> impl Iterator<Item = bool> {
        self.layouts.iter().copied()
    }
}

/// If the text is a tile or a layout: a shape that has it.
fn whole(text: &str) -> Option<String> {
    let text = text.trim();
    // A tile such as `T(8,128)` goes into the braces; a layout such as `{1,0}` has its own.
    let shapes = [format!("f32[16,256]{{1,0:{text}}}"), format!("f32[16,256]{text}")];
    shapes
        .into_iter()
        .find(|shape| (text.starts_with("T(") || text.starts_with('{')) && shape.parse::<ArrayShape>().is_ok())
}

/// Whether the layout differs from the default, which a text without a layout has.
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

impl GivenArray {
    /// The array in the layout with which it was written; if there is none, in the layout that a TPU chooses.
    ///
    /// # Errors
    /// If the layout that the TPU chooses for such an array is not known.
    ///
    /// ```
    /// use xla_shape_answers::Given;
    /// use xla_shape_core::tpu::Generation;
    ///
    /// let array = "f32[8,1024]".parse::<Given>()?.array().unwrap();
    /// assert_eq!(array.on(Generation::V5e)?.to_string(), "f32[8,1024]{1,0:T(8,128)}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on(self, generation: Generation) -> Result<ArrayShape, DefaultLayoutError> {
        if self.has_layout { Ok(self.array) } else { self.array.with_tpu_layout(generation) }
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
    fn every_leaf_has_a_flag() {
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

    #[test]
    fn parts_of_shapes_are_recognized() {
        for (text, shape) in [
            ("T(8,128)", Some("f32[16,256]{1,0:T(8,128)}")),
            ("T(8,128)(2,1)", Some("f32[16,256]{1,0:T(8,128)(2,1)}")),
            ("{0,1:T(8,128)}", Some("f32[16,256]{0,1:T(8,128)}")),
            ("{2,1,0}", None),
            ("T(", None),
            ("", None),
            ("T", None),
        ] {
            assert_eq!(super::whole(text).as_deref(), shape, "{text}");
        }
    }
}
