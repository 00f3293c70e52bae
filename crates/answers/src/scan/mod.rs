//! The shapes that a text contains, such as a log or an out-of-memory report.

mod amounts;
mod causes;
mod difference;
#[cfg(feature = "through")]
mod instruction;
mod parts;
mod remedies;
mod trial;

pub use self::causes::{Cause, Help, Refused};
#[cfg(feature = "through")]
pub use self::instruction::InProgram;
pub use self::parts::LargePart;
pub use self::trial::Trial;
use self::trial::Tried;

use crate::Answer;
use crate::advise::{Advice, WORTH_IT};
use crate::digest::{self, Digest};
use crate::names;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use xla_shape_core::sorting::sort_by_key;
use xla_shape_core::{ArrayShape, Shape, memory_space};
use xla_shape_hlo::{
    AmountCause, JsonLine, JsonLines, LogLines, MlirReader, OutOfMemory, Processes, Refusal, RefusalCause, Remedy,
    ReportedAllocation, ReportedAmount, Utf16, find_shapes, find_spelled_shapes,
};

/// A shape that was found in a line of text.
///
/// ```
/// use xla_shape_answers::Answer;
/// use xla_shape_answers::scan::Scan;
///
/// let found = &Scan::default().read_line(b"no room for f32[8,1]{1,0:T(8,128)}")[0];
/// assert_eq!((found.column, found.padding_bytes), (13, Some(4064)));
/// assert!(found.json().starts_with("{\"schema\":\"xla-shape/scan/1\",\"line\":1"));
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct Found {
    /// The number of the line, from 1.
    pub line: u64,
    /// Where in the line the shape begins, in bytes, from 1.
    pub column: usize,
    /// XLA's text of the shape, with its layout.
    #[serde(serialize_with = "names::text")]
    #[schemars(with = "String")]
    pub shape: Shape,
    /// The bytes of the value, with padding; null if a dimension is unbounded or they do not fit in 64 bits.
    pub bytes: Option<u64>,
    /// How many of `bytes` are padding.
    pub padding_bytes: Option<u64>,
    /// `bytes` divided by the bytes of the elements alone; null if `bytes` is null, and for an array without elements.
    pub expansion: Option<f64>,
}

impl Found {
    fn new(line: u64, column: usize, shape: Shape) -> Self {
        Self {
            line,
            column,
            bytes: shape.byte_size(),
            padding_bytes: shape.padding_byte_size(),
            expansion: shape.expansion(),
            shape,
        }
    }
}

/// An object with `line`, `column`, `shape`, `bytes`, `padding_bytes` and `expansion`.
impl Answer for Found {
    const SCHEMA: &'static str = "xla-shape/scan/1";
}

/// Everything that was found in a text, line by line.
///
/// ```
/// use xla_shape_answers::scan::Scan;
///
/// let mut scan = Scan::default();
/// scan.read_line(b"Used 40.00G of 32.00G hbm; largest: f32[8,1]{1,0:T(8,128)} and f32[8,1]{1,0:T(8,128)}");
/// assert_eq!(scan.hbm_limit(), Some(32 << 30));
/// let (found, times) = scan.shapes()[0];
/// assert_eq!((found.bytes, times), (Some(4096), 2));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Scan {
    lines: u64,
    json: JsonLines,
    processes: Processes,
    /// What each process wrote, in the order of their first lines.
    logs: Vec<Log>,
    rows: HashMap<Shape, Row>,
    /// Whether another answer lists what takes the memory.
    is_listed: bool,
    /// For the line of each message, what a compiler said about its remedies.
    trials: Vec<Tried>,
    /// For the line of each message, the instruction that it is about.
    #[cfg(feature = "through")]
    instructions: HashMap<u64, InProgram>,
}

/// The most refusals of a text.
const MOST_REFUSALS: usize = 200;

/// What one process wrote. In a log of several processes, their lines are mixed, so each is read by itself.
#[derive(Clone, Debug, Default)]
struct Log {
    lines: LogLines,
    messages: OutOfMemory,
    program: MlirReader,
}

/// A shape that was found once or several times.
#[derive(Clone, Debug)]
struct Row {
    first: Found,
    times: usize,
}

