//! HLO text: reading it and printing it.

pub(crate) mod cursor;
mod parse;
mod print;

pub use parse::utf8;

/// Whether a text is braces in which only braces and strings count, from its beginning to its end.
#[cfg(feature = "proto")]
pub(crate) fn is_free_braces(text: &str) -> bool {
    text.starts_with('{') && cursor::Cursor::new(text, 0).free_value() == Ok(text.len())
}
