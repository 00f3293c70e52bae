//! What `guard` recorded and found, as text and as Markdown.

use crate::cost::change;
use crate::times::{self, time_lines};
use crate::words::{InUnits, change_in_percent, count, markdown};
use crate::{Show, Text, shell_line};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use xla_shape_answers::cost::Amount;
use xla_shape_answers::guard::claims::{CheckedClaim, ClaimState, Claims, Expectation, Expectations, Instead};
use xla_shape_answers::guard::{ArrayChange, ChangedArray, Check, Checks, Record, Warning};
use xla_shape_answers::hlo::{Limit, Measure, Quantity};

/// The text lists at most this many copies, and source lines.
const MOST: usize = 10;

/// A measure as text, with its unit.
pub(crate) fn in_words(of: Measure, number: Option<Quantity>) -> String {
    match (number, of) {
        (None, _) => "not known".to_owned(),
        (Some(bytes), Measure::Memory) => InUnits(bytes.number()).to_string(),
        (Some(number), _) => number.to_string(),
    }
}

impl Show for Record {
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        for program in &self.programs {
            let measures = program.said().map(|(of, number)| format!("{} {}", of.name(), in_words(of, number)));
            let of = program.device.as_ref().map(|device| format!(" for {device}")).unwrap_or_default();
            let what = if self.lock { "Locked" } else { "Recorded" };
            text.heading(&format!("{what}{of}: {}", measures.collect::<Vec<_>>().join(", ")));
            let compiler = program.compiler.clone().unwrap_or_else(|| "not known".to_owned());
            text.columns(&[("compiler".to_owned(), compiler)]);
        }
        text
    }
}

impl Show for Checks {
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        for check in &self.programs {
            write(&mut text, check);
        }
        text
    }
}

impl Show for Expectations {
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        for program in &self.programs {
            expectation(&mut text, program);
        }
        text
    }
}

fn expectation(text: &mut Text, program: &Expectation) {
    let name = program.device.as_deref().or(program.module.as_deref()).unwrap_or("the program");
    let all = count(program.claims.len() as u64, "claim", "claims");
    let broken: Vec<_> = program.broken().collect();
    match broken.len() {
        0 => text.heading(&format!("{name}: passed ({all})")),
        broken => text.heading(&format!("{name}: FAILED ({broken} of {all})")),
    }
    for claim in broken {
        broken_claim(text, claim);
    }
}

// Writing to a `Text` does not fail.
fn broken_claim(text: &mut Text, claim: &CheckedClaim) {
    text.hanging(&format!("  line {}: ", claim.line), &claim.claim);
    for differs in &claim.differs {
        let found = match (&differs.found, differs.bytes) {
            (_, Some(bytes)) => format!("found {}", InUnits(bytes)),
            (Some(found), None) => format!("found {found}"),
            (None, _) if claim.names.is_empty() => "not known".to_owned(),
            (None, _) => "found none".to_owned(),
        };
        text.hanging("      ", &format!("{}: expected {}, {found}", differs.field, differs.expected));
    }
    for instead in claim.instead.iter().take(MOST) {
        text.hanging("      ", &in_a_line(instead));
    }
    let left = claim.instead.len().saturating_sub(MOST) + claim.more;
    if left > 0 {
        let _ = writeln!(text, "      … and {left} more");
    }
    if !claim.names.is_empty() {
        let what =
            if claim.state == ClaimState::Unknown { "nothing is there; the program has" } else { "the program has" };
        text.hanging("      ", &format!("{what} {}", claim.names.join(", ")));
    }
}

fn in_a_line(instead: &Instead) -> String {
    let mut words = vec![format!("%{} = {} {}", instead.name, instead.shape, instead.opcode)];
    words.extend(instead.bytes.map(|bytes| InUnits(bytes).to_string()));
    words.extend(instead.trips.map(|trips| format!("{trips} times")));
    words.extend(instead.source.clone());
    words.extend(instead.op_name.as_ref().filter(|_| instead.source.is_none()).cloned());
    words.extend(instead.because.as_ref().map(ToString::to_string));
    words.join(", ")
}

