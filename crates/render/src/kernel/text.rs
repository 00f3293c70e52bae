//! The text about kernels: counts first, then relayouts and unaligned accesses, loops, lines and vector memory.

use super::names::FileNames;
use crate::cost::Each;
use crate::words::{Bytes, Factor, Grouped, InUnits, column_width, count};
use crate::{Show, Text};
use xla_shape_answers::cost::Seconds;
use xla_shape_answers::kernel::{
    AgainstXla, CompiledKernel, Figures, InstructionFigures, KernelDifference, Kernels, LaunchEntry, LineDifference,
    LineEntry, LoopEntry, LoopRemedy, ProgramFigures, RelayoutEntry, Usage, Vmem, VmemEntry,
};
use xla_shape_core::sorting::set_of;

/// How many lines of Python the text has for each kernel.
const MOST_LINES: usize = 20;

impl Show for Kernels {
    fn text(&self, width: usize) -> Text {
        text(self, width)
    }
}

fn text(answer: &Kernels, width: usize) -> Text {
    let mut text = overview(answer, width);
    if answer.differences.is_some() || answer.against_xla.is_some() {
        refusals(answer, &mut text);
        return text;
    }
    for (number, kernel) in answer.kernels.iter().enumerate() {
        if number > 0 || answer.kernels.len() > 1 {
            text.verbatim("");
        }
        of_kernel(kernel, &mut text);
    }
    of_launches(&answer.launches, &mut text);
    refusals(answer, &mut text);
    if answer.is_empty() && answer.errors.is_empty() {
        text.paragraph("no kernel");
    }
    text
}

/// What a GPU does for a program, in order: the kernels with their grids.
fn of_launches(launches: &[LaunchEntry], text: &mut Text) {
    for launches in launches.chunk_by(|one, next| one.target == next.target) {
        let kernels = launches.iter().filter(|launch| launch.kernel.is_some()).count() as u64;
        let steps = count(launches.len() as u64, "step", "steps");
        let target = launches.first().and_then(|launch| launch.target.as_ref());
        let target = target.map_or_else(String::new, |target| format!("{target}: "));
        let kernels = count(kernels, "launch of a kernel", "launches of kernels");
        text.paragraph(format!("{target}{steps}, among them {kernels}; those of a loop run in each iteration"));
        let names = FileNames::new(launches.iter().filter_map(|launch| launch.source.as_deref()));
        let headings = ["instruction", "line", "blocks", "threads", "shared memory", "kind"].map(str::to_owned);
        let along = |numbers: Option<[u64; 3]>| numbers.map_or_else(|| "-".to_owned(), product);
        let row = |launch: &LaunchEntry| {
            let name = launch.instruction.as_ref().or(launch.kernel.as_ref());
            [
                name.map_or_else(|| "-".to_owned(), |name| format!("%{name}")),
                launch.source.as_deref().map_or_else(|| "-".to_owned(), |source| names.short(source)),
                along(launch.grid),
                along(launch.threads),
                launch.shared_memory.map_or_else(|| "-".to_owned(), |bytes| InUnits(bytes).to_string()),
                launch.kind.clone(),
            ]
        };
        let rows = std::iter::once(headings).chain(launches.iter().map(row)).collect::<Vec<_>>();
        columns(text, "  ", &rows);
    }
}

/// The numbers along x, y and z as a product, without factors of 1 at its end.
fn product(numbers: [u64; 3]) -> String {
    let used = numbers.iter().rposition(|&number| number != 1).unwrap_or(0);
    numbers.iter().take(used + 1).map(|&number| Grouped(number).to_string()).collect::<Vec<_>>().join("×")
}

/// The text before the single kernels: the differences from other kernels, or a table if there are several kernels.
pub(super) fn overview(answer: &Kernels, width: usize) -> Text {
    let mut text = Text::new(width);
    if let Some(programs) = &answer.against_xla {
        programs.iter().for_each(|programs| of_programs(programs, &mut text));
        return text;
    }
    match &answer.differences {
        Some(differences) => {
            differences.iter().for_each(|difference| of_difference(difference, &mut text));
            if differences.is_empty() {
                text.paragraph("no kernels to compare");
            }
        }
        None if answer.kernels.len() > 1 => table(answer, &mut text),
        None => {}
    }
    text
}

