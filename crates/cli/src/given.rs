//! Reads the shapes and shardings of the command line.

use crate::failure::Failure;
use xla_shape::hlo::find_spelled_shapes;
use xla_shape::shard::Sharding;
use xla_shape::{ArrayShape, ParseError};
use xla_shape_render::{Given, GivenArray, no_array};

/// Reads a sharding.
pub(crate) fn sharding_of(text: &str) -> Result<Sharding, Failure> {
    text.parse().map_err(|error| Failure::shape(&error, text))
}

/// Reads a shape, and which of its arrays were written with a layout.
pub(crate) fn given_of(text: &str) -> Result<Given, Failure> {
    text.parse().map_err(|error: ParseError| {
        let in_xla = spelled_elsewhere(text).map(|shape| format!("\nhelp: XLA writes this type as `{shape}`"));
        let in_xla = in_xla.or_else(|| {
            Some(format!("\nhelp: this is a part of a shape; write a whole one, such as `{}`", whole(text)?))
        });
        let in_xla = in_xla.unwrap_or_default();
        Failure::Shape(format!("{}{in_xla}", error.render(text)))
    })
}

/// The shape, if the text is a type of MLIR, which has no layout.
fn spelled_elsewhere(text: &str) -> Option<String> {
    let text = text.trim();
    let found =
        find_spelled_shapes(text).next().filter(|found| (found.span.start, found.span.end) == (0, text.len()))?;
    text.ends_with('>').then(|| found.shape.without_layout().to_string())
}

/// A shape with the tile or the layout, if the text is one.
fn whole(text: &str) -> Option<String> {
    let text = text.trim();
    let shapes = [format!("f32[16,256]{{1,0:{text}}}"), format!("f32[16,256]{text}")];
    shapes
        .into_iter()
        .find(|shape| (text.starts_with("T(") || text.starts_with('{')) && shape.parse::<ArrayShape>().is_ok())
}

/// Reads an array, or an array in a buffer.
pub(crate) fn array_of(text: &str) -> Result<ArrayShape, Failure> {
    given_array_of(text).map(|given| given.array)
}

/// Reads an array, or an array in a buffer, and whether it was written with a layout.
pub(crate) fn given_array_of(text: &str) -> Result<GivenArray, Failure> {
    let given = given_of(text)?;
    given.array().ok_or_else(|| Failure::said(no_array(given.shape())))
}

#[cfg(test)]
mod tests {
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
