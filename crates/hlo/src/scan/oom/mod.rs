//! XLA's out-of-memory messages: how much memory was used of how much, and the largest allocations.

mod cause;
mod lines;
mod outside;

use super::find_shapes;
use super::refusal::{Code, Reader, Refusal, Remedy, is_near};
use super::spelling::find_spelled_shapes;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
pub use cause::AmountCause;
use lines::{
    all_amounts, between, field, is_about_other_resources, listed, llo_allocation, quoted, says_that_memory_ran_out,
    size, space_of,
};
use xla_shape_core::Shape;
use xla_shape_core::tpu::{Generation, KernelVmem};

/// The amounts and allocations in the out-of-memory messages of a log, read line by line.
///
/// ```
/// use xla_shape_hlo::OutOfMemory;
///
/// let mut messages = OutOfMemory::default();
/// messages.read_line(1, "E1000: Ran out of memory in memory space hbm. Used 49.34G of 32.00G hbm.");
/// for (number, line) in (2..).zip(["1. Size: 64.0K", "   Shape: f32[128,3]{1,0}", "   Unpadded size: 1.5K"]) {
///     messages.read_line(number, line);
/// }
/// assert_eq!(messages.amounts[0].limit, Some(32 << 30));
/// assert_eq!((messages.allocations[0].bytes, messages.allocations[0].unpadded_bytes), (64 << 10, Some(1536)));
/// ```
#[derive(Clone, Debug, Default)]
pub struct OutOfMemory {
    /// The amounts, in the order of the log.
    pub amounts: Vec<ReportedAmount>,
    /// The listed allocations, in the order of the log.
    pub allocations: Vec<ReportedAllocation>,
    /// The line numbers of out-of-memory messages without a size that could be read.
    pub without_sizes: Vec<u64>,
    /// The line number of the first line that is inside of a list and does not belong to it. The lines of several messages may be mixed.
    pub mixed: Option<u64>,
    /// An allocation whose size comes in the next line.
    pending: Option<ReportedAllocation>,
    expected: ExpectedLine,
    recent: Recent,
    refusals: Reader,
}

/// The last lines that were read. A line break may divide a sentence, so they may be its beginning.
#[derive(Clone, Debug, Default)]
struct Recent {
    text: String,
    /// The number of the first one. Lines of other processes may be between them.
    first: u64,
    lines: usize,
    /// Which amounts the lines gave.
    amounts: core::ops::Range<usize>,
}

/// An amount of memory in a message, in bytes. Messages round to three or four digits.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReportedAmount {
    /// The line number, from 1.
    pub line: u64,
    /// What the amount is for, such as `hbm`.
    pub what: String,
    /// Whether it is a part of the amount before it.
    pub is_part: bool,
    /// The bytes.
    pub bytes: u64,
    /// The bytes available, if the message states them.
    pub limit: Option<u64>,
    /// The bytes by which the limit is exceeded, if the message states them: more exact than the difference of two rounded figures.
    pub over: Option<u64>,
    /// The bytes without padding, if the message states them.
    pub unpadded_bytes: Option<u64>,
    /// The bytes with padding and without fragmentation, if the message states them.
    pub padded_bytes: Option<u64>,
    /// The bytes of fragmentation, if the message states them.
    pub fragmentation_bytes: Option<u64>,
    /// The largest piece of free memory, in bytes, if the message states it.
    pub largest_free_bytes: Option<u64>,
    /// Why the amount is in the message.
    pub cause: AmountCause,
    /// The program or the kernel, if the message names it.
    pub name: Option<String>,
}

impl ReportedAmount {
    /// The number of the amount's memory space, if the message names the space by its usual name. If the message only says that the memory is scoped,
    /// this is VMEM.
    ///
    /// ```
    /// use xla_shape_core::memory_space;
    ///
    /// let mut messages = xla_shape_hlo::OutOfMemory::default();
    /// messages.read_line(1, "Scoped allocation with size 17.00M and limit 16.00M exceeded scoped vmem limit by 1.00M.");
    /// assert_eq!(messages.amounts[0].memory_space(), Some(memory_space::GENERIC_FAST));
    /// ```
    #[must_use]
    pub fn memory_space(&self) -> Option<u8> {
        space_of(&self.what)
    }

