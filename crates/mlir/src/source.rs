//! [`Source`]: a line of Python, as MLIR locations name it.

use core::fmt;

/// A place in a source file.
///
/// Equality compares the file and the line, and ignores the column.
///
/// ```
/// use xla_shape_mlir::Source;
///
/// let source = Source::find("copy :: loc(\"kernel.py\":41:21 to :27)").unwrap();
/// assert_eq!((source.file, source.line, source.column), ("kernel.py", 41, 21));
/// assert_eq!(source.to_string(), "kernel.py:41");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The path of the file, as the compiler wrote it.
    pub file: &'a str,
    /// The line, from 1.
    pub line: u64,
    /// The column, as the compiler counts it.
    pub column: u64,
}

impl<'a> Source<'a> {
    /// The first `"file":line:column` in a text.
    ///
    /// ```
    /// assert!(xla_shape_mlir::Source::find("loc(unknown)").is_none());
    /// ```
    #[must_use]
    pub fn find(text: &'a str) -> Option<Self> {
        let mut rest = text;
        loop {
            let (_, from) = rest.split_once('"')?;
            let (file, after) = from.split_once('"')?;
            if let Some(numbers) = after.strip_prefix(':')
                && let Some((line, numbers)) = number(numbers)
                && let Some((column, _)) = numbers.strip_prefix(':').and_then(number)
            {
                return Some(Self { file, line, column });
            }
            rest = after;
        }
    }
}

fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    Some((digits.parse().ok()?, rest))
}

impl PartialEq for Source<'_> {
    fn eq(&self, other: &Self) -> bool {
        (self.file, self.line) == (other.file, other.line)
    }
}

impl Eq for Source<'_> {}

impl PartialOrd for Source<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Source<'_> {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        (self.file, self.line).cmp(&(other.file, other.line))
    }
}

impl fmt::Display for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}
