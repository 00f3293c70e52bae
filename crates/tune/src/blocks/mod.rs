//! Which blocks are best: a kernel is compiled with many sizes of its blocks, and the candidates are sorted by a lower bound on their time.
//!
//! A [`Question`] has axes, and a [`Source`] that makes the program of each candidate. The answer is [`Ranking`]. Two kinds of candidates are not
//! compiled: those that certainly need more VMEM than they may use and, if the source knows the blocks, those with blocks that a TPU does not
//! support.

#[cfg(test)]
mod recorded;
#[cfg(test)]
mod tests;

use crate::asking::Asking;
use crate::cache::hash;
use crate::compilers::{Job, Setup};
use crate::fit::{check_axes, combinations};
use crate::kernels::too_large;
use crate::protocol::kernels_request;
use crate::ranked::Made;
use crate::workers::Threads;
use crate::{Devices, Keep, TuneError, Watch, Workers, jobs};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use xla_shape_answers::block::{BlockAnswer, KernelError, Part};
pub use xla_shape_answers::rank::Ranking;
use xla_shape_answers::rank::{State, Tried};
pub use xla_shape_answers::search::Axis;
use xla_shape_answers::search::{Search, setting, words};
use xla_shape_core::tpu::Generation;
use xla_shape_pjrt::Target;
use xla_shape_program::{Compiler, Host};

/// A question about a kernel's blocks on a TPU.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::AtomicBool;
/// use xla_shape_program::Host;
/// use xla_shape_tune::blocks::{Axis, Question, Source};
/// use xla_shape_answers::{block::Part, rank::State};
///
/// /// A kernel that copies rows of an array.
/// struct Rows([u64; 2]);
///
/// impl Source for Rows {
///     fn kernels(&self, at: &[usize]) -> Result<Vec<Vec<Part>>, String> {
///         let shape = |rows: u64| format!("f32[{rows},1024]").parse().map_err(|error| format!("{error}"));
///         Ok(vec![vec![Part::Input { array: shape(65536)?, block: shape(self.0[at[0]])? }]])
///     }
///
///     fn program(&self, _: &[usize]) -> Result<Arc<[u8]>, String> {
///         Err("this example makes no program".to_owned())
///     }
/// }
///
/// let rows = Rows([100, 65536]);
/// let axis = Axis::new("rows", rows.0.map(|rows| rows.to_string()));
/// let host = Host { command: vec![], python: None, notes: |_| {} };
/// let ranking = Question::new(vec![axis], "v6e".parse()?).answer(&rows, &host, None, &AtomicBool::new(false), &())?;
/// let states: Vec<_> = ranking.rows.iter().map(|row| row.state).collect();
/// assert_eq!(states, [State::NotAllowed, State::Missing]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Question {
    /// The axes along which the candidates differ.
    pub axes: Vec<Axis>,
    /// The TPU.
    pub devices: Devices,
    /// How many compilers run at a time on this machine; `None` for as many as fit into its memory and cores.
    pub jobs: Option<NonZeroUsize>,
    /// Where answers are kept.
    pub keep: Keep,
    /// The compiler.
    pub compiler: Compiler,
}

/// Makes the programs of candidates.
///
/// ```
/// use std::sync::Arc;
/// use xla_shape_tune::blocks::Source;
///
/// struct Programs(Vec<Vec<u8>>);
///
/// impl Source for Programs {
///     fn program(&self, at: &[usize]) -> Result<Arc<[u8]>, String> {
///         Ok(self.0[at[0]].as_slice().into())
///     }
/// }
///
/// let programs = Programs(vec![b"module {}".to_vec()]);
/// assert!(programs.kernels(&[0])?.is_empty(), "nothing is known of its blocks");
/// # Ok::<(), String>(())
/// ```
pub trait Source {
    /// The blocks of each kernel of a candidate, to explain why a TPU does not support them. `at` has the number of a value for each axis.
    /// Empty if the blocks are not known.
    ///
    /// # Errors
    /// Why the kernels could not be found for these values. The answer's row for these values contains the reason.
    fn kernels(&self, _at: &[usize]) -> Result<Vec<Vec<Part>>, String> {
        Ok(Vec::new())
    }

    /// The program of a candidate, as [`Program::from_bytes`](xla_shape_pjrt::Program::from_bytes) reads it.
    ///
    /// # Errors
    /// Why no program could be made for these values. The answer's row for these values contains the reason.
    fn program(&self, at: &[usize]) -> Result<Arc<[u8]>, String>;
}