fn refusals(answer: &Kernels, text: &mut Text) {
    for error in &answer.errors {
        text.paragraph(format_args!("{}: {}", error.target, error.message));
    }
}

/// A kernel before and after a change: the figures, and the lines whose bundles or relayouts differ.
fn of_difference(difference: &KernelDifference, text: &mut Text) {
    let target = difference.target.as_ref().map(|target| format!(" for {target}")).unwrap_or_default();
    let (before, after) = match (&difference.before, &difference.after) {
        (Some(before), Some(after)) => (before, after),
        (None, _) => {
            text.paragraph(format_args!("{}{target}: only after the change", difference.name));
            notes(&difference.notes, text);
            return;
        }
        (_, None) => {
            text.paragraph(format_args!("{}{target}: only before the change", difference.name));
            notes(&difference.notes, text);
            return;
        }
    };
    text.paragraph(format_args!("{}{target}: {}", difference.name, answer_of(before, after)));
    let number = |number: Option<u64>| number.map_or_else(|| "?".to_owned(), |number| Grouped(number).to_string());
    let headings = ["", "", "before", "after", "change"].map(str::to_owned);
    let figures = before.all().into_iter().zip(after.all());
    let rows = std::iter::once(headings).chain(figures.map(|((figure, before), (_, after))| {
        [figure.to_string(), String::new(), number(before), number(after), changed(before, after)]
    }));
    columns(text, "  ", &rows.collect::<Vec<_>>());
    notes(&difference.notes, text);
    if difference.lines.is_empty() {
        return;
    }
    text.paragraph("  lines, by their numbers in each version");
    let figures = |line: &Option<LineEntry>| {
        line.as_ref().map_or([None; 3], |line| [line.bundles, line.slots, line.moving].map(Some))
    };
    let headings = ["line", "", "bundles", "", "slots", "", "moving", ""].map(str::to_owned);
    let names = FileNames::new(difference.lines.iter().map(|line| line.source.as_str()));
    let row = |line: &LineDifference| {
        let [before, after] = [&line.before, &line.after].map(figures);
        let cell = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |number| Grouped(number).to_string());
        let mut row = [const { String::new() }; 8];
        row[0] = names.short(&line.source);
        for (place, (before, after)) in before.into_iter().zip(after).enumerate() {
            row[2 + 2 * place] = format!("{} to {}", cell(before), cell(after));
        }
        row
    };
    let rows = std::iter::once(headings).chain(difference.lines.iter().take(MOST_LINES).map(row));
    columns(text, "    ", &rows.collect::<Vec<_>>());
    if difference.lines.len() > MOST_LINES {
        text.paragraph(format_args!("    and {} more", difference.lines.len() - MOST_LINES));
    }
}

/// What changed between these figures, in words.
pub(super) fn answer_of(before: &Figures, after: &Figures) -> String {
    let number = |number: Option<u64>| number.map_or_else(|| "?".to_owned(), |number| Grouped(number).to_string());
    let said = before.changed(after).into_iter().map(|(figure, [before, after])| {
        format!("{figure} {} -> {} ({})", number(before), number(after), changed(before, after))
    });
    match said.collect::<Vec<_>>() {
        none if none.is_empty() => "the figures stay".to_owned(),
        said => said.join(", "),
    }
}

