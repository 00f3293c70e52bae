//! HLO text: the parser and the printer.

mod parse;
mod print;

pub use parse::utf8;

/// Whether the whole text is one pair of braces, where only braces and strings inside count.
#[cfg(feature = "proto")]
pub(crate) fn is_free_braces(text: &str) -> bool {
    text.starts_with('{') && crate::cursor::Cursor::new(text, 0).free_value() == Ok(text.len())
}
