//! The layouts that TPUs choose for a shape by default.

use crate::words::{Bytes, Factor, Grouped, column_width};
use crate::{Given, Show, Text};
use serde::Serialize;
use std::fmt::Display;
use xla_shape_answers::{Answer, DEFAULT_GENERATION, answer_line};
use xla_shape_core::text::Parser;
use xla_shape_core::tpu::Generation;
use xla_shape_core::{ArrayShape, ParseError, Shape, ShapeIndex};

/// The layouts that TPUs choose for the arrays of a shape by default: one answer for each generation.
///
/// ```
/// use xla_shape_core::tpu::Generation;
/// use xla_shape_render::{Show, tpu::Choices};
///
/// let choices = Choices::new("f32[100,200]", &[Generation::V5e]);
/// assert!(choices.text(100).to_string().starts_with("f32[100,200]{0,1:T(8,128)}  102,400 bytes"));
/// ```
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Choices {
    choices: Vec<Choice>,
    /// Whether the generation is [`DEFAULT_GENERATION`], because none was named.
    #[serde(skip)]
    assumed: bool,
}

/// The layout that one generation chooses.
#[derive(Clone, Debug, Serialize)]
struct Choice {
    input: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    generation: Option<&'static str>,
    #[serde(flatten)]
    result: Outcome,
    #[serde(skip)]
    error: Option<ParseError>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum Outcome {
    Good {
        ok: bool,
        shape: String,
        /// The bytes of the shape, with padding.
        bytes: Option<u64>,
        #[serde(skip)]
        expansion: Option<f64>,
    },
    Bad {
        ok: bool,
        error: Problem,
    },
}

#[derive(Clone, Debug, Serialize)]
struct Problem {
    message: String,
    span: [usize; 2],
}

impl Choices {
    /// The layouts that TPUs of these generations choose for the shape in a text; those of [`DEFAULT_GENERATION`] if the list is
    /// empty. A layout in the text is checked and then replaced.
    ///
    /// ```
    /// use xla_shape_answers::Answer;
    /// use xla_shape_render::tpu::Choices;
    ///
    /// assert!(Choices::new("f32[8]", &[]).json().contains("\"shape\":\"f32[8]{0:T(128)}\",\"bytes\":512"));
    /// ```
    #[must_use]
    pub fn new(text: &str, generations: &[Generation]) -> Self {
        // If the user named exactly one generation, the answer does not repeat it.
        let named = generations.len() != 1;
        let assumed = generations.is_empty();
        let generations = if assumed { &[DEFAULT_GENERATION] } else { generations };
        let choices = generations.iter().map(|&generation| {
            let (result, error) = match choice(text, generation) {
                Ok(shape) => (Outcome::good(&shape), None),
                Err(error) => (Outcome::bad(error.to_string(), error.span().start, error.span().end), Some(error)),
            };
            Choice { input: text.to_owned(), generation: named.then_some(generation.name()), result, error }
        });
        Self { choices: choices.collect(), assumed }
    }

    /// The answers about a text that could not be read as a line, with the reason and the bytes that it is about.
    ///
    /// ```
    /// use xla_shape_render::tpu::Choices;
    ///
    /// assert!(!Choices::refused("f32[", &[], "expected UTF-8, found 0xff", [4, 5]).is_good());
    /// ```
    #[must_use]
    pub fn refused(text: &str, generations: &[Generation], message: &str, span: [usize; 2]) -> Self {
        let mut choices = Self::new("", generations);
        for choice in &mut choices.choices {
            choice.input = text.to_owned();
            choice.result = Outcome::bad(message.to_owned(), span[0], span[1]);
        }
        choices
    }

    /// Whether every generation has an answer.
    ///
    /// ```
    /// use xla_shape_render::tpu::Choices;
    ///
    /// assert!(Choices::new("f32[8]", &[]).is_good() && !Choices::new("f32[8", &[]).is_good());
    /// ```
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.errors().next().is_none()
    }

    /// The errors, one for each generation without an answer.
    ///
    /// ```
    /// use xla_shape_render::tpu::Choices;
    ///
    /// assert_eq!(Choices::new("f32[8", &[]).errors().count(), 1);
    /// ```
    pub fn errors(&self) -> impl Iterator<Item = &ParseError> {
        self.choices.iter().filter_map(|choice| choice.error.as_ref())
    }
}

fn choice(text: &str, generation: Generation) -> Result<Shape, ParseError> {
    let mut parser = Parser::whole(text).for_tpu(generation);
    let shape = parser.shape()?;
    parser.finish()?;
    Ok(shape)
}