impl Question {
    /// A question about axes on a TPU, with defaults for everything else.
    #[must_use]
    pub fn new(axes: Vec<Axis>, devices: Devices) -> Self {
        Self { axes, devices, jobs: None, keep: Keep::Own, compiler: Compiler::default() }
    }

    /// The candidates, the best first.
    ///
    /// - `workers`: where compilers run; `None` for processes of this machine.
    /// - `stop`: once it is set, nothing more is compiled, and the answer has what is known by then.
    ///
    /// # Errors
    /// If the axes are not valid, the device is not a TPU that a compiler knows, or no compiler can answer.
    pub fn answer(
        &self,
        source: &dyn Source,
        host: &Host,
        workers: Option<&dyn Workers>,
        stop: &AtomicBool,
        watch: &dyn Watch,
    ) -> Result<Ranking, TuneError> {
        check_axes(&self.axes)?;
        let target = self.devices.target.as_ref().map_err(|error| TuneError::NoCompiler(error.clone()))?;
        let not_tpu = || TuneError::NotTpu { device: self.devices.name.clone() };
        let generation = self.devices.generation().ok_or_else(not_tpu)?;
        let settings = combinations(&self.axes, None);
        let (mut tried, mut candidates) = (Vec::new(), Vec::new());
        for at in settings {
            // Making a program may take seconds, so make none after the stop.
            if stop.load(Ordering::Relaxed) {
                break;
            }
            match self.program(source, &at, generation) {
                Ok(code) => candidates.push((self.job(&at, code, target), at)),
                Err(why) => tried.push(Tried { at, made: Err(why) }),
            }
        }
        let threads = Threads::new(host, self.jobs.map_or_else(jobs, NonZeroUsize::get), stop);
        let setup = Setup { workers: workers.unwrap_or(&threads), stop, watch };
        let mut asking = Asking::new(&self.compiler, host, workers, setup, self.keep.cache::<Made>());
        let jobs = candidates.iter().map(|(job, _)| Some(job.clone())).collect::<Vec<_>>();
        let answers = asking.ask(&jobs)?;
        let mut versions = BTreeSet::new();
        for ((_, at), answer) in candidates.into_iter().zip(answers) {
            let made = match answer {
                Some(Ok(Made { refused: None, figures, compiler })) => {
                    versions.extend(compiler);
                    Ok(figures)
                }
                Some(Ok(Made { refused: Some(message), .. }) | Err(message)) => Err((State::Refused, message)),
                // The user stopped the search before this candidate had an answer.
                None => continue,
            };
            tried.push(Tried { at, made });
        }
        let (compilers, cut) = (versions.into_iter().collect(), stop.load(Ordering::Relaxed));
        let search = Search { compilers, cut, ..asking.finish() };
        let speed = generation.speed();
        let ranking = Ranking::new(&self.devices.name, self.axes.clone(), tried);
        Ok(Ranking {
            hbm_bytes_per_second: speed.map(|speed| speed.hbm_bandwidth * generation.cores_per_device()),
            clock_hz: speed.map(|speed| speed.clock),
            search,
            ..ranking
        })
    }

    /// The program of a candidate, unless a compiler would certainly refuse it.
    fn program(&self, source: &dyn Source, at: &[usize], generation: Generation) -> Result<Arc<[u8]>, (State, String)> {
        let missing = |error| (State::Missing, error);
        for parts in source.kernels(at).map_err(missing)? {
            // Only the program shows whether the blocks fit.
            if let Err(error @ KernelError::Block { .. }) = BlockAnswer::new(&parts, Some(generation), None) {
                return Err((State::NotAllowed, error.to_string()));
            }
        }
        let program = source.program(at).map_err(missing)?;
        // If flags change the default limit, the limit is not known.
        match too_large(&program, generation).filter(|_| !self.compiler.limits_vmem()) {
            Some(error) => Err((State::TooLarge, error)),
            None => Ok(program),
        }
    }

    fn job(&self, at: &[usize], code: Arc<[u8]>, target: &Target) -> Job {
        Job {
            name: hash(&code),
            program: code,
            target: target.clone(),
            request: kernels_request(&self.compiler, target),
            compiler: self.compiler.clone(),
            words: words(&self.axes, &setting(&self.axes, at)),
        }
    }
}
