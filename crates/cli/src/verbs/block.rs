//! `block`: whether a TPU kernel can work on blocks of arrays, and how much VMEM they need; with `--rank`, which blocks are best.

use super::fit::program;
use super::tune::{Progress, interruption, names};
use crate::args::BlockArguments;
use crate::failure::Failure;
use crate::given::array_of;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use xla_shape::ArrayShape;
use xla_shape_answers::DEFAULT_GENERATION;
use xla_shape_answers::block::{BlockAnswers, Part};
use xla_shape_program::Host;
use xla_shape_tune::Devices;
use xla_shape_tune::blocks::{Axis, Question, Source};

pub(crate) fn run(arguments: &BlockArguments, host: &Host) -> Result<(), Failure> {
    if !arguments.rank.is_empty() {
        return rank(arguments, host);
    }
    if arguments.search.is_given() || arguments.compiler.is_given() {
        return Err(Failure::usage("options of compilers need --rank: without it, nothing is compiled"));
    }
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

/// Reads the shapes of arrays, each followed by the shape of its block.
fn pairs(parts: &mut Vec<Part>, shapes: &[String], part: fn(ArrayShape, ArrayShape) -> Part) -> Result<(), Failure> {
    for pair in shapes.chunks_exact(2) {
        if let [array, block] = pair {
            parts.push(part(array_of(array)?, array_of(block)?));
        }
    }
    Ok(())
}

/// Ranks the versions of a kernel with different blocks.
fn rank(arguments: &BlockArguments, host: &Host) -> Result<(), Failure> {
    let generation = match arguments.generations.as_slice() {
        [] => DEFAULT_GENERATION,
        [generation] => *generation,
        several => {
            let count = several.len();
            return Err(Failure::usage(format_args!(
                "--rank is about one TPU: expected one after --for, found {count}"
            )));
        }
    };
    let devices = generation.name().parse::<Devices>().map_err(Failure::said)?;
    let files = arguments.rank.iter().map(PathBuf::as_path).collect::<Vec<_>>();
    let stop = interruption()?;
    let programs = Programs(files.iter().copied().map(program).collect::<Result<_, Failure>>()?);
    let axis = Axis::new("program", names(files.iter().copied()));
    let question = Question {
        jobs: arguments.search.jobs(),
        keep: arguments.search.keep(),
        compiler: arguments.compiler.compiler(),
        ..Question::new(vec![axis], devices)
    };
    let progress = Progress::new(arguments.answer.format);
    let ranking = question.answer(&programs, host, None, &stop, &progress);
    progress.finish();
    let ranking = ranking.map_err(Failure::said)?;
    // The compilers have finished. From here on, Ctrl-C ends the program at once.
    stop.store(true, Ordering::Relaxed);
    super::show_of(&ranking, arguments.answer.format, &files)?;
    if ranking.search.cut {
        return Err(Failure::Interrupted);
    }
    if ranking.has_best() { Ok(()) } else { Err(Failure::Told) }
}

/// One program for each candidate.
struct Programs(Vec<Arc<[u8]>>);

impl Source for Programs {
    fn program(&self, at: &[usize]) -> Result<Arc<[u8]>, String> {
        let program = at.first().and_then(|&number| self.0.get(number));
        program.map(Arc::clone).ok_or_else(|| "this program was not asked for".to_owned())
    }
}
