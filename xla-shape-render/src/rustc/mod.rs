//! What the Rust compiler says, with shapes where it has types of this library.

mod types;

use serde_json::Value;
use std::borrow::Cow;

/// Writes the compiler's output anew, line by line: types of `xla-shape` become the text of their shapes, and where two shapes
/// are compared, a line marks what is different.
///
/// ```
/// use xla_shape_render::rustc::Output;
///
/// let expected = "  = note: expected struct `Buffer<Array<F32, (Size<8>, Size<128>), Layout<(Minor<1>, Minor<0>)>>>`";
/// let found = "             found struct `Buffer<Array<F32, (Size<8>, Size<256>), Layout<(Minor<1>, Minor<0>)>>>`";
/// let mut output = Output::default();
/// assert_eq!(output.line(expected), "  = note: expected struct `Buffer<f32[8,128]{1,0}>`\n");
/// assert_eq!(
///     output.line(found),
///     "             found struct `Buffer<f32[8,256]{1,0}>`\n\
///      \u{20}                                       ^^^\n"
/// );
/// ```
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// The last line that said what was expected, as it was written anew.
    expected: Option<String>,
}

impl Output {
    /// A line of text without its ending; lines with their endings.
    pub fn line(&mut self, line: &str) -> String {
        let plain = without_escapes(line);
        let expected = self.expected.take();
        if is_source(&plain) {
            return format!("{line}\n");
        }
        let new = match types::with_shapes(&plain) {
            Cow::Borrowed(_) => line.to_owned(),
            Cow::Owned(new) if new == plain => line.to_owned(),
            Cow::Owned(new) => new,
        };
        let begin = plain.trim_start().trim_start_matches("= ").trim_start_matches("note: ");
        if begin.starts_with("expected ") && !plain.contains("found ") {
            self.expected = Some(new.clone());
        }
        match expected.filter(|_| begin.starts_with("found ")) {
            Some(expected) => format!("{new}\n{}", difference(&expected, &new)),
            None => new + "\n",
        }
    }

    /// Several lines.
    pub fn lines(&mut self, text: &str) -> String {
        text.lines().map(|line| self.line(line)).collect()
    }

    /// A message as `--message-format=json` prints it, with the same fields; `None` if the line is not an object in JSON.
    #[must_use]
    pub fn message(line: &str) -> Option<Message> {
        let mut value = serde_json::from_str::<Value>(line).ok().filter(Value::is_object)?;
        rewrite(&mut value);
        Some(Message(value))
    }
}

/// A message of the compiler or of cargo, with shapes where it had types.
#[derive(Clone, PartialEq, Debug)]
pub struct Message(Value);

impl Message {
    /// The text for people; `None` if the message has none.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        let message = self.0.get("message").filter(|message| message.is_object()).unwrap_or(&self.0);
        message.get("rendered").and_then(Value::as_str)
    }

    /// A line of JSON.
    #[must_use]
    pub fn json(&self) -> String {
        format!("{}\n", self.0)
    }
}

/// Rewrites the texts that are for people. What an editor puts into a file stays as it is.
fn rewrite(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(rewrite),
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if matches!(name.as_str(), "message" | "label" | "rendered") => {
                        *text = rewritten(text);
                    }
                    Value::Array(_) | Value::Object(_) if name != "text" => rewrite(value),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

fn rewritten(text: &str) -> String {
    let new = Output::default().lines(text);
    if text.ends_with('\n') { new } else { new.trim_end_matches('\n').to_owned() }
}

/// The file that has a type's whole name, if a line says that there is one.
#[must_use]
pub fn long_type_file(line: &str) -> Option<&str> {
    let marks = ['\'', '`', '"'];
    line.contains("has been written to").then(|| line.split(marks))?.find(|part| {
        let name = part.rsplit(['/', '\\']).next().unwrap_or(part);
        name.contains(".long-type-") && name.ends_with(".txt")
    })
}

/// The line that says what a type's whole name is, which was in a file of its own; `None` if it is none of this library.
#[must_use]
pub fn whole_name(text: &str) -> Option<String> {
    let text = text.trim();
    let new = types::with_shapes(text);
    (new != text && !new.contains('\n')).then(|| format!("           which is `{new}`\n"))
}

/// Whether a line shows code, which stays as it is: a number, and `|`.
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

/// A line with marks under what differs in the second of two lines; a sentence where nothing does.
fn difference(expected: &str, found: &str) -> String {
    let quoted = |line: &str| {
        let (start, end) = line.find('`').zip(line.rfind('`'))?;
        Some((start + 1, line.get(start + 1..end)?.to_owned()))
    };
    let Some(((_, expected), (start, found_type))) = quoted(expected).zip(quoted(found)) else { return String::new() };
    let indent = found.get(..start).map_or(0, |before| before.chars().count());
    if expected == found_type {
        return match types::has_shape(&found_type) {
            true => format!("{}the same shape as another type: `retype` makes one of the other\n", " ".repeat(indent)),
            false => String::new(),
        };
    }
    let (expected, found) = (words(&expected), words(&found_type));
    let same = |(a, b): &(&&str, &&str)| a == b;
    let before = expected.iter().zip(&found).take_while(same).count();
    let most = expected.len().min(found.len()) - before;
    let behind = expected.iter().rev().zip(found.iter().rev()).take(most).take_while(same).count();
    let width = |words: &[&str]| words.iter().map(|word| word.chars().count()).sum::<usize>();
    let indent = indent + width(found.get(..before).unwrap_or_default());
    let marks = width(found.get(before..found.len() - behind).unwrap_or_default());
    let missing = expected.get(before..expected.len() - behind).unwrap_or_default().concat();
    match marks {
        // Nothing is there to mark: say what is missing.
        0 => format!("{}^ expected `{missing}` here\n", " ".repeat(indent)),
        marks => format!("{}{}\n", " ".repeat(indent), "^".repeat(marks)),
    }
}

/// A text as words and single characters between them.
fn words(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |character: char| character.is_alphanumeric() || character == '_';
        let length = if is_word(first) {
            rest.find(|character| !is_word(character)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (word, behind) = rest.split_at(length);
        found.push(word);
        rest = behind;
    }
    found
}
