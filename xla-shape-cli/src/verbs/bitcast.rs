//! `bitcast`: whether one array can be read as another without a copy.

use crate::args::BitcastArguments;
use crate::failure::Failure;
use crate::given::array_of;
use xla_shape_render::bitcast::Verdict;

pub(crate) fn run(arguments: &BitcastArguments) -> Result<(), Failure> {
    let (operand, result) = (array_of(&arguments.from)?, array_of(&arguments.to)?);
    super::show(&Verdict::new(&operand, &result).map_err(Failure::said)?, arguments.format)
}
