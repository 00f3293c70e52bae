//! The report as text.

use super::memory::{AtPeak, Memory, Scope};
use super::report::{Place, Report, Value};
use crate::words::{Factor, InUnits, count, space_name, value_name};
use crate::{Answer, Text};
use std::fmt::Write as _;
use xla_shape_core::memory_space;

/// At most this many findings are shown.
const MAX_FINDINGS: usize = 20;

impl Answer for Report {
    const SCHEMA: &'static str = "xla-shape/hlo/1";

    fn text(&self, width: usize) -> Text {
        page(self, width)
    }
}

// Writing to a `Text` does not fail.
fn page(report: &Report, width: usize) -> Text {
    let mut text = Text::new(width);
    let name = report.module.as_deref().unwrap_or("without a name");
    let computations = count(report.computations as u64, "computation", "computations");
    let instructions = count(report.instructions as u64, "instruction", "instructions");
    if let Some(summary) = &report.summary {
        let _ = writeln!(text, "{}", summary.text());
    }
    let _ = writeln!(text, "module {name}: {computations}, {instructions}");
    if !report.other_modules.is_empty() {
        let _ = writeln!(text, "other modules of the directory: {}", report.other_modules.join(", "));
    }

    text.heading("Memory");
    let _ = writeln!(text, "  {}", report.accuracy);
    if !report.files.is_empty() {
        let _ = writeln!(text, "  from {}", report.files.join(", "));
    }
    for note in &report.notes {
        let _ = writeln!(text, "  note: {note}");
    }
    if let Some(memory) = &report.memory {
        totals(&mut text, report, memory);
    }
    for at_peak in &report.at_peak {
        peak(&mut text, report, at_peak);
    }

    if let Some(sharding) = &report.sharding {
        sharding.text(&mut text);
    }

    text.heading("Sums of all values, as if each had memory of its own");
    let names = report.spaces.iter().map(|space| space_name(space.space, report.is_tpu)).collect::<Vec<_>>();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(5);
    let _ = writeln!(
        text,
        "  {:width$}  {:>9}  {:>9}  {:>10}  {:>9}  {:>9}  {:>6}",
        "space", "sum", "padding", "parameters", "results", "live", "values"
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
            let _ = writeln!(text, "  most live values at one time in {name}: {} at %{at}", InUnits(peak));
        }
    }

    text.heading("Most padded, by the padding of all values of a shape");
    padded(&mut text, &report.most_padded);
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
        let _ = writeln!(text, "{moved:>17}  %{} ({}){}", change.name, change.opcode, shown(&change.place));
        let _ = writeln!(text, "                   {} -> {}", change.from, change.to);
    }

    moves(&mut text, report);

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

fn totals(text: &mut Text, report: &Report, memory: &Memory) {
    let (device, host) = (&memory.device, &memory.host);
    let hbm = if report.is_tpu { "HBM" } else { "memory" };
    let _ = writeln!(
        text,
        "  {:>10}  {hbm} without code: arguments + outputs + temporaries, shared memory counted once",
        InUnits(device.total).to_string()
    );
    let parts = [
        (device.arguments, "arguments"),
        (device.outputs, "outputs"),
        (device.aliases, "of the outputs are in the memory of an argument, and count once"),
        (device.temporaries, "temporaries"),
    ];
    for (bytes, what) in parts {
        let _ = writeln!(text, "  {:>10}  {what}", InUnits(bytes).to_string());
    }
    let code = device.generated_code.map_or("?".into(), |code| InUnits(code).to_string());
    let unknown =
        if device.generated_code.is_none() { "; a `stats.json` beside the module would have its size" } else { "" };
    let _ = writeln!(text, "  {code:>10}  generated code, in {hbm} too{unknown}");
    let vmem = if report.is_tpu { "; VMEM counts too, so this is not the use of HBM" } else { "" };
    let _ = writeln!(text, "  {:>10}  the compiler's own peak{vmem}", InUnits(device.peak).to_string());
    if host.total > 0 {
        let _ = writeln!(text, "  {:>10}  memory of the host", InUnits(host.total).to_string());
    }
    for capacity in &report.capacity {
        let code = if capacity.space == memory_space::DEFAULT && device.generated_code.is_some() {
            " (with code)"
        } else {
            ""
        };
        let _ = writeln!(text, "  {}{code}", capacity.text(report.is_tpu));
    }
}

