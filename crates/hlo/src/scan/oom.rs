//! XLA's out-of-memory messages: how much memory was used of how much, and the largest allocations.

use super::find_shapes;
use super::size::first_byte_count;
use super::spelling::find_spelled_shapes;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use xla_shape_core::Shape;

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
    expected: ExpectedLine,
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
}

/// An allocation in a message.
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
    /// The operator that it is for or, without one, XLA's label.
    pub operator: Option<String>,
    /// The file and the line of the operator in the user's program, such as `train.py:43`.
    pub source: Option<String>,
    /// The kind of allocation, such as `HLO temp`.
    pub kind: Option<String>,
    /// The compiler's tag, such as `input window allocation for operator input 0.`
    pub tag: Option<String>,
}

/// The text between this beginning and the next quote.
fn quoted<'t>(text: &'t str, beginning: &str) -> Option<&'t str> {
    Some(text.split_once(beginning)?.1.split_once('"')?.0)
}

/// What the next line of a log can be, given the lines before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum ExpectedLine {
    #[default]
    Anything,
    /// A part of a total.
    Part,
    /// A field of an allocation.
    Allocation,
}

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
        let text = text.trim();
        let expected = core::mem::take(&mut self.expected);
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
        let (number, rest) = text.split_at_checked(digits).unwrap_or(("", text));
        if let (Ok(rank), Some(bytes)) = (number.parse(), field(rest.trim_start_matches('.'), "Size:").and_then(size)) {
            self.allocations.push(ReportedAllocation { line, rank, bytes, ..ReportedAllocation::default() });
            self.expected = ExpectedLine::Allocation;
        } else if expected == ExpectedLine::Allocation && !text.starts_with("==") {
            self.expected = ExpectedLine::Allocation;
            self.read_field(text);
        } else if let Some(mut amounts) = amounts(line, text) {
            if let [first, ..] = &mut amounts[..] {
                first.over = exceeded_by(text);
            }
            self.amounts.extend(amounts);
            self.expected = ExpectedLine::Part;
        } else if expected == ExpectedLine::Part {
            self.read_part(line, text);
        } else if ["out of memory", "Out of memory", "RESOURCE_EXHAUSTED", "Resource exhausted"]
            .iter()
            .any(|words| text.contains(words))
        {
            self.without_sizes.push(line);
        }
    }

    /// Reads a field of an allocation.
    fn read_field(&mut self, text: &str) {
        let Some(allocation) = self.allocations.last_mut() else { return };
        let kept = |text: &str| text.chars().take(MAX_OPERATOR).collect::<String>();
        if let Some(shape) = field(text, "Shape:") {
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
        } else if let Some(label) = field(text, "XLA label:") {
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
    fn read_part(&mut self, line: u64, text: &str) {
        let (part, details) = text.split_once('(').unwrap_or((text, ""));
        let Some((what, bytes)) = part.trim().rsplit_once(char::is_whitespace) else { return };
        let what = what.trim().trim_end_matches(':');
        let is_name = !what.is_empty() && what.len() <= 40 && what.chars().all(|c| c.is_alphabetic() || c == ' ');
        if let Some(bytes) = size(bytes).filter(|_| is_name) {
            let detail = |name: &str| size(details.split_once(name)?.1.split_once(')')?.0);
            self.amounts.push(ReportedAmount {
                line,
                what: what.to_owned(),
                is_part: true,
                bytes,
                unpadded_bytes: detail("Unpadded ("),
                padded_bytes: detail(" Padded ("),
                fragmentation_bytes: detail("fragmentation ("),
                ..ReportedAmount::default()
            });
            self.expected = ExpectedLine::Part;
        }
    }
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.trim_start().strip_prefix(name).map(str::trim)
}

/// The amounts in a line that states how much memory is used or requested.
fn amounts(line: u64, text: &str) -> Option<Vec<ReportedAmount>> {
    let after = |text: &'static str| move |line: &str| line.split_once(text).map(|(_, rest)| rest.to_owned());
    let amount =
        |what: &str, bytes, limit| ReportedAmount { line, what: what.to_owned(), bytes, limit, ..Default::default() };
    if let Some(rest) = after("Used ")(text)
        && let Some((used, rest)) = rest.split_once(" of ")
        && let (Some(bytes), Some(limit)) = (size(used), size(rest.split(' ').next()?))
    {
        let what = rest.split(' ').nth(1).unwrap_or("").trim_matches(|c: char| !c.is_alphanumeric());
        return Some(alloc::vec![amount(what, bytes, Some(limit))]);
    }
    // `the total memory required for HLO temporaries (24.00G) exceeds available HBM (15.75G)`
    if let Some((needed, available)) = text.split_once(" exceeds available ")
        && let (Some((before, bytes)), Some((space, limit))) = (in_brackets(needed), in_brackets(available))
        && let (Some(bytes), Some(limit)) = (size(bytes), size(limit))
    {
        let whose = before.rsplit_once(" for ").map_or("total", |(_, whose)| whose).trim();
        let what = alloc::format!("{}, {whose}", space.trim().to_ascii_lowercase());
        return Some(alloc::vec![amount(&what, bytes, Some(limit))]);
    }
    // `Scoped allocation with size 23.49M and limit 16.00M exceeded scoped vmem limit by 7.49M`
    if let Some(rest) = after("allocation with size ")(text)
        && let Some((bytes, rest)) = rest.split_once(" and limit ")
        && let (Some(bytes), Some(limit)) = (size(bytes), size(rest.split(' ').next()?))
    {
        let what = if rest.contains(" vmem ") { "vmem, scoped" } else { "scoped" };
        return Some(alloc::vec![amount(what, bytes, Some(limit))]);
    }
    // `Allocation (size=268435456) would exceed memory (size=134217728) :: … space=vmem`
    if let Some(rest) = after("Allocation (size=")(text)
        && let Some((bytes, rest)) = rest.split_once(") would exceed memory (size=")
        && let (Some(bytes), Some(limit)) = (size(bytes), size(rest.split(')').next()?))
    {
        let space =
            rest.split_once("space=").map_or("memory", |(_, space)| space.split([',', ']', ' ']).next().unwrap_or(""));
        return Some(alloc::vec![amount(space, bytes, Some(limit))]);
    }
    for words in
        ["Out of memory while trying to allocate ", "Out of memory allocating ", "Failed to allocate request for "]
    {
        if let Some(bytes) = after(words)(text).and_then(|rest| size(rest.split(' ').next()?)) {
            return Some(alloc::vec![amount("requested", bytes, None)]);
        }
    }
    // `CUDA out of memory. Tried to allocate 1.02 GiB. GPU 0 has a total capacity of 139.81 GiB of which 860.69 MiB is free.`
    if let Some(rest) = after("Tried to allocate ")(text) {
        let free = after(" of which ")(&rest).and_then(|free| sentence_size(&free));
        return Some(alloc::vec![amount("requested", sentence_size(&rest)?, free)]);
    }
    if let Some(rest) = after("TensorCore Hbm usage: ")(text) {
        let limit = after("exceeding available bytes: ")(&rest).and_then(|limit| size(&limit));
        let mut amounts = alloc::vec![amount("TensorCore hbm", size(rest.split(',').next()?)?, limit)];
        let sparse = after("SparseCore Hbm usage ")(&rest);
        let sparse = sparse.and_then(|sparse| size(sparse.trim_start_matches(": ").split(',').next()?));
        amounts.extend(sparse.map(|bytes| amount("SparseCore hbm", bytes, limit)));
        return Some(amounts);
    }
    for (words, what) in [("Attempting to allocate ", "requested"), ("Attempting to reserve ", "requested")] {
        if let Some(rest) = after(words)(text) {
            let free = after("There are ")(&rest).and_then(|free| size(free.split(' ').next()?));
            return Some(alloc::vec![amount(what, size(rest.split(' ').next()?.trim_end_matches('.'))?, free)]);
        }
    }
    // `Total hbm usage >= 22.47G:` and `Program vmem requirement 29.95M:`
    let total = text.strip_prefix("Total ").and_then(|rest| rest.split_once(" usage >= "));
    let program = text.strip_prefix("Program ").and_then(|rest| rest.split_once(" requirement "));
    let (space, bytes) = total.or(program)?;
    let whose = if total.is_some() { "total" } else { "program" };
    Some(alloc::vec![amount(&alloc::format!("{space}, {whose}"), size(bytes)?, None)])
}

/// The size in `Exceeded hbm capacity by 33.24M` or `exceeded scoped vmem limit by 1.00M`.
fn exceeded_by(text: &str) -> Option<u64> {
    text.split("xceeded ").skip(1).find_map(|rest| {
        let (_, bytes) = rest.split_once(" by ").filter(|(what, _)| what.split(' ').count() <= 3)?;
        size(bytes.split_whitespace().next()?)
    })
}

/// The first size in parentheses, and the text before it.
fn in_brackets(text: &str) -> Option<(&str, &str)> {
    text.match_indices('(').find_map(|(at, _)| {
        let (before, rest) = (text.get(..at)?, text.get(at.checked_add(1)?..)?);
        let (inside, _) = rest.split_once(')')?;
        size(inside).map(|_| (before, inside))
    })
}

/// The size at the beginning of a sentence, with or without a space before its unit.
fn sentence_size(text: &str) -> Option<u64> {
    let mut words = text.split_whitespace().map(|word| word.trim_end_matches(['.', ',', ';']));
    let (number, unit) = (words.next()?, words.next().unwrap_or(""));
    size(&alloc::format!("{number} {unit}")).or_else(|| size(number))
}

/// Parses a size, with or without punctuation after it.
fn size(text: &str) -> Option<u64> {
    first_byte_count(text.trim().trim_end_matches([':', '.', ',', ';', ')']))
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
        assert_eq!(amounts.len(), 2);
        assert_eq!(amounts[1].limit, amounts[0].limit);
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
        assert_eq!(one(hbm), ("hbm, HLO temporaries".into(), 24 << 20, Some(63 << 18)));
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
            read("1. Size: many\n2. Sizes\nUsed 3 of them\nTotal x usage >= :\nAttempting to allocate\n1.\n");
        assert!(messages.amounts.is_empty() && messages.allocations.is_empty(), "{messages:?}");
    }
}
