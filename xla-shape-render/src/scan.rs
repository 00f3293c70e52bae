//! The shapes that a text contains, such as a log or an out-of-memory report.

use crate::answer::as_text;
use crate::words::{Factor, InUnits};
use crate::{Answer, Text};
use serde::Serialize;
use xla_shape_core::Shape;
use xla_shape_hlo::find_shapes;

/// A shape that was found in a line of text.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Found {
    /// The number of the line, from 1.
    pub line: u64,
    /// Where in the line the shape begins, in bytes, from 1.
    pub column: usize,
    /// The shape.
    #[serde(serialize_with = "as_text")]
    pub shape: Shape,
    /// What it takes, padding included; `None` where a dimension is unbounded.
    pub bytes: Option<usize>,
    /// How much of that is padding.
    pub padding_bytes: Option<usize>,
    /// How often what the elements alone would take.
    pub expansion: Option<f64>,
}

/// The shapes in a line of text. What is no UTF-8 contains none.
pub fn find_in_line(line: &[u8], number: u64) -> impl Iterator<Item = Found> + '_ {
    let mut before = 0;
    line.utf8_chunks().flat_map(move |chunk| {
        let start = before;
        before += chunk.valid().len() + chunk.invalid().len();
        find_shapes(chunk.valid()).map(move |found| {
            let column = start + found.span.start + 1;
            let shape = found.shape;
            Found {
                line: number,
                column,
                bytes: shape.byte_size().ok(),
                padding_bytes: shape.padding_byte_size().ok(),
                expansion: shape.expansion().ok(),
                shape,
            }
        })
    })
}

impl Answer for Found {
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        let place = format!("{}:{}", self.line, self.column);
        let known = |bytes: Option<usize>| bytes.map_or("?".into(), |bytes| InUnits(bytes).to_string());
        let expansion = self.expansion.map_or("?".into(), |expansion| Factor(expansion).to_string());
        let (bytes, padding) = (known(self.bytes), known(self.padding_bytes));
        text.uncut(format_args!("{place:>9}  {bytes:>9}  {padding:>9} padding  {expansion:>7}  {}", self.shape));
        text
    }
}
