//! Compares programs with their records.

use super::record::{Record, Recorded, RecordedCopy, in_words};
use crate::hlo::{Limit, Measure, OtherDevices, Reason};
use crate::words::{Grouped, change_in_percent, count, markdown};
use crate::{Show, Text};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write as _;
use xla_shape_answers::{Answer, answer_line};

/// The text lists at most this many copies, and source lines.
const MOST: usize = 10;

/// The changes of all programs since they were recorded.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Checks {
    /// One for each device.
    programs: Vec<Check>,
}

/// The changes of one program since it was recorded.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Check {
    /// The device, such as "v5e:2x2"; null if nobody named it.
    device: Option<String>,
    /// The name of the module; null if it has none.
    module: Option<String>,
    /// What the compiler of the record said its version is; null if it is not known.
    compiler_before: Option<String>,
    /// What the compiler says its version is now; null if it is not known.
    compiler: Option<String>,
    /// Whether no limit is exceeded.
    passed: bool,
    /// The limits.
    limits: Vec<String>,
    /// The limits that are exceeded, as sentences.
    exceeded: Vec<String>,
    /// What makes the comparison doubtful, as sentences.
    warnings: Vec<String>,
    /// The numbers that differ.
    measures: Vec<ChangedMeasure>,
    /// The instructions that only change a layout and that the record does not have.
    copies_added: Vec<ChangedCopy>,
    /// Those of the record that are gone.
    copies_removed: Vec<ChangedCopy>,
    /// The source lines whose cycles differ, the largest difference first.
    lines: Vec<ChangedLine>,
    /// The command that accepts the changes.
    accept: String,
}

/// A number.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct ChangedMeasure {
    /// Which number.
    name: &'static str,
    /// The number of the record; null if it is not known.
    before: Option<u64>,
    /// The number now; null if it is not known.
    after: Option<u64>,
    /// Why it is not the same.
    cause: Reason,
    #[serde(skip)]
    measure: Measure,
}

/// A copy.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct ChangedCopy {
    /// The opcode.
    opcode: String,
    /// The shape before.
    from: String,
    /// The shape after.
    to: String,
    /// The cycles of all runs; null if they are not known.
    cycles: Option<u64>,
    /// Why it is not the same.
    cause: Reason,
    /// Why the copy is there, as a sentence.
    because: String,
    /// What would remove it; null if nothing is known.
    remedy: Option<String>,
    /// The name of the operation in the user's program; null if the module has none.
    op_name: Option<String>,
    /// The file and the line, such as "train.py:43"; null if the module has none.
    source: Option<String>,
}

/// A source line.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct ChangedLine {
    /// The file and the line; null for instructions without one.
    source: Option<String>,
    /// The cycles of the record; null if the line has none.
    before: Option<u64>,
    /// The cycles now; null if the line has none.
    after: Option<u64>,
}

/// Why a program is not compared with a record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CheckError {
    /// The record has no program for the device: its name, and the devices of the record.
    NoDevice(String, Vec<String>),
    /// The program is divided among a different number of devices.
    Devices(OtherDevices),
    /// A text of the record or of the program is no shape: where, and why.
    Shape(String),
    /// No limit is given, and the record has no number of the usual ones.
    NoLimit,
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDevice(device, devices) => {
                write!(f, "the record has no program for {device}; it has {}", devices.join(", "))
            }
            Self::Devices(error) => error.fmt(f),
            Self::Shape(error) => f.write_str(error),
            Self::NoLimit => {
                let names = Limit::USUAL.map(|limit| limit.measure.name()).join(" nor ");
                write!(f, "the record knows neither {names}, so no limit can be checked")
            }
        }
    }
}

impl std::error::Error for CheckError {}

