//! What the text of a shape means, where its elements are in memory, and how much memory they take, in words.

mod choices;
pub(crate) mod gpu;
mod index;
mod memory;
mod padding;
mod parts;
mod sharding;
mod vector;

use crate::words::{Bytes, Factor, Grouped, count, why_no_size};
use crate::{Show, Text};
use xla_shape_answers::explain::Explanation;
use xla_shape_core::{ArrayShape, Shape};

impl Show for Explanation {
    fn text(&self, width: usize) -> Text {
        let shape = self.given().shape();
        let mut page = self.lead(width);
        explain(&mut page, shape);
        // For a single array, the first lines have the layouts that the named generations choose.
        if self.generations().is_empty() || shape.array().is_none() {
            choices::explain(&mut page, self, MAX_LIST);
        }
        page
    }

    fn lead(&self, width: usize) -> Text {
        let shape = self.given().shape();
        let mut page = Text::new(width);
        if let Some(shards) = self.shards() {
            sharding::explain(&mut page, self, shards);
            page.heading("The whole");
        }
        page.verbatim(shape);
        choices::lead(&mut page, self);
        page.paragraph(summary(shape));
        page
    }
}

/// At most this many entries of a list are shown; the rest is counted.
const MAX_LIST: usize = 32;

fn explain(page: &mut Text, shape: &Shape) {
    match shape {
        Shape::Array(array) => explain_array(page, array),
        Shape::Buffer(array) => {
            page.heading("What it is");
            page.paragraph(
                "  A buffer: memory that holds an array and that operations write to. The rest is about that array.",
            );
            explain_array(page, array);
        }
        Shape::Token => {
            page.heading("What it is");
            page.paragraph(
                "  A token: it has no data and takes no memory. An operation that takes a token runs after the operation \
                 that made it. Tokens keep side effects, such as infeed and send, in order.",
            );
        }
        Shape::Opaque => {
            page.heading("What it is");
            page.paragraph("  An opaque value: a value that only the backend understands.");
            page.paragraph("  It has no dimensions, no layout and no size.");
        }
        Shape::Tuple(elements) => explain_tuple(page, elements),
    }
}

/// The first line: the bytes of the value, and how much of it is padding.
fn summary(shape: &Shape) -> String {
    let elements = match shape {
        Shape::Array(array) | Shape::Buffer(array) => return padding::summary(array),
        Shape::Token | Shape::Opaque => return "No memory.".into(),
        Shape::Tuple(elements) => elements,
    };
    let values = count(elements.len() as u64, "value", "values");
    match (shape.byte_size(), shape.padding_byte_size()) {
        (Some(bytes), Some(0)) => format!("{} in {values}, no padding.", Bytes(bytes)),
        (Some(bytes), Some(padding)) => format!("{} in {values}; {} are padding.", Bytes(bytes), Bytes(padding)),
        _ => format!("The size is not known: {}.", why_no_size(shape)),
    }
}

fn explain_array(page: &mut Text, array: &ArrayShape) {
    parts::explain(page, array);
    memory::explain(page, array);
    padding::explain(page, array);
}

fn explain_tuple(page: &mut Text, elements: &[Shape]) {
    page.heading("What it is");
    match elements.len() {
        0 => page.paragraph("  An empty tuple: no values, no memory."),
        number => page.paragraph(format_args!(
            "  A tuple of {}, each in its own buffer. The table of pointers to them is not counted.",
            count(number as u64, "value", "values")
        )),
    }
    let rows = elements.iter().take(MAX_LIST).enumerate().map(|(number, element)| {
        let size = match (element.byte_size(), element.unpadded_byte_size()) {
            (None, _) => why_no_size(element).to_owned(),
            (Some(bytes), Some(unpadded)) if unpadded > 0 && bytes > unpadded => {
                format!("{}, {} what its elements need", Bytes(bytes), Factor(bytes as f64 / unpadded as f64))
            }
            (Some(bytes), _) => Bytes(bytes).to_string(),
        };
        (format!("{number}"), format!("{element}\n  {size}"))
    });
    page.columns(&rows.collect::<Vec<_>>());
    if elements.len() > MAX_LIST {
        page.paragraph(format_args!("  … and {} more", Grouped((elements.len() - MAX_LIST) as u64)));
    }
    if elements.iter().any(|element| element.array().is_some()) {
        page.verbatim("\nTo see the layout of an element, explain that element.");
    }
}

#[cfg(test)]
mod tests {
    use crate::Show;
    use xla_shape_answers::{Answer, explain::Explanation};
    use xla_shape_core::Shape;

    /// Whether a line could not be wrapped further: after its indent and its first column, it has only one word.
    fn is_whole(line: &str) -> bool {
        line.trim().rsplit("  ").next().is_some_and(|words| !words.trim().contains(' '))
    }

    #[test]
    fn every_shape_of_the_corpus_has_a_page() {
        let mut explained = 0;
        for row in xla_shape_corpus::corpus::<serde_json::Value>("shapes.jsonl") {
            if row["expect"] == "valid" {
                let shape: Shape = row["input"].as_str().unwrap().parse().unwrap();
                let explanation = Explanation::new(shape.clone());
                let page = explanation.text(80).to_string();
                assert!(page.starts_with(&shape.to_string()), "{page}");
                assert!(!page.contains("  \n"), "{page}");
                let too_wide = |line: &&str| line.chars().count() > 80 && line.trim().contains(' ') && !is_whole(line);
                assert_eq!(page.lines().skip(1).find(too_wide), None, "{page}");
                let json = explanation.json();
                assert!(json.starts_with("{\"schema\":\"xla-shape/explain/1\",\"shape\":"), "{json}");
                explained += 1;
            }
        }
        assert!(explained > 1000);
    }
}
