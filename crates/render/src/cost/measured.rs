//! What a profile measured of a program, as text.

use super::text::{INDENT, SHOWN, heading_of, more};
use crate::Text;
use crate::words::{Factor, Grouped, InUnits, count};
use std::fmt::{self, Write as _};
use xla_shape_answers::cost::{
    Measured, MeasuredCollective, MeasuredCopy, MeasuredDoubt, MeasuredInstruction, Seconds, Times,
};

/// Adds all that was measured.
pub(super) fn add(text: &mut Text, measured: &Measured) {
    text.paragraph(answer(measured));
    for note in notes(measured) {
        text.paragraph(note);
    }
    if !measured.copies.is_empty() {
        let heading = heading_of(measured.copies.iter().map(|copy| copy.change));
        text.heading(&format!("{heading}, by measured time"));
    }
    for copy in measured.copies.iter().take(SHOWN) {
        copied(text, copy);
    }
    more(text, measured.copies.len());
    table(
        text,
        "By source line, as measured",
        measured.lines.iter().map(|line| {
            (line.source.as_deref().unwrap_or("(no source line)"), line.picoseconds, line.share, line.instructions)
        }),
    );
    table(
        text,
        "By scope, as measured",
        measured.scopes.iter().map(|scope| (scope.scope.as_str(), scope.picoseconds, scope.share, scope.instructions)),
    );
    table(
        text,
        "By opcode, as measured",
        measured.opcodes.iter().map(|opcode| {
            let name = opcode.opcode.as_deref().unwrap_or("(not in the module)");
            (name, opcode.picoseconds, opcode.share, opcode.instructions)
        }),
    );
    if !measured.instructions.is_empty() {
        text.heading("Instructions, by measured time");
    }
    for found in measured.instructions.iter().take(SHOWN) {
        instruction(text, found, measured);
    }
    more(text, measured.instructions.len());
    let differ = || measured.instructions.iter().filter(|found| found.differs);
    if differ().next().is_some() {
        let most = Measured::DIFFERS;
        text.heading(&format!(
            "Instructions that took more than {most} times the compiler's estimate, or less than it over {most}"
        ));
    }
    for found in differ().take(SHOWN) {
        let (Some(expected), Some(over)) = (found.estimate_picoseconds, found.over_estimate) else { continue };
        let mean = time(Each::of(&found.times).mean);
        let _ = writeln!(
            text,
            "  {:>10}  {mean} instead of {}, {}  %{}",
            time(found.times.picoseconds),
            time(expected),
            Factor(over),
            found.instruction
        );
    }
    more(text, differ().count());
    if !measured.collectives.is_empty() {
        text.heading("Collectives, by measured time");
    }
    for found in measured.collectives.iter().take(SHOWN) {
        collective(text, found);
    }
    more(text, measured.collectives.len());
    let (ran, others): (Vec<_>, Vec<_>) = measured.modules.iter().partition(|module| module.picoseconds > 0);
    if measured.modules.len() > 1 {
        text.heading("Modules of the profile (--module NAME shows another one)");
        for module in ran.iter().take(SHOWN) {
            let runs = module.runs.map_or(String::new(), |runs| format!("  {}", count(runs as u64, "run", "runs")));
            let missing = if module.is_there { "" } else { "  (the profile has only its times)" };
            let _ = writeln!(text, "  {:>10}  {}{runs}{missing}", time(module.picoseconds), module.module);
        }
        more(text, ran.len());
        if !others.is_empty() {
            let names = others.iter().take(SHOWN).map(|module| module.module.as_str()).collect::<Vec<_>>();
            text.hanging("  ", &format!("without times: {}", names.join(", ")));
            more(text, others.len());
        }
    }
}