/// The file of the claims that hold, with a first line that says what to do with it.
#[must_use]
pub fn claims_file(claims: &Claims) -> String {
    format!(
        "# What holds today. Keep what must hold; `xla-shape guard expect FILE PROGRAM` fails when it no longer does.\n\n{claims}"
    )
}

// Writing to a `Text` does not fail.
fn write(text: &mut Text, check: &Check) {
    let name = check.device.as_deref().or(check.module.as_deref()).unwrap_or("the program");
    let state = if check.passed { "passed" } else { "FAILED" };
    text.heading(&format!("{name}: {state}; limits: {}", joined(check)));
    for warning in &check.warnings {
        text.paragraph(format!("warning: {warning}"));
    }
    for exceeded in &check.exceeded {
        text.paragraph(format!("  more than allowed: {exceeded}"));
    }
    let same_copies = check.copies_added.is_empty() && check.copies_removed.is_empty();
    if check.measures.is_empty() && check.arrays.is_empty() && same_copies {
        text.paragraph("  nothing changed".to_owned());
    }
    for found in &check.measures {
        let [before, after] = [found.before, found.after].map(|number| in_words(found.measure, number));
        let percent = change_in_percent(found.before.map(Quantity::number), found.after.map(Quantity::number));
        let percent = percent.map_or(String::new(), |percent| format!(" ({percent})"));
        let _ = writeln!(text, "  {:11} {before} -> {after}{percent}: {}", found.measure.name(), found.cause);
    }
    for (change, copies) in [("added", &check.copies_added), ("removed", &check.copies_removed)] {
        for copy in copies.iter().take(MOST) {
            let amount = copy.amount.map_or(String::new(), |amount| format!("  {amount}"));
            let source = copy.source.as_ref().map_or(String::new(), |source| format!("  {source}"));
            let _ = writeln!(text, "  copy {change}{amount}{source}: {} -> {}", copy.from, copy.to);
            text.hanging("      ", &copy.because.to_string());
            if let Some(remedy) = &copy.remedy {
                text.hanging("      ", &format!("to remove it: {remedy}"));
            }
        }
        more(text, copies.len());
    }
    for array in check.arrays.iter().take(MOST) {
        text.hanging(
            "  ",
            &format!(
                "{}: {} -> {}",
                array.array,
                form(&array.before, &array.sharding_before),
                form(&array.after, &array.sharding)
            ),
        );
        let (what, command) = what_it_takes(array);
        text.hanging("      ", what);
        if let Some(command) = command {
            let _ = writeln!(text, "      {command}");
        }
    }
    more(text, check.arrays.len());
    for line in check.lines.iter().take(MOST) {
        let source = line.source.as_deref().unwrap_or("(no source line)");
        let _ = writeln!(text, "  {source}: {}", change(line.before, line.after));
    }
    more(text, check.lines.len());
    time_lines(text, &check.times);
    if !check.passed {
        text.paragraph(format!("To accept the change: {}", check.accept));
    }
}

/// The shape of an array, and how it is divided.
fn form(shape: &str, sharding: &Option<String>) -> String {
    sharding.as_ref().map_or_else(|| shape.to_owned(), |sharding| format!("{shape} {sharding}"))
}

/// What to do with data written for the recorded program, and the command that does it.
fn what_it_takes(array: &ChangedArray) -> (&'static str, Option<String>) {
    match (array.change, array.same_bytes) {
        (ArrayChange::Array, _) => ("another array: data of the record do not fit", None),
        (ArrayChange::Sharding, _) => match (&array.whole, &array.sharding_before, &array.sharding) {
            (Some(whole), Some(before), Some(now)) => {
                let words = ["xla-shape", "reshard", whole, "--from", before, "--to", now];
                ("data of the record must move between devices; what moves:", Some(shell_line(words)))
            }
            _ => ("data of the record must move between devices: `xla-shape reshard` says what moves", None),
        },
        (ArrayChange::MemorySpace, true) => ("the same bytes, in another memory", None),
        (_, true) => ("the same bytes: data of the record fit", None),
        (_, false) => {
            let words = ["xla-shape", "relayout", "IN", "--from", &array.before, "--to", &array.after, "-o", "OUT"];
            ("data of the record must be copied:", Some(shell_line(words)))
        }
    }
}

