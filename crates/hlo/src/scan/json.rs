//! Logs whose lines are objects of JSON: the text of a line is in one of its fields.

use super::wrapping::known_length;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;
use memchr::memchr2;

/// The fields that have the text of a line, as loggers and clouds name them.
const NAMES: [&str; 21] = [
    "message",
    "msg",
    "textPayload",
    "log",
    "text",
    "body",
    "event",
    "MESSAGE",
    "@message",
    "short_message",
    "full_message",
    "exc",
    "exc_info",
    "exception",
    "traceback",
    "stack",
    "stack_trace",
    "stacktrace",
    "error",
    "err",
    "details",
];

/// The text in a line of JSON.
///
/// ```
/// use xla_shape_hlo::{JsonLine, JsonLines};
///
/// let line = r#"{"severity": "ERROR", "message": "\"f\" needs f32[8]"}"#;
/// let JsonLine::Text(found) = JsonLines::default().read(line) else { panic!("a text") };
/// assert_eq!(found.text, "\"f\" needs f32[8]");
/// assert_eq!(&line[found.place(10)..found.place(16)], "f32[8]", "each byte has its place in the line");
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JsonText {
    /// The text, without escapes. If several fields have some, each begins a new line.
    pub text: String,
    /// Where parts of the text begin in the text and in the line. Within a part, both go on by the same bytes.
    places: Vec<(usize, usize)>,
    /// Where the text is in the line.
    ranges: Vec<Range<usize>>,
}

impl JsonText {
    /// The place in the line of the byte at this place in the text.
    #[must_use]
    pub fn place(&self, at: usize) -> usize {
        let after = self.places.partition_point(|(in_text, _)| *in_text <= at);
        let part = after.checked_sub(1).and_then(|part| self.places.get(part));
        part.map_or(at, |(in_text, in_line)| at.saturating_sub(*in_text).saturating_add(*in_line))
    }

    /// The line, with spaces instead of the text.
    #[must_use]
    pub fn rest(&self, line: &str) -> String {
        let mut bytes = line.as_bytes().to_vec();
        for range in &self.ranges {
            if let Some(text) = bytes.get_mut(range.clone()) {
                text.fill(b' ');
            }
        }
        String::from_utf8(bytes).unwrap_or_default()
    }

    /// The texts at these places in a line.
    fn new(line: &str, ranges: Vec<Range<usize>>) -> Self {
        let mut found = Self { ranges, ..Self::default() };
        for range in found.ranges.clone() {
            if !found.text.is_empty() {
                found.places.push((found.text.len(), range.start));
                found.text.push('\n');
            }
            found.add(line.get(..range.end).unwrap_or(""), range.start);
            // A logger writes the end of the line, too.
            if found.text.ends_with('\n') {
                found.text.pop();
            }
        }
        found
    }

    /// Adds a string from this place to the end of `line`, without its escapes.
    fn add(&mut self, line: &str, start: usize) {
        let mut at = start;
        self.places.push((self.text.len(), at));
        while let Some(rest) = line.get(at..) {
            let length = memchr::memchr(b'\\', rest.as_bytes()).unwrap_or(rest.len());
            self.text.push_str(rest.get(..length).unwrap_or(""));
            at += length;
            let Some((escaped, length)) = rest.get(length..).and_then(escape) else { break };
            self.text.push(escaped);
            at += length;
            self.places.push((self.text.len(), at));
        }
    }
}

/// The character that a text begins with, and its length, if it begins with a backslash. A backslash that begins no escape is a character.
fn escape(text: &str) -> Option<(char, usize)> {
    let code = |at: usize| {
        let digits = text.get(at..at.checked_add(6)?)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))
    };
    let rest = text.strip_prefix('\\')?;
    Some(match rest.as_bytes().first() {
        Some(b'n') => ('\n', 2),
        Some(b't') => ('\t', 2),
        Some(b'r') => ('\r', 2),
        Some(b'b' | b'f') => (' ', 2),
        Some(b'"') => ('"', 2),
        Some(b'/') => ('/', 2),
        Some(b'\\') => ('\\', 2),
        Some(b'u') => {
            // Two escapes, of UTF-16, are one character.
            let pair = code(0).zip(code(6)).and_then(|(high, low)| {
                let units = [u16::try_from(high).ok()?, u16::try_from(low).ok()?];
                char::decode_utf16(units).next()?.ok().filter(|found| u32::from(*found) > 0xffff)
            });
            let one = || code(0).and_then(char::from_u32);
            pair.map(|found| (found, 12)).or_else(|| Some((one()?, 6))).unwrap_or(('\\', 1))
        }
        _ => ('\\', 1),
    })
}

