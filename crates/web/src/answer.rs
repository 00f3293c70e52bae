//! The answer of the explorer.

use crate::given::Given;
use crate::reading::{Reading, readings};
use crate::views::{View, command_line, view, views};
use serde::Serialize;

/// A name for links and programs, and the same for people.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct Choice {
    /// The name in links.
    pub name: &'static str,
    /// What people read.
    pub title: String,
}

/// What the program says about an input.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Answer {
    /// What the input was taken for; `None` if it can be nothing.
    pub reading: Option<Choice>,
    /// All that it can be, the likeliest first.
    pub readings: Vec<Choice>,
    /// The views of this reading.
    pub views: Vec<Choice>,
    /// The name of the view that is shown.
    pub shown: Option<&'static str>,
    /// The command with the same output, for a shell.
    pub shell: Option<String>,
    /// The output.
    pub view: Option<View>,
    /// An error message, if there is no reading.
    pub error: Option<&'static str>,
}

/// Says what the input is, and what the program says about it.
///
/// A reading or a view that the input does not have counts as not chosen.
///
/// ```
/// use xla_shape_web::{Given, answer};
///
/// let given = Given { view: Some("draw".to_owned()), ..Given::text("f32[100,200]") };
/// assert_eq!(answer(&given).view.unwrap().command, ["draw", "f32[100,200]"]);
/// let empty = answer(&Given::text(""));
/// assert!(empty.reading.is_none() && empty.error.is_some());
/// ```
#[must_use]
pub fn answer(given: &Given<'_>) -> Answer {
    let readings = readings(given);
    let wanted = |reading: &&Reading| given.reading.as_deref() == Some(reading.name());
    let Some(&reading) = readings.iter().find(wanted).or(readings.first()) else {
        return Answer { error: Some(no_reading(given)), ..Answer::default() };
    };
    let views = views(reading, given);
    let wanted = |(name, _): &&(&'static str, &'static str)| given.view.as_deref() == Some(*name);
    let shown = views.iter().find(wanted).or(views.first()).map(|(name, _)| *name);
    let view = shown.map(|name| view(reading, name, given));
    let choice = |reading: &Reading| Choice { name: reading.name(), title: reading.title() };
    Answer {
        reading: Some(choice(&reading)),
        readings: readings.iter().map(choice).collect(),
        views: views.into_iter().map(|(name, title)| Choice { name, title: title.to_owned() }).collect(),
        shown,
        shell: view.as_ref().map(|view| command_line(&view.command)),
        view,
        error: None,
    }
}

/// Why an input has no reading.
fn no_reading(given: &Given<'_>) -> &'static str {
    let is_empty = given.files.iter().chain(&given.against).all(|file| file.bytes.trim_ascii().is_empty());
    match (is_empty, given.against.is_empty()) {
        (true, _) => "expected a text or a file, found nothing",
        (_, true) if given.files.len() == 1 => {
            "nothing known here. The page reads a shape, two shapes, a sharding, a layout in another notation, a log or an \
             out-of-memory message, HLO, and the compiler's texts about kernels"
        }
        (_, true) => {
            "expected an optimized module or a dump of kernels among these files, found neither; to read one of them, drop it alone"
        }
        (_, false) => "these two cannot be compared: expected two shapes, two HLO modules or two dumps of kernels",
    }
}
