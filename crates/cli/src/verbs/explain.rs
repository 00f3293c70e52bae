//! `explain`: what a shape's text means, where its elements are, and how much memory they take.

use crate::args::ExplainArguments;
use crate::failure::Failure;
use crate::given::{array_of, given_of, index_of, registers_of, sharding_of};
use xla_shape::text::Parser;
use xla_shape_answers::explain::{Location, OnDevices};

pub(crate) fn run(arguments: &ExplainArguments) -> Result<(), Failure> {
    let (text, format) = (&arguments.shape, arguments.answer.format);
    if let Some(layout) = &arguments.vector {
        let vector = array_of(text)?;
        let mut registers = registers_of(&vector, layout)?;
        if let Some(index) = &arguments.index {
            registers = registers.at(&index_of(index, &vector)?).map_err(Failure::said)?;
        }
        return super::show(&registers, format);
    }
    if let Some(index) = &arguments.index {
        let array = array_of(text)?;
        return super::show(&Location::at_index(&array, &index_of(index, &array)?).map_err(Failure::said)?, format);
    }
    if let Some(position) = arguments.position {
        return super::show(&Location::at_position(&array_of(text)?, position).map_err(Failure::said)?, format);
    }
    // It is an error if the choice of a generation is not known. The error points at the place in the text.
    for generation in arguments.devices.iter().filter_map(|device| device.generation()) {
        Parser::whole(text).for_tpu(generation).shape().map_err(|error| Failure::shape(&error, text))?;
    }
    let sharding = arguments.sharding.as_deref().map(sharding_of).transpose()?;
    let explanation = OnDevices::new(given_of(text)?, &arguments.devices, sharding).map_err(Failure::said)?;
    super::show(&explanation, format)
}
