//! Which blocks are best, found by the search of `xla-shape block --rank`. Python traces and makes the programs, and says where compilers run.

use crate::answer::Answer;
use crate::error::shape_error;
use crate::host;
use crate::tune::{Cached, Function, Progress};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::path::PathBuf;
use std::sync::Arc;
use xla_shape::ArrayShape;
use xla_shape::gpu::Gpu;
use xla_shape::tpu::Generation;
use xla_shape_answers::block::Part;
use xla_shape_program::Compiler;
use xla_shape_tune::Devices;
use xla_shape_tune::blocks::{Axis, Question, Source};

/// Two Python functions: `parts` returns the blocks of the kernels, `make` the program. Both get an index for each axis: which of its values the
/// axis has.
struct Programs<'a> {
    parts: Py<PyAny>,
    make: Py<PyAny>,
    function: &'a Function,
}

/// The blocks of a kernel. Each is a kind (input or output), the shape of the array, and the shape of the block.
type Kernel = Vec<(String, String, String)>;

impl Programs<'_> {
    /// What a function returns. If it raises an `Exception`, this candidate has an error; any other exception, such as `KeyboardInterrupt`, ends the
    /// search.
    fn ask<T>(
        &self,
        at: &[usize],
        get: impl FnOnce(Python<'_>, Bound<'_, PyTuple>) -> PyResult<T>,
    ) -> Result<T, String> {
        Python::attach(|py| {
            let made = PyTuple::new(py, at).and_then(|at| get(py, at));
            made.map_err(|error| {
                if error.is_instance_of::<PyException>(py) { error.to_string() } else { self.function.raise(error) }
            })
        })
    }
}

impl Source for Programs<'_> {
    fn kernels(&self, at: &[usize]) -> Result<Vec<Vec<Part>>, String> {
        let kernels = self.ask(at, |py, at| self.parts.bind(py).call1((at,))?.extract::<Vec<Kernel>>())?;
        // A kernel is left out if `part` cannot read one of its blocks.
        Ok(kernels.iter().filter_map(|parts| parts.iter().map(part).collect()).collect())
    }

    fn program(&self, at: &[usize]) -> Result<Arc<[u8]>, String> {
        self.ask(at, |py, at| self.make.bind(py).call1((at,))?.extract::<Vec<u8>>()).map(Arc::from)
    }
}

/// A block of a kernel; `None` if its texts are not arrays.
fn part((kind, array, block): &(String, String, String)) -> Option<Part> {
    let shape = |text: &str| text.parse::<ArrayShape>().ok();
    let (array, block) = (shape(array)?, shape(block)?);
    Some(match kind.as_str() {
        "input" => Part::Input { array, block },
        "output" => Part::Output { array, block },
        _ => return None,
    })
}

/// Which blocks are best.
#[pyfunction]
#[pyo3(pass_module)]
#[expect(clippy::too_many_arguments, reason = "it is called by one function of Python, which names them")]
pub(crate) fn blocks(
    module: &Bound<'_, PyModule>,
    axes: Vec<(String, Vec<String>)>,
    parts: Py<PyAny>,
    make: Py<PyAny>,
    device: &str,
    run: Py<PyAny>,
    cache: Cached,
    plugin: Option<PathBuf>,
) -> PyResult<Answer> {
    let host = host(module)?;
    // The error about an unknown name lists only TPUs, because these kernels are for no other devices.
    let name = device.split(':').next().unwrap_or_default();
    let devices =
        device.parse::<Devices>().map_err(|error| match (name.parse::<Generation>(), name.parse::<Gpu>()) {
            (Err(unknown), Err(_)) => shape_error(unknown),
            _ => shape_error(error),
        })?;
    let axes = axes.into_iter().map(|(name, values)| Axis::new(name, values));
    let question = Question {
        keep: cache.keep(),
        compiler: Compiler { plugin, ..Compiler::default() },
        ..Question::new(axes.collect(), devices)
    };
    let function = Function::new(run);
    let found = module.py().detach(|| {
        let progress = Progress::new();
        let programs = Programs { parts, make, function: &function };
        let found = question.answer(&programs, &host, Some(&function), function.stop(), &progress);
        progress.finish();
        found
    });
    if let Some(error) = function.into_raised() {
        return Err(error);
    }
    let ranking = found.map_err(shape_error)?;
    let has_best = ranking.has_best();
    Ok(Answer::new(ranking).judged(Ok(has_best)))
}
