//! What the text of a shape means, where its elements are in memory, and how much memory they take.

mod json;
mod memory;
mod padding;
mod parts;
mod sharding;

use crate::words::{Bytes, Factor, Grouped, count, why_no_size};
use crate::{Show, Text, tpu};
pub use json::Explained;
use serde::{Serialize, Serializer};
use sharding::Divided;
use xla_shape_answers::{Answer, Given};
use xla_shape_core::shard::{Sharding, ShardingError};
use xla_shape_core::tpu::Generation;
use xla_shape_core::{ArrayShape, Shape};

/// The explanation of a shape: its size, each part of its text, and where its elements are.
#[derive(Clone, Debug)]
pub struct Explanation {
    given: Given,
    sharding: Option<Divided>,
    /// The TPUs whose choices are asked for.
    generations: Vec<Generation>,
}

impl Explanation {
    /// Explains a shape.
    ///
    /// ```
    /// use xla_shape_answers::Given;
    /// use xla_shape_render::{Show, explain::Explanation};
    ///
    /// let given: Given = "bf16[8,100]{1,0:T(8,128)(2,1)}".parse()?;
    /// assert!(Explanation::new(given).text(80).to_string().contains("d1: 100 padded to 128"));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn new(given: impl Into<Given>) -> Self {
        Self { given: given.into(), sharding: None, generations: Vec::new() }
    }

    /// Says which layouts these generations of TPUs choose, also for arrays that were written with a layout. Without this, it says for
    /// arrays without a layout what each generation chooses. A generation whose choice is not known is left out.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    /// use xla_shape_answers::{Answer, Given};
    /// use xla_shape_render::explain::Explanation;
    ///
    /// let explanation = Explanation::new("f32[8,100]".parse::<Given>()?).for_tpus(&[Generation::V6e]);
    /// assert!(explanation.json().contains("\"generations\":[\"v6e\"]"));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn for_tpus(self, generations: &[Generation]) -> Self {
        Self { generations: generations.to_vec(), ..self }
    }

    /// Also explains which part of the shape each device has.
    ///
    /// # Errors
    /// If the sharding does not fit the shape.
    ///
    /// ```
    /// use xla_shape_answers::{Answer, Given};
    /// use xla_shape_render::explain::Explanation;
    ///
    /// let explanation = Explanation::new("f32[64,256]".parse::<Given>()?).with_sharding("{devices=[4,2]<=[8]}".parse()?)?;
    /// assert!(explanation.json().contains("\"shard\":\"f32[16,128]{1,0}\""));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_sharding(self, sharding: Sharding) -> Result<Self, ShardingError> {
        let divided = Divided::new(self.given.shape(), sharding)?;
        Ok(Self { sharding: Some(divided), ..self })
    }
}

/// An object with the shape, its parts and its sizes; tuples contain the objects of their elements. With a sharding, it also
/// has the shard and its sizes.
impl Serialize for Explanation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = json::value(self.given.shape(), &mut self.given.layouts(), &self.generations);
        Explained { value, sharding: self.sharding.as_ref().map(Divided::shards) }.serialize(serializer)
    }
}

impl Answer for Explanation {
    const SCHEMA: &'static str = "xla-shape/explain/1";
}

impl Show for Explanation {
    fn text(&self, width: usize) -> Text {
        let mut page = page(&self.given, &self.generations, width);
        if let Some(divided) = &self.sharding {
            divided.explain(&mut page);
        }
        page
    }
}

/// At most this many entries of a list are shown; the rest is counted.
const MAX_LIST: usize = 32;

fn page(given: &Given, generations: &[Generation], width: usize) -> Text {
    let shape = given.shape();
    let mut page = Text::new(width);
    page.verbatim(shape);
    let choices = tpu::choices_by_leaf(given, generations);
    tpu::lead(&mut page, given, &choices, generations);
    page.paragraph(summary(shape));
    match shape {
        Shape::Array(array) => explain_array(&mut page, array),
        Shape::Buffer(array) => {
            page.heading("What it is");
            page.paragraph(
                "  A buffer: memory that holds an array and that operations write to. The rest is about that array.",
            );
            explain_array(&mut page, array);
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
        Shape::Tuple(elements) => explain_tuple(&mut page, elements),
    }
    // Of one array, the first lines have what the named generations choose.
    if generations.is_empty() || shape.array().is_none() {
        tpu::explain(&mut page, &choices, MAX_LIST, generations);
    }
    page
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
    use xla_shape_core::Shape;

    /// Whether a line could not be wrapped further: after its indent and its first column, it has only one word.
    fn is_whole(line: &str) -> bool {
        line.trim().rsplit("  ").next().is_some_and(|words| !words.trim().contains(' '))
    }

    #[test]
    fn every_shape_of_the_corpus_has_a_page() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/shapes.jsonl");
        let rows = std::fs::read_to_string(path).unwrap();
        let mut explained = 0;
        for row in rows.lines() {
            let row: serde_json::Value = serde_json::from_str(row).unwrap();
            if row["expect"] == "valid" {
                let shape: Shape = row["input"].as_str().unwrap().parse().unwrap();
                let page = super::page(&shape.clone().into(), &[], 80).to_string();
                assert!(page.starts_with(&shape.to_string()), "{page}");
                assert!(!page.contains("  \n"), "{page}");
                let too_wide = |line: &&str| line.chars().count() > 80 && line.trim().contains(' ') && !is_whole(line);
                assert_eq!(page.lines().skip(1).find(too_wide), None, "{page}");
                let value = super::json::value(&shape, &mut std::iter::repeat(true), &[]);
                assert!(xla_shape_answers::json_line(&value).starts_with("{\"shape\":"));
                explained += 1;
            }
        }
        assert!(explained > 1000);
    }
}
