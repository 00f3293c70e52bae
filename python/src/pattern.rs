//! The annotations of `xla_shape.jax.Arr`: shapes whose sizes may have names, and which may have any number of leading dimensions.

use crate::error::parse_error;
use crate::layout::Layout;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::borrow::Cow;
use xla_shape::text::{Expected, Found, Parser, SizeExpression};
use xla_shape::validate::ShapePart;
use xla_shape::{ArrayShape, Dimension, ParseError, Shape, Span, text::ParseErrorKind};

/// Names that stand for several element types, each with one of these types. Spaces pad the type to the length of the name, so that the positions in
/// errors are still right. `key` is for the keys of `jax.random`, for which XLA has no element type.
const FAMILIES: [(&str, &str); 3] = [("float", "f32  "), ("int", "s32"), ("key", "u32")];

/// The mark of any number of leading dimensions, and the mark of leading dimensions with a name.
const LEADING: &str = "...";
const NAMED_LEADING: &str = "*";

/// The leading dimensions of an annotation, which it does not list one by one.
#[derive(Clone, Copy)]
enum Leading<'t> {
    /// There are none.
    None,
    /// Any number, of any sizes.
    Any,
    /// Any number, with the same sizes wherever the name occurs.
    Named(&'t str),
}

/// The annotation in a text, in the form of a parameter of a kernel: see `Description::to_json` in `xla-shape-ffi`.
#[pyfunction]
pub(crate) fn array_pattern<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyDict>> {
    let (plain, leading) = without_leading(text);
    let failed = |error: &ParseError| parse_error(error, text);
    if let (Leading::Any | Leading::Named(_), Some(layout)) = (leading, layout_span(text)) {
        let expected = match leading {
            Leading::Named(_) => "no layout after a name with `*`, which is any number of dimensions",
            _ => "no layout after `...`, which is any number of dimensions",
        };
        return Err(failed(&unexpected(expected, text, layout)));
    }
    let word = text.split('[').next().unwrap_or_default().trim();
    // JAX prints the type of keys in this way.
    if word.starts_with("key<") {
        let start = text.len() - text.trim_start().len();
        return Err(failed(&unexpected(
            "`key`, for keys of any implementation",
            text,
            Span { start, end: start + word.len() },
        )));
    }
    let family = FAMILIES.into_iter().find(|(name, _)| *name == word);
    if let (true, Some(layout)) = (family.is_some(), layout_span(text)) {
        return Err(failed(&unexpected("no layout, because it depends on the element type", text, layout)));
    }
    let plain = family.map_or(plain.clone(), |(name, member)| plain.replacen(name, member, 1).into());
    let mut parser = Parser::whole(&plain).for_types();
    let shape = parser.shape().and_then(|shape| parser.finish().map(|()| shape)).map_err(|error| failed(&error))?;
    let Shape::Array(shape) = shape else { return Err(failed(&unexpected("an array", text, whole(text)))) };
    let expressions = parser.size_expressions();
    if let Some(other) = expressions.iter().find(|size| named(size, text).is_none()) {
        return Err(failed(&unexpected("a number, the name of a size, or a number times a name", text, other.span)));
    }
    let has_layout = Parser::whole(&without_names(&plain, expressions)).written_layouts().contains(&true);
    let found = pattern(py, text, &shape, expressions, leading, has_layout)?;
    if let Some((name, _)) = family {
        found.set_item("element_type", name)?;
    }
    Ok(found)
}

