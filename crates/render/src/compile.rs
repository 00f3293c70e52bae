//! What a compiler says about a program, as text.

use crate::hlo::{capacity_text, larger_part, what_takes_memory};
use crate::words::{Bytes, Factor, Grouped, InUnits, column_width, count, value_name};
use crate::{Show, Text};
use xla_shape_answers::compile::{
    Answered, Autotuning, Compilation, Given, Outcome, Refused, Target, Unseen, Untuned, largest,
};
use xla_shape_answers::hlo::OfGpu;
use xla_shape_answers::hlo::memory::Capacity;
use xla_shape_answers::hlo::report::Value;
use xla_shape_core::memory_space::Platform;

impl Show for Compilation {
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        if let [Target { name, result: Outcome::Good(answered), .. }] = self.targets.as_slice() {
            alone(&mut text, name, answered);
            return text;
        }
        let good = self.good().collect::<Vec<_>>();
        if !good.is_empty() {
            table(&mut text, &good);
            layouts(&mut text, &good);
        }
        for target in &self.targets {
            if let Outcome::Bad { error } = &target.result {
                text.heading(&format!("Not compiled for {}", target.name));
                text.verbatim(format_args!("  {}", error.message.replace('\n', "\n  ")));
                if let Some(Refused { report, .. }) = &error.report {
                    text.heading(&format!("What takes the memory of {}", target.name));
                    what_takes_memory(report, &mut text);
                }
            }
        }
        text
    }
}

