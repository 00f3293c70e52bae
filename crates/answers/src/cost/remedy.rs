//! What would remove a copy.

use super::convolution;
use super::copies::{argument, array_at, donatable, is_donated, is_same, layout};
use crate::place::{Place, format_in_jax};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::fmt;
use xla_shape_core::compare::LayoutEqual;
use xla_shape_core::{ArrayShape, Layout};
use xla_shape_hlo::cost::{Change, Copy, Fixed};
use xla_shape_hlo::{Instruction, Opcode, Sources};

/// What would remove a copy. Its text, which is its JSON, says what to do.
///
/// ```
/// use xla_shape_answers::cost::ProgramCost;
/// use xla_shape_answers::place::Place;
/// use xla_shape_hlo::Module;
///
/// let module = Module::parse("\
/// HloModule m
/// ENTRY e { a = f32[8,128]{1,0} parameter(0)
///   b = f32[8,128]{0,1} copy(a)
///   ROOT c = f32[8,128]{0,1} negate(b) }")?;
/// let cost = ProgramCost::new(&module)?;
/// let remedy = cost.copies[0].remedy.as_ref().unwrap();
/// assert_eq!(remedy.asked(), Some((&Place::Parameter(0, vec![]), &"{0,1}".parse()?)));
/// assert!(remedy.to_string().starts_with("ask for {0,1} at parameter 0; in JAX `Format("));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A cache that is updated, and not donated:
///
/// ```
/// use xla_shape_answers::cost::ProgramCost;
/// use xla_shape_hlo::Module;
///
/// let module = Module::parse("\
/// HloModule m
/// ENTRY e { p = f32[64,8]{1,0} parameter(0), metadata={op_name=\"cache\"}
///   x = f32[1,8]{1,0} parameter(1)
///   i = s32[] parameter(2)
///   c = f32[64,8]{1,0} copy(p)
///   ROOT u = f32[64,8]{1,0} dynamic-update-slice(c, x, i, i) }")?;
/// let copy = &ProgramCost::new(&module)?.copies[0];
/// assert_eq!(copy.cause.to_string(), "argument `cache` (parameter 0) is not donated, so the array that updates it needs memory of its own");
/// assert_eq!(copy.remedy.as_ref().unwrap().to_string(), "donate argument `cache` (parameter 0); in JAX `donate_argnums`");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, JsonSchema)]
#[schemars(with = "String", inline)]
#[non_exhaustive]
pub enum Remedy {
    /// Donate a parameter, so that its memory is the result's.
    Donate {
        /// The number of the parameter.
        parameter: usize,
        /// The user's name of it, if the module has one.
        name: Option<String>,
    },
    /// Ask for a layout.
    Ask {
        /// The parameter or result.
        place: Place,
        /// The layout.
        layout: Layout,
        /// Whether it differs from today's in its tiles alone, so that they must be written.
        tiles: bool,
        /// What may then still need a copy.
        stays: Stays,
        /// The order of the dimensions in memory that cuDNN wants or writes, such as "NHWC"; `None` if it is not what fixed the layout.
        order: Option<String>,
    },
    /// Let a custom call read the layout that there is.
    CustomCall {
        /// The name of the instruction.
        instruction: String,
        /// The layout.
        layout: Layout,
    },
}

/// What may need a copy when a parameter or a result has another layout.
///
/// ```
/// use xla_shape_answers::cost::{ProgramCost, Remedy, Stays};
/// use xla_shape_hlo::Module;
///
/// // The product reads the parameter's rows, and a result its columns.
/// let module = Module::parse("\
/// HloModule m
/// ENTRY e { a = f32[8,8]{1,0} parameter(0)
///   p = f32[8,8]{1,0} dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
///   c = f32[8,8]{0,1} copy(a)
///   ROOT r = (f32[8,8]{1,0}, f32[8,8]{0,1}) tuple(p, c) }")?;
/// let cost = ProgramCost::new(&module)?;
/// let Some(Remedy::Ask { stays, .. }) = &cost.copies[0].remedy else { panic!("it asks for another layout") };
/// assert_eq!(*stays, Stays::UnlessDonated { parameter: 0 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Stays {
    /// Nothing that is known.
    Nothing,
    /// The parameter is a result as well: a copy stays unless it is donated.
    UnlessDonated {
        /// The number of the parameter.
        parameter: usize,
    },
    /// A result is the same array.
    Result {
        /// The result.
        place: Place,
    },
    /// An instruction reads the array as it is now.
    Reader {
        /// Its name.
        instruction: String,
    },
}

impl Remedy {
    /// What would remove a copy; `None` if nothing is known.
    pub(super) fn new(copy: &Copy<'_>, sources: &Sources<'_>) -> Option<Self> {
        if let Some((parameter, name)) = donatable(copy, sources) {
            return Some(Self::Donate { parameter, name });
        }
        match (copy.change, &copy.producer, &copy.consumer) {
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

    /// The layout to ask for, and where; `None` if the remedy is another one.
    #[must_use]
    pub const fn asked(&self) -> Option<(&Place, &Layout)> {
        match self {
            Self::Ask { place, layout, .. } => Some((place, layout)),
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

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Donate { parameter, name } => {
                write!(f, "donate {}; in JAX `donate_argnums`", argument(*parameter, name.as_deref()))
            }
            Self::Ask { place, layout, tiles, stays, order } => {
                let jax = format_in_jax(layout, *tiles, "sharding");
                if let Some(order) = order {
                    let (wants, pass) = match place {
                        Place::Parameter(..) => ("wants", "pass"),
                        Place::Result(..) => ("writes", "return"),
                    };
                    write!(f, "cuDNN {wants} {order}: {pass} the array as {order}, or ")?;
                }
                write!(f, "ask for {layout} at {place}; in JAX `{jax}`{stays}")
            }
            Self::CustomCall { instruction, layout } => {
                write!(f, "let the custom call %{instruction} read {layout}")
            }
        }
    }
}

/// What follows the remedy in its sentence.
impl fmt::Display for Stays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => Ok(()),
            Self::UnlessDonated { parameter } => {
                write!(f, "; a copy stays unless parameter {parameter} is donated, because it is a result as well")
            }
            Self::Result { place } => write!(f, "; {place} is the same array, and may then need a copy"),
            Self::Reader { instruction } => {
                write!(f, "; %{instruction} reads it as it is now, and may then need a copy")
            }
        }
    }
}

impl Serialize for Remedy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
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

/// How many copies and transposes of a fusion are looked at. The remedy of a longer chain is not known.
const LONGEST_CHAIN: usize = 64;

/// The dimension of the operand that each dimension of the result is; `None` where the instruction does something else.
fn permutation(copy: &Copy<'_>) -> Option<Vec<usize>> {
    let instruction = copy.cost.instruction;
    match instruction.opcode() {
        Opcode::Fusion => {
            // From the root back to the only parameter: the transposes, one after the other.
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
