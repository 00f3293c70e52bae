//! Which blocks are best: a kernel is compiled with many sizes of its blocks, and the candidates are ordered by the least time that each can take.
//!
//! A [`Question`] has axes, and a [`Source`] that makes the program of each candidate. The answer is [`Ranking`]. Candidates whose blocks a TPU does
//! not take, or that need more VMEM than there is, are not compiled if the source knows their blocks.

#[cfg(test)]
mod tests;

use crate::asking::Asking;
use crate::cache::{Kept, hash};
use crate::compilers::{Job, Setup};
use crate::fit::{check_axes, combinations, words_at};
use crate::protocol::kernels_request;
use crate::workers::Threads;
use crate::{Devices, Keep, TuneError, Watch, Workers, jobs};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
pub use xla_shape_answers::block::rank::{Axis, Ranking};
use xla_shape_answers::block::rank::{Figures, State, Tried};
use xla_shape_answers::block::{BlockAnswer, KernelError, Part};
use xla_shape_answers::fit::Need;
use xla_shape_core::tpu::Generation;
use xla_shape_pjrt::Target;
use xla_shape_program::{CompileError, Compiler, Host, KernelFiles};

/// A question about a kernel's blocks on a TPU.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::AtomicBool;
/// use xla_shape_program::Host;
/// use xla_shape_tune::blocks::{Axis, KernelParts, Question, Source};
/// use xla_shape_answers::block::{Part, rank::State};
///
/// /// A kernel that copies rows of an array.
/// struct Rows([u64; 2]);
///
/// impl Source for Rows {
///     fn kernels(&self, at: &[usize]) -> Result<Vec<KernelParts>, String> {
///         let shape = |rows: u64| format!("f32[65536,{rows}]").parse().map_err(|error| format!("{error}"));
///         let block = format!("f32[{},1024]", self.0[at[0]]).parse().map_err(|error| format!("{error}"))?;
///         Ok(vec![KernelParts { parts: vec![Part::Input { array: shape(1024)?, block }], limit: None, is_alone: true }])
///     }
///
///     fn program(&self, _: &[usize]) -> Result<Arc<[u8]>, String> {
///         Err("there is no program".to_owned())
///     }
/// }
///
/// let rows = Rows([100, 65536]);
/// let axis = Axis { name: "rows".to_owned(), values: rows.0.map(|rows| rows.to_string()).to_vec() };
/// let host = Host { command: vec![], python: None, notes: |_| {} };
/// let ranking = Question::new(vec![axis], "v6e".parse()?).answer(&rows, &host, None, &AtomicBool::new(false), &())?;
/// let states: Vec<_> = ranking.rows.iter().map(|row| row.state).collect();
/// assert_eq!(states, [State::NotAllowed, State::TooLarge]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Question {
    /// What differs between the candidates.
    pub axes: Vec<Axis>,
    /// The TPU.
    pub devices: Devices,
    /// How many compilers run at a time on this machine; `None` for as many as it has room for.
    pub jobs: Option<NonZeroUsize>,
    /// Where answers are kept.
    pub keep: Keep,
    /// The compiler.
    pub compiler: Compiler,
}

/// The blocks of one kernel of a program, as far as they are known.
///
/// ```
/// use xla_shape_answers::block::Part;
/// use xla_shape_tune::blocks::KernelParts;
///
/// let scratch = Part::Scratch("f32[512,512]".parse()?);
/// assert_eq!(KernelParts { parts: vec![scratch], limit: Some(64 << 20), is_alone: true }.parts.len(), 1);
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelParts {
    /// Blocks and scratch buffers.
    pub parts: Vec<Part>,
    /// The bytes of VMEM that the kernel may use (`vmem_limit_bytes`); `None` for the compiler's default.
    pub limit: Option<u64>,
    /// Whether the program has nothing but this kernel. Otherwise, XLA may keep arrays between its operations in VMEM. Such an array needs no blocks, so only
    /// blocks of arrays that are larger than VMEM are counted.
    pub is_alone: bool,
}

impl KernelParts {
    /// The parts that are in VMEM for certain.
    fn certain(&self, generation: Generation) -> Vec<Part> {
        let is_certain = |part: &&Part| match part {
            Part::Input { array, .. } | Part::Output { array, .. } | Part::Fixed { array, .. } => {
                self.is_alone || array.byte_size().is_some_and(|bytes| bytes > generation.vmem_bytes())
            }
            _ => true,
        };
        self.parts.iter().filter(is_certain).cloned().collect()
    }
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
    /// The kernels of a candidate, of which `at` has the number of each axis' value. Empty if they are not known before the program is compiled.
    ///
    /// # Errors
    /// If there is no program for these values, in words.
    fn kernels(&self, _at: &[usize]) -> Result<Vec<KernelParts>, String> {
        Ok(Vec::new())
    }

    /// The program of a candidate, as [`Program::from_bytes`](xla_shape_pjrt::Program::from_bytes) reads it.
    ///
    /// # Errors
    /// If there is no program for these values, in words. The answer then has a row that says so.
    fn program(&self, at: &[usize]) -> Result<Arc<[u8]>, String>;
}

/// What a compiler made of the kernels of a program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Made {
    /// Why it refused the program, where it will do so again.
    refused: Option<String>,
    figures: Figures,
    /// The compiler's version, in its own words; `None` if it is not known.
    compiler: Option<String>,
}

