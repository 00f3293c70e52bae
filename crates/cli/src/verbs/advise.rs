//! `advise`: layouts that take less memory, or that operations prefer.

use crate::args::AdviseArguments;
use crate::failure::Failure;
use crate::given::given_array_of;
use xla_shape_answers::advise::{Advice, GpuAdvice};
use xla_shape_answers::hlo::Device;

pub(crate) fn run(arguments: &AdviseArguments) -> Result<(), Failure> {
    let array = given_array_of(&arguments.shape)?;
    if let Some(gpu) = arguments.device.and_then(Device::gpu) {
        let advice = GpuAdvice::new(array, &arguments.what_if, gpu).map_err(Failure::said)?;
        return super::show(&advice, arguments.answer.format);
    }
    let generation = arguments.device.and_then(Device::generation);
    let advice = Advice::new(array, &arguments.what_if, generation, arguments.top).map_err(Failure::said)?;
    super::show(&advice, arguments.answer.format)
}
