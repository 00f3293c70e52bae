//! What the compiler made of Pallas kernels, from its dumps.

use crate::answer::Answer;
use crate::error::shape_error;
use pyo3::prelude::*;
use std::path::PathBuf;
use xla_shape::tpu::Generation;
use xla_shape_answers::kernel::Kernels;
use xla_shape_files::KernelDump;
use xla_shape_render::Html as _;

/// The device that a dump was made for, its generation, and the directory of the dump.
type Dump = (Option<String>, Option<String>, PathBuf);

/// The kernels of dumps; compared with those of `before`, if it is given. `refused` has the devices for which there is no dump, with the reasons;
/// `sources` the names and texts of Python files.
#[pyfunction]
#[pyo3(signature = (dumps, before, refused, clock_ghz, sources))]
pub(crate) fn kernels(
    py: Python<'_>,
    dumps: Vec<Dump>,
    before: Option<Vec<Dump>>,
    refused: Vec<(String, String)>,
    clock_ghz: Option<f64>,
    sources: Vec<(String, String)>,
) -> PyResult<Answer> {
    if clock_ghz.is_some_and(|clock| !clock.is_finite() || clock <= 0.0) {
        return Err(shape_error("expected a positive number of GHz as clock".to_owned()));
    }
    let answer = py.detach(|| {
        let mut answer = read(&dumps, false)?;
        if let Some(before) = before {
            answer.compare(&read(&before, true)?);
        }
        refused.iter().for_each(|(device, message)| answer.refused(device, message));
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

/// Reads dumps. Those of the program to compare with may have no kernels, but XLA's own code of the same computation.
fn read(dumps: &[Dump], is_against: bool) -> Result<Kernels, String> {
    let mut answer = Kernels::default();
    for (device, generation, folder) in dumps {
        let generation = generation.as_ref().map(|name| name.parse::<Generation>());
        let generation = generation.transpose().map_err(|error| error.to_string())?;
        let dump = KernelDump::read(folder).map_err(|error| error.to_string())?;
        let before = answer.len();
        answer.add(device.as_deref(), generation, &dump.kernels());
        let xla = answer.add_xla(device.as_deref(), generation, &dump.xla_instructions());
        if answer.len() == before && !(is_against && xla > 0) {
            return Err(format!("{}: expected a compiler's dump of kernels, found no kernel", folder.display()));
        }
    }
    Ok(answer)
}
