//! What changed between two programs, as text.

use crate::times::time_lines;
use crate::words::{self, InUnits, Signed, count};
use crate::{Show, Text};
use std::fmt::Write as _;
use xla_shape_answers::hlo::diff::{Instructions, Measured, Peak, ValueChange};
use xla_shape_answers::hlo::{Difference, Quantity};

/// The text lists at most this many values.
const MOST_CHANGES: usize = 100;
/// The text lists at most this many copies, collectives and fusions.
const MOST_PARTS: usize = 30;
/// The text lists at most this many causes of a difference at a peak.
const MOST_CAUSES: usize = 12;

impl Show for Difference {
    fn text(&self, width: usize) -> Text {
        text(self, width)
    }
}

// Writing to a `Text` does not fail.
fn text(difference: &Difference, width: usize) -> Text {
    let mut text = Text::new(width);
    text.paragraph(answer(difference));
    for (when, (name, accuracy)) in ["before", "after"].iter().zip(&difference.programs) {
        let _ = writeln!(text, "{when:6}  module {name} ({accuracy})");
    }
    if let Some(why) = &difference.unknown {
        text.paragraph(format_args!("note: the cycles are not compared: {why}"));
    }
    time_lines(&mut text, &difference.times);
    measured_lines(&mut text, difference);
    for peak in &difference.peaks {
        peak_lines(&mut text, peak);
    }
    if !difference.totals.is_empty() {
        text.heading("Memory");
        let _ = writeln!(text, "  {:>10}  {:>10}  {:>11}", "before", "after", "difference");
    }
    for total in difference.totals.iter().filter(|total| total.bytes_before > 0 || total.bytes_after > 0) {
        let _ = writeln!(
            text,
            "  {:>10}  {:>10}  {:>11}  {}",
            InUnits(total.bytes_before).to_string(),
            InUnits(total.bytes_after).to_string(),
            Signed(total.bytes).to_string(),
            total.name
        );
    }
    text.heading("Values");
    for change in difference.changes.iter().take(MOST_CHANGES) {
        let shapes = match (&change.before, &change.after) {
            (Some(before), Some(after)) => format!("{before} -> {after}"),
            (before, after) => before.iter().chain(after).cloned().collect(),
        };
        let source = change.source.as_ref().map_or(String::new(), |source| format!("  {source}"));
        text.hanging(
            &format!("{:>11}  {:12}  ", Signed(change.bytes).to_string(), change.change),
            &format!("{}  {shapes}{source}: {}", words::value_name(&change.name, change.leaf), change.cause),
        );
    }
    if difference.changes.len() > MOST_CHANGES {
        let more = count((difference.changes.len() - MOST_CHANGES) as u64, "more", "more");
        let _ = writeln!(text, "             … and {more}; --format json has all");
    }
    let total = difference.changes.iter().fold(0_i64, |sum, change| sum.saturating_add(change.bytes));
    let changes = &difference.changes;
    let of = |kind: ValueChange| changes.iter().filter(|change| change.change == kind).count() as u64;
    text.paragraph(format_args!(
        "{}, {} and {} changed; {} added, {} removed; {} in all",
        count(of(ValueChange::Shape), "shape", "shapes"),
        count(of(ValueChange::Layout), "layout", "layouts"),
        count(of(ValueChange::MemorySpace), "memory space", "memory spaces"),
        count(of(ValueChange::Added), "value", "values"),
        of(ValueChange::Removed),
        Signed(total),
    ));
    text
}

/// What changed, in one line.
pub(super) fn answer(difference: &Difference) -> String {
    let changed = |measured: &Measured| {
        let [before, after] = [measured.before, measured.after].map(|number| in_words(measured, number));
        let percent = percent(measured).map_or(String::new(), |percent| format!(" ({percent})"));
        format!("{} {before} -> {after}{percent}", measured.measure.name())
    };
    let changes = difference.changed_measures().map(changed).collect::<Vec<_>>();
    if !changes.is_empty() {
        return changes.join(", ");
    }
    let known =
        difference.measures.iter().filter(|measured| measured.before.is_some()).map(|measured| measured.measure.name());
    let known = known.collect::<Vec<_>>().join(", ");
    let figures = match known.as_str() {
        "" => "the modules have no figures to compare".to_owned(),
        known => format!("no change in {known}"),
    };
    figures + &instructions(&difference.instructions)
}

