//! The values of attributes and the elements of constants: whether they are what XLA reads there.

use crate::attribute::origin::origin;
use crate::attribute::{Attribute, Value};
use crate::finding::{Findings, Problem, Result, Severity};
use crate::literal;
use crate::module::{Computation, Instruction, Module};
use crate::opcode::Opcode;
use alloc::format;
use alloc::vec::Vec;
use xla_shape_core::text::ParseError;

type Read = core::result::Result<(), ParseError>;

/// Checks the values that no rule of an opcode reads, or that XLA reads where no rule does.
pub(super) fn check<'m, 'a>(instruction: Instruction<'m, 'a>, findings: &mut Findings<'m, 'a>) {
    if instruction.opcode() == Opcode::Constant {
        findings.check(instruction, constant(instruction));
    }
    for attribute in instruction.attributes() {
        let read = match attribute.name() {
            "metadata" => metadata(instruction, attribute.value(), findings),
            name => value(name, attribute.value(), instruction.opcode()),
        };
        if let Err(error) = read {
            findings.error(instruction, error.into());
        }
    }
    once(instruction, instruction.attributes(), findings);
}

fn constant(instruction: Instruction<'_, '_>) -> Result<()> {
    literal::check(instruction.arguments(), instruction.shape())
        .map_err(|wrong| Problem::unfit(wrong.expected, wrong.found))
}

/// Checks the values of the attributes that the module itself has, and that each is there once.
pub(super) fn of_module<'m, 'a>(module: &'m Module<'a>, findings: &mut Findings<'m, 'a>) {
    let Some(root) = module.entry().map(Computation::root) else { return };
    for attribute in module.attributes() {
        if let Err(error) = module_value(attribute.name(), attribute.value()) {
            findings.error(root, error.into());
        }
    }
    once(root, module.attributes(), findings);
}

fn module_value(name: &str, value: Value<'_>) -> Read {
    match name {
        "alias_passthrough_params" | "is_scheduled" => value.boolean().map(drop),
        "num_partitions" | "replica_count" => integer(value),
        "allow_spmd_sharding_propagation_to_output" | "allow_spmd_sharding_propagation_to_parameters" => {
            match value.text().starts_with('{') {
                true => value.items()?.into_iter().try_for_each(|item| item.boolean().map(drop)),
                false => value.boolean().map(drop),
            }
        }
        "frontend_attributes" => frontend(value),
        _ => Ok(()),
    }
}

/// Checks that no attribute is there twice, which XLA refuses.
pub(super) fn once<'m, 'a>(
    instruction: Instruction<'m, 'a>,
    attributes: impl Iterator<Item = Attribute<'m>>,
    findings: &mut Findings<'m, 'a>,
) {
    let mut names: Vec<_> = attributes.map(|attribute| attribute.name()).collect();
    names.sort_unstable();
    for pair in names.windows(2) {
        if let [first, second] = pair
            && first == second
        {
            findings.error(instruction, Problem::unfit(format!("one attribute `{first}`"), "a second one"));
        }
    }
}

/// Reads attributes that a program's source gave: strings, or anything in braces.
fn frontend(value: Value<'_>) -> Read {
    value.fields()?.into_iter().try_for_each(|(_, field)| match field.text() {
        text if text.starts_with('{') => Ok(()),
        _ => field.bytes().map(drop),
    })
}

