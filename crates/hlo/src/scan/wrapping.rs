//! What wraps the lines of a log: the prefixes of loggers and launchers, quotes, colours, escapes of JSON and Python.
//!
//! Each has a case in `tests/tests/programs/reports.rs`.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use memchr::{memchr, memchr_iter, memmem};

/// Replaces what wraps the lines of a log by spaces, line by line, so that each byte keeps its place in the line.
///
/// It knows the prefixes of absl, TensorFlow, Python's loggers, vLLM, Ray, Kubernetes, journald, Docker and Slurm, quotes of mail and
/// Markdown, and the colours of terminals. `\n` in a text that JSON or Python escaped becomes a line break. A prefix that it does not
/// know is recognised if it comes before a line that begins a list in a report, such as `Program hbm requirement`. In the lines after that one, the
/// prefix may have other digits.
///
/// ```
/// use xla_shape_hlo::LogLines;
///
/// let mut lines = LogLines::default();
/// assert_eq!(lines.unwrap("(EngineCore_DP0 pid=7) ERROR 06-03 07:41:11 [core.py:84] Size: 2K").trim(), "Size: 2K");
/// assert_eq!(lines.unwrap(r#"{"message": "one\ntwo"}"#), "{\"message\": \"one \ntwo\"}");
/// ```
#[derive(Clone, Debug, Default)]
pub struct LogLines {
    /// The prefix before a line that begins a list.
    prefix: String,
    /// The number at the beginning of the line before. If the numbers of successive lines count up, they are line numbers of a listing.
    number: Option<u64>,
}

/// The longest prefix, in bytes.
pub(super) const LONGEST: usize = 256;

/// What begins a list in a report, whose lines have the same prefix.
const BEGINNINGS: [&str; 9] = [
    "HloModule ",
    "Program hbm requirement",
    "Program vmem requirement",
    "Total hbm usage",
    "Total vmem usage",
    "Largest program allocations",
    "BufferAssignment OOM Debugging",
    "Peak buffers:",
    "1. Size:",
];

impl LogLines {
    /// The line without what wraps it.
    ///
    /// ```
    /// let line = "2025-03-21 10:57:56.764866: I external/xla/xla/service/a.cc:39] }";
    /// assert_eq!(xla_shape_hlo::LogLines::default().unwrap(line).trim(), "}");
    /// ```
    pub fn unwrap<'a>(&mut self, line: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(line);
        if memchr(b'\x1b', line.as_bytes()).is_some() {
            text = Cow::Owned(without_colours(&text));
        }
        // XLA writes the attributes of an operator with escapes of its own.
        let is_field =
            || ["Operator:", "XLA label:", "XLA Label:"].iter().any(|name| self.content(&text).starts_with(name));
        if memmem::find(line.as_bytes(), b"\\n").is_some() && !is_field() {
            text = Cow::Owned(without_escapes(&text));
        }
        let mut start = 0_usize;
        let mut blanks = Vec::new();
        for part in text.split_inclusive('\n') {
            let length = self.counted_length(part);
            let length = length + self.prefix_length(part.get(length..).unwrap_or(""));
            if length > 0 {
                blanks.push((start, length));
            }
            start += part.len();
        }
        if blanks.is_empty() {
            return text;
        }
        let mut bytes = text.into_owned().into_bytes();
        for (start, length) in blanks {
            if let Some(prefix) = bytes.get_mut(start..start + length) {
                prefix.fill(b' ');
            }
        }
        // Whole characters were replaced.
        String::from_utf8(bytes).map_or(Cow::Borrowed(line), Cow::Owned)
    }

    /// The line without the prefixes before its content.
    fn content<'a>(&self, line: &'a str) -> &'a str {
        let rest = line.get(known_length(line)..).unwrap_or("");
        let rest = if is_like(rest, &self.prefix) { rest.get(self.prefix.len()..).unwrap_or("") } else { rest };
        rest.trim_start()
    }

    /// The length of a number with two spaces or a tab after it, as `cat -n` and `nl` write it, if the line before began with the previous
    /// number.
    fn counted_length(&mut self, line: &str) -> usize {
        let content = line.trim_start_matches(' ');
        let count = digits(content);
        let number = content.get(..count).and_then(|number| number.parse::<u64>().ok());
        let is_alone =
            content.get(count..).is_some_and(|rest| rest.starts_with(['\t', '\n']) || rest.starts_with("  "));
        let before = core::mem::replace(&mut self.number, number.filter(|_| is_alone));
        let is_next = self.number.is_some_and(|number| number == before.map_or(1, |before| before.saturating_add(1)));
        if is_next { line.len() - content.len() + count } else { 0 }
    }

    /// The length of what comes before the content of a line, without the white space after it.
    fn prefix_length(&mut self, line: &str) -> usize {
        let mut length = known_length(line);
        let rest = line.get(length..).unwrap_or("");
        if !self.prefix.is_empty() && is_like(rest, &self.prefix) {
            length += self.prefix.len();
            let rest = line.get(length..).unwrap_or("");
            return length + known_length(rest);
        }
        let at = BEGINNINGS.iter().filter_map(|words| memmem::find(rest.as_bytes(), words.as_bytes())).min();
        if let Some(at) = at.filter(|&at| at <= LONGEST) {
            let before = rest.get(..at).unwrap_or("");
            self.prefix = if before.trim().is_empty() { String::new() } else { before.into() };
        }
        length
    }

    /// The prefix of the last line that began a list; empty if it had none.
    pub(super) fn prefix(&self) -> &str {
        &self.prefix
    }
}

