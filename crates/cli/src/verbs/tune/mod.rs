//! `tune`: the best layout of an array that several programs share.

mod advice;
mod cache;
mod compilers;
mod share;
mod workers;

use crate::args::TuneArguments;
use crate::failure::{Failure, INTERRUPTED};
use cache::Origin;
use compilers::Compilers;
use signal_hook::consts::SIGINT;
use signal_hook::flag;
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use workers::{Threads, asking, origin};
pub use workers::{Workers, answer, jobs};
use xla_shape_answers::tune::Tuning;
use xla_shape_files::{check_outputs, contents};
use xla_shape_pjrt::{Error, Program};
use xla_shape_program::Host;
use xla_shape_render::tune::page;
use xla_shape_tune::{Ask, Options, Program as Weighted, Requested, SharedArray, TuneError};

/// The compiler chooses the layout.
const ANY: Requested = Requested { layout: None, memory: None };

pub(crate) fn run(arguments: &TuneArguments, host: &Host) -> Result<(), Failure> {
    check_outputs(arguments.programs.iter().map(PathBuf::as_path), arguments.html.as_deref())?;
    let stop = interruption()?;
    let tuning = tuned(arguments, host, None, &stop)?;
    // Nothing is left to end but the output.
    stop.store(true, Ordering::Relaxed);
    super::show_with_page(&tuning, arguments.answer.format, arguments.html.as_deref(), || page(&tuning))?;
    if tuning.is_ended() {
        return Err(Failure::Interrupted);
    }
    if tuning.has_best() || tuning.is_advice() { Ok(()) } else { Err(Failure::Told) }
}

/// A flag that the first Ctrl-C sets. While it is set, Ctrl-C ends the program at once.
fn interruption() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    // They run in this order: the first signal finds the flag as it was, and then sets it.
    let registered = flag::register_conditional_shutdown(SIGINT, INTERRUPTED.into(), Arc::clone(&stop))
        .and_then(|_| flag::register(SIGINT, Arc::clone(&stop)));
    match registered {
        Ok(_) => Ok(stop),
        Err(error) => Err(Failure::said(format_args!("cannot react to Ctrl-C: {error}"))),
    }
}

