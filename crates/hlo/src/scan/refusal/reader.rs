//! Collects the messages of a log, line by line, and reads them as wholes: a message can have many lines, and a line can be wrapped.

use super::{Code, Refusal, RefusalCause};
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

/// What XLA says about an instruction of its own, not a kernel, that needs too much VMEM.
pub(crate) const NO_VMEM: &str = "should not be possible to run out of vmem";

/// What the driver of NVIDIA's GPUs says about memory, often without sizes.
pub(crate) const CUDA_MEMORY: [&str; 2] = ["CUDA error: out of memory", "CUDA_ERROR_OUT_OF_MEMORY"];

/// What NCCL's log says about a failed call of CUDA.
pub(crate) const NCCL_FAILURE: &str = "Cuda failure";

/// How messages name the small memories in which only the compiler allocates. Such a message may have no sizes.
pub(crate) const NO_SPACE: [&str; 2] = ["out of memory in memory space smem", "out of memory in memory space sflag"];

/// What XLA says if a GPU's driver has no memory for a graph, which is what a command buffer becomes.
pub(crate) const GRAPHS: [&str; 2] = ["trying to instantiate command buffer", "Failed to instantiate CUDA graph"];

/// What Linux says when it ends a process because memory ran out. The line before, or the same one, states sizes in newer releases.
pub(crate) const KILLED: &str = "ut of memory: Kill";

/// What messages with the status `RESOURCE_EXHAUSTED` say about a resource other than memory.
pub(crate) const OTHER_RESOURCES: [&str; 2] = ["essage larger than max", "no more capacity in the zone"];

/// What begins a message.
const BEGINNINGS: [&str; 64] = [
    CUDA_MEMORY[0],
    CUDA_MEMORY[1],
    GRAPHS[0],
    GRAPHS[1],
    KILLED,
    OTHER_RESOURCES[0],
    OTHER_RESOURCES[1],
    NO_SPACE[0],
    NO_SPACE[1],
    NCCL_FAILURE,
    "failed to create cublas handle",
    "Failure to initialize cublas",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "ould not create cudnn handle",
    "CUDNN_STATUS_ALLOC_FAILED",
    "std::bad_alloc",
    "requires a recent libtpu version",
    "Autotuning failed for HLO",
    "Reductions over ",
    "Unsigned integer dtype ",
    "can be converted to scalars",
    "Unsupported dtype ",
    "Failed to prove that a tile index",
    "scalars from SMEM",
    "scalars to SMEM",
    "length of dimension semantics",
    "Mosaic failed to compile",
    "cannot statically prove",
    "expected parameter",
    "Expected parameter",
    "shape mismatch for TPUExecute argument",
    "returned from the entry computation",
    "moved to host (",
    "acceptable during pure memory offload",
    "device compute in host memory space",
    "converted into host compute",
    "No viable logical replica count",
    "exceeds the legitimate user",
    "halted unexpectedly",
    "halted prematurely",
    "nvoluntary full rematerialization",
    "minor_to_major field contains",
    "your block shape",
    "but its block shape",
    "Unimplemented primitive in Pallas",
    "is a Triton-specific primitive",
    "Unsupported cast: ",
    "emory requested exceeds device",
    "cannot be automatically partitioned",
    "Cannot store scalars to VMEM",
    "Invalid dtype for `swap`",
    "must be vector of integer or index values",
    "VectorElementTypeInterface",
    "only allowed on VMEM and SMEM references",
    "Unsupported TPU device kind",
    "must be aligned to til",
    "must be divisible by 512 bytes",
    "Bad lhs",
    "unsupported shape cast",
    "Padded transposes unsupported",
    "unsupported layout change",
    "Unsupported matmul",
    "to express slice on dimension",
    NO_VMEM,
];

/// What comes after a message.
const ENDS: [&str; 5] = [
    "Please report a bug",
    "The above exception was",
    "Traceback (most recent call last)",
    "For simplicity, JAX has removed",
    "The stack trace below excludes",
];

/// The longest message that is read, in bytes and in lines.
const MOST_BYTES: usize = 16 << 10;
const MOST_LINES: usize = 80;
/// The most messages that are kept.
const MOST_MESSAGES: usize = 200;
/// The most instructions that one refusal names.
const MOST_NAMES: usize = 20;
/// The longest line that can contain two shapes to compare.
const LONGEST_COMPARISON: usize = 4096;

/// The messages so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reader {
    refusals: Vec<Refusal>,
    open: Option<Message>,
    /// The codes of XLA's catalogue, each at its first place.
    codes: Vec<(u64, Code)>,
    /// The line before, which may have the first words of a message.
    before: String,
    /// Its number. Lines of other processes may come after it.
    before_line: u64,
}

