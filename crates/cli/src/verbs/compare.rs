//! `compare`: whether two arrays have the same bytes, and what a reshape or a transpose between them moves.

use crate::args::CompareArguments;
use crate::failure::Failure;
use crate::given::given_array_of;
use xla_shape_answers::compare::Comparison;

pub(crate) fn run(arguments: &CompareArguments) -> Result<(), Failure> {
    let (from, to) = (given_array_of(&arguments.from)?, given_array_of(&arguments.to)?);
    let comparison = Comparison::new(from, to, arguments.generation).map_err(Failure::said)?;
    super::show(&comparison, arguments.answer.format)
}