/// The best layouts. The compilers run in these workers, or in processes of this machine.
///
/// stop: once it is set, nothing more is compiled, and the answer is the best so far.
pub(crate) fn tuned(
    arguments: &TuneArguments,
    host: &Host,
    workers: Option<&dyn Workers>,
    stop: &AtomicBool,
) -> Result<Tuning, Failure> {
    let names = share::names(arguments.programs.iter().map(PathBuf::as_path));
    let mut unique = HashSet::new();
    if let Some(name) = names.iter().find(|name| !unique.insert(*name)) {
        return Err(Failure::said(format_args!("{name} is given twice")));
    }
    let files = arguments.programs.iter().map(|path| Ok(contents(path)?)).collect::<Result<Vec<_>, Failure>>()?;
    let programs = arguments.programs.iter().zip(&files).map(|(path, bytes)| match Program::from_bytes(bytes) {
        Ok(program) => Ok(Some(program)),
        // It can only give advice.
        Err(Error::Optimized) => Ok(None),
        Err(error) => Err(Failure::said(format_args!("{}: {error}", path.display()))),
    });
    let programs = programs.collect::<Result<Vec<_>, Failure>>()?;
    let is_hlo = |program: &Option<Program>| program.as_ref().is_some_and(|program| program.format() == "hlo");
    if let Some((name, _)) = names.iter().zip(&programs).find(|(_, program)| is_hlo(program)) {
        return Err(Failure::said(format_args!(
            "{name} is HLO, and XLA ignores the layouts that HLO asks for: write the program as text of MLIR (JAX: `lowered.as_text()`), or \
             give the module as it is after compilation, to get advice without a compiler"
        )));
    }
    let compiled = names.iter().zip(&programs).find(|(_, program)| program.is_none());
    let programs: Vec<Program> = programs.iter().flatten().cloned().collect();
    if let Some((name, _)) = compiled {
        if !programs.is_empty() {
            return Err(Failure::said(format_args!(
                "{name} is compiled already, and another program is not: give all programs as text of MLIR to compile them, or all as \
                 compiled modules to get advice without a compiler"
            )));
        }
        return advice::advice(arguments, &names, &files);
    }
    let donated: Vec<_> = programs.iter().map(Program::donated).collect();
    let shared = share::places(&arguments.shares, &names, &donated)?;
    share::check_memories(&arguments.shares, &arguments.memories)?;
    // Reports places that no program has before it starts a compiler.
    for (number, program) in programs.iter().enumerate() {
        let places = shared.iter().flat_map(|(_, places)| places).filter(|(owner, _)| *owner == number);
        let modes = places.map(|(_, place)| (place.clone(), ANY)).collect();
        asking(program, &modes).map_err(|error| Failure::said(format_args!("{}: {error}", names[number])))?;
    }
    let weighted = weighted(arguments, &names)?;
    let slice = arguments.target.slice.clone().map_err(Failure::said)?;
    let threads = Threads::new(host, &programs, arguments.jobs.map_or_else(jobs, |jobs| jobs as usize), stop);
    let mut compiler = arguments.compiler.compiler();
    let origin = match workers {
        Some(workers) => origin(workers, &compiler).map_err(Failure::said)?,
        None => {
            let origin = Origin::here(&compiler, host).map_err(Failure::said)?;
            // All processes load the same file.
            compiler.plugin = Some(origin.compiler.path().to_owned());
            origin
        }
    };
    let workers = workers.unwrap_or(&threads);
    let mut compilers = Compilers::new(arguments, compiler, origin, &programs, &slice, workers, stop)?;
    // Arrays are read from the compiled program, because a device may have only a part of an array.
    let places = |program: usize| {
        let own = shared.iter().flat_map(|(_, places)| places).filter(move |(owner, _)| *owner == program);
        own.map(|(_, place)| (place.clone(), ANY)).collect::<BTreeMap<_, _>>()
    };
    let today: Vec<_> = (0..programs.len()).map(|program| (program, BTreeMap::new())).collect();
    let preferred = (0..programs.len()).map(|program| (program, places(program)));
    let answers = compilers.compile(&today.iter().cloned().chain(preferred).collect::<Vec<_>>())?;
    let mut compiled = Vec::new();
    for (program, answer) in weighted.iter().zip(answers) {
        let name = || program.name.clone();
        let failed = match answer {
            Some(Ok(measured)) => {
                compiled.push(measured);
                continue;
            }
            Some(Err(message)) => TuneError::Today { program: name(), message },
            None => TuneError::Unfinished { program: name() },
        };
        compilers.finish();
        return Err(failure(failed));
    }
    let arrays = shared.into_iter().map(|(name, places)| SharedArray::new(&name, places, &weighted, &compiled));
    let arrays = arrays.collect::<Result<Vec<_>, _>>().map_err(Failure::said)?;
    let arrays = share::with_memories(arrays, &arguments.memories);
    let options = Options {
        generation: slice.generation(),
        all: arguments.all,
        tilings: arguments.tilings,
        at_most_bytes: arguments.at_most_bytes,
        most: arguments.compiles,
    };
    let mut trouble = None;
    let mut compile = |asks: &[(usize, Ask)]| {
        let asks: Vec<_> = asks.iter().map(|(program, ask)| (*program, ask.places(&arrays, *program))).collect();
        compilers.compile(&asks).unwrap_or_else(|failure| {
            // If no compiler can run, the search ends: later requests have no answer either.
            let message = failure.to_string();
            trouble.get_or_insert(failure);
            vec![Some(Err(message)); asks.len()]
        })
    };
    let tuning = xla_shape_tune::search(&arrays, &weighted, &options, &mut compile);
    if let Some(failure) = trouble {
        return Err(failure);
    }
    let (kept, goes_on) = compilers.finish();
    Ok(tuning.map_err(failure)?.with_cache(kept, goes_on))
}

fn failure(error: TuneError) -> Failure {
    match error {
        TuneError::Unfinished { .. } => Failure::NoResult(error.to_string()),
        _ => Failure::said(error),
    }
}

/// The programs with their weights.
fn weighted(arguments: &TuneArguments, names: &[String]) -> Result<Vec<Weighted>, Failure> {
    let mut weights = vec![1; names.len()];
    for (name, weight) in &arguments.weights {
        weights[share::number(names, name)?] = *weight;
    }
    Ok(names.iter().zip(weights).map(|(name, weight)| Weighted { name: name.clone(), weight }).collect())
}
