//! What the errors for unknown names of targets say.

use core::fmt::{Display, Formatter, Result};

/// Says which names there are, which one was found, and which ones may be meant: `expected a GPU: h100, …; found `v100`; did you mean
/// `v100-16` or `v100-32`?`
pub(super) fn write_unknown<T: Display>(
    f: &mut Formatter<'_>,
    what: &str,
    all: &[T],
    found: &str,
    meant: impl Iterator<Item: Display>,
) -> Result {
    write!(f, "expected {what}: ")?;
    for (number, target) in all.iter().enumerate() {
        let separator = if number == 0 { "" } else { ", " };
        write!(f, "{separator}{target}")?;
    }
    write!(f, "; found `{}`", found.escape_debug())?;
    let mut meant = meant.enumerate().peekable();
    while let Some((number, target)) = meant.next() {
        let is_last = meant.peek().is_none();
        let separator = match number {
            0 => "; did you mean",
            _ if is_last => " or",
            _ => ",",
        };
        let end = if is_last { "?" } else { "" };
        write!(f, "{separator} `{target}`{end}")?;
    }
    Ok(())
}