pub(super) fn time(picoseconds: u64) -> String {
    Seconds::from_picoseconds(picoseconds).to_string()
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// The sentence that answers the question.
pub(super) fn answer(measured: &Measured) -> String {
    if measured.picoseconds == 0 && measured.runs.is_none() {
        return format!("The profile has no times of {}: it did not run while it was recorded.", measured.module);
    }
    let mut answer = match &measured.runs {
        Some(runs) => {
            let device = measured.device.as_ref().map_or(String::new(), |device| format!(" ({device})"));
            let devices = count(measured.devices.unwrap_or(0) as u64, "device", "devices");
            let all = count(runs.count as u64, "run", "runs");
            let (module, mean) = (&measured.module, time(runs.mean_picoseconds));
            let (shortest, longest) = (time(runs.shortest_picoseconds), time(runs.longest_picoseconds));
            let mut answer = match runs.count {
                1 => format!("{module} took {mean} in {all} on {devices}{device}"),
                _ => format!(
                    "{module} took {mean} on average in {all} on {devices}{device}, from {shortest} to {longest}"
                ),
            };
            let idle = runs.idle_picoseconds as f64 / runs.picoseconds.max(1) as f64;
            // A smaller part would be shown as 0.0 %.
            if idle >= 0.0005 {
                answer += &format!("; no instruction ran in {} of it", percent(idle));
            }
            answer
        }
        None => {
            let device = measured.device.as_ref().map_or(String::new(), |device| format!(" on {device}"));
            format!("The instructions of {} took {}{device}", measured.module, time(measured.picoseconds))
        }
    };
    if measured.picoseconds == 0 {
        return answer + ". The profile has no times of its instructions.";
    }
    if !measured.copies.is_empty() {
        answer += &format!("; {} of the instructions' time only moves data", percent(measured.moved));
    }
    let line = measured.lines.iter().find_map(|line| Some((line.source.as_deref()?, line.share)));
    if let Some((source, share)) = line {
        answer += &format!("; the line that takes the most is {source} with {}", percent(share));
    }
    answer + "."
}

/// Notes about what is missing from the times, or doubtful.
pub(super) fn notes(measured: &Measured) -> Vec<String> {
    let events = |number| count(number, "event", "events");
    let note = |doubt: MeasuredDoubt| match doubt {
        MeasuredDoubt::UnknownInstructions(unknown) => format!(
            "{} of the profile are not in its module, so their times have no line. On a GPU these are command buffers (CUDA graphs), each of \
             which counts as one instruction.",
            count(unknown as u64, "instruction", "instructions")
        ),
        MeasuredDoubt::ImpossibleEvents(number) => {
            format!("{} of the profile end before they begin, and do not count.", events(number))
        }
        MeasuredDoubt::OverlappingEvents(number) => format!(
            "{} of the profile begin during another event of their line and end after it; both count in full.",
            events(number)
        ),
        MeasuredDoubt::UnassignedEvents(number) => {
            format!("The profile does not say to which program {} belong; they do not count.", events(number))
        }
        MeasuredDoubt::EstimatesByMedian(length) => format!(
            "The compiler's estimates are its cycles at {length:.0} ps each, the median of what was measured: they show which \
             instructions differ from the others."
        ),
        _ => String::new(),
    };
    measured.doubts().into_iter().map(note).collect()
}

/// How often an instruction ran, and how long it took each time.
pub(crate) struct Each {
    /// How often it was executed. For a GPU, the number of kernels that ran, if it is not known how many of them one execution
    /// launches.
    pub(crate) count: String,
    pub(crate) mean: u64,
    /// The shortest and the longest time, in brackets after a space; empty for one event.
    pub(crate) range: String,
}

impl Each {
    pub(crate) fn of(times: &Times) -> Self {
        let (shortest, longest) = (time(times.shortest_picoseconds), time(times.longest_picoseconds));
        let kernels = format!("{} kernels", Grouped(times.count));
        match times.of_executions() {
            Some((executions, mean)) => {
                let range = match executions {
                    _ if executions < times.count => format!(" ({kernels}, {shortest} to {longest})"),
                    1 => String::new(),
                    _ => format!(" ({shortest} to {longest})"),
                };
                Self { count: Grouped(executions).to_string(), mean, range }
            }
            None => Self { count: kernels, mean: times.mean_picoseconds, range: format!(" ({shortest} to {longest})") },
        }
    }
}

impl fmt::Display for Each {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} × {}", self.count, time(self.mean))
    }
}

