//! What fits: programs are compiled in many settings, and bisection finds the sizes from which they no longer fit.
//!
//! A [`Question`] has axes, and a [`Source`] that makes the program of each setting. The answer is [`Fit`].

mod border;
#[cfg(test)]
mod tests;

use crate::asking::Asking;
use crate::cache::hash;
use crate::compilers::{Job, Setup};
pub(crate) use crate::needed::Needed;
use crate::protocol::need_request;
use crate::workers::Threads;
use crate::{Devices, Keep, TuneError, Watch, Workers, jobs};
use border::{Line, Outcome, Tried};
use std::collections::{BTreeSet, HashSet};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
pub use xla_shape_answers::fit::Fit;
use xla_shape_answers::fit::{self, Need};
pub use xla_shape_answers::search::Axis;
use xla_shape_answers::search::{self, words};
use xla_shape_program::{Compiler, Host};

/// A question about settings, each of which has one value of every axis.
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// use xla_shape_program::Host;
/// use xla_shape_tune::fit::{Axis, Question, Setting, Source};
///
/// /// Programs that cannot be made.
/// struct Nothing;
///
/// impl Source for Nothing {
///     fn setting(&self, at: &[usize]) -> Result<Setting, String> {
///         Err(format!("there is no program number {}", at[0]))
///     }
/// }
///
/// let host = Host { command: vec![], python: None, notes: |_| {} };
/// let answer = |sizes: [&str; 2]| Question::new(vec![Axis::new("batch", sizes)]).answer(&Nothing, &host, None, &AtomicBool::new(false), &());
/// let fit = answer(["8", "16"])?;
/// assert_eq!(fit.rows[1].need.error.as_deref(), Some("there is no program number 1"));
/// let error = answer(["8", "8"]).unwrap_err();
/// assert_eq!(error.to_string(), "the axis \"batch\" has the value 8 twice");
/// # Ok::<(), xla_shape_tune::TuneError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Question {
    /// The axes. Among the axes that may be bisected, the one with the most values is bisected, for each combination of the other axes' values.
    pub axes: Vec<Axis>,
    /// How many compilers run at a time on this machine; `None` for as many as fit into its memory and cores.
    pub jobs: Option<NonZeroUsize>,
    /// Where answers are kept.
    pub keep: Keep,
    /// The compiler.
    pub compiler: Compiler,
}

/// What is compiled for one setting.
///
/// ```
/// use xla_shape_tune::fit::Setting;
///
/// let setting = Setting { code: b"module {}"[..].into(), devices: "h100:8".parse()?, options: Vec::new() };
/// assert_eq!(setting.devices.name, "h100:8");
/// # Ok::<(), xla_shape_pjrt::TargetError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Setting {
    /// The program, as [`Program::from_bytes`](xla_shape_pjrt::Program::from_bytes) reads it.
    pub code: Arc<[u8]>,
    /// The devices.
    pub devices: Devices,
    /// Options of the compiler that only this setting has.
    pub options: Vec<(String, String)>,
}

/// Makes the programs of settings.
///
/// ```
/// use xla_shape_tune::Devices;
/// use xla_shape_tune::fit::{Setting, Source};
///
/// struct Programs(Vec<Vec<u8>>);
///
/// impl Source for Programs {
///     fn setting(&self, at: &[usize]) -> Result<Setting, String> {
///         let devices = "v5e".parse::<Devices>().map_err(|error| error.to_string())?;
///         Ok(Setting { code: self.0[at[0]].as_slice().into(), devices, options: Vec::new() })
///     }
/// }
///
/// assert_eq!(Programs(vec![b"module {}".to_vec()]).setting(&[0])?.devices.name, "v5e:2x2");
/// # Ok::<(), String>(())
/// ```
pub trait Source {
    /// The program of a setting; `at` has the number of a value for each axis. It is called once for each setting that is compiled.
    ///
    /// # Errors
    /// Why no program could be made for these values. The answer's row for these values contains the reason.
    fn setting(&self, at: &[usize]) -> Result<Setting, String>;
}

