//! One module for each thing the program does.

pub(crate) mod advise;
pub(crate) mod bitcast;
pub(crate) mod check;
pub(crate) mod draw;
pub(crate) mod explain;
pub(crate) mod hlo;
pub(crate) mod index;
pub(crate) mod manual;
pub(crate) mod map;
pub(crate) mod relayout;
pub(crate) mod scan;

use crate::failure::Failure;
use serde::{Serialize, Serializer};
use std::fmt::Display;
use xla_shape::{ArrayShape, Shape};

/// The shape that a text stands for.
fn shape_of(text: &str) -> Result<Shape, Failure> {
    text.parse().map_err(|error| Failure::shape(&error, text))
}

/// The array, or array in a buffer, that a text stands for.
fn array_of(text: &str) -> Result<(Shape, ArrayShape), Failure> {
    let shape = shape_of(text)?;
    match shape.array().cloned() {
        Some(array) => Ok((shape, array)),
        None => Err(Failure::said(format_args!("expected an array, found {shape}: only arrays have elements"))),
    }
}

/// Numbers as `[2,3]`.
fn bracketed(numbers: &[usize]) -> String {
    let numbers = numbers.iter().map(ToString::to_string).collect::<Vec<_>>();
    format!("[{}]", numbers.join(","))
}

/// Serialises what has a text as that text.
fn display<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// A value as a line of JSON.
fn json_line(value: &impl Serialize) -> String {
    // Texts and numbers are always JSON.
    serde_json::to_string(value).expect("an answer is JSON") + "\n"
}
