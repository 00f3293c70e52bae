//! The TPU that an answer is about, and what a shape takes there.

use crate::words::{Bytes, Factor};
use std::fmt::Display;

/// The name of the TPU that an answer is about, with a note if the user did not name it.
pub(crate) fn named(generation: impl Display, assumed: bool) -> String {
    let note = if assumed { " (--for names another generation)" } else { "" };
    format!("TPU {generation}{note}")
}

/// The bytes of a shape, and their ratio to the bytes of its elements.
pub(crate) fn cost(bytes: Option<u64>, expansion: Option<f64>) -> String {
    match (bytes, expansion) {
        (Some(bytes), Some(expansion)) if expansion > 1.0 => {
            format!("{}, {} what its elements need", Bytes(bytes), Factor(expansion))
        }
        (Some(bytes), _) => Bytes(bytes).to_string(),
        (None, _) => "more bytes than fit in an i64".to_owned(),
    }
}
