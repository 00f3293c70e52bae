//! Compares programs with their records.

use super::arrays::ChangedArray;
use super::record::{Noted, Record, Recorded, RecordedCopy, RecordedTimes};
use crate::amount;
use crate::cost::{Amount, Cause, Remedy, Seconds, Spread};
use crate::digest::{self, Digest};
use crate::hlo::times::{Span, TimeDifference};
use crate::hlo::{Exceeded, Limit, Measure, OtherDevices, Quantity, Reason};
use crate::numbers::count;
use crate::{Answer, answer_line};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use xla_shape_core::sorting::sort_by_key;

/// The changes of all programs since they were recorded.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Checks {
    /// One for each device.
    pub programs: Vec<Check>,
}

/// The changes of one program since it was recorded.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Check {
    /// The device, such as "v5e:2x2"; null if nobody named it.
    pub device: Option<String>,
    /// The name of the module; null if it has none.
    pub module: Option<String>,
    /// What the compiler of the record said its version is; null if it is not known.
    pub compiler_before: Option<String>,
    /// What the compiler says its version is now; null if it is not known.
    pub compiler: Option<String>,
    /// Whether no limit is exceeded.
    pub passed: bool,
    /// The limits.
    pub limits: Vec<Limit>,
    /// The limits that are exceeded, as sentences.
    pub exceeded: Vec<Exceeded>,
    /// What makes the comparison doubtful, as sentences.
    pub warnings: Vec<Warning>,
    /// The numbers that differ.
    pub measures: Vec<ChangedMeasure>,
    /// The instructions that only change a layout and that the record does not have.
    pub copies_added: Vec<ChangedCopy>,
    /// The copies of the record that the program no longer has.
    pub copies_removed: Vec<ChangedCopy>,
    /// Whether the program must keep arguments and results as the record says.
    pub same_layouts: bool,
    /// The arguments and results that are not kept as the record says.
    pub arrays: Vec<ChangedArray>,
    /// The source lines whose costs differ, the largest difference first.
    pub lines: Vec<ChangedLine>,
    /// For two profiles: the measured times of a run and of each source line in it, the largest difference first; empty for anything else.
    pub times: Vec<TimeDifference>,
    /// The command that accepts the changes.
    pub accept: String,
}

/// What makes a comparison doubtful. Its text, which is its JSON, is a sentence.
///
/// ```
/// use xla_shape_answers::guard::{Check, Record, Recorded, Warning};
/// use xla_shape_hlo::Module;
///
/// let module = Module::parse("HloModule m\nENTRY e { ROOT p = f32[8]{0} parameter(0) }")?;
/// let record = Record::new(vec![Recorded::new(&module, Some(32), None, None)?]);
/// let check = Check::new(&record, &record.programs[0], &[], false, "accept")?;
/// assert_eq!(check.warnings, [Warning::Unchecked("cycles>2%".parse()?)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, JsonSchema)]
#[schemars(with = "String", inline)]
#[non_exhaustive]
pub enum Warning {
    /// Another compiler made the record. The versions are as each compiler reports its own.
    OtherCompiler {
        /// The version in the record.
        before: String,
        /// The version now.
        now: String,
    },
    /// A usual limit is not checked, because the record does not have the number.
    Unchecked(Limit),
    /// The measured time grew by more than the limit allows, but the runs differ so much that this may be chance.
    Undecided {
        /// The limit.
        limit: Limit,
        /// The times of the record.
        before: Spread,
        /// The present times.
        now: Spread,
    },
    /// The arguments or the results are not those of the record, so their layouts are not compared.
    OtherArrays {
        /// Which.
        side: Side,
        /// How many arrays the record has.
        before: usize,
        /// How many the program has now.
        now: usize,
    },
}

