//! A module as text: its head, its tables and its computations.

use super::attributes::{Attributes, frontend_attributes, original_array};
use super::error::{HloProtoError, HloProtoErrorKind};
use super::ids::Ids;
use super::instruction::instruction;
use super::message::{HloComputationProto, HloInstructionProto, HloModuleProto, Payload};
use super::shapes::Shapes;
use super::words::{joined, name};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;
use xla_shape_core::Shape;
use xla_shape_core::text::escaped;

type Result<T> = core::result::Result<T, HloProtoError>;

/// The text that XLA prints for a module.
pub(crate) fn text(module: &mut HloModuleProto) -> Result<String> {
    fill_in(module);
    let module = &*module;
    let ids = Ids::new(module)?;
    let mut out = String::new();
    let entry = ids.computation(module.entry_computation_id);
    let entry = entry.or_else(|| module.computations.iter().find(|found| found.name == module.entry_computation_name));
    let unknown = HloProtoErrorKind::UnknownId { what: "the entry computation", id: module.entry_computation_id };
    let entry = entry.ok_or_else(|| HloProtoError::new(unknown).within("entry_computation_id"))?;
    let _ = write!(out, "HloModule {}", name(&module.name)?);
    head(module, entry, &mut out)?;
    tables(module, &mut out);
    let mut shapes = Shapes::new();
    for computation in ids.post_order() {
        let print = self::computation(computation, core::ptr::eq(computation, entry), &ids, &mut shapes, &mut out);
        print.map_err(|error| error.within(alloc::format!("computation `{}`", computation.name)))?;
        out.push('\n');
    }
    Ok(out)
}

/// Puts what instructions refer to in the module's list of payloads where it belongs.
fn fill_in(module: &mut HloModuleProto) {
    let payloads = core::mem::take(&mut module.payloads);
    let find = |payload: &mut Payload| {
        let listed = payload.id.and_then(|id| payloads.get(usize::try_from(id).ok()?));
        payload.value.take().or_else(|| listed.cloned())
    };
    for instruction in module.computations.iter_mut().flat_map(|computation| &mut computation.instructions) {
        if let Some(payload) = &mut instruction.backend_config_payload
            && let Some(value) = find(payload)
        {
            instruction.backend_config = value;
        }
        let metadata = instruction.metadata.as_mut();
        if let Some(payload) = metadata.and_then(|metadata| metadata.metadata_payload.as_mut()) {
            payload.value = find(payload);
        }
    }
}

fn head(module: &HloModuleProto, entry: &HloComputationProto, out: &mut String) -> Result<()> {
    let mut to = Attributes { out };
    if module.schedule.as_ref().is_some_and(|schedule| !schedule.sequences.is_empty()) {
        to.add("is_scheduled", "true");
    }
    if let Some(aliases) = module.input_output_alias.as_ref().filter(|aliases| !aliases.entries.is_empty()) {
        to.out.push_str(", input_output_alias={ ");
        for (i, alias) in aliases.entries.iter().enumerate() {
            to.out.push_str(if i > 0 { ", {" } else { "{" });
            joined(&alias.output_shape_index, ",", to.out);
            let _ = write!(to.out, "}}: ({}, {{", alias.parameter_number);
            joined(&alias.parameter_shape_index, ",", to.out);
            to.out.push_str(if alias.kind == 2 { "}, must-alias)" } else { "}, may-alias)" });
        }
        to.out.push_str(" }");
    }
    if let Some(donors) = module.buffer_donor.as_ref().filter(|donors| !donors.entries.is_empty()) {
        to.out.push_str(", buffer_donor={ ");
        for (i, donor) in donors.entries.iter().enumerate() {
            let _ = write!(to.out, "{}({}, {{", if i > 0 { ", " } else { "" }, donor.parameter_number);
            joined(&donor.parameter_shape_index, ",", to.out);
            to.out.push_str("})");
        }
        to.out.push_str(" }");
    }
    let layout = module.host_program_shape.as_ref().or(entry.program_shape.as_ref());
    if let Some(layout) = layout {
        to.out.push_str(", entry_computation_layout={(");
        for (i, shape) in layout.parameters.iter().enumerate() {
            // XLA numbers every fifth one.
            match i {
                0 => {}
                _ if i % 5 == 0 => {
                    let _ = write!(to.out, ", /*index={i}*/");
                }
                _ => to.out.push_str(", "),
            }
            let _ = write!(to.out, "{}", Shape::try_from(shape)?);
        }
        to.out.push_str(")->");
        if let Some(result) = &layout.result {
            let _ = write!(to.out, "{}", Shape::try_from(result)?);
        }
        to.out.push('}');
    }
    frontend_attributes(module.frontend_attributes.as_ref(), &mut to)?;
    if !module.backend_config.is_empty() {
        to.free(", backend_config", &module.backend_config);
    }
    if let Some(table) = module.original_value_recovery_table.as_ref().filter(|table| !table.entries.is_empty()) {
        to.out.push_str(", origin_recovery_table={\n");
        for entry in &table.entries {
            to.out.push_str("  {");
            original_array(&entry.old_original_array.clone().unwrap_or_default(), to.out);
            to.out.push_str("} : {");
            original_array(&entry.new_original_array.clone().unwrap_or_default(), to.out);
            to.out.push('}');
            if let Some(recovery) = &entry.recovery_module {
                to.out.push_str(",\n  \"\n");
                let inner =
                    text(&mut recovery.clone()).map_err(|error| error.within("original_value_recovery_table"))?;
                for line in inner.trim_end().lines() {
                    to.out.push_str(if line.is_empty() { "" } else { "    " });
                    escaped(line.as_bytes(), to.out);
                    to.out.push('\n');
                }
                to.out.push_str("\n\n  \"");
            }
            to.out.push('\n');
        }
        to.out.push_str("}\n");
    }
    to.out.push_str("\n\n");
    Ok(())
}

