//! What the texts on the command line stand for, or why they stand for nothing.

use crate::failure::Failure;
use xla_shape::ArrayShape;
use xla_shape::shard::Sharding;
use xla_shape_render::{Given, GivenArray, no_array};

/// The sharding that a text stands for.
pub(crate) fn sharding_of(text: &str) -> Result<Sharding, Failure> {
    text.parse().map_err(|error| Failure::shape(&error, text))
}

/// The shape that a text stands for, and which arrays in it have a layout.
pub(crate) fn given_of(text: &str) -> Result<Given, Failure> {
    text.parse().map_err(|error| Failure::shape(&error, text))
}

/// The array, or array in a buffer, that a text stands for.
pub(crate) fn array_of(text: &str) -> Result<ArrayShape, Failure> {
    given_array_of(text).map(|given| given.array)
}

/// The same, and whether the text has a layout.
pub(crate) fn given_array_of(text: &str) -> Result<GivenArray, Failure> {
    let given = given_of(text)?;
    given.array().ok_or_else(|| Failure::said(no_array(given.shape())))
}