/// What a line of a log is, as JSON.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum JsonLine {
    /// It is not JSON, or has no field with a text.
    Other,
    /// It is a part of an object that has no text.
    Nothing,
    /// Its text.
    Text(JsonText),
}

/// Finds the texts of a log in which each line is an object of JSON, an array of objects, or a field of an object.
///
/// ```
/// use xla_shape_hlo::{JsonLine, JsonLines};
///
/// let mut lines = JsonLines::default();
/// let mut text = |line: &str| match lines.read(line) {
///     JsonLine::Text(found) => Some(found.text),
///     _ => None,
/// };
/// assert_eq!(text(r#"{"log": "Used 2G of 1G hbm.\n", "stream": "stderr"}"#).as_deref(), Some("Used 2G of 1G hbm."));
/// assert_eq!(text(r#"  "textPayload": "1. Size: 2K","#).as_deref(), Some("1. Size: 2K"));
/// assert_eq!(text("HloModule m"), None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct JsonLines {
    /// Whether the last line was a field of an object, or brackets after one.
    is_inside: bool,
}

impl JsonLines {
    /// Reads the next line.
    pub fn read(&mut self, line: &str) -> JsonLine {
        let start = line.len() - line.trim_start_matches('\u{feff}').len();
        let is_inside = core::mem::take(&mut self.is_inside);
        let of_line = |start: usize| {
            let rest = line.get(start..).unwrap_or("");
            start + rest.len() - rest.trim_start().len()
        };
        // A prefix may come before the object.
        let starts = [of_line(start), of_line(start + known_length(line.get(start..).unwrap_or("")))];
        for start in starts {
            let content = line.get(start..).unwrap_or("");
            let ranges = match content.as_bytes().first() {
                Some(b'{' | b'[') => texts(line, start),
                Some(b'"') => match field(line, start) {
                    Some(range) => {
                        self.is_inside = true;
                        range.map_or_else(|| Some(Vec::new()), |range| Some(Vec::from([range])))
                    }
                    None => None,
                },
                _ => None,
            };
            match ranges {
                Some(ranges) if !ranges.is_empty() => return JsonLine::Text(JsonText::new(line, ranges)),
                Some(_) if self.is_inside => return JsonLine::Nothing,
                _ => {}
            }
        }
        let content = line.trim();
        if is_inside && !content.is_empty() && content.bytes().all(|byte| b"{}[],".contains(&byte)) {
            self.is_inside = true;
            return JsonLine::Nothing;
        }
        JsonLine::Other
    }
}

/// Where the string that opens before `start` ends.
fn string_end(line: &str, start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        let found = at + memchr2(b'"', b'\\', line.as_bytes().get(at..)?)?;
        if line.as_bytes().get(found) == Some(&b'"') {
            return Some(found);
        }
        at = found + 2;
    }
}

/// The texts in the object or the array that the line has from `start` on; `None` if that is neither.
fn texts(line: &str, start: usize) -> Option<Vec<Range<usize>>> {
    let bytes = line.as_bytes();
    let (mut at, mut depth) = (start, 0_usize);
    let mut name: Option<&str> = None;
    let mut found = Vec::new();
    loop {
        match bytes.get(at)? {
            b'{' | b'[' => {
                depth += 1;
                name = None;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    break;
                }
            }
            b'"' => {
                let end = string_end(line, at + 1)?;
                let inside = at + 1..end;
                let rest = line.get(end + 1..)?;
                let blanks = rest.len() - rest.trim_start().len();
                at = end;
                if bytes.get(end + 1 + blanks) == Some(&b':') {
                    name = line.get(inside);
                    at = end + 1 + blanks;
                } else if name.is_some_and(|name| NAMES.contains(&name)) {
                    found.push(inside);
                }
            }
            b',' => name = None,
            byte if byte.is_ascii_alphanumeric() || b" \t\r-+.".contains(byte) => {}
            _ => return None,
        }
        at += 1;
    }
    let rest = line.get(at + 1..)?.trim();
    (rest.is_empty() || rest == ",").then_some(found)
}