    /// Whether it is the sum of other amounts of the message.
    ///
    /// ```
    /// let mut messages = xla_shape_hlo::OutOfMemory::default();
    /// messages.read_line(1, "Total hbm usage >= 40.50G:");
    /// assert!(messages.amounts[0].is_total());
    /// ```
    #[must_use]
    pub fn is_total(&self) -> bool {
        self.what.ends_with("total")
    }

    /// Whether it is the memory that a program needs, from a message that states no limit. The parts of this amount follow it in the message.
    ///
    /// ```
    /// let mut messages = xla_shape_hlo::OutOfMemory::default();
    /// messages.read_line(1, "Program hbm requirement 40.50G:");
    /// assert!(messages.amounts[0].is_requirement());
    /// ```
    #[must_use]
    pub fn is_requirement(&self) -> bool {
        self.limit.is_none() && self.what.ends_with(", program")
    }

    /// What makes the program fit, the most likely first.
    ///
    /// ```
    /// use xla_shape_hlo::{OutOfMemory, Remedy};
    ///
    /// let mut messages = OutOfMemory::default();
    /// messages.read_line(1, "Scoped allocation with size 17.00M and limit 16.00M exceeded scoped vmem limit by 1.00M.");
    /// assert_eq!(messages.amounts[0].remedies()[0], Remedy::RaiseVmemLimit { bytes: 17 << 20 });
    /// ```
    #[must_use]
    pub fn remedies(&self) -> Vec<Remedy> {
        let is_for_gpu = match self.cause {
            AmountCause::Gpu => Some(true),
            AmountCause::Program | AmountCause::Loading => Some(false),
            _ => None,
        };
        let list = Remedy::ListAllocations { program: self.name.clone(), is_for_gpu };
        match self.cause {
            // The size is rounded to a hundredth of a MiB.
            AmountCause::ScopedVmem => match self.bytes.checked_next_multiple_of(1 << 20) {
                Some(bytes) if Self::vmem_can_grow(self.limit, bytes) => {
                    alloc::vec![Remedy::RaiseVmemLimit { bytes }, Remedy::SmallerBlocks, Remedy::ListKernel]
                }
                _ => alloc::vec![Remedy::SmallerBlocks, Remedy::ListKernel],
            },
            AmountCause::InstructionVmem => match self.bytes.checked_next_multiple_of(1 << 20) {
                Some(bytes) if Self::vmem_can_grow(self.limit, bytes) => {
                    alloc::vec![Remedy::RaiseScopedVmem { bytes }, Remedy::Barrier, Remedy::Report]
                }
                _ => alloc::vec![Remedy::Barrier, Remedy::Report],
            },
            AmountCause::SparseCore => alloc::vec![Remedy::ShardTables, Remedy::SmallerTables],
            AmountCause::Unnamed => alloc::vec![Remedy::SmallerRequest],
            AmountCause::Vmem => alloc::vec![Remedy::SmallerBlocks, Remedy::ListKernel],
            AmountCause::Smem => alloc::vec![Remedy::ScalarsElsewhere],
            AmountCause::Flags => alloc::vec![Remedy::Report],
            AmountCause::Array => alloc::vec![Remedy::FreeArrays, Remedy::Shard],
            AmountCause::Loading => alloc::vec![list, Remedy::FreeArrays],
            AmountCause::Program | AmountCause::Gpu | AmountCause::Rematerialization => {
                alloc::vec![list, Remedy::Shard]
            }
            AmountCause::Unknown => alloc::vec![list],
            AmountCause::SharedMemory => Remedy::for_shared_memory(),
            AmountCause::OtherAllocator => alloc::vec![Remedy::SmallerRequest],
            AmountCause::Driver => alloc::vec![Remedy::LeaveRoom, Remedy::SmallerRequest],
            AmountCause::Constant => alloc::vec![Remedy::PassConstants, Remedy::LeaveRoom],
            AmountCause::PinnedHost | AmountCause::HostArray | AmountCause::HostKilled => {
                alloc::vec![Remedy::SmallerOnHost]
            }
            AmountCause::ContainerKilled => alloc::vec![Remedy::LargerContainer, Remedy::SmallerOnHost],
            AmountCause::Statistics | AmountCause::Dispensable => Vec::new(),
        }
    }