impl Outcome {
    fn good(shape: &Shape) -> Self {
        let expansion = shape.expansion().filter(|expansion| expansion.is_finite());
        Self::Good { ok: true, shape: shape.to_string(), bytes: shape.byte_size(), expansion }
    }

    const fn bad(message: String, start: usize, end: usize) -> Self {
        Self::Bad { ok: false, error: Problem { message, span: [start, end] } }
    }
}

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
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SharedChoice {
    generations: Vec<&'static str>,
    shape: String,
    bytes: Option<u64>,
    #[serde(skip)]
    expansion: Option<f64>,
}

/// The layouts that all known generations, or only this one, choose for an array.
pub(crate) fn choices_by_generation(array: &ArrayShape, only: Option<Generation>) -> Vec<SharedChoice> {
    let mut all = Vec::<SharedChoice>::new();
    for &generation in only.as_ref().map_or(Generation::ALL, std::slice::from_ref) {
        let Ok(array) = array.clone().with_tpu_layout(generation) else { continue };
        let shape = array.to_string();
        match all.iter_mut().find(|choice| choice.shape == shape) {
            Some(choice) => choice.generations.push(generation.name()),
            None => all.push(SharedChoice {
                generations: vec![generation.name()],
                shape,
                bytes: array.byte_size(),
                expansion: array.expansion().filter(|expansion| expansion.is_finite()),
            }),
        }
    }
    // The default generation comes first.
    all.sort_by_key(|choice| !choice.generations.contains(&DEFAULT_GENERATION.name()));
    all
}

/// The layouts that TPUs choose for each array that was written without a layout, with the index of the array in the shape.
pub(crate) fn choices_by_leaf(given: &Given, only: Option<Generation>) -> Vec<(ShapeIndex, Vec<SharedChoice>)> {
    let leaves = given.shape().get_leaf_shapes().zip(given.layouts());
    let bare = leaves.filter(|(_, has_layout)| !has_layout);
    let choices = bare.filter_map(|((index, leaf), _)| Some((index, choices_by_generation(leaf.array()?, only))));
    choices.filter(|(_, choices)| !choices.is_empty()).collect()
}

/// Begins with the layout that a TPU chooses for an array that was written without one.
pub(crate) fn lead(
    page: &mut Text,
    shape: &Shape,
    choices: &[(ShapeIndex, Vec<SharedChoice>)],
    only: Option<Generation>,
) {
    let generation = only.unwrap_or(DEFAULT_GENERATION);
    if let (Some(_), [(_, choice)]) = (shape.array(), choices)
        && let Some(usual) = choice.iter().find(|choice| choice.generations.contains(&generation.name()))
    {
        let cost = cost(usual.bytes, usual.expansion);
        page.paragraph(format_args!(
            "TPU {generation} stores it as {} in {cost}. Row-major, without tiles:",
            usual.shape
        ));
    }
}

/// Lists the layouts that TPUs choose for arrays that were written without one; at most `most` of them.
pub(crate) fn explain(page: &mut Text, choices: &[(ShapeIndex, Vec<SharedChoice>)], most: usize) {
    if choices.is_empty() {
        return;
    }
    page.heading("On a TPU");
    page.paragraph("  The text has no layout, so a compiler chooses one. By default, TPUs choose:");
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

impl Answer for Choices {
    const SCHEMA: &'static str = "xla-shape/tpu/1";

    fn json(&self) -> String {
        self.choices.iter().map(|entry| answer_line(Self::SCHEMA, entry)).collect()
    }
}

impl Show for Choices {
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        let shapes = self.choices.iter().map(|choice| match &choice.result {
            Outcome::Good { shape, .. } => shape.chars().count(),
            Outcome::Bad { .. } => 0,
        });
        let column = column_width(shapes);
        for Choice { generation, result, .. } in &self.choices {
            let generation =
                generation.filter(|_| !self.assumed).map(|name| format!("{name:<3}  ")).unwrap_or_default();
            match result {
                Outcome::Good { shape, bytes, expansion, .. } => {
                    text.row(&format!("{generation}{shape:column$}"), &cost(*bytes, *expansion));
                }
                Outcome::Bad { error, .. } => text.hanging(&generation, &error.message),
            }
        }
        if self.assumed {
            text.paragraph(format_args!("On TPU {DEFAULT_GENERATION}; --for names other generations."));
        }
        text
    }
}
