//! What the compiler made of Pallas kernels, from its dumps.

use crate::answer::Answer;
use crate::error::shape_error;
use crate::host;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::path::PathBuf;
use xla_shape_answers::kernel::Kernels;
use xla_shape_program::{Compiler, Host};
use xla_shape_render::Html as _;
use xla_shape_tune::{Devices, KernelSource, Version};

/// A version of a program: its text, or the directory of a dump.
#[derive(FromPyObject)]
pub(crate) enum Source {
    Program(PyBackedBytes),
    Dump(PathBuf),
}

impl Source {
    /// The kernels of the source, for each of these devices.
    fn kernels(
        &self,
        devices: &[Devices],
        anyway: bool,
        host: &Host,
        version: Option<Version>,
    ) -> Result<Kernels, String> {
        let source = match self {
            Self::Program(code) => KernelSource::Program { code, keep: None, anyway },
            Self::Dump(folder) => KernelSource::Dump(folder),
        };
        let found = xla_shape_tune::kernels(&source, devices, &Compiler::default(), host, version);
        let found = found.map_err(|error| error.to_string())?;
        if found.is_empty() && found.errors.len() == devices.len().max(1) {
            let refused = found.errors.iter().map(|error| format!("{}: {}", error.target, error.message));
            return Err(refused.collect::<Vec<_>>().join("; "));
        }
        Ok(found)
    }
}

/// The kernels of a program, compared with the kernels of an earlier version if one is given. `sources` has the names and texts of Python
/// files.
#[pyfunction]
#[pyo3(pass_module)]
pub(crate) fn kernels(
    module: &Bound<'_, PyModule>,
    program: Source,
    before: Option<Source>,
    devices: Vec<String>,
    anyway: bool,
    clock_ghz: Option<f64>,
    sources: Vec<(String, String)>,
) -> PyResult<Answer> {
    if clock_ghz.is_some_and(|clock| !clock.is_finite() || clock <= 0.0) {
        return Err(shape_error("expected a positive number of GHz as clock"));
    }
    let host = host(module)?;
    let devices =
        devices.iter().map(|name| name.parse::<Devices>().map_err(shape_error)).collect::<PyResult<Vec<_>>>()?;
    let version = |version| before.is_some().then_some(version);
    let answer = module.py().detach(|| {
        let mut answer = program.kernels(&devices, anyway, &host, version(Version::New))?;
        if let Some(before) = &before {
            answer.compare(&before.kernels(&devices, anyway, &host, version(Version::Before))?);
        }
        if let Some(clock) = clock_ghz {
            answer.at_clock(clock * 1e9);
        }
        sources.iter().for_each(|(name, text)| answer.add_source(name, text));
        Ok(answer)
    });
    let answer = answer.map_err(|error: String| shape_error(error))?;
    let page = answer.clone();
    Ok(Answer::new(answer).with_html(move || page.html()))
}