impl Scan {
    /// Reads the next line and returns the shapes in it, from left to right. Bytes that are not UTF-8 are skipped.
    ///
    /// ```
    /// let mut scan = xla_shape_answers::scan::Scan::default();
    /// let found = scan.read_line(b"allocating f32[100,1]{1,0:T(8,128)} failed");
    /// assert_eq!((found[0].column, found[0].bytes), (12, Some(53_248)));
    /// ```
    pub fn read_line(&mut self, line: &[u8]) -> Vec<Found> {
        self.lines += 1;
        let mut all = Vec::new();
        let whole = str::from_utf8(line).ok();
        match whole.map(|line| (line, self.json.read(line))) {
            Some((line, JsonLine::Text(found))) => {
                self.read_shapes(&found.rest(line), &mut all, |at| at);
                let mut before = 0;
                for line in found.text.split_inclusive('\n') {
                    let process = self.processes.of_line(line);
                    self.read_content(process, line, &mut all, |at| found.place(before + at));
                    before += line.len();
                }
            }
            Some((line, JsonLine::Nothing)) => self.read_shapes(line, &mut all, |at| at),
            _ => {
                let mut before = 0;
                let mut content = String::new();
                let first = line.utf8_chunks().next().map_or("", |chunk| chunk.valid());
                let process = self.processes.of_line(first);
                for chunk in line.utf8_chunks() {
                    let text = self.log(process).lines.unwrap(chunk.valid()).into_owned();
                    self.read_shapes(&text, &mut all, |at| before + at);
                    before += text.len() + chunk.invalid().len();
                    content.push_str(&text);
                }
                self.read_messages(process, &content);
            }
        }
        sort_by_key(&mut all, |found| found.column);
        for found in &all {
            let row = self.rows.entry(found.shape.clone());
            row.or_insert_with(|| Row { first: found.clone(), times: 0 }).times += 1;
        }
        all
    }

