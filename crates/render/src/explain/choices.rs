//! The layouts that TPUs choose for a shape by default, in words.

use crate::Text;
use crate::tpu::cost;
use crate::words::Grouped;
use xla_shape_answers::explain::{Explanation, SharedChoice};
use xla_shape_core::tpu::Generation;

fn names(generations: &[Generation]) -> String {
    generations.iter().map(|generation| generation.name()).collect::<Vec<_>>().join(", ")
}

/// The first lines: the layout that a TPU chooses for an array, of the default generation or of the generations that the user names.
pub(super) fn lead(page: &mut Text, explanation: &Explanation) {
    let Some(array) = explanation.given().array() else { return };
    let choices = explanation.stored();
    if choices.is_empty() {
        return;
    }
    stored(page, &choices, "it");
    page.paragraph(if array.has_layout { "In the layout of the text:" } else { "Row-major, without tiles:" });
}

/// How TPUs store a value, which the sentences call `what`.
pub(super) fn stored(page: &mut Text, choices: &[SharedChoice], what: &str) {
    for SharedChoice { generations, shape, bytes, expansion } in choices {
        let cost = cost(*bytes, *expansion);
        page.paragraph(format_args!("TPU {} stores {what} as {shape} in {cost}.", names(generations)));
    }
}

/// Lists the layouts that TPUs choose for arrays; at most `most` of them.
pub(super) fn explain(page: &mut Text, explanation: &Explanation, most: usize) {
    let choices = explanation.choices();
    if choices.is_empty() {
        return;
    }
    page.heading("On a TPU");
    page.paragraph(match explanation.generations() {
        [] => "  The text has no layout, so a compiler chooses one. By default, TPUs choose:",
        _ => "  By default, TPUs choose:",
    });
    for (index, choice) in choices.iter().take(most) {
        let place = if index.is_empty() { String::new() } else { format!("{index}  ") };
        for SharedChoice { generations, shape, bytes, expansion } in choice {
            page.verbatim(format_args!("    {place}{shape}"));
            page.paragraph(format_args!("      {}: {}", names(generations), cost(*bytes, *expansion)));
        }
    }
    if choices.len() > most {
        page.paragraph(format_args!("    … and {} more arrays", Grouped((choices.len() - most) as u64)));
    }
    page.paragraph("  `xla-shape advise` compares other layouts with these.");
}