fn tables(module: &HloModuleProto, out: &mut String) {
    let Some(tables) = module.stack_frame_index.as_ref() else { return };
    if tables.file_names.is_empty() && tables.stack_frames.is_empty() {
        return;
    }
    let strings = |title: &str, texts: &[String], out: &mut String| {
        let _ = writeln!(out, "{title}");
        for (text, number) in texts.iter().zip(1_u64..) {
            let _ = write!(out, "{number} \"");
            escaped(text.as_bytes(), out);
            out.push_str("\"\n");
        }
        out.push('\n');
    };
    strings("FileNames", &tables.file_names, out);
    strings("FunctionNames", &tables.function_names, out);
    out.push_str("FileLocations\n");
    for (location, number) in tables.file_locations.iter().zip(1_u64..) {
        let _ = writeln!(
            out,
            "{number} {{file_name_id={} function_name_id={} line={} end_line={} column={} end_column={}}}",
            location.file_name_id,
            location.function_name_id,
            location.line,
            location.end_line,
            location.column,
            location.end_column
        );
    }
    out.push_str("\nStackFrames\n");
    for (frame, number) in tables.stack_frames.iter().zip(1_u64..) {
        // The text counts parents from 1.
        let parent = frame.parent_frame_id.saturating_add(1);
        let _ = writeln!(out, "{number} {{file_location_id={} parent_frame_id={parent}}}", frame.file_location_id);
    }
    out.push_str("\n\n");
}

fn computation<'p>(
    computation: &'p HloComputationProto,
    is_entry: bool,
    ids: &Ids<'p>,
    shapes: &mut Shapes<'p>,
    out: &mut String,
) -> Result<()> {
    let _ = write!(out, "{}%{} (", if is_entry { "ENTRY " } else { "" }, name(&computation.name)?);
    let mut parameters: Vec<_> = computation.instructions.iter().filter(|found| found.opcode == "parameter").collect();
    parameters.sort_by_key(|parameter| parameter.parameter_number);
    let mut without_layout = |instruction: &'p HloInstructionProto, out: &mut String| -> Result<()> {
        let place = |error: HloProtoError| error.within(alloc::format!("instruction `{}`", instruction.name));
        out.push_str(&shapes.of(instruction).map_err(place)?.without_layout);
        Ok(())
    };
    for (i, parameter) in parameters.into_iter().enumerate() {
        let _ = write!(out, "{}{}: ", if i > 0 { ", " } else { "" }, name(&parameter.name)?);
        without_layout(parameter, out)?;
    }
    out.push_str(") -> ");
    let unknown = HloProtoErrorKind::UnknownId { what: "the root instruction", id: computation.root_id };
    let root = ids.root(computation).ok_or_else(|| HloProtoError::new(unknown).within("root_id"))?;
    without_layout(root, out)?;
    out.push_str(" {\n");
    for of_computation in ids.order(computation)? {
        out.push_str("  ");
        let place = || alloc::format!("instruction `{}`", of_computation.name);
        instruction(of_computation, computation, ids, shapes, out).map_err(|error| error.within(place()))?;
        out.push('\n');
    }
    out.push('}');
    if !computation.execution_thread.is_empty() && computation.execution_thread != "main" {
        out.push_str(", execution_thread=\"");
        escaped(computation.execution_thread.as_bytes(), out);
        out.push('"');
    }
    out.push('\n');
    Ok(())
}
