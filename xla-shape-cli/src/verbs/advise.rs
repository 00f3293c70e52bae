//! `advise`: layouts that take less memory.

use crate::args::{AdviseArguments, Change, Format};
use crate::failure::Failure;
use crate::io;
use crate::render::words::{Bytes, Factor, InUnits, column_width, count};
use serde::Serialize;
use std::fmt::Write as _;
use xla_shape::ArrayShape;

#[derive(Serialize)]
struct Row {
    shape: String,
    bytes: usize,
    /// Less than the given shape takes; negative if it is more.
    saved_bytes: i64,
    padding_bytes: usize,
    expansion: f64,
}

pub(crate) fn run(arguments: &AdviseArguments) -> Result<(), Failure> {
    let (_, given) = super::array_of(&arguments.shape)?;
    let Some(bytes) = given.byte_size() else {
        return Err(Failure::said(format_args!("{given} has no size: a dimension is unbounded")));
    };
    let mut changed = given.clone();
    for change in &arguments.what_if {
        changed = apply(&changed, change)?;
    }
    let alternatives = changed.alternatives();
    if alternatives.is_empty() {
        return Err(Failure::said(format_args!("{changed} is cut into pieces: no other order is tried")));
    }
    let rows = alternatives.iter().filter_map(|alternative| row(alternative, bytes));
    let all = alternatives.len();
    let rows = rows.take(arguments.top).collect::<Vec<_>>();
    let text = match arguments.format {
        Format::Json => rows.iter().map(super::json_line).collect(),
        Format::Text => page(&given, &changed, bytes, &rows, all),
    };
    io::print(&text)
}

fn row(array: &ArrayShape, given: usize) -> Option<Row> {
    let bytes = array.byte_size()?;
    Some(Row {
        shape: array.to_string(),
        bytes,
        // Sizes fit in an i64.
        saved_bytes: given as i64 - bytes as i64,
        padding_bytes: array.padding_byte_size()?,
        expansion: array.expansion()?,
    })
}

fn apply(array: &ArrayShape, change: &Change) -> Result<ArrayShape, Failure> {
    let mut dimensions = array.dimensions().to_vec();
    let place = |number: usize| match number {
        number if number < dimensions.len() => Ok(number),
        number => Err(Failure::said(format_args!(
            "there is no dimension {number}: the array has {}",
            count(array.num_dimensions(), "dimension", "dimensions")
        ))),
    };
    match *change {
        Change::Resize { dimension, size } => {
            let dimension = place(dimension)?;
            dimensions[dimension] = size.into();
        }
        Change::Swap(a, b) => {
            let (a, b) = (place(a)?, place(b)?);
            dimensions.swap(a, b);
        }
    }
    ArrayShape::new(array.element_type(), &dimensions, array.layout().clone()).map_err(Failure::said)
}

fn page(given: &ArrayShape, changed: &ArrayShape, bytes: usize, rows: &[Row], all: usize) -> String {
    let mut text = format!("{given} takes {}", Bytes(bytes));
    // Writing to memory does not fail.
    let _ = match given.expansion() {
        Some(expansion) if expansion > 1.0 => writeln!(text, ", {} what its elements need.", Factor(expansion)),
        _ => writeln!(text, ", none of it padding."),
    };
    if changed != given {
        let _ = writeln!(text, "What if it were {changed}:");
    }
    let given_text = given.to_string();
    let saved = |row: &Row| match row.saved_bytes {
        0 if row.shape == given_text => "as it is".to_owned(),
        0 => "no difference".to_owned(),
        saved @ 1.. => format!("saves {}", InUnits(saved.unsigned_abs() as usize)),
        saved => format!("costs {}", InUnits(saved.unsigned_abs() as usize)),
    };
    let width = column_width(rows.iter().map(|row| row.shape.chars().count()));
    let _ = writeln!(text);
    for row in rows {
        let (bytes, expansion) = (InUnits(row.bytes).to_string(), Factor(row.expansion).to_string());
        let _ = writeln!(text, "  {:width$}  {bytes:>9}  {expansion:>7}  {}", row.shape, saved(row));
    }
    if rows.len() < all {
        let _ = writeln!(text, "  … and {} that take as much or more (--top)", all - rows.len());
    }
    text
}
