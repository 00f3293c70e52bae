//! HLO modules: XLA's own programs, and texts that are broken in every way.

use serde::Deserialize;
use std::collections::BTreeMap;
use xla_shape_core::{ParseError, Shape};
use xla_shape_hlo::{Attribute, Computation, Instruction, Module, Opcode, Severity, Value};
use xla_shape_tests::{HloModule, corpus, every, hlo_modules};

/// Checks every module: panics with a list of those that disagree, and prints how many agree.
fn for_all_modules(what: &str, disagreement: impl FnMut(&HloModule) -> Result<(), String>) {
    for_every_module(1, what, disagreement);
}

/// The same for every `step`th module, and for all of them in `scripts/laws.sh`.
fn for_every_module(step: usize, what: &str, mut disagreement: impl FnMut(&HloModule) -> Result<(), String>) {
    let modules = hlo_modules();
    assert_eq!(modules.len(), 143);
    let modules: Vec<_> = every(step, modules).collect();
    let failures: Vec<_> = modules
        .iter()
        .filter_map(|module| disagreement(module).err().map(|why| format!("{}/{}: {why}", module.set, module.module)))
        .collect();
    println!("{what}: {} of {} modules agree", modules.len() - failures.len(), modules.len());
    assert!(failures.is_empty(), "{what}: {} modules disagree:\n{}", failures.len(), failures.join("\n"));
}

fn parse(text: &str) -> Result<Module, String> {
    Module::parse(text).map_err(|error| error.render(text).to_string())
}

#[test]
fn modules_have_the_instructions_that_xla_counts() {
    for_all_modules("counts of instructions by opcode", |row| {
        let module = parse(&row.text)?;
        let mut opcodes = BTreeMap::new();
        for instruction in module.instructions() {
            *opcodes.entry(instruction.opcode().to_string()).or_insert(0) += 1;
        }
        let counts = (module.computations().len(), module.instructions().len(), opcodes);
        let expected = (row.computations, row.instructions, row.opcodes.clone());
        if counts == expected { Ok(()) } else { Err(format!("{counts:?}, not {expected:?}")) }
    });
}

#[derive(Deserialize, Debug)]
struct ComputationRow {
    module: String,
    computation: String,
    instructions: Vec<InstructionRow>,
}

/// Name, opcode, operands, and the shape as it is written; no shape if XLA invented the name.
#[derive(Deserialize, PartialEq, Debug)]
struct InstructionRow(String, String, Vec<String>, Option<String>);

#[test]
fn instructions_are_those_that_xla_reads() {
    let rows: Vec<ComputationRow> = corpus("hlo_instrs.jsonl.zst");
    let texts = hlo_modules();
    // A program has the same name before and after compilation, so there can be two modules for a name.
    let mut modules: BTreeMap<&str, Vec<Module>> = BTreeMap::new();
    for row in &texts {
        modules.entry(&row.module).or_default().push(Module::parse(&row.text).unwrap());
    }
    // `slice-start` is short for an `async-start` with a computation around the slice, which XLA adds when it reads it.
    let (added, written): (Vec<_>, Vec<_>) =
        rows.iter().partition(|row| row.instructions.iter().all(|instruction| instruction.3.is_none()));
    for row in &written {
        let found = modules[row.module.as_str()].iter().filter_map(|module| module.computation(&row.computation));
        let found: Vec<_> = found.map(|computation| described(computation, row)).collect();
        assert!(found.contains(&row.instructions), "{} {}:\n{found:?}\n{row:?}", row.module, row.computation);
    }
    let instructions: usize = written.iter().map(|row| row.instructions.len()).sum();
    println!("instructions with opcode, operands and shape: {instructions} of {instructions} agree");
    assert_eq!((written.len(), added.len(), instructions), (4065, 30, 43_263));
}

fn described(computation: Computation<'_>, row: &ComputationRow) -> Vec<InstructionRow> {
    // XLA calls a slice `slice.1` where the text says `slice.0`, because a computation that it added took the name.
    let renamed: BTreeMap<&str, &str> = computation
        .instructions()
        .zip(&row.instructions)
        .filter(|(_, expected)| expected.3.is_none())
        .map(|(instruction, expected)| (instruction.name(), expected.0.as_str()))
        .collect();
    let name = |name: &str| renamed.get(name).copied().unwrap_or(name).to_owned();
    let described = |instruction: Instruction<'_>| {
        let opcode = match instruction.opcode() {
            Opcode::SliceStart => Opcode::AsyncStart,
            Opcode::SliceDone => Opcode::AsyncDone,
            // The rows have XLA's older name of this opcode.
            Opcode::OptBarrier => Opcode::Other("optimization-barrier"),
            opcode => opcode,
        };
        InstructionRow(
            name(instruction.name()),
            opcode.to_string(),
            instruction.operands().map(|operand| name(operand.name())).collect(),
            (!renamed.contains_key(instruction.name())).then(|| instruction.shape_text().into()),
        )
    };
    computation.instructions().map(described).collect()
}

