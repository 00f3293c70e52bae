//! Advice about modules that are compiled already, without a compiler.

use super::{share, weighted};
use crate::args::TuneArguments;
use crate::failure::Failure;
use std::collections::BTreeMap;
use xla_shape::hlo::Module;
use xla_shape_answers::tune::Tuning;
use xla_shape_program::{Compiler, Program};
use xla_shape_tune::{Compiled, SharedArray};

/// What compiled modules say about the layouts of shared arrays.
pub(super) fn advice(arguments: &TuneArguments, names: &[String], files: &[Vec<u8>]) -> Result<Tuning, Failure> {
    // The caller has parsed all of each module, so no part of one is missing here.
    let files = arguments.programs.iter().zip(files);
    let opened = files.map(|(path, bytes)| Program::read(&path.display().to_string(), bytes.clone()));
    let opened = opened.collect::<Result<Vec<_>, _>>().map_err(|error| Failure::Shape(error.to_string()))?;
    let compiler = &arguments.compiler;
    for (is_given, option) in [
        (!arguments.memories.is_empty(), "--memory"),
        (arguments.jobs.is_some(), "--jobs"),
        (arguments.cache.is_some(), "--cache"),
        (arguments.no_cache, "--no-cache"),
        (compiler.plugin.is_some(), "--plugin"),
        (compiler.replicas.is_some(), "--replicas"),
        (compiler.partitions.is_some(), "--partitions"),
        (!compiler.options.is_empty(), "--option"),
        (compiler.time_limit != Compiler::TIME_LIMIT, "--time-limit"),
        (arguments.all, "--all"),
        (arguments.tilings, "--tilings"),
        (arguments.compiles.is_some(), "--compiles"),
        (arguments.at_most_bytes.is_some(), "--at-most-bytes"),
    ] {
        if is_given {
            return Err(Failure::said(format_args!(
                "{option} needs a compiler: expected StableHLO, found modules that are compiled already"
            )));
        }
    }
    let donated: Vec<_> = opened.iter().map(|program| donated(program.module())).collect();
    let shared = share::places(&arguments.shares, names, &donated)?;
    let programs = weighted(arguments, names)?;
    let slice = arguments.target.slice.clone().map_err(Failure::said)?;
    let mut all = Vec::new();
    for (program, name) in opened.iter().zip(names) {
        all.push(Compiled::new(program.module()).map_err(|error| Failure::said(format_args!("{name}: {error}")))?);
    }
    let measured: Vec<_> = all.iter().map(|one| one.measured.clone()).collect();
    let arrays = shared.into_iter().map(|(name, places)| SharedArray::new(&name, places, &programs, &measured));
    let arrays = arrays.collect::<Result<Vec<_>, _>>().map_err(Failure::said)?;
    Ok(xla_shape_tune::advise(&arrays, &programs, slice.generation(), &all))
}

/// The donated parameters of a module, each with the result that takes its memory.
fn donated(module: &Module) -> BTreeMap<usize, usize> {
    let aliases = module.attribute("input_output_alias").and_then(|value| value.aliases().ok()).unwrap_or_default();
    let whole = aliases.iter().filter(|alias| alias.parameter_index.is_empty() && alias.result_index.len() <= 1);
    whole.map(|alias| (alias.parameter, alias.result_index.first().copied().unwrap_or(0))).collect()
}