impl Check {
    /// Compares a program with the record. Without `limits`, the usual ones count ([`Limit::USUAL`]), except for numbers that the record does not
    /// know: a warning names each. A program without the name of a device is compared with the only program of the record.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    /// use xla_shape_render::guard::{Check, Checks, Record, Recorded};
    ///
    /// let module = Module::parse("HloModule m\nENTRY e { ROOT p = f32[8]{0} parameter(0) }")?;
    /// let before = Record::new(vec![Recorded::new(&module, Some(100), None, None)?]);
    /// let now = Recorded::new(&module, Some(102), None, None)?;
    /// let checks = Checks::new(vec![Check::new(&before, &now, &[], false, "accept")?]);
    /// assert!(!checks.passed());
    /// let checks = Checks::new(vec![Check::new(&before, &now, &["memory>2".parse()?], false, "accept")?]);
    /// assert!(checks.passed());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the record has no program to compare with, or one for another number of devices unless `other_devices`; if a shape
    /// cannot be read; if no limit can be checked.
    pub fn new(
        record: &Record,
        now: &Recorded,
        limits: &[Limit],
        other_devices: bool,
        accept: &str,
    ) -> Result<Self, CheckError> {
        let same = record.programs().iter().find(|program| program.device == now.device);
        let only = || match record.programs() {
            [only] if now.device.is_none() || only.device.is_none() => Some(only),
            _ => None,
        };
        let Some(before) = same.or_else(only) else {
            let devices = record.programs().iter().map(|program| program.device_name().to_owned());
            return Err(CheckError::NoDevice(now.device_name().to_owned(), devices.collect()));
        };
        let read = |of: &str, program: &Recorded| {
            program.signature().map_err(|error| CheckError::Shape(format!("{of}: {error}")))
        };
        let (first, second) = (read("the record", before)?, read("the program", now)?);
        if !other_devices {
            OtherDevices::compare(&first, &second).map_err(CheckError::Devices)?;
        }
        let (computing, all) = (before.computing == now.computing, before.operations == now.operations);
        let cause = first.reason(&second, computing, all);
        let changed = |of: Measure| ChangedMeasure {
            name: of.name(),
            before: before.measure(of),
            after: now.measure(of),
            cause,
            measure: of,
        };
        let all = Measure::ALL.map(changed);
        let (limits, unchecked): (Vec<Limit>, Vec<Limit>) = match limits {
            [] => Limit::USUAL.into_iter().partition(|limit| before.measure(limit.measure).is_some()),
            _ => (limits.to_vec(), Vec::new()),
        };
        if limits.is_empty() {
            return Err(CheckError::NoLimit);
        }
        let unchecked = unchecked.into_iter().map(|limit| {
            format!("`{limit}` is not checked, because the record does not know the {}", limit.measure.name())
        });
        let exceeded = limits.iter().filter_map(|limit| {
            let found = all.iter().find(|found| found.measure == limit.measure)?;
            limit.complaint([found.before, found.after], None, cause)
        });
        let exceeded: Vec<String> = exceeded.collect();
        let other_compiler = before.compiler.as_ref().zip(now.compiler.as_ref()).filter(|(before, now)| before != now);
        let warning = other_compiler.map(|(before, now)| {
            format!(
                "another compiler made the record: `{before}`, now `{now}`; the compiler may be the cause of a difference"
            )
        });
        let [copies_removed, copies_added] = copies([before, now], cause);
        Ok(Self {
            device: now.device.clone().or_else(|| before.device.clone()),
            module: now.module.clone(),
            compiler_before: before.compiler.clone(),
            compiler: now.compiler.clone(),
            passed: exceeded.is_empty(),
            limits: limits.iter().map(ToString::to_string).collect(),
            exceeded,
            warnings: warning.into_iter().chain(unchecked).collect(),
            measures: all.into_iter().filter(|found| found.before != found.after).collect(),
            copies_added,
            copies_removed,
            lines: lines([before, now]),
            accept: accept.to_owned(),
        })
    }
}

/// The copies that only the first program has, and those that only the second has.
///
/// Copies are paired by their layouts, first those of the same operation: a function that is renamed, or moved to another line, has the copies
/// that it had.
fn copies(programs: [&Recorded; 2], cause: Reason) -> [Vec<ChangedCopy>; 2] {
    let operation = |copy: &RecordedCopy| copy.op_name.clone();
    let nothing = |_: &RecordedCopy| None;
    let all = programs.map(|program| program.copies.iter().collect());
    alone(alone(all, operation), nothing).map(|copies| {
        let mut copies: Vec<_> = copies.into_iter().map(|copy| ChangedCopy::new(copy, cause)).collect();
        copies.sort_by_key(|copy| std::cmp::Reverse(copy.cycles));
        copies
    })
}