    /// Whether the free bytes would suffice, but no free piece is large enough.
    ///
    /// ```
    /// let mut messages = xla_shape_hlo::OutOfMemory::default();
    /// messages.read_line(1, "Attempting to allocate 16.00M. That was not possible. There are 800.00M free.");
    /// assert!(messages.amounts[0].is_fragmented());
    /// ```
    #[must_use]
    pub fn is_fragmented(&self) -> bool {
        let is_free = matches!(self.cause, AmountCause::Array | AmountCause::Loading | AmountCause::OtherAllocator);
        is_free && self.limit.is_some_and(|free| free >= self.bytes)
    }

    /// Whether some generation can give a kernel this many bytes of VMEM. `limit` is the limit in the message: if it is a generation's default, only
    /// generations with that default count; any other limit was set by the user.
    fn vmem_can_grow(limit: Option<u64>, bytes: u64) -> bool {
        let all = || Generation::ALL.iter().filter_map(|generation| generation.kernel_vmem());
        let limit = limit.unwrap_or(0);
        let is_default = |vmem: &KernelVmem| is_about(limit, vmem.default) && !is_about(limit, vmem.most);
        if all().any(|vmem| is_default(&vmem)) {
            return all().any(|vmem| is_default(&vmem) && bytes <= vmem.most);
        }
        // A limit that equals the whole VMEM of a generation is taken to be of a program for that generation, because programs for other generations
        // rarely set this limit.
        !all().any(|vmem| is_about(limit, vmem.most)) && all().any(|vmem| bytes <= vmem.most)
    }
}

/// Whether a size that a message rounds to a hundredth of its unit can be this number of bytes.
pub(crate) fn is_about(rounded: u64, bytes: u64) -> bool {
    rounded.abs_diff(bytes) <= bytes / 5000
}

/// An allocation in a message.
///
/// ```
/// let mut messages = xla_shape_hlo::OutOfMemory::default();
/// for (number, line) in (1..).zip(["1. Size: 64.0K", "Operator: op_name=\"jit(f)/dot\"", "Shape: f32[128,3]{1,0}", "Unpadded size: 1.5K"]) {
///     messages.read_line(number, line);
/// }
/// let largest = &messages.allocations[0];
/// assert_eq!((largest.bytes, largest.unpadded_bytes), (64 << 10, Some(1536)), "43 times the memory of its elements");
/// assert_eq!(largest.operator.as_deref(), Some("jit(f)/dot"));
/// ```
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ReportedAllocation {
    /// The line number of its first line, from 1.
    pub line: u64,
    /// Its number in the message's list, from 1.
    pub rank: u64,
    /// Its bytes, including padding.
    pub bytes: u64,
    /// Its bytes without padding.
    pub unpadded_bytes: Option<u64>,
    /// Its shape.
    pub shape: Option<Shape>,
    /// The operator that the allocation is for or, if the message names none, XLA's label.
    pub operator: Option<String>,
    /// The file and the line of the operator in the user's program, such as `train.py:43`.
    pub source: Option<String>,
    /// The kind of allocation, such as `HLO temp`.
    pub kind: Option<String>,
    /// The compiler's tag, such as `input window allocation for operator input 0.`
    pub tag: Option<String>,
}

impl ReportedAllocation {
    /// How many of its bytes are padding; `None` if the message does not say.
    ///
    /// ```
    /// let allocation = xla_shape_hlo::ReportedAllocation { bytes: 4096, unpadded_bytes: Some(96), ..Default::default() };
    /// assert_eq!(allocation.padding_bytes(), Some(4000));
    /// ```
    #[must_use]
    pub fn padding_bytes(&self) -> Option<u64> {
        self.bytes.checked_sub(self.unpadded_bytes?)
    }
}