    /// The bytes of a whole text, in UTF-8 if a mark at their beginning says that they are in UTF-16.
    ///
    /// ```
    /// use xla_shape_answers::scan::Scan;
    ///
    /// assert_eq!(&*Scan::as_utf8(b"\xff\xfea\x00"), b"a");
    /// assert_eq!(&*Scan::as_utf8(b"a"), b"a");
    /// ```
    #[must_use]
    pub fn as_utf8(bytes: &[u8]) -> Cow<'_, [u8]> {
        Utf16::whole(bytes).map_or(Cow::Borrowed(bytes), |text| Cow::Owned(text.into_bytes()))
    }

    fn log(&mut self, process: usize) -> &mut Log {
        if self.logs.len() <= process {
            self.logs.resize_with(process + 1, Log::default);
        }
        &mut self.logs[process]
    }

    /// Reads a text of a process. `place` is the place in the line of each place in the text.
    fn read_content(&mut self, process: usize, text: &str, all: &mut Vec<Found>, place: impl Fn(usize) -> usize) {
        // Prefixes of loggers and similar texts around a line become spaces, so that columns stay those of the line.
        let text = self.log(process).lines.unwrap(text).into_owned();
        self.read_shapes(&text, all, place);
        self.read_messages(process, &text);
    }

    fn read_shapes(&self, text: &str, all: &mut Vec<Found>, place: impl Fn(usize) -> usize) {
        let found = find_shapes(text).chain(find_spelled_shapes(text));
        all.extend(found.map(|found| Found::new(self.lines, place(found.span.start) + 1, found.shape)));
    }

    fn read_messages(&mut self, process: usize, text: &str) {
        let number = self.lines;
        let log = self.log(process);
        for line in text.lines() {
            log.messages.read_line(number, line);
            log.program.read_line(line);
        }
    }

    /// The messages of each process.
    fn messages(&self) -> impl Iterator<Item = &OutOfMemory> {
        self.logs.iter().map(|log| &log.messages)
    }

    /// All amounts, in the order of the text; of several processes, one after another.
    fn all_amounts(&self) -> impl Iterator<Item = &ReportedAmount> {
        self.messages().flat_map(|messages| &messages.amounts)
    }

    /// Whether neither a shape nor a message about memory was found.
    ///
    /// ```
    /// let mut scan = xla_shape_answers::scan::Scan::default();
    /// scan.read_line(b"nothing here");
    /// assert!(scan.is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.messages().all(OutOfMemory::is_empty)
    }

    /// Whether the summary says more than the shapes: there is a message about memory, or about what was refused.
    ///
    /// ```
    /// let mut scan = xla_shape_answers::scan::Scan::default();
    /// scan.read_line(b"f32[8]");
    /// assert!(!scan.has_messages());
    /// scan.read_line(b"Used 40.00G of 32.00G hbm.");
    /// assert!(scan.has_messages());
    /// ```
    #[must_use]
    pub fn has_messages(&self) -> bool {
        self.all_amounts().next().is_some() || !self.allocations().is_empty() || !self.causes().is_empty()
    }

    /// Whether a message says that memory ran out.
    ///
    /// ```
    /// let mut scan = xla_shape_answers::scan::Scan::default();
    /// scan.read_line(b"RESOURCE_EXHAUSTED: something new");
    /// assert!(scan.says_out_of_memory());
    /// ```
    #[must_use]
    pub fn says_out_of_memory(&self) -> bool {
        self.all_amounts().any(|amount| amount.cause.is_failure())
            || !self.without_sizes().is_empty()
            || self.refusals().iter().any(|refusal| refusal.cause.is_out_of_memory())
    }

    /// Whether a message says that HBM may have run out: messages only about other memory, such as the VMEM of a kernel, do not count.
    ///
    /// ```
    /// let mut scan = xla_shape_answers::scan::Scan::default();
    /// scan.read_line(b"Scoped allocation with size 23.50M and limit 16.00M exceeded scoped vmem limit by 7.50M.");
    /// assert!(scan.says_out_of_memory() && !scan.says_out_of_hbm());
    /// ```
    #[must_use]
    pub fn says_out_of_hbm(&self) -> bool {
        // A message that names no memory is about HBM.
        let may_be_hbm = |amount: &ReportedAmount| {
            let is_other = matches!(
                amount.cause,
                AmountCause::OtherAllocator | AmountCause::SharedMemory | AmountCause::Driver | AmountCause::Constant
            );
            !is_other
                && !amount.cause.is_of_host()
                && amount.memory_space().is_none_or(|space| space == memory_space::DEFAULT)
        };
        // Messages without sizes may say that memory other than HBM ran out.
        let is_other = || {
            self.without_sizes().is_empty() && self.refusals().iter().any(|refusal| refusal.cause.is_out_of_memory())
        };
        let is_hbm = match self.all_amounts().next() {
            None => !is_other(),
            Some(_) => self.all_amounts().any(|amount| !amount.is_part && may_be_hbm(amount)),
        };
        self.says_out_of_memory() && is_hbm
    }

    /// The bytes of HBM that a program may use, according to the messages.
    ///
    /// ```
    /// let mut scan = xla_shape_answers::scan::Scan::default();
    /// scan.read_line(b"Ran out of memory in memory space hbm. Used 40.00G of 32.00G hbm.");
    /// assert_eq!(scan.hbm_limit(), Some(32 << 30));
    /// ```
    #[must_use]
    pub fn hbm_limit(&self) -> Option<u64> {
        let of_hbm = self.all_amounts().filter(|amount| amount.memory_space() == Some(memory_space::DEFAULT));
        of_hbm.filter_map(|amount| amount.limit).max()
    }

    /// The lines of the messages that say that memory ran out, and have no size that could be read.
    ///
    /// ```
    /// let mut scan = xla_shape_answers::scan::Scan::default();
    /// scan.read_line(b"RESOURCE_EXHAUSTED: something new");
    /// assert_eq!(scan.without_sizes(), [1]);
    /// ```
    #[must_use]
    pub fn without_sizes(&self) -> Vec<u64> {
        let mut lines = self.messages().flat_map(|messages| messages.without_sizes.iter().copied()).collect::<Vec<_>>();
        lines.sort_unstable();
        lines
    }

    /// The first line that is inside of a list and does not belong to it: the lines of several messages may be mixed.
    ///
    /// ```
    /// let mut scan = xla_shape_answers::scan::Scan::default();
    /// let lines = ["Peak buffers:", "Buffer 1:", "Buffer 1:", "Size: 2.00GiB"];
    /// lines.iter().for_each(|line| drop(scan.read_line(line.as_bytes())));
    /// assert_eq!((scan.mixed_line(), scan.allocations().len()), (Some(3), 1));
    /// ```
    #[must_use]
    pub fn mixed_line(&self) -> Option<u64> {
        self.messages().filter_map(|messages| messages.mixed).min()
    }

    /// The allocations in the messages, those with the most padding first; a repeated list counts once.
    ///
    /// ```
    /// let mut scan = xla_shape_answers::scan::Scan::default();
    /// for line in ["1. Size: 4.0K", "2. Size: 64.0K"] {
    ///     scan.read_line(line.as_bytes());
    /// }
    /// assert_eq!(scan.allocations()[0].bytes, 64 << 10);
    /// ```
    #[must_use]
    pub fn allocations(&self) -> Vec<&ReportedAllocation> {
        let mut allocations = without_repetitions(self.messages().map(|messages| &messages.allocations[..]));
        sort_by_key(&mut allocations, |allocation| {
            Reverse((allocation.padding_bytes().unwrap_or(0), allocation.bytes))
        });
        allocations
    }

    /// Each different shape, at its first place, with the number of its occurrences; the most padding first.
    ///
    /// ```
    /// let mut scan = xla_shape_answers::scan::Scan::default();
    /// scan.read_line(b"f32[8]{0} and f32[8]{0}");
    /// assert_eq!(scan.shapes()[0].1, 2);
    /// ```
    #[must_use]
    pub fn shapes(&self) -> Vec<(&Found, usize)> {
        let mut rows = self.rows.values().collect::<Vec<_>>();
        sort_by_key(&mut rows, |row| {
            let Found { line, column, bytes, padding_bytes, .. } = row.first;
            (Reverse((padding_bytes.unwrap_or(0), bytes.unwrap_or(0))), line, column)
        });
        rows.into_iter().map(|row| (&row.first, row.times)).collect()
    }

    /// The amounts of memory in messages, in the order of the text. Logs often repeat a message; its amounts count once.
    ///
    /// ```
    /// let mut scan = xla_shape_answers::scan::Scan::default();
    /// for _ in 0..2 {
    ///     scan.read_line(b"Used 40.00G of 32.00G hbm.");
    /// }
    /// assert_eq!(scan.amounts().len(), 1);
    /// ```
    #[must_use]
    pub fn amounts(&self) -> Vec<&ReportedAmount> {
        let mut said = HashSet::new();
        self.all_amounts()
            .filter(|amount| said.insert((&amount.what, amount.bytes, amount.limit, amount.is_part)))
            .collect()
    }

    /// The sums of the allocations of each kind and of each tag, the largest sum first. A list is empty if each of its sums would have only one
    /// allocation.
    ///
    /// ```
    /// let mut scan = xla_shape_answers::scan::Scan::default();
    /// let lines = ["1. Size: 4.0K", "Allocation type: HLO temp", "2. Size: 8.0K", "Allocation type: HLO temp"];
    /// lines.iter().for_each(|line| drop(scan.read_line(line.as_bytes())));
    /// let [kinds, tags] = scan.sums();
    /// assert_eq!((kinds[0].name, kinds[0].bytes, kinds[0].allocations), ("HLO temp", 12 << 10, 2));
    /// assert!(tags.is_empty());
    /// ```
    #[must_use]
    pub fn sums(&self) -> [Vec<Sum<'_>>; 2] {
        let allocations = self.allocations();
        [
            sums(&allocations, |allocation| allocation.kind.as_deref()),
            sums(&allocations, |allocation| allocation.tag.as_deref()),
        ]
    }

    /// The causes of refusals, each once, in the order of the text.
    ///
    /// ```
    /// let mut scan = xla_shape_answers::scan::Scan::default();
    /// scan.read_line(b"Mosaic kernels cannot be automatically partitioned. Please wrap the call in a shard_map.");
    /// let causes = scan.causes();
    /// assert_eq!((causes[0].refused.kind(), causes[0].remedies[0].remedy.name()), ("partitioned_kernel", "shard_map"));
    /// ```
    #[must_use]
    pub fn causes(&self) -> Vec<Cause> {
        let mut causes = Vec::new();
        let mut said = BTreeSet::new();
        let mut add = |cause: Cause| {
            if said.insert(cause.without_line()) {
                causes.push(cause);
            }
        };
        let has_list = self.is_listed || self.messages().any(|messages| !messages.allocations.is_empty());
        // After the sizes, XLA adds a message that an instruction should have had enough memory. Leave it out, because the sizes say more.
        let mut has_sizes = false;
        for (amount, after) in self.wholes() {
            has_sizes |= amount.cause == AmountCause::InstructionVmem;
            let cause = Cause::of_amount(amount, after, &self.trials);
            if let Some(mut cause) = cause {
                // Do not suggest listing the allocations if the message lists them already.
                cause.remedies.retain(|help| !has_list || !matches!(help.remedy, Remedy::ListAllocations { .. }));
                add(cause);
            }
        }
        for refusal in self.refusals() {
            if !has_sizes || !matches!(refusal.cause, RefusalCause::InstructionVmem { .. }) {
                #[cfg(feature = "through")]
                let instruction = self.instructions.get(&refusal.line).cloned();
                let cause = Cause::of_refusal(refusal, &self.trials);
                #[cfg(feature = "through")]
                let cause = Cause { instruction, ..cause };
                add(cause);
            }
        }
        causes
    }

    /// The amounts that are messages of their own, each with the amounts of the same process that follow it. Amounts that are parts or sums of
    /// others are left out. So is the amount that a program needs, if a message before it already gave a limit.
    fn wholes(&self) -> impl Iterator<Item = (&ReportedAmount, &[ReportedAmount])> {
        let all = self.messages().flat_map(|messages| {
            let mut limited = HashSet::new();
            let amounts = messages.amounts.iter().enumerate();
            amounts.map(move |(place, amount)| {
                if amount.limit.is_some() {
                    limited.insert(amount.cause);
                }
                let explains = amount.is_requirement() && limited.contains(&amount.cause);
                (amount, &messages.amounts[place + 1..], explains)
            })
        });
        all.filter(|(amount, _, explains)| !amount.is_part && !amount.is_total() && !explains)
            .map(|(amount, after, _)| (amount, after))
    }

    /// Asks about each remedy whether the program compiles with it. `attempt` gets the cause, unless memory ran out, and returns `None` if no
    /// compiler can be asked. A remedy with which the compiler still refuses the program moves to a list of its own in the
    /// [causes](Self::causes), and is not recommended.
    pub fn try_remedies(&mut self, mut attempt: impl FnMut(Option<&RefusalCause>, &Remedy) -> Option<Trial>) {
        let of_amounts = self.wholes().map(|(amount, _)| (amount.line, None, amount.remedies()));
        let refusals = self.refusals();
        let of_refusals = refusals.iter().map(|one| (one.line, Some(&one.cause), one.cause.remedies()));
        let mut trials: Vec<Tried> = Vec::new();
        for (line, cause, remedies) in of_amounts.chain(of_refusals) {
            for remedy in remedies {
                // Logs repeat messages, so try each remedy once.
                let known = trials.iter().find(|(_, other, _)| *other == remedy).map(|(.., trial)| trial.clone());
                if let Some(trial) = known.or_else(|| attempt(cause, &remedy)) {
                    trials.push((line, remedy, trial));
                }
            }
        }
        self.trials = trials;
    }

    /// Names the instruction of a program that each message is about, except messages about memory. `find` returns `None` if it is not certain.
    #[cfg(feature = "through")]
    pub fn name_instructions(&mut self, mut find: impl FnMut(&Refusal) -> Option<InProgram>) {
        let refusals = self.refusals();
        self.instructions = refusals.iter().filter_map(|refusal| Some((refusal.line, find(refusal)?))).collect();
    }

    /// Notes that another answer, such as a compiler's, lists what takes the memory. The [causes](Self::causes) then have no remedy that suggests
    /// such a list.
    ///
    /// ```
    /// let mut scan = xla_shape_answers::scan::Scan::default();
    /// scan.read_line(b"Used 40.00G of 32.00G hbm.");
    /// assert_eq!(scan.causes()[0].remedies[0].remedy.name(), "list_allocations");
    /// scan.list_elsewhere();
    /// assert_eq!(scan.causes()[0].remedies[0].remedy.name(), "shard");
    /// ```
    pub const fn list_elsewhere(&mut self) {
        self.is_listed = true;
    }

    /// What compilers and runtimes refused, other than for memory.
    ///
    /// ```
    /// let mut scan = xla_shape_answers::scan::Scan::default();
    /// scan.read_line(b"Mosaic kernels cannot be automatically partitioned. Please wrap the call in a shard_map.");
    /// assert_eq!(scan.refusals()[0].cause.name(), "partitioned_kernel");
    /// ```
    #[must_use]
    pub fn refusals(&self) -> Vec<Refusal> {
        let mut all: Vec<Refusal> = Vec::new();
        for refusal in self.messages().flat_map(OutOfMemory::refusals) {
            // Several processes say the same.
            let is_same = |other: &Refusal| {
                let names = (&other.name, &other.operation, &other.source);
                names == (&refusal.name, &refusal.operation, &refusal.source) && other.cause == refusal.cause
            };
            if self.logs.len() == 1 || !all.iter().any(is_same) {
                all.push(refusal);
            }
            if all.len() == MOST_REFUSALS {
                break;
            }
        }
        sort_by_key(&mut all, |refusal| refusal.line);
        all
    }

    /// The first complete MLIR program in the text. It may be the program that was refused.
    ///
    /// ```
    /// let mut scan = xla_shape_answers::scan::Scan::default();
    /// for line in ["> module @jit_f {", ">   func.func public @main() {", ">     return", ">   }", "> }"] {
    ///     scan.read_line(line.as_bytes());
    /// }
    /// assert!(scan.program().unwrap().trim_start().starts_with("module @jit_f"));
    /// ```
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        self.logs.iter().find_map(|log| log.program.program())
    }

    /// The number of lines that were read.
    ///
    /// ```
    /// let mut scan = xla_shape_answers::scan::Scan::default();
    /// scan.read_line(b"nothing here");
    /// assert_eq!(scan.lines(), 1);
    /// ```
    #[must_use]
    pub const fn lines(&self) -> u64 {
        self.lines
    }

    /// The array with the most padding. `None` in three cases: little of it is padding; [`Advice`] cannot compare its layouts; what was too large is
    /// not an array in HBM, so that another layout would not help.
    ///
    /// ```
    /// let mut scan = xla_shape_answers::scan::Scan::default();
    /// scan.read_line(b"f32[8,128]{1,0:T(8,128)} f32[8,1]{1,0:T(8,128)}");
    /// assert_eq!(scan.most_padded().unwrap().to_string(), "f32[8,1]{1,0:T(8,128)}");
    /// ```
    #[must_use]
    pub fn most_padded(&self) -> Option<&ArrayShape> {
        if !self.causes().iter().all(Cause::is_about_hbm) {
            return None;
        }
        let allocations = self.allocations();
        let allocated = allocations
            .iter()
            .filter_map(|found| Some((found.shape.as_ref()?, found.padding_bytes().unwrap_or(0), found.bytes)));
        let rows = self.shapes();
        let shapes = rows.iter().filter_map(|(found, _)| Some((&found.shape, found.padding_bytes?, found.bytes?)));
        let padded =
            |&(_, padding, bytes): &(&Shape, u64, u64)| padding > 0 && padding as f64 >= WORTH_IT * bytes as f64;
        let arrays = allocated.chain(shapes).filter(padded).filter_map(|(shape, ..)| shape.array());
        arrays.into_iter().find(|&array| Advice::new(array, &[], None, 1).is_ok())
    }
}

