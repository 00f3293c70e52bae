//! The answer of the explorer.

use crate::given::Given;
use crate::views::{View, command_line, view};
use serde::Serialize;
use xla_shape_program::{Question, Reading};

/// What can be chosen: its name for links and programs, and its title for people.
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
    /// What the input was taken for; `None` if it was not recognised.
    pub reading: Option<Choice>,
    /// Everything that the input can be taken for, the likeliest first.
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
/// If the chosen reading or view does not exist for this input, the first one is shown.
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
    let input = given.input();
    let readings = Reading::all(input);
    let wanted = |reading: &&Reading| given.reading.as_deref() == Some(reading.name());
    let Some(&reading) = readings.iter().find(wanted).or(readings.first()) else {
        return Answer { error: Some(input.unknown()), ..Answer::default() };
    };
    let questions = reading.questions(input);
    let wanted = |question: &&Question| given.view.as_deref() == Some(question.verb);
    let shown = questions.iter().find(wanted).or(questions.first());
    let view = shown.map(|question| view(question, given));
    let choice = |reading: &Reading| Choice { name: reading.name(), title: reading.title() };
    Answer {
        reading: Some(choice(&reading)),
        readings: readings.iter().map(choice).collect(),
        views: questions
            .iter()
            .map(|question| Choice { name: question.verb, title: question.title.to_owned() })
            .collect(),
        shown: shown.map(|question| question.verb),
        shell: view.as_ref().map(|view| command_line(&view.command)),
        view,
        error: None,
    }
}
