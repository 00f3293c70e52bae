//! Asynchronous operations, which start and end in different instructions.
//!
//! An `HloModuleProto` has `async-start`, `async-update` and `async-done`, which call a computation with the wrapped operation.
//! If that computation is a single instruction, HLO text uses a short form: `slice-start`, `slice-done`
//! (`HloAsyncInstruction` in `xla/hlo/ir/hlo_instructions.cc`; `HloParserImpl::ParseInstructionRhs` expands it).

use crate::attribute::Attribute;
use crate::module::Instruction;
use crate::schema::Key;
use crate::schema::opcode::Opcode;

/// Which of the three instructions of an asynchronous operation.
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

/// The step that an opcode stands for in an `HloInstructionProto`.
#[cfg(feature = "proto")]
pub(crate) fn step(opcode: Opcode<'_>) -> Option<Step> {
    Step::ALL.into_iter().find(|step| step.opcode() == opcode)
}

/// Opcodes that end like a short form but are opcodes of their own in XLA (`xla/hlo/ir/hlo_opcode.h`).
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

/// Splits a short form such as `slice-start` into the wrapped opcode and the step.
pub(crate) fn short(opcode: &str) -> Option<(&str, Step)> {
    if OWN.contains(&opcode) || opcode == "send-done" {
        return None;
    }
    let steps = Step::ALL.into_iter();
    steps.filter_map(|step| Some((opcode.strip_suffix(step.suffix())?, step))).find(|(opcode, _)| !opcode.is_empty())
}

impl<'a> Opcode<'a> {
    /// Expands the short form of an asynchronous operation into its step and the wrapped opcode: `slice-start` is an
    /// `async-start` that calls a computation of one `slice`. `None` for all other opcodes.
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

impl<'m> Instruction<'m, '_> {
    /// The sharding of the wrapped operation, for a start in short form that also has a sharding of its own. XLA prints both, that
    /// of the wrapped operation first (`HloAsyncInstruction::PrintExtraAttributesImpl` in `xla/hlo/ir/hlo_instructions.cc`).
    pub(crate) fn wrapped_sharding(self) -> Option<Attribute<'m>> {
        short(self.opcode().text()).filter(|(_, step)| *step == Step::Start)?;
        let mut shardings = self.attributes().filter(|attribute| attribute.name() == Key::Sharding.name());
        let first = shardings.next()?;
        shardings.next().map(|_| first)
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
