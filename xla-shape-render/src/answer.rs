//! What all answers have in common.

use crate::Text;
use serde::{Serialize, Serializer};
use std::fmt::Display;

/// The answer to a user's question: data that is shown to people as text, and to programs as JSON.
pub trait Answer: Serialize {
    /// For people. Lines are at most `width` characters long, except where a single word is longer.
    fn text(&self, width: usize) -> Text;

    /// For programs: one line of JSON, or one line for each entry of a list. Each line ends with a newline.
    fn json(&self) -> String {
        json_line(self)
    }
}

/// A value as a line of JSON.
pub(crate) fn json_line(value: &(impl Serialize + ?Sized)) -> String {
    // All keys are text and no value refuses to be written, so there is always JSON.
    serde_json::to_string(value).unwrap_or_default() + "\n"
}

/// Writes a value as its text.
pub(crate) fn as_text<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}
