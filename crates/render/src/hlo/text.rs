//! The report as text.

use super::sharding;
use crate::tpu::named;
use crate::words::{Factor, InUnits, count, space_name, value_name};
use crate::{Show, Text};
use std::fmt::Write as _;
use xla_shape_answers::hlo::memory::{Accuracy, AtPeak, Capacity, Memory, Resident, Scope};
use xla_shape_answers::hlo::report::{AxisTraffic, Place, Value};
use xla_shape_answers::hlo::summary::{Cause, Summary};
use xla_shape_answers::hlo::{OfGpu, Report};
use xla_shape_core::gpu::{MOST_JAX_MEMORY_PERCENT, most_jax_memory_bytes};
use xla_shape_core::memory_space::{self, Platform};

/// At most this many findings are shown.
const MAX_FINDINGS: usize = 20;

impl Show for Report {
    fn text(&self, width: usize) -> Text {
        sections(self, &Section::ALL, width)
    }
}

/// A part of the text of a [`Report`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Section {
    /// How much memory the program takes.
    Memory,
    /// What is live when a memory space is fullest.
    Peak,
    /// Which parts of arrays the devices have.
    Sharding,
    /// The sum of all values, by memory space.
    Sums,
    /// The most padded values.
    Padded,
    /// The largest values.
    Largest,
    /// The memory of arrays, by their tiles.
    Tiles,
    /// The instructions that change layouts.
    Layouts,
    /// The copies.
    Copies,
    /// The collective operations.
    Collectives,
    /// What is wrong with instructions.
    Findings,
}

impl Section {
    /// Every section, in the order of the text.
    pub const ALL: [Self; 11] = [
        Self::Memory,
        Self::Peak,
        Self::Sharding,
        Self::Sums,
        Self::Padded,
        Self::Largest,
        Self::Tiles,
        Self::Layouts,
        Self::Copies,
        Self::Collectives,
        Self::Findings,
    ];

    /// The name, as `xla-shape hlo --section` takes it.
    ///
    /// ```
    /// assert_eq!(xla_shape_render::hlo::Section::Peak.name(), "peak");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Peak => "peak",
            Self::Sharding => "sharding",
            Self::Sums => "sums",
            Self::Padded => "padded",
            Self::Largest => "largest",
            Self::Tiles => "tiles",
            Self::Layouts => "layouts",
            Self::Copies => "copies",
            Self::Collectives => "collectives",
            Self::Findings => "findings",
        }
    }
}

/// These sections as text. Like every text of a report, it begins with the memory that the program needs, and with the size of the module.
///
/// ```
/// use xla_shape_hlo::Module;
/// use xla_shape_program::Program;
/// use xla_shape_answers::hlo::Report;
/// use xla_shape_render::hlo::{Section, sections};
///
/// let program = Program::from(Module::parse("HloModule m\nENTRY e { ROOT p = f32[8,100]{1,0:T(8,128)} parameter(0) }")?);
/// let text = sections(&Report::new(&program.memory(None), None, 10, None), &[Section::Tiles], 80).to_string();
/// assert!(text.contains("\nTile formats\n") && text.ends_with("  f32 T(8,128)\n"), "{text}");
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[must_use]
pub fn sections(report: &Report, sections: &[Section], width: usize) -> Text {
    let mut text = beginning(report, width);
    for section in Section::ALL {
        if sections.contains(&section) {
            push_section(report, &mut text, section);
        }
    }
    text
}