fn pattern<'py>(
    py: Python<'py>,
    text: &str,
    shape: &ArrayShape,
    expressions: &[SizeExpression],
    leading: Leading<'_>,
    has_layout: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let of = |dimension: usize| {
        let size = expressions.iter().find(|size| size.part == ShapePart::Dimension(dimension))?;
        named(size, text)
    };
    let name = |dimension: usize| of(dimension).map(|(_, name)| name);
    let dimensions = || shape.dimensions().iter().enumerate();
    let found = PyDict::new(py);
    found.set_item("shape", text.trim())?;
    found.set_item("element_type", shape.element_type().name())?;
    found.set_item("names", dimensions().map(|(i, _)| name(i)).collect::<Vec<_>>())?;
    found.set_item("factors", dimensions().map(|(i, _)| of(i).map_or(1, |(factor, _)| factor)).collect::<Vec<_>>())?;
    let size = |(i, dimension): (usize, &Dimension)| match dimension {
        Dimension::Static(size) if name(i).is_none() => Some(*size),
        _ => None,
    };
    found.set_item("sizes", dimensions().map(size).collect::<Vec<_>>())?;
    let bound = |(_, dimension): (usize, &Dimension)| match dimension {
        Dimension::Bounded(bound) => Some(*bound),
        _ => None,
    };
    found.set_item("bounds", dimensions().map(bound).collect::<Vec<_>>())?;
    found.set_item("leading", !matches!(leading, Leading::None))?;
    let name = if let Leading::Named(name) = leading { Some(name) } else { None };
    found.set_item("leading_name", name)?;
    found.set_item("layout", has_layout.then(|| Layout(shape.layout().clone())))?;
    Ok(found)
}

/// The text with spaces in place of `...,` or `*name,` at the start of its dimensions, and which of the two it had, if any.
fn without_leading(text: &str) -> (Cow<'_, str>, Leading<'_>) {
    let none = (text.into(), Leading::None);
    let Some((_, rest)) = text.split_once('[') else { return none };
    let start = rest.trim_start();
    let (leading, after) = if let Some(after) = start.strip_prefix(LEADING) {
        (Leading::Any, after)
    } else if let Some(name) = start.strip_prefix(NAMED_LEADING) {
        let end = name.find([',', ']']).unwrap_or(name.len());
        let (name, after) = (name[..end].trim(), &name[end..]);
        if !is_name(name) {
            return none;
        }
        (Leading::Named(name), after)
    } else {
        return none;
    };
    let after = after.trim_start();
    let after = match after.strip_prefix(',') {
        Some(more) if !more.trim_start().starts_with(']') => more,
        None if after.starts_with(']') => after,
        _ => return none,
    };
    // Spaces replace the leading part, so that the positions in errors are still right.
    let (open, end) = (text.len() - rest.len(), text.len() - after.len());
    (format!("{}{}{after}", &text[..open], " ".repeat(end - open)).into(), leading)
}

/// Whether a word is the name of a size.
fn is_name(word: &str) -> bool {
    let starts = word.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
    starts && word.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Where the layout is, after the dimensions.
fn layout_span(text: &str) -> Option<Span> {
    let (_, layout) = text.split_once(']')?;
    let layout = layout.trim();
    let start = text.trim_end().len().checked_sub(layout.len())?;
    layout.starts_with(['{', '<']).then_some(Span { start, end: start + layout.len() })
}

/// The text with a number in place of each name, and spaces where its other letters were.
fn without_names(text: &str, expressions: &[SizeExpression]) -> String {
    let mut plain = text.to_owned();
    for size in expressions {
        let Span { start, end } = size.span;
        plain.replace_range(start..end, &format!("1{}", " ".repeat(end.saturating_sub(start + 1))));
    }
    plain
}

/// The name of a whole dimension's size, and the number that it is multiplied by.
fn named<'t>(size: &SizeExpression, text: &'t str) -> Option<(u64, &'t str)> {
    let words = text.get(size.span.start..size.span.end)?;
    let before = text.get(..size.span.start)?.trim_end();
    // A bound (`<=`) must be a number, not a name.
    if !matches!(size.part, ShapePart::Dimension(_)) || before.ends_with('=') {
        return None;
    }
    let (factor, name) = match words.split_once('*') {
        None => (1, words.trim()),
        Some((one, other)) => {
            let (one, other) = (one.trim(), other.trim());
            let (factor, name) = if is_name(other) { (one, other) } else { (other, one) };
            (factor.parse().ok().filter(|factor| *factor > 0)?, name)
        }
    };
    is_name(name).then_some((factor, name))
}

fn unexpected(expected: &'static str, text: &str, span: Span) -> ParseError {
    let found = Found::new(text.get(span.start..span.end).unwrap_or_default());
    ParseError::new(ParseErrorKind::Unexpected { expected: Expected::Value(expected), found }, span)
}

fn whole(text: &str) -> Span {
    Span { start: 0, end: text.len() }
}