/// Whether a line begins with a prefix, in which digits may differ.
fn is_like(line: &str, prefix: &str) -> bool {
    let same = |(a, b): (u8, u8)| a == b || (a.is_ascii_digit() && b.is_ascii_digit());
    line.len() >= prefix.len() && line.is_char_boundary(prefix.len()) && line.bytes().zip(prefix.bytes()).all(same)
}

/// Replaces the sequences that colour a terminal's text.
fn without_colours(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for start in memchr_iter(b'\x1b', text.as_bytes()) {
        let rest = text.as_bytes().get(start..).unwrap_or(&[]);
        // ECMA-48: `ESC [`, parameters, and a letter.
        let parameters = rest.iter().skip(2).take_while(|byte| matches!(byte, b'0'..=b'?')).count();
        let length = if rest.get(1) == Some(&b'[') { parameters + 3 } else { 1 };
        let is_ascii = rest.get(..length).is_some_and(<[u8]>::is_ascii);
        if let Some(sequence) = bytes.get_mut(start..start + if is_ascii { length } else { 1 }) {
            sequence.fill(b' ');
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.into())
}

/// Replaces the escapes of JSON and Python: a line break, a tab, quotes and a backslash.
fn without_escapes(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut position = 0_usize;
    while let Some(length) = memchr(b'\\', text.as_bytes().get(position..).unwrap_or(&[])) {
        let start = position + length;
        let replacement = match text.as_bytes().get(start + 1) {
            Some(b'n') => Some(*b" \n"),
            Some(b't' | b'r') => Some(*b"  "),
            // The quote comes first, so that it directly follows the text before it. The space keeps the length.
            Some(b'"') => Some(*b"\" "),
            Some(b'\'') => Some(*b"' "),
            Some(b'\\') => Some(*b" \\"),
            _ => None,
        };
        if let (Some(replacement), Some(pair)) = (replacement, bytes.get_mut(start..start + 2)) {
            pair.copy_from_slice(&replacement);
        }
        position = start + 2;
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.into())
}

/// The length of all known prefixes of a line.
pub(super) fn known_length(line: &str) -> usize {
    let mut length = 0_usize;
    // A line has a few prefixes at most: a launcher's, a logger's, a quote.
    for _ in 0..12 {
        let rest = line.get(length..).unwrap_or("");
        let content = rest.trim_start_matches([' ', '\t']);
        let blank = rest.len() - content.len();
        let Some(found) = one_prefix(content).filter(|&found| found > 0 && found <= LONGEST) else { break };
        length += blank + found;
    }
    length
}

/// The length of the prefix that a text begins with.
fn one_prefix(text: &str) -> Option<usize> {
    let first = *text.as_bytes().first()?;
    match first {
        b'>' => Some(text.bytes().take_while(|byte| *byte == b'>').count()).filter(|&end| ends_word(text, end)),
        b'(' => process(text),
        b'[' => label(text),
        b'|' => Some(1).filter(|&end| ends_word(text, end)),
        b'0'..=b'9' | b'T' => time(text).or_else(|| position(text)).or_else(|| numbered(text)),
        b'-' => python_logger(text),
        b'#' => error_of_workflow(text).or_else(|| {
            Some(text.bytes().take_while(|byte| *byte == b'#').count()).filter(|&end| ends_word(text, end))
        }),
        b'+' => Some(1),
        b'A'..=b'Z' | b'a'..=b'z' | b'/' | b'.' | b'_' => month(text)
            .or_else(|| level(text))
            .or_else(|| absl(text))
            .or_else(|| position(text))
            .or_else(|| found_line(text))
            .or_else(|| loguru(text))
            .or_else(|| service(text)),
        _ => None,
    }
}

/// Whether a word ends at a place: a space or the end of the line follows.
pub(super) fn ends_word(text: &str, at: usize) -> bool {
    text.as_bytes().get(at).is_none_or(u8::is_ascii_whitespace)
}

pub(super) fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// `(EngineCore_DP0 pid=106339)`, `(RayWorkerWrapper pid=1, ip=10.0.0.2)`, `(VllmWorker rank=0 pid=225)`.
pub(super) fn process(text: &str) -> Option<usize> {
    let (inside, _) = text.get(1..)?.split_once(')')?;
    let is_one = inside.len() <= LONGEST && ["pid=", "rank=", "ip="].iter().any(|key| inside.contains(key));
    is_one.then(|| inside.len() + 2)
}

/// `[worker-0]`, `[rank0]:`, `[0]:`, `[1,0]<stderr>:`, `[2025-03-21 10:57:56]`, `[core.py:1184]`.
fn label(text: &str) -> Option<usize> {
    let (inside, after) = text.get(1..)?.split_once(']')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_./:, =+".contains(c);
    if inside.is_empty() || inside.len() > 80 || !inside.chars().all(is_name) {
        return None;
    }
    let end = inside.len() + 2;
    if let Some((stream, after)) = after.strip_prefix('<').and_then(|after| after.split_once('>')) {
        let colon = usize::from(after.starts_with(':'));
        return Some((end + stream.len() + 2) + colon).filter(|_| stream.starts_with("std"));
    }
    let end = end + usize::from(after.starts_with(':'));
    // `[8, 128]` and `[8]` are sizes.
    let is_sizes = inside.chars().all(|c| c.is_ascii_digit() || c == ',' || c == ' ');
    (ends_word(text, end) && (!is_sizes || after.starts_with(':'))).then_some(end)
}

/// `2025-03-21 10:57:56.764856:`, `2025-03-21T10:57:56.764856Z stderr F`, `06-03 07:41:11`, `10:57:56.764856`.
pub(super) fn time(text: &str) -> Option<usize> {
    let date = text.bytes().take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'/')).count();
    let date_text = text.get(..date)?;
    let is_date = date >= 5 && date_text.contains(['-', '/']);
    let start = if is_date && text.as_bytes().get(date).is_some_and(|byte| matches!(byte, b' ' | b'T')) {
        date + 1
    } else if is_date {
        return None;
    } else {
        0
    };
    let clock = text.get(start..)?;
    let length = clock.bytes().take_while(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.' | b',')).count();
    let written = clock.get(..length)?.trim_end_matches([':', '.', ',']);
    let parts = written.split(':').map(digits).collect::<Vec<_>>();
    let [hours, minutes, seconds] = parts.as_slice() else { return None };
    if *hours == 0 || *hours > 2 || *minutes != 2 || *seconds < 2 {
        return None;
    }
    let mut end = start + length;
    let zone = text.get(end..)?;
    if zone.starts_with('Z') {
        end += 1;
    } else if is_date && zone.starts_with(['+', '-']) {
        let zone = zone.bytes().skip(1).take_while(|byte| byte.is_ascii_digit() || *byte == b':').count();
        end += zone + 1;
    }
    // What Kubernetes puts after the time: the stream, and whether the line is full.
    let after = text.get(end..)?;
    for stream in [" stdout F", " stderr F", " stdout P", " stderr P"] {
        if after.starts_with(stream) {
            return Some(end + stream.len());
        }
    }
    ends_word(text, end).then_some(end)
}