/// If two programs have the same figures: whether they are the same program.
fn instructions(found: &Instructions) -> String {
    match (found.same, &found.examples[..]) {
        (Some(true), _) => "; the programs are the same, instruction for instruction".to_owned(),
        (None, []) => "; whether the programs are the same is not known: the modules do not say all of it".to_owned(),
        (Some(false), []) => {
            "; but the programs are not the same: the order of instructions differs, or what uses them".to_owned()
        }
        (_, [first, ..]) => {
            let differ = count(found.differing as u64, "instruction differs", "instructions differ");
            format!("; but {differ}, such as {first}")
        }
    }
}

/// The numbers that differ, and the copies, collectives and fusions that come or go.
fn measured_lines(text: &mut Text, difference: &Difference) {
    if difference.changed_measures().next().is_some() {
        text.heading("What changed");
    }
    for measured in difference.changed_measures() {
        let [before, after] = [measured.before, measured.after].map(|number| in_words(measured, number));
        let percent = percent(measured).map_or(String::new(), |percent| format!(" ({percent})"));
        text.hanging(
            &format!("  {:11} ", measured.measure.name()),
            &format!("{before} -> {after}{percent}: {}", measured.cause),
        );
    }
    if !difference.parts.is_empty() {
        text.heading("Copies, collectives and fusions");
    }
    for part in difference.parts.iter().take(MOST_PARTS) {
        let amount = part.amount.map_or(String::new(), |amount| format!("  {amount}"));
        let source = part.source.as_ref().map_or(String::new(), |source| format!("  {source}"));
        text.hanging(&format!("  {:18} ", part.change), &format!("%{}{amount}{source}: {}", part.name, part.cause));
        if let Some(because) = &part.because {
            text.hanging("      ", &because.to_string());
        }
        if let Some(remedy) = &part.remedy {
            text.hanging("      ", &format!("to remove it: {remedy}"));
        }
    }
    if let Some(more) = difference.parts.len().checked_sub(MOST_PARTS).filter(|&more| more > 0) {
        let _ = writeln!(text, "  … and {more} more; --format json has all");
    }
}

fn peak_lines(text: &mut Text, peak: &Peak) {
    let at = |name: &Option<String>| name.as_ref().map_or(String::new(), |name| format!(" at %{name}"));
    text.heading(&format!(
        "Peak of {}: {}{} before, {}{} after, {}",
        peak.name,
        InUnits(peak.bytes_before),
        at(&peak.at_before),
        InUnits(peak.bytes_after),
        at(&peak.at_after),
        if peak.bytes == 0 { "the same".to_owned() } else { Signed(peak.bytes).to_string() },
    ));
    for cause in peak.because.iter().take(MOST_CAUSES) {
        let like = match cause.values {
            1 => String::new(),
            values => format!("  {}", count(values as u64, "value", "values")),
        };
        let origin = [&cause.op_name, &cause.source].into_iter().flatten();
        let origin: String = origin.map(|part| format!("  {part}")).collect();
        text.hanging(
            &format!("{:>13}  {:11}  ", Signed(cause.bytes).to_string(), cause.live),
            &format!("{}  {}{like}{origin}", words::value_name(&cause.name, cause.leaf), cause.shape),
        );
    }
    if peak.because.len() > MOST_CAUSES {
        let rest = peak.because.iter().skip(MOST_CAUSES).fold(0_i64, |sum, cause| sum.saturating_add(cause.bytes));
        let _ = writeln!(text, "{:>13}  {} more", Signed(rest).to_string(), peak.because.len() - MOST_CAUSES);
    }
}

/// A number of the program, in units.
pub(super) fn in_words(measured: &Measured, value: Option<Quantity>) -> String {
    crate::guard::in_words(measured.measure, value)
}

/// By how much a number of the program changed, in percent of the number before.
pub(super) fn percent(measured: &Measured) -> Option<String> {
    words::change_in_percent(measured.before.map(Quantity::number), measured.after.map(Quantity::number))
}
