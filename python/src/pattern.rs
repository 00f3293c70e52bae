//! The annotations of `xla_shape.jax.Arr`: shapes whose sizes may have names, and which may have any number of leading dimensions.

use crate::error::parse_error;
use crate::layout::Layout;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::borrow::Cow;
use xla_shape::text::{Expected, Found, Parser, SizeExpression};
use xla_shape::validate::ShapePart;
use xla_shape::{ArrayShape, Dimension, ParseError, Shape, Span, text::ParseErrorKind};

/// The mark of any number of leading dimensions.
const LEADING: &str = "...";

/// The annotation in a text, in the form of a parameter of a kernel: see `Description::to_json` in `xla-shape-ffi`.
#[pyfunction]
pub(crate) fn array_pattern<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyDict>> {
    let (plain, has_leading) = without_leading(text);
    let failed = |error: &ParseError| parse_error(error, text);
    if let (true, Some(layout)) = (has_leading, layout_span(text)) {
        return Err(failed(&unexpected("no layout after `...`, which is any number of dimensions", text, layout)));
    }
    let mut parser = Parser::whole(&plain).for_types();
    let shape = parser.shape().and_then(|shape| parser.finish().map(|()| shape)).map_err(|error| failed(&error))?;
    let Shape::Array(shape) = shape else { return Err(failed(&unexpected("an array", text, whole(text)))) };
    let expressions = parser.size_expressions();
    if let Some(other) = expressions.iter().find(|size| !is_name(size, text)) {
        return Err(failed(&unexpected("a number or the name of a size", text, other.span)));
    }
    let has_layout = Parser::whole(&without_names(&plain, expressions)).written_layouts().contains(&true);
    pattern(py, text, &shape, expressions, has_leading, has_layout)
}

fn pattern<'py>(
    py: Python<'py>,
    text: &str,
    shape: &ArrayShape,
    expressions: &[SizeExpression],
    has_leading: bool,
    has_layout: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let name = |dimension: usize| {
        let named = expressions.iter().find(|size| size.part == ShapePart::Dimension(dimension))?;
        text.get(named.span.start..named.span.end).map(str::trim)
    };
    let dimensions = || shape.dimensions().iter().enumerate();
    let found = PyDict::new(py);
    found.set_item("shape", text.trim())?;
    found.set_item("element_type", shape.element_type().name())?;
    found.set_item("names", dimensions().map(|(i, _)| name(i)).collect::<Vec<_>>())?;
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
    found.set_item("leading", has_leading)?;
    found.set_item("layout", has_layout.then(|| Layout(shape.layout().clone())))?;
    Ok(found)
}

/// The text with spaces in place of `...,` at the start of its dimensions, and whether it had that.
fn without_leading(text: &str) -> (Cow<'_, str>, bool) {
    let Some((_, rest)) = text.split_once('[') else { return (text.into(), false) };
    let Some(after) = rest.trim_start().strip_prefix(LEADING) else { return (text.into(), false) };
    let after = after.trim_start();
    let after = match after.strip_prefix(',') {
        Some(more) if !more.trim_start().starts_with(']') => more,
        None if after.starts_with(']') => after,
        _ => return (text.into(), false),
    };
    let (open, end) = (text.len() - rest.len(), text.len() - after.len());
    (format!("{}{}{after}", &text[..open], " ".repeat(end - open)).into(), true)
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

/// Whether a size is the name of a whole dimension.
fn is_name(size: &SizeExpression, text: &str) -> bool {
    let name = text.get(size.span.start..size.span.end).unwrap_or_default();
    let is_word = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    let before = text.get(..size.span.start).unwrap_or_default().trim_end();
    // A bound is a number.
    matches!(size.part, ShapePart::Dimension(_)) && is_word && !before.ends_with('=')
}

fn unexpected(expected: &'static str, text: &str, span: Span) -> ParseError {
    let found = Found::new(text.get(span.start..span.end).unwrap_or_default());
    ParseError::new(ParseErrorKind::Unexpected { expected: Expected::Value(expected), found }, span)
}

fn whole(text: &str) -> Span {
    Span { start: 0, end: text.len() }
}