fn peak(text: &mut Text, report: &Report, at_peak: &AtPeak) {
    let name = space_name(at_peak.space, report.is_tpu);
    text.heading(&format!(
        "Live values at the peak of {name}, without gaps between them: {} at %{}",
        InUnits(at_peak.bytes),
        at_peak.at
    ));
    for resident in &at_peak.largest {
        let source = resident.source().map(|source| format!("  {source}"));
        let from = resident.op_name.as_ref().map_or(String::new(), |name| format!("  {name}"));
        let _ = writeln!(
            text,
            "  {:>10}  {:9}  {}  {}{from}{}",
            InUnits(resident.bytes).to_string(),
            resident.role,
            value_name(&resident.name, resident.leaf),
            resident.shape,
            source.unwrap_or_default()
        );
    }
    for (by, parts) in
        [("kind", &at_peak.by_role), ("opcode", &at_peak.by_opcode), ("element type", &at_peak.by_element_type)]
    {
        let _ = writeln!(text, "  by {by}:");
        for part in parts {
            let values = count(part.values as u64, "value", "values");
            let source = part.source.as_ref().map_or(String::new(), |source| format!("  {source}"));
            let _ = writeln!(text, "    {:>10}  {}  {values}{source}", InUnits(part.bytes).to_string(), part.name);
        }
    }
    let _ = writeln!(text, "  by scope:");
    scopes(text, &at_peak.scopes, 0);
}

fn scopes(text: &mut Text, list: &[Scope], depth: usize) {
    for scope in list {
        let values = count(scope.values as u64, "value", "values");
        let bytes = InUnits(scope.bytes).to_string();
        let _ = writeln!(text, "    {bytes:>10}  {:indent$}{}  {values}", "", scope.name, indent = 2 * depth);
        scopes(text, &scope.scopes, depth + 1);
    }
}

fn moves(text: &mut Text, report: &Report) {
    if !report.copies.is_empty() {
        text.heading("Copies");
    }
    for copy in &report.copies {
        let bytes = InUnits(copy.bytes).to_string();
        let (from, to) = (space_name(copy.from_space, report.is_tpu), space_name(copy.to_space, report.is_tpu));
        let way = if copy.from_space == copy.to_space { format!("in {from}") } else { format!("{from} to {to}") };
        let read_by = match copy.read_by.as_slice() {
            [] => String::new(),
            names => format!("  for %{}", names.join(", %")),
        };
        let _ = writeln!(text, "  {bytes:>10}  %{} ({})  {way}  {}{read_by}", copy.name, copy.opcode, copy.shape);
    }
    if !report.collectives.is_empty() {
        text.heading("Collectives");
    }
    for found in &report.collectives {
        let (bytes_in, bytes_out) = (InUnits(found.bytes_in).to_string(), InUnits(found.bytes_out).to_string());
        let runs = found.runs.map_or("? times".into(), |runs| count(runs, "time", "times"));
        let more = [&found.element_type, &found.groups].into_iter().flatten();
        let more = more.map(|part| format!("  {part}")).collect::<String>();
        let _ = writeln!(
            text,
            "  {bytes_in:>10} in {bytes_out:>10} out  {runs:>8}  %{} ({}){more}{}",
            found.name,
            found.opcode,
            shown(&found.place)
        );
    }
}

/// The source line, with spaces before it.
fn shown(place: &Place) -> String {
    place.shown().map_or(String::new(), |source| format!("  {source}"))
}

/// Lists values by shape, with the sum of their padding, by which they are sorted.
fn padded(text: &mut Text, values: &[Value]) {
    if values.is_empty() {
        let _ = writeln!(text, "  no value has padding");
    }
    for value in values {
        let padding = InUnits(value.all_padding_bytes).to_string();
        let expansion = value.expansion.map_or("?".into(), |expansion| Factor(expansion).to_string());
        let of = count(value.values as u64, "value ", "values");
        let each = InUnits(value.bytes).to_string();
        let _ = writeln!(
            text,
            "  {padding:>9} padding in {of:>10} of {each:>9}  {expansion:>7}  {}  such as {} ({}){}",
            value.shape,
            value_name(&value.name, value.leaf),
            value.opcode,
            shown(&value.place)
        );
    }
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
            "  {bytes:>9}  {padding:>9} padding  {expansion:>7}  {} ({})  {}{}",
            value_name(&value.name, value.leaf),
            value.opcode,
            value.shape,
            shown(&value.place)
        );
    }
}
