//! Text for people, built line by line.

use std::borrow::Cow;
use std::fmt::{self, Display, Write as _};
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};
use xla_shape_answers::is_control;

/// Text for people: lines, some of which are headings.
///
/// [`Display`] writes the lines. A terminal may show headings in bold, and a page as headings of its own.
///
/// ```
/// use xla_shape_render::Text;
///
/// let mut text = Text::new(20);
/// text.heading("Size");
/// text.paragraph("  A paragraph that does not fit.");
/// assert_eq!(text.to_string(), "Size\n  A paragraph that\n  does not fit.\n");
/// assert!(text.lines().any(|(is_heading, line)| is_heading && line == "Size"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Text {
    text: String,
    /// The numbers of the lines that are headings, in order.
    headings: Vec<usize>,
    lines: usize,
    width: usize,
}

impl Text {
    /// Text without lines. Paragraphs are wrapped into lines of at most `width` characters.
    ///
    /// ```
    /// assert_eq!(xla_shape_render::Text::new(80).to_string(), "");
    /// ```
    #[must_use]
    pub const fn new(width: usize) -> Self {
        Self { text: String::new(), headings: Vec::new(), lines: 0, width }
    }

    /// The most characters that a line of a paragraph has, unless a word is longer.
    ///
    /// ```
    /// assert_eq!(xla_shape_render::Text::new(80).width(), 80);
    /// ```
    #[must_use]
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Adds a heading, wrapped. An empty line comes before it, unless it is the first line.
    ///
    /// ```
    /// let mut text = xla_shape_render::Text::new(80);
    /// text.heading("Size");
    /// text.heading("Order");
    /// assert_eq!(text.to_string(), "Size\n\nOrder\n");
    /// ```
    pub fn heading(&mut self, text: &str) {
        if self.lines > 0 {
            self.verbatim("");
        }
        let first = self.lines;
        self.hanging("", text);
        self.headings.extend(first..self.lines);
    }

    /// Adds a paragraph, wrapped. All its lines begin in the column where the first one begins.
    ///
    /// ```
    /// let mut text = xla_shape_render::Text::new(12);
    /// text.paragraph("  two lines here");
    /// assert_eq!(text.to_string(), "  two lines\n  here\n");
    /// ```
    pub fn paragraph(&mut self, text: impl Display) {
        self.hanging("", &text.to_string());
    }

    /// Adds one or more lines that are not wrapped.
    ///
    /// ```
    /// let mut text = xla_shape_render::Text::new(4);
    /// text.verbatim("longer than four");
    /// assert_eq!(text.to_string(), "longer than four\n");
    /// ```
    pub fn verbatim(&mut self, text: impl Display) {
        // Writing to a `String` does not fail.
        let _ = writeln!(self, "{text}");
    }

