//! Compares the map of a text with that of a type at compile time.

use super::{CONST_WORKSPACE, Comparison, Digit, Intermediate, StrideTableError, StrideTableRef, same_sizes};
use crate::sink::ConstText;

/// Panics, in a `const` at compile time, unless these digits place every element where `table` does. `notation` is the name of the
/// notation that they were written in; the macro `assert_same_map!` reads it.
#[doc(hidden)]
#[track_caller]
pub const fn assert_same_map(
    table: StrideTableRef<'_>,
    notation: &str,
    extents: &[u64],
    digits: &[Digit],
    intermediates: &[Intermediate],
) {
    let text = ConstText::<1024>::new();
    if !same_sizes(extents, table.extents) {
        let text = with_numbers(text.push_str("the array has dimensions "), table.extents);
        let text = with_numbers(text.push_str(", the `").push_str(notation).push_str("` text "), extents);
        panic!("{}", text.as_str())
    }
    // The comparison does not read `positions`.
    let other = StrideTableRef { extents, digits, intermediates, positions: 0 };
    let mut first = [0; CONST_WORKSPACE];
    match table.compare(other, &mut first) {
        Ok(Comparison::Equal) => {}
        Ok(Comparison::Different) => {
            let index = first.split_at(extents.len()).0;
            let mut values = [0; CONST_WORKSPACE];
            let (here, there) =
                (table.linear_index_with(index, &mut values), other.linear_index_with(index, &mut values));
            let text = with_numbers(text.push_str("the maps differ: element "), index);
            let text = text.push_str(" is at position ").push_number(here).push_str(" in the array, and at position ");
            let text = text.push_number(there).push_str(" in the `").push_str(notation).push_str("` text");
            panic!("{}", text.as_str())
        }
        Ok(Comparison::Undecided) => StrideTableError::TooIntricate.panic(),
        Err(error) => error.panic(),
    }
}

/// Appends sizes or an index to a text, such as `[8,128]`.
const fn with_numbers(text: ConstText<1024>, numbers: &[u64]) -> ConstText<1024> {
    let mut text = text.push_str("[");
    text.sink().numbers(numbers);
    text.push_str("]")
}