/// The messages about memory and each shape once: `amounts`, `causes`, `largest`, `most_padded` and `shapes`.
impl Serialize for Scan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let most_padded = self.allocations();
        let mut largest = most_padded.clone();
        sort_by_key(&mut largest, |allocation| Reverse(allocation.bytes));
        let summary = Summary {
            amounts: self.all_amounts().map(Amount::new).collect(),
            causes: self.causes(),
            largest: largest.into_iter().map(Allocation::new).collect(),
            most_padded: most_padded.into_iter().map(Allocation::new).collect(),
            shapes: self.shapes().into_iter().map(|(first, times)| Repeated { first, times }).collect(),
        };
        summary.serialize(serializer)
    }
}

/// The messages about memory in a text, and the shapes in it.
// Hidden, because it exists only to be written as JSON; `Scan` has the lists.
#[doc(hidden)]
#[derive(Serialize, JsonSchema)]
pub struct Summary<'a> {
    /// How much memory is needed, and how much is available, in the order of the text.
    amounts: Vec<Amount<'a>>,
    /// What was refused and why, with what would help: memory that ran out, then other messages.
    causes: Vec<Cause>,
    /// The allocations that messages list, the largest first. A list that the text repeats is here once.
    largest: Vec<Allocation<'a>>,
    /// The same allocations, those with the most padding first.
    most_padded: Vec<Allocation<'a>>,
    /// Each shape with the first place where it occurs; those with the most padding come first.
    shapes: Vec<Repeated<'a>>,
}

