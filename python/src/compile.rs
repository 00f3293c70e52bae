//! The memory of programs that are compiled here, in a process of their own.

use crate::answer::Answer;
use crate::error::shape_error;
use crate::host;
use crate::number::Number;
use crate::scan::scanned;
use pyo3::prelude::*;
use xla_shape::tpu::Generation;
use xla_shape_answers::hlo::{Report, check_space};
use xla_shape_program::{Compiler, Program};
use xla_shape_render::hlo::page;
use xla_shape_tune::{Devices, Left, Made};

/// Compiles a program in StableHLO for a TPU or GPUs, and says what memory it takes there; of one that needs more than there is, what takes it.
#[pyfunction]
#[pyo3(pass_module)]
pub(crate) fn memory_compiled(
    module: &Bound<'_, PyModule>,
    program: &str,
    device: &str,
    top: Number<usize>,
    space: Option<Number<u8>>,
) -> PyResult<Answer> {
    let host = host(module)?;
    let (top, space) = (top.0, space.map(|space| space.0));
    let devices: Devices = device.parse().map_err(shape_error)?;
    let compiler = Compiler::default();
    let device = devices.described(&compiler).map_err(shape_error)?;
    let compile = || devices.compile(&compiler, &host, program.as_bytes(), top, space);
    match module.py().detach(compile).map_err(shape_error)? {
        Made::Compiled { said, module } => {
            let program = Program::from(*module);
            if let Some(space) = space {
                check_space(program.module(), space).map_err(shape_error)?;
            }
            let report = Report::new(&program.memory(device.generation()), Some(device), top, space);
            let report = report.with_account(&said.account, said.generated_code, Some(device));
            Ok(shown(program, report, device.generation(), space))
        }
        Made::Refused { report: Some(left), .. } => {
            let Left { program, report } = *left;
            Ok(shown(program, report, device.generation(), space).judged(Ok(false)))
        }
        Made::Refused { message, report: None } => {
            let scan = scanned(&message);
            if scan.says_out_of_memory() { Ok(Answer::new(scan).judged(Ok(false))) } else { Err(shape_error(message)) }
        }
    }
}

/// The report on a program, with its page.
fn shown(program: Program, report: Report, generation: Option<Generation>, space: Option<u8>) -> Answer {
    let verdict = report.fits().map_err(|unknown| unknown.to_string());
    let copy = report.clone();
    Answer::new(report).judged(verdict).with_html(move || page(&program.memory(generation), &copy, space))
}
