//! `tpu`: the layout that a TPU chooses for a shape.

use super::answers::{self, Answerer, Problem};
use crate::args::{Format, TpuArguments};
use crate::failure::Failure;
use std::path::Path;
use xla_shape::tpu::Generation;
use xla_shape_answers::Answer;
use xla_shape_render::tpu::Choices;

pub(crate) fn run(arguments: &TpuArguments) -> Result<(), Failure> {
    let generations = &arguments.generations;
    if arguments.shape == "-" {
        let input = std::io::stdin().lock();
        let output = &mut std::io::stdout().lock();
        let all_good = answers::answer(Lines { generations }, Path::new("-"), input, output)?;
        return if all_good { Ok(()) } else { Err(Failure::Told) };
    }
    let choices = Choices::new(&arguments.shape, generations);
    let mut errors = choices.errors();
    if let (Format::Text, Some(error), None) = (arguments.answer.format, errors.next(), generations.get(1)) {
        return Err(Failure::shape(error, &arguments.shape));
    }
    super::show(&choices, arguments.answer.format)?;
    if choices.is_good() { Ok(()) } else { Err(Failure::Told) }
}

/// Answers each line of the input.
struct Lines<'a> {
    generations: &'a [Generation],
}

impl Answerer for Lines<'_> {
    fn answer(&mut self, text: &str, answers: &mut Vec<u8>) -> bool {
        let choices = Choices::new(text, self.generations);
        answers.extend_from_slice(choices.json().as_bytes());
        choices.is_good()
    }

    fn refuse(&mut self, input: &str, problem: Problem, answers: &mut Vec<u8>) {
        let span = problem.span.map(|byte| usize::try_from(byte).unwrap_or(usize::MAX));
        let choices = Choices::refused(input, self.generations, &problem.message, span);
        answers.extend_from_slice(choices.json().as_bytes());
    }
}