fn copied(text: &mut Text, copy: &MeasuredCopy) {
    let Times { picoseconds, share, .. } = copy.times;
    let bytes = copy.bytes.map_or(String::new(), |bytes| InUnits(bytes).to_string());
    let source = copy.source.as_ref().map_or(String::new(), |source| format!("  {source}"));
    let _ = writeln!(
        text,
        "  {:>10} {:>7} {bytes:>10}  {}  %{} ({}){source}",
        time(picoseconds),
        percent(share),
        Each::of(&copy.times),
        copy.instruction,
        copy.opcode
    );
    if let Some(beside) = copy.asynchronous_picoseconds {
        text.hanging(INDENT, &format!("from its start to its end, beside others: {}", time(beside)));
    }
    text.hanging(INDENT, &format!("{} -> {}", copy.from, copy.to));
    text.hanging(INDENT, &copy.cause.to_string());
    if let Some(remedy) = &copy.remedy {
        text.hanging(INDENT, &format!("to remove it: {remedy}"));
    }
}

fn table<'t>(text: &mut Text, heading: &str, rows: impl ExactSizeIterator<Item = (&'t str, u64, f64, usize)>) {
    let length = rows.len();
    if length == 0 {
        return;
    }
    text.heading(heading);
    for (name, picoseconds, share, instructions) in rows.take(SHOWN) {
        let instructions = count(instructions as u64, "instruction", "instructions");
        let _ = writeln!(text, "  {:>10} {:>7}  {name}  {instructions}", time(picoseconds), percent(share));
    }
    more(text, length);
}

fn instruction(text: &mut Text, found: &MeasuredInstruction, measured: &Measured) {
    let (Times { picoseconds, share, .. }, each) = (found.times, Each::of(&found.times));
    let opcode = found.opcode.as_deref().unwrap_or("not in the module");
    let source = found.source.as_ref().map_or(String::new(), |source| format!("  {source}"));
    let _ = writeln!(
        text,
        "  {:>10} {:>7}  {each}{}  %{} ({opcode}){source}",
        time(picoseconds),
        percent(share),
        each.range,
        found.instruction
    );
    let rates = [
        (found.bytes_per_second, measured.peak_bytes_per_second, "B/s", "of the memory's peak"),
        (found.flops_per_second, measured.peak_flops_per_second, "FLOP/s", "of the device's peak"),
    ];
    let rates = rates.into_iter().filter_map(|(rate, peak, unit, of)| {
        let (rate, peak) = (rate.filter(|rate| *rate > 0)?, peak.filter(|peak| *peak > 0)?);
        Some(format!("{}, {} {of}", scaled(rate as f64, unit), percent(rate as f64 / peak as f64)))
    });
    let rates = rates.collect::<Vec<_>>();
    if !rates.is_empty() {
        text.hanging(INDENT, &rates.join("; "));
    }
}

fn collective(text: &mut Text, found: &MeasuredCollective) {
    let Times { picoseconds, share, .. } = found.times;
    let source = found.source.as_ref().map_or(String::new(), |source| format!("  {source}"));
    let rate = found.bytes_per_second.map_or(String::new(), |rate| format!(", {}", scaled(rate as f64, "B/s")));
    let beside = found.asynchronous_picoseconds;
    let beside = beside.map_or(String::new(), |beside| format!("; from start to end {}", time(beside)));
    let _ = writeln!(
        text,
        "  {:>10} {:>7}  {}  %{} ({}): {} in, {} out{rate}{beside}{source}",
        time(picoseconds),
        percent(share),
        Each::of(&found.times),
        found.instruction,
        found.opcode,
        InUnits(found.bytes_in),
        InUnits(found.bytes_out)
    );
}

/// A rate with three digits and a decimal prefix.
pub(super) fn scaled(rate: f64, unit: &str) -> String {
    let prefixes = [(1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")];
    let (size, prefix) = prefixes.into_iter().find(|(size, _)| rate >= *size).unwrap_or((1.0, ""));
    let number = rate / size;
    let digits = if number < 9.995 { 2 } else { usize::from(number < 99.95) };
    format!("{number:.digits$} {prefix}{unit}")
}

#[cfg(test)]
mod tests {
    use super::scaled;

    #[test]
    fn rates_have_three_digits() {
        for (rate, text) in [(0.0, "0.00 B/s"), (999.0, "999 B/s"), (1_638e9, "1.64 TB/s"), (45_670e3, "45.7 MB/s")] {
            assert_eq!(scaled(rate, "B/s"), text);
        }
    }
}
