//! Text that grows line by line.

use std::borrow::Cow;
use std::fmt::{self, Display, Write as _};
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// Text for people: lines, some of which are headings.
///
/// [`Display`] gives the lines as they are. A terminal may show headings in bold, a page as headings of its own.
///
/// ```
/// use xla_shape_render::Text;
///
/// let mut text = Text::new(20);
/// text.heading("Size");
/// text.line("  A paragraph that does not fit.");
/// assert_eq!(text.to_string(), "\nSize\n  A paragraph that\n  does not fit.\n");
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
    /// Text without lines. Paragraphs are cut into lines of at most `width` characters.
    #[must_use]
    pub const fn new(width: usize) -> Self {
        Self { text: String::new(), headings: Vec::new(), lines: 0, width }
    }

    /// The most characters that a line of a paragraph has, unless a word is longer.
    #[must_use]
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Adds an empty line and a heading.
    pub fn heading(&mut self, text: &str) {
        self.uncut("");
        self.headings.push(self.lines);
        self.uncut(text);
    }

    /// Adds a paragraph. All its lines begin in the column where the first one begins.
    pub fn line(&mut self, text: impl Display) {
        self.wrapped("", &text.to_string());
    }

    /// Adds one or more lines that stay as they are.
    pub fn uncut(&mut self, text: impl Display) {
        // Writing to memory does not fail.
        let _ = writeln!(self, "{text}");
    }

    /// Adds a line that may have codes for a terminal: nothing of a stranger's may be in it that is not [`harmless`].
    pub(crate) fn painted(&mut self, line: &str) {
        self.lines += 1;
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Adds a paragraph after some first characters.
    pub fn wrapped(&mut self, first: &str, text: &str) {
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
            self.uncut(line.trim_end());
        }
    }

    /// Adds rows of two columns. The second one may have several lines.
    pub fn columns(&mut self, rows: &[(String, String)]) {
        const WIDEST: usize = 24;
        let width = rows.iter().map(|(first, _)| first.chars().count()).filter(|&width| width <= WIDEST).max();
        let width = width.unwrap_or(0);
        for (first, second) in rows {
            let mut first = first.as_str();
            if first.chars().count() > width {
                self.uncut(format_args!("  {first}"));
                first = "";
            }
            for line in second.lines() {
                self.wrapped(&format!("  {first:width$}  "), line);
                first = "";
            }
        }
    }

    /// The lines, each with whether it is a heading.
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

/// The text with what would control a terminal made visible: a stranger's names must not move its cursor, rename its window, or
/// turn the order of letters around.
/// Lines and tabs stay.
#[must_use]
pub fn harmless(text: &str) -> Cow<'_, str> {
    let controls = |c: char| is_control(c) && !matches!(c, '\n' | '\t');
    if !text.contains(controls) {
        return Cow::Borrowed(text);
    }
    let mut harmless = String::with_capacity(text.len());
    for c in text.chars() {
        match controls(c) {
            true => harmless.extend(c.escape_default()),
            false => harmless.push(c),
        }
    }
    Cow::Owned(harmless)
}

/// Whether a character controls a terminal, or the direction of what stands behind it.
pub(crate) fn is_control(c: char) -> bool {
    let turns =
        |c| matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns(c)
}
