//! Where a program changes the sharding of an array.

use std::collections::HashMap;
use xla_shape_answers::scan::InProgram;
use xla_shape_core::shard::{Mesh, Sharding};
use xla_shape_core::{ArrayShape, Dimension, ElementType};
use xla_shape_hlo::{Language, Module, Refusal, RefusalCause, find_spelled_shapes};
use xla_shape_mlir::Signature;

/// The changes of sharding that a program certainly makes: an instruction has a sharding, and exactly one operand of the same shape has another
/// sharding. The key is the shard before the change, because warnings name it.
#[derive(Default)]
pub(crate) struct Changes(HashMap<Shard, Vec<(Sharding, Sharding, InProgram)>>);

/// A shard without its layout.
type Shard = (ElementType, Vec<Dimension>);

/// The values so far, each an array with its sharding.
type Values<'t> = HashMap<&'t str, (ArrayShape, Sharding)>;

impl Changes {
    /// The changes in an HLO program (text or message), or in the function `main` of MLIR's text. Empty if the program cannot be read (the compiler
    /// will say why), or if it is MLIR with constraints outside `main`.
    pub(crate) fn of(program: &[u8]) -> Self {
        let mut changes = Self::default();
        match (std::str::from_utf8(program), Language::of(program)) {
            (Ok(text), Some(Language::Mlir)) => drop(changes.read_mlir(text)),
            (Ok(text), _) => drop(Module::parse(text).map(|module| changes.read_hlo(&module))),
            (Err(_), _) => drop(Module::from_proto(program).map(|module| changes.read_hlo(&module))),
        }
        changes
    }

    /// The instruction that a warning about a full rematerialization means, if exactly one instruction has the warning's shard and shardings.
    pub(crate) fn find(&self, refusal: &Refusal) -> Option<InProgram> {
        let RefusalCause::FullReplication { array: Some(array), shardings, .. } = &refusal.cause else { return None };
        let [Some(from), Some(to)] = &**shardings else { return None };
        let mut found =
            self.0.get(&shard(array, from)?)?.iter().filter(|(before, after, _)| before == from && after == to);
        found.next().filter(|_| found.next().is_none()).map(|(.., place)| place.clone())
    }

    fn read_hlo(&mut self, module: &Module) {
        let sources = module.sources();
        let mut values = Values::new();
        for found in module.sharded_arrays(None) {
            let instruction = found.instruction;
            if instruction.shape().array().is_none() {
                continue;
            }
            let source = sources.get(instruction);
            let source = source.file.zip(source.line).map(|(file, line)| in_program(&file, line));
            let operands = instruction.operands().map(|operand| operand.name());
            self.add(&mut values, instruction.name(), (found.array, found.sharding), operands, source);
        }
    }

    /// Adds the changes in MLIR's text. Stops with `None` at text that JAX does not write.
    fn read_mlir(&mut self, text: &str) -> Option<()> {
        let module = xla_shape_mlir::Module::parse(text).ok()?;
        let mut meshes = HashMap::new();
        for mesh in module.operations().iter().filter(|operation| operation.name() == "sdy.mesh") {
            let (name, axes) = mesh.texts().first()?.split_once('=')?;
            let axes = axes.trim().split_inclusive('>').next()?;
            meshes.insert(name.trim(), Mesh::from_mlir(&format!("mesh{axes}")).ok()?);
        }
        // The attribute is `#sdy.sharding<@mesh, …>`; constraints leave out what is before `<`.
        let shardy = |text: &str| {
            let (_, of) = text.split_once('<')?;
            let (mesh, _) = of.split_once(',')?;
            meshes.get(mesh.trim())?.sharding_from_mlir(&format!("#sdy.sharding<{of}")).ok()
        };
        let array = |text: &str| find_spelled_shapes(text).last()?.shape.array().cloned();
        let main = module.operations().iter().position(|operation| {
            operation.name() == "func.func" && operation.texts().first().is_some_and(|text| text.contains("@main("))
        })?;
        let mut values = Values::new();
        for parameter in Signature::find(text, "main")?.parameters() {
            let gspmd = || parameter.attribute("mhlo.sharding")?.parse().ok();
            let sharding = parameter.attribute("sdy.sharding").and_then(shardy).or_else(gspmd);
            if let Some(value) = array(parameter.type_text()).zip(sharding) {
                values.insert(parameter.name().trim_start_matches('%'), value);
            }
        }
        // We do not follow arrays into the bodies of loops and other functions, so the warning could also be about a constraint in one of these.
        let is_constraint = |operation: &xla_shape_mlir::Operation<'_>| match operation.name() {
            "sdy.sharding_constraint" => true,
            "stablehlo.custom_call" => operation.attribute("mhlo.sharding").is_some(),
            _ => false,
        };
        let mut elsewhere = module.operations().iter().filter(|operation| operation.parent() != Some(main));
        if elsewhere.any(is_constraint) {
            return None;
        }
        for operation in module.operations().iter().filter(|operation| operation.parent() == Some(main)) {
            let ([name], [text, ..]) = (operation.results(), operation.texts()) else { continue };
            let sharding = match operation.name() {
                "sdy.sharding_constraint" => text.rsplit_once(" : ").and_then(|(of, _)| shardy(of)),
                _ => operation.attribute("mhlo.sharding").and_then(|text| text.parse().ok()),
            };
            let Some(value) = array(text).zip(sharding) else { continue };
            let source = module.source(operation).map(|source| in_program(source.file, source.line));
            self.add(&mut values, name.trim_start_matches('%'), value, operation.operands(), source);
        }
        Some(())
    }

    /// Adds a value that is computed from these operands, and the change of sharding if it makes one.
    fn add<'t>(
        &mut self,
        values: &mut Values<'t>,
        name: &'t str,
        (array, sharding): (ArrayShape, Sharding),
        operands: impl Iterator<Item = &'t str>,
        source: Option<String>,
    ) {
        let same =
            operands.filter_map(|operand| values.get(operand)).filter(|(of, _)| of.dimensions() == array.dimensions());
        let mut changed = same.filter(|(of, before)| of.element_type() == array.element_type() && *before != sharding);
        if let (Some((of, before)), None) = (changed.next(), changed.next())
            && let Some(shard) = shard(of, before)
        {
            let place = InProgram { name: format!("%{name}"), source };
            self.0.entry(shard).or_default().push((before.clone(), sharding.clone(), place));
        }
        values.insert(name, (array, sharding));
    }
}

/// The shard of an array: its element type and dimensions.
fn shard(array: &ArrayShape, sharding: &Sharding) -> Option<Shard> {
    let partition = sharding.partition(array).ok()?;
    Some((array.element_type(), partition.shard().dimensions().to_vec()))
}

/// A place in the user's program, written as in the messages that are read: without folders.
fn in_program(file: &str, line: impl std::fmt::Display) -> String {
    format!("{}:{line}", file.rsplit('/').next().unwrap_or(file))
}