/// A program with kernels next to the program that XLA compiles without them: the sums, the slots of the units, and the
/// instructions.
fn of_programs(programs: &AgainstXla, text: &mut Text) {
    let target = programs.target.as_ref().map(|target| format!(" for {target}")).unwrap_or_default();
    let sides = [&programs.kernel, &programs.xla];
    let number = |number: Option<u64>| number.map_or_else(|| "?".to_owned(), |number| Grouped(number).to_string());
    let answer = programs.compared().map(|(figure, [kernel, xla])| {
        let times = kernel as f64 / xla as f64;
        format!(": {} {figure} instead of {}, {times:.2} times as many", Grouped(kernel), Grouped(xla))
    });
    text.paragraph(format_args!("the program with kernels beside XLA's own{target}{}", answer.unwrap_or_default()));
    let row = |what: &str, [kernel, xla]: [Option<u64>; 2]| {
        let ratio = kernel.zip(xla).filter(|(_, xla)| *xla > 0).map(|(kernel, xla)| kernel as f64 / xla as f64);
        let ratio = ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}"));
        [what.to_owned(), String::new(), number(kernel), number(xla), ratio]
    };
    let [kernel, xla] = sides.map(ProgramFigures::figures);
    let headings = ["", "", "kernel", "XLA", "kernel / XLA"].map(str::to_owned);
    let figures = kernel.into_iter().zip(xla).map(|((what, kernel), (_, xla))| row(what.as_str(), [kernel, xla]));
    let mut rows = std::iter::once(headings).chain(figures).collect::<Vec<_>>();
    let units = sides.iter().flat_map(|side| &side.executed_slots).flat_map(|slots| slots.keys());
    for unit in set_of(units) {
        let used = sides.map(|side| side.executed_slots.as_ref().map(|slots| slots.get(unit).copied().unwrap_or(0)));
        if used.iter().flatten().any(|used| *used > 0) {
            rows.push(row(&format!("slots of {unit} with trips"), used));
        }
    }
    columns(text, "  ", &rows);
    let headings = ["instruction", "of", "bundles", "with trips", "spills", "bytes of VMEM"].map(str::to_owned);
    let row = |(side, instruction): (usize, &InstructionFigures)| {
        let side = ["kernel", "XLA"].get(side).copied().unwrap_or_default();
        let of = if instruction.is_kernel { "kernel" } else { "XLA" };
        let [bundles, executed, vmem] = [instruction.bundles, instruction.executed, instruction.vmem_bytes].map(number);
        [
            format!("{side}: {}", instruction.name),
            of.to_owned(),
            bundles,
            executed,
            Grouped(instruction.spills).to_string(),
            vmem,
        ]
    };
    let all = sides.into_iter().enumerate();
    let all = all.flat_map(|(side, program)| program.instructions_by_bundles().into_iter().map(move |one| (side, one)));
    let all = all.collect::<Vec<_>>();
    let more = all.len().saturating_sub(MOST_LINES);
    columns(
        text,
        "    ",
        &std::iter::once(headings).chain(all.into_iter().take(MOST_LINES).map(row)).collect::<Vec<_>>(),
    );
    if more > 0 {
        text.paragraph(format_args!("    and {more} more"));
    }
    sides.iter().for_each(|side| notes(&side.notes, text));
    text.hanging(
        "  ",
        "Bundles with trips and slots can be compared: they are the compiler's schedules of both programs on one device. Waits for copies and \
         memory are in neither. XLA may copy arrays into vector memory before an instruction, which its bundles and bytes leave out. Each \
         instruction counts once, also in a loop of the program.",
    );
}

/// What is missing, doubtful or not understood, so that the figures may be too small.
fn notes(notes: &[String], text: &mut Text) {
    for note in notes {
        text.hanging("  ", note);
    }
}

/// The change of a figure, with its sign.
pub(super) fn changed(before: Option<u64>, after: Option<u64>) -> String {
    match before.zip(after) {
        Some((before, after)) if after > before => format!("+{}", Grouped(after - before)),
        Some((before, after)) if after < before => format!("-{}", Grouped(before - after)),
        Some(_) => "0".to_owned(),
        None => "?".to_owned(),
    }
}

