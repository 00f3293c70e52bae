//! What fits, found by the search of `xla-shape fit`. Python makes the programs, and says where compilers run.

use crate::answer::Answer;
use crate::error::shape_error;
use crate::host;
use crate::tune::{Cached, Function, Progress};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::path::PathBuf;
use xla_shape_program::Compiler;
use xla_shape_tune::Devices;
use xla_shape_tune::fit::{Axis, Question, Setting, Source};

/// A Python function that makes programs. It gets, for each axis, the number of a value, and returns the program, the device and options.
struct Programs<'a> {
    make: Py<PyAny>,
    function: &'a Function,
}

/// The text of a program, a device, and options of the compiler.
type Made = (Vec<u8>, String, Vec<(String, String)>);

impl Source for Programs<'_> {
    fn setting(&self, at: &[usize]) -> Result<Setting, String> {
        // An interruption, or a device that does not exist, ends the search.
        let ends = |error: PyErr| self.function.raise(error);
        let made = Python::attach(|py| {
            let made = PyTuple::new(py, at).and_then(|at| self.make.bind(py).call1((at,))?.extract::<Made>());
            made.map_err(|error| if error.is_instance_of::<PyException>(py) { error.to_string() } else { ends(error) })
        });
        let (code, device, options) = made?;
        let devices = device.parse().map_err(|error| ends(shape_error(error)))?;
        Ok(Setting { code: code.into(), devices, options })
    }
}

/// Which settings fit.
#[pyfunction]
#[pyo3(pass_module)]
pub(crate) fn fit(
    module: &Bound<'_, PyModule>,
    axes: Vec<(String, Vec<String>, bool)>,
    make: Py<PyAny>,
    run: Py<PyAny>,
    cache: Cached,
    plugin: Option<PathBuf>,
) -> PyResult<Answer> {
    let host = host(module)?;
    // Refuse unknown devices before any program is made, because making one may take seconds.
    for device in axes.iter().filter(|(name, ..)| name == "for").flat_map(|(_, devices, _)| devices) {
        device.parse::<Devices>().map_err(shape_error)?;
    }
    let axes = axes.into_iter().map(|(name, values, bisected)| Axis { name, values, bisected });
    let question = Question {
        keep: cache.keep(),
        compiler: Compiler { plugin, ..Compiler::default() },
        ..Question::new(axes.collect())
    };
    let function = Function::new(run);
    let found = module.py().detach(|| {
        let progress = Progress::new();
        let programs = Programs { make, function: &function };
        let found = question.answer(&programs, &host, Some(&function), function.stop(), &progress);
        progress.finish();
        found
    });
    if let Some(error) = function.into_raised() {
        return Err(error);
    }
    let fit = found.map_err(shape_error)?;
    let fits = fit.any_fits();
    Ok(Answer::new(fit).judged(Ok(fits)))
}
