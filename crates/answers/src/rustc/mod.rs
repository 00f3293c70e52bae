//! The messages of the Rust compiler, with shapes in place of the types of `xla-shape`.

mod compare;
mod names;
mod types;

use crate::json_line;
use names::{Names, is_shortened, long_type_file};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;
use std::borrow::Cow;

/// The most bytes of a message that are kept until it ends.
const MAX_HELD: usize = 1 << 20;

/// The whole names are searched for at most this many shortened types of a message.
const MAX_SHORTENED: usize = 64;

/// Rewrites the compiler's output line by line: types of `xla-shape` become the text of their shapes, and if two types are compared,
/// further lines say what differs.
///
/// The compiler shortens long types (`...`) and writes their whole names to a file. The function given to [`new`](Self::new) returns
/// the contents of such a file, if it can be read.
///
/// ```
/// use xla_shape_answers::rustc::Output;
///
/// let expected = "  = note: expected struct `Buffer<Array<F32, (Size<8>, Size<128>), Layout<(Minor<1>, Minor<0>)>>>`";
/// let found = "             found struct `Buffer<Array<F32, (Size<8>, Size<256>), Layout<(Minor<1>, Minor<0>)>>>`";
/// let mut output = Output::new(|_path| None);
/// assert_eq!(output.line("error[E0308]: mismatched types"), "error[E0308]: mismatched types\n");
/// // The comparison is kept until the message ends, with an empty line.
/// assert_eq!(output.line(expected) + &output.line(found), "");
/// assert_eq!(
///     output.line(""),
///     "  = note: expected struct `Buffer<f32[8,128]{1,0}>`\n\
///      \u{20}            found struct `Buffer<f32[8,256]{1,0}>`\n\
///      \u{20}                                       ^^^\n\
///      \u{20}                          dimension 1: expected `128`, found `256`\n\n"
/// );
/// ```
#[derive(Clone, Debug)]
pub struct Output<R> {
    read: R,
    /// The lines of a message that cannot be written yet: from the first one that may depend on a later line.
    held: String,
}

impl<R: FnMut(&str) -> Option<String>> Output<R> {
    /// An output of which no line has been read yet. `read` is called with the path of a file and returns its contents. It must not block on a pipe
    /// or device: the path comes from a line, and any line of any program may look like a line of the compiler.
    ///
    /// ```
    /// use xla_shape_answers::rustc::Output;
    ///
    /// let mut output = Output::new(|path: &str| std::fs::read_to_string(path).ok());
    /// assert_eq!(output.line("a line without types"), "a line without types\n");
    /// ```
    pub fn new(read: R) -> Self {
        Self { read, held: String::new() }
    }

    /// Reads a line, without its line ending, and returns the lines that can be written now, with their endings.
    ///
    /// ```
    /// use xla_shape_answers::rustc::Output;
    ///
    /// let mut output = Output::new(|_path| None);
    /// assert_eq!(output.line("found `Layout<(Minor<1>, Minor<0>)>`"), "found `{1,0}`\n");
    /// ```
    pub fn line(&mut self, line: &str) -> String {
        let plain = without_escapes(line);
        let ends = plain.trim().is_empty();
        if self.held.is_empty() && (ends || is_source(&plain) || !waits(&plain)) {
            return with_names(&format!("{line}\n"), &Names::default());
        }
        self.held.push_str(line);
        self.held.push('\n');
        if ends || self.held.len() > MAX_HELD { self.finish() } else { String::new() }
    }

    /// Returns the lines that were kept. Call it after the last line.
    ///
    /// ```
    /// use xla_shape_answers::rustc::Output;
    ///
    /// let mut output = Output::new(|_path| None);
    /// let first = output.line("  = note: expected struct `Tile<(Size<8>,)>`");
    /// assert_eq!(first + &output.finish(), "  = note: expected struct `T(8)`\n");
    /// ```
    pub fn finish(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        let names = Names::read(&[without_escapes(&held).as_ref()], &mut self.read);
        with_names(&held, &names)
    }

