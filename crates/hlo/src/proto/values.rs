//! Prints attribute values that are more than a number or a word, as XLA does.

use super::attributes::{Attributes, free};
use super::error::{HloProtoError, HloProtoErrorKind};
use super::float::general;
use super::message::{
    ConvolutionDimensionNumbers, FrontendAttributes, OriginalArrayProto, OriginalValueElementProto, OriginalValueProto,
    OutputOperandAliasing, ResultAccuracy, StatisticsViz, payload_field,
};
use super::wire::Record;
use super::words::{decimal, joined, name};
use crate::schema::attribute::METADATA;
use crate::schema::words::Words;
use crate::schema::{Key, Kind};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;
use prost::Message;
use xla_shape_core::sorting::sort_by;
use xla_shape_core::text::escaped;

type Result<T> = core::result::Result<T, HloProtoError>;

/// The word of an enum value.
pub(super) fn word(field: &'static str, words: &Words, value: i64) -> Result<&'static str> {
    words.word(value).ok_or_else(|| HloProtoError::new(HloProtoErrorKind::UnknownValue { field, value }))
}

/// Prints names in braces, if there are any.
pub(super) fn names(name: &str, names: &[&str], to: &mut Attributes<'_>) {
    if names.is_empty() {
        return;
    }
    to.open(name);
    to.out.push('{');
    for (i, name) in names.iter().enumerate() {
        to.out.push_str(if i > 0 { ", %" } else { "%" });
        to.out.push_str(name);
    }
    to.out.push('}');
}

pub(super) fn padding(name: &str, dimensions: &[[i64; 3]], to: &mut Attributes<'_>) {
    to.open(name);
    // XLA prints interior padding for all dimensions or for none.
    let has_interior = dimensions.iter().any(|[.., interior]| *interior != 0);
    for (i, [edges @ .., interior]) in dimensions.iter().enumerate() {
        to.out.push_str(if i > 0 { "x" } else { "" });
        joined(edges, "_", to.out);
        if has_interior {
            to.out.push('_');
            decimal(*interior, to.out);
        }
    }
}

pub(super) fn slices(name: &str, slices: &[[i64; 3]], to: &mut Attributes<'_>) {
    to.open(name);
    to.out.push('{');
    let has_strides = slices.iter().any(|[.., stride]| *stride != 1);
    for (i, slice) in slices.iter().enumerate() {
        let [start, limit, _] = *slice;
        to.out.push_str(if i > 0 { ", [" } else { "[" });
        match has_strides {
            true => joined(slice, ":", to.out),
            false => joined(&[start, limit], ":", to.out),
        }
        to.out.push(']');
    }
    to.out.push('}');
}

pub(super) fn pairs(name: &str, pairs: &[[i64; 2]], to: &mut Attributes<'_>) {
    to.open(name);
    to.out.push('{');
    for (i, pair) in pairs.iter().enumerate() {
        to.out.push_str(if i > 0 { ",{" } else { "{" });
        joined(pair, ",", to.out);
        to.out.push('}');
    }
    to.out.push('}');
}

pub(super) fn aliases(name: &str, aliases: &[OutputOperandAliasing], to: &mut Attributes<'_>) {
    if aliases.is_empty() {
        return;
    }
    to.open(name);
    to.out.push('{');
    for (i, alias) in aliases.iter().enumerate() {
        to.out.push_str(if i > 0 { ", {" } else { "{" });
        joined(&alias.output_shape_index, ",", to.out);
        let _ = write!(to.out, "}}: ({}, {{", alias.operand_index);
        joined(&alias.operand_shape_index, ",", to.out);
        to.out.push_str("})");
    }
    to.out.push('}');
}

pub(super) fn accuracy(name: &str, accuracy: Option<ResultAccuracy>, to: &mut Attributes<'_>) {
    let Some(accuracy) = accuracy else { return };
    if let Some(tolerance) = &accuracy.tolerance {
        let (atol, rtol) = (general(tolerance.atol, 6), general(tolerance.rtol, 6));
        to.open(name);
        let _ = write!(to.out, "{{tolerance={{atol={atol},rtol={rtol},ulps={}}}}}", tolerance.ulps);
    } else if accuracy.mode == Some(1) {
        to.text(name, "{mode=highest}");
    }
}

pub(super) fn statistics(attribute: &str, statistics: Option<StatisticsViz>, to: &mut Attributes<'_>) -> Result<()> {
    let Some(statistics) = statistics.filter(|statistics| !statistics.statistics.is_empty()) else { return Ok(()) };
    to.open(attribute);
    let _ = write!(to.out, "{{visualizing_index={}", statistics.stat_index_to_visualize);
    for statistic in &statistics.statistics {
        let _ = write!(to.out, ",{}={}", name(&statistic.stat_name)?, general(statistic.stat_val, 6));
    }
    to.out.push('}');
    Ok(())
}

/// A field of a window: its name, its numbers in a dimension, and the default, which XLA does not print if all dimensions have it.
type Part = (&'static str, fn(&[i64; 7]) -> [i64; 2], [i64; 2]);

/// The second number of a field that has only one.
const NONE: i64 = i64::MIN;
const WINDOW: [Part; 6] = [
    ("{size=", |[size, ..]| [*size, NONE], [NONE; 2]),
    (" stride=", |[_, stride, ..]| [*stride, NONE], [1, NONE]),
    (" pad=", |[_, _, low, high, ..]| [*low, *high], [0, 0]),
    (" lhs_dilate=", |[.., base, _]| [*base, NONE], [1, NONE]),
    (" rhs_dilate=", |[.., window, _, _]| [*window, NONE], [1, NONE]),
    (" rhs_reversal=", |[.., reversal]| [*reversal, NONE], [0, NONE]),
];

pub(super) fn window(name: &str, dimensions: &[[i64; 7]], to: &mut Attributes<'_>) {
    if dimensions.is_empty() {
        return;
    }
    to.open(name);
    for (part, numbers, default) in WINDOW {
        if dimensions.iter().all(|dimension| numbers(dimension) == default) {
            continue;
        }
        to.out.push_str(part);
        for (i, dimension) in dimensions.iter().enumerate() {
            let [first, second] = numbers(dimension);
            to.out.push_str(if i > 0 { "x" } else { "" });
            decimal(first, to.out);
            if second != NONE {
                to.out.push('_');
                decimal(second, to.out);
            }
        }
    }
    to.out.push('}');
}

/// Prints `b01f_01io->b01f`. A dimension without a label is a `?`.
pub(super) fn labels(numbers: &ConvolutionDimensionNumbers) -> String {
    let of = |first: (u8, i64), second: (u8, i64), spatial: &[i64]| {
        // A dimension number that is far too high is ignored.
        let rank = spatial.len() + 2;
        let spatial = spatial.iter().zip(b'0'..=b'9').map(|(dimension, label)| (label, *dimension));
        let all: Vec<_> = [first, second].into_iter().chain(spatial).collect();
        let highest = all.iter().map(|(_, dimension)| usize::try_from(*dimension).unwrap_or(0)).max().unwrap_or(0);
        let mut labels = alloc::vec![b'?'; rank.max(highest.min(rank + 7) + 1)];
        for (label, dimension) in all {
            if let Some(place) = usize::try_from(dimension).ok().and_then(|dimension| labels.get_mut(dimension)) {
                *place = label;
            }
        }
        String::from_utf8(labels).unwrap_or_default()
    };
    let input = of(
        (b'b', numbers.input_batch_dimension),
        (b'f', numbers.input_feature_dimension),
        &numbers.input_spatial_dimensions,
    );
    let kernel = of(
        (b'i', numbers.kernel_input_feature_dimension),
        (b'o', numbers.kernel_output_feature_dimension),
        &numbers.kernel_spatial_dimensions,
    );
    let output = of(
        (b'b', numbers.output_batch_dimension),
        (b'f', numbers.output_feature_dimension),
        &numbers.output_spatial_dimensions,
    );
    alloc::format!("{input}_{kernel}->{output}")
}

/// A payload: the bytes in the message, or the entry of the module's list that it refers to.
pub(super) fn payload_of<'p>(bytes: &'p [u8], payloads: &[&'p [u8]]) -> Result<Option<&'p [u8]>> {
    let payload = Record::parse(bytes)?;
    let id = payload.optional_number(payload_field::id);
    let listed = id.and_then(|id| payloads.get(usize::try_from(id).ok()?)).copied();
    Ok(payload.bytes(payload_field::value).or(listed))
}

/// Prints `frontend_attributes`, sorted by name.
pub(super) fn frontend_attributes(attributes: Option<&[u8]>, to: &mut Attributes<'_>) -> Result<()> {
    let Some(attributes) = attributes else { return Ok(()) };
    let mut entries = FrontendAttributes::decode(attributes)?.map;
    if entries.is_empty() {
        return Ok(());
    }
    sort_by(&mut entries, |a, b| a.key.cmp(&b.key));
    to.open(Key::FrontendAttributes.name());
    to.out.push('{');
    for (i, entry) in entries.into_iter().enumerate() {
        to.out.push_str(if i > 0 { "," } else { "" });
        to.out.push_str(name(&entry.key)?);
        to.out.push('=');
        free(entry.value.as_bytes(), to.out);
    }
    to.out.push('}');
    Ok(())
}

/// Prints the fields of `metadata`.
pub(super) fn metadata<'p>(metadata: &Record<'p>, payloads: &[&'p [u8]], out: &mut String) -> Result<()> {
    let start = out.len();
    for (name, kind, field) in METADATA {
        let &[number] = *field else { continue };
        if !metadata.has(number) {
            continue;
        }
        let part = |out: &mut String| {
            out.push_str(if out.len() > start { " " } else { "" });
            out.push_str(name);
            out.push('=');
        };
        match kind {
            Kind::Number32 if metadata.short(number) != 0 => {
                part(out);
                decimal(metadata.short(number).into(), out);
            }
            Kind::Integers => {
                part(out);
                out.push('{');
                joined(&metadata.list(number)?, ",", out);
                out.push('}');
            }
            _ => {
                let value = match kind {
                    Kind::Text => Some(metadata.text(number)?.as_bytes()).filter(|text| !text.is_empty()),
                    Kind::Payload => {
                        metadata.bytes(number).map(|bytes| payload_of(bytes, payloads)).transpose()?.flatten()
                    }
                    _ => None,
                };
                if let Some(value) = value {
                    part(out);
                    out.push('"');
                    escaped(value, out);
                    out.push('"');
                }
            }
        }
    }
    Ok(())
}

/// Prints the attribute `origin`.
pub(super) fn origin(name: &str, value: &OriginalValueProto, to: &mut Attributes<'_>) -> Result<()> {
    to.open(name);
    to.out.push('{');
    tree(&value.elements, 0, to.out)?;
    if value.is_synthetic_call || value.call_hierarchy.is_some() {
        to.out.push_str(",[\"");
        escaped(value.call_hierarchy.as_deref().unwrap_or("").as_bytes(), to.out);
        to.out.push_str("\"]");
    }
    to.out.push('}');
    Ok(())
}

/// Prints elements sorted by shape index, whose first `depth` entries are equal.
fn tree(elements: &[OriginalValueElementProto], depth: usize, out: &mut String) -> Result<()> {
    if depth > xla_shape_core::text::MAX_NESTING {
        return Err(HloProtoError::new(HloProtoErrorKind::TooDeep));
    }
    if let [element] = elements
        && element.shape_index.len() <= depth
    {
        out.push('{');
        if let Some(array) = element.original_array.as_ref().filter(|array| !array.instruction_name.is_empty()) {
            original_array(array, out);
        }
        out.push('}');
        return Ok(());
    }
    out.push('(');
    // Elements are sorted by their indices, so elements with the same number at this depth are consecutive. They belong to one element of the tuple.
    let index = |element: &OriginalValueElementProto| element.shape_index.get(depth).copied();
    for (i, group) in elements.chunk_by(|a, b| index(a) == index(b)).enumerate() {
        out.push_str(if i > 0 { ", " } else { "" });
        tree(group, depth + 1, out)?;
    }
    out.push(')');
    Ok(())
}

/// Prints `"name" {0,1}`.
pub(super) fn original_array(array: &OriginalArrayProto, out: &mut String) {
    out.push('"');
    escaped(array.instruction_name.as_bytes(), out);
    out.push('"');
    if !array.shape_index.is_empty() {
        out.push_str(" {");
        joined(&array.shape_index, ",", out);
        out.push('}');
    }
}
