//! The causes of copies.

use super::convolution;
use super::copies::{array_at, donatable, is_donated, is_same, layout};
use crate::numbers::{Grouped, space_name};
use crate::place::{Place, argument};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::fmt;
use xla_shape_core::{ArrayShape, Layout};
use xla_shape_hlo::cost::{Change, Copy, Fixed};
use xla_shape_hlo::{Instruction, Sources};

/// Why a program has a copy. Its text, which is also its JSON, is a sentence.
///
/// ```
/// use xla_shape_answers::cost::{Cause, ProgramCost};
/// use xla_shape_hlo::Module;
///
/// let module = Module::parse("\
/// HloModule m
/// ENTRY e { a = f32[8,128]{1,0:T(8,128)} parameter(0)
///   ROOT b = f32[8,128]{1,0:T(8,128)S(1)} copy(a) }")?;
/// let cause = &ProgramCost::new(&module)?.copies[0].cause;
/// assert!(matches!(cause, Cause::Moves { .. }));
/// assert!(cause.to_string().starts_with("the layout stays; the array moves from S(0)"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, JsonSchema)]
#[schemars(with = "String", inline)]
#[non_exhaustive]
pub enum Cause {
    /// The producer and the user of the array fix different layouts.
    Layouts {
        /// The producer.
        made: Side,
        /// The user.
        used: Side,
    },
    /// The array moves from one memory space to another.
    Moves {
        /// The memory space before.
        from: String,
        /// The memory space after.
        to: String,
    },
    /// A parameter is a result as well, so both need memory of their own.
    ParameterAndResult {
        /// The number of the parameter.
        parameter: usize,
        /// Whether its memory is given to another result.
        donated: bool,
    },
    /// The program updates a parameter that the caller keeps.
    Kept {
        /// The number of the parameter.
        parameter: usize,
        /// The user's name of it, if the module has one.
        name: Option<String>,
    },
    /// A loop overwrites its state, but the old value is still needed.
    LoopState,
    /// A result needs memory of its own.
    Result,
    /// The array is overwritten, but its old value is still needed.
    Overwritten,
    /// A product reads an array that has each element several times.
    Repeated {
        /// How many times.
        times: u64,
        /// The product, or the fusion around it.
        product: String,
    },
    /// A matrix product is computed element by element.
    Elementwise {
        /// The larger one of the arrays that are multiplied, without its layout.
        array: String,
        /// The number of elements with which each of its elements is multiplied.
        times: u64,
    },
    /// All elements of an array are computed, but a gather reads only some of them.
    Gathered {
        /// How many elements are computed.
        computed: u64,
        /// How many are read.
        gathered: u64,
        /// The gather, or the fusion around it.
        gather: String,
    },
}

/// One side of a copy: what fixed the layout there, and the layout.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Side {
    /// What fixed the layout.
    pub by: FixedBy,
    /// The layout that is read or written, without its memory space, in words.
    pub layout: String,
}

/// What fixed a layout.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FixedBy {
    /// A parameter of the program.
    Parameter {
        /// The parameter, and the position of the array in it.
        place: Place,
        /// The user's name of it, if the module has one.
        name: Option<String>,
    },
    /// A result of the program.
    Result {
        /// The result.
        place: Place,
    },
    /// The state of a loop.
    Loop {
        /// The name of the instruction.
        instruction: String,
    },
    /// An argument or the result of a called computation.
    Caller {
        /// The name of the instruction.
        instruction: String,
        /// The name of the computation.
        computation: String,
    },
    /// A custom call.
    CustomCall {
        /// The name of the instruction.
        instruction: String,
    },
    /// A convolution of cuDNN, on a GPU.
    Convolution {
        /// The name of the instruction.
        instruction: String,
        /// The order of the dimensions in memory, in cuDNN's words, such as "NHWC".
        order: String,
    },
    /// A matrix product or a convolution.
    Product {
        /// The name of the instruction.
        instruction: String,
    },
    /// Another instruction, such as a collective.
    Instruction {
        /// Its name.
        instruction: String,
        /// Its opcode.
        opcode: String,
    },
    /// It is not known what fixed the layout.
    Unknown,
}

