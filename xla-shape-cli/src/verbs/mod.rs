//! One module for each thing the program does: it reads the input, asks for the answer, and shows it.

pub(crate) mod advise;
mod answers;
pub(crate) mod bitcast;
pub(crate) mod block;
pub(crate) mod check;
pub(crate) mod compile;
pub(crate) mod draw;
mod dump;
pub(crate) mod explain;
mod hint;
pub(crate) mod hlo;
pub(crate) mod index;
pub(crate) mod manual;
pub(crate) mod map;
pub(crate) mod relayout;
pub(crate) mod reshape;
pub(crate) mod rustc;
pub(crate) mod scan;
pub(crate) mod shard;
pub(crate) mod tpu;

use crate::args::Format;
use crate::failure::Failure;
use crate::io;
use xla_shape::ArrayShape;
use xla_shape::shard::Sharding;
use xla_shape_render::{Answer, Given, GivenArray};

/// The sharding that a text stands for.
fn sharding_of(text: &str) -> Result<Sharding, Failure> {
    text.parse().map_err(|error| Failure::shape(&error, text))
}

/// The shape that a text stands for, and which arrays in it have a layout.
fn given_of(text: &str) -> Result<Given, Failure> {
    text.parse().map_err(|error| Failure::shape(&error, text))
}

/// The array, or array in a buffer, that a text stands for.
pub(crate) fn array_of(text: &str) -> Result<ArrayShape, Failure> {
    given_array_of(text).map(|given| given.array)
}

/// The same, and whether the text has a layout.
fn given_array_of(text: &str) -> Result<GivenArray, Failure> {
    let given = given_of(text)?;
    let no_array =
        || Failure::said(format_args!("expected an array, found {}: only arrays have elements", given.shape()));
    given.array().ok_or_else(no_array)
}

/// Writes an answer to standard output.
fn show(answer: &impl Answer, format: Format) -> Result<(), Failure> {
    match format {
        Format::Text => io::print(&answer.text(io::width())),
        Format::Json => io::write(answer.json().as_bytes()),
    }
}
