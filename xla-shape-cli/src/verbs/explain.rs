//! `explain`: what a shape's text means, where its elements are and what it takes.

use crate::args::ExplainArguments;
use crate::failure::Failure;
use xla_shape_render::explain::Explanation;

pub(crate) fn run(arguments: &ExplainArguments) -> Result<(), Failure> {
    super::show(&Explanation::new(super::shape_of(&arguments.shape)?), arguments.format)
}