/// XLA omits layouts in a computation's signature, so a loader must read `entry_computation_layout`.
#[test]
fn parameters_and_results_have_the_layouts_of_the_entry() {
    let mut signatures_without = 0;
    for_all_modules("layouts of parameters and results", |row| {
        let module = parse(&row.text)?;
        let (Some(entry), Some(layout)) = (module.entry(), module.attribute("entry_computation_layout")) else {
            return Ok(());
        };
        // Layouts are assigned when the module is scheduled. The header can be older than the instructions: in modules that the compiler
        // extracted for the SparseCore, and in modules for CPUs, where only memory spaces differ.
        if row.set != "tpu-hlo" || row.module.contains("sc_extracted") || !module.is_scheduled() {
            return Ok(());
        }
        let program = layout.program_shape().map_err(|error| error.to_string())?;
        let parameters: Vec<_> = entry.parameters().map(|(_, shape)| shape).collect();
        let head = row.text.lines().find(|line| line.starts_with("ENTRY")).unwrap_or_default();
        signatures_without += usize::from(!head.contains(":T(") && layout.text().contains(":T("));
        if !parameters.iter().copied().eq(program.parameters.iter().map(|parameter| &parameter.shape)) {
            return Err(format!("{parameters:?}"));
        }
        if *entry.result() == program.result { Ok(()) } else { Err(entry.result().to_string()) }
    });
    assert!(signatures_without > 50, "{signatures_without}");
}

#[test]
fn modules_are_printed_as_xla_prints_them() {
    for_all_modules("printed text", |row| {
        let printed = parse(&row.text)?.to_string();
        match printed.lines().zip(row.text.lines()).find(|(ours, theirs)| ours != theirs) {
            None if printed.trim_end() == row.text.trim_end() => Ok(()),
            None => Err("another number of lines".into()),
            Some((ours, theirs)) => Err(format!("\n  {ours}\n  {theirs}")),
        }
    });
}

/// The same programs in other print modes of XLA: names without `%`, and operands with their shapes.
#[test]
fn other_styles_are_read_as_the_same_model() {
    for_every_module(3, "models of other styles", |row| {
        let short = row.text.replace('%', "");
        let printed = parse(&short)?.to_string().replace('%', "");
        if printed.trim_end() != short.trim_end() {
            return Err("another model without `%`".into());
        }
        let module = parse(&row.text)?;
        let (mut old, mut copied) = (String::new(), 0);
        for operand in module.instructions().flat_map(Instruction::operands) {
            let shape = operand.instruction().ok_or("an operand without its instruction")?.shape_text();
            let percent = operand.span().start - 1;
            old.push_str(&row.text[copied..percent]);
            old.push_str(&format!("{shape} "));
            copied = percent;
        }
        old.push_str(&row.text[copied..]);
        let module = parse(&old)?;
        if module.to_string().trim_end() != row.text.trim_end() {
            return Err("another model with the shapes of operands".into());
        }
        match module.check().into_iter().find(|finding| finding.severity() == Severity::Error) {
            Some(finding) => Err(finding.to_string()),
            None => Ok(()),
        }
    });
}

/// Whether two modules have the same content, ignoring positions in their texts.
fn same_model(a: &Module, b: &Module) -> bool {
    let attributes = |a: Attribute<'_>, b: Attribute<'_>| a.name() == b.name() && a.value().text() == b.value().text();
    let rows = |table| a.rows(table).map(|(n, v)| (n, v.text())).eq(b.rows(table).map(|(n, v)| (n, v.text())));
    a.name() == b.name()
        && a.attributes().len() == b.attributes().len()
        && a.attributes().zip(b.attributes()).all(|(a, b)| attributes(a, b))
        && a.tables() == b.tables()
        && a.tables().iter().all(|&table| rows(table))
        && a.computations().len() == b.computations().len()
        && a.computations().zip(b.computations()).all(|(a, b)| {
            (a.name(), a.is_entry(), a.is_fragment()) == (b.name(), b.is_entry(), b.is_fragment())
                && a.parameters().eq(b.parameters())
                && a.result() == b.result()
                && a.root().number() == b.root().number()
                && a.instructions().len() == b.instructions().len()
                && a.attributes().len() == b.attributes().len()
                && a.attributes().zip(b.attributes()).all(|(a, b)| attributes(a, b))
        })
        && a.instructions().zip(b.instructions()).all(|(a, b)| {
            (a.name(), a.shape(), a.opcode(), a.is_root()) == (b.name(), b.shape(), b.opcode(), b.is_root())
                && (a.literal(), a.parameter_number()) == (b.literal(), b.parameter_number())
                && operands(a).eq(operands(b))
                && a.attributes().len() == b.attributes().len()
                && a.attributes().zip(b.attributes()).all(|(a, b)| attributes(a, b))
        })
}

