//! `index`: where an element lies, and what lies at a place.

use crate::args::{Format, IndexArguments};
use crate::failure::Failure;
use crate::io;
use crate::render::formula::{self, Notation};
use crate::render::words::{Grouped, column_width, count, dimension_names};
use serde::Serialize;
use std::fmt::Write as _;
use xla_shape::stride_table::Source;
use xla_shape::{ArrayShape, BitOffset, Placement, Slot};

#[derive(Serialize)]
struct Answer {
    /// The element's index; null for padding.
    index: Option<Vec<usize>>,
    /// Its position in elements; null for padding.
    linear: Option<usize>,
    /// Only there, and true, for padding.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    padding: bool,
    /// The position that was asked for or found.
    position: usize,
    byte_offset: usize,
    bit_offset: u8,
}

pub(crate) fn run(arguments: &IndexArguments) -> Result<(), Failure> {
    let (shape, array) = super::array_of(&arguments.shape)?;
    let placement = array.placement().map_err(Failure::said)?;
    let (position, index) = match (&arguments.index, arguments.linear) {
        (Some(index), _) => {
            let index = index.0.clone();
            (position_of(&array, &placement, &index)?, Some(index))
        }
        (None, Some(position)) => match placement.slot(position) {
            Slot::Element(index) => (position, Some(index)),
            Slot::Padding => (position, None),
            Slot::OutOfRange => {
                let room = count(placement.positions(), "position", "positions");
                return Err(Failure::said(format_args!("{shape} has {room}, and none with the number {position}")));
            }
        },
        (None, None) => return Err(Failure::said("neither an index nor a position is given")),
    };
    let offset = placement.bit_offset(position);
    let text = match arguments.format {
        Format::Json => {
            let linear = index.is_some().then_some(position);
            let BitOffset { byte, bit } = offset;
            let padding = index.is_none();
            let answer = Answer { index, linear, padding, position, byte_offset: byte, bit_offset: bit };
            super::json_line(&answer)
        }
        Format::Text => page(&array, &placement, position, index.as_deref(), offset),
    };
    io::print(&text)
}

fn position_of(array: &ArrayShape, placement: &Placement, index: &[usize]) -> Result<usize, Failure> {
    let table = placement.table();
    if index.len() != array.num_dimensions() {
        let dimensions = count(array.num_dimensions(), "dimension", "dimensions");
        let numbers = count(index.len(), "number", "numbers");
        return Err(Failure::said(format_args!("the array has {dimensions}, but the index has {numbers}")));
    }
    if let Some((dimension, (entry, size))) =
        index.iter().zip(table.extents()).enumerate().find(|(_, (entry, size))| entry >= size)
    {
        return Err(Failure::said(format_args!(
            "index {entry} is out of bounds for dimension {dimension} (size {size})"
        )));
    }
    Ok(table.linear_index(index))
}

fn page(
    array: &ArrayShape,
    placement: &Placement,
    position: usize,
    index: Option<&[usize]>,
    BitOffset { byte, bit }: BitOffset,
) -> String {
    let bits = if bit > 0 || !array.element_bits().is_multiple_of(8) { format!(", bit {bit}") } else { String::new() };
    let mut text = String::new();
    // Writing to memory does not fail.
    let place = format!("position {}, byte {}{bits}", Grouped(position), Grouped(byte));
    let _ = match index {
        None => writeln!(text, "padding at {place}"),
        Some(index) => writeln!(text, "element {} at {place}", super::bracketed(index)),
    };
    let Some(index) = index else { return text };
    let names = dimension_names(array);
    let table = placement.table();
    let mut values = Vec::new();
    for value in table.values() {
        let value = value.of(index, &values);
        values.push(value);
    }
    let (_, rules) = formula::position(table, &names, Notation::Arithmetic);
    for (rule, value) in rules.iter().zip(&values) {
        let _ = writeln!(text, "  {rule} = {value}");
    }
    let digits = table.digits().iter().filter(|digit| digit.term.source != Source::Zero);
    let rows = digits.map(|digit| {
        let value = digit.of(index, &values);
        let term = formula::term(digit.term, &names, Notation::Arithmetic).0;
        (format!("{term} = {value}"), format!("of {}", Grouped(digit.size)), digit.stride, value * digit.stride)
    });
    let rows = rows.collect::<Vec<_>>();
    let width = |column: fn(&(String, String, usize, usize)) -> usize| column_width(rows.iter().map(column));
    let (first, second) = (width(|row| row.0.len()), width(|row| row.1.len()));
    let (third, fourth) = (width(|row| row.2.to_string().len()), width(|row| row.3.to_string().len()));
    for (digit, size, stride, product) in &rows {
        let _ = writeln!(text, "  {digit:first$}  {size:second$}  * {stride:third$} = {product:>fourth$}");
    }
    if let Some(tile) = placement.tile_of(index) {
        let _ = writeln!(text, "  in tile {}", super::bracketed(&tile));
    }
    text
}