/// What the next line of a log can be, given the lines before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum ExpectedLine {
    #[default]
    Anything,
    /// A line of the statistics of a program for a GPU. Their amounts begin at `first`; the sum comes after its parts.
    Assignment {
        /// The number of the line before the statistics.
        line: u64,
        first: usize,
    },
    /// A part of a total.
    Part,
    /// A field of an allocation.
    Allocation,
}

/// What the sum of the statistics of a program for a GPU is for.
const ASSIGNMENT: &str = "buffer assignment";
/// What comes before the name of a part, as long as the sum is not known.
const WITHOUT_SUM: &str = "buffer assignment, ";

/// The most characters of an operator that are kept.
const MAX_OPERATOR: usize = 200;

impl OutOfMemory {
    /// Reads the next line of a log, with its line number.
    ///
    /// ```
    /// let mut messages = xla_shape_hlo::OutOfMemory::default();
    /// messages.read_line(7, "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4096 bytes.");
    /// assert_eq!((messages.amounts[0].line, messages.amounts[0].bytes), (7, 4096));
    /// ```
    pub fn read_line(&mut self, line: u64, text: &str) {
        // A message may be quoted in a comment, with `//` before each of its lines.
        let text = text.trim();
        let text = text.strip_prefix("//").map_or(text, str::trim_start);
        self.refusals.read_line(line, text);
        // The branch below that reads a line sets what may follow it. After any other line, nothing is expected, so the list ends.
        let expected = core::mem::take(&mut self.expected);
        if let Some(pending) = self.pending.take_if(|_| !text.is_empty()) {
            if field(text, "Size:").and_then(size).is_some() {
                self.allocations.push(pending);
            } else {
                self.mixed.get_or_insert(line);
            }
        }
        if let Some(allocation) = llo_allocation(line, text) {
            self.allocations.push(allocation);
            if !text.contains(" would exceed memory ") {
                // A line break before the allocation may have divided a sentence, so this line is read together with those before it.
                let recent = &self.recent.text;
                if recent.contains(" would exceed memory ") && !recent.contains("space=") {
                    self.read_with_recent(line, text);
                }
                return;
            }
        }
        if let Some((rank, bytes)) = listed(text) {
            self.allocations.push(ReportedAllocation { line, rank, bytes, ..ReportedAllocation::default() });
            self.expected = ExpectedLine::Allocation;
        } else if let Some(rank) =
            between(text, "Buffer ", ":").and_then(|rank| rank.parse().ok()).filter(|_| text.ends_with(':'))
        {
            self.pending = Some(ReportedAllocation { line, rank, ..ReportedAllocation::default() });
            self.expected = ExpectedLine::Allocation;
        } else if expected == ExpectedLine::Allocation && !text.starts_with("==") {
            self.expected = ExpectedLine::Allocation;
            self.read_field(text);
        } else if text.ends_with("BufferAssignment stats:") {
            self.expected = ExpectedLine::Assignment { line, first: self.amounts.len() };
        } else if let ExpectedLine::Assignment { line: begins, first } = expected
            && self.read_assignment([begins, line], first, text)
        {
            self.expected = expected;
        } else if let Some((text, amounts)) = self.with_instruction(line, text) {
            let first = self.amounts.len();
            self.recent = Recent { text, first: line, lines: 1, amounts: first..first + amounts.len() };
            self.add(amounts);
        } else if (expected == ExpectedLine::Part && self.read_part(line, text))
            || text.starts_with("Persistent allocations include")
        {
            self.expected = ExpectedLine::Part;
        } else if !self.read_with_recent(line, text) && says_that_memory_ran_out(text) {
            self.without_sizes.push(line);
        } else if is_about_other_resources(text) {
            // The line with the status comes before the one that says what was exhausted.
            while self.without_sizes.pop_if(|without| without.saturating_add(2) >= line).is_some() {}
        }
    }