/// `Mar 21 10:57:56 host program[123]:`, as journald and syslog write it.
fn month(text: &str) -> Option<usize> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = text.get(..3).filter(|name| MONTHS.contains(name))?;
    let after = text.get(month.len()..)?;
    let day = after.trim_start();
    let count = digits(day);
    let clock = day.get(count..)?.strip_prefix(' ').filter(|_| (1..=2).contains(&count))?;
    let length = time(clock)?;
    let host = clock.get(length..)?.strip_prefix(' ')?;
    let (host_name, program) = host.split_once(' ')?;
    let (program, _) = program.split_once(": ").or_else(|| program.split_once(':'))?;
    let is_program = !program.contains(' ') && program.ends_with(']') && !host_name.is_empty();
    let end = text.len() - host.len();
    let program = host_name.len() + program.len() + 2;
    is_program.then(|| end + program)
}

/// `ERROR`, `WARNING:root:`, `INFO:`.
fn level(text: &str) -> Option<usize> {
    const LEVELS: [&str; 8] = ["ERROR", "WARNING", "WARN", "INFO", "DEBUG", "CRITICAL", "FATAL", "TRACE"];
    let length = text.bytes().take_while(u8::is_ascii_uppercase).count();
    let name = text.get(..length).filter(|name| LEVELS.contains(name))?;
    let after = text.get(name.len()..)?;
    let Some(rest) = after.strip_prefix(':') else { return ends_word(text, length).then_some(length) };
    let logger = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_')).count();
    let is_logger = logger > 0 && rest.as_bytes().get(logger) == Some(&b':');
    let end = length + 1;
    Some(if is_logger { end + logger + 1 } else { end })
}