/// See [`ReportedAmount`].
#[derive(Serialize, JsonSchema)]
struct Amount<'a> {
    /// The number of the line, from 1.
    line: u64,
    /// What the memory is or is for, such as "hbm".
    what: &'a str,
    /// Whether it is a part of the amount before it.
    is_part: bool,
    /// The bytes that are needed.
    bytes: u64,
    /// The bytes that are available; null if the message does not say.
    limit: Option<u64>,
    /// The bytes by which the limit is exceeded; null if the message does not say.
    over: Option<u64>,
    /// The bytes without padding; null if the message does not say.
    unpadded_bytes: Option<u64>,
    /// The bytes with padding and without fragmentation; null if the message does not say.
    padded_bytes: Option<u64>,
    /// The bytes of fragmentation; null if the message does not say.
    fragmentation_bytes: Option<u64>,
    /// The bytes of the largest piece of free memory; null if the message does not say.
    largest_free_bytes: Option<u64>,
    /// Why the amount is in the message.
    cause: &'static str,
    /// The program or the kernel; null if the message does not say.
    name: Option<&'a str>,
}

impl<'a> Amount<'a> {
    fn new(amount: &'a ReportedAmount) -> Self {
        Self {
            line: amount.line,
            what: &amount.what,
            is_part: amount.is_part,
            bytes: amount.bytes,
            limit: amount.limit,
            over: amount.over,
            unpadded_bytes: amount.unpadded_bytes,
            padded_bytes: amount.padded_bytes,
            fragmentation_bytes: amount.fragmentation_bytes,
            largest_free_bytes: amount.largest_free_bytes,
            cause: amount.cause.name(),
            name: amount.name.as_deref(),
        }
    }
}