    /// Rewrites a message of `--message-format=json`; `None` if the line is not a JSON object.
    ///
    /// ```
    /// use xla_shape_answers::rustc::Output;
    ///
    /// let mut output = Output::new(|_path| None);
    /// let message = output.message("{\"rendered\":\"found `Tile<(Size<8>,)>`\"}").unwrap();
    /// assert_eq!(message.text(), Some("found `T(8)`"));
    /// ```
    #[must_use]
    pub fn message(&mut self, line: &str) -> Option<Message> {
        let mut value = serde_json::from_str::<Value>(line).ok().filter(Value::is_object)?;
        let mut texts = Vec::new();
        rewrite(&mut value, &mut |text| texts.push(std::mem::take(text)));
        let names = Names::read(&texts.iter().map(String::as_str).collect::<Vec<_>>(), &mut self.read);
        let mut texts = texts.into_iter();
        rewrite(&mut value, &mut |text| {
            let old = texts.next().unwrap_or_default();
            let new = with_names(&old, &names);
            *text = if old.ends_with('\n') { new } else { new.trim_end_matches('\n').to_owned() };
        });
        Some(Message(value))
    }
}

/// A message of the compiler or of cargo, with shapes in place of types.
#[derive(Clone, PartialEq, Debug)]
pub struct Message(Value);

/// The compiler decides the form of these objects. The schema has only the fields that are read here.
impl JsonSchema for Message {
    fn schema_name() -> Cow<'static, str> {
        "Message".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A message of the Rust compiler or of cargo, with shapes in `message`, `label` and `rendered` in place of types. The form is the compiler's (doc.rust-lang.org/rustc/json.html, doc.rust-lang.org/cargo/reference/external-tools.html), so any other field may be there, and the line does not name this schema.",
            "type": "object",
            "properties": {
                "message": {
                    "description": "The compiler's sentence; in lines of cargo, the compiler's message.",
                    "type": ["string", "object"]
                },
                "rendered": { "description": "The message for people.", "type": ["string", "null"] }
            }
        })
    }
}

impl Message {
    /// The name of the schema of these lines, which do not name it themselves.
    pub const SCHEMA: &'static str = "xla-shape/rustc/1";

    /// The text for people; `None` if the message has none.
    ///
    /// ```
    /// use xla_shape_answers::rustc::Output;
    ///
    /// let message = Output::new(|_path| None).message("{\"reason\":\"build-finished\"}").unwrap();
    /// assert_eq!(message.text(), None);
    /// ```
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        let message = self.0.get("message").filter(|message| message.is_object()).unwrap_or(&self.0);
        message.get("rendered").and_then(Value::as_str)
    }

    /// The message as a line of JSON, with the fields of the compiler.
    ///
    /// ```
    /// use xla_shape_answers::rustc::Output;
    ///
    /// let message = Output::new(|_path| None).message("{\"reason\":\"build-finished\"}").unwrap();
    /// assert_eq!(message.json(), "{\"reason\":\"build-finished\"}\n");
    /// ```
    #[must_use]
    pub fn json(&self) -> String {
        json_line(&self.0)
    }
}

/// Calls `act` with each text that is for people. Code that an editor would insert is left unchanged.
fn rewrite(value: &mut Value, act: &mut impl FnMut(&mut String)) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| rewrite(item, act)),
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if matches!(name.as_str(), "message" | "label" | "rendered") => act(text),
                    Value::Array(_) | Value::Object(_) if name != "text" => rewrite(value, act),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// A message with shapes in place of types, given the whole names of the types that the compiler shortened.
fn with_names(message: &str, names: &Names) -> String {
    // `str::lines` would remove a carriage return.
    let lines = message.split_inclusive('\n').map(|line| line.strip_suffix('\n').unwrap_or(line));
    let lines: Vec<(&str, Cow<'_, str>)> = lines.map(|line| (line, without_escapes(line))).collect();
    let mut out = String::new();
    let mut used = Vec::new();
    // The position in `out` after the last of the lines that name a file. They are removed or kept later.
    let mut notes = None;
    let mut searches = MAX_SHORTENED;
    let mut rest = lines.as_slice();
    while let [(line, plain), behind @ ..] = rest {
        rest = behind;
        let pair = behind.first().filter(|(_, next)| is_expected(plain) && is_found(next));
        let pair = pair.and_then(|next| Some((next.0, quoted(plain)?, quoted(&next.1)?)));
        if let Some((next, expected, found)) = pair {
            rest = rest.get(1..).unwrap_or_default();
            let wholes = names.pair(expected.quote, found.quote);
            used.extend([wholes.0, wholes.1].into_iter().flatten());
            out.push_str(&compared((line, &expected, wholes.0), (next, &found, wholes.1)));
            continue;
        }
        let whole = |(number, part): (usize, &'_ str)| {
            let is_search = number % 2 == 1 && searches > 0 && is_shortened(part);
            searches -= usize::from(is_search);
            let whole = if is_search { names.whole(part) } else { None };
            used.extend(whole);
            whole.unwrap_or(part).to_owned()
        };
        let new = match is_source(plain) {
            true => plain.to_string(),
            false => {
                types::with_shapes(&plain.split('`').enumerate().map(whole).collect::<Vec<_>>().join("`")).into_owned()
            }
        };
        push(&mut out, line, plain, &new);
        if long_type_file(plain).is_some() {
            notes = Some(out.len());
        }
    }
    if let Some(notes) = notes {
        let unused =
            names.iter().filter(|name| !used.contains(name)).filter_map(|name| match types::with_shapes(name) {
                Cow::Owned(new) if new != name => Some(new),
                _ => None,
            });
        let unused: Vec<String> = unused.collect();
        let lines = unused.iter().enumerate().map(|(number, name)| {
            let words = match (number, unused.len()) {
                (0, 1) => "which is",
                (0, _) => "they are",
                _ => "        ",
            };
            format!("           {words} `{name}`\n")
        });
        out.insert_str(notes, &lines.collect::<String>());
    }
    out
}

/// Adds a line. If it was not changed, it keeps its colours.
fn push(out: &mut String, line: &str, plain: &str, new: &str) {
    out.push_str(if new == plain { line } else { new });
    out.push('\n');
}

/// A line that contains one type, in quotes.
struct Quoted<'t> {
    line: &'t str,
    quote: &'t str,
    /// The column at which the quoted text begins.
    start: usize,
    end: usize,
}

