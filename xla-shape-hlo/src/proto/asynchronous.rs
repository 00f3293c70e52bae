//! Operations that begin and end in different instructions.
//!
//! A message has `async-start`, `async-update` and `async-done`, and the operation in a computation. Where that computation is
//! a single instruction, the text has it in their place: `slice-start`, `slice-done`.

use super::message::{HloComputationProto, HloInstructionProto};

/// The single instruction that an asynchronous operation is.
pub(crate) struct Wrapped<'p> {
    pub(crate) root: &'p HloInstructionProto,
    pub(crate) computation: &'p HloComputationProto,
}

/// Which of its instructions one is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Start,
    Update,
    Done,
}

impl Step {
    pub(crate) const fn opcode(self) -> &'static str {
        match self {
            Self::Start => "async-start",
            Self::Update => "async-update",
            Self::Done => "async-done",
        }
    }

    pub(crate) const fn suffix(self) -> &'static str {
        match self {
            Self::Start => "-start",
            Self::Update => "-update",
            Self::Done => "-done",
        }
    }
}

/// The step that an opcode of a message is.
pub(crate) fn step(opcode: &str) -> Option<Step> {
    [Step::Start, Step::Update, Step::Done].into_iter().find(|step| step.opcode() == opcode)
}

/// Opcodes that only look like the short form of an asynchronous operation.
const OWN: [&str; 12] = [
    "all-gather-done",
    "all-gather-start",
    "all-reduce-done",
    "all-reduce-start",
    "async-done",
    "async-start",
    "async-update",
    "collective-permute-done",
    "collective-permute-start",
    "copy-done",
    "copy-start",
    "recv-done",
];

/// The opcode and the step of a short form: `slice-start`.
pub(crate) fn short(opcode: &str) -> Option<(&str, Step)> {
    if OWN.contains(&opcode) || opcode == "send-done" {
        return None;
    }
    let steps = [Step::Start, Step::Update, Step::Done].into_iter();
    steps.filter_map(|step| Some((opcode.strip_suffix(step.suffix())?, step))).find(|(opcode, _)| !opcode.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{Step, short};

    #[test]
    fn short_forms() {
        assert_eq!(short("slice-start"), Some(("slice", Step::Start)));
        assert_eq!(short("custom-call-update"), Some(("custom-call", Step::Update)));
        assert_eq!(short("all-gather-done"), None);
        assert_eq!(short("send-done"), None);
        assert_eq!(short("-start"), None);
        assert_eq!(short("slice"), None);
    }
}