/// See [`ReportedAllocation`].
#[derive(Serialize, JsonSchema)]
struct Allocation<'a> {
    /// The number of the line, from 1.
    line: u64,
    /// Its number in the message's list.
    rank: u64,
    /// XLA's text of the shape; null if the message has none.
    shape: Option<String>,
    /// The bytes, with padding, as the message says.
    bytes: u64,
    /// How many of `bytes` are padding; null if the message does not say.
    padding_bytes: Option<u64>,
    /// The operation in the user's program, otherwise XLA's label; null if the message has neither.
    op_name: Option<&'a str>,
    /// The file and the line in the user's program, such as "train.py:43"; null if the message does not say.
    source: Option<&'a str>,
    /// The kind of allocation, such as "HLO temp"; null if the message does not say.
    kind: Option<&'a str>,
    /// The compiler's tag; null without one.
    tag: Option<&'a str>,
}

impl<'a> Allocation<'a> {
    fn new(found: &'a ReportedAllocation) -> Self {
        Self {
            line: found.line,
            rank: found.rank,
            shape: found.shape.as_ref().map(ToString::to_string),
            bytes: found.bytes,
            padding_bytes: found.padding_bytes(),
            op_name: found.operator.as_deref(),
            source: found.source.as_deref(),
            kind: found.kind.as_deref(),
            tag: found.tag.as_deref(),
        }
    }
}