/// Name, number of the instruction, and written shape of each operand.
fn operands<'m>(instruction: Instruction<'m>) -> impl Iterator<Item = (String, Option<u32>, Option<&'m Shape>)> {
    instruction.operands().map(|operand| {
        (operand.name().to_owned(), operand.instruction().map(Instruction::number), operand.written_shape())
    })
}

#[test]
fn printed_modules_are_read_as_the_same_model() {
    for_every_module(2, "models after printing", |row| {
        let module = parse(&row.text)?;
        let printed = module.to_string();
        if same_model(&module, &parse(&printed)?) { Ok(()) } else { Err("another model".into()) }
    });
}

#[test]
fn checks_find_no_errors_in_programs_of_xla() {
    for_all_modules("modules without findings", |row| {
        let module = parse(&row.text)?;
        let errors: Vec<_> = module.check().into_iter().filter(|found| found.severity() == Severity::Error).collect();
        if errors.is_empty() { Ok(()) } else { Err(errors.iter().map(|finding| format!("\n  {finding}")).collect()) }
    });
}

/// Reads an attribute as the kind of value that it should have; returns the text of the error, if there is one.
fn read(name: &str, value: Value<'_>) -> Result<(), ParseError> {
    match name {
        "metadata" => {
            let fields = value.fields()?.into_iter().filter(|(key, _)| matches!(*key, "op_name" | "op_type"));
            fields.map(|(_, value)| value.string()).collect::<Result<Vec<_>, _>>()?;
        }
        "frontend_attributes" => {
            value.fields()?.into_iter().map(|(_, value)| value.unquoted()).collect::<Result<Vec<_>, _>>()?;
        }
        "backend_config" => {
            let _ = value.unquoted()?;
        }
        "dimensions"
        | "lhs_contracting_dims"
        | "rhs_contracting_dims"
        | "lhs_batch_dims"
        | "rhs_batch_dims"
        | "dynamic_slice_sizes"
        | "slice_sizes"
        | "offset_dims"
        | "collapsed_slice_dims"
        | "start_index_map"
        | "update_window_dims"
        | "inserted_window_dims"
        | "scatter_dims_to_operand_dims"
        | "operand_batching_dims"
        | "start_indices_batching_dims" => {
            let _ = value.numbers()?;
        }
        "calls" | "to_apply" | "condition" | "body" | "select" | "scatter" | "kind" | "direction" | "order"
        | "transpose_a" | "api_version" => {
            let _ = value.name()?;
        }
        "called_computations" | "control-predecessors" | "operand_precision" => {
            let _ = value.names()?;
        }
        "index" | "iota_dimension" | "index_vector_dim" | "channel_id" | "k" | "num_partitions" => {
            let _ = value.number()?;
        }
        "is_scheduled"
        | "use_global_device_ids"
        | "is_stable"
        | "indices_are_sorted"
        | "unique_indices"
        | "lower"
        | "left_side"
        | "unit_diagonal"
        | "largest"
        | "custom_call_has_side_effect" => {
            value.boolean()?;
        }
        "custom_call_target" | "async_execution_thread" | "execution_thread" => {
            let _ = value.string()?;
        }
        "slice" => {
            let _ = value.slice()?;
        }
        "padding" => {
            let _ = value.padding()?;
        }
        "window" => {
            let _ = value.window()?;
        }
        "dim_labels" => {
            let _ = value.dim_labels()?;
        }
        "sharding" => {
            let sharding = value.sharding()?;
            assert_eq!(sharding.to_string().parse(), Ok(sharding), "{value:?}");
        }
        "replica_groups" | "source_target_pairs" => {
            let _ = value.replica_groups()?;
        }
        "operand_layout_constraints" => {
            let _ = value.shapes()?;
        }
        "entry_computation_layout" => {
            let _ = value.program_shape()?;
        }
        "input_output_alias" | "output_to_operand_aliasing" => {
            let _ = value.aliases()?;
        }
        _ => {}
    }
    Ok(())
}

#[test]
fn attributes_have_the_values_of_their_kind() {
    for_all_modules("attributes", |row| {
        let module = parse(&row.text)?;
        let of_computations = module.computations().flat_map(|computation| computation.attributes());
        let of_instructions = module.instructions().flat_map(|instruction| instruction.attributes());
        for attribute in module.attributes().chain(of_computations).chain(of_instructions) {
            read(attribute.name(), attribute.value()).map_err(|error| error.render(&row.text).to_string())?;
        }
        Ok(())
    });
}
