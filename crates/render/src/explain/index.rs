//! Where an element is, and what is at a position, in words.

use crate::words::{Grouped, bracketed, column_width, dimension_names};
use crate::{Show, Text};
use xla_shape_answers::explain::Location;
use xla_shape_answers::formula::{self, Notation};
use xla_shape_core::map::Source;

impl Show for Location {
    /// The position, then what each digit of the index adds to it.
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        let (byte, bit) = (self.byte_offset, self.bit_offset);
        let in_bits = bit > 0 || !self.array().element_bits().is_multiple_of(8);
        let bits = if in_bits { format!(", bit {bit}") } else { String::new() };
        let place = format!("position {}, byte {}{bits}", Grouped(self.position), Grouped(byte));
        let Some(index) = &self.index else {
            text.verbatim(format_args!("padding at {place}"));
            return text;
        };
        text.verbatim(format_args!("element {} at {place}", bracketed(index)));
        digits(self, &mut text, index);
        if let Some(tile) = self.placement().tile_of(index) {
            text.verbatim(format_args!("  in tile {}", bracketed(&tile)));
        }
        text
    }
}

/// What each digit of the index adds to the position.
fn digits(location: &Location, text: &mut Text, index: &[u64]) {
    let names = dimension_names(location.array());
    let table = location.placement().table();
    let values = table.intermediate_values(index);
    let (_, rules) = formula::position(table, &names, Notation::Arithmetic);
    for (rule, value) in rules.iter().zip(&values) {
        text.verbatim(format_args!("  {rule} = {value}"));
    }
    let digits = table.digits().iter().filter(|digit| digit.term.source != Source::Zero);
    let rows = digits.map(|digit| {
        let value = digit.value(index, &values);
        let term = formula::term(digit.term, &names, Notation::Arithmetic).0;
        (format!("{term} = {value}"), format!("of {}", Grouped(digit.size)), digit.stride, value * digit.stride)
    });
    let rows = rows.collect::<Vec<_>>();
    let width = |column: fn(&(String, String, u64, u64)) -> usize| column_width(rows.iter().map(column));
    let (first, second) = (width(|row| row.0.len()), width(|row| row.1.len()));
    let (third, fourth) = (width(|row| row.2.to_string().len()), width(|row| row.3.to_string().len()));
    for (digit, size, stride, product) in &rows {
        text.verbatim(format_args!("  {digit:first$}  {size:second$}  * {stride:third$} = {product:>fourth$}"));
    }
}
