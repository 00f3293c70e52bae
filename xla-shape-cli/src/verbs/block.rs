//! `block`: whether a kernel on a TPU can work on blocks of an array, and what they need.

use crate::args::BlockArguments;
use crate::failure::Failure;
use crate::given::array_of;
use xla_shape_render::block::BlockAnswer;

pub(crate) fn run(arguments: &BlockArguments) -> Result<(), Failure> {
    let (array, block) = (array_of(&arguments.array)?, array_of(&arguments.block)?);
    let answer = BlockAnswer::new(&array, &block, arguments.generation, arguments.limit).map_err(Failure::said)?;
    super::show(&answer, arguments.format)
}
