//! The copies that a thread was asked for last. They are remembered, because working out the shapes of a copy takes longer than copying a small
//! array.

use crate::memory::{Arrangement, ReadableBuffer};
use crate::shape::few_numbers;
use pyo3::prelude::*;
use std::cell::RefCell;
use xla_shape::ArrayShape;

/// How many copies a thread remembers.
const REMEMBERED: usize = 8;

/// The longest text of a destination that is remembered, in bytes.
const MAX_TEXT: usize = 256;

/// The argument `permute`: a tuple or a list of few whole numbers.
#[derive(PartialEq)]
pub(crate) struct Permutation {
    numbers: [u64; 16],
    count: usize,
}

impl Permutation {
    /// `None` for other objects.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let mut numbers = [0; 16];
        Ok(few_numbers(object, &mut numbers)?.map(|count| Self { numbers, count }))
    }

    /// The array with its dimensions permuted; `None` if the numbers are not a permutation of its dimensions.
    pub(crate) fn applied(&self, array: &ArrayShape) -> Option<ArrayShape> {
        let numbers = &self.numbers[..self.count];
        array.permute_dimensions(numbers.iter().map(|&number| i64::try_from(number).unwrap_or(i64::MAX))).ok()
    }
}

/// What is remembered of a copy of a NumPy array.
struct Copy {
    array: Arrangement,
    permutation: Option<Permutation>,
    /// The destination, if it was a text.
    text: Option<Box<str>>,
    shapes: Shapes,
}

/// The shapes of a copy: of the array that is read, with its dimensions permuted, and of the result.
pub(crate) type Shapes = (ArrayShape, ArrayShape);

thread_local! {
    /// The copies, at most [`REMEMBERED`], and the place of the one to replace next.
    static COPIES: RefCell<(Vec<Copy>, usize)> = const { RefCell::new((Vec::new(), 0)) };
}

/// The array's bytes and the shapes of its copy, if the thread remembers such a copy. `text` is the destination; without it, the copy is row-major.
pub(crate) fn found<'a>(
    array: &'a ReadableBuffer,
    permutation: Option<&Permutation>,
    text: Option<&str>,
) -> Option<(&'a [u8], Shapes)> {
    let find = |copies: &RefCell<(Vec<Copy>, usize)>| {
        copies.borrow().0.iter().find_map(|copy| {
            let is_same = copy.permutation.as_ref() == permutation && copy.text.as_deref() == text;
            let bytes = if is_same { array.bytes_as(&copy.array) } else { None };
            bytes.map(|bytes| (bytes, copy.shapes.clone()))
        })
    };
    // While a thread ends, its copies are no longer accessible.
    COPIES.try_with(find).ok()?
}

/// Remembers a copy in place of the oldest.
pub(crate) fn remember(array: Arrangement, permutation: Option<Permutation>, text: Option<&str>, shapes: &Shapes) {
    if text.is_some_and(|text| text.len() > MAX_TEXT) {
        return;
    }
    let copy = Copy { array, permutation, text: text.map(Into::into), shapes: shapes.clone() };
    let keep = |copies: &RefCell<(Vec<Copy>, usize)>| {
        let (copies, oldest) = &mut *copies.borrow_mut();
        if copies.len() < REMEMBERED {
            copies.push(copy);
        } else {
            copies[*oldest] = copy;
            *oldest = (*oldest + 1) % REMEMBERED;
        }
    };
    // While a thread ends, its copies are no longer accessible.
    let _ = COPIES.try_with(keep);
}
