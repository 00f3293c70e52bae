//! The memory view as text.

use super::report::{Report, Value};
use crate::Text;
use crate::words::{Factor, InUnits, count, space_name, value_name};
use std::fmt::Write as _;

/// How many findings are shown.
const MAX_FINDINGS: usize = 20;

// Writing to memory does not fail.
pub(super) fn page(report: &Report, width: usize) -> Text {
    let mut text = Text::new(width);
    let name = report.module.as_deref().unwrap_or("without a name");
    let computations = count(report.computations as u64, "computation", "computations");
    let instructions = count(report.instructions as u64, "instruction", "instructions");
    let _ = writeln!(text, "module {name}: {computations}, {instructions}");

    text.heading("Memory, as if every value had its own");
    let names = report.spaces.iter().map(|space| space_name(space.space)).collect::<Vec<_>>();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(5);
    let _ = writeln!(
        text,
        "  {:width$}  {:>9}  {:>9}  {:>10}  {:>9}  {:>9}  {:>6}",
        "space", "bytes", "padding", "parameters", "results", "peak", "values"
    );
    if report.spaces.is_empty() {
        let _ = writeln!(text, "  no value takes memory");
    }
    for (space, name) in report.spaces.iter().zip(&names) {
        let peak = space.peak_bytes.map_or("?".into(), |peak| InUnits(peak).to_string());
        let _ = writeln!(
            text,
            "  {name:width$}  {:>9}  {:>9}  {:>10}  {:>9}  {peak:>9}  {:>6}",
            InUnits(space.bytes).to_string(),
            InUnits(space.padding_bytes).to_string(),
            InUnits(space.parameter_bytes).to_string(),
            InUnits(space.result_bytes).to_string(),
            space.values,
        );
    }
    for (space, name) in report.spaces.iter().zip(&names) {
        if let (Some(peak), Some(at)) = (space.peak_bytes, &space.peak_at) {
            let _ = writeln!(text, "  most at one time in {name}: {} at %{at}", InUnits(peak));
        }
    }

    text.heading("Most padded");
    values(&mut text, &report.most_padded, "no value has padding");
    text.heading("Largest");
    values(&mut text, &report.largest, "no value takes memory");

    text.heading("Tile formats");
    if report.tile_formats.is_empty() {
        let _ = writeln!(text, "  no array takes memory");
    }
    for format in &report.tile_formats {
        let bytes = InUnits(format.bytes).to_string();
        let padding = InUnits(format.padding_bytes).to_string();
        let arrays = count(format.arrays as u64, "array ", "arrays");
        let _ = writeln!(text, "  {bytes:>9}  {padding:>9} padding  {arrays:>10}  {}", format.format);
    }

    text.heading("Layout changes");
    if report.layout_changes.is_empty() {
        let _ = writeln!(text, "  none");
    }
    for change in &report.layout_changes {
        let moved = match change.moved_bytes {
            0 => "free".into(),
            moved => format!("{} moved", InUnits(moved)),
        };
        let _ = writeln!(text, "{moved:>17}  %{} ({})", change.name, change.opcode);
        let _ = writeln!(text, "                   {} -> {}", change.from, change.to);
    }

    text.heading("Findings");
    if report.findings.is_empty() {
        let _ = writeln!(text, "  none");
    }
    for finding in report.findings.iter().take(MAX_FINDINGS) {
        let _ = writeln!(text, "  {}", finding.text);
    }
    if report.findings.len() > MAX_FINDINGS {
        let _ = writeln!(text, "  … and {} more", report.findings.len() - MAX_FINDINGS);
    }
    text
}

fn values(text: &mut Text, values: &[Value], none: &str) {
    if values.is_empty() {
        let _ = writeln!(text, "  {none}");
    }
    for value in values {
        let bytes = InUnits(value.bytes).to_string();
        let padding = InUnits(value.padding_bytes).to_string();
        let expansion = value.expansion.map_or("?".into(), |expansion| Factor(expansion).to_string());
        let _ = writeln!(
            text,
            "  {bytes:>9}  {padding:>9} padding  {expansion:>7}  {} ({})  {}",
            value_name(&value.name, value.leaf),
            value.opcode,
            value.shape
        );
    }
}
