//! Tries the layouts that would remove copies of one program.

use crate::Place;
use std::collections::BTreeMap;
use xla_shape_answers::cost::ProgramCost;
use xla_shape_core::Layout;
use xla_shape_pjrt::{Argument, Program};
use xla_shape_program::{CompileError, CompilerAnswer};

/// At most this many remedies are tried one by one.
const MOST_TRIED: usize = 16;

/// Compiles a program with the layouts that would remove its copies, each alone and then all together, and adds the results to its cost.
///
/// `said`: what the compiler said about the program without changes.
pub fn try_remedies(
    cost: &mut ProgramCost,
    said: &CompilerAnswer,
    program: &Program,
    compile: &dyn Fn(&Program) -> Result<CompilerAnswer, CompileError>,
) {
    let remedies = cost.remedies();
    let mut sets: Vec<Vec<(Place, Layout)>> = remedies.iter().take(MOST_TRIED).map(|one| vec![one.clone()]).collect();
    if remedies.len() > 1 {
        sets.push(remedies);
    }
    for set in sets {
        let Some(layouts) = layouts(&set) else { continue };
        let tried = program.with_layouts(&layouts).map_err(|error| error.to_string());
        let tried = tried.and_then(|program| compile(&program).map_err(|error| error.to_string()));
        let bytes = [Some(said.hbm_bytes()), tried.as_ref().ok().map(CompilerAnswer::hbm_bytes)];
        let result = tried.and_then(|tried| {
            let taken = layouts.iter().all(|(argument, layout)| layout_at(&tried, *argument) == Some(layout));
            Ok((ProgramCost::of_compiled(&tried).map_err(|error| error.to_string())?, taken))
        });
        match result {
            Ok((other, taken)) => cost.add_tried(&set, Ok((&other, taken)), bytes),
            Err(error) => cost.add_tried(&set, Err(error), bytes),
        }
    }
}

/// The layout that a parameter or a result has.
fn layout_at(said: &CompilerAnswer, argument: Argument) -> Option<&Layout> {
    let shape = match argument {
        Argument::Parameter(number) => said.inputs.get(number),
        Argument::Result(number) => said.outputs.get(number),
    };
    Some(shape?.array()?.layout())
}

/// The parameters and results of the program for which layouts are requested; `None` if one is part of a tuple: programs in MLIR have no tuples.
fn layouts(set: &[(Place, Layout)]) -> Option<BTreeMap<Argument, Layout>> {
    let argument = |place: &Place| match place {
        Place::Parameter(number, index) if index.is_empty() => Some(Argument::Parameter(*number)),
        Place::Result(index) if index.len() <= 1 => Some(Argument::Result(index.first().copied().unwrap_or(0))),
        _ => None,
    };
    set.iter().map(|(place, layout)| Some((argument(place)?, layout.clone()))).collect()
}
