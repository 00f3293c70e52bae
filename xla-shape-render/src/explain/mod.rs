//! What the text of a shape means, where its elements are in memory, and what it takes.

mod json;
mod memory;
mod padding;
mod parts;

use crate::advise::has_layout;
use crate::words::{Bytes, Factor, Grouped};
use crate::{Answer, Text, tpu};
use serde::{Serialize, Serializer};
use xla_shape_core::{ArrayShape, Shape};

/// Explains a shape.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explanation {
    shape: Shape,
}

impl Explanation {
    /// Explains `shape`.
    #[must_use]
    pub const fn new(shape: Shape) -> Self {
        Self { shape }
    }
}

/// An object with the shape, its parts and its sizes; tuples contain the objects of their elements.
impl Serialize for Explanation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        json::value(&self.shape).serialize(serializer)
    }
}

impl Answer for Explanation {
    fn text(&self, width: usize) -> Text {
        page(&self.shape, width)
    }
}

/// The most lines that a list has before the rest is only counted.
const MAX_LIST: usize = 32;

fn page(shape: &Shape, width: usize) -> Text {
    let mut page = Text::new(width);
    page.uncut(shape);
    match shape {
        Shape::Array(array) => explain_array(&mut page, array),
        Shape::Buffer(array) => {
            page.heading("What it is");
            page.line("  A buffer: not an array by value, but a place that holds one and that operations write to.");
            page.line("  What follows is about the array in it.");
            explain_array(&mut page, array);
        }
        Shape::Token => {
            page.heading("What it is");
            page.line(
                "  A token: it holds no data and takes no memory. An operation that takes a token runs after the \
                 operation that made it; so tokens keep side effects, such as infeed and send, in order.",
            );
        }
        Shape::Opaque => {
            page.heading("What it is");
            page.line("  An opaque value: something of a backend's own that XLA passes on and does not look into.");
            page.line("  It has no dimensions, no layout and no size.");
        }
        Shape::Tuple(elements) => explain_tuple(&mut page, shape, elements),
    }
    page
}

fn explain_array(page: &mut Text, array: &ArrayShape) {
    parts::explain(page, array);
    memory::explain(page, array);
    padding::explain(page, array);
    if !has_layout(array) {
        tpu::explain(page, array);
    }
}

fn explain_tuple(page: &mut Text, shape: &Shape, elements: &[Shape]) {
    page.heading("What it is");
    match elements.len() {
        0 => page.line("  An empty tuple: no values, no memory."),
        1 => page.line("  A tuple of 1 value, which lies in a buffer of its own."),
        count => page.line(format_args!("  A tuple of {} values, each in a buffer of its own.", Grouped(count))),
    }
    let rows = elements.iter().take(MAX_LIST).enumerate().map(|(number, element)| {
        let size = match (element.byte_size(), element.unpadded_byte_size()) {
            (Err(error), _) => error.to_string(),
            (Ok(bytes), Ok(unpadded)) if unpadded > 0 && bytes > unpadded => {
                format!("{}, {} what its elements need", Bytes(bytes), Factor(bytes as f64 / unpadded as f64))
            }
            (Ok(bytes), _) => Bytes(bytes).to_string(),
        };
        (format!("{number}"), format!("{element}\n  {size}"))
    });
    page.columns(&rows.collect::<Vec<_>>());
    if elements.len() > MAX_LIST {
        page.line(format_args!("  … and {} more", Grouped(elements.len() - MAX_LIST)));
    }
    page.heading("Size");
    match (shape.byte_size(), shape.padding_byte_size()) {
        (Ok(bytes), Ok(padding)) => {
            page.line(format_args!("  {} in all, of which {} are padding.", Bytes(bytes), Bytes(padding)));
            page.line("  The table of pointers to the values is the runtime's own and not counted.");
        }
        (Err(error), _) | (_, Err(error)) => page.line(format_args!("  Not known: {error}.")),
    }
    if elements.iter().any(|element| element.array().is_some()) {
        page.uncut("\nExplain an element by itself to see how it lies in memory.");
    }
}

#[cfg(test)]
mod tests {
    use xla_shape_core::Shape;

    /// Whether a line is as narrow as its words let it be: behind its indent and its first column there is one.
    fn is_whole(line: &str) -> bool {
        line.trim().rsplit("  ").next().is_some_and(|words| !words.trim().contains(' '))
    }

    #[test]
    fn has_something_to_say_about_every_shape_of_the_corpus() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/corpus/shapes.jsonl");
        let rows = std::fs::read_to_string(path).unwrap();
        let mut explained = 0;
        for row in rows.lines() {
            let row: serde_json::Value = serde_json::from_str(row).unwrap();
            if row["expect"] == "valid" {
                let shape: Shape = row["input"].as_str().unwrap().parse().unwrap();
                let page = super::page(&shape, 80).to_string();
                assert!(page.starts_with(&shape.to_string()), "{page}");
                assert!(!page.contains("  \n"), "{page}");
                let too_wide = |line: &&str| line.chars().count() > 80 && line.trim().contains(' ') && !is_whole(line);
                assert_eq!(page.lines().skip(1).find(too_wide), None, "{page}");
                assert!(super::json::value(&shape).to_string().starts_with("{\"shape\":"));
                explained += 1;
            }
        }
        assert!(explained > 1000);
    }
}
