//! `hlo_types!`: the shapes of an HLO module as types.

mod file;
mod items;
mod request;

use crate::cursor::Error;
use crate::tokens;
use file::{File, near};
use items::{Items, Origin};
use proc_macro::TokenStream;
use request::{Quoted, Request, Wanted};
use xla_shape_core::{ProgramShape, Shape};
use xla_shape_hlo::{Computation, Instruction, Module};

/// Expands `hlo_types!`: one Rust module for each request.
pub(crate) fn types(input: TokenStream) -> TokenStream {
    let (library, tokens) = tokens::library(input);
    match request::requests(tokens) {
        Ok(requests) => requests.into_iter().flat_map(|request| rust_module(request, &library)).collect(),
        Err(error) => error.into_tokens(),
    }
}

/// The Rust module for a request.
fn rust_module(request: Request, library: &TokenStream) -> TokenStream {
    let Request { attributes, visibility, name, path, types, errors } = request;
    let mut items = Items::new(library);
    let mut about = format!("The shapes of `{}`.", path.value);
    let file = File::read(&path);
    let module = file.as_ref().map_err(Error::clone).and_then(|file| {
        items.watch(&file.absolute);
        file.module(&path)
    });
    match module.and_then(|module| Ok((Parts::new(&module, &path)?.into_types(&mut items), module))) {
        Ok(((), module)) => {
            about = format!("The shapes of `{}`, from `{}`.", module.name().unwrap_or_default(), path.value);
            types.into_iter().for_each(|wanted| named(&module, &path, wanted, &mut items));
        }
        Err(error) => items.nothing_is_known(error, types),
    }
    errors.into_iter().for_each(|error| items.error(error));
    items.into_module(attributes, &about, visibility, name)
}

/// The instructions that get a type without a request: the parameters and the result.
struct Parts<'m> {
    /// In the order of their numbers.
    parameters: Vec<Instruction<'m>>,
    result: Instruction<'m>,
    /// The shapes of both.
    shape: ProgramShape,
}

impl<'m> Parts<'m> {
    fn new(module: &'m Module, path: &Quoted) -> Result<Self, Error> {
        let error = |message| Error::new(message, path.span);
        let found = module.entry().zip(module.program_shape());
        let (entry, shape) =
            found.ok_or_else(|| error(format!("{}: expected an ENTRY computation, found none", path.value)))?;
        let parameters = entry.parameters_by_number();
        for (place, (number, parameter)) in parameters.iter().enumerate() {
            if *number != place {
                let expected = "expected parameters of the ENTRY computation with the numbers 0, 1, …, each once";
                return Err(error(format!("{}: {expected}; `{}` has {number}", path.value, parameter.name())));
            }
        }
        Ok(Self {
            parameters: parameters.into_iter().map(|(_, parameter)| parameter).collect(),
            result: entry.root(),
            shape,
        })
    }

    fn into_types(self, items: &mut Items<'_>) {
        for ((number, parameter), passed) in self.parameters.iter().enumerate().zip(&self.shape.parameters) {
            let origin = Origin::new(format!("parameter {number}, `{}`", parameter.name()), *parameter);
            items.automatic(&format!("Parameter{number}"), &passed.shape, &origin);
        }
        let origin = Origin::new("the result".to_owned(), self.result);
        items.tuple("Parameters", "Parameter", self.parameters.len(), "all parameters", "All parameters.");
        match &self.shape.result {
            Shape::Tuple(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    items.automatic(&format!("Result{index}"), element, &origin.element(index));
                }
                items.tuple("Result", "Result", elements.len(), origin.what(), &origin.doc(&self.shape.result));
            }
            shape => items.automatic("Result", shape, &origin),
        }
    }
}

/// Adds the requested types of a named instruction and of its operands.
fn named(module: &Module, path: &Quoted, wanted: Wanted, items: &mut Items<'_>) {
    let instruction = match find(module, path, &wanted) {
        Ok(instruction) => instruction,
        Err(error) => return items.unknown(error, wanted.into_names()),
    };
    let Wanted { attributes, value, operands, .. } = wanted;
    let origin = Origin::new(format!("`{}`", instruction.name()), instruction);
    items.pattern(&attributes, value, instruction.shape(), &origin);
    let Some(operands) = operands else { return };
    if let Err(error) = operands.fit(instruction.operands().len(), "operands", origin.what()) {
        return items.unknown(error, operands.names());
    }
    for (index, (pattern, operand)) in operands.patterns.into_iter().zip(instruction.operands()).enumerate() {
        // Inside a computation, the parser has resolved every operand.
        if let Some(instruction) = operand.instruction() {
            let origin = Origin::new(format!("operand {index} of {}", origin.what()), instruction);
            items.pattern(&attributes, pattern, instruction.shape(), &origin);
        }
    }
}

/// Finds the instruction with a name.
fn find<'m>(module: &'m Module, path: &Quoted, wanted: &Wanted) -> Result<Instruction<'m>, Error> {
    let written = |quoted: &Quoted| quoted.value.trim_start_matches('%').to_owned();
    let name = written(&wanted.instruction);
    let error = |message, name: &Quoted| Error::new(message, name.span);
    let names = |found: &mut dyn Iterator<Item = Instruction<'m>>| found.map(Instruction::name).collect::<Vec<_>>();
    if let Some(quoted) = &wanted.computation {
        let computation = written(quoted);
        let found = module.computation(&computation).ok_or_else(|| {
            let names: Vec<_> = module.computations().map(Computation::name).collect();
            error(format!("{} has no computation `{computation}`{}", path.value, near(&computation, &names)), quoted)
        })?;
        return found.instruction(&name).ok_or_else(|| {
            let similar = near(&name, &names(&mut found.instructions()));
            error(
                format!("`{computation}` of {} has no instruction `{name}`{similar}", path.value),
                &wanted.instruction,
            )
        });
    }
    let mut found = module.instructions().filter(|instruction| instruction.name() == name);
    match (found.next(), found.next()) {
        (Some(only), None) => Ok(only),
        (Some(first), Some(second)) => {
            let [first, second] = [first, second].map(|found| found.computation().name());
            let message = format!(
                "more than one computation of {} has an instruction `{name}`; say which: \
                 \"{first}\"::\"{name}\", \"{second}\"::\"{name}\"",
                path.value
            );
            Err(error(message, &wanted.instruction))
        }
        (None, _) => {
            let similar = near(&name, &names(&mut module.instructions()));
            Err(error(format!("{} has no instruction `{name}`{similar}", path.value), &wanted.instruction))
        }
    }
}
