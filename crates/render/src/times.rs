//! The measured times of two profiles side by side, in words.

use crate::Text;
use crate::words::markdown;
use std::fmt::Write as _;
use xla_shape_answers::cost::Seconds;
use xla_shape_answers::hlo::times::TimeDifference;

/// A text lists at most this many times.
const MOST_TIMES: usize = 12;

/// The measured times of two profiles: of the run, and of its lines.
pub(crate) fn time_lines(text: &mut Text, all: &[TimeDifference]) {
    if !all.is_empty() {
        text.heading(HEADING);
    }
    for found in all.iter().take(MOST_TIMES) {
        let [before, after] = times(found);
        text.hanging("  ", &format!("{}  {before} -> {after}{}", found.name, why(found)));
    }
    if let Some(left) = all.len().checked_sub(MOST_TIMES).filter(|&left| left > 0) {
        let _ = writeln!(text, "  … and {left} more; --format json has all");
    }
}

/// Both times; "nothing" if the line did not run.
pub(crate) fn times(found: &TimeDifference) -> [String; 2] {
    let time = |picoseconds| Seconds::from_picoseconds(picoseconds).to_string();
    [found.picoseconds_before, found.picoseconds_after].map(|found| found.map_or("nothing".to_owned(), time))
}

/// How much longer or shorter the line took in the second profile, in percent; empty without both times.
pub(crate) fn growth(found: &TimeDifference) -> String {
    let both = found.picoseconds_before.filter(|before| *before > 0).zip(found.picoseconds_after);
    both.map_or(String::new(), |(before, after)| {
        let (before, after) = (before as f64, after as f64);
        format!("{:+.1} %", (after - before) / before * 100.0)
    })
}

/// Whether a difference is significant, and its cause.
pub(crate) fn reason(found: &TimeDifference) -> String {
    let spread = if found.is_clear { "" } else { "the spread of the runs is too wide to decide" };
    let cause = match (found.cause, &found.instruction) {
        (Some(cause), Some(instruction)) => format!("%{instruction} comes or goes: {cause}"),
        _ => String::new(),
    };
    [spread, cause.as_str()].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ")
}

fn why(found: &TimeDifference) -> String {
    let growth = growth(found);
    let growth = if growth.is_empty() { growth } else { format!(" ({growth})") };
    let reason = reason(found);
    if reason.is_empty() { growth } else { format!("{growth}: {reason}") }
}

/// The heading and the columns of a Markdown table of measured times.
pub(crate) const HEADING: &str = "Measured times of one run";
pub(crate) const COLUMNS: [&str; 5] = ["line", "before", "after", "change", "why"];

/// The rows of that table.
pub(crate) fn rows(all: &[TimeDifference]) -> Vec<Vec<String>> {
    let row = |found: &TimeDifference| {
        let [before, after] = times(found);
        vec![markdown::code(&found.name), before, after, growth(found), markdown::plain(&reason(found))]
    };
    all.iter().map(row).collect()
}