    /// The amounts of a line, and its text, which includes the lines before it if they name the instruction.
    fn with_instruction(&self, line: u64, text: &str) -> Option<(String, Vec<ReportedAmount>)> {
        let recent = &self.recent;
        let is_named = recent.amounts.is_empty() && recent.text.contains(" on stack for %");
        let joined = is_named.then(|| [&recent.text, " ", text].concat());
        let read = |text: String| all_amounts(line, &text).map(|amounts| (text, amounts));
        joined.and_then(read).or_else(|| read(text.to_owned()))
    }

    fn add(&mut self, amounts: Vec<ReportedAmount>) {
        // Statistics have all their parts in one line.
        let has_list = amounts.first().is_some_and(|amount| amount.cause != AmountCause::Statistics);
        self.amounts.extend(amounts);
        if has_list {
            self.expected = ExpectedLine::Part;
        }
    }

    /// Reads a line together with the lines before it, because mail and terminals break lines inside of sentences.
    fn read_with_recent(&mut self, line: u64, text: &str) -> bool {
        /// The most lines of one sentence, and the longest line that is part of one.
        const LINES: usize = 6;
        const LONGEST: usize = 1000;
        /// The most lines of statistics with one figure in each.
        const STATISTICS: usize = 20;
        let is_open = self.recent.text.split_once("CompiledMemoryStats(").is_some_and(|(_, rest)| !rest.contains(')'));
        let lines = if is_open { STATISTICS } else { LINES };
        let is_short = text.len() <= LONGEST && !text.is_empty();
        let has_more = !self.recent.amounts.is_empty() && self.amounts.len() > self.recent.amounts.end;
        if is_short && !has_more && (1..lines).contains(&self.recent.lines) {
            self.recent.lines += 1;
            self.recent.text.push(' ');
            self.recent.text.push_str(text);
            let first = self.recent.first;
            if let Some(amounts) = all_amounts(first, &self.recent.text) {
                // The amounts of the shorter sentence are replaced.
                let start = self.recent.amounts.start.min(self.amounts.len());
                let start = if self.recent.amounts.is_empty() { self.amounts.len() } else { start };
                self.amounts.truncate(start);
                self.recent.amounts = start..start + amounts.len();
                self.without_sizes.retain(|&without| without < first || without > line);
                self.add(amounts);
                return true;
            }
            return false;
        }
        let is_about_memory = ["emory", "lloc", "Used ", " usage", "equirement", "ttempting", "xhausted", "XHAUSTED"];
        let is_beginning = is_short && is_about_memory.iter().any(|words| text.contains(words));
        let text = if is_beginning { text.to_owned() } else { String::new() };
        self.recent = Recent { text, first: line, lines: usize::from(is_beginning), amounts: 0..0 };
        false
    }

    /// What compilers and runtimes refused, other than for memory: each message once, in the order of the log.
    ///
    /// ```
    /// let mut messages = xla_shape_hlo::OutOfMemory::default();
    /// messages.read_line(1, "Mosaic failed to compile TPU kernel: Bad lhs type");
    /// assert_eq!(messages.refusals()[0].code(), Some("E2001"));
    /// ```
    #[must_use]
    pub fn refusals(&self) -> Vec<Refusal> {
        let is_explained = |line, code: Code| {
            let amounts = self.amounts.iter().filter(|amount| amount.cause != AmountCause::Unknown);
            amounts.into_iter().any(|amount| amount.cause.code() == Some(code.id()) || is_near(line, amount.line))
        };
        self.refusals.refusals(is_explained)
    }

