//! `bitcast`: whether one array can be read as another without a copy.

use crate::args::BitcastArguments;
use crate::failure::Failure;
use crate::given::given_array_of;
use xla_shape_render::bitcast::Verdict;

pub(crate) fn run(arguments: &BitcastArguments) -> Result<(), Failure> {
    let (operand, result) = (given_array_of(&arguments.from)?, given_array_of(&arguments.to)?);
    super::show(
        &Verdict::with_default_layouts(operand, result, arguments.generation).map_err(Failure::said)?,
        arguments.answer.format,
    )
}
