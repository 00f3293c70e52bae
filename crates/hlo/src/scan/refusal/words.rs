//! Finding words, numbers and shapes in a message.

use crate::scan::spelling::find_spelled_shapes;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use xla_shape_core::{ArrayShape, Dimension, Shape};

/// The text after these words.
pub(super) fn after<'t>(text: &'t str, words: &str) -> Option<&'t str> {
    text.split_once(words).map(|(_, rest)| rest)
}

/// The text between two words.
pub(super) fn between<'t>(text: &'t str, first: &str, second: &str) -> Option<&'t str> {
    after(text, first)?.split_once(second).map(|(inside, _)| inside)
}

/// The number that a text begins with.
pub(super) fn number(text: &str) -> Option<u64> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.get(..end)?.parse().ok()
}

/// The number after these words.
pub(super) fn number_after(text: &str, words: &str) -> Option<u64> {
    number(after(text, words)?)
}

/// The beginning of a text up to a space or punctuation that ends a name.
pub(super) fn name(text: &str) -> Option<String> {
    let end = text.find(|c: char| c.is_whitespace() || "'\"`,;:)".contains(c)).unwrap_or(text.len());
    let name = text.get(..end)?.trim_end_matches('.');
    (!name.is_empty() && name.len() <= 200).then(|| name.to_string())
}

/// The name in these quotes at the beginning of a text.
pub(super) fn quoted(text: &str, quote: char) -> Option<String> {
    let (inside, _) = text.trim_start().strip_prefix(quote)?.split_once(quote)?;
    Some(inside.chars().take(200).collect())
}

/// The arrays that are spelled as MLIR types of this kind: `vector` or `memref`.
pub(super) fn types(text: &str, kind: &str) -> Vec<ArrayShape> {
    let found = find_spelled_shapes(text);
    let is_kind = |start: usize| text.get(start..).is_some_and(|rest| rest.starts_with(kind));
    found
        .filter(|found| is_kind(found.span.start))
        .filter_map(|found| match found.shape {
            Shape::Array(array) => Some(array),
            _ => None,
        })
        .collect()
}

/// The static sizes of an array; `None` if one is dynamic.
pub(super) fn sizes(array: &ArrayShape) -> Option<Vec<u64>> {
    let size = |dimension: &Dimension| match dimension {
        Dimension::Static(size) => Some(*size),
        _ => None,
    };
    array.dimensions().iter().map(size).collect()
}

/// The sizes in a list such as `(8, 1024)`, `[8,1024]`, or `(Blocked(block_size=8), None)`, where `None` is 1.
pub(super) fn list(text: &str) -> Option<Vec<u64>> {
    let text = text.trim_start();
    let close = match text.chars().next()? {
        '(' => ')',
        '[' => ']',
        _ => return None,
    };
    let mut open = 0_usize;
    let end = text.char_indices().take(1000).find_map(|(at, c)| {
        if c == '(' || c == '[' {
            open += 1;
        } else if c == ')' || c == ']' {
            open = open.saturating_sub(1);
        }
        (open == 0 && c == close).then_some(at)
    })?;
    let size = |part: &str| {
        let part = part.trim();
        let part = after(part, "block_size=").unwrap_or(part);
        if part.starts_with("None") || part.starts_with("Squeezed") { Some(1) } else { number(part) }
    };
    let inside = text.get(1..end)?;
    inside.split(',').filter(|part| !part.trim().is_empty()).map(size).collect()
}
