//! Changes of a program that would remove a copy, or make an array smaller.

use crate::explain::PaddingRemedy;
use crate::place::{Place, argument, format_in_jax, whole_argument};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::fmt;
use xla_shape_core::Layout;

/// A change of a program that would remove a copy, or make an array smaller. Its text, which is also its JSON, says what to do.
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
/// A cache that is updated but not donated:
///
/// ```
/// use xla_shape_answers::cost::{ProgramCost, Remedy};
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
/// // Only a whole argument can be donated, not a part of it.
/// let part = Remedy::Donate { parameter: 0, name: Some("state['kv']".to_owned()) };
/// assert_eq!(part.to_string(), "donate argument `state['kv']` (parameter 0); in JAX `donate_argnums`, for all of `state`");
/// // This may be the first of `*args`, which can be donated alone.
/// let first = Remedy::Donate { parameter: 0, name: Some("args[0]".to_owned()) };
/// assert_eq!(first.to_string(), "donate argument `args[0]` (parameter 0); in JAX `donate_argnums`");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, JsonSchema)]
#[schemars(with = "String", inline)]
#[non_exhaustive]
pub enum Remedy {
    /// Donate a parameter, so that a result can use its memory.
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
        /// Whether only its tiles differ from today's layout, so that the user must write them.
        tiles: bool,
        /// What may still need a copy with this layout.
        stays: Stays,
        /// The order of the dimensions in memory that cuDNN reads or writes, such as "NHWC"; `None` if cuDNN did not fix the layout.
        order: Option<String>,
    },
    /// Let a custom call read the present layout.
    CustomCall {
        /// The name of the instruction.
        instruction: String,
        /// The layout.
        layout: Layout,
    },
    /// Let a product read an array before its elements are repeated.
    Once {
        /// How many times each element is repeated.
        times: u64,
    },
    /// Gather first, then compute only the elements that are needed.
    GatherFirst,
    /// Give the array a shape or an order in memory that has less padding.
    LessPadding(PaddingRemedy),
}

/// What may still need a copy if a parameter or a result gets another layout.
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
    /// Nothing, as far as is known.
    Nothing,
    /// The parameter is a result as well: a copy stays unless the parameter is donated.
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
    /// The layout to ask for, and where; `None` for any other remedy.
    #[must_use]
    pub const fn asked(&self) -> Option<(&Place, &Layout)> {
        match self {
            Self::Ask { place, layout, .. } => Some((place, layout)),
            _ => None,
        }
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Donate { parameter, name } => {
                write!(f, "donate {}; in JAX `donate_argnums`", argument(*parameter, name.as_deref()))?;
                // JAX donates whole arguments.
                match name.as_deref().map(|name| (name, whole_argument(name))) {
                    Some((name, whole)) if is_part(name, whole) => write!(f, ", for all of `{whole}`"),
                    _ => Ok(()),
                }
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
            Self::Once { times } => write!(
                f,
                "let a product read the array before its elements are repeated {times} times; in JAX `jnp.einsum` on the array before \
                 `jnp.repeat` or `jnp.broadcast_to`; for `jnp.repeat`, split that dimension of the other operand by {times}"
            ),
            Self::GatherFirst => {
                f.write_str("gather first, then compute; in JAX `x[i].astype(t)` instead of `x.astype(t)[i]`")
            }
            Self::LessPadding(remedy) => remedy.fmt(f),
        }
    }
}

/// Whether a name refers to a part of the argument `whole`. `args[0]` does not count: it may be the first of `*args`, which is an argument of its
/// own.
fn is_part(name: &str, whole: &str) -> bool {
    let rest = name.strip_prefix(whole).and_then(|rest| rest.chars().nth(1));
    !whole.is_empty() && rest.is_some_and(|first| !first.is_ascii_digit())
}

/// The end of a remedy's sentence.
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