/// The copies without one of the same layouts and the same name on the other side.
fn alone(copies: [Vec<&RecordedCopy>; 2], name: impl Fn(&RecordedCopy) -> Option<String>) -> [Vec<&RecordedCopy>; 2] {
    let key = |copy: &RecordedCopy| (name(copy), copy.from.clone(), copy.to.clone());
    let mut more = BTreeMap::<_, i64>::new();
    for (copies, sign) in copies.iter().zip([1, -1]) {
        copies.iter().for_each(|copy| *more.entry(key(copy)).or_default() += sign);
    }
    let [first, second] = copies;
    [(first, 1), (second, -1)].map(|(mut copies, sign)| {
        copies.retain(|copy| match more.get_mut(&key(copy)) {
            Some(count) if *count * sign > 0 => {
                *count -= sign;
                true
            }
            _ => false,
        });
        copies
    })
}

impl ChangedCopy {
    fn new(copy: &RecordedCopy, cause: Reason) -> Self {
        Self {
            opcode: copy.opcode.clone(),
            from: copy.from.clone(),
            to: copy.to.clone(),
            cycles: copy.cycles,
            cause,
            because: copy.cause.clone(),
            remedy: copy.remedy.clone(),
            op_name: copy.op_name.clone(),
            source: copy.source.clone(),
        }
    }
}

/// The source lines whose cycles differ. A line that only moved within its file is none of them.
fn lines(programs: [&Recorded; 2]) -> Vec<ChangedLine> {
    let mut all = BTreeMap::<Option<&str>, [Option<u64>; 2]>::new();
    for (side, program) in programs.into_iter().enumerate() {
        for line in &program.lines {
            all.entry(line.source.as_deref()).or_default()[side] = Some(line.cycles);
        }
    }
    all.retain(|_, [before, after]| before != after);
    let file = |source: Option<&str>| source?.rsplit_once(':').map(|(file, _)| file.to_owned());
    let only = |side: usize| {
        let only = all.iter().filter(move |(_, cycles)| cycles[1 - side].is_none());
        only.map(move |(&source, cycles)| (source, file(source), cycles[side])).collect::<Vec<_>>()
    };
    let (before, mut after) = (only(0), only(1));
    for (source, file, cycles) in before {
        let moved = after.iter().position(|(_, other, now)| file.is_some() && *other == file && *now == cycles);
        if let Some(moved) = moved {
            all.remove(&source);
            all.remove(&after.remove(moved).0);
        }
    }
    let changed = all.into_iter();
    let line = |(source, [before, after]): (Option<&str>, [Option<u64>; 2])| ChangedLine {
        source: source.map(str::to_owned),
        before,
        after,
    };
    let mut lines: Vec<_> = changed.map(line).collect();
    lines.sort_by_key(|line| std::cmp::Reverse(line.before.unwrap_or(0).abs_diff(line.after.unwrap_or(0))));
    lines
}

impl Checks {
    /// The answer about several programs.
    #[must_use]
    pub const fn new(programs: Vec<Check>) -> Self {
        Self { programs }
    }