/// The lines about memory: name and bytes.
fn amounts(answered: &Answered) -> [(&'static str, u64); 7] {
    let device = &answered.memory.device;
    [
        (if answered.is_for_gpu() { "in all" } else { "HBM in all" }, device.total),
        ("  arguments", device.arguments),
        ("  outputs", device.outputs),
        ("  aliases", device.aliases),
        ("  temporaries", device.temporaries),
        ("peak", device.peak),
        ("code", device.generated_code.unwrap_or(0)),
    ]
}

/// Says whether a program fits the part of a GPU's memory that JAX takes, or at least the whole memory.
fn whole_gpu(text: &mut Text, capacity: &Capacity) {
    let (Some(whole), Some(need)) = (capacity.whole, capacity.of_gpu()) else { return };
    let (part, all) = (InUnits(capacity.bytes), InUnits(whole));
    let verdict = match need {
        OfGpu::Part => format!("it fits the {part} that a process of JAX takes of {all}"),
        OfGpu::Larger => {
            format!("it does not fit the {part} that a process of JAX takes of {all}, but fits {}", larger_part(whole))
        }
        OfGpu::More if capacity.used <= whole => {
            format!("it does not fit: of the {all} of the GPU, CUDA needs some for itself")
        }
        OfGpu::More => format!("it does not fit the {all} of the GPU"),
    };
    text.paragraph(format_args!("  {verdict}"));
}

/// Says how exact the numbers for a GPU are, and which memory they leave out.
fn autotuning_text(answered: &Answered) -> Option<String> {
    let exact = match answered.autotuning? {
        Autotuning::Partly => "  exact for this compiler with the results of autotuning that the file has",
        Autotuning::FromFile => "  exact for this compiler with the results of autotuning that were given",
        _ => {
            "  exact for this compiler without autotuning: on the device, it times its choices, and may choose other kernels, tiles and \
             workspaces (--autotune FILE takes its results)"
        }
    };
    let untuned = answered.untuned.map_or_else(String::new, |Untuned { without, of }| {
        let which = match (without, of) {
            (Some(without), Some(of)) => format!("{} of {}", Grouped(without), count(of, "instruction", "instructions")),
            _ => "some instructions".to_owned(),
        };
        format!(
            "; the file has no results for {which}: it is of another GPU, driver, CUDA, compiler or program (--config takes the \
             gpu_target_config.pbtxt of a dump that was made where the results were)"
        )
    });
    let unseen = answered.unseen.iter().map(|unseen| match unseen {
        Unseen::Sort => "; on the device, XLA may give a sort to CUB, which needs memory of its own",
        // cuDNN and cuFFT, and any variant that a later version adds.
        _ => "; cuDNN and cuFFT take more memory while they run",
    });
    Some(format!("{exact}{untuned}{}", unseen.collect::<String>()))
}

/// The value with the most padding.
fn padded(answered: &Answered) -> Option<&Value> {
    answered.most_padded.first()
}

fn alone(text: &mut Text, name: &str, answered: &Answered) {
    let module = answered.module.as_deref().unwrap_or("the program");
    text.paragraph(format_args!("{module}, compiled for {name}"));
    text.heading("Memory, as the compiler reports it");
    for (what, bytes) in amounts(answered) {
        text.verbatim(format_args!("  {:>10}  {what}", InUnits(bytes).to_string()));
    }
    if answered.memory.host.total > 0 {
        text.verbatim(format_args!("  {:>10}  memory of the host", InUnits(answered.memory.host.total).to_string()));
    }
    for capacity in &answered.capacity {
        text.verbatim(format_args!(
            "  {}",
            capacity_text(capacity, if answered.is_for_gpu() { Platform::Gpu } else { Platform::Tpu })
        ));
        whole_gpu(text, capacity);
    }
    if let Some(exact) = autotuning_text(answered) {
        text.paragraph(exact);
    }
    if let Some(cost) = &answered.program_cost {
        text.heading("Cost");
        text.paragraph(format_args!("  {}", crate::cost::answer(cost)));
        if let Some(note) = crate::cost::lines_of_text(cost) {
            text.paragraph(format_args!("  {note}"));
        }
    }
    shapes(text, answered);
    text.heading("Largest padding");
    if answered.most_padded.is_empty() {
        text.verbatim("  no value has padding");
    }
    for value in &answered.most_padded {
        let padding = InUnits(value.padding_bytes).to_string();
        let factor = value.expansion.map_or_else(String::new, |factor| Factor(factor).to_string());
        let name = value_name(&value.name, value.leaf);
        text.verbatim(format_args!("  {padding:>10}  {factor:>7}  {name} ({})  {}", value.opcode, value.shape));
    }
}

/// The layouts of the parameters and results, or only of the largest ones if there are more than the list shows.
fn shapes(text: &mut Text, answered: &Answered) {
    let all = answered.shapes().collect::<Vec<_>>();
    let shown = largest(&all, answered.top, |given| given.bytes);
    text.heading("Layouts");
    let name = |given: &Given<'_>| given.name.map_or(0, |name| name.chars().count());
    let names = column_width(shown.iter().map(|given| name(given)));
    let column = column_width(shown.iter().map(|given| given.shape.chars().count()));
    let whats = column_width(shown.iter().map(|given| given.what.chars().count()));
    for Given { what, name, shape, bytes } in &shown {
        let bytes = bytes.map_or_else(String::new, |bytes| Bytes(bytes).to_string());
        let name = if names > 0 { format!("{:names$}  ", name.unwrap_or("")) } else { String::new() };
        text.verbatim(format_args!("  {what:whats$}  {name}{shape:column$}  {bytes}").to_string().trim_end());
    }
    more(text, all.len(), shown.len());
}

/// Says how many parameters and results are not shown.
fn more(text: &mut Text, all: usize, shown: usize) {
    if shown < all {
        text.verbatim(format_args!("  … and {} smaller ones; --top {all} shows them all", all - shown));
    }
}

/// One column for each device.
fn table(text: &mut Text, good: &[(&str, &Answered)]) {
    let modules = good.iter().filter_map(|(_, answered)| answered.module.as_deref()).next();
    text.paragraph(format_args!(
        "{}, compiled for {}",
        modules.unwrap_or("the program"),
        count(good.len() as u64, "device", "devices")
    ));
    let mut rows = vec![vec![String::new()]];
    rows[0].extend(good.iter().map(|(name, _)| (*name).to_owned()));
    // All devices have the same rows, so their names are taken from the first device.
    for (number, (what, _)) in good.first().map(|(_, first)| amounts(first)).into_iter().flatten().enumerate() {
        let bytes = good.iter().map(|(_, answered)| InUnits(amounts(answered)[number].1).to_string());
        rows.push([what.to_owned()].into_iter().chain(bytes).collect());
    }
    let padding = good.iter().map(|(_, answered)| {
        padded(answered).map_or_else(|| "none".to_owned(), |value| InUnits(value.padding_bytes).to_string())
    });
    rows.push(["largest padding".to_owned()].into_iter().chain(padding).collect());
    let free = good.iter().map(|(_, answered)| match answered.capacity.first() {
        Some(capacity) if capacity.free < 0 => format!("{} over", InUnits(capacity.free.unsigned_abs())),
        Some(capacity) => InUnits(capacity.free.unsigned_abs()).to_string(),
        None => "?".to_owned(),
    });
    let has_gpu = good.iter().any(|(_, answered)| answered.is_for_gpu());
    let left = if has_gpu { "memory left" } else { "HBM left" };
    rows.push([left.to_owned()].into_iter().chain(free).collect());
    text.heading("Memory, as the compiler reports it");
    lines(text, &rows);
    if has_gpu {
        text.paragraph(
            "  of a GPU, what is left is of the 75 % that a process of JAX takes; XLA_PYTHON_CLIENT_MEM_FRACTION gives it more",
        );
    }
    if let Some(exact) = good.iter().find_map(|(_, answered)| autotuning_text(answered)) {
        text.paragraph(exact);
    }
}

/// Writes rows with the first column flush left and all others flush right.
fn lines(text: &mut Text, rows: &[Vec<String>]) {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| column_width(rows.iter().filter_map(|row| Some(row.get(column)?.chars().count())));
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate().take(columns) {
            let width = width(column);
            line += &if column == 0 { format!("  {cell:width$}") } else { format!("  {cell:>width$}") };
        }
        text.verbatim(line.trim_end());
    }
}