/// A shape at its first place, and how often it is there.
#[derive(Serialize, JsonSchema)]
struct Repeated<'a> {
    #[serde(flatten)]
    first: &'a Found,
    /// How often the shape is in the text.
    times: usize,
}

impl Answer for Scan {
    const SCHEMA: &'static str = "xla-shape/scan-summary/1";

    /// The causes of refusals, each with its first remedy.
    fn digest(&self) -> Digest {
        let causes = self.causes().into_iter().take(digest::MOST).map(|cause| digest::Cause {
            name: cause.refused.name().unwrap_or(cause.refused.kind()).to_owned(),
            amount: None,
            source: cause.refused.source().map(str::to_owned),
            because: Some(cause.what()),
            remedy: cause.remedies.first().map(ToString::to_string),
        });
        let next = self.most_padded().map(|array| vec!["advise".into(), array.to_string().into()]);
        Digest { causes: causes.collect(), next: next.into_iter().collect() }
    }
}

/// The sum of the allocations with one name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sum<'a> {
    /// The kind or the tag of the allocations.
    pub name: &'a str,
    /// Their bytes, with padding.
    pub bytes: u64,
    /// The number of allocations.
    pub allocations: usize,
}

/// The sums of the allocations that have the same name, the largest first; none if no name has several allocations.
fn sums<'a>(all: &[&'a ReportedAllocation], name: impl Fn(&'a ReportedAllocation) -> Option<&'a str>) -> Vec<Sum<'a>> {
    let mut sums: Vec<Sum<'a>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for &allocation in all {
        let Some(name) = name(allocation) else { continue };
        let place = *places.entry(name).or_insert_with(|| {
            sums.push(Sum { name, bytes: 0, allocations: 0 });
            sums.len() - 1
        });
        sums[place].bytes = sums[place].bytes.saturating_add(allocation.bytes);
        sums[place].allocations += 1;
    }
    // If each sum has only one allocation, the sums would only repeat the list of allocations.
    if sums.iter().all(|sum| sum.allocations == 1) {
        sums.clear();
    }
    sort_by_key(&mut sums, |sum| Reverse(sum.bytes));
    sums
}

