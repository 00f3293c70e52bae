//! The trait of all answers, and how they are written as JSON.

use crate::digest::Digest;
use serde::Serialize;
use serde_json::ser::Formatter;
use std::io::{self, Write};

/// The answer to a user's question: data that programs read as JSON. `xla-shape-render` shows it to people.
pub trait Answer: Serialize {
    /// The form of the JSON and its version, such as `xla-shape/explain/1`. Each JSON object has it as its first field, `schema`;
    /// `docs/schemas/explain.json` is the JSON Schema with this name.
    const SCHEMA: &'static str;

    /// The answer for programs: one JSON object on one line, or one on each line if the answer is a list. Each line ends with a newline.
    ///
    /// ```
    /// use xla_shape_answers::Answer;
    /// use xla_shape_answers::block::{BlockAnswer, Part};
    ///
    /// let part = Part::Input { array: "f32[64,128]".parse()?, block: "f32[8,128]".parse()? };
    /// let json = BlockAnswer::new(&[part], None, None)?.json();
    /// assert!(json.starts_with("{\"schema\":\"xla-shape/block/1\",") && json.contains("\"vmem_bytes\":8192"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn json(&self) -> String {
        answer_line(Self::SCHEMA, self)
    }

    /// The part of the answer that fits into a prompt; empty for short answers.
    fn digest(&self) -> Digest {
        Digest::default()
    }
}

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
/// use xla_shape_answers::answer_line;
///
/// let answer = BTreeMap::from([("bytes", 8)]);
/// assert_eq!(answer_line("example/1", &answer), "{\"schema\":\"example/1\",\"bytes\":8}\n");
/// ```
#[must_use]
pub fn answer_line(schema: &'static str, answer: &(impl Serialize + ?Sized)) -> String {
    json_line(&Versioned { schema, answer })
}

/// Writes the answer as a line of JSON, with the name of its schema.
///
/// # Errors
/// If the writer fails.
///
/// ```
/// use xla_shape_answers::check::Checker;
///
/// let mut lines = Vec::new();
/// for line in ["f32[2,3]", "f32[2"] {
///     xla_shape_answers::write_answer(&mut lines, &Checker::of_shapes(None).check(line))?;
/// }
/// assert!(lines.starts_with(br#"{"schema":"xla-shape/check/1","input":"f32[2,3]","ok":true"#));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write_answer<A: Answer>(mut writer: impl Write, answer: &A) -> io::Result<()> {
    write_json(&mut writer, &Versioned { schema: A::SCHEMA, answer })?;
    writer.write_all(b"\n")
}

/// A value as a line of JSON.
///
/// ```
/// assert_eq!(xla_shape_answers::json_line(&[1, 2]), "[1,2]\n");
/// ```
#[must_use]
pub fn json_line(value: &(impl Serialize + ?Sized)) -> String {
    let mut line = Vec::new();
    // This cannot fail: all keys are texts, no `Serialize` here returns an error, and writing to a `Vec` cannot fail.
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
/// xla_shape_answers::write_json(&mut json, "a\u{9b}31m")?;
/// assert_eq!(json, br#""a\u009b31m""#);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write_json(writer: impl Write, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
    Ok(value.serialize(&mut serde_json::Serializer::with_formatter(writer, Harmless))?)
}

/// Compact JSON that also escapes what JSON does not require: DEL, C1 controls, and characters that end a line or change the direction of text.
struct Harmless;

impl Formatter for Harmless {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        // serde_json has escaped the control characters below 0x20; a fragment contains none.
        if fragment.bytes().all(|byte| byte < 0x7f) {
            return writer.write_all(fragment.as_bytes());
        }
        let mut rest = fragment;
        while let Some((at, control)) = rest.char_indices().find(|&(_, c)| is_control(c)) {
            let (before, after) = rest.split_at(at);
            writer.write_all(before.as_bytes())?;
            write!(writer, "\\u{:04x}", u32::from(control))?;
            rest = after.get(control.len_utf8()..).unwrap_or_default();
        }
        writer.write_all(rest.as_bytes())
    }
}

/// Whether a character controls a terminal, ends a line, or changes the direction of the text after it.
///
/// ```
/// use xla_shape_answers::is_control;
///
/// assert!(is_control('\u{1b}') && is_control('\u{202e}') && !is_control('ü'));
/// // The separators of lines and paragraphs, at which some programs break a line.
/// assert!(is_control('\u{2028}') && is_control('\u{2029}'));
/// ```
#[must_use]
pub fn is_control(c: char) -> bool {
    let turns =
        |c| matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns(c) || matches!(c, '\u{2028}' | '\u{2029}')
}