/// A parameter or a result on several devices.
struct Row<'a> {
    /// Which parameter or result it is.
    what: String,
    /// The name that the user gave it.
    name: Option<&'a str>,
    /// Its bytes on the first device.
    bytes: Option<u64>,
    /// Each shape that it has, with the devices on which it has that shape.
    kinds: Vec<(&'a str, Vec<&'a str>)>,
}

/// Writes the layout of each parameter and result; if devices differ, the layout on each.
fn layouts(text: &mut Text, good: &[(&str, &Answered)]) {
    let mut rows = Vec::<Row<'_>>::new();
    for (device, answered) in good {
        for Given { what, name, shape, bytes } in answered.shapes() {
            let place = rows.iter().position(|row| row.what == what).unwrap_or_else(|| {
                let what = what.clone();
                rows.push(Row { what, name, bytes, kinds: Vec::new() });
                rows.len() - 1
            });
            let kinds = &mut rows[place].kinds;
            match kinds.iter_mut().find(|(known, _)| *known == shape) {
                Some((_, devices)) => devices.push(device),
                None => kinds.push((shape, vec![device])),
            }
        }
    }
    let differ = rows.iter().filter(|row| row.kinds.len() > 1).count();
    text.heading(&match differ {
        0 => "Layouts, the same for all".to_owned(),
        differ => format!("Layouts, of which {differ} of {} differ", rows.len()),
    });
    let top = good.iter().map(|(_, answered)| answered.top).max().unwrap_or(0);
    // Arrays whose layouts differ come first, because that is what somebody who compares devices wants to see.
    let shown = largest(&rows, top, |row| (row.kinds.len() > 1, row.bytes));
    let label = |row: &Row<'_>| row.name.map_or_else(|| row.what.clone(), |name| format!("{}  {name}", row.what));
    let width = column_width(shown.iter().map(|row| label(row).chars().count()));
    for row in &shown {
        let what = label(row);
        match row.kinds.as_slice() {
            [(shape, _)] => text.verbatim(format_args!("  {what:width$}  {shape}")),
            kinds => {
                text.verbatim(format_args!("  {what:width$}  differs:"));
                for (shape, names) in kinds {
                    text.verbatim(format_args!("  {:width$}    {shape}  on {}", "", names.join(", ")));
                }
            }
        }
    }
    more(text, rows.len(), shown.len());
    let paddings = good.iter().filter_map(|(name, answered)| Some((name, padded(answered)?)));
    let mut heading = Some("Largest padding");
    for (name, value) in paddings {
        if let Some(heading) = heading.take() {
            text.heading(heading);
        }
        let padding = InUnits(value.padding_bytes).to_string();
        let factor = value.expansion.map_or_else(String::new, |factor| Factor(factor).to_string());
        let shown = value_name(&value.name, value.leaf);
        text.verbatim(format_args!(
            "  {name:11}  {padding:>9}  {factor:>7}  {shown} ({})  {}",
            value.opcode, value.shape
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::whole_gpu;
    use crate::Text;
    use xla_shape_answers::hlo::memory::Capacity;

    #[test]
    fn each_part_of_a_gpu_has_its_verdict() {
        const GIB: u64 = 1 << 30;
        let verdict = |used: u64| {
            let mut text = Text::new(200);
            whole_gpu(
                &mut text,
                &Capacity { space: 0, bytes: 60 * GIB, used: used * GIB, free: 0, whole: Some(80 * GIB) },
            );
            text.to_string()
        };
        assert_eq!(verdict(60), "  it fits the 60 GiB that a process of JAX takes of 80 GiB\n");
        let larger = "the 76 GiB of 80 GiB that XLA_PYTHON_CLIENT_MEM_FRACTION=0.95 gives a process of JAX";
        assert_eq!(
            verdict(76),
            format!("  it does not fit the 60 GiB that a process of JAX takes of 80 GiB, but fits {larger}\n")
        );
        assert_eq!(verdict(77), "  it does not fit: of the 80 GiB of the GPU, CUDA needs some for itself\n");
        assert_eq!(verdict(81), "  it does not fit the 80 GiB of the GPU\n");
    }
}
