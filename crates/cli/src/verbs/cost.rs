//! `cost`: what the compiler expects a program to cost.

use super::hlo::{end, opened};
use crate::args::CostArguments;
use crate::failure::Failure;
use std::collections::BTreeMap;
use xla_shape::Layout;
use xla_shape_answers::cost::ProgramCost;
use xla_shape_files::check_outputs;
use xla_shape_pjrt::{Argument, Program};
use xla_shape_program::{CompileError, CompilerAnswer, Host, Opened};
use xla_shape_render::Html;
use xla_shape_tune::Place;

/// The most copies whose remedies are tried one by one.
const MOST_TRIED: usize = 16;

pub(crate) fn run(arguments: &CostArguments, host: &Host) -> Result<(), Failure> {
    let html = arguments.html.as_deref();
    let program = match Opened::open(&arguments.file)? {
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
    let cost = ProgramCost::new(program.module());
    let cost = cost.map_err(|error| Failure::said(format_args!("{}: {error}", program.name())))?;
    show(&cost, arguments)?;
    end(&program)
}

/// Writes the page, if the arguments name a file for it, and the answer.
fn show(cost: &ProgramCost, arguments: &CostArguments) -> Result<(), Failure> {
    super::show_with_page(cost, arguments.answer.format, arguments.html.as_deref(), || cost.html())
}

/// Compiles a program, and says what it costs.
fn compiled(arguments: &CostArguments, host: &Host, bytes: &[u8]) -> Result<(), Failure> {
    let program = Program::from_bytes(bytes).map_err(Failure::said)?;
    let compiler = arguments.compiler.compiler();
    let compile = |program: &Program| match &arguments.target.slice {
        Ok(slice) => compiler.compile(host, slice, program.code()),
        Err(error) => Err(CompileError::Refused(error.clone())),
    };
    let said = compile(&program).map_err(Failure::said)?;
    let mut cost = measured(&said).map_err(Failure::said)?;
    if arguments.try_remedies {
        let remedies = cost.remedies();
        let mut sets: Vec<Vec<(Place, Layout)>> =
            remedies.iter().take(MOST_TRIED).map(|one| vec![one.clone()]).collect();
        if remedies.len() > 1 {
            sets.push(remedies);
        }
        for set in sets {
            let Some(layouts) = layouts(&set) else { continue };
            let tried = program.with_layouts(&layouts).map_err(|error| error.to_string());
            let tried = tried.and_then(|program| compile(&program).map_err(|trouble| trouble.to_string()));
            let result = tried.as_ref().map_err(Clone::clone).and_then(|tried| {
                let taken = layouts.iter().all(|(argument, layout)| layout_at(tried, *argument) == Some(layout));
                Ok((measured(tried)?, taken))
            });
            let bytes = [Some(said.hbm_bytes()), tried.as_ref().ok().map(CompilerAnswer::hbm_bytes)];
            match result {
                Ok((other, taken)) => cost.add_tried(&set, Ok((&other, taken)), bytes),
                Err(error) => cost.add_tried(&set, Err(error), bytes),
            }
        }
    }
    show(&cost, arguments)
}

fn measured(said: &CompilerAnswer) -> Result<ProgramCost, String> {
    let module = said.module().map_err(|trouble| trouble.to_string())?;
    ProgramCost::new(&module).map_err(|error| error.to_string())
}

/// The layout that a parameter or a result has.
fn layout_at(said: &CompilerAnswer, argument: Argument) -> Option<&Layout> {
    let shape = match argument {
        Argument::Parameter(number) => said.inputs.get(number),
        Argument::Result(number) => said.outputs.get(number),
    };
    Some(shape?.array()?.layout())
}

/// The parameters and results of the program for which layouts are asked; `None` if one is part of a tuple, which no program of MLIR has.
fn layouts(set: &[(Place, Layout)]) -> Option<BTreeMap<Argument, Layout>> {
    let argument = |place: &Place| match place {
        Place::Parameter(number, index) if index.is_empty() => Some(Argument::Parameter(*number)),
        Place::Result(index) if index.len() <= 1 => Some(Argument::Result(index.first().copied().unwrap_or(0))),
        _ => None,
    };
    set.iter().map(|(place, layout)| Some((argument(place)?, layout.clone()))).collect()
}
