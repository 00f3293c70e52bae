//! Which layouts TPUs choose for a shape.

use crate::answer::json_line;
use crate::words::{Bytes, Factor, Grouped, column_width};
use crate::{Answer, Given, Text};
use serde::Serialize;
use xla_shape_core::text::Parser;
use xla_shape_core::tpu::Generation;
use xla_shape_core::{ArrayShape, ParseError, Shape, ShapeIndex};

/// The generation that is meant where a user names none.
pub const USUAL: Generation = Generation::V5e;

/// The layouts that TPUs give the arrays of a shape by default: one answer for each generation.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Choices {
    choices: Vec<Choice>,
    /// Whether the generation is the [`USUAL`] one because none was given.
    #[serde(skip)]
    assumed: bool,
}

/// What one generation chooses.
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
        /// With padding.
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
    /// What TPUs of these generations do with the shape that a text means; of the [`USUAL`] generation if there are none.
    ///
    /// A layout in the text is read, and another one put in its place.
    #[must_use]
    pub fn new(text: &str, generations: &[Generation]) -> Self {
        // One generation that a user named is known to the user.
        let named = generations.len() != 1;
        let assumed = generations.is_empty();
        let generations = if assumed { &[USUAL] } else { generations };
        let choices = generations.iter().map(|&generation| {
            let (result, error) = match choice(text, generation) {
                Ok(shape) => (Outcome::good(&shape), None),
                Err(error) => (Outcome::bad(error.to_string(), error.span().start, error.span().end), Some(error)),
            };
            Choice { input: text.to_owned(), generation: named.then_some(generation.name()), result, error }
        });
        Self { choices: choices.collect(), assumed }
    }

    /// The same for a text that is not a shape, for this reason and at this place.
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
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.errors().next().is_none()
    }

    /// The problems, one for each generation that has no answer.
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

/// What a shape takes, beside what its elements need.
pub(crate) fn cost(bytes: Option<u64>, expansion: Option<f64>) -> String {
    match (bytes, expansion) {
        (Some(bytes), Some(expansion)) if expansion > 1.0 => {
            format!("{}, {} what its elements need", Bytes(bytes), Factor(expansion))
        }
        (Some(bytes), _) => Bytes(bytes).to_string(),
        (None, _) => "more bytes than fit in an i64".to_owned(),
    }
}

/// Generations that choose alike, and what they make of a shape.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Alike {
    generations: Vec<&'static str>,
    shape: String,
    bytes: Option<u64>,
    #[serde(skip)]
    expansion: Option<f64>,
}

/// What all generations that are known make of an array.
pub(crate) fn by_all(array: &ArrayShape) -> Vec<Alike> {
    let mut all = Vec::<Alike>::new();
    for &generation in Generation::ALL {
        let Ok(array) = array.clone().with_tpu_layout(generation) else { continue };
        let shape = array.to_string();
        match all.iter_mut().find(|alike| alike.shape == shape) {
            Some(alike) => alike.generations.push(generation.name()),
            None => all.push(Alike {
                generations: vec![generation.name()],
                shape,
                bytes: array.byte_size(),
                expansion: array.expansion().filter(|expansion| expansion.is_finite()),
            }),
        }
    }
    // The usual generation first.
    all.sort_by_key(|alike| !alike.generations.contains(&USUAL.name()));
    all
}

/// What TPUs make of each array without a layout of its own, by its place in the shape.
pub(crate) fn by_leaf(given: &Given) -> Vec<(ShapeIndex, Vec<Alike>)> {
    let leaves = given.shape().get_leaf_shapes().zip(given.layouts());
    let bare = leaves.filter(|(_, has_layout)| !has_layout);
    let choices = bare.filter_map(|((index, leaf), _)| Some((index, by_all(leaf.array()?))));
    choices.filter(|(_, choices)| !choices.is_empty()).collect()
}

/// Says first what a TPU makes of an array that has no layout.
pub(crate) fn lead(page: &mut Text, shape: &Shape, choices: &[(ShapeIndex, Vec<Alike>)]) {
    if let (Some(_), [(_, alike)]) = (shape.array(), choices)
        && let Some(usual) = alike.iter().find(|alike| alike.generations.contains(&USUAL.name()))
    {
        let cost = cost(usual.bytes, usual.expansion);
        page.line(format_args!("TPU {USUAL} stores it as {} in {cost}. Row-major, without tiles:", usual.shape));
    }
}

/// Says what TPUs do with arrays that have no layout, with the first few of them.
pub(crate) fn explain(page: &mut Text, choices: &[(ShapeIndex, Vec<Alike>)], most: usize) {
    if choices.is_empty() {
        return;
    }
    page.heading("On a TPU");
    page.line("  The text has no layout, so a compiler chooses one. By default, TPUs choose:");
    for (index, alike) in choices.iter().take(most) {
        let place = if index.is_empty() { String::new() } else { format!("{index}  ") };
        for Alike { generations, shape, bytes, expansion } in alike {
            page.uncut(format_args!("    {place}{shape}"));
            page.line(format_args!("      {}: {}", generations.join(", "), cost(*bytes, *expansion)));
        }
    }
    if choices.len() > most {
        page.line(format_args!("    … and {} more arrays", Grouped((choices.len() - most) as u64)));
    }
    page.line("  `xla-shape advise` compares other layouts with these.");
}

impl Answer for Choices {
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        if self.assumed {
            text.line(format_args!("On TPU {USUAL}; --for names other generations."));
        }
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
                    text.uncut(format_args!("{generation}{shape:column$}  {}", cost(*bytes, *expansion)));
                }
                Outcome::Bad { error, .. } => text.uncut(format_args!("{generation}{}", error.message)),
            }
        }
        text
    }

    fn json(&self) -> String {
        self.choices.iter().map(json_line).collect()
    }
}