/// The text in a line that is a field of an object, `"name": value,`; `Some(None)` if the field has no text, and `None` if the line is not a field.
fn field(line: &str, start: usize) -> Option<Option<Range<usize>>> {
    let end = string_end(line, start + 1)?;
    let name = line.get(start + 1..end)?;
    let is_name = !name.is_empty() && name.len() <= 80 && !name.contains('\\');
    let value = line.get(end + 1..)?.trim_start().strip_prefix(':').filter(|_| is_name)?;
    let value = value.trim_start();
    let at = line.len() - value.len();
    let bare = value.trim_end().trim_end_matches(',');
    if value.starts_with('"') {
        let end = string_end(line, at + 1)?;
        let rest = line.get(end + 1..)?.trim();
        if !matches!(rest, "" | "," | "}" | "},") {
            return None;
        }
        return Some(NAMES.contains(&name).then_some(at + 1..end));
    }
    let is_scalar = matches!(bare, "true" | "false" | "null" | "{" | "[" | "{}" | "[]") || bare.parse::<f64>().is_ok();
    is_scalar.then_some(None)
}

#[cfg(test)]
mod tests {
    use super::{JsonLine, JsonLines};
    use alloc::borrow::ToOwned;
    use alloc::string::String;
    use alloc::vec::Vec;

    fn text(line: &str) -> Option<String> {
        match JsonLines::default().read(line) {
            JsonLine::Text(found) => Some(found.text),
            _ => None,
        }
    }

    #[test]
    fn texts_of_objects_are_found() {
        for (line, expected) in [
            (r#"{"severity": "ERROR", "message": "a b", "pod": "p-0"}"#, "a b"),
            (r#"{"log":"Total usage \u003e= 1G:\n","stream":"stderr"},"#, "Total usage >= 1G:"),
            (r#"{"jsonPayload": {"message": "a"}, "labels": {"message": 3}}"#, "a"),
            (r#"[{"textPayload": "a\tb"}, {"textPayload": ""}, {"textPayload": "c"}]"#, "a\tb\nc"),
            (r#"{"msg": "failed", "exc": "x = \"\\d\" \u00e9 \ud83d\ude00"}"#, "failed\nx = \"\\d\" é 😀"),
            (r#"2025-03-21T10:57:56.764856789Z stderr F {"msg":"a"}"#, "a"),
            (r#"{"message": ""}"#, ""),
            (r#"{"message": "\q \ud83d \u00"}"#, r"\q \ud83d \u00"),
            (r#"  "message": "a,","#, "a,"),
        ] {
            assert_eq!(text(line).as_deref(), Some(expected), "{line}");
        }
        for line in [
            "",
            "{",
            "}",
            "{}",
            "[8,128]",
            r#"{"a": "b"}"#,
            r#"{"message": "a"} b"#,
            r#"{"message": "a""#,
            r#"{"message": 3}"#,
            r#"{0: f32[8], "message": "a"}"#,
            r#""message"("a")"#,
            r#"  "severity": "ERROR","#,
            "ENTRY e { ROOT p = f32[2]{0} parameter(0), metadata={op_name=\"a\"} }",
        ] {
            assert_eq!(text(line), None, "{line}");
        }
    }

    #[test]
    fn each_byte_has_its_place() {
        let line = r#"{"a": "f32[1]", "msg": "\"x\"\n\u003e f32[8]", "exc": "\tf32[9]"}"#;
        let JsonLine::Text(found) = JsonLines::default().read(line) else { panic!("a text") };
        assert_eq!(found.text, "\"x\"\n> f32[8]\n\tf32[9]");
        for shape in ["f32[8]", "f32[9]"] {
            let at = found.text.find(shape).unwrap();
            assert_eq!(Some(found.place(at)), line.find(shape), "{shape}");
        }
        let rest = found.rest(line);
        assert!(rest.contains("f32[1]") && !rest.contains("f32[8]") && rest.len() == line.len(), "{rest}");
    }

    #[test]
    fn fields_have_a_line_each() {
        let mut lines = JsonLines::default();
        let log =
            "[\n  {\n    \"text\": \"a\",\n    \"severity\": \"E\"\n  },\n  {\n    \"text\": \"b\"\n  }\n]\nend\n}";
        let found: Vec<_> = log.lines().map(|line| lines.read(line)).collect();
        let is = |line: &JsonLine| match line {
            JsonLine::Text(found) => found.text.clone(),
            JsonLine::Nothing => "-".to_owned(),
            JsonLine::Other => "?".to_owned(),
        };
        assert_eq!(found.iter().map(is).collect::<String>(), "??a---b--??");
    }

    #[test]
    fn time_is_in_proportion_to_the_text() {
        for line in ["{".repeat(100_000), "{\"".repeat(50_000), "{\"a\":".repeat(30_000), "\\".repeat(100_000)] {
            assert_eq!(text(&line), None);
            assert!(text(&alloc::format!("{{\"msg\": {line:?}}}")).is_some());
        }
    }
}
