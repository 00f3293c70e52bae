//! What all answers have in common.

use crate::text::{Text, is_control};
use serde::{Serialize, Serializer};
use serde_json::ser::Formatter;
use std::fmt::Display;
use std::io::{self, Write};

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
#[must_use]
pub fn json_line(value: &(impl Serialize + ?Sized)) -> String {
    let mut line = Vec::new();
    // All keys are text, no value refuses to be written, and neither does memory, so there is always JSON.
    let _ = write_json(&mut line, value);
    line.push(b'\n');
    String::from_utf8(line).unwrap_or_default()
}

/// Writes a value as JSON in which nothing controls a terminal.
///
/// # Errors
/// If the writer fails.
pub fn write_json(writer: impl Write, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
    Ok(value.serialize(&mut serde_json::Serializer::with_formatter(writer, Harmless))?)
}

/// Compact JSON that escapes what JSON need not: DEL, the control characters behind ASCII, and those that turn text around.
struct Harmless;

impl Formatter for Harmless {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        // Those of ASCII but DEL are escaped already, and are not in here.
        if fragment.bytes().all(|byte| byte < 0x7f) {
            return writer.write_all(fragment.as_bytes());
        }
        let mut rest = fragment;
        while let Some((at, control)) = rest.char_indices().find(|&(_, c)| is_control(c)) {
            let (before, behind) = rest.split_at(at);
            writer.write_all(before.as_bytes())?;
            write!(writer, "\\u{:04x}", u32::from(control))?;
            rest = behind.get(control.len_utf8()..).unwrap_or_default();
        }
        writer.write_all(rest.as_bytes())
    }
}

/// Writes a value as its text.
pub(crate) fn as_text<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}
