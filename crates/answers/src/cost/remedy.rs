//! Finds what would remove a copy.

use super::convolution;
use super::copies::{array_at, donatable, is_donated, is_same, layout};
use crate::place::Place;
use crate::remedy::{Remedy, Stays};
use xla_shape_core::compare::LayoutEqual;
use xla_shape_core::{ArrayShape, Layout};
use xla_shape_hlo::cost::{Change, Copy, Fixed};
use xla_shape_hlo::{Instruction, Opcode, Sources};

impl Remedy {
    /// What would remove a copy; `None` if nothing is known.
    pub(super) fn new(copy: &Copy<'_>, sources: &Sources<'_>) -> Option<Self> {
        if let Some((parameter, name)) = donatable(copy, sources) {
            return Some(Self::Donate { parameter, name });
        }
        match (copy.change, &copy.producer, &copy.consumer) {
            (Change::Repetition { times } | Change::Product { times }, ..) => Some(Self::Once { times }),
            (Change::Values { .. }, ..) => Some(Self::GatherFirst),
            (Change::Nothing, Fixed::Parameter { instruction, number, .. }, Fixed::Result { .. })
                if !is_donated(*instruction, *number) =>
            {
                let name = sources.get(*instruction).op_name.map(std::borrow::Cow::into_owned);
                Some(Self::Donate { parameter: *number, name })
            }
            (Change::Layout, producer, consumer) => match (ask(copy), producer, consumer) {
                (Some((place, layout, array)), _, _) => {
                    let tiles = layout.minor_to_major() == array.layout().minor_to_major();
                    let order = match (producer, consumer) {
                        (Fixed::Parameter { .. }, Fixed::CustomCall(call)) => {
                            convolution::read(*call, copy.cost.instruction)
                        }
                        (Fixed::CustomCall(call), _) => convolution::written(*call),
                        _ => None,
                    };
                    Some(Self::Ask { place, layout, tiles, stays: Stays::new(copy), order })
                }
                (None, _, Fixed::CustomCall(call)) if !matches!(producer, Fixed::Parameter { .. }) => {
                    Some(Self::CustomCall { instruction: call.name().to_owned(), layout: copy.from.layout().clone() })
                }
                _ => None,
            },
            _ => None,
        }
    }
}

impl Stays {
    fn new(copy: &Copy<'_>) -> Self {
        if let (Fixed::Parameter { instruction, number, .. }, Fixed::Result { .. }) = (&copy.producer, &copy.consumer)
            && !is_donated(*instruction, *number)
        {
            return Self::UnlessDonated { parameter: *number };
        }
        match &copy.also {
            None | Some(Fixed::Unknown) => Self::Nothing,
            Some(Fixed::Result { index }) => Self::Result { place: Place::Result(index.clone()) },
            Some(
                Fixed::Parameter { instruction, .. }
                | Fixed::Loop(instruction)
                | Fixed::Caller(instruction)
                | Fixed::CustomCall(instruction)
                | Fixed::Product(instruction)
                | Fixed::Collective(instruction)
                | Fixed::Other(instruction),
            ) => Self::Reader { instruction: instruction.name().to_owned() },
        }
    }
}

/// The layout that would remove a copy, the place at which to request it, and the array there today.
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

/// Whether the layout at a place differs from the wanted one.
fn differs(wanted: &Layout, array: &ArrayShape) -> bool {
    !LayoutEqual::new().ignore_memory_space().compare(wanted, array.layout())
}

/// At most this many copies and transposes of a fusion are followed. For a longer chain, no remedy is known.
const LONGEST_CHAIN: usize = 64;

/// For each dimension of the result, the operand's dimension that becomes it; `None` if the instruction is not a permutation.
fn permutation(copy: &Copy<'_>) -> Option<Vec<usize>> {
    let instruction = copy.cost.instruction;
    match instruction.opcode() {
        Opcode::Fusion => {
            // Follow the transposes from the root back to the only parameter, one after the other.
            let fused = instruction.attribute("calls")?.name().ok()?;
            let mut inside = instruction.module().computation(fused)?.root();
            let mut whole: Vec<usize> = (0..inside.shape().array()?.num_dimensions()).collect();
            for _ in 0..LONGEST_CHAIN {
                if inside.opcode() == Opcode::Parameter {
                    return Some(whole);
                }
                let step = permutation_of(inside)?;
                whole = whole.into_iter().map(|dimension| step.get(dimension).copied()).collect::<Option<_>>()?;
                inside = inside.operand(0)?.instruction()?;
            }
            None
        }
        _ => permutation_of(instruction),
    }
}

fn permutation_of(instruction: Instruction<'_>) -> Option<Vec<usize>> {
    match instruction.opcode() {
        Opcode::Copy | Opcode::CopyStart | Opcode::Convert => {
            Some((0..instruction.operand(0)?.shape()?.array()?.num_dimensions()).collect())
        }
        Opcode::Transpose => instruction.attribute("dimensions")?.numbers().ok(),
        _ => None,
    }
}

/// The layout that a parameter would need for the copy to be unnecessary; `None` if it is not known.
fn read_as(copy: &Copy<'_>, parameter: &ArrayShape) -> Option<Layout> {
    // If something between the parameter and the copy views the array in another way, no remedy is known.
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

/// The layout from which a place should take its tiles. Usually, it is the layout on the other side of the copy. But if the copy also converts
/// elements, such as from f32 to bf16 on TPUs, it is the place's own layout, because tiles depend on the size of elements.
fn tiled_as<'m>(other: &'m ArrayShape, place: &'m ArrayShape) -> &'m Layout {
    if other.same_element_type(place) { other.layout() } else { place.layout() }
}
