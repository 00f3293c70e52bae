//! Operations that begin and end in different instructions.
//!
//! A message has `async-start`, `async-update` and `async-done`, and the operation in a computation. Where that computation is
//! a single instruction, the text has it in their place: `slice-start`, `slice-done`.

use crate::opcode::Opcode;

/// Which of its instructions one is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Start,
    Update,
    Done,
}

impl Step {
    const ALL: [Self; 3] = [Self::Start, Self::Update, Self::Done];

    pub(crate) const fn opcode(self) -> Opcode<'static> {
        match self {
            Self::Start => Opcode::AsyncStart,
            Self::Update => Opcode::AsyncUpdate,
            Self::Done => Opcode::AsyncDone,
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
#[cfg(feature = "proto")]
pub(crate) fn step(opcode: Opcode<'_>) -> Option<Step> {
    Step::ALL.into_iter().find(|step| step.opcode() == opcode)
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
    let steps = Step::ALL.into_iter();
    steps.filter_map(|step| Some((opcode.strip_suffix(step.suffix())?, step))).find(|(opcode, _)| !opcode.is_empty())
}

impl<'a> Opcode<'a> {
    /// What an asynchronous operation in short form stands for: `slice-start` is an `async-start` that calls a computation
    /// of one `slice`. Nothing for all other opcodes.
    ///
    /// ```
    /// use xla_shape_hlo::Opcode;
    ///
    /// let (step, operation) = Opcode::from_text("slice-start").long_form().unwrap();
    /// assert_eq!((step, operation), (Opcode::AsyncStart, Opcode::Slice));
    /// assert!(Opcode::CopyStart.long_form().is_none());
    /// ```
    #[must_use]
    pub fn long_form(self) -> Option<(Opcode<'static>, Opcode<'a>)> {
        short(self.text()).map(|(operation, step)| (step.opcode(), Opcode::from_text(operation)))
    }
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