words! {
    /// The side of a program: what a caller passes, or what it returns.
    ///
    /// ```
    /// use xla_shape_answers::guard::{Check, Record, Recorded, Side, Warning};
    /// use xla_shape_hlo::Module;
    ///
    /// let record = Module::parse("HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }")?;
    /// let record = Record::new(vec![Recorded::new(&record, None, None, None)?]);
    /// let now = Module::parse("HloModule m\nENTRY e { p = f32[8] parameter(0) ROOT t = (f32[8], f32[8]) tuple(p, p) }")?;
    /// let check = Check::new(&record, &Recorded::new(&now, None, None, None)?, &[], false, "accept")?;
    /// assert!(check.warnings.contains(&Warning::OtherArrays { side: Side::Results, before: 1, now: 2 }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub enum Side {
        /// The arrays of the arguments.
        Arguments = "arguments",
        /// The arrays of the results.
        Results = "results",
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherCompiler { before, now } => write!(
                f,
                "another compiler made the record: `{before}`, now `{now}`; the compiler may be the cause of a difference"
            ),
            Self::Unchecked(limit) => {
                write!(f, "`{limit}` is not checked, because the record does not know the {}", limit.measure.name())
            }
            Self::OtherArrays { side, before, now } => {
                let arrays = |number: &usize| count(*number as u64, "array", "arrays");
                let (old, new) = (arrays(before), arrays(now));
                let how = if before == now { " in other tuples" } else { "" };
                write!(f, "the layouts of the {side} are not compared: the record has {old}, the program {new}{how}")
            }
            Self::Undecided { limit, before, now } => {
                let time = Seconds::from_picoseconds;
                let times = |spread: &Spread| {
                    let [lower, upper] =
                        [spread.lower_quartile_picoseconds, spread.upper_quartile_picoseconds].map(time);
                    format!("{} ({lower} to {upper})", time(spread.median_picoseconds))
                };
                let (before, now) = (times(before), times(now));
                write!(
                    f,
                    "`{limit}` is not decided: {before} before, {now} now; the spread of the runs is too wide, so measure more runs, or on a quieter machine"
                )
            }
        }
    }
}

impl Serialize for Warning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A number.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ChangedMeasure {
    /// Which number.
    #[serde(rename = "name")]
    pub measure: Measure,
    /// The number in the record (a time is in seconds); null if it is not known.
    pub before: Option<Quantity>,
    /// The number now; null if it is not known.
    pub after: Option<Quantity>,
    /// Why the number differs.
    pub cause: Reason,
}

/// A copy.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ChangedCopy {
    /// The opcode.
    pub opcode: String,
    /// The shape before.
    pub from: String,
    /// The shape after.
    pub to: String,
    /// The cost of all runs; `None` if it is not known.
    #[serde(flatten, serialize_with = "amount::all_runs")]
    #[schemars(with = "amount::AllRuns")]
    pub amount: Option<Amount>,
    /// Why only one of the programs has the copy.
    pub cause: Reason,
    /// Why the copy is there, as a sentence.
    pub because: Noted<Cause>,
    /// What would remove it; null if nothing is known, and for a copy that is gone.
    pub remedy: Option<Noted<Remedy>>,
    /// The name of the operation in the user's program; null if the module has none.
    pub op_name: Option<String>,
    /// The file and the line, such as "train.py:43"; null if the module has none.
    pub source: Option<String>,
}

/// A source line.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ChangedLine {
    /// The file and the line; null for instructions without one.
    pub source: Option<String>,
    /// The cost of the line in the record; `None` if it has no figure.
    #[serde(flatten, serialize_with = "amount::before")]
    #[schemars(with = "amount::Before")]
    pub before: Option<Amount>,
    /// The cost now; `None` if it has no figure.
    #[serde(flatten, serialize_with = "amount::after")]
    #[schemars(with = "amount::After")]
    pub after: Option<Amount>,
}