/// The first screen: the totals, the largest values at the peak, the values with the most padding, and the findings. The last
/// lines name the other sections that are not empty, and the commands that show more.
///
/// ```
/// use xla_shape_hlo::Module;
/// use xla_shape_program::Program;
/// use xla_shape_answers::hlo::Report;
/// use xla_shape_render::hlo::screen;
///
/// let program = Program::from(Module::parse("HloModule m\nENTRY e { ROOT p = f32[8,100]{1,0:T(8,128)} parameter(0) }")?);
/// let text = screen(&Report::new(&program.memory(None), None, 10, None), 80).to_string();
/// assert!(text.contains("More: --all, or --section with peak, sums, largest, tiles\n"), "{text}");
/// assert!(text.ends_with("One instruction: hlo show FILE %p; a page to click through: --html PAGE\n"), "{text}");
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[must_use]
pub fn screen(report: &Report, width: usize) -> Text {
    let mut text = beginning(report, width);
    push_section(report, &mut text, Section::Memory);
    if let Some(at_peak) = report.at_peak.first() {
        peak_heading(&mut text, report, at_peak);
        residents(&mut text, &at_peak.largest[..at_peak.largest.len().min(FEW)]);
    }
    if !report.most_padded.is_empty() {
        text.heading(PADDED);
        padded(&mut text, &report.most_padded[..report.most_padded.len().min(FEW_PADDED)]);
    }
    if !report.findings.is_empty() {
        text.heading("Findings");
        findings(&mut text, report, FEW);
    }
    let more = Section::ALL.into_iter().filter(|section| has_more(report, *section)).map(Section::name);
    let more = more.collect::<Vec<_>>().join(", ");
    if !more.is_empty() {
        text.verbatim("");
        text.paragraph(format_args!("More: --all, or --section with {more}"));
    }
    if let Some(name) = report.summary.as_ref().and_then(Summary::largest) {
        text.paragraph(format_args!("One instruction: hlo show FILE %{name}; a page to click through: --html PAGE"));
    }
    text
}

/// Adds how much memory the program needs, and the values that take the most: an excerpt of the report's text.
pub(crate) fn what_takes_memory(report: &Report, text: &mut Text) {
    if let Some(summary) = &report.summary {
        text.paragraph(summary_text(summary, report.certainty));
    }
    if let Some(memory) = &report.memory {
        text.heading("Memory");
        for note in &report.notes {
            text.hanging("  note: ", note);
        }
        totals(text, report, memory);
    }
    push_section(report, text, Section::Largest);
    push_section(report, text, Section::Padded);
}

/// Whether a section has more than the first screen of the text shows.
fn has_more(report: &Report, section: Section) -> bool {
    match section {
        Section::Memory => false,
        Section::Peak => !report.at_peak.is_empty(),
        Section::Sharding => report.sharding.is_some(),
        Section::Sums => !report.spaces.is_empty(),
        Section::Padded => report.most_padded.len() > FEW_PADDED,
        Section::Largest => !report.largest.is_empty(),
        Section::Tiles => !report.tile_formats.is_empty(),
        Section::Layouts => !report.layout_changes.is_empty(),
        Section::Copies => !report.copies.is_empty(),
        Section::Collectives => !report.collectives.is_empty(),
        Section::Findings => report.findings.len() > FEW,
    }
}

/// The first lines: what the program needs, and the size of the module.
fn beginning(report: &Report, width: usize) -> Text {
    let mut text = Text::new(width);
    let name = report.module.as_deref().unwrap_or("without a name");
    let computations = count(report.computations as u64, "computation", "computations");
    let instructions = count(report.instructions as u64, "instruction", "instructions");
    if let Some(summary) = &report.summary {
        text.paragraph(summary_text(summary, report.certainty));
    }
    text.paragraph(format_args!("module {name}: {computations}, {instructions}"));
    if !report.other_modules.is_empty() {
        text.paragraph(format_args!("other modules here: {}", report.other_modules.join(", ")));
    }
    text
}

fn push_section(report: &Report, text: &mut Text, section: Section) {
    match section {
        Section::Memory => memory(text, report),
        Section::Peak => report.at_peak.iter().for_each(|at_peak| peak(text, report, at_peak)),
        Section::Sharding => report.sharding.iter().for_each(|sharding| sharding::push(text, sharding)),
        Section::Sums => sums(text, report),
        Section::Padded => {
            text.heading(PADDED);
            padded(text, &report.most_padded);
        }
        Section::Largest => {
            text.heading("Largest");
            values(text, &report.largest, "no value takes memory");
        }
        Section::Tiles => tiles(text, report),
        Section::Layouts => layouts(text, report),
        Section::Copies => copies(text, report),
        Section::Collectives => collectives(text, report),
        Section::Findings => {
            text.heading("Findings");
            findings(text, report, MAX_FINDINGS);
        }
    }
}