/// What a check requires: its limits, and perhaps the same layouts.
fn joined(check: &Check) -> String {
    let layouts = check.same_layouts.then(|| "the same layouts".to_owned());
    check.limits.iter().map(Limit::to_string).chain(layouts).collect::<Vec<_>>().join(", ")
}

/// A script for a shell that copies the data of arguments whose layouts changed, from files in one folder into files of another. If
/// an argument needs more than a copy, the script has a comment instead.
///
/// ```
/// use xla_shape_answers::guard::{Check, Checks, Record, Recorded};
/// use xla_shape_hlo::Module;
///
/// let program = |layout: &str| -> Result<Recorded, Box<dyn std::error::Error>> {
///     let text = format!("HloModule m\nENTRY e {{ ROOT p = s8[64,256]{{{layout}}} parameter(0), metadata={{op_name=\"kv['k']\"}} }}");
///     Ok(Recorded::new(&Module::parse(&text)?, Some(16384), Some("v5e:2x2"), None)?)
/// };
/// let lock = Record::new(vec![program("1,0:T(8,128)(4,1)")?]).locking();
/// let check = Check::new(&lock, &program("1,0:T(32,128)(4,1)")?, &[], false, "accept")?;
/// let plan = xla_shape_render::guard::plan(&Checks::new(vec![check]));
/// let copy = "xla-shape relayout \"$old/kv_k\" --from 's8[64,256]{1,0:T(8,128)(4,1)}' --to 's8[64,256]{1,0:T(32,128)(4,1)}' -o \"$new/kv_k\"";
/// assert!(plan.lines().any(|line| line == copy), "{plan}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn plan(checks: &Checks) -> String {
    let mut lines = vec![
        "#!/bin/sh".to_owned(),
        "# Copies data of the recorded program into the layouts that the program has now.".to_owned(),
        "# The first argument is a folder with a file for each argument of the program that changed: the bytes of one device, as they are in its memory."
            .to_owned(),
        "# The second one is the folder to write into. Of several devices, each has a folder in both. Arguments that are not named here stay as they are.".to_owned(),
        "set -eu".to_owned(),
        "old=$1 new=$2".to_owned(),
    ];
    let (mut files, mut is_whole) = (BTreeSet::new(), true);
    for check in &checks.programs {
        if let Some(device) = &check.device {
            lines.push(format!("# {}", in_comment(device)));
        }
        for warning in check.warnings.iter().filter(|warning| matches!(warning, Warning::OtherArrays { .. })) {
            lines.push(format!("# {}", in_comment(&warning.to_string())));
            is_whole = false;
        }
        // If there are several devices, each has folders of its own.
        let folder = check.device.as_ref().filter(|_| checks.programs.len() > 1);
        let folder = folder.map_or_else(String::new, |device| file_name(device) + "/");
        lines.push(format!("mkdir -p \"$new/{folder}\""));
        for array in &check.arrays {
            let name = in_comment(&array.array);
            let Some(argument) = &array.argument else {
                lines.push(format!("# {name}: now {}", in_comment(&form(&array.after, &array.sharding))));
                continue;
            };
            let (what, command) = what_it_takes(array);
            lines.push(format!("# {name}: {what}"));
            if matches!(array.change, ArrayChange::Array | ArrayChange::Sharding) {
                lines.extend(command.map(|command| format!("#   {}", in_comment(&command))));
                is_whole = false;
                continue;
            }
            let mut file = folder.clone() + &file_name(argument);
            while !files.insert(file.clone()) {
                file.push('_');
            }
            let [from, to] = [&array.before, &array.after].map(|shape| shell_line([shape.as_str()]));
            lines.push(match array.same_bytes {
                true => format!("cp \"$old/{file}\" \"$new/{file}\""),
                false => format!("xla-shape relayout \"$old/{file}\" --from {from} --to {to} -o \"$new/{file}\""),
            });
        }
    }
    if !is_whole {
        lines
            .push("echo 'not all was moved: the comments of this script say what else changed' >&2; exit 1".to_owned());
    }
    lines.join("\n") + "\n"
}

/// A file name for an argument. It has only characters that mean themselves in a shell and in all file systems.
fn file_name(name: &str) -> String {
    let words = name.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-')));
    let words = words.map(|word| word.trim_start_matches(['.', '-'])).filter(|word| !word.is_empty());
    Some(words.collect::<Vec<_>>().join("_")).filter(|name| !name.is_empty()).unwrap_or_else(|| "argument".to_owned())
}