/// Why a program is not compared with a record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CheckError {
    /// The record has no program for the device: the name of the device, and the devices of the record.
    NoDevice(String, Vec<String>),
    /// The program is divided among a different number of devices.
    Devices(OtherDevices),
    /// A text of the record or of the program is not a shape: where, and why.
    Shape(String),
    /// No limit is given, and the record has none of the numbers that the usual limits are for.
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
    /// Compares a program with the record. Without `limits`, the usual ones apply ([`Limit::USUAL`]), except for numbers that the record does not
    /// have: a warning names each of these. A program without the name of a device is compared with the only program of the record.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    /// use xla_shape_answers::guard::{Check, Checks, Record, Recorded};
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
    /// The answer about a program with an additional copy:
    ///
    /// ```
    /// use xla_shape_answers::cost::Amount;
    /// use xla_shape_answers::guard::{Check, CheckError, Record, Recorded};
    /// use xla_shape_answers::hlo::{Measure, Quantity};
    /// use xla_shape_hlo::Module;
    ///
    /// let program = |end: &str| Module::parse(&format!("HloModule m\nENTRY e {{ p = f32[8,128]{{1,0}} parameter(0) {end} }}"));
    /// let before = program("ROOT n = f32[8,128]{1,0} negate(p)")?;
    /// let after = program(
    ///     r#"c = f32[8,128]{0,1} copy(p), metadata={source_file="train.py" source_line=7},
    ///       backend_config={"window_config":{"estimated_cycles":"1200"}}
    ///     ROOT n = f32[8,128]{0,1} negate(c)"#,
    /// )?;
    /// let record = Record::new(vec![Recorded::new(&before, Some(8192), Some("v5e"), None)?]);
    /// let now = Recorded::new(&after, Some(8192), Some("v5e"), None)?;
    /// assert_eq!((now.copies[0].to.as_str(), now.lines[0].cycles), ("f32[8,128]{0,1}", Some(1200)));
    /// let check = Check::new(&record, &now, &["copies>0".parse()?], false, "accept")?;
    /// assert_eq!((check.measures[0].measure, check.measures[0].before), (Measure::Cycles, None));
    /// assert_eq!(check.measures[1].after, Some(Quantity::Number(1)));
    /// assert_eq!((check.copies_added[0].opcode.as_str(), check.copies_added[0].amount), ("copy", Some(Amount::Cycles(1200))));
    /// assert_eq!((check.lines[0].source.as_deref(), check.lines[0].before), (Some("train.py:7"), None));
    /// let other = Recorded::new(&after, Some(8192), Some("v6e"), None)?;
    /// let error = Check::new(&record, &other, &[], false, "accept").unwrap_err();
    /// assert_eq!(error, CheckError::NoDevice("v6e".to_owned(), vec!["v5e".to_owned()]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the record has no program to compare with, or if its program is for another number of devices and `other_devices` is false; if a shape
    /// cannot be read; if no limit can be checked.
    pub fn new(
        record: &Record,
        now: &Recorded,
        limits: &[Limit],
        other_devices: bool,
        accept: &str,
    ) -> Result<Self, CheckError> {
        // Take the recorded program for the same device. Otherwise, take the only recorded program, if the record or the new program names no
        // device.
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
        let changed =
            |of: Measure| ChangedMeasure { measure: of, before: before.measure(of), after: now.measure(of), cause };
        let all = Measure::ALL.map(changed);
        let (limits, unchecked): (Vec<Limit>, Vec<Limit>) = match limits {
            [] if record.lock => (Vec::new(), Vec::new()),
            [] => Limit::usual(|measure| before.measure(measure).is_some()),
            _ => (limits.to_vec(), Vec::new()),
        };
        if limits.is_empty() && !record.lock {
            return Err(CheckError::NoLimit);
        }
        let exceeded = limits.iter().filter_map(|limit| {
            let found = all.iter().find(|found| found.measure == limit.measure)?;
            limit.exceeded([found.before, found.after], None, cause)
        });
        let mut exceeded: Vec<Exceeded> = exceeded.collect();
        let both = before.measured.as_ref().zip(now.measured.as_ref());
        let mut undecided = Vec::new();
        if let Some((before, now)) = both.filter(|(before, now)| !before.spread.is_clear_of(now.spread)) {
            exceeded.retain(|exceeded| match exceeded {
                Exceeded::Grew { limit, .. } if limit.measure == Measure::Time => {
                    undecided.push(Warning::Undecided { limit: *limit, before: before.spread, now: now.spread });
                    false
                }
                _ => true,
            });
        }
        let other_compiler = before.compiler.as_ref().zip(now.compiler.as_ref()).filter(|(before, now)| before != now);
        let warning =
            other_compiler.map(|(before, now)| Warning::OtherCompiler { before: before.clone(), now: now.clone() });
        let (arrays, others) = ChangedArray::between([before, now], [&first, &second]);
        let [copies_removed, copies_added] = copies([before, now], cause);
        let check = Self {
            device: now.device.clone().or_else(|| before.device.clone()),
            module: now.module.clone(),
            compiler_before: before.compiler.clone(),
            compiler: now.compiler.clone(),
            passed: exceeded.is_empty(),
            limits,
            exceeded,
            warnings: warning
                .into_iter()
                .chain(unchecked.into_iter().map(Warning::Unchecked))
                .chain(undecided)
                .chain(others)
                .collect(),
            measures: all.into_iter().filter(|found| found.before != found.after).collect(),
            copies_added,
            copies_removed,
            same_layouts: false,
            arrays,
            lines: lines([before, now]),
            times: both.map(times).unwrap_or_default(),
            accept: accept.to_owned(),
        };
        Ok(if record.lock { check.keeping_layouts() } else { check })
    }

    /// The same check for a caller that has data in the record's layouts. It fails if the data no longer fit, or if that is not known.
    #[must_use]
    pub fn keeping_layouts(mut self) -> Self {
        if self.same_layouts {
            return self;
        }
        self.same_layouts = true;
        let changed = self.arrays.iter().filter(|array| array.needs_other_data()).count();
        if changed > 0 || self.warnings.iter().any(|warning| matches!(warning, Warning::OtherArrays { .. })) {
            self.exceeded.push(Exceeded::Layouts { changed });
            self.passed = false;
        }
        self
    }
}

