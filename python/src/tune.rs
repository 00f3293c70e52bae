//! The best layouts of shared arrays, found by the search of `xla-shape tune`. The caller in Python says where the
//! compilers run.

use crate::answer::Answer;
use crate::error::shape_error;
use crate::host;
use crate::number::Number;
use indicatif::{ProgressBar, ProgressStyle};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use xla_shape_program::Compiler;
use xla_shape_render::harmless;
use xla_shape_tune::{Given, Keep, Memory, Question, Setting, Share, TuneError, Watch, Workers};

/// A function of Python that runs compilers: it gets a list of requests, each with the text of its program, and returns an iterator of
/// answers, each with the number of its request.
pub(crate) struct Function {
    run: Py<PyAny>,
    /// What the function raised.
    raised: Mutex<Option<PyErr>>,
    /// Set once the function raises an exception: the search then ends.
    stop: AtomicBool,
}

impl Function {
    pub(crate) fn new(run: Py<PyAny>) -> Self {
        Self { run, raised: Mutex::new(None), stop: AtomicBool::new(false) }
    }

    /// The flag that ends the search.
    pub(crate) const fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    /// Ends the search, and remembers the first exception. Returns the text of `error`.
    pub(crate) fn raise(&self, error: PyErr) -> String {
        self.stop.store(true, Ordering::Relaxed);
        let message = error.to_string();
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        message
    }

