//! The copies of a program: their causes, and what would remove them.

use super::{Basis, Cause, Remedy, Sums};
use crate::amount::{self, Amount};
use crate::source::source_text;
use schemars::JsonSchema;
use serde::Serialize;
use xla_shape_core::compare::ShapeEqual;
use xla_shape_core::{ArrayShape, Layout, Shape};
use xla_shape_hlo::cost::{Change, Copy};
use xla_shape_hlo::{Instruction, Sources};

/// An instruction that only moves data, or computes more than it must.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CopyCost {
    /// The name of the instruction.
    pub instruction: String,
    /// The number of the instruction in its module.
    #[serde(skip)]
    pub number: u32,
    /// The opcode.
    pub opcode: String,
    /// The cost of one run; `None` without a figure.
    #[serde(flatten, serialize_with = "amount::one_run")]
    #[schemars(with = "amount::OneRun")]
    pub amount: Option<Amount>,
    /// Where that figure comes from.
    pub basis: Basis,
    /// How often it runs; null if it is not known.
    pub runs: Option<u64>,
    /// The cost of all runs; `None` if it is not known.
    #[serde(flatten, serialize_with = "amount::total")]
    #[schemars(with = "amount::Total")]
    pub total: Option<Amount>,
    /// Its share of the program's cycles or time, from 0 to 1; null if it is not known.
    pub share: Option<f64>,
    /// The bytes that one run reads and writes, with padding; null if they are not known.
    pub bytes: Option<u64>,
    /// The shape before.
    pub from: String,
    /// The shape after.
    pub to: String,
    /// What the copy changes.
    pub change: Changed,
    /// Why the copy is there, as a sentence.
    pub cause: Cause,
    /// What would remove it; null if nothing is known.
    pub remedy: Option<Remedy>,
    /// The name of the operation in the user's program; null if the module has none.
    pub op_name: Option<String>,
    /// The file and the line, such as "train.py:43"; null if the module has none.
    pub source: Option<String>,
}

impl CopyCost {
    pub(super) fn new(copy: &Copy<'_>, sources: &Sources<'_>, sums: &Sums) -> Self {
        let instruction = copy.cost.instruction;
        let total = copy.cost.total();
        let amount = |number| Amount::new(sums.unit, number);
        // Copies that the compiler inserts have no metadata, but their operands have.
        let made = [Some(instruction), instruction.operand(0).and_then(|operand| operand.instruction())];
        let found = made.into_iter().flatten().map(|made| sources.get(made));
        let source = found.into_iter().find(|source| source.op_name.is_some()).unwrap_or_default();
        let all = sums.total.map(Amount::number);
        let share = total.zip(all).filter(|(_, all)| *all > 0).map(|(total, all)| total as f64 / all as f64);
        Self {
            instruction: instruction.name().to_owned(),
            number: instruction.number(),
            opcode: instruction.opcode().to_string(),
            amount: copy.cost.figure.known().map(amount),
            basis: copy.cost.basis.into(),
            runs: copy.cost.runs,
            total: total.map(amount),
            share,
            bytes: copy
                .cost
                .bytes_read
                .zip(copy.cost.bytes_written)
                .and_then(|(read, written)| read.checked_add(written)),
            from: copy.from.to_string(),
            to: copy.to.to_string(),
            change: copy.change.into(),
            cause: Cause::new(copy, sources),
            remedy: Remedy::new(copy, sources),
            source: source_text(&source),
            op_name: source.op_name.map(std::borrow::Cow::into_owned),
        }
    }
}

impl CopyCost {
    /// Whether it changes a layout, not only the memory space.
    #[must_use]
    pub fn changes_layout(&self) -> bool {
        self.change == Changed::Layout
    }

    /// Whether it copies an array unchanged, or into another layout. Prefetches, and copies with repeated elements or other values, do not count
    /// ([`Change::is_copy`]).
    #[must_use]
    pub fn is_copy(&self) -> bool {
        matches!(self.change, Changed::Layout | Changed::Nothing)
    }
}

words! {
    /// What a copy changes.
    pub enum Changed {
        /// The layout.
        Layout = "layout",
        /// Only the memory space.
        MemorySpace = "memory space",
        /// Nothing: the old value is still needed, or a result needs memory of its own.
        Nothing = "nothing",
        /// How often each element is repeated.
        Repetition = "repetition",
        /// The value of each element.
        Values = "values",
        /// Nothing: it is a matrix product, computed element by element.
        Product = "product",
    }
}

impl Changed {
    /// Whether the instruction only moves data.
    ///
    /// ```
    /// use xla_shape_answers::cost::Changed;
    ///
    /// assert!(Changed::Layout.only_moves() && !Changed::Values.only_moves());
    /// ```
    #[must_use]
    pub fn only_moves(self) -> bool {
        !matches!(self, Self::Values | Self::Product)
    }
}

impl From<Change> for Changed {
    fn from(change: Change) -> Self {
        match change {
            Change::Layout => Self::Layout,
            Change::MemorySpace => Self::MemorySpace,
            Change::Nothing => Self::Nothing,
            Change::Repetition { .. } => Self::Repetition,
            Change::Values { .. } => Self::Values,
            Change::Product { .. } => Self::Product,
        }
    }
}

/// Whether a result takes the memory of a parameter.
pub(super) fn is_donated(parameter: Instruction<'_>, number: usize) -> bool {
    let aliases = parameter.module().attribute("input_output_alias").and_then(|value| value.aliases().ok());
    aliases.is_some_and(|aliases| aliases.iter().any(|alias| alias.parameter == number))
}

/// The number and the user's name of the parameter whose donation would make a copy unnecessary.
pub(super) fn donatable(copy: &Copy<'_>, sources: &Sources<'_>) -> Option<(usize, Option<String>)> {
    let (parameter, number) = copy.donatable?;
    Some((number, sources.get(parameter).op_name.map(std::borrow::Cow::into_owned)))
}

/// The array at a position of a shape.
pub(super) fn array_at<'s>(shape: &'s Shape, index: &[usize]) -> Option<&'s ArrayShape> {
    let mut shape = shape;
    for &element in index {
        shape = shape.tuple_shapes()?.get(element)?;
    }
    shape.array()
}

/// Whether two arrays are the same, apart from their memory spaces.
pub(super) fn is_same(one: &ArrayShape, other: &ArrayShape) -> bool {
    ShapeEqual::new().ignore_memory_space_in_layout().compare_arrays(one, other)
}

/// The layout with this order, with the tiles and the element size of another layout, in the default memory space.
pub(super) fn layout(order: &[usize], other: &Layout) -> Option<Layout> {
    let tiles: String = other.tiles().iter().map(ToString::to_string).collect();
    // For example `{1,0}`, `{1,0:T(8,128)}`, `{1,0:E(4)}` or `{1,0:T(8,128)E(4)}`.
    let mut tiles = if tiles.is_empty() { tiles } else { format!(":T{tiles}") };
    if other.element_size_in_bits() > 0 {
        tiles += if tiles.is_empty() { ":" } else { "" };
        tiles += &format!("E({})", other.element_size_in_bits());
    }
    format!("{{{}{tiles}}}", order.iter().map(usize::to_string).collect::<Vec<_>>().join(",")).parse().ok()
}