/// The most entries of a list on the screen; the list of padded values has fewer.
const FEW: usize = 5;
const FEW_PADDED: usize = 3;

const PADDED: &str = "Most padded, by the padding of all values of a shape";

// Writing to a `Text` does not fail.
fn memory(text: &mut Text, report: &Report) {
    text.heading("Memory");
    text.hanging("  ", &report.accuracy);
    if !report.files.is_empty() {
        text.hanging("  ", &format!("from {}", report.files.join(", ")));
    }
    for note in &report.notes {
        text.hanging("  note: ", note);
    }
    if let Some(memory) = &report.memory {
        totals(text, report, memory);
    }
}

fn sums(text: &mut Text, report: &Report) {
    text.heading("Sums of all values, as if each had memory of its own");
    let names = report.spaces.iter().map(|space| space_name(space.space, report.platform)).collect::<Vec<_>>();
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
            text.paragraph(format_args!("  most live values at one time in {name}: {} at %{at}", InUnits(peak)));
        }
    }
}

fn tiles(text: &mut Text, report: &Report) {
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
}

fn layouts(text: &mut Text, report: &Report) {
    text.heading("Layout changes");
    if report.layout_changes.is_empty() {
        let _ = writeln!(text, "  none");
    }
    for change in &report.layout_changes {
        let moved = match change.moved_bytes {
            0 => "free".into(),
            moved => format!("{} moved", InUnits(moved)),
        };
        text.hanging(
            &format!("{moved:>17}  "),
            &format!("%{} ({}){}", change.name, change.opcode, shown(&change.place)),
        );
        text.hanging("                   ", &format!("{} -> {}", change.from, change.to));
    }
}

fn findings(text: &mut Text, report: &Report, most: usize) {
    if report.findings.is_empty() {
        let _ = writeln!(text, "  none");
    }
    for finding in report.findings.iter().take(most) {
        text.hanging("  ", &finding.text);
    }
    if report.findings.len() > most {
        let _ = writeln!(text, "  … and {} more", report.findings.len() - most);
    }
}

fn totals(text: &mut Text, report: &Report, memory: &Memory) {
    let (device, host) = (&memory.device, &memory.host);
    let hbm = if report.platform == Platform::Tpu { "HBM" } else { "memory" };
    let line = |text: &mut Text, bytes: &str, what: &str| text.hanging(&format!("  {bytes:>10}  "), what);
    let sum = format!("{hbm} without code: arguments + outputs + temporaries, shared memory counted once");
    line(text, &InUnits(device.total).to_string(), &sum);
    let parts = [
        (device.arguments, "arguments"),
        (device.outputs, "outputs"),
        (device.aliases, "of the outputs are in the memory of an argument, and count once"),
        (device.temporaries, "temporaries"),
    ];
    for (bytes, what) in parts {
        line(text, &InUnits(bytes).to_string(), what);
    }
    let code = device.generated_code.map_or("?".into(), |code| InUnits(code).to_string());
    let unknown =
        if device.generated_code.is_none() { "; a `stats.json` beside the module would have its size" } else { "" };
    line(text, &code, &format!("generated code, in {hbm} too{unknown}"));
    let vmem = if report.platform == Platform::Tpu { "; VMEM counts too, so this is not the use of HBM" } else { "" };
    // Compilers for other devices count temporaries in other ways, so only their own peak is shown.
    if report.platform == Platform::Tpu || !device.peak_is_computed {
        let whose = if device.peak_is_computed {
            "peak, computed as the compiler counts it"
        } else {
            "the compiler's own peak"
        };
        line(text, &InUnits(device.peak).to_string(), &format!("{whose}{vmem}"));
    }
    if host.total > 0 {
        line(text, &InUnits(host.total).to_string(), "memory of the host");
    }
    for capacity in &report.capacity {
        let code = if capacity.space == memory_space::DEFAULT && device.generated_code.is_some() {
            " (with code)"
        } else {
            ""
        };
        let _ = writeln!(text, "  {}{code}", capacity_text(capacity, report.platform));
    }
}

