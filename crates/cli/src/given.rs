//! Reads the shapes and shardings of the command line.

use crate::failure::Failure;
use xla_shape::shard::Sharding;
use xla_shape::text::parse_index;
use xla_shape::tpu::vector::VectorLayout;
use xla_shape::{ArrayShape, Shape};
use xla_shape_answers::explain::Registers;
use xla_shape_answers::numbers::no_array;
use xla_shape_answers::problem::Place;
use xla_shape_answers::{Given, GivenArray};

/// Reads a sharding.
pub(crate) fn sharding_of(text: &str) -> Result<Sharding, Failure> {
    text.parse().map_err(|error| Failure::shape(&error, text))
}

/// Reads a shape, and which of its arrays were written with a layout.
pub(crate) fn given_of(text: &str) -> Result<Given, Failure> {
    Given::read(text).map_err(|message| {
        let place = text.parse::<Shape>().err().map(|error| Place::new(&error, text));
        Failure::Syntax { message, place }
    })
}

/// Reads an array, or an array in a buffer.
pub(crate) fn array_of(text: &str) -> Result<ArrayShape, Failure> {
    given_array_of(text).map(|given| given.array)
}

/// Reads an array, or an array in a buffer, and whether it was written with a layout.
pub(crate) fn given_array_of(text: &str) -> Result<GivenArray, Failure> {
    let given = given_of(text)?;
    given.array().ok_or_else(|| Failure::said(no_array(given.shape())))
}

/// Reads the index of an element of an array: one number for each dimension.
pub(crate) fn index_of(text: &str, array: &ArrayShape) -> Result<Vec<u64>, Failure> {
    parse_index(text, array.num_dimensions()).map_err(|error| Failure::shape(&error, text))
}

/// The registers of a vector in the vector layout that is given as text.
pub(crate) fn registers_of(vector: &ArrayShape, text: &str) -> Result<Registers, Failure> {
    let layout = text.parse::<VectorLayout>().map_err(|error| Failure::shape(&error, text))?;
    Registers::new(vector, layout).map_err(Failure::said)
}