impl Question {
    /// The most settings that a question may have.
    ///
    /// ```
    /// use std::sync::atomic::AtomicBool;
    /// use xla_shape_program::Host;
    /// use xla_shape_tune::TuneError;
    /// use xla_shape_tune::fit::{Axis, Question, Setting, Source};
    ///
    /// struct Nothing;
    ///
    /// impl Source for Nothing {
    ///     fn setting(&self, _: &[usize]) -> Result<Setting, String> {
    ///         Err("there is no program".to_owned())
    ///     }
    /// }
    ///
    /// let most = Question::MOST_SETTINGS;
    /// let question = Question::new(vec![Axis::new("batch", (0..=most).map(|value| value.to_string()))]);
    /// let host = Host { command: vec![], python: None, notes: |_| {} };
    /// let answer = question.answer(&Nothing, &host, None, &AtomicBool::new(false), &());
    /// assert_eq!(answer.unwrap_err(), TuneError::TooManySettings { most });
    /// ```
    pub const MOST_SETTINGS: usize = 10_000;

    /// A question about axes, with defaults for everything else.
    #[must_use]
    pub fn new(axes: Vec<Axis>) -> Self {
        Self { axes, jobs: None, keep: Keep::Own, compiler: Compiler::default() }
    }

    /// Which settings fit.
    ///
    /// - `workers`: where compilers run; `None` for processes of this machine.
    /// - `stop`: once it is set, nothing more is compiled, and the answer has what is known by then.
    ///
    /// # Errors
    /// If the axes are not valid, or no compiler can answer.
    pub fn answer(
        &self,
        source: &dyn Source,
        host: &Host,
        workers: Option<&dyn Workers>,
        stop: &AtomicBool,
        watch: &dyn Watch,
    ) -> Result<Fit, TuneError> {
        let axes = self.axes()?;
        let threads = Threads::new(host, self.jobs.map_or_else(jobs, NonZeroUsize::get), stop);
        let setup = Setup { workers: workers.unwrap_or(&threads), stop, watch };
        let asking = Asking::new(&self.compiler, host, workers, setup, self.keep.cache::<Needed>());
        let mut search = Search { question: self, source, asking, stop, tried: Vec::new() };
        let along = axes.iter().position(|axis| axis.bisected);
        let others = combinations(&axes, along);
        let mut lines = Vec::new();
        match along {
            None => drop(search.try_all(&others)?),
            Some(along) => {
                let values = axes.get(along).map_or(0, |axis| axis.values.len());
                lines = search.bisect(others, along, values)?;
            }
        }
        let Search { asking, tried, .. } = search;
        let versions: BTreeSet<String> = tried.iter().filter_map(|(_, version)| version.clone()).collect();
        let (compilers, cut) = (versions.into_iter().collect(), stop.load(Ordering::Relaxed));
        let search = search::Search { compilers, cut, ..asking.finish() };
        let tried = tried.into_iter().map(|(tried, _)| tried).collect();
        Ok(Fit { search, ..Fit::new(axes, tried, &lines) })
    }

    /// The axes, with at most one of them marked as bisected.
    fn axes(&self) -> Result<Vec<Axis>, TuneError> {
        check_axes(&self.axes)?;
        // If several axes have the same number of values, take the first.
        let bisected = self.axes.iter().enumerate().filter(|(_, axis)| axis.bisected);
        let longest = bisected.rev().max_by_key(|(_, axis)| axis.values.len()).map(|(number, _)| number);
        let axes = self.axes.iter().enumerate();
        Ok(axes.map(|(number, axis)| Axis { bisected: Some(number) == longest, ..axis.clone() }).collect())
    }
}

/// Returns an error if two axes have the same name, an axis has no value or the same value twice, or there are too many combinations.
pub(crate) fn check_axes(axes: &[Axis]) -> Result<(), TuneError> {
    let mut names = HashSet::new();
    for Axis { name, values: all, .. } in axes {
        let mut values = HashSet::new();
        if !names.insert(name) {
            return Err(TuneError::AxisTwice { axis: name.clone() });
        }
        if all.is_empty() {
            return Err(TuneError::NoValues { axis: name.clone() });
        }
        if let Some(value) = all.iter().find(|value| !values.insert(*value)) {
            return Err(TuneError::ValueTwice { axis: name.clone(), value: value.clone() });
        }
    }
    let settings = axes.iter().fold(1usize, |settings, axis| settings.saturating_mul(axis.values.len()));
    let most = Question::MOST_SETTINGS;
    if settings > most { Err(TuneError::TooManySettings { most }) } else { Ok(()) }
}