impl Quoted<'_> {
    fn with(&self, quote: &str) -> String {
        let part = |range| self.line.get(range).unwrap_or_default();
        format!("{}{quote}{}", part(0..self.start), part(self.end..self.line.len()))
    }
}

fn quoted(line: &str) -> Option<Quoted<'_>> {
    let (start, end) = (line.find('`')? + 1, line.rfind('`')?);
    Some(Quoted { line, quote: line.get(start..end)?, start, end })
}

/// The line about what was expected, the line about what was found, and lines about what differs. Each argument has the compiler's line, its parts,
/// and the whole name of its type, if that is known.
fn compared(expected: (&str, &Quoted<'_>, Option<&str>), found: (&str, &Quoted<'_>, Option<&str>)) -> String {
    let mut out = String::new();
    let [name, other] = [expected, found].map(|(line, plain, whole)| {
        let name = whole.unwrap_or(plain.quote);
        let shapes = types::with_shapes(name);
        push(&mut out, line, plain.line, &plain.with(&shapes));
        (name, shapes)
    });
    let indent = found.1.line.get(..found.1.start).map_or(0, |before| before.chars().count());
    // A whole name has parts for which the other line has `_`; marks there would be wrong.
    let are_alike = expected.2.is_some() == found.2.is_some();
    let sentences = compare::differences(name.0, other.0);
    if are_alike && !is_shortened(name.0) && !is_shortened(other.0) {
        out.push_str(&compare::marks(&name.1, &other.1, indent, !sentences.is_empty()));
    }
    for sentence in sentences {
        out.push_str(&format!("{}{sentence}\n", " ".repeat(indent)));
    }
    out
}

/// Whether the rewriting of a line depends on lines after it.
fn waits(line: &str) -> bool {
    is_expected(line) || has_shortened(line) || long_type_file(line).is_some()
}

/// A line of a note without `= note:`.
fn note(line: &str) -> &str {
    line.trim_start().trim_start_matches("= ").trim_start_matches("note: ")
}

/// Whether a line says which type was expected, and the next one says what was found.
fn is_expected(line: &str) -> bool {
    note(line).starts_with("expected ") && line.contains('`') && !line.contains("found ")
}

fn is_found(line: &str) -> bool {
    note(line).starts_with("found ")
}

/// Whether a type in a line is shortened.
fn has_shortened(line: &str) -> bool {
    line.split('`').skip(1).step_by(2).any(|part| part.contains('<') && is_shortened(part))
}

/// Whether a line shows source code, which is left unchanged: it begins with a number and `|`.
fn is_source(line: &str) -> bool {
    let line = line.trim_start();
    let behind = line.trim_start_matches(|character: char| character.is_ascii_digit());
    behind.len() < line.len() && behind.trim_start().starts_with('|')
}

/// A line without the codes for colours.
fn without_escapes(line: &str) -> Cow<'_, str> {
    if !line.contains('\u{1b}') {
        return Cow::Borrowed(line);
    }
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, behind)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        let code = behind.strip_prefix('[').map_or(behind, |code| {
            let end = code.find(|character: char| character.is_ascii_alphabetic());
            end.and_then(|end| code.get(end + 1..)).unwrap_or("")
        });
        rest = code;
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}