    /// Adds a line that may have escape codes for a terminal. The caller passes text from files through [`harmless`] first.
    pub(crate) fn coloured_line(&mut self, line: &str) {
        self.lines += 1;
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Adds a paragraph with `first` before its first line; the other lines are indented by the width of `first`.
    ///
    /// ```
    /// let mut text = xla_shape_render::Text::new(12);
    /// text.hanging("1. ", "wrapped text");
    /// assert_eq!(text.to_string(), "1. wrapped\n   text\n");
    /// ```
    pub fn hanging(&mut self, first: &str, text: &str) {
        let words = text.trim_start();
        let indent = " ".repeat(text.len() - words.len());
        let initial = format!("{first}{indent}");
        let rest = " ".repeat(initial.chars().count());
        let options = Options::new(self.width)
            .initial_indent(&initial)
            .subsequent_indent(&rest)
            .break_words(false)
            .word_separator(WordSeparator::AsciiSpace)
            .word_splitter(WordSplitter::NoHyphenation)
            .wrap_algorithm(WrapAlgorithm::FirstFit);
        for line in textwrap::wrap(words, options) {
            self.verbatim(line.trim_end());
        }
    }

    /// Adds a row of a table, with a remark after its columns. A remark that does not fit into the line begins the next one.
    ///
    /// ```
    /// let mut text = xla_shape_render::Text::new(24);
    /// text.row("  1 KiB", "no padding");
    /// text.row("  4 KiB", "3 KiB of it is padding");
    /// assert_eq!(text.to_string(), "  1 KiB  no padding\n  4 KiB\n      3 KiB of it is\n      padding\n");
    /// ```
    pub fn row(&mut self, columns: &str, remark: &str) {
        let line = format!("{columns}  {remark}");
        if line.chars().count() <= self.width {
            return self.verbatim(line.trim_end());
        }
        self.verbatim(columns.trim_end());
        self.hanging("      ", remark);
    }

    /// Adds rows of two columns. A text in the second column may have several lines.
    ///
    /// ```
    /// let mut text = xla_shape_render::Text::new(80);
    /// text.columns(&[("a".to_owned(), "one".to_owned()), ("long".to_owned(), "two\nthree".to_owned())]);
    /// assert_eq!(text.to_string(), "  a     one\n  long  two\n        three\n");
    /// ```
    pub fn columns(&mut self, rows: &[(String, String)]) {
        const WIDEST: usize = 24;
        let width = rows.iter().map(|(first, _)| first.chars().count()).filter(|&width| width <= WIDEST).max();
        let width = width.unwrap_or(0);
        for (first, second) in rows {
            let mut first = first.as_str();
            // A very long entry gets a line above its text, so that the other rows keep their columns.
            if first.chars().count() > width {
                self.verbatim(format_args!("  {first}"));
                first = "";
            }
            for line in second.lines() {
                self.hanging(&format!("  {first:width$}  "), line);
                first = "";
            }
        }
    }

    /// The lines, each with whether it is a heading.
    ///
    /// ```
    /// let mut text = xla_shape_render::Text::new(80);
    /// text.heading("Size");
    /// text.paragraph("4 KiB");
    /// assert!(text.lines().eq([(true, "Size"), (false, "4 KiB")]));
    /// ```
    pub fn lines(&self) -> impl Iterator<Item = (bool, &str)> {
        let mut headings = self.headings.iter().copied().peekable();
        self.text.lines().enumerate().map(move |(number, line)| (headings.next_if_eq(&number).is_some(), line))
    }
}

impl Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.lines += text.matches('\n').count();
        self.text.push_str(&harmless(text));
        Ok(())
    }
}

/// The text with control characters escaped, so that a name in a file cannot move the terminal's cursor, rename its window or
/// reverse the order of letters. Newlines and tabs stay.
///
/// ```
/// assert_eq!(xla_shape_render::harmless("a\u{1b}[2Jb\n"), "a\\u{1b}[2Jb\n");
/// ```
#[must_use]
pub fn harmless(text: &str) -> Cow<'_, str> {
    without_controls(text, |_| None)
}

/// Like [`harmless`], but keeps the codes for colours that compilers write: `ESC [`, numbers separated by `;` or `:`, and `m`
/// (ECMA-48, Select Graphic Rendition).
///
/// ```
/// use xla_shape_render::harmless_but_colours;
///
/// let text = "\u{1b}[1;31merror\u{1b}[0m\u{1b}[2J\u{1b}]0;title\u{7}";
/// assert_eq!(harmless_but_colours(text), "\u{1b}[1;31merror\u{1b}[0m\\u{1b}[2J\\u{1b}]0;title\\u{7}");
/// ```
#[must_use]
pub fn harmless_but_colours(text: &str) -> Cow<'_, str> {
    without_controls(text, |rest| {
        let numbers = rest.strip_prefix("\u{1b}[")?;
        let end = numbers.find(|c: char| !c.is_ascii_digit() && !matches!(c, ';' | ':'))?;
        numbers.get(end..)?.starts_with('m').then_some("\u{1b}[".len() + end + "m".len())
    })
}

/// Escapes control characters. `stays` is called with the rest of the text from each control character on, and returns how many
/// bytes of it are kept as they are, if any.
fn without_controls(text: &str, stays: impl Fn(&str) -> Option<usize>) -> Cow<'_, str> {
    let controls = |c: char| is_control(c) && !matches!(c, '\n' | '\t');
    if !text.contains(controls) {
        return Cow::Borrowed(text);
    }
    let mut harmless = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, control)) = rest.find(controls).and_then(|at| rest.split_at_checked(at)) {
        harmless.push_str(before);
        let mut tail = control.chars();
        let first = tail.next();
        if let Some((kept, after)) = stays(control).and_then(|length| control.split_at_checked(length)) {
            harmless.push_str(kept);
            rest = after;
        } else {
            harmless.extend(first.into_iter().flat_map(char::escape_default));
            rest = tail.as_str();
        }
    }
    harmless.push_str(rest);
    Cow::Owned(harmless)
}
