//! Asks the compilers of several kinds of devices. Some kinds may have no compiler.

use crate::cache::{Cache, Kept, Origin};
use crate::compilers::{Compilers, Job, Setup};
use crate::protocol::origin;
use crate::{TuneError, Workers};
use std::collections::{HashMap, HashSet};
use std::mem::{Discriminant, discriminant};
use xla_shape_answers::search::Search;
use xla_shape_pjrt::Target;
use xla_shape_program::{Compiler, Host};

/// The compilers that a question asks, and their answers so far.
pub(crate) struct Asking<'a, T> {
    compiler: &'a Compiler,
    host: &'a Host,
    workers: Option<&'a dyn Workers>,
    compilers: Compilers<'a, T>,
    /// The kinds of devices without a compiler, and why.
    missing: HashMap<Discriminant<Target>, TuneError>,
    /// The kinds of devices whose compiler has answered.
    answered: HashSet<Discriminant<Target>>,
}

impl<'a, T: Kept> Asking<'a, T> {
    pub(crate) fn new(
        compiler: &'a Compiler,
        host: &'a Host,
        workers: Option<&'a dyn Workers>,
        setup: Setup<'a>,
        cache: Option<Cache>,
    ) -> Self {
        let compilers = Compilers::new(setup, cache);
        Self { compiler, host, workers, compilers, missing: HashMap::new(), answered: HashSet::new() }
    }

    /// The answers to jobs. TPUs and GPUs have different compilers: if one compiler is missing, only the jobs for it get an error as their answer. If
    /// none has answered yet, the whole call is an error.
    pub(crate) fn ask(&mut self, jobs: &[Option<Job>]) -> Result<Vec<Option<Result<T, String>>>, TuneError> {
        let mut answers = vec![None; jobs.len()];
        let kinds: Vec<_> = jobs.iter().flatten().map(|job| discriminant(&job.target)).collect();
        let mut missing = None;
        for (_, kind) in kinds.iter().enumerate().filter(|(number, kind)| !kinds[..*number].contains(kind)) {
            let own = |job: &&Job| discriminant(&job.target) == *kind;
            let numbers = (0..jobs.len()).filter(|&number| jobs[number].as_ref().is_some_and(|job| own(&job)));
            let of_kind: Vec<_> = jobs.iter().flatten().filter(own).cloned().collect();
            let has_answered = self.answered.contains(kind);
            let said = match self.missing.get(kind) {
                Some(error) => Err(error.clone()),
                None => {
                    let added = of_kind.iter().try_for_each(|job| self.add_compiler(job));
                    added.and_then(|()| self.compilers.ask_each(&of_kind, has_answered))
                }
            };
            let said = match said {
                Ok(said) => {
                    self.answered.insert(*kind);
                    said
                }
                Err(error) => {
                    let row = vec![Some(Err(error.to_string())); of_kind.len()];
                    if !has_answered {
                        self.missing.insert(*kind, error.clone());
                    }
                    missing.get_or_insert(error);
                    row
                }
            };
            for (place, answer) in numbers.zip(said) {
                answers[place] = answer;
            }
        }
        missing.filter(|_| self.answered.is_empty()).map_or(Ok(answers), Err)
    }

    /// Adds the compiler for the device of a job.
    fn add_compiler(&mut self, job: &Job) -> Result<(), TuneError> {
        if self.compilers.has(&job.target) {
            return Ok(());
        }
        let compiler = self.compiler;
        let origin = match self.workers {
            Some(workers) => origin(workers, compiler, &job.target),
            None => Origin::here(compiler, &job.target, self.host),
        };
        self.compilers.add(compiler, &job.target, origin.map_err(TuneError::NoCompiler)?)
    }

    /// Like [`Compilers::finish`].
    pub(crate) fn finish(self) -> Search {
        self.compilers.finish()
    }
}