/// Reads a value as the attribute of this name has it.
fn value(name: &str, value: Value<'_>, opcode: Opcode<'_>) -> Read {
    match name {
        "constrain_layout"
        | "custom_call_has_side_effect"
        | "has_dynamic_root"
        | "indices_are_sorted"
        | "is_associative"
        | "is_composite"
        | "is_host_transfer"
        | "is_reverse"
        | "is_stable"
        | "largest"
        | "left_side"
        | "lower"
        | "unique_indices"
        | "unit_diagonal"
        | "use_global_device_ids" => value.boolean().map(drop),
        "batch_group_count"
        | "channel_id"
        | "cross_program_prefetch_index"
        | "delta"
        | "exponent_bits"
        | "feature_group_count"
        | "feature_index"
        | "inferred_dimension"
        | "k"
        | "mantissa_bits"
        | "num_carries" => integer(value),
        "dimensions" => value.numbers().map(drop),
        "shifts" => value.items()?.into_iter().try_for_each(integer),
        "epsilon" => float(value),
        "custom_call_target" | "infeed_config" | "outfeed_config" | "async_execution_thread" => value.bytes().map(drop),
        "backend_config" if value.text().starts_with('{') => Ok(()),
        "backend_config" => value.bytes().map(drop),
        "direction" => word(value, "EQ, NE, GE, GT, LE or LT", &["EQ", "NE", "GE", "GT", "LE", "LT"]),
        "order" => word(value, "`TOTAL` or `PARTIAL`", &["TOTAL", "PARTIAL"]),
        "kind" if opcode == Opcode::Fusion => {
            word(value, "kLoop, kInput, kOutput or kCustom", &["kLoop", "kInput", "kOutput", "kCustom"])
        }
        "mode" if opcode.text() == "shuffle" => word(value, "rotate", &["rotate"]),
        "mode" => word(
            value,
            "cross_replica, cross_partition, cross_replica_and_partition or flattened_id",
            &["cross_replica", "cross_partition", "cross_replica_and_partition", "flattened_id"],
        ),
        "convolution_kind" => word(value, "unset, fprop, dgrad or wgrad", &["unset", "fprop", "dgrad", "wgrad"]),
        "transpose_a" => word(value, "NO_TRANSPOSE, TRANSPOSE or ADJOINT", &["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"]),
        "fft_type" => word(value, "FFT, IFFT, RFFT or IRFFT", &["FFT", "IFFT", "RFFT", "IRFFT"]),
        "schedule" | "custom_call_schedule" => word(
            value,
            "SCHEDULE_NONE, SCHEDULE_LATEST or SCHEDULE_EARLIEST",
            &["SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"],
        ),
        "padding_type" => {
            word(value, "PADDING_VALID or PADDING_SAME", &["PADDING_INVALID", "PADDING_VALID", "PADDING_SAME"])
        }
        "api_version" => word(
            value,
            "a version of the interface, such as API_VERSION_TYPED_FFI",
            &[
                "API_VERSION_UNSPECIFIED",
                "API_VERSION_ORIGINAL",
                "API_VERSION_STATUS_RETURNING",
                "API_VERSION_STATUS_RETURNING_UNIFIED",
                "API_VERSION_TYPED_FFI",
            ],
        ),
        "operand_precision" => {
            let precision = |item: Value<'_>| word(item, "default, high or highest", &["default", "high", "highest"]);
            value.items()?.into_iter().try_for_each(precision)
        }
        "parameter_replication" => value.items()?.into_iter().try_for_each(|item| item.boolean().map(drop)),
        "dim_labels" => value.dim_labels().map(drop),
        "window" => value.window().map(drop),
        "replica_groups" if value.text().starts_with("mesh") => value.mesh_groups().map(drop),
        "frontend_attributes" => frontend(value),
        // The first one is the index, whatever it is called.
        "statistics" => match value.fields()?.as_slice() {
            [(_, index), rest @ ..] => {
                integer(*index)?;
                rest.iter().try_for_each(|(_, field)| if is_nan(field.text()) { Ok(()) } else { float(*field) })
            }
            [] => Ok(()),
        },
        "origin" => origin(value).map(drop),
        "result_accuracy" => accuracy(value),
        "domain" => {
            for key in ["entry", "exit"] {
                let missing = || value.is_not("a domain: `{kind=\"sharding\", entry={…}, exit={…}}`");
                value.field(key)?.ok_or_else(missing)?.sharding()?;
            }
            Ok(())
        }
        "outfeed_shape" => shape(value),
        "literal" => {
            let found = literal::check_with_shape(value.text());
            found.map_err(|_| value.is_not("shapes and as many elements, such as `s32[2]{0} {1, 2}`"))
        }
        _ => Ok(()),
    }
}

fn word(value: Value<'_>, what: &'static str, words: &[&str]) -> Read {
    if words.contains(&value.text()) { Ok(()) } else { Err(value.is_not(what)) }
}

fn integer(value: Value<'_>) -> Read {
    match value.text().parse::<i64>() {
        // `parse` would also take a plus.
        Ok(_) if !value.text().starts_with('+') => Ok(()),
        _ => Err(value.is_not("a number")),
    }
}

fn float(value: Value<'_>) -> Read {
    // XLA wants a digit before the point.
    let text = value.text();
    let is_number = text.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
    match text.parse::<f64>() {
        Ok(_) if is_number => Ok(()),
        _ => Err(value.is_not("a number")),
    }
}

fn is_nan(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    text == "nan" || text.starts_with("nan(")
}

fn shape(value: Value<'_>) -> Read {
    let cursor = value.cursor();
    let mut parser = xla_shape_core::text::Parser::at(cursor.text(), cursor.position);
    parser.shape()?;
    parser.finish()
}

/// Reads the fields of `metadata`, and hints at those that nothing here knows, which a newer compiler may write.
fn metadata<'m, 'a>(instruction: Instruction<'m, 'a>, value: Value<'m>, findings: &mut Findings<'m, 'a>) -> Read {
    for (key, field) in value.fields()? {
        match key {
            "op_type" | "op_name" | "source_file" | "deduplicated_name" | "scheduling_name" | "metadata_payload" => {
                field.bytes().map(drop)?;
            }
            "source_line" | "source_end_line" | "source_column" | "source_end_column" | "stack_frame_id" => {
                integer(field)?;
            }
            "profile_type" => field.items()?.into_iter().try_for_each(integer)?,
            _ => {
                let problem = Problem::UnknownAttribute { name: format!("metadata.{key}") };
                findings.add(Severity::Hint, instruction, problem, Some(field.span()));
            }
        }
    }
    Ok(())
}

fn accuracy(value: Value<'_>) -> Read {
    let what = "`{mode=default}`, `{mode=highest}` or `{tolerance={atol=…,rtol=…,ulps=…}}`";
    let is_mode = |mode: Value<'_>| ["default", "highest"].iter().any(|word| mode.text().eq_ignore_ascii_case(word));
    match value.fields()?.as_slice() {
        [("mode", mode)] if is_mode(*mode) => Ok(()),
        [("mode", mode)] => Err(mode.is_not("`default` or `highest`")),
        [("tolerance", tolerance)] => tolerance.fields()?.into_iter().try_for_each(|(key, field)| match key {
            "atol" | "rtol" if field.text() == "inf" => Ok(()),
            "atol" | "rtol" => at_least_zero(field, 0.0),
            // What is behind the point does not count.
            "ulps" => at_least_zero(field, 1.0),
            _ => Err(value.is_not(what)),
        }),
        _ => Err(value.is_not(what)),
    }
}

/// Reads a number that may be below zero by less than `by`.
fn at_least_zero(value: Value<'_>, by: f64) -> Read {
    float(value)?;
    match value.text().parse::<f64>() {
        Ok(number) if number >= 0.0 || number > -by => Ok(()),
        _ => Err(value.is_not("a number of at least 0")),
    }
}
