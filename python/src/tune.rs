//! The best layouts of shared arrays. The search is that of `xla-shape tune`; Python says where compilers run.

use crate::answer::Answer;
use crate::error::shape_error;
use crate::host;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::ffi::OsString;
use std::sync::{Mutex, PoisonError};
use xla_shape_cli::Workers;

/// A function of Python that runs compilers: it gets a list of requests, each with the number of its program, and returns an iterator of
/// answers, each with the number of its request.
struct Function {
    run: Py<PyAny>,
    /// What the function raised.
    raised: Mutex<Option<PyErr>>,
}

impl Workers for Function {
    fn run(&self, requests: &[(usize, Vec<u8>)], done: &mut dyn FnMut(usize, &[u8]) -> bool) -> Result<(), String> {
        let ran = Python::attach(|py| {
            let requests: Vec<_> =
                requests.iter().map(|(program, request)| (*program, PyBytes::new(py, request))).collect();
            for answer in self.run.bind(py).call1((requests,))?.try_iter()? {
                let (number, answer) = answer?.extract::<(usize, Bound<'_, PyBytes>)>()?;
                if !done(number, answer.as_bytes()) {
                    break;
                }
            }
            PyResult::Ok(())
        });
        ran.map_err(|error| {
            let message = error.to_string();
            self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            message
        })
    }
}

/// The answer of `xla-shape tune` with these arguments.
#[pyfunction]
#[pyo3(pass_module)]
pub(crate) fn tune(module: &Bound<'_, PyModule>, arguments: Vec<OsString>, run: Py<PyAny>) -> PyResult<Answer> {
    let host = host(module)?;
    let function = Function { run, raised: Mutex::new(None) };
    let found = module.py().detach(|| xla_shape_cli::tune(&host, arguments, &function));
    if let Some(error) = function.raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    let tuning = found.map_err(shape_error)?;
    let page = tuning.clone();
    let has_best = tuning.has_best() || tuning.is_advice();
    Ok(Answer::new(tuning).with_html(move || xla_shape_render::tune::page(&page)).judged(Ok(has_best)))
}

/// Answers a request of a search about the text of a program: compiles it in a process of its own.
#[pyfunction]
#[pyo3(pass_module)]
pub(crate) fn tune_answer<'py>(
    module: &Bound<'py, PyModule>,
    program: &[u8],
    request: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let host = host(module)?;
    let answer = module.py().detach(|| xla_shape_cli::answer_as_worker(&host, program, request));
    Ok(PyBytes::new(module.py(), &answer))
}

/// How many compilers should run at a time on this machine.
#[pyfunction]
pub(crate) fn tune_jobs() -> usize {
    xla_shape_cli::jobs()
}