/// `I0321 10:57:56.764856 1234 file.cc:39]`, or after a time `I file.cc:39]` and `E    1578 file.cc:76]`.
fn absl(text: &str) -> Option<usize> {
    let (letter, rest) = text.split_at_checked(1).filter(|(letter, _)| "IWEF".contains(letter))?;
    let day = digits(rest);
    let rest = rest.get(day..).filter(|_| day == 0 || day == 4 || day == 8)?;
    let content = rest.trim_start();
    if content.len() == rest.len() {
        return None;
    }
    let at = |content: &str| text.len() - content.len();
    if let Some(length) = time(content).filter(|_| day > 0) {
        let after = content.get(length..)?.trim_start();
        let start = at(after);
        return Some(position(after).map_or(start, |length| start + length));
    }
    let length = position(content)?;
    Some(at(content) + length).filter(|_| !letter.is_empty())
}

/// `external/xla/xla/service/a.cc:39]`, with the number of a thread before it or without.
fn position(text: &str) -> Option<usize> {
    let thread = digits(text);
    let rest = text.get(thread..)?;
    let file = rest.trim_start();
    if thread > 0 && file.len() == rest.len() {
        return None;
    }
    let length = file.bytes().take_while(|byte| byte.is_ascii_graphic() && *byte != b']').count();
    let (_, line) = file.get(..length)?.rsplit_once(':')?;
    let is_one = !line.is_empty() && digits(line) == line.len() && file.as_bytes().get(length) == Some(&b']');
    let end = text.len() - file.len() + length + 1;
    (is_one && ends_word(text, end)).then_some(end)
}

/// `3: ` of Slurm, and `12 | ` of a listing with line numbers.
fn numbered(text: &str) -> Option<usize> {
    let count = digits(text);
    let rest = text.get(count..).filter(|_| (1..=6).contains(&count))?;
    if rest.starts_with(": ") {
        return Some(count + 1);
    }
    let bar = rest.trim_start_matches(' ');
    (bar.starts_with('|') && bar.len() < rest.len())
        .then(|| text.len() - bar.len() + 1)
        .filter(|&end| ends_word(text, end))
}

/// `- root - ERROR -`, as Python's loggers write it after a time.
fn python_logger(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("- ")?;
    let (name, after) = rest.split_once(" - ").filter(|(name, _)| !name.is_empty() && !name.contains(' '))?;
    let end = text.len() - after.len();
    if level(name).is_some() {
        return Some(end);
    }
    let (level_name, after) = after.split_once(" - ")?;
    (level(level_name) == Some(level_name.len())).then(|| text.len() - after.len())
}

/// `##[error]`, as GitHub's workflows write it.
fn error_of_workflow(text: &str) -> Option<usize> {
    let (kind, _) = text.strip_prefix("##[")?.split_once(']')?;
    kind.bytes().all(|byte| byte.is_ascii_lowercase()).then(|| kind.len() + 4)
}

/// `log.txt:101:`, as grep writes it.
fn found_line(text: &str) -> Option<usize> {
    let length = text.bytes().take_while(|byte| byte.is_ascii_graphic() && *byte != b':').count();
    let (file, rest) = text.split_at_checked(length).filter(|(file, _)| file.contains('.'))?;
    let rest = rest.strip_prefix(':')?;
    let line = digits(rest);
    (line > 0 && rest.as_bytes().get(line) == Some(&b':')).then(|| file.len() + line + 2)
}

/// `module:function:42 - `, as Loguru writes it after a level.
fn loguru(text: &str) -> Option<usize> {
    let (place, _) = text.split_once(" - ")?;
    let (_, line) = place.rsplit_once(':').filter(|_| !place.contains(' ') && place.matches(':').count() == 2)?;
    (!line.is_empty() && digits(line) == line.len()).then(|| place.len() + 2)
}