/// The copies that only the first program has, and those that only the second has.
///
/// Copies with the same layouts are paired: first the copies that also have the same operation, then the others. So renaming a function, or moving it
/// to another line, does not change its copies.
fn copies(programs: [&Recorded; 2], cause: Reason) -> [Vec<ChangedCopy>; 2] {
    let operation = |copy: &RecordedCopy| copy.op_name.clone();
    let nothing = |_: &RecordedCopy| None;
    let all = programs.map(|program| program.copies.iter().collect());
    let [removed, added] = alone(alone(all, operation), nothing).map(|copies| {
        let mut copies: Vec<_> = copies.into_iter().map(|copy| ChangedCopy::new(copy, cause)).collect();
        sort_by_key(&mut copies, |copy| std::cmp::Reverse(copy.amount));
        copies
    });
    let removed = removed.into_iter().map(|copy| ChangedCopy { remedy: None, ..copy });
    [removed.collect(), added]
}

/// The copies that have no partner, with the same layouts and the same name, on the other side.
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
            amount: copy.amount(),
            cause,
            because: copy.cause.clone(),
            remedy: copy.remedy.clone(),
            op_name: copy.op_name.clone(),
            source: copy.source.clone(),
        }
    }
}

/// The measured times of a run, and of each source line in it.
fn times((before, now): (&RecordedTimes, &RecordedTimes)) -> Vec<TimeDifference> {
    let mut lines = BTreeMap::<Option<&str>, [Option<Span>; 2]>::new();
    for (side, times) in [before, now].into_iter().enumerate() {
        for line in &times.lines {
            lines.entry(line.source.as_deref()).or_default()[side] = Some(line.span());
        }
    }
    let rows = lines.into_iter().map(|(source, spans)| TimeDifference::of_line(source.map(str::to_owned), spans));
    let mut rows = rows.collect::<Vec<_>>();
    TimeDifference::sort(&mut rows);
    std::iter::once(TimeDifference::of_runs(before.spread, now.spread)).chain(rows).collect()
}

