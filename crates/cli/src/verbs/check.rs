//! `check`: one answer for each line.

use super::answers;
use crate::args::CheckArguments;
use crate::failure::Failure;
use std::io::Read;
use std::path::Path;
use xla_shape_answers::check::Checker;

pub(crate) fn run(arguments: &CheckArguments) -> Result<(), Failure> {
    let input = xla_shape_files::open(&arguments.input.file)?;
    let checker = if arguments.sharding { Checker::of_shardings() } else { Checker::of_shapes(arguments.generation) };
    let all_good = answers::answer(checker, &arguments.input.file, input, &mut std::io::stdout().lock())?;
    if all_good { Ok(()) } else { Err(Failure::Told) }
}

/// The answers to the lines of an input, as shapes, and whether all lines are good.
pub(crate) fn answers_to(input: impl Read) -> Result<(Vec<u8>, bool), Failure> {
    let mut output = Vec::new();
    let all_good = answers::answer(Checker::of_shapes(None), Path::new("-"), input, &mut output)?;
    Ok((output, all_good))
}
