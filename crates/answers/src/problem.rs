//! An error as JSON.

use crate::Answer;
use schemars::JsonSchema;
use serde::Serialize;
use xla_shape_core::ParseError;

words! {
    /// What kind of error it is.
    pub enum Code {
        /// The arguments are wrong.
        Usage = "usage",
        /// A text cannot be read.
        Syntax = "syntax",
        /// A file cannot be read or written.
        File = "file",
        /// The input can be read, but has no answer.
        Refused = "refused",
        /// Standard output cannot be written.
        Output = "output",
        /// The user ended the program.
        Interrupted = "interrupted",
        /// A call of a tool ended without an answer.
        Call = "call",
        /// The limit of calls at a time is reached: call again later.
        Busy = "busy",
    }
}

/// An error, as scripts read it: with `--format json` the program writes it to standard error, in one line.
///
/// ```
/// use xla_shape_answers::Answer;
/// use xla_shape_answers::problem::{Code, Place, Problem};
///
/// let error = "f32[2".parse::<xla_shape_core::Shape>().unwrap_err();
/// let place = Some(Place::new(&error, "f32[2"));
/// let problem = Problem { code: Code::Syntax, message: error.to_string(), place };
/// assert_eq!((problem.code, problem.place.map(|place| place.column)), (Code::Syntax, Some(6)));
/// assert!(problem.json().ends_with("\"place\":{\"line\":1,\"column\":6,\"span\":[5,5]}}\n"), "{}", problem.json());
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Problem {
    /// What kind of error it is.
    pub code: Code,
    /// What is wrong, and what would be right. Without `--format json`, the program writes only this text.
    pub message: String,
    /// Where in the text; null if the error has no place in a text.
    pub place: Option<Place>,
}

/// A place in a text.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Place {
    /// The number of the line, from 1.
    pub line: usize,
    /// The number of the character in the line, from 1.
    pub column: usize,
    /// The first byte of the place and the byte after its last one, counted from 0 in the whole text.
    pub span: [usize; 2],
}

impl Place {
    /// The place of an error in its text.
    #[must_use]
    pub fn new(error: &ParseError, text: &str) -> Self {
        let (line, column) = error.line_column(text);
        Self { line, column, span: [error.span().start, error.span().end] }
    }
}

impl Answer for Problem {
    const SCHEMA: &'static str = "xla-shape/error/1";
}