/// The source lines whose costs differ. Lines that only moved within their file are left out.
fn lines(programs: [&Recorded; 2]) -> Vec<ChangedLine> {
    let mut all = BTreeMap::<Option<&str>, [Option<Amount>; 2]>::new();
    for (side, program) in programs.into_iter().enumerate() {
        for line in &program.lines {
            all.entry(line.source.as_deref()).or_default()[side] = line.amount();
        }
    }
    all.retain(|_, [before, after]| before != after);
    let file = |source: Option<&str>| source?.rsplit_once(':').map(|(file, _)| file.to_owned());
    let only = |side: usize| {
        let only = all.iter().filter(move |(_, costs)| costs[1 - side].is_none());
        only.map(move |(&source, costs)| (source, file(source), costs[side])).collect::<Vec<_>>()
    };
    let (before, mut after) = (only(0), only(1));
    for (source, file, cost) in before {
        let moved = after.iter().position(|(_, other, now)| file.is_some() && *other == file && *now == cost);
        if let Some(moved) = moved {
            all.remove(&source);
            all.remove(&after.remove(moved).0);
        }
    }
    let changed = all.into_iter();
    let line = |(source, [before, after]): (Option<&str>, [Option<Amount>; 2])| ChangedLine {
        source: source.map(str::to_owned),
        before,
        after,
    };
    let mut lines: Vec<_> = changed.map(line).collect();
    let number = |amount: Option<Amount>| amount.map_or(0, Amount::number);
    sort_by_key(&mut lines, |line| std::cmp::Reverse(number(line.before).abs_diff(number(line.after))));
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
}

impl Answer for Checks {
    const SCHEMA: &'static str = "xla-shape/guard-check/1";

    /// The copies that are new since the record, the most expensive first.
    fn digest(&self) -> Digest {
        let mut copies = self.programs.iter().flat_map(|check| &check.copies_added).collect::<Vec<_>>();
        sort_by_key(&mut copies, |copy| std::cmp::Reverse(copy.amount));
        let causes = copies.into_iter().take(digest::MOST).map(|copy| digest::Cause {
            name: format!("{} {}", copy.opcode, copy.to),
            amount: copy.amount.map(digest::Amount::Cost),
            source: copy.source.clone(),
            because: Some(copy.because.to_string()),
            remedy: copy.remedy.as_ref().map(ToString::to_string),
        });
        let failing = |check: &&Check| check.same_layouts;
        let arrays = self.programs.iter().filter(failing).flat_map(|check| &check.arrays);
        let arrays = arrays.filter(|array| array.needs_other_data()).take(digest::MOST).map(|array| digest::Cause {
            name: array.array.clone(),
            amount: None,
            source: None,
            because: Some(format!("{} is now {}", array.before, array.after)),
            remedy: None,
        });
        let causes = causes.chain(arrays).take(digest::MOST);
        // Do not suggest the command that accepts the change, because an agent would run it.
        let cost = |check: &Check| {
            let device = check.device.iter().flat_map(|device| ["--for".into(), device.clone().into()]);
            ["cost".into(), digest::Word::File(0)].into_iter().chain(device).collect()
        };
        let next = self.programs.iter().find(|check| !check.passed).map(cost);
        Digest { causes: causes.collect(), next: next.into_iter().collect() }
    }

    fn json(&self) -> String {
        self.programs.iter().map(|check| answer_line(Self::SCHEMA, check)).collect()
    }
}