    /// What was raised first.
    pub(crate) fn into_raised(self) -> Option<PyErr> {
        self.raised.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_raised(&self) -> bool {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

impl Workers for Function {
    fn run(&self, requests: &[(&[u8], Vec<u8>)], done: &mut dyn FnMut(usize, &[u8]) -> bool) -> Result<(), String> {
        if self.has_raised() {
            return Err("an error was raised before".to_owned());
        }
        let ran = Python::attach(|py| {
            let bytes = |bytes: &[u8]| PyBytes::new(py, bytes);
            let requests: Vec<_> = requests.iter().map(|(program, request)| (bytes(program), bytes(request))).collect();
            for answer in self.run.bind(py).call1((requests,))?.try_iter()? {
                let (number, answer) = answer?.extract::<(usize, Bound<'_, PyBytes>)>()?;
                if !done(number, answer.as_bytes()) {
                    break;
                }
            }
            PyResult::Ok(())
        });
        ran.map_err(|error| self.raise(error))
    }
}

/// The progress on standard error, if that is a terminal.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::new(0);
        // If the template were invalid, the default style would remain.
        if let Ok(style) = ProgressStyle::with_template("{spinner} {pos} of {len} compiled  {msg} {elapsed}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// Removes it.
    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}

impl Watch for Progress {
    fn wanted(&self, compilations: usize) {
        self.0.enable_steady_tick(Duration::from_millis(100));
        self.0.inc_length(compilations as u64);
    }

    fn compiled(&self) {
        self.0.inc(1);
    }

    fn compiling(&self, what: &str) {
        self.0.set_message(harmless(what).into_owned());
    }

    fn warn(&self, warning: &str) {
        self.0.finish_and_clear();
        crate::notes(&format!("warning: {warning}\n"));
    }
}

/// The parts of the question other than the programs, from a `dict`.
pub(crate) struct Settings {
    device: String,
    share: Vec<String>,
    weights: Vec<(String, Number<u32>)>,
    memory: Vec<(String, String)>,
    options: Vec<(String, String)>,
    at_most_bytes: Option<Number<u64>>,
    compiles: Option<Number<usize>>,
    all: bool,
    tilings: bool,
    /// The folder of the cache; `True` for the user's own, `False` for no cache.
    cache: Cached,
    plugin: Option<PathBuf>,
}

#[derive(FromPyObject)]
pub(crate) enum Cached {
    Own(bool),
    In(PathBuf),
}

impl Cached {
    pub(crate) fn keep(self) -> Keep {
        match self {
            Self::Own(true) => Keep::Own,
            Self::Own(false) => Keep::Nowhere,
            Self::In(folder) => Keep::In(folder),
        }
    }
}

// A derived implementation would raise a `TypeError` for any bad value. This one raises the value's own error.
impl<'py> FromPyObject<'_, 'py> for Settings {
    type Error = PyErr;

    fn extract(settings: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let value = |name: &str| settings.get_item(name);
        Ok(Self {
            device: value("device")?.extract()?,
            share: value("share")?.extract()?,
            weights: value("weights")?.extract()?,
            memory: value("memory")?.extract()?,
            options: value("options")?.extract()?,
            at_most_bytes: value("at_most_bytes")?.extract()?,
            compiles: value("compiles")?.extract()?,
            all: value("all")?.extract()?,
            tilings: value("tilings")?.extract()?,
            cache: value("cache")?.extract()?,
            plugin: value("plugin")?.extract()?,
        })
    }
}

impl Settings {
    fn question(self, programs: Vec<(String, Vec<u8>)>) -> PyResult<Question> {
        let given = |(name, code): (String, Vec<u8>)| Given { file: name.clone(), name, code };
        let shares = self.share.iter().map(|text| text.parse::<Share>().map_err(shape_error));
        let target = self.device.parse().map_err(shape_error)?;
        let weights = self.weights.into_iter().map(|(name, Number(weight))| match NonZeroU32::new(weight) {
            Some(weight) => Ok((name, weight)),
            None => Err(shape_error(format_args!("the weight of {name}: expected a number from 1 on, found 0"))),
        });
        let memories = self.memory.into_iter().map(|(name, kinds)| match Memory::list(&kinds) {
            Some(memories) => Ok((name, memories)),
            None => {
                let known = Memory::ALL.map(Memory::kind).join(" or ");
                Err(shape_error(format_args!("the memory of {name}: expected {known}, each once, found {kinds:?}")))
            }
        });
        Ok(Question {
            weights: weights.collect::<PyResult<_>>()?,
            memories: memories.collect::<PyResult<_>>()?,
            all: self.all,
            tilings: self.tilings,
            at_most_bytes: self.at_most_bytes.map(|bytes| bytes.0),
            most: self.compiles.map(|most| most.0),
            keep: self.cache.keep(),
            compiler: Compiler { plugin: self.plugin, options: self.options, ..Compiler::default() },
            ..Question::new(programs.into_iter().map(given).collect(), shares.collect::<PyResult<_>>()?, target)
        })
    }
}

/// The best layouts of arrays that programs share.
#[pyfunction]
#[pyo3(pass_module)]
pub(crate) fn tune(
    module: &Bound<'_, PyModule>,
    programs: Vec<(String, Vec<u8>)>,
    settings: Settings,
    run: Py<PyAny>,
) -> PyResult<Answer> {
    let host = host(module)?;
    let question = settings.question(programs)?;
    let function = Function::new(run);
    let found = module.py().detach(|| {
        let progress = Progress::new();
        // Only Python can interrupt the search: its function raises an exception, or its iterator of answers ends.
        let found = question.answer(&host, Some(&function), function.stop(), &progress);
        progress.finish();
        found
    });
    if let Some(error) = function.into_raised() {
        return Err(error);
    }
    let tuning = found.map_err(|error| match error {
        TuneError::NeedsCompiler { setting } => {
            shape_error(error.to_string().replacen(setting.name(), argument(setting), 1))
        }
        error => shape_error(error),
    })?;
    let page = tuning.clone();
    let has_best = tuning.has_best() || tuning.is_advice();
    Ok(Answer::new(tuning).with_html(move || xla_shape_render::tune::page(&page)).judged(Ok(has_best)))
}

/// The name of a setting as an argument of Python's `tune`.
fn argument(setting: Setting) -> &'static str {
    match setting {
        Setting::NoCache => "cache",
        Setting::Option => "options",
        Setting::AtMostBytes => "at_most_bytes",
        other => other.name(),
    }
}

/// Answers a request of a search: compiles the text of a program in a process of its own.
#[pyfunction]
#[pyo3(pass_module)]
pub(crate) fn tune_answer<'py>(
    module: &Bound<'py, PyModule>,
    program: &[u8],
    request: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let host = host(module)?;
    let answer = module.py().detach(|| xla_shape_tune::answer_as_worker(&host, program, request));
    Ok(PyBytes::new(module.py(), &answer))
}

/// How many compilers should run at a time on this machine.
#[pyfunction]
pub(crate) fn tune_jobs() -> usize {
    xla_shape_tune::jobs()
}