impl Cause {
    pub(super) fn new(copy: &Copy<'_>, sources: &Sources<'_>) -> Self {
        if let Some((parameter, name)) = donatable(copy, sources) {
            return Self::Kept { parameter, name };
        }
        match (copy.change, &copy.consumer) {
            (Change::Repetition { times }, Fixed::Product(product)) => {
                return Self::Repeated { times, product: product.name().to_owned() };
            }
            (Change::Product { times }, _) => {
                return Self::Elementwise { array: copy.from.without_layout().to_string(), times };
            }
            (Change::Values { computed, gathered }, Fixed::Other(gather)) => {
                return Self::Gathered { computed, gathered, gather: gather.name().to_owned() };
            }
            _ => {}
        }
        match copy.change {
            Change::Layout => Self::Layouts { made: made(copy, sources), used: used(copy) },
            Change::MemorySpace => {
                let platform = copy.cost.instruction.module().platform();
                let [from, to] = [copy.from, copy.to].map(|array| space_name(array.layout().memory_space(), platform));
                Self::Moves { from, to }
            }
            Change::Nothing | Change::Repetition { .. } | Change::Values { .. } | Change::Product { .. } => {
                match (&copy.producer, &copy.consumer) {
                    (Fixed::Parameter { instruction, number, .. }, Fixed::Result { .. }) => {
                        Self::ParameterAndResult { parameter: *number, donated: is_donated(*instruction, *number) }
                    }
                    (_, Fixed::Loop(_)) => Self::LoopState,
                    (_, Fixed::Result { .. }) => Self::Result,
                    _ => Self::Overwritten,
                }
            }
        }
    }
}

/// What fixed the layout of a value that is neither a parameter nor a result.
fn inside(fixed: &Fixed<'_>) -> FixedBy {
    match fixed {
        Fixed::Loop(instruction) => FixedBy::Loop { instruction: instruction.name().to_owned() },
        Fixed::Caller(instruction) => FixedBy::Caller {
            instruction: instruction.name().to_owned(),
            computation: instruction.computation().name().to_owned(),
        },
        Fixed::CustomCall(call) => FixedBy::CustomCall { instruction: call.name().to_owned() },
        Fixed::Product(product) => FixedBy::Product { instruction: product.name().to_owned() },
        Fixed::Collective(other) | Fixed::Other(other) => {
            FixedBy::Instruction { instruction: other.name().to_owned(), opcode: other.opcode().to_string() }
        }
        Fixed::Parameter { .. } | Fixed::Result { .. } | Fixed::Unknown => FixedBy::Unknown,
    }
}

fn made(copy: &Copy<'_>, sources: &Sources<'_>) -> Side {
    let layout = plain(copy.from.layout());
    match &copy.producer {
        Fixed::Parameter { instruction, number, index } => {
            let place = Place::Parameter(*number, index.clone());
            let name = sources.get(*instruction).op_name.map(std::borrow::Cow::into_owned);
            let layout = seen_as(array_at(instruction.shape(), index), copy.from, layout);
            Side { by: FixedBy::Parameter { place, name }, layout }
        }
        other => Side { by: convolution(other, convolution::written).unwrap_or_else(|| inside(other)), layout },
    }
}

/// The convolution of cuDNN that fixed a layout, if it was one.
fn convolution(fixed: &Fixed<'_>, order: impl Fn(Instruction<'_>) -> Option<String>) -> Option<FixedBy> {
    let Fixed::CustomCall(call) = fixed else { return None };
    Some(FixedBy::Convolution { instruction: call.name().to_owned(), order: order(*call)? })
}

fn used(copy: &Copy<'_>) -> Side {
    let layout = plain(copy.to.layout());
    match &copy.consumer {
        Fixed::Result { index } => {
            let array = array_at(copy.cost.instruction.computation().root().shape(), index);
            let place = Place::Result(index.clone());
            Side { by: FixedBy::Result { place }, layout: seen_as(array, copy.to, layout) }
        }
        other => {
            let order = |call: Instruction<'_>| convolution::read(call, copy.cost.instruction);
            Side { by: convolution(other, order).unwrap_or_else(|| inside(other)), layout }
        }
    }
}

