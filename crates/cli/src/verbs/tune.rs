//! `tune`: the best layout of an array that several programs share.

use crate::args::{Format, TuneArguments};
use crate::failure::{Failure, INTERRUPTED};
use crate::io;
use indicatif::{ProgressBar, ProgressStyle};
use signal_hook::consts::SIGINT;
use signal_hook::flag;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use xla_shape_files::check_outputs;
use xla_shape_program::{Host, Opened};
use xla_shape_render::harmless;
use xla_shape_render::tune::page;
use xla_shape_tune::{Given, Question, TuneError, Watch};

pub(crate) fn run(arguments: &TuneArguments, host: &Host) -> Result<(), Failure> {
    check_outputs(arguments.programs.iter().map(PathBuf::as_path), arguments.html.as_deref())?;
    let stop = interruption()?;
    let question = question(arguments)?;
    let progress = Progress::new(arguments.answer.format);
    let tuning = question.answer(host, None, &stop, &progress);
    progress.finish();
    let mut tuning = tuning.map_err(failure)?;
    tuning.device = (!tuning.is_advice()).then(|| arguments.target.name.clone());
    // The compilers have finished. From here on, Ctrl-C ends the program at once.
    stop.store(true, Ordering::Relaxed);
    let files = arguments.programs.iter().map(PathBuf::as_path).collect::<Vec<_>>();
    super::show_with_page(&tuning, arguments.answer.format, &files, arguments.html.as_deref(), || page(&tuning))?;
    if tuning.is_ended() {
        return Err(Failure::Interrupted);
    }
    if tuning.has_best() || tuning.is_advice() { Ok(()) } else { Err(Failure::Told) }
}

/// A flag that the first Ctrl-C sets. While it is set, Ctrl-C ends the program at once.
pub(super) fn interruption() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    // Both handlers run at each signal, in this order. So at the first signal, the flag is not yet set when the shutdown handler reads it.
    let registered = flag::register_conditional_shutdown(SIGINT, INTERRUPTED.into(), Arc::clone(&stop))
        .and_then(|_| flag::register(SIGINT, Arc::clone(&stop)));
    match registered {
        Ok(_) => Ok(stop),
        Err(error) => Err(Failure::said(format_args!("cannot react to Ctrl-C: {error}"))),
    }
}

/// The question that the arguments ask.
fn question(arguments: &TuneArguments) -> Result<Question, Failure> {
    let names = names(arguments.programs.iter().map(PathBuf::as_path));
    let given = |(path, name): (&PathBuf, String)| {
        Ok(Given { name, file: path.display().to_string(), code: Opened::source(path)? })
    };
    let programs = arguments.programs.iter().zip(names).map(given).collect::<Result<Vec<_>, Failure>>()?;
    let target = arguments.target.target.clone().map_err(Failure::said)?;
    Ok(Question {
        memories: arguments.memories.clone(),
        weights: arguments.weights.clone(),
        all: arguments.all,
        tilings: arguments.tilings,
        at_most_bytes: arguments.at_most_bytes,
        most: arguments.compiles,
        jobs: arguments.search.jobs(),
        keep: arguments.search.keep(),
        compiler: arguments.compiler.compiler(),
        ..Question::new(programs, arguments.shares.clone(), target)
    })
}

/// The names of the programs: each file's name without its extension, or the whole path if two files have the same name.
pub(super) fn names<'a>(files: impl Iterator<Item = &'a Path> + Clone) -> Vec<String> {
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = |path: &'a Path| {
        let is_alone = files.clone().filter(|other| stem(other) == stem(path)).count() == 1;
        if is_alone { stem(path) } else { path.display().to_string() }
    };
    files.clone().map(name).collect()
}

/// The failure for an error. The message names the option that the error is about.
fn failure(error: TuneError) -> Failure {
    match error {
        TuneError::Unfinished { .. } => Failure::NoResult(error.to_string()),
        TuneError::MemoryOfNone { .. } | TuneError::MemoryTwice { .. } => {
            Failure::said(format_args!("--memory: {error}"))
        }
        TuneError::NeedsCompiler { .. } => Failure::said(format_args!("--{error}")),
        _ => Failure::said(error),
    }
}

/// The progress bar on standard error, if that is a terminal.
pub(super) struct Progress {
    bar: ProgressBar,
    format: Format,
}

impl Progress {
    pub(super) fn new(format: Format) -> Self {
        let bar = ProgressBar::new(0);
        // If the template were invalid, the default style would be used.
        if let Ok(style) = ProgressStyle::with_template("{spinner} {pos} of {len} compiled  {msg} {elapsed}") {
            bar.set_style(style);
        }
        Self { bar, format }
    }

    /// Removes the bar.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Watch for Progress {
    fn wanted(&self, compilations: usize) {
        self.bar.enable_steady_tick(Duration::from_millis(100));
        self.bar.inc_length(compilations as u64);
    }

    fn compiled(&self) {
        self.bar.inc(1);
        let (done, all) = (self.bar.position(), self.bar.length().unwrap_or_default());
        io::report(self.format, &format!("{done} of {all} compiled"));
    }

    fn compiling(&self, what: &str) {
        self.bar.set_message(harmless(what).into_owned());
    }

    fn warn(&self, warning: &str) {
        self.bar.finish_and_clear();
        io::tell(format_args!("warning: {warning}"));
    }
}

#[cfg(test)]
mod tests {
    use super::names;
    use std::path::Path;

    #[test]
    fn programs_have_different_names() {
        let of = |files: &[&'static str]| names(files.iter().map(Path::new));
        assert_eq!(of(&["x/prefill.mlir", "decode.mlir"]), ["prefill", "decode"]);
        assert_eq!(of(&["x/step.mlir", "y/step.mlir"]), ["x/step.mlir", "y/step.mlir"]);
    }
}