/// A table of all kernels, one line each.
fn table(answer: &Kernels, text: &mut Text) {
    let headings =
        ["kernel", "for", "bundles", "empty", "with trips", "relayouts", "moving", "VMEM"].map(str::to_owned);
    let rows = answer.kernels.iter().map(|kernel| {
        let number = |number: Option<u64>| number.map_or_else(|| "?".to_owned(), |number| Grouped(number).to_string());
        let relayouts = kernel.relayouts.as_ref().map(|relayouts| relayouts.len() as u64);
        [
            kernel.title(),
            kernel.target.clone().unwrap_or_default(),
            number(kernel.bundles),
            number(kernel.empty),
            number(kernel.executed),
            number(relayouts),
            number(relayouts.map(|_| kernel.moving() as u64)),
            kernel
                .vmem
                .as_ref()
                .and_then(|vmem| vmem.bytes)
                .map_or_else(|| "?".to_owned(), |bytes| InUnits(bytes).to_string()),
        ]
    });
    columns(text, "", &std::iter::once(headings).chain(rows).collect::<Vec<_>>());
}

/// A table whose first two columns are aligned left, and the others right.
fn columns<const N: usize>(text: &mut Text, indent: &str, rows: &[[String; N]]) {
    let widths: [usize; N] = std::array::from_fn(|column| {
        column_width(rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()))
    });
    for row in rows {
        let cells = row.iter().zip(widths).enumerate().filter(|(_, (_, width))| *width > 0);
        let cells = cells.map(
            |(column, (cell, width))| if column < 2 { format!("{cell:width$}") } else { format!("{cell:>width$}") },
        );
        text.verbatim(format!("{indent}{}", cells.collect::<Vec<_>>().join("  ")).trim_end());
    }
}

/// The short names of a kernel's files.
fn file_names(kernel: &CompiledKernel) -> FileNames<'_> {
    let loops = kernel.loops.iter().flat_map(|entry| entry.lines.iter().flatten());
    let relayouts = kernel.relayouts.iter().flatten().filter_map(|relayout| relayout.source.as_ref());
    let accesses = kernel.unaligned.iter().filter_map(|access| access.source.as_ref());
    let sources = kernel.lines.iter().map(|line| &line.source).chain(loops).chain(relayouts).chain(accesses);
    FileNames::new(sources.map(String::as_str))
}

/// The first line about the kernel.
pub(super) fn summary(kernel: &CompiledKernel) -> String {
    let target = kernel.target.as_ref().map(|target| format!(" for {target}")).unwrap_or_default();
    let mut answer = format!("{}{target}: ", kernel.title());
    match (kernel.bundles, kernel.empty) {
        (Some(bundles), Some(empty)) => {
            answer += &format!("{}, {} empty", count(bundles, "bundle", "bundles"), Grouped(empty));
        }
        (Some(bundles), None) => answer += &count(bundles, "bundle", "bundles"),
        _ => answer += "the bundles are not known",
    }
    if let Some(executed) = kernel.executed.filter(|_| !kernel.loops.is_empty()) {
        answer += &format!("; {} with the trips of the loops", Grouped(executed));
    }
    answer
}

/// The least time, if the clock is known.
pub(super) fn least_time(kernel: &CompiledKernel) -> Option<String> {
    let clock = kernel.clock_hz? / 1e9;
    Some(match kernel.least_seconds {
        Some(seconds) => format!(
            "at least {:.3} µs at {clock} GHz: one cycle for each of the {} that execute at least; waits for copies and memory \
             come on top",
            seconds * 1e6,
            count(kernel.least.unwrap_or(0), "bundle", "bundles")
        ),
        None => "no least time: where a branch leads is not known, or it is the middle of a loop".to_owned(),
    })
}

/// How long the kernel took, if a profile says it, and how much longer than its bundles need.
pub(super) fn measured_time(kernel: &CompiledKernel) -> Option<String> {
    let times = kernel.measured?;
    let Each { count, mean, range } = Each::of(&times);
    let over = kernel.least_seconds.filter(|least| *least > 0.0).map(|least| mean as f64 / 1e12 / least);
    let over = over.map_or(String::new(), |over| format!("; {} its bundles' least time", Factor(over)));
    Some(format!("measured: {count} × {}{range}{over}", Seconds::from_picoseconds(mean)))
}