impl Kept for Made {
    const FOLDER: &'static str = "blocks-1";

    fn version(&self) -> Option<&str> {
        self.compiler.as_deref()
    }
}

/// Compiles a program, and reads what the compiler says about its kernels.
pub(crate) fn made(
    stop: &AtomicBool,
    host: &Host,
    program: &[u8],
    compiler: &Compiler,
    device: &str,
) -> Result<Made, CompileError> {
    let refused = |message: String| CompileError::Refused(message);
    let devices = device.parse::<Devices>().map_err(|error| refused(error.to_string()))?;
    let target = devices.target.clone().map_err(CompileError::Refused)?;
    let generation = devices.generation().ok_or_else(|| refused(format!("{device} is not a TPU")))?;
    let cannot = |error: std::io::Error| {
        CompileError::NoCompiler(format!("cannot make a directory for the compiler's files: {error}"))
    };
    let folder = tempfile::tempdir().map_err(cannot)?;
    let said = match compiler.compile_dumping(stop, host, target, program, folder.path()) {
        Ok(said) => said,
        // Too little memory is too little next time. Whatever else it is may not happen again.
        Err(CompileError::Refused(message)) if Need::of_refusal(message.clone()).fits == Some(false) => {
            return Ok(Made { refused: Some(message), figures: Figures::default(), compiler: None });
        }
        Err(error) => return Err(error),
    };
    let dump = KernelFiles::open(folder.path()).map_err(|error| refused(error.to_string()))?;
    let kernels = dump.as_ref().map(KernelFiles::kernels).unwrap_or_default();
    if kernels.is_empty() {
        return Err(refused(
            "the compiler dumped no kernel: the program calls none, or the compiler is not libtpu".to_owned(),
        ));
    }
    Ok(Made { refused: None, figures: Figures::new(&kernels, generation), compiler: said.compiler })
}

impl Question {
    /// A question about axes on a TPU, with everything else as it is if nobody says it.
    #[must_use]
    pub fn new(axes: Vec<Axis>, devices: Devices) -> Self {
        Self { axes, devices, jobs: None, keep: Keep::Own, compiler: Compiler::default() }
    }

    /// The candidates, the best first.
    ///
    /// workers: where compilers run; `None` for processes of this machine.
    /// stop: once it is set, nothing more is compiled, and the answer has what is known by then.
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
        check_axes(self.axes.iter().map(|axis| (&axis.name, &axis.values)))?;
        let target = self.devices.target.as_ref().map_err(|error| TuneError::NoCompiler(error.clone()))?;
        let not_tpu = || TuneError::NotTpu { device: self.devices.name.clone() };
        let generation = self.devices.generation().ok_or_else(not_tpu)?;
        let settings = combinations(self.axes.iter().map(|axis| axis.values.len()), None);
        let (mut tried, mut candidates) = (Vec::new(), Vec::new());
        for at in settings {
            // To trace or to make a program may take seconds.
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let missing = |error| (State::Missing, error);
            let code = self.prune(source, &at, generation).and_then(|()| source.program(&at).map_err(missing));
            match code {
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
                // The user did not wait for it.
                None => continue,
            };
            tried.push(Tried { at, made });
        }
        let (kept, goes_on) = asking.finish();
        let speed = generation.speed();
        let ranking = Ranking::new(&self.devices.name, self.axes.clone(), tried);
        Ok(Ranking {
            hbm_bytes_per_second: speed.map(|speed| speed.hbm_bandwidth.saturating_mul(generation.cores_per_device())),
            clock_hz: speed.map(|speed| speed.clock),
            kept,
            goes_on,
            compilers: versions.into_iter().collect(),
            cut: stop.load(Ordering::Relaxed),
            ..ranking
        })
    }

    /// Refuses a candidate that no compiler takes.
    fn prune(&self, source: &dyn Source, at: &[usize], generation: Generation) -> Result<(), (State, String)> {
        let kernels = source.kernels(at).map_err(|error| (State::Missing, error))?;
        // Where flags change the default limit, only a kernel's own limit is known.
        let is_changed = self.compiler.limits_vmem();
        for kernel in &kernels {
            let limit = kernel.limit;
            let judged = BlockAnswer::new(&kernel.parts, Some(generation), limit);
            match judged.and_then(|_| BlockAnswer::new(&kernel.certain(generation), Some(generation), limit)) {
                Ok(answer) if !answer.fits && (limit.is_some() || !is_changed) => {
                    let (needs, of) = (answer.vmem_bytes, answer.limit_bytes);
                    let mebibytes = |bytes: u64| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
                    let (needs, of) = (mebibytes(needs), mebibytes(of));
                    return Err((
                        State::TooLarge,
                        format!("its blocks need {needs} of VMEM, and a kernel may use {of}"),
                    ));
                }
                Err(error @ KernelError::Block { .. }) => return Err((State::NotAllowed, error.to_string())),
                _ => {}
            }
        }
        Ok(())
    }

    fn job(&self, at: &[usize], code: Arc<[u8]>, target: &Target) -> Job {
        Job {
            name: hash(&code),
            program: code,
            target: target.clone(),
            request: kernels_request(&self.compiler, target),
            compiler: self.compiler.clone(),
            words: words_at(self.axes.iter().map(|axis| (&axis.name, &axis.values)), at),
        }
    }
}
