//! The copies of a program: why each is there, and what would remove it.

use crate::numbers::space_name;
use crate::place::{Place, format_in_jax};
use crate::source::source_text;
use schemars::JsonSchema;
use serde::Serialize;
use xla_shape_core::compare::{LayoutEqual, ShapeEqual};
use xla_shape_core::{ArrayShape, Layout, Shape};
use xla_shape_hlo::cost::{Change, Copy, Fixed};
use xla_shape_hlo::{Instruction, Opcode, Sources};

/// An instruction that only moves data.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CopyCost {
    /// The name of the instruction.
    pub instruction: String,
    /// The number of the instruction in its module.
    #[serde(skip)]
    pub number: u32,
    /// The opcode.
    pub opcode: String,
    /// The compiler's cycles for one run; null if it gives none.
    pub cycles: Option<u64>,
    /// How often it runs; null if it is not known.
    pub runs: Option<u64>,
    /// The cycles of all runs; null if they are not known.
    pub total: Option<u64>,
    /// The part of the program's cycles, from 0 to 1; null if it is not known.
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
    pub cause: String,
    /// What would remove it; null if nothing is known.
    pub remedy: Option<String>,
    /// The layout that the remedy asks for, and where.
    #[serde(skip)]
    pub ask: Option<(Place, Layout)>,
    /// The name of the operation in the user's program; null if the module has none.
    pub op_name: Option<String>,
    /// The file and the line, such as "train.py:43"; null if the module has none.
    pub source: Option<String>,
}

