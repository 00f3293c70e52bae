//! The trait of all answers, and how they become JSON.

use crate::text::{Text, is_control};
use serde::{Serialize, Serializer};
use serde_json::ser::Formatter;
use std::fmt::Display;
use std::io::{self, Write};

/// The answer to a user's question: data that is shown to people as text, and to programs as JSON.
pub trait Answer: Serialize {
    /// The form of the JSON and its version, such as `xla-shape/explain/1`. Each JSON object has it as its first field, `schema`;
    /// `docs/schemas/explain.json` is the JSON Schema with this name.
    const SCHEMA: &'static str;

    /// The answer for people. Paragraphs are wrapped to at most `width` characters; a longer word has a line of its own.
    ///
    /// ```
    /// use xla_shape_render::{Answer, explain::Explanation};
    ///
    /// let shape: xla_shape_core::Shape = "f32[100,1]{1,0:T(8,128)}".parse()?;
    /// let text = Explanation::new(shape).text(80).to_string();
    /// assert!(text.contains("53,248 bytes (52 KiB), 133.1x what the elements need"));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    fn text(&self, width: usize) -> Text;

    /// The answer for programs: one JSON object in a line, or one in each line if the answer is a list. Each line ends with a
    /// newline.
    ///
    /// ```
    /// use xla_shape_render::{Answer, explain::Explanation};
    ///
    /// let shape: xla_shape_core::Shape = "f32[100,1]{1,0:T(8,128)}".parse()?;
    /// let json = Explanation::new(shape).json();
    /// assert!(json.starts_with("{\"schema\":\"xla-shape/explain/1\",") && json.contains("\"bytes\":53248"));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    fn json(&self) -> String {
        answer_line(Self::SCHEMA, self)
    }
}

/// The schema of the object that `relayout` writes after it has written a file, for the program and for Python.
pub const RELAYOUT_SCHEMA: &str = "xla-shape/relayout/1";

/// An object with the name of its schema.
#[derive(Serialize)]
struct Versioned<'a, T: ?Sized> {
    schema: &'static str,
    #[serde(flatten)]
    answer: &'a T,
}

/// An answer as a line of JSON: an object whose first field, `schema`, names its form and version. The answer must serialize as
/// an object.
///
/// ```
/// use std::collections::BTreeMap;
/// use xla_shape_render::answer_line;
///
/// let answer = BTreeMap::from([("bytes", 8)]);
/// assert_eq!(answer_line("example/1", &answer), "{\"schema\":\"example/1\",\"bytes\":8}\n");
/// ```
#[must_use]
pub fn answer_line(schema: &'static str, answer: &(impl Serialize + ?Sized)) -> String {
    json_line(&Versioned { schema, answer })
}

/// A value as a line of JSON.
///
/// ```
/// assert_eq!(xla_shape_render::json_line(&[1, 2]), "[1,2]\n");
/// ```
#[must_use]
pub fn json_line(value: &(impl Serialize + ?Sized)) -> String {
    let mut line = Vec::new();
    // This cannot fail: all keys are texts, no `Serialize` here returns an error, and a `Vec` takes every byte.
    let _ = write_json(&mut line, value);
    line.push(b'\n');
    String::from_utf8(line).unwrap_or_default()
}

/// Writes a value as JSON without control characters: DEL, C1 controls and characters that change the direction of text are
/// written as `\u…`, so that a name in a file cannot control the terminal that shows it.
///
/// # Errors
/// If the writer fails.
///
/// ```
/// let mut json = Vec::new();
/// xla_shape_render::write_json(&mut json, "a\u{9b}31m")?;
/// assert_eq!(json, br#""a\u009b31m""#);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write_json(writer: impl Write, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
    Ok(value.serialize(&mut serde_json::Serializer::with_formatter(writer, Harmless))?)
}

/// Compact JSON that also escapes what JSON does not require: DEL, C1 controls, and characters that change the direction of text.
struct Harmless;

impl Formatter for Harmless {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        // serde_json has escaped the control characters below 0x20; they are not in a fragment.
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