/// The layout of a parameter or a result, in words. If the copy reads it through a bitcast, as another array, this names the layouts of both arrays.
fn seen_as(array: Option<&ArrayShape>, seen: &ArrayShape, layout: String) -> String {
    match array {
        Some(array) if !is_same(array, seen) => {
            // For example `{1,0}, which is {2,1,0} as f32[8,16,128]`.
            let sizes = seen.to_string();
            let sizes = sizes.split('{').next().unwrap_or_default();
            format!("{}, which is {layout} as {sizes}", plain(array.layout()))
        }
        _ => layout,
    }
}

/// The text of a layout without its memory space, which does not matter for a change of layout.
fn plain(all: &Layout) -> String {
    layout(all.minor_to_major(), all).map_or_else(|| all.to_string(), |layout| layout.to_string())
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Layouts { made, used } => {
                made.write_made(f)?;
                f.write_str("; ")?;
                used.write_used(f)
            }
            Self::Moves { from, to } => write!(f, "the layout stays; the array moves from {from} to {to}"),
            Self::ParameterAndResult { parameter, donated } => {
                let donated = if *donated { "donated to another result" } else { "not donated" };
                write!(f, "parameter {parameter} is a result as well, and is {donated}: both need memory of their own")
            }
            Self::Kept { parameter, name } => {
                let parameter = argument(*parameter, name.as_deref());
                write!(f, "{parameter} is not donated, so the array that updates it needs memory of its own")
            }
            Self::LoopState => f.write_str("a loop overwrites its state, while the value before it is still needed"),
            Self::Result => f.write_str("a result needs memory of its own"),
            Self::Overwritten => f.write_str("the array is overwritten, while the value before is still needed"),
            Self::Repeated { times, product } => {
                write!(f, "it writes each element {times} times, and the product %{product} reads all of them")
            }
            Self::Elementwise { array, times } => write!(
                f,
                "it computes a matrix product element by element: it multiplies each element of {array} with {times} others, and adds"
            ),
            Self::Gathered { computed, gathered, gather } => write!(
                f,
                "it computes all {} elements, and the gather %{gather} reads {} of them",
                Grouped(*computed),
                Grouped(*gathered)
            ),
        }
    }
}

impl Side {
    /// Writes what made the array, and in which layout.
    fn write_made(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layout = &self.layout;
        match &self.by {
            FixedBy::Parameter { place, name: Some(name) } => write!(f, "{place} (`{name}`) has the layout {layout}"),
            FixedBy::Parameter { place, name: None } => write!(f, "{place} has the layout {layout}"),
            FixedBy::Loop { instruction } => write!(f, "the loop's state (%{instruction}) has the layout {layout}"),
            FixedBy::Caller { instruction, computation } => {
                write!(f, "the argument %{instruction} of {computation} has {layout}")
            }
            FixedBy::CustomCall { instruction } => write!(f, "the custom call %{instruction} writes {layout}"),
            FixedBy::Convolution { instruction, order } => write!(f, "cuDNN (%{instruction}) writes {order}"),
            FixedBy::Product { instruction } => write!(f, "the matrix product %{instruction} writes {layout}"),
            FixedBy::Instruction { instruction, opcode } => write!(f, "%{instruction} ({opcode}) writes {layout}"),
            FixedBy::Result { .. } | FixedBy::Unknown => write!(f, "the value has the layout {layout}"),
        }
    }

    /// Writes what uses the array, and in which layout.
    fn write_used(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layout = &self.layout;
        match &self.by {
            FixedBy::Result { place } => write!(f, "{place} must have {layout}"),
            FixedBy::Caller { computation, .. } => write!(f, "the result of {computation} must have {layout}"),
            FixedBy::Loop { instruction } => write!(f, "the loop's state (%{instruction}) must have {layout}"),
            FixedBy::CustomCall { instruction } => write!(f, "the custom call %{instruction} reads {layout}"),
            FixedBy::Convolution { instruction, order } => write!(f, "cuDNN (%{instruction}) wants {order}"),
            FixedBy::Product { instruction } => write!(f, "the matrix product %{instruction} reads {layout}"),
            FixedBy::Instruction { instruction, opcode } => write!(f, "%{instruction} ({opcode}) reads {layout}"),
            FixedBy::Parameter { .. } | FixedBy::Unknown => write!(f, "it becomes {layout}"),
        }
    }
}

impl Serialize for Cause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