/// `worker-0-1  | `, as Docker writes it.
pub(super) fn service(text: &str) -> Option<usize> {
    let length =
        text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')).count();
    let name =
        text.get(..length).filter(|name| name.contains(['-', '_']) || name.contains(|c: char| c.is_ascii_digit()))?;
    let rest = text.get(name.len()..)?;
    let bar = rest.trim_start_matches(' ');
    (bar.len() < rest.len() && bar.starts_with('|'))
        .then(|| text.len() - bar.len() + 1)
        .filter(|&end| ends_word(text, end))
}

#[cfg(test)]
mod tests {
    use super::LogLines;
    use alloc::format;

    const PREFIXES: [&str; 24] = [
        "(EngineCore_DP0 pid=106339) ERROR 06-03 07:41:11 [core.py:1184] ",
        "(EngineCore pid=7) ",
        "(RayWorkerWrapper pid=812, ip=10.0.0.2) ",
        "(VllmWorker rank=0 pid=225) ERROR 06-17 19:23:59 [multiproc_executor.py:527] ",
        "I0321 10:57:56.764856    1234 hlo_dumper.cc:39] ",
        "E20250321 10:57:56.764856 12345 hlo_dumper.cc:39] ",
        "2025-03-21 10:57:56.764856: I external/xla/xla/service/hlo_dumper.cc:39] ",
        "2020-05-04 09:05:40.719332: E    1578 tensorflow/compiler/xla_util.cc:76] ",
        "[worker-0] ",
        "[rank0]: ",
        "[0]: ",
        "[1,0]<stderr>: ",
        "2025-03-21T10:57:56.764856789Z stderr F ",
        "2025-03-21T10:57:56.7648567Z ",
        "2025-03-21 10:57:56,764 - root - ERROR - ",
        "Mar 21 10:57:56 t1v-n-3ad0 python3[1234]: ",
        "[2025-03-21 10:57:56] ",
        "> ",
        ">> ",
        "> > ",
        "worker-1  | ",
        "3: ",
        "ERROR:root:",
        "\x1b[31m\x1b[1mE\x1b[0m 10:57:56 ",
    ];

    #[test]
    fn prefixes_are_replaced_and_places_remain() {
        let contents = [
            "  1. Size: 2.00G",
            "Shape: f32[8,128]{1,0:T(8,128)}",
            "Used 1.00M of 1.00M smem.",
            "}",
            "  %a = f32[2]{0} parameter(0)",
            "HLO temp  3.93G (97.4% utilization)",
            "INTERNAL: Mosaic failed",
        ];
        for prefix in PREFIXES {
            for content in contents {
                let line = format!("{prefix}{content}");
                let found = LogLines::default().unwrap(&line).into_owned();
                let rest = found.trim_start_matches("E ").trim();
                assert!(rest == content.trim() || prefix.starts_with('\x1b'), "{line}: {found}");
                assert_eq!(
                    (found.len(), found.find(content.trim())),
                    (line.len(), line.find(content.trim())),
                    "{line}"
                );
            }
        }
    }

    #[test]
    fn content_without_a_prefix_stays() {
        for line in [
            "",
            "[8, 128] and [16]",
            "HloModule m, entry_computation_layout={(f32[2]{0})->f32[2]{0}}",
            "  ROOT %copy = f32[10,1,10]{2,1,0} copy(%Arg_0.1.0)",
            "%main.2 (a: f32[8]) -> f32[8] {",
            "1. Size: 2.00G",
            "1 \"a.py\"",
            "(f32[2], s32[]) tuple",
            "Error loading program 'jit_step': Attempting",
            "reserved           4.0K",
            "10:20 is no time of a log",
            "2025-03 is a month",
            "Shape: f32[2]",
            "é",
            "[é]",
            "(é pid=1",
        ] {
            assert_eq!(LogLines::default().unwrap(line), line);
        }
    }

    #[test]
    fn an_unknown_prefix_is_that_of_the_first_line() {
        let mut lines = LogLines::default();
        let first = "host7 step 12 · Program hbm requirement 4.34G:";
        assert_eq!(lines.unwrap(first), first);
        assert_eq!(lines.unwrap("host7 step 13 ·     reserved 4.0K").trim(), "reserved 4.0K");
        let other = "host8 says · something";
        assert_eq!(lines.unwrap(other), other);
    }

    #[test]
    fn escapes_become_lines() {
        let mut lines = LogLines::default();
        let found = lines.unwrap(r#"{"log": "a \"b\"\n> 1. Size: 2K\n"}"#).into_owned();
        assert_eq!(found, "{\"log\": \"a \" b\"  \n  1. Size: 2K \n\"}");
        assert_eq!(lines.unwrap(r"no escape: \d"), r"no escape: \d");
    }
}