/// A text for a comment of one line: without line breaks, which would end the comment.
fn in_comment(text: &str) -> String {
    text.replace(char::is_control, " ")
}

fn more(text: &mut Text, length: usize) {
    if let Some(left) = length.checked_sub(MOST).filter(|&left| left > 0) {
        let _ = writeln!(text, "  … and {left} more; --format json has all");
    }
}

/// The answer as Markdown, such as for a comment of a pull request.
#[must_use]
pub fn markdown(checks: &Checks) -> String {
    let mut lines = Vec::new();
    for check in &checks.programs {
        let state = if check.passed { "passed" } else { "**failed**" };
        lines.push(format!("### {}: {state}", markdown::code(check.device.as_deref().unwrap_or("program"))));
        let exceeded = check.exceeded.iter().map(ToString::to_string);
        let notes = exceeded.chain(check.warnings.iter().map(ToString::to_string));
        lines.extend(notes.flat_map(|note| [String::new(), format!("- {}", markdown::plain(&note))]));
        let rows = check.measures.iter().map(|found| {
            let [before, after] = [found.before, found.after].map(|number| in_words(found.measure, number));
            let percent = change_in_percent(found.before.map(Quantity::number), found.after.map(Quantity::number))
                .unwrap_or_default();
            vec![found.measure.name().to_owned(), before, after, percent, found.cause.to_string()]
        });
        markdown::table(&mut lines, "What changed", &["", "before", "after", "change", "cause"], rows.collect());
        let of_lines = check.lines.iter().flat_map(|line| [line.before, line.after]);
        let mut amounts =
            check.copies_added.iter().chain(&check.copies_removed).map(|copy| copy.amount).chain(of_lines);
        let is_time = amounts.any(|amount| amount.and_then(Amount::time).is_some());
        let unit = if is_time { "time" } else { "cycles" };
        let copies = [("added", &check.copies_added), ("removed", &check.copies_removed)];
        let rows = copies.iter().flat_map(|&(change, copies)| {
            copies.iter().map(move |copy| {
                let optional = |text: &Option<String>| text.as_deref().map(markdown::code).unwrap_or_default();
                let amount = copy.amount.map_or_else(String::new, Amount::in_column);
                let remedy = copy.remedy.as_ref().map(|remedy| markdown::plain(&remedy.to_string()));
                vec![
                    change.to_owned(),
                    markdown::code(&format!("{} -> {}", copy.from, copy.to)),
                    amount,
                    optional(&copy.source),
                    markdown::plain(&copy.because.to_string()),
                    remedy.unwrap_or_default(),
                ]
            })
        });
        markdown::table(&mut lines, "Copies", &["change", "copy", unit, "source", "why", "remedy"], rows.collect());
        let rows = check.arrays.iter().map(|array| {
            let [before, after] = [form(&array.before, &array.sharding_before), form(&array.after, &array.sharding)];
            let (what, command) = what_it_takes(array);
            let command = command.map(|command| format!(" {}", markdown::code(&command)));
            let what = markdown::plain(what) + &command.unwrap_or_default();
            vec![markdown::plain(&array.array), markdown::code(&before), markdown::code(&after), what]
        });
        markdown::table(
            &mut lines,
            "Arguments and results that are not kept as they were",
            &["array", "before", "after", "data of the record"],
            rows.collect(),
        );
        let number = |amount: Option<Amount>| amount.map_or_else(String::new, Amount::in_column);
        let rows = check.lines.iter().map(|line| {
            let source = line.source.as_deref().unwrap_or("(no source line)");
            vec![markdown::code(source), number(line.before), number(line.after)]
        });
        let heading = if is_time { "Time by source line" } else { "Cycles by source line" };
        markdown::table(&mut lines, heading, &["line", "before", "after"], rows.collect());
        markdown::table(&mut lines, times::HEADING, &times::COLUMNS, times::rows(&check.times));
        if !check.passed {
            lines.extend([String::new(), format!("To accept the change: {}", markdown::code(&check.accept))]);
        }
        lines.push(String::new());
    }
    lines.join("\n") + "\n"
}