/// What the text says about one kernel.
pub(super) fn of_kernel(kernel: &CompiledKernel, text: &mut Text) {
    text.paragraph(summary(kernel));
    for time in least_time(kernel).into_iter().chain(measured_time(kernel)) {
        text.hanging("  ", &time);
    }
    for doubt in kernel.doubts() {
        text.paragraph(format_args!("  {doubt}"));
    }
    let names = file_names(kernel);
    relayouts(kernel, &names, text);
    for entry in &kernel.unaligned {
        let source = entry.source.as_deref().map(|source| names.short(source));
        let source = source.as_deref().unwrap_or("a line that the dump does not name");
        let causes = match entry.relayouts {
            0 => "causes no relayout".to_owned(),
            relayouts => format!("causes {}", count(relayouts, "relayout", "relayouts")),
        };
        text.hanging("  ", &format!("{source}: {} of {} {}: {causes}", entry.operation, entry.shape, entry.advice));
    }
    for entry in &kernel.loops {
        of_loop(kernel, entry, &names, text);
    }
    lines(kernel, &names, text);
    if let Some(vmem) = &kernel.vmem {
        of_vmem(vmem, text);
    }
}

fn relayouts(kernel: &CompiledKernel, names: &FileNames<'_>, text: &mut Text) {
    let (Some(operations), Some(relayouts)) = (kernel.operations, &kernel.relayouts) else { return };
    let moving = kernel.moving();
    let operations = count(operations, "operation", "operations");
    let all = count(relayouts.len() as u64, "relayout", "relayouts");
    let free = relayouts.iter().filter(|relayout| relayout.free == Some(true)).count();
    text.paragraph(format_args!("  {operations} in registers, {all}: {free} free, {moving} move data"));
    for relayout in relayouts.iter().filter(|relayout| relayout.free != Some(true)) {
        let source = relayout.source.as_ref().map(|source| format!("{}: ", names.short(source))).unwrap_or_default();
        let line = format!("{source}{}", sentence(relayout));
        text.hanging("    ", &line);
    }
}

/// A relayout: its two layouts, and what it takes.
pub(super) fn sentence(relayout: &RelayoutEntry) -> String {
    let steps = match (relayout.steps.is_empty(), relayout.free) {
        (false, _) => relayout.steps.join(", "),
        (true, Some(true)) => "only names registers again".to_owned(),
        (true, _) => "not understood".to_owned(),
    };
    let registers =
        relayout.registers.map(|[before, after]| format!(" ({before} to {after} registers)")).unwrap_or_default();
    let instructions = relayout.instructions.iter().flatten().map(|(name, times)| format!("{times} {name}"));
    let instructions = instructions.collect::<Vec<_>>();
    let instructions = if instructions.is_empty() { String::new() } else { format!(": {}", instructions.join(", ")) };
    format!("{} from {} to {}{registers}: {steps}{instructions}", relayout.shape, relayout.from, relayout.to)
}

fn of_loop(kernel: &CompiledKernel, entry: &LoopEntry, names: &FileNames<'_>, text: &mut Text) {
    let trips = match (entry.trips, &entry.condition, &kernel.grid) {
        (Some(trips), ..) => format!("x {} trips", Grouped(trips)),
        // The outermost loop of a kernel runs over its grid.
        (None, _, Some(grid)) if entry.depth == 1 && grid.iter().any(|&steps| steps > 1) => {
            format!("x trips over a grid of {}", grid.iter().map(ToString::to_string).collect::<Vec<_>>().join(" x "))
        }
        (None, Some(condition), _) => format!("until {condition}"),
        (None, None, _) => "x unknown trips".to_owned(),
    };
    let lines = match &entry.lines {
        Some([first, last]) if first == last => format!(" ({})", names.short(first)),
        Some([first, last]) => format!(" ({} to {})", names.short(first), last.rsplit(':').next().unwrap_or(last)),
        None => String::new(),
    };
    let bundles = count(entry.bundles, "bundle", "bundles");
    let mut said =
        format!("loop at {:#x} to {:#x}{lines}: {bundles} {trips}, {} empty", entry.first, entry.last, entry.empty);
    if let Some((name, usage)) = entry.fullest.as_ref().and_then(|name| Some((name, entry.units.get(name)?))) {
        said += &format!("; fullest unit {name}, {} of its slots", percent(*usage, entry.bundles));
    }
    let numbers = [
        (entry.vector_spills(), "vector spill", "vector spills"),
        (entry.fills.saturating_sub(entry.scalar_fills), "vector fill", "vector fills"),
        (entry.scalar_spills, "scalar spill", "scalar spills"),
        (entry.scalar_fills, "scalar fill", "scalar fills"),
    ];
    for (number, one, many) in numbers {
        if number > 0 {
            said += &format!(", {}", count(number, one, many));
        }
    }
    said += match entry.remedy() {
        Some(LoopRemedy::SmallerBlocks) => {
            " (too few vector registers: smaller blocks or a loop over parts of them need fewer)"
        }
        _ => "",
    };
    if entry.waits > 0 {
        said += &format!(", {} for copies", count(entry.waits, "wait", "waits"));
    }
    text.hanging(&"  ".repeat(entry.depth), &said);
}

