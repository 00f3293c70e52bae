//! `advise`: layouts that take less memory.

use crate::args::AdviseArguments;
use crate::failure::Failure;
use crate::given::given_array_of;
use xla_shape_answers::advise::Advice;

pub(crate) fn run(arguments: &AdviseArguments) -> Result<(), Failure> {
    let array = given_array_of(&arguments.shape)?;
    let advice =
        Advice::new(array, &arguments.what_if, arguments.tpu.generation, arguments.top).map_err(Failure::said)?;
    super::show(&advice, arguments.answer.format)
}
