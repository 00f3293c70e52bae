//! `explain`: what a shape's text means, where its elements are, and how much memory they take.

use super::vector::registers;
use crate::args::ExplainArguments;
use crate::failure::Failure;
use crate::given::{array_of, given_of, sharding_of};
use xla_shape_render::explain::Explanation;

pub(crate) fn run(arguments: &ExplainArguments) -> Result<(), Failure> {
    if let Some(layout) = &arguments.vector {
        return super::show(&registers(&array_of(&arguments.shape)?, layout)?, arguments.answer.format);
    }
    let mut explanation = Explanation::new(given_of(&arguments.shape)?);
    if let Some(generation) = arguments.generation {
        explanation = explanation.for_tpu(generation);
    }
    if let Some(text) = &arguments.sharding {
        explanation = explanation.with_sharding(sharding_of(text)?).map_err(Failure::said)?;
    }
    super::show(&explanation, arguments.answer.format)
}