    /// Whether no message was found.
    ///
    /// ```
    /// assert!(xla_shape_hlo::OutOfMemory::default().is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.amounts.is_empty()
            && self.allocations.is_empty()
            && self.without_sizes.is_empty()
            && self.refusals.is_empty()
    }

    /// Reads a line of XLA's statistics of a program for a GPU, such as `constant allocation:         4B`. The amounts of the statistics begin at
    /// `first`. Their sum is in one of the last lines. Until it is read, its parts are amounts of their own.
    fn read_assignment(&mut self, [begins, line]: [u64; 2], first: usize, text: &str) -> bool {
        let cause = AmountCause::Statistics;
        let Some((what, bytes)) = text.split_once(':') else { return false };
        let Some(bytes) = size(bytes.split('(').next().unwrap_or("")) else { return false };
        let parts = self.amounts.get_mut(first..).unwrap_or_default();
        let is_summed = parts.first().is_some_and(|amount| amount.what == ASSIGNMENT);
        let Some((what, is_fragmentation)) = (match what.trim().rsplit_once(' ') {
            Some((what, "allocation")) => Some((what, false)),
            Some((what, "fragmentation")) => Some((what, true)),
            _ => None,
        }) else {
            return false;
        };
        let what = what.replace("maybe_live_out", "live out");
        if is_fragmentation {
            let of = if what == "total" { ASSIGNMENT } else { &what };
            if let Some(amount) = parts.iter_mut().find(|amount| amount.what.trim_start_matches(WITHOUT_SUM) == of) {
                amount.fragmentation_bytes = Some(bytes);
            }
        } else if what == "total" && !is_summed {
            for part in parts {
                part.is_part = true;
                part.what = part.what.trim_start_matches(WITHOUT_SUM).to_owned();
            }
            let what = ASSIGNMENT.to_owned();
            self.amounts.insert(first, ReportedAmount { line: begins, what, bytes, cause, ..Default::default() });
        } else {
            let what = if is_summed { what } else { [WITHOUT_SUM, &what].concat() };
            self.amounts.push(ReportedAmount { line, what, is_part: is_summed, bytes, cause, ..Default::default() });
        }
        true
    }

    /// Reads a field of an allocation.
    fn read_field(&mut self, text: &str) {
        let Some(allocation) = self.allocations.last_mut() else { return };
        let kept = |text: &str| text.chars().take(MAX_OPERATOR).collect::<String>();
        if let Some(bytes) = field(text, "Size:").and_then(size) {
            allocation.bytes = bytes;
        } else if let Some(shape) = field(text, "Shape:").or_else(|| field(text, "Entry Parameter Subshape:")) {
            let shape = find_shapes(shape).next().or_else(|| find_spelled_shapes(shape).next());
            allocation.shape = shape.map(|found| found.shape);
        } else if let Some(bytes) = field(text, "Unpadded size:") {
            allocation.unpadded_bytes = size(bytes);
        } else if let Some(operator) = field(text, "Operator:") {
            let name = quoted(operator, "op_name=\"");
            allocation.operator = Some(kept(name.unwrap_or(operator)));
            let line = operator
                .split_once("source_line=")
                .map(|(_, line)| line.chars().take_while(char::is_ascii_digit).take(MAX_OPERATOR).collect::<String>());
            let line = line.filter(|line| !line.is_empty()).map_or_else(String::new, |line| alloc::format!(":{line}"));
            allocation.source = quoted(operator, "source_file=\"").map(|file| alloc::format!("{}{line}", kept(file)));
        } else if let Some(label) = field(text, "XLA label:").or_else(|| field(text, "XLA Label:")) {
            let label = kept(label);
            allocation.operator.get_or_insert(label);
        } else if let Some(kind) = field(text, "Allocation type:") {
            allocation.kind = Some(kept(kind));
        } else if let Some(tag) = field(text, "Tag:") {
            allocation.tag = Some(kept(tag));
        }
    }

    /// Reads a part of a total, such as `program    21.95G`, or
    /// `HLO temp  3.93G (97.4% utilization: Unpadded (3.81G) Padded (3.92G), 0.4% fragmentation (14.68M))`.
    fn read_part(&mut self, line: u64, text: &str) -> bool {
        // A remark after the name: `reserved(Infeed/Outfeed/Continuations) 529.00M`.
        let (name, remark) = text.split_once('(').unwrap_or((text, ""));
        let is_remark = !name.contains(|c: char| c.is_ascii_digit());
        let (part, details) = match remark.split_once(')').filter(|_| is_remark) {
            Some((_, after)) => ([name.trim(), after.split('(').next().unwrap_or("")].join(" "), after),
            None => (name.to_owned(), remark),
        };
        let Some((what, bytes)) = part.trim().rsplit_once(char::is_whitespace) else { return false };
        let what = what.trim().trim_end_matches(':');
        // A line of a sentence ends with a size, too: `capacity by 317.2K`.
        let is_name = !what.is_empty()
            && what.len() <= 40
            && what.chars().all(|c| c.is_alphabetic() || matches!(c, ' ' | '-'))
            && what.rsplit(' ').next() != Some("by");
        let Some(bytes) = size(bytes).filter(|_| is_name) else { return false };
        let detail = |name: &str| size(details.split_once(name)?.1.split_once(')')?.0);
        let cause = self.amounts.last().map(|amount| amount.cause).unwrap_or_default();
        self.amounts.push(ReportedAmount {
            line,
            what: what.to_owned(),
            is_part: true,
            bytes,
            unpadded_bytes: detail("Unpadded ("),
            padded_bytes: detail(" Padded ("),
            fragmentation_bytes: detail("fragmentation ("),
            cause,
            ..ReportedAmount::default()
        });
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{OutOfMemory, size};
    use alloc::string::ToString;
    use alloc::vec::Vec;

    fn read(log: &str) -> OutOfMemory {
        let mut messages = OutOfMemory::default();
        (1..).zip(log.lines()).for_each(|(number, line)| messages.read_line(number, line));
        messages
    }

    #[test]
    fn sizes_end_sentences() {
        assert_eq!((size("16.00MiB."), size("1.5K of"), size("many.")), (Some(16 << 20), Some(1536), None));
    }

    #[test]
    fn the_stated_excess_is_kept() {
        for (message, over) in [
            ("Used 1.00M of 1.00M smem. Exceeded smem capacity by 1.7K.", Some(1740)),
            ("Used 31.28G of 31.25G hbm. Exceeded hbm capacity by 33.24M. See", Some(34_854_666)),
            ("Scoped allocation with size 17.00M and limit 16.00M exceeded scoped vmem limit by 1.00M.", Some(1 << 20)),
            ("Used 31.28G of 31.25G hbm.", None),
        ] {
            assert_eq!(read(message).amounts[0].over, over, "{message}");
        }
    }

    #[test]
    fn parts_have_names_of_two_words_and_details() {
        let messages = read(
            "Program hbm requirement 4.34G:\n    scoped           17.43M\n    HLO temp          3.93G (97.4% utilization: \
             Unpadded (3.81G) Padded (3.92G), 0.4% fragmentation (14.68M))\n    overlays         414.43M\n",
        );
        let told: Vec<_> = messages.amounts.iter().map(|amount| amount.what.as_str()).collect();
        assert_eq!(told, ["hbm, program", "scoped", "HLO temp", "overlays"]);
        let temp = &messages.amounts[2];
        assert!(temp.unpadded_bytes < temp.padded_bytes && temp.padded_bytes < Some(temp.bytes));
        assert_eq!(temp.fragmentation_bytes, size("14.68M"));
    }

    #[test]
    fn sizes_of_another_allocator_are_read() {
        let message = "CUDA out of memory. Tried to allocate 1.02 GiB. GPU 0 has a total capacity of 139.81 GiB of which 860.69 MiB is free.";
        let amount = &read(message).amounts[0];
        assert_eq!((Some(amount.bytes), amount.limit), (size("1.02GiB"), size("860.69MiB")));
    }

    #[test]
    fn totals_are_read() {
        let messages = read(
            "XlaRuntimeError: RESOURCE_EXHAUSTED: E1000: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. \
             Used 21.95G of 15.48G hbm. Exceeded hbm capacity by 6.47G.\n\
             \n\
             Total hbm usage >= 22.47G:\n    reserved        530.00M\n    program          21.95G\n    arguments            0B\n\
             \n    other 3K\n",
        );
        let told: Vec<_> =
            messages.amounts.iter().map(|amount| (amount.what.as_str(), amount.is_part, amount.line)).collect();
        assert_eq!(
            told,
            [
                ("hbm", false, 1),
                ("hbm, total", false, 3),
                ("reserved", true, 4),
                ("program", true, 5),
                ("arguments", true, 6)
            ]
        );
        let message =
            "TPU TensorCore Hbm usage: 34.82G, SparseCore Hbm usage 174.10G, exceeding available bytes: 95.74G";
        let amounts = read(message).amounts;
        assert_eq!(amounts.iter().map(|amount| amount.is_part).collect::<Vec<_>>(), [false, true, true]);
        assert_eq!(amounts[0].over.map(|over| over >> 30), Some(113));
        assert!(amounts[0].limit.is_some_and(|limit| limit >> 30 == 95));
        let messages = read(
            "Error allocating device buffer: Attempting to allocate 8.00M. That was not possible. There are 6.43M free.",
        );
        assert_eq!((messages.amounts[0].bytes, messages.amounts[0].limit.map(|free| free >> 20)), (8 << 20, Some(6)));
    }

    /// Each as libtpu 0.0.52 or PJRT writes it.
    #[test]
    fn messages_of_one_line_are_read() {
        let one = |text: &str| {
            let messages = read(text);
            let [amount] = &messages.amounts[..] else { panic!("{messages:?}") };
            (amount.what.clone(), amount.bytes >> 10, amount.limit.map(|limit| limit >> 10))
        };
        let hbm = "RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory required for HLO \
                   temporaries (24.00G) exceeds available HBM (15.75G). HLO module: jit_step.";
        assert_eq!(one(hbm), ("hbm, in all".into(), 24 << 20, Some(63 << 18)));
        let scoped = "Ran out of memory in memory space vmem while allocating on stack for %kernel = bf16[2048,4096] \
                      custom-call(). Scoped allocation with size 23.50M and limit 16.00M exceeded scoped vmem limit by 7.50M.";
        assert_eq!(one(scoped), ("vmem, scoped".into(), 24064, Some(16 << 10)));
        let kernel = "Allocation (size=268435456) would exceed memory (size=134217728) :: #allocation3 [shape = \
                      'f32[8192,8192]{1,0:T(8,128)}', space=vmem, size = 0x10000000, scoped, tag = 'scratch operand'] :: k";
        assert_eq!(one(kernel), ("vmem".into(), 256 << 10, Some(128 << 10)));
        assert_eq!(
            one("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 17179869184 bytes."),
            ("requested".into(), 16 << 20, None)
        );
        assert_eq!(read("RESOURCE_EXHAUSTED: no words that are known").without_sizes, [1]);
    }

    #[test]
    fn allocations_are_read() {
        let messages = read(
            "Program vmem requirement 29.95M:\n    scoped           29.95M\n\n  Largest program allocations in vmem:\n\n\
             1. Size: 29.66M\n     XLA label: register allocator spill slots call depth 2\n     Allocation type: scoped\n\
             ==========================\n\n\
             2. Size: 64.0K\n     Operator: op_name=\"jit(f)/dot\" source_file=\"a.py\"\n     Shape: f32[128,3]{1,0}\n\
             Unpadded size: 1.5K\n     Extra memory due to padding: 62.5K (42.7x expansion)\n     XLA label: fusion = fusion(x)\n\
             Allocation type: HLO temp\n     ====\n",
        );
        assert_eq!(messages.allocations.len(), 2);
        let [spills, temp] = &messages.allocations[..] else { panic!("two") };
        assert_eq!(spills.operator.as_deref(), Some("register allocator spill slots call depth 2"));
        assert_eq!((spills.kind.as_deref(), &spills.shape), (Some("scoped"), &None));
        assert_eq!(temp.operator.as_deref(), Some("jit(f)/dot"));
        assert_eq!(temp.shape.as_ref().map(ToString::to_string).as_deref(), Some("f32[128,3]{1,0}"));
        assert_eq!((temp.bytes, temp.unpadded_bytes), (64 << 10, Some(1536)));
    }

    #[test]
    fn other_text_says_nothing() {
        let messages =
            read("1. Size: many\n2. Sizes\nUsed 3 of them\nTotal x usage >= :\nAttempting to allocate\nmany\n");
        assert!(messages.amounts.is_empty() && messages.allocations.is_empty(), "{messages:?}");
    }
}