impl CopyCost {
    pub(super) fn new(copy: &Copy<'_>, sources: &Sources<'_>, all: Option<u64>) -> Self {
        let instruction = copy.cost.instruction;
        let total = copy.cost.total();
        // Copies that the compiler inserts have no metadata, but their operands have.
        let made = [Some(instruction), instruction.operand(0).and_then(|operand| operand.instruction())];
        let found = made.into_iter().flatten().map(|made| sources.get(made));
        let source = found.into_iter().find(|source| source.op_name.is_some()).unwrap_or_default();
        let share = total.zip(all).filter(|(_, all)| *all > 0).map(|(total, all)| total as f64 / all as f64);
        Self {
            instruction: instruction.name().to_owned(),
            number: instruction.number(),
            opcode: instruction.opcode().to_string(),
            cycles: copy.cost.cycles.known(),
            runs: copy.cost.runs,
            total,
            share,
            bytes: copy
                .cost
                .bytes_read
                .zip(copy.cost.bytes_written)
                .and_then(|(read, written)| read.checked_add(written)),
            from: copy.from.to_string(),
            to: copy.to.to_string(),
            change: copy.change.into(),
            cause: cause(copy, sources),
            remedy: remedy(copy),
            ask: ask(copy).map(|(place, layout, _)| (place, layout)),
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
}

words! {
    /// What a copy changes.
    pub enum Changed {
        /// The layout.
        Layout = "layout",
        /// Only the memory space.
        MemorySpace = "memory space",
        /// Nothing: the value before or the memory is needed twice.
        Nothing = "nothing",
    }
}

impl From<Change> for Changed {
    fn from(change: Change) -> Self {
        match change {
            Change::Layout => Self::Layout,
            Change::MemorySpace => Self::MemorySpace,
            Change::Nothing => Self::Nothing,
        }
    }
}

/// Why a copy is there.
fn cause(copy: &Copy<'_>, sources: &Sources<'_>) -> String {
    match copy.change {
        Change::Layout => {
            let from = produced(&copy.producer, copy.from, sources);
            let to = consumed(copy);
            format!("{from}; {to}")
        }
        Change::MemorySpace => {
            // Only TPUs have tiles.
            let is_tpu = [copy.from, copy.to].iter().any(|array| !array.layout().tiles().is_empty());
            let [from, to] = [copy.from, copy.to].map(|array| space_name(array.layout().memory_space(), is_tpu));
            format!("the layout stays; the array moves from {from} to {to}")
        }
        Change::Nothing => match (&copy.producer, &copy.consumer) {
            (Fixed::Parameter { instruction, number, .. }, Fixed::Result { .. }) => {
                let donated =
                    if is_donated(*instruction, *number) { "donated to another result" } else { "not donated" };
                format!("parameter {number} is a result as well, and is {donated}: both need memory of their own")
            }
            (_, Fixed::Loop(_)) => "a loop overwrites its state, while the value before it is still needed".to_owned(),
            (_, Fixed::Result { .. }) => "a result needs memory of its own".to_owned(),
            _ => "the array is overwritten, while the value before is still needed".to_owned(),
        },
    }
}

fn produced(fixed: &Fixed<'_>, array: &ArrayShape, sources: &Sources<'_>) -> String {
    let layout = plain(array.layout());
    match fixed {
        Fixed::Parameter { instruction, number, index } => {
            let name = sources.get(*instruction).op_name.map_or(String::new(), |name| format!(" (`{name}`)"));
            let layout = seen_as(array_at(instruction.shape(), index), array, &layout);
            format!("{}{name} has the layout {layout}", Place::Parameter(*number, index.clone()))
        }
        Fixed::Loop(instruction) => format!("the loop's state (%{}) has the layout {layout}", instruction.name()),
        Fixed::Caller(instruction) => {
            format!("the argument %{} of {} has {layout}", instruction.name(), instruction.computation().name())
        }
        Fixed::CustomCall(call) => format!("the custom call %{} writes {layout}", call.name()),
        Fixed::Product(product) => format!("the matrix product %{} writes {layout}", product.name()),
        Fixed::Collective(collective) => format!("%{} ({}) writes {layout}", collective.name(), collective.opcode()),
        Fixed::Other(other) => format!("%{} ({}) writes {layout}", other.name(), other.opcode()),
        Fixed::Result { .. } | Fixed::Unknown => format!("the value has the layout {layout}"),
    }
}

fn consumed(copy: &Copy<'_>) -> String {
    let layout = plain(copy.to.layout());
    let result = |index: &[usize]| {
        let array = array_at(copy.cost.instruction.computation().root().shape(), index);
        seen_as(array, copy.to, &layout)
    };
    match &copy.consumer {
        Fixed::Result { index } => format!("{} must have {}", Place::Result(index.clone()), result(index)),
        Fixed::Caller(instruction) => {
            format!("the result of {} must have {layout}", instruction.computation().name())
        }
        Fixed::Loop(instruction) => format!("the loop's state (%{}) must have {layout}", instruction.name()),
        Fixed::CustomCall(call) => format!("the custom call %{} reads {layout}", call.name()),
        Fixed::Product(product) => format!("the matrix product %{} reads {layout}", product.name()),
        Fixed::Collective(collective) => format!("%{} ({}) reads {layout}", collective.name(), collective.opcode()),
        Fixed::Other(other) => format!("%{} ({}) reads {layout}", other.name(), other.opcode()),
        Fixed::Parameter { .. } | Fixed::Unknown => format!("it becomes {layout}"),
    }
}

/// The layout that a parameter or a result has, and, where a bitcast views it in another way, the array that the copy reads or writes.
fn seen_as(array: Option<&ArrayShape>, seen: &ArrayShape, layout: &str) -> String {
    match array {
        Some(array) if !is_same(array, seen) => {
            let sizes = seen.to_string();
            let sizes = sizes.split('{').next().unwrap_or_default();
            format!("{}, which is {layout} as {sizes}", plain(array.layout()))
        }
        _ => layout.to_owned(),
    }
}

/// Whether the memory of a parameter is given to a result.
fn is_donated(parameter: Instruction<'_>, number: usize) -> bool {
    let aliases = parameter.module().attribute("input_output_alias").and_then(|value| value.aliases().ok());
    aliases.is_some_and(|aliases| aliases.iter().any(|alias| alias.parameter == number))
}

/// The text of a layout without its memory space: it does not matter for a change of layout.
fn plain(all: &Layout) -> String {
    layout(all.minor_to_major(), all).map_or_else(|| all.to_string(), |layout| layout.to_string())
}

/// What would remove a copy.
fn remedy(copy: &Copy<'_>) -> Option<String> {
    match (copy.change, &copy.producer, &copy.consumer) {
        (Change::Nothing, Fixed::Parameter { instruction, number, .. }, Fixed::Result { .. })
            if !is_donated(*instruction, *number) =>
        {
            Some(format!("donate parameter {number}; in JAX `donate_argnums`"))
        }
        (Change::Layout, producer, consumer) => match (ask(copy), producer, consumer) {
            (Some((place, wanted, array)), _, _) => {
                Some(format!("ask for {wanted} at {place}{}{}", in_jax(&wanted, array), what_stays(copy)))
            }
            (None, _, Fixed::CustomCall(call)) if !matches!(producer, Fixed::Parameter { .. }) => {
                Some(format!("let the custom call %{} read {}", call.name(), copy.from.layout()))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Which copy another layout of the parameter would leave or make, if any.
fn what_stays(copy: &Copy<'_>) -> String {
    if let (Fixed::Parameter { instruction, number, .. }, Fixed::Result { .. }) = (&copy.producer, &copy.consumer)
        && !is_donated(*instruction, *number)
    {
        return format!("; a copy stays unless parameter {number} is donated, because it is a result as well");
    }
    match &copy.also {
        None | Some(Fixed::Unknown) => String::new(),
        Some(Fixed::Result { index }) => {
            format!("; {} is the same array, and may then need a copy", Place::Result(index.clone()))
        }
        Some(
            Fixed::Parameter { instruction, .. }
            | Fixed::Loop(instruction)
            | Fixed::Caller(instruction)
            | Fixed::CustomCall(instruction)
            | Fixed::Product(instruction)
            | Fixed::Collective(instruction)
            | Fixed::Other(instruction),
        ) => format!("; %{} reads it as it is now, and may then need a copy", instruction.name()),
    }
}

/// The layout that would remove a copy, where to ask for it, and the array that is there now.
fn ask<'m>(copy: &Copy<'m>) -> Option<(Place, Layout, &'m ArrayShape)> {
    match (copy.change, &copy.producer, &copy.consumer) {
        (Change::Layout, Fixed::Parameter { instruction, number, index }, _) => {
            let array = array_at(instruction.shape(), index)?;
            let wanted = read_as(copy, array).filter(|wanted| differs(wanted, array))?;
            Some((Place::Parameter(*number, index.clone()), wanted, array))
        }
        (Change::Layout, _, Fixed::Result { index }) => {
            let array = array_at(copy.cost.instruction.computation().root().shape(), index)?;
            let wanted = written_as(copy, array).filter(|wanted| differs(wanted, array))?;
            Some((Place::Result(index.clone()), wanted, array))
        }
        _ => None,
    }
}

/// Whether a place has another layout than is wanted there.
fn differs(wanted: &Layout, array: &ArrayShape) -> bool {
    !LayoutEqual::new().ignore_memory_space().compare(wanted, array.layout())
}

fn array_at<'s>(shape: &'s Shape, index: &[usize]) -> Option<&'s ArrayShape> {
    let mut shape = shape;
    for &element in index {
        shape = shape.tuple_shapes()?.get(element)?;
    }
    shape.array()
}

/// The dimension of the operand that each dimension of the result is; `None` where the instruction does something else.
fn permutation(copy: &Copy<'_>) -> Option<Vec<usize>> {
    let instruction = copy.cost.instruction;
    match instruction.opcode() {
        Opcode::Copy | Opcode::CopyStart | Opcode::Convert => Some((0..copy.from.num_dimensions()).collect()),
        Opcode::Transpose => instruction.attribute("dimensions")?.numbers().ok(),
        Opcode::Fusion if copy.is_fused_copy() => Some((0..copy.from.num_dimensions()).collect()),
        _ => None,
    }
}

/// Whether two arrays are the same, apart from their memory spaces.
fn is_same(one: &ArrayShape, other: &ArrayShape) -> bool {
    ShapeEqual::new().ignore_memory_space_in_layout().compare_arrays(one, other)
}

/// The layout that a parameter would need for the copy to be unnecessary; `None` if it is not known.
fn read_as(copy: &Copy<'_>, parameter: &ArrayShape) -> Option<Layout> {
    // Where something between the parameter and the copy views it in another way, no remedy is known.
    if !is_same(parameter, copy.from) {
        return None;
    }
    let permutation = permutation(copy)?;
    let order = copy.to.layout().minor_to_major().iter().map(|&dimension| permutation.get(dimension).copied());
    layout(&order.collect::<Option<Vec<usize>>>()?, tiled_as(copy.to, parameter))
}

/// The layout that a result would need for the copy to be unnecessary; `None` if it is not known.
fn written_as(copy: &Copy<'_>, result: &ArrayShape) -> Option<Layout> {
    if !is_same(result, copy.to) {
        return None;
    }
    let permutation = permutation(copy)?;
    let order = copy.from.layout().minor_to_major().iter();
    let order = order.map(|dimension| permutation.iter().position(|operand| operand == dimension));
    layout(&order.collect::<Option<Vec<usize>>>()?, tiled_as(copy.from, result))
}

/// The layout whose tiles a place should have: those of the other side, unless the copy also converts the elements, as copies from f32 to bf16
/// on TPUs. Tiles depend on the size of elements.
fn tiled_as<'m>(other: &'m ArrayShape, place: &'m ArrayShape) -> &'m Layout {
    if other.same_element_type(place) { other.layout() } else { place.layout() }
}

/// A layout with an order, and with the tiles and the size of elements of another one, in the default memory space.
fn layout(order: &[usize], other: &Layout) -> Option<Layout> {
    let tiles: String = other.tiles().iter().map(ToString::to_string).collect();
    let mut tiles = if tiles.is_empty() { tiles } else { format!(":T{tiles}") };
    if other.element_size_in_bits() > 0 {
        tiles += if tiles.is_empty() { ":" } else { "" };
        tiles += &format!("E({})", other.element_size_in_bits());
    }
    format!("{{{}{tiles}}}", order.iter().map(usize::to_string).collect::<Vec<_>>().join(",")).parse().ok()
}

/// What to write in JAX for a layout, after what a remedy says.
fn in_jax(layout: &Layout, now: &ArrayShape) -> String {
    // Tiles are only written where nothing else differs.
    let has_tiling = layout.minor_to_major() == now.layout().minor_to_major();
    format!("; in JAX `{}`", format_in_jax(layout, has_tiling, "sharding"))
}
