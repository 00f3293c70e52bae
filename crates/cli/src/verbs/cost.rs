//! `cost`: what the compiler expects a program to cost.

use super::hlo::{check_device, end, opened};
use crate::args::CostArguments;
use crate::failure::Failure;
use crate::io::progress_of_profile;
use xla_shape_answers::cost::{MeasuredRun, ProgramCost};
use xla_shape_files::check_outputs;
use xla_shape_pjrt::Program;
use xla_shape_program::{Host, Opened};
use xla_shape_render::Html;
use xla_shape_render::cost::{MOST_EVENTS, page_with_run};
use xla_shape_tune::{Devices, try_remedies};

pub(crate) fn run(arguments: &CostArguments, host: &Host) -> Result<(), Failure> {
    let html = arguments.html.as_deref();
    let mut program = match Opened::open_with(&arguments.file, arguments.module.as_deref(), &mut progress_of_profile())?
    {
        Opened::Source { path, bytes } => {
            check_outputs([path.as_path()], html)?;
            return compiled(arguments, host, &bytes);
        }
        Opened::Program(program) => program,
    };
    opened(&program, html)?;
    if arguments.try_remedies {
        return Err(Failure::said(
            "--try compiles the program: expected StableHLO, found a module that is compiled already",
        ));
    }
    check_device(&program, arguments.target.as_ref().and_then(Devices::device))?;
    if let Some(gpu) = arguments.target.as_ref().and_then(Devices::gpu) {
        program.set_gpu(gpu);
    }
    let cost = ProgramCost::of(&program);
    let cost = cost.map_err(|error| Failure::said(format_args!("{}: {error}", program.name())))?;
    // Without a page, the events are not read.
    let page = || -> Result<String, Failure> {
        let events = program.events_of_run(MOST_EVENTS)?;
        let Some((events, measured)) = events.as_ref().zip(cost.measured.as_deref()) else { return Ok(cost.html()) };
        Ok(page_with_run(&cost, &MeasuredRun::new(&program.memory(None), measured, events)))
    };
    let page = html.map(|_| page()).transpose()?.unwrap_or_default();
    super::show_with_page(&cost, arguments.answer.format, &[&arguments.file], html, || page)?;
    end(&program)
}

/// Writes the answer, and the page if the arguments name a file for it.
fn show(cost: &ProgramCost, arguments: &CostArguments) -> Result<(), Failure> {
    super::show_with_page(cost, arguments.answer.format, &[&arguments.file], arguments.html.as_deref(), || cost.html())
}

/// Compiles a program, and says what it costs.
fn compiled(arguments: &CostArguments, host: &Host, bytes: &[u8]) -> Result<(), Failure> {
    let program = Program::from_bytes(bytes).map_err(Failure::said)?;
    let compiler = arguments.compiler.compiler();
    let target = arguments.target.clone().unwrap_or_default();
    let compile = |program: &Program| target.ask(&compiler, host, program.code());
    let said = compile(&program).map_err(Failure::said)?;
    let mut cost = ProgramCost::of_compiled(&said).map_err(Failure::said)?;
    if arguments.try_remedies {
        try_remedies(&mut cost, &said, &program, &compile);
    }
    show(&cost, arguments)
}