/// All combinations of values, as one number for each axis, in order. The axis `along` keeps its first value.
pub(crate) fn combinations(axes: &[Axis], along: Option<usize>) -> Vec<Vec<usize>> {
    axes.iter().enumerate().fold(vec![Vec::new()], |all, (number, axis)| {
        let values = if Some(number) == along { 1 } else { axis.values.len() };
        let longer = |at: Vec<usize>| (0..values).map(move |value| [at.as_slice(), &[value]].concat());
        all.into_iter().flat_map(longer).collect()
    })
}

struct Search<'a> {
    question: &'a Question,
    source: &'a dyn Source,
    asking: Asking<'a, Needed>,
    /// Once it is set, no more programs are made.
    stop: &'a AtomicBool,
    /// What was tried, with the version of the compiler.
    tried: Vec<(fit::Tried, Option<String>)>,
}

impl Search<'_> {
    /// Finds the border of each line along an axis. All lines advance together, to keep several compilers busy.
    fn bisect(&mut self, others: Vec<Vec<usize>>, along: usize, values: usize) -> Result<Vec<fit::Line>, TuneError> {
        let mut lines: Vec<_> = others.into_iter().map(|at| (at, Line::new(values))).collect();
        while !self.stop.load(Ordering::Relaxed) {
            let wanted = lines.iter().enumerate().flat_map(|(number, (at, line))| {
                let with = |value: usize| {
                    let mut at = at.clone();
                    at[along] = value;
                    at
                };
                line.next().into_iter().map(move |value| (number, value, with(value))).collect::<Vec<_>>()
            });
            let wanted = wanted.collect::<Vec<_>>();
            if wanted.is_empty() {
                break;
            }
            let settings = wanted.iter().map(|(_, _, at)| at.clone()).collect::<Vec<_>>();
            for ((number, value, _), outcome) in wanted.iter().zip(self.try_all(&settings)?) {
                if let Some(outcome) = outcome {
                    lines[*number].1.set(*value, outcome);
                }
            }
        }
        let line = |(at, line): (Vec<usize>, Line)| {
            let border::Found { largest, next, exceptions, unknown, is_closed, is_unordered } = line.found();
            fit::Line { at, largest, next, exceptions, unknown, closed: is_closed, unordered: is_unordered }
        };
        Ok(lines.into_iter().map(line).collect())
    }

    /// Tries settings, and says how many bytes they need; `None` for those that the user did not wait for.
    fn try_all(&mut self, settings: &[Vec<usize>]) -> Result<Vec<Option<Outcome>>, TuneError> {
        // Making a program may take seconds, so make none after the stop.
        let make = |at: &Vec<usize>| (!self.stop.load(Ordering::Relaxed)).then(|| self.source.setting(at));
        let made: Vec<_> = settings.iter().map_while(make).collect();
        let jobs: Vec<_> = settings.iter().zip(&made).map(|(at, made)| self.job(at, made.as_ref().ok()?)).collect();
        let mut answers = self.asking.ask(&jobs)?;
        let mut found = Vec::new();
        for ((at, made), answer) in settings.iter().zip(made).zip(&mut answers) {
            let (device, answer, other) = match made {
                Err(error) => (None, Some(Err(error)), Tried::Missing),
                Ok(Setting { devices, .. }) => match devices.target {
                    Ok(_) => (Some(devices.name), answer.take(), Tried::Refused),
                    // The compiler does not know the device.
                    Err(error) => (Some(devices.name), Some(Err(error)), Tried::Refused),
                },
            };
            let Some(answer) = answer else {
                found.push(None);
                continue;
            };
            let (need, amount, version) = match answer {
                Ok(Needed { need, amount, compiler }) => (need, amount, compiler),
                Err(error) => (Need::unknown(error), None, None),
            };
            let tried = match need.fits {
                Some(true) => Tried::Fits,
                Some(false) => Tried::TooLarge,
                None => other,
            };
            found.push(Some((tried, need.needed_bytes)));
            self.tried.push((fit::Tried { at: at.clone(), device, need, amount }, version));
        }
        found.resize(settings.len(), None);
        Ok(found)
    }

    /// What is compiled for a setting; `None` for a device that the compiler does not know.
    fn job(&self, at: &[usize], setting: &Setting) -> Option<Job> {
        let target = setting.devices.target.as_ref().ok()?;
        let mut compiler = self.question.compiler.clone();
        compiler.options.extend(setting.options.iter().cloned());
        Some(Job {
            program: Arc::clone(&setting.code),
            name: hash(&setting.code),
            target: target.clone(),
            request: need_request(&compiler, target),
            compiler,
            words: words(&self.question.axes, &search::setting(&self.question.axes, at)),
        })
    }
}
