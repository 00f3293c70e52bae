//! `block`: whether a TPU kernel can work on blocks of arrays, and how much VMEM they need.

use crate::args::BlockArguments;
use crate::failure::Failure;
use crate::given::array_of;
use xla_shape::ArrayShape;
use xla_shape_answers::block::{BlockAnswers, Part};

pub(crate) fn run(arguments: &BlockArguments) -> Result<(), Failure> {
    let mut parts = Vec::new();
    let alone = [&arguments.array, &arguments.block].into_iter().flatten().cloned().collect::<Vec<_>>();
    pairs(&mut parts, &alone, |array, block| Part::Input { array, block })?;
    pairs(&mut parts, &arguments.inputs, |array, block| Part::Input { array, block })?;
    pairs(&mut parts, &arguments.outputs, |array, block| Part::Output { array, block })?;
    pairs(&mut parts, &arguments.fixed, |array, block| Part::Fixed { array, block })?;
    for shape in &arguments.scratch {
        parts.push(Part::Scratch(array_of(shape)?));
    }
    let answer = BlockAnswers::new(&parts, &arguments.generations, arguments.limit).map_err(Failure::said)?;
    super::show(&answer, arguments.answer.format)?;
    if answer.fit() { Ok(()) } else { Err(Failure::Told) }
}

/// Reads the shapes of arrays, each followed by that of its block.
fn pairs(parts: &mut Vec<Part>, shapes: &[String], part: fn(ArrayShape, ArrayShape) -> Part) -> Result<(), Failure> {
    for pair in shapes.chunks_exact(2) {
        if let [array, block] = pair {
            parts.push(part(array_of(array)?, array_of(block)?));
        }
    }
    Ok(())
}