fn peak_heading(text: &mut Text, report: &Report, at_peak: &AtPeak) {
    let name = space_name(at_peak.space, report.platform);
    text.heading(&format!("Live at the peak of {name}, at %{}", at_peak.at));
    text.hanging(&format!("  {:>10}  ", InUnits(at_peak.bytes).to_string()), "in all, without gaps between values");
}

fn residents(text: &mut Text, residents: &[Resident]) {
    for resident in residents {
        let bytes = InUnits(resident.bytes).to_string();
        let name = value_name(&resident.name, resident.leaf);
        let from = [resident.op_name.clone(), resident.source()].into_iter().flatten();
        let from = from.map(|from| format!("  {from}")).collect::<String>();
        text.hanging(
            &format!("  {bytes:>10}  {:9}  ", resident.role.name()),
            &format!("{name}  {}{from}", resident.shape),
        );
    }
}

fn peak(text: &mut Text, report: &Report, at_peak: &AtPeak) {
    peak_heading(text, report, at_peak);
    residents(text, &at_peak.largest);
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

fn copies(text: &mut Text, report: &Report) {
    if !report.copies.is_empty() {
        text.heading("Copies");
    }
    for copy in &report.copies {
        let bytes = InUnits(copy.bytes).to_string();
        let (from, to) = (space_name(copy.from_space, report.platform), space_name(copy.to_space, report.platform));
        let way = if copy.from_space == copy.to_space { format!("in {from}") } else { format!("{from} to {to}") };
        let read_by = match copy.read_by.as_slice() {
            [] => String::new(),
            names => format!("  for %{}", names.join(", %")),
        };
        let what = format!("%{} ({})  {way}  {}{read_by}", copy.name, copy.opcode, copy.shape);
        text.hanging(&format!("  {bytes:>10}  "), &what);
    }
}

fn collectives(text: &mut Text, report: &Report) {
    if !report.collectives.is_empty() {
        text.heading("Collectives");
    }
    for found in &report.collectives {
        let (bytes_in, bytes_out) = (InUnits(found.bytes_in).to_string(), InUnits(found.bytes_out).to_string());
        let runs = found.runs.map_or("? times".into(), |runs| count(runs, "time", "times"));
        let along = along(&found.axes, found.shift);
        // If the text already names the axis, the pairs of devices add nothing.
        let groups = found.groups.clone().filter(|_| along.is_none() || found.shift.is_none());
        let argument = found.argument.as_ref().map(|name| format!("`{name}`"));
        let more = [found.operand.clone(), argument, along, groups].into_iter().flatten();
        let more = more.map(|part| format!("  {part}")).collect::<String>();
        let what = format!("%{} ({}){more}{}", found.name, found.opcode, shown(&found.place));
        text.hanging(&format!("  {bytes_in:>10} in {bytes_out:>10} out  {runs:>8}  "), &what);
    }
    by_axis(text, report);
}

/// What collectives move along each axis.
fn by_axis(text: &mut Text, report: &Report) {
    for AxisTraffic { axes, collectives, bytes } in &report.by_axis {
        let bytes = bytes.map_or("? B".to_owned(), |bytes| InUnits(bytes).to_string());
        let of = count(*collectives as u64, "collective", "collectives");
        let along = along(axes, None).unwrap_or_default();
        text.hanging(&format!("  {bytes:>10} in "), &format!("{along}, of {of} with all their runs"));
    }
}

/// The axes of the mesh, and how far a collective-permute goes.
fn along(axes: &[String], shift: Option<i64>) -> Option<String> {
    let names = axes.iter().map(|axis| format!("'{axis}'")).collect::<Vec<_>>().join(",");
    let shift = shift.map_or(String::new(), |shift| format!(" by {shift:+}"));
    (!axes.is_empty()).then(|| format!("along {names}{shift}"))
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
        let of = count(value.values as u64, "value", "values");
        let each = InUnits(value.bytes).to_string();
        let name = value_name(&value.name, value.leaf);
        let what = format!("{of} of {each}  {}  such as {name} ({}){}", value.shape, value.opcode, shown(&value.place));
        text.hanging(&format!("  {padding:>9} padding  {expansion:>7}  "), &what);
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
        let name = value_name(&value.name, value.leaf);
        let what = format!("{name} ({})  {}{}", value.opcode, value.shape, shown(&value.place));
        text.hanging(&format!("  {bytes:>9}  {padding:>9} padding  {expansion:>7}  "), &what);
    }
}

