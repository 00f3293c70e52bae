//! HLO inside another text: a log, a Markdown page, a string in C++ or Python.

use super::wrapping::LogLines;
use alloc::string::String;

/// The longest line, in bytes, that can open a string whose content, the module, begins on the next line.
const LONGEST_BEGINNING: usize = 1000;

/// The text of the first HLO module in a log, a Markdown page or a program; `None` if there is none.
///
/// Each byte keeps its place in its line, and each line its number, because everything around the module becomes white space.
///
/// ```
/// use xla_shape_hlo::{Module, program_text};
///
/// let page = "# A page\n\n```hlo\nHloModule m\nENTRY e { ROOT p = f32[2]{0} parameter(0) }\n```\n";
/// let text = program_text(page).unwrap();
/// assert_eq!(Module::parse(&text)?.name(), Some("m"));
/// assert_eq!(text.find("HloModule"), page.find("HloModule"));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[must_use]
pub fn program_text(text: &str) -> Option<String> {
    let mut lines = LogLines::default();
    let mut result = String::new();
    // A large text can leave no memory for a copy.
    result.try_reserve_exact(text.len()).ok()?;
    let mut end: Option<End> = None;
    let (mut is_over, mut depth_closed) = (false, false);
    let (mut is_open, mut has_header) = (false, false);
    // The last line before the module that is not blank: a string can begin there.
    let mut previous = String::new();
    for wrapped in text.split_inclusive('\n') {
        let unwrapped = lines.unwrap(wrapped);
        for line in unwrapped.split_inclusive('\n') {
            let mut line = line;
            let mut before = 0_usize;
            match &end {
                None => {
                    let Some(at) = begins(line) else {
                        push_blank(&mut result, line);
                        if !line.trim().is_empty() {
                            previous.clear();
                            // The line may begin a string. Lines that do are short, so a long line is not copied: there may not be enough memory for
                            // it.
                            previous.push_str(if line.len() <= LONGEST_BEGINNING { line } else { "" });
                        }
                        continue;
                    };
                    let before = line.get(..at).unwrap_or("");
                    end = Some(match before.trim().is_empty() {
                        true => End { quote: None, ..End::new(&previous, "") },
                        false => End::new(before, lines.prefix()),
                    });
                    push_blank(&mut result, line.get(..at).unwrap_or(""));
                    line = line.get(at..).unwrap_or("");
                }
                Some(_) if is_over => {
                    push_blank(&mut result, line);
                    continue;
                }
                Some(end) => before = end.quote_before(line),
            }
            let Some(end) = &end else { continue };
            let content = line.get(before..).unwrap_or("");
            let is_other = has_header && depth_closed && begins(content) == Some(0);
            if end.is_reached(content) || is_other || (depth_closed && !is_open && !can_follow(content)) {
                is_over = true;
                // The line with the end can also have the last words of the module.
                let last = end.content_before(content).unwrap_or(0);
                push_blank(&mut result, line.get(..before).unwrap_or(""));
                result.push_str(content.get(..last).unwrap_or(""));
                push_blank(&mut result, content.get(last..).unwrap_or(""));
                continue;
            }
            let bare = content.trim();
            if bare.ends_with('{') {
                is_open = true;
            } else if bare == "}" || (bare.ends_with('}') && bare.starts_with("ENTRY")) {
                is_open = false;
                depth_closed = true;
            }
            push_blank(&mut result, line.get(..before).unwrap_or(""));
            has_header |= content.contains("HloModule");
            result.push_str(content);
        }
    }
    end.map(|_| result)
}

/// Where a module begins in a line.
fn begins(line: &str) -> Option<usize> {
    let at = line.find("HloModule ")?;
    let before = line.get(..at)?;
    // The word can be part of a sentence. In a module, its name comes next, and then a comma or the end of the line.
    let name = line.get(at..)?.trim_end().strip_prefix("HloModule ")?;
    let name_end = name.find([',', ' ', '\n']).unwrap_or(name.len());
    let is_alone = name_end == name.len() || name.as_bytes().get(name_end) == Some(&b',');
    let is_header = is_alone || name.contains("entry_computation_layout") || name.contains("is_scheduled");
    (is_header && !before.ends_with(|c: char| c.is_alphanumeric())).then_some(at)
}

/// How a module inside another text ends.
struct End {
    /// The end of a fence or of a string.
    words: Option<String>,
    /// The quote before each line, if each line is a string.
    quote: Option<char>,
}

impl End {
    /// The end that matches the opening quote or fence in `before`, the text before the module; `prefix` is what a logger writes before each line.
    fn new(before: &str, prefix: &str) -> Self {
        let before = before.trim();
        // `R"hlo(` ends with `)hlo"`.
        let raw = before.strip_suffix('(').and_then(|before| before.rsplit_once("R\""));
        let words = raw.map(|(_, delimiter)| [")", delimiter, "\""].concat());
        let words = words.or_else(|| {
            ["\"\"\"", "'''", "```"].iter().find(|quote| before.ends_with(**quote)).map(|quote| String::from(*quote))
        });
        let quote = if words.is_none() && before.ends_with('"') && !prefix.ends_with(':') { Some('"') } else { None };
        Self { words, quote }
    }

    fn is_reached(&self, line: &str) -> bool {
        let bare = line.trim_start();
        bare.starts_with("```")
            || bare.starts_with("~~~")
            || self.words.as_ref().is_some_and(|words| line.contains(words.as_str()))
    }

    /// How much of the last line belongs to the module.
    fn content_before(&self, line: &str) -> Option<usize> {
        line.find(self.words.as_ref()?.as_str())
    }

    /// The length of the quote before a line.
    fn quote_before(&self, line: &str) -> usize {
        let bare = line.trim_start();
        match self.quote {
            Some(quote) if bare.starts_with(quote) => line.len() - bare.len() + 1,
            _ => 0,
        }
    }
}

/// Whether a line outside of the computations of a module can belong to it.
fn can_follow(line: &str) -> bool {
    let bare = line.trim();
    bare.is_empty()
        || bare.ends_with('{')
        || bare.starts_with("//")
        || bare.starts_with("/*")
        || bare.starts_with(|c: char| c.is_ascii_digit())
        || ["FileNames", "FunctionNames", "FileLocations", "StackFrames", "ENTRY", "%"]
            .iter()
            .any(|words| bare.starts_with(words))
}

/// Adds as many spaces as the text has bytes. Line breaks stay.
fn push_blank(result: &mut String, text: &str) {
    result.extend(text.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
}