/// The allocations of all lists of all processes. A list that the log repeats counts once.
fn without_repetitions<'a>(all: impl Iterator<Item = &'a [ReportedAllocation]>) -> Vec<&'a ReportedAllocation> {
    let lists: Vec<&[ReportedAllocation]> =
        all.flat_map(|all| all.chunk_by(|before, after| before.rank < after.rank)).collect();
    let is_same = |a: &[ReportedAllocation], b: &[ReportedAllocation]| {
        let bare = |allocation: &ReportedAllocation| ReportedAllocation { line: 0, ..allocation.clone() };
        a.len() == b.len() && a.iter().map(bare).eq(b.iter().map(bare))
    };
    // Further lists are not compared with earlier ones, since that takes quadratic time.
    const MOST: usize = 100;
    let is_new = |(place, list): &(usize, &&[ReportedAllocation])| {
        *place >= MOST || !lists[..*place].iter().any(|before| is_same(before, list))
    };
    lists.iter().enumerate().filter(is_new).flat_map(|(_, list)| list.iter()).collect()
}

#[cfg(test)]
mod tests {
    use super::Scan;

    #[test]
    fn the_memory_that_ran_out_is_known() {
        let read = |text: &str| {
            let mut scan = Scan::default();
            text.lines().for_each(|line| drop(scan.read_line(line.as_bytes())));
            (scan.says_out_of_memory(), scan.says_out_of_hbm(), scan.hbm_limit())
        };
        assert_eq!(read("INVALID_ARGUMENT: f32[2]"), (false, false, None));
        assert_eq!(read("RESOURCE_EXHAUSTED: something new"), (true, true, None));
        let hbm = "Ran out of memory in memory space hbm. Used 40.00G of 32.00G hbm.\n\nTotal hbm usage >= 40.50G:\n    program 40G";
        assert_eq!(read(hbm), (true, true, Some(32 << 30)));
        assert_eq!(
            read("Program vmem requirement 29.95M:\n    scoped           29.95M\n    program 1M"),
            (true, false, None)
        );
        assert_eq!(read("Out of memory while trying to allocate 17179869184 bytes."), (true, true, None));
    }
}