fn percent(usage: Usage, bundles: u64) -> String {
    let slots = usage.capacity.saturating_mul(bundles).max(1);
    format!("{:.0} %", usage.used as f64 / slots as f64 * 100.0)
}

fn lines(kernel: &CompiledKernel, names: &FileNames<'_>, text: &mut Text) {
    if kernel.lines.is_empty() {
        return;
    }
    // If the compiler refused the program, there are operations without bundles.
    let has_bundles = kernel.bundles.is_some();
    text.paragraph(if has_bundles { "  lines, those with the most bundles first" } else { "  lines" });
    let lines = kernel.lines_by_bundles();
    // A line outside all loops executes each of its bundles once.
    let has_trips = has_bundles && lines.iter().any(|line| line.executed != Some(line.bundles));
    let with_trips = if has_trips { "with trips" } else { "" };
    let headings =
        ["line", "", "bundles", with_trips, "slots", "ops", "registers", "relayouts", "moving"].map(str::to_owned);
    let cell = |number: u64| Grouped(number).to_string();
    let row = |line: &&LineEntry| {
        let executed = line.executed.map_or_else(|| "?".to_owned(), cell);
        let executed = if has_trips { executed } else { String::new() };
        let of_bundles = |number: u64| if has_bundles { cell(number) } else { "?".to_owned() };
        let [bundles, slots] = [line.bundles, line.slots].map(of_bundles);
        let operations = cell(line.operations);
        let [registers, relayouts, moving] = [line.registers, line.relayouts, line.moving].map(cell);
        [names.short(&line.source), String::new(), bundles, executed, slots, operations, registers, relayouts, moving]
    };
    let rows = std::iter::once(headings).chain(lines.iter().take(MOST_LINES).map(row)).collect::<Vec<_>>();
    columns(text, "    ", &rows);
    if lines.len() > MOST_LINES {
        text.paragraph(format_args!("    and {} more", lines.len() - MOST_LINES));
    }
}

fn of_vmem(vmem: &Vmem, text: &mut Text) {
    let limit = match vmem.limit {
        Some(limit) if vmem.bytes.is_some_and(|bytes| bytes > limit) => {
            format!(", more than the limit of {}", InUnits(limit))
        }
        Some(limit) => format!(" of {}", InUnits(limit)),
        None => String::new(),
    };
    let estimated = if vmem.estimated { ", by the kernel's arguments, without spills" } else { "" };
    match vmem.bytes {
        Some(bytes) => text.paragraph(format_args!("  vector memory: {}{limit}{estimated}", Bytes(bytes))),
        None => text.paragraph("  vector memory: not known, because the sizes of some arguments are not"),
    };
    let parts = vmem.largest_first();
    let bytes = |part: &VmemEntry| part.bytes.map_or_else(|| "?".to_owned(), |bytes| Grouped(bytes).to_string());
    let width = column_width(parts.iter().map(|part| bytes(part).len()));
    for part in parts {
        text.hanging(&format!("    {:>width$}  ", bytes(part)), &part.what);
    }
}