    /// Whether every program passed.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.programs.iter().all(|check| check.passed)
    }

    /// The answer as Markdown, such as for a comment of a pull request.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut lines = Vec::new();
        for check in &self.programs {
            let state = if check.passed { "passed" } else { "**failed**" };
            lines.push(format!("### {}: {state}", markdown::code(check.device.as_deref().unwrap_or("program"))));
            let notes = check.exceeded.iter().chain(&check.warnings);
            lines.extend(notes.flat_map(|note| [String::new(), format!("- {}", markdown::plain(note))]));
            let rows = check.measures.iter().map(|found| {
                let [before, after] = [found.before, found.after].map(|number| in_words(found.measure, number));
                let percent = change_in_percent(found.before, found.after).unwrap_or_default();
                vec![found.name.to_owned(), before, after, percent, found.cause.to_string()]
            });
            markdown::table(&mut lines, "What changed", &["", "before", "after", "change", "cause"], rows.collect());
            let copies = [("added", &check.copies_added), ("removed", &check.copies_removed)];
            let rows = copies.iter().flat_map(|(change, copies)| {
                copies.iter().map(|copy| {
                    let optional = |text: &Option<String>| text.as_deref().map(markdown::code).unwrap_or_default();
                    let cycles = copy.cycles.map_or(String::new(), |cycles| Grouped(cycles).to_string());
                    let remedy = copy.remedy.as_deref().filter(|_| *change == "added").map(markdown::plain);
                    vec![
                        (*change).to_owned(),
                        markdown::code(&format!("{} -> {}", copy.from, copy.to)),
                        cycles,
                        optional(&copy.source),
                        markdown::plain(&copy.because),
                        remedy.unwrap_or_default(),
                    ]
                })
            });
            markdown::table(
                &mut lines,
                "Copies",
                &["change", "copy", "cycles", "source", "why", "remedy"],
                rows.collect(),
            );
            let number = |number: Option<u64>| number.map_or(String::new(), |number| Grouped(number).to_string());
            let rows = check.lines.iter().map(|line| {
                let source = line.source.as_deref().unwrap_or("(no source line)");
                vec![markdown::code(source), number(line.before), number(line.after)]
            });
            markdown::table(&mut lines, "Cycles by source line", &["line", "before", "after"], rows.collect());
            if !check.passed {
                lines.extend([String::new(), format!("To accept the change: {}", markdown::code(&check.accept))]);
            }
            lines.push(String::new());
        }
        lines.join("\n") + "\n"
    }
}

impl Answer for Checks {
    const SCHEMA: &'static str = "xla-shape/guard-check/1";

    fn json(&self) -> String {
        self.programs.iter().map(|check| answer_line(Self::SCHEMA, check)).collect()
    }
}

impl Show for Checks {
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        for check in &self.programs {
            check.write(&mut text);
        }
        text
    }
}

impl Check {
    // Writing to a `Text` does not fail.
    fn write(&self, text: &mut Text) {
        let name = self.device.as_deref().or(self.module.as_deref()).unwrap_or("the program");
        let state = if self.passed { "passed" } else { "FAILED" };
        text.heading(&format!("{name}: {state} ({})", self.limits.join(", ")));
        for warning in &self.warnings {
            text.paragraph(format!("warning: {warning}"));
        }
        for exceeded in &self.exceeded {
            text.paragraph(format!("  more than allowed: {exceeded}"));
        }
        if self.measures.is_empty() && self.copies_added.is_empty() && self.copies_removed.is_empty() {
            text.paragraph("  nothing changed".to_owned());
        }
        for found in &self.measures {
            let [before, after] = [found.before, found.after].map(|number| in_words(found.measure, number));
            let percent = change_in_percent(found.before, found.after);
            let percent = percent.map_or(String::new(), |percent| format!(" ({percent})"));
            let _ = writeln!(text, "  {:11} {before} -> {after}{percent}: {}", found.name, found.cause);
        }
        for (change, copies) in [("copy added", &self.copies_added), ("copy removed", &self.copies_removed)] {
            for copy in copies.iter().take(MOST) {
                let cycles =
                    copy.cycles.map_or(String::new(), |cycles| format!("  {}", count(cycles, "cycle", "cycles")));
                let source = copy.source.as_ref().map_or(String::new(), |source| format!("  {source}"));
                let _ = writeln!(text, "  {change}{cycles}{source}: {} -> {}", copy.from, copy.to);
                text.hanging("      ", &copy.because);
                if let Some(remedy) = copy.remedy.as_ref().filter(|_| change == "copy added") {
                    text.hanging("      ", &format!("to remove it: {remedy}"));
                }
            }
            more(text, copies.len());
        }
        for line in self.lines.iter().take(MOST) {
            let [before, after] =
                [line.before, line.after].map(|cycles| in_words(Measure::Cycles, Some(cycles.unwrap_or(0))));
            let source = line.source.as_deref().unwrap_or("(no source line)");
            let _ = writeln!(text, "  {source}: {before} -> {after} cycles");
        }
        more(text, self.lines.len());
        if !self.passed {
            text.paragraph(format!("To accept the change: {}", self.accept));
        }
    }
}

fn more(text: &mut Text, length: usize) {
    if let Some(left) = length.checked_sub(MOST).filter(|&left| left > 0) {
        let _ = writeln!(text, "  … and {left} more; --format json has all");
    }
}