/// Such as `S(0) HBM: 2 GiB of 16 GiB, 14 GiB free`.
pub(crate) fn capacity_text(capacity: &Capacity, platform: Platform) -> String {
    let left = if capacity.free < 0 { "over" } else { "free" };
    let [used, of, free] = [capacity.used, capacity.bytes, capacity.free.unsigned_abs()].map(InUnits);
    format!("{}: {used} of {of}, {free} {left}", space_name(capacity.space, platform))
}

/// The larger part of a GPU's memory that a setting gives JAX; `whole` is the whole memory, in bytes.
pub(crate) fn larger_part(whole: u64) -> String {
    let [most, whole] = [most_jax_memory_bytes(whole), whole].map(InUnits);
    format!(
        "the {most} of {whole} that XLA_PYTHON_CLIENT_MEM_FRACTION=0.{MOST_JAX_MEMORY_PERCENT} gives a process of JAX"
    )
}

/// The sentence that says how much memory the program needs, and whether it fits.
fn summary_text(summary: &Summary, certainty: Accuracy) -> String {
    let device = match (summary.generation, summary.gpu) {
        (Some(generation), _) => format!(" on {}", named(generation, summary.assumed)),
        (None, Some(gpu)) if summary.assumed => format!(" on {gpu} (--for names another GPU)"),
        (None, Some(gpu)) => format!(" on {gpu}"),
        (None, None) if summary.assumed => " on the GPU that the dump describes (--for names another one)".to_owned(),
        (None, None) => String::new(),
    };
    let memory = if summary.is_tpu { "HBM" } else { "memory" };
    let roughly = if matches!(certainty, Accuracy::Rough | Accuracy::Undivided { .. }) { "roughly " } else { "" };
    let mut text = format!("needs {roughly}{} of {memory}", InUnits(summary.needed_bytes));
    if let Accuracy::Undivided { devices } = certainty {
        text += &format!(
            " with every array at its whole size: it is not divided among its {devices} devices yet, and what one of them needs is not known"
        );
    } else if let Some(available) = summary.available_bytes {
        let verdict = match (summary.fits, summary.of_gpu(), summary.whole_gpu) {
            (Some(true), ..) => "fits".to_owned(),
            (Some(false), Some(OfGpu::Larger), Some(whole)) => format!("DOES NOT FIT, but fits {}", larger_part(whole)),
            (Some(false), ..) => "DOES NOT FIT".to_owned(),
            (None, ..) => "whether it fits is not known".to_owned(),
        };
        text += &format!(" of {} that a program may use{device}: {verdict}", InUnits(available));
    } else if summary.is_tpu {
        text += "; generation not given (--for names it)";
    }
    if let Some(Cause { name, leaf, shape, bytes, role, source }) = &summary.largest {
        let source = source.as_ref().map_or(String::new(), |source| format!(", {source}"));
        text += &format!(
            "; largest at the peak: {} {} {} {shape}{source}",
            InUnits(*bytes),
            role.name(),
            value_name(name, *leaf)
        );
    }
    text
}
