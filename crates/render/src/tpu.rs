//! The layouts that TPUs choose for a shape by default.

use crate::Text;
use crate::words::{Bytes, Factor, Grouped};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Display;
use xla_shape_answers::{DEFAULT_GENERATION, Given};
use xla_shape_core::tpu::Generation;
use xla_shape_core::{ArrayShape, ShapeIndex};

/// The name of the TPU that an answer is about, with a note if the user did not name it.
pub(crate) fn named(generation: impl Display, assumed: bool) -> String {
    let note = if assumed { " (--for names another generation)" } else { "" };
    format!("TPU {generation}{note}")
}

/// The bytes of a shape, and how many times the bytes of its elements that is.
pub(crate) fn cost(bytes: Option<u64>, expansion: Option<f64>) -> String {
    match (bytes, expansion) {
        (Some(bytes), Some(expansion)) if expansion > 1.0 => {
            format!("{}, {} what its elements need", Bytes(bytes), Factor(expansion))
        }
        (Some(bytes), _) => Bytes(bytes).to_string(),
        (None, _) => "more bytes than fit in an i64".to_owned(),
    }
}

/// Generations that choose the same layout, and that layout.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct SharedChoice {
    /// Their names, such as "v5e".
    generations: Vec<&'static str>,
    /// The shape with the chosen layout.
    shape: String,
    /// The bytes of the array in that layout; null if they do not fit in 64 bits.
    bytes: Option<u64>,
    #[serde(skip)]
    expansion: Option<f64>,
}

/// The layouts that these generations choose for an array; all known ones if none is named.
pub(crate) fn choices_by_generation(array: &ArrayShape, named: &[Generation]) -> Vec<SharedChoice> {
    let mut all = Vec::<SharedChoice>::new();
    for &generation in if named.is_empty() { Generation::ALL } else { named } {
        let Ok(array) = array.clone().with_tpu_layout(generation) else { continue };
        let shape = array.to_string();
        match all.iter_mut().find(|choice| choice.shape == shape) {
            Some(choice) if choice.generations.contains(&generation.name()) => {}
            Some(choice) => choice.generations.push(generation.name()),
            None => all.push(SharedChoice {
                generations: vec![generation.name()],
                shape,
                bytes: array.byte_size(),
                expansion: array.expansion().filter(|expansion| expansion.is_finite()),
            }),
        }
    }
    if named.is_empty() {
        // The default generation comes first.
        all.sort_by_key(|choice| !choice.generations.contains(&DEFAULT_GENERATION.name()));
    }
    all
}

/// The layouts that TPUs choose, with the index of the array in the shape: for each array that was written without a layout, and for all
/// arrays if generations are named.
pub(crate) fn choices_by_leaf(given: &Given, named: &[Generation]) -> Vec<(ShapeIndex, Vec<SharedChoice>)> {
    let leaves = given.shape().get_leaf_shapes().zip(given.layouts());
    let asked = leaves.filter(|(_, has_layout)| !has_layout || !named.is_empty());
    let choices = asked.filter_map(|((index, leaf), _)| Some((index, choices_by_generation(leaf.array()?, named))));
    choices.filter(|(_, choices)| !choices.is_empty()).collect()
}

/// Begins with the layout that a TPU chooses for an array: that of the default generation, or of those that are named.
pub(crate) fn lead(page: &mut Text, given: &Given, choices: &[(ShapeIndex, Vec<SharedChoice>)], named: &[Generation]) {
    let (Some(array), [(_, choices)]) = (given.array(), choices) else { return };
    let usual = |choice: &&SharedChoice| choice.generations.contains(&DEFAULT_GENERATION.name());
    let shown = choices.iter().filter(|choice| !named.is_empty() || usual(choice)).collect::<Vec<_>>();
    if shown.is_empty() {
        return;
    }
    for choice in shown {
        let generations =
            if named.is_empty() { DEFAULT_GENERATION.name().to_owned() } else { choice.generations.join(", ") };
        let cost = cost(choice.bytes, choice.expansion);
        page.paragraph(format_args!("TPU {generations} stores it as {} in {cost}.", choice.shape));
    }
    page.paragraph(if array.has_layout { "In the layout of the text:" } else { "Row-major, without tiles:" });
}

/// Lists the layouts that TPUs choose for arrays; at most `most` of them.
pub(crate) fn explain(page: &mut Text, choices: &[(ShapeIndex, Vec<SharedChoice>)], most: usize, named: &[Generation]) {
    if choices.is_empty() {
        return;
    }
    page.heading("On a TPU");
    page.paragraph(match named {
        [] => "  The text has no layout, so a compiler chooses one. By default, TPUs choose:",
        _ => "  By default, TPUs choose:",
    });
    for (index, choice) in choices.iter().take(most) {
        let place = if index.is_empty() { String::new() } else { format!("{index}  ") };
        for SharedChoice { generations, shape, bytes, expansion } in choice {
            page.verbatim(format_args!("    {place}{shape}"));
            page.paragraph(format_args!("      {}: {}", generations.join(", "), cost(*bytes, *expansion)));
        }
    }
    if choices.len() > most {
        page.paragraph(format_args!("    … and {} more arrays", Grouped((choices.len() - most) as u64)));
    }
    page.paragraph("  `xla-shape advise` compares other layouts with these.");
}
