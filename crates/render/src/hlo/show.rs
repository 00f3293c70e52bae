//! One instruction of a program, as text.

use crate::words::{Grouped, InUnits, count};
use crate::{Show, Text};
use xla_shape_answers::cost::Amount;
use xla_shape_answers::hlo::ShownInstruction;
use xla_shape_answers::hlo::show::ShownArray;

/// The text lists at most this many figures that cannot be read.
const MOST_UNREAD: usize = 3;

impl Show for ShownInstruction {
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        text.paragraph(format_args!("{}: {}", heading(self), summary(self)));
        let rows = rows(self).into_iter().map(|(fact, value)| (fact.name().to_owned(), value));
        text.columns(&rows.collect::<Vec<_>>());
        for unread in self.unread.iter().take(MOST_UNREAD) {
            text.paragraph(format!("note: {unread}"));
        }
        if let Some(more) = self.unread.len().checked_sub(MOST_UNREAD).filter(|&more| more > 0) {
            text.paragraph(format!("note: {more} more figures cannot be read"));
        }
        text
    }
}

/// What a row says about an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fact {
    Shape,
    OpName,
    Memory,
    Cycles,
    Time,
    Live,
    Operand,
    Reader,
    Called,
}

impl Fact {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Shape => "shape",
            Self::OpName => "op_name",
            Self::Memory => "memory",
            Self::Cycles => "cycles",
            Self::Time => "time",
            Self::Live => "live",
            Self::Operand => "operand",
            Self::Reader => "read by",
            Self::Called => "calls",
        }
    }
}

/// What is known about an instruction, in the order in which it is shown.
pub(super) fn rows(shown: &ShownInstruction) -> Vec<(Fact, String)> {
    let mut rows = vec![(Fact::Shape, shown.shape.clone())];
    let mut row = |fact: Fact, value: String| rows.push((fact, value));
    if let Some(op_name) = &shown.op_name {
        row(Fact::OpName, op_name.clone());
    }
    if let (Some(bytes), Some(padding)) = (shown.bytes, shown.padding) {
        row(
            Fact::Memory,
            format!(
                "{} ({}), {} of padding",
                InUnits(bytes),
                count(bytes, "byte", "bytes"),
                count(padding, "byte", "bytes")
            ),
        );
    }
    row(
        if shown.amount.and_then(Amount::time).is_some() { Fact::Time } else { Fact::Cycles },
        match (shown.amount, shown.runs) {
            (Some(amount), Some(runs)) if runs != 1 => format!("{} × {} runs", amount.in_column(), Grouped(runs)),
            (Some(amount), _) => amount.in_column(),
            (None, _) => "the compiler does not say".to_owned(),
        },
    );
    for array in &shown.arrays {
        let Some(role) = array.role else { continue };
        let offset = array.offset.map_or(String::new(), |offset| format!(" at offset {}", Grouped(offset)));
        row(Fact::Live, format!("{}{offset}, steps {}: {}", role.name(), steps(array), array.shape));
    }
    for (name, shape) in shown.operands.iter().zip(&shown.operand_shapes) {
        row(Fact::Operand, format!("%{name}  {}", shape.as_deref().unwrap_or("?")));
    }
    for name in &shown.readers {
        row(Fact::Reader, format!("%{name}"));
    }
    for name in &shown.calls {
        row(Fact::Called, name.clone());
    }
    rows
}

/// The instruction, and where it is in the program.
fn heading(shown: &ShownInstruction) -> String {
    let source = shown.source.as_ref().map_or(String::new(), |source| format!(", from {source}"));
    format!("%{} ({}) in {}{source}", shown.instruction, shown.opcode, shown.computation)
}

/// How large the instruction's value is, how many instructions read it, and when it is in memory.
fn summary(shown: &ShownInstruction) -> String {
    let bytes = shown.bytes.map(|bytes| InUnits(bytes).to_string());
    let readers = count(shown.readers.len() as u64, "reader", "readers");
    let live = match &*shown.arrays {
        [array] if !array.live.is_empty() => Some(format!("live in steps {}", steps(array))),
        _ => None,
    };
    bytes.into_iter().chain([readers]).chain(live).collect::<Vec<_>>().join(", ")
}

/// The steps in which an array is in memory. Texts and pages count from 1, data from 0.
fn steps(array: &ShownArray) -> String {
    let steps = array.live.iter().map(|[first, last]| format!("{} to {}", first + 1, last + 1));
    steps.collect::<Vec<_>>().join(", ")
}
