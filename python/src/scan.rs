//! Finds shapes and messages about memory in a text.

use crate::answer::Answer;
use crate::error::shape_error;
use crate::host;
use crate::module::{DeviceArgument, Module};
use crate::number::Number;
use pyo3::prelude::*;
use std::path::PathBuf;
use xla_shape_answers::scan::Scan;
use xla_shape_program::Compiler;
use xla_shape_tune::Devices;

/// What a text says.
pub(crate) fn scanned(text: &str) -> Scan {
    let mut scan = Scan::default();
    text.lines().for_each(|line| drop(scan.read_line(line.as_bytes())));
    scan
}

/// The shapes in a text, such as a log, and what its messages about memory say. `bool()` of the answer tells whether there are any.
///
/// `amounts` say how much memory is needed and how much there is; `largest` and `most_padded` list the allocations, each with op_name and source
/// where the message has them; `shapes` are all shapes.
///
/// `program` is the text of the program that was refused, in MLIR or HLO, and `for_` names devices, such as 'v5e:2x4'. If either is given, remedies
/// are compiled before they are recommended, and each change of sharding that a log warns of is compiled by itself: `trial` is the result.
/// `instruction` of a cause is the instruction of the program that makes such a change, if only one can be meant.
#[pyfunction]
#[pyo3(signature = (text, /, *, program = None, for_ = None))]
pub(crate) fn scan(py: Python<'_>, text: &str, program: Option<&str>, for_: Option<&str>) -> PyResult<Answer> {
    let asked = match (program, for_) {
        (None, None) => None,
        (_, devices) => {
            let devices = devices.map(str::parse::<Devices>).transpose().map_err(shape_error)?.unwrap_or_default();
            Some((devices, host(&py.import("xla_shape._native")?)?))
        }
    };
    py.detach(|| {
        let mut scan = scanned(text);
        if let Some((devices, host)) = asked {
            let program = program.or(scan.program()).map(|program| program.as_bytes().to_vec());
            // The result says what takes the memory. It is dropped, because `xla_shape.jax.memory` answers that.
            drop(devices.answer_about(&mut scan, &Compiler::default(), &host, program.as_deref(), 0));
        }
        let is_empty = scan.is_empty();
        Ok(Answer::new(scan).judged(Ok(!is_empty)))
    })
}

/// What an error's message says about memory. `bool()` is False if the message says that memory ran out, and raises a `ShapeError` otherwise.
#[pyfunction]
pub(crate) fn out_of_memory(py: Python<'_>, message: &str) -> Answer {
    py.detach(|| {
        let scan = scanned(message);
        let verdict = match scan.says_out_of_memory() {
            true => Ok(false),
            false => Err("the message does not say that memory ran out".to_owned()),
        };
        Answer::new(scan).judged(verdict)
    })
}

/// The memory of a program that a compiler refused with this message: from the files that it left in a folder, or else what the message
/// says. `None` if the message does not say that memory ran out.
#[pyfunction]
pub(crate) fn memory_of_refused(
    py: Python<'_>,
    message: &str,
    folder: PathBuf,
    device: Option<DeviceArgument>,
    top: Number<usize>,
    space: Option<Number<u8>>,
) -> Option<Answer> {
    let scan = scanned(message);
    if !scan.says_out_of_memory() {
        return None;
    }
    if scan.says_out_of_hbm() {
        let device = device.or(scan.hbm_limit().map(DeviceArgument::bytes));
        // The folder may have no files of this compiler, or files that cannot be read.
        if let Ok(answer) = Module::read(py, folder).and_then(|module| module.memory(py, device, top, space, false)) {
            return Some(answer.judged(Ok(false)));
        }
    }
    Some(Answer::new(scan).judged(Ok(false)))
}
