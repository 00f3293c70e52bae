//! Compiles programs on this machine, each in a process of its own.

use crate::answer::Answer;
use crate::error::shape_error;
use crate::host;
use crate::module::Module;
use crate::number::Number;
use crate::scan::scanned;
use pyo3::prelude::*;
use xla_shape::tpu::Generation;
use xla_shape_answers::hlo::{Device, Report, check_space};
use xla_shape_program::{Compiler, Program};
use xla_shape_render::hlo::page;
use xla_shape_tune::{Devices, Left, Made};

/// Compiles a program in StableHLO for a TPU or GPUs, and says how much memory it takes there. If it needs more than the device has, the answer says
/// what takes the memory.
#[pyfunction]
#[pyo3(pass_module)]
pub(crate) fn memory_compiled(
    module: &Bound<'_, PyModule>,
    program: &str,
    device: &str,
    top: Number<usize>,
    space: Option<Number<u8>>,
) -> PyResult<Answer> {
    let (top, space) = (top.0, space.map(|space| space.0));
    let (device, made) = made(module, program, device, top, space)?;
    match made {
        Made::Compiled { said, module } => {
            let program = Program::from(*module);
            if let Some(space) = space {
                check_space(program.module(), space).map_err(shape_error)?;
            }
            let (_, report) = Report::with_memory(&program, Some(device), top, space);
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

/// Compiles a program in StableHLO for a TPU or GPUs, and returns the optimized program.
#[pyfunction]
#[pyo3(pass_module)]
pub(crate) fn module_compiled(parent: &Bound<'_, PyModule>, program: &str, device: &str) -> PyResult<Module> {
    match made(parent, program, device, 0, None)? {
        (device, Made::Compiled { module, .. }) => {
            let mut program = Program::from(*module);
            if let Device::Gpu(gpu) = device {
                program.set_gpu(gpu);
            }
            Module::of_program(program)
        }
        (_, Made::Refused { message, .. }) => Err(shape_error(message)),
    }
}

/// The device that a program is compiled for, and what its compiler makes of the program.
fn made(
    module: &Bound<'_, PyModule>,
    program: &str,
    device: &str,
    top: usize,
    space: Option<u8>,
) -> PyResult<(Device, Made)> {
    let host = host(module)?;
    let devices: Devices = device.parse().map_err(shape_error)?;
    let compiler = Compiler::default();
    let device = devices.described(&compiler).map_err(shape_error)?;
    let compile = || devices.compile(&compiler, &host, program.as_bytes(), top, space);
    Ok((device, module.py().detach(compile).map_err(shape_error)?))
}

/// The report on a program, with its page.
fn shown(program: Program, report: Report, generation: Option<Generation>, space: Option<u8>) -> Answer {
    let verdict = report.fits().map_err(|unknown| unknown.to_string());
    let copy = report.clone();
    Answer::new(report).judged(verdict).with_html(move || page(&program.memory(generation), &copy, space))
}
