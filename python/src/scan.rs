//! Finds shapes and messages about memory in a text.

use crate::answer::Answer;
use crate::module::{DeviceArgument, Module};
use crate::number::Number;
use pyo3::prelude::*;
use std::path::PathBuf;
use xla_shape_answers::scan::Scan;

/// What a text says.
pub(crate) fn scanned(text: &str) -> Scan {
    let mut scan = Scan::default();
    text.lines().for_each(|line| drop(scan.read_line(line.as_bytes())));
    scan
}

/// The shapes in a text, such as a log, and what its messages about memory say. `bool()` is whether it has any.
///
/// `amounts` are how much is needed, and of how much; `largest` and `most_padded` list the allocations, each with op_name and source
/// where the message has them; `shapes` are all shapes.
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn scan(py: Python<'_>, text: &str) -> Answer {
    py.detach(|| {
        let scan = scanned(text);
        let is_empty = scan.is_empty();
        Answer::new(scan).judged(Ok(!is_empty))
    })
}

/// What an error's message says about memory. `bool()` is no if it says that memory ran out, else unknown.
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
        // There may be no files of this compiler, or files that cannot be used.
        if let Ok(answer) = Module::read(py, folder).and_then(|module| module.memory(py, device, top, space, false)) {
            return Some(answer.judged(Ok(false)));
        }
    }
    Some(Answer::new(scan).judged(Ok(false)))
}