/// Two shapes to compare that a line break divides.
fn across(before: &str, text: &str) -> Option<Refusal> {
    /// The most characters of a line that are searched.
    const MOST: usize = 400;
    let has_shape = |text: &str| text.contains(['[', '<']);
    if !has_shape(before) || !has_shape(text) {
        return None;
    }
    let start = before.char_indices().rev().nth(MOST).map_or(0, |(at, _)| at);
    let before = before.get(start..)?;
    let after: String = text.chars().take(MOST).collect();
    // Each of the two lines has only one of the shapes.
    let is_alone = |text: &str| crate::scan::find_shapes(text).take(2).count() == 1;
    (is_alone(before) && is_alone(&after)).then(|| super::rules::unequal_shapes(&[before, &after].join(" ")))?
}

/// Whether a message at line `message` belongs to the error code at line `code`: the message may follow the code a few lines later.
pub(crate) const fn is_near(code: u64, message: u64) -> bool {
    code <= message.saturating_add(1) && message <= code.saturating_add(8)
}

/// A message of which more lines may come.
#[derive(Clone, Debug)]
struct Message {
    line: u64,
    lines: usize,
    text: String,
}

impl Reader {
    pub(crate) fn read_line(&mut self, line: u64, text: &str) {
        let text = text.trim();
        if let Some(code) = Code::in_message(text)
            && !self.codes.iter().any(|(_, known)| *known == code)
        {
            self.codes.push((line, code));
        }
        // The words that begin a message may be divided by a line break. The two lines count as one only if neither has all of the words.
        let joined = if self.before.is_empty() { text.to_owned() } else { [&self.before, text].join(" ") };
        let begins = |text: &str| BEGINNINGS.iter().any(|words| text.contains(words));
        let (first, start) = match begins(text) {
            true => (text, Some(line)),
            false if begins(&joined) && !begins(&self.before) => (joined.as_str(), Some(self.before_line)),
            false => (text, None),
        };
        // Words that could begin a message also occur inside of messages. They end the open message only if its cause is already known.
        if let Some(start) = start
            && self.open.as_ref().is_none_or(|open| Refusal::read(&open.text).is_some_and(|read| read.cause.is_known()))
        {
            self.close();
            let text = first.chars().take(MOST_BYTES).collect();
            self.open = Some(Message { line: start, lines: 1, text });
        } else if let Some(open) = &mut self.open {
            open.lines += 1;
            let is_short = open.text.len() + text.len() < MOST_BYTES && open.lines <= MOST_LINES;
            if is_short && !ENDS.iter().any(|words| text.contains(words)) {
                open.text.push(' ');
                open.text.push_str(text);
            } else {
                self.close();
            }
        }
        if text.len() <= LONGEST_COMPARISON && self.open.is_none() {
            if let Some(refusal) = super::rules::unequal_shapes(text) {
                self.add(Refusal { line, ..refusal });
            } else if let Some(refusal) = across(&self.before, text) {
                self.add(Refusal { line: self.before_line, ..refusal });
            }
        }
        self.before.clear();
        self.before_line = line;
        if text.len() <= LONGEST_COMPARISON {
            self.before.push_str(text);
        }
    }

    fn close(&mut self) {
        if let Some(open) = self.open.take()
            && let Some(refusal) = Refusal::read(&open.text)
        {
            self.add(Refusal { line: open.line, ..refusal });
        }
    }

    /// Adds a refusal, unless the log repeats it. Operations that run on the host are one refusal.
    fn add(&mut self, refusal: Refusal) {
        if let RefusalCause::HostCompute { instructions: new } = &refusal.cause {
            let known = self.refusals.iter_mut().find_map(|refusal| match &mut refusal.cause {
                RefusalCause::HostCompute { instructions } => Some(instructions),
                _ => None,
            });
            if let Some(known) = known {
                let new = new.iter().filter(|name| !known.contains(name)).cloned().collect::<Vec<_>>();
                known.extend(new.into_iter().take(MOST_NAMES.saturating_sub(known.len())));
                return;
            }
        }
        let is_same = |other: &Refusal| Refusal { line: refusal.line, ..other.clone() } == refusal;
        if self.refusals.len() < MOST_MESSAGES && !self.refusals.iter().any(is_same) {
            self.refusals.push(refusal);
        }
    }

    /// All messages so far, each once. `is_explained` says whether another message explains a code at a line.
    pub(crate) fn refusals(&self, is_explained: impl Fn(u64, Code) -> bool) -> Vec<Refusal> {
        let mut all = self.clone();
        all.close();
        let Self { mut refusals, codes, .. } = all;
        // A code becomes a refusal of its own only if no message near it says more.
        for (line, code) in codes {
            let is_near = |refusal: &Refusal| is_near(line, refusal.line) || refusal.code() == Some(code.id());
            if !refusals.iter().any(is_near) && !is_explained(line, code) {
                refusals.push(Refusal { line, ..Refusal::of(RefusalCause::Code { code }) });
            }
        }
        refusals
    }

    /// Whether no message was found.
    pub(crate) fn is_empty(&self) -> bool {
        self.refusals.is_empty()
            && self.codes.is_empty()
            && self.open.as_ref().is_none_or(|open| Refusal::read(&open.text).is_none())
    }
}
