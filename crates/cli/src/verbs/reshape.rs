//! `reshape`: whether a reshape or a transpose is free.

use crate::args::ReshapeArguments;
use crate::failure::Failure;
use crate::given::given_array_of;
use xla_shape_render::reshape::Reshape;

pub(crate) fn run(arguments: &ReshapeArguments) -> Result<(), Failure> {
    let (from, to) = (given_array_of(&arguments.from)?, given_array_of(&arguments.to)?);
    super::show(&Reshape::new(from, to, arguments.tpu.generation).map_err(Failure::said)?, arguments.answer.format)
}
