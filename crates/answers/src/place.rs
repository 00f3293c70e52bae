//! Parameters and results of programs, and how a user requests a layout for one.

use serde::{Deserialize, Serialize};
use std::fmt;
use xla_shape_core::Layout;

/// A parameter or a result of a program, for which a user can request a layout.
///
/// ```
/// use xla_shape_answers::place::Place;
///
/// assert_eq!(Place::Parameter(3, vec![0, 1]).to_string(), "parameter 3.0.1");
/// assert_eq!([Place::Result(vec![]), Place::Result(vec![2])].map(|place| place.to_string()), ["the result", "result 2"]);
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Debug)]
pub enum Place {
    /// A parameter, and the position of an array in it.
    Parameter(usize, Vec<usize>),
    /// The position of an array in the result.
    Result(Vec<usize>),
}

impl Place {
    /// Whether both are the same parameter or result. If a module has only one result, the result may have no number.
    ///
    /// ```
    /// use xla_shape_answers::place::Place;
    ///
    /// assert!(Place::Result(vec![]).is_same(&Place::Result(vec![0])));
    /// assert!(!Place::Result(vec![0]).is_same(&Place::Result(vec![1])));
    /// ```
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Result(one), Self::Result(other)) if one.len().max(other.len()) <= 1 => {
                one.first().copied().unwrap_or(0) == other.first().copied().unwrap_or(0)
            }
            _ => self == other,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |numbers: &[usize]| numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(".");
        match self {
            Self::Parameter(number, index) if index.is_empty() => write!(f, "parameter {number}"),
            Self::Parameter(number, index) => write!(f, "parameter {number}.{}", list(index)),
            Self::Result(index) if index.is_empty() => f.write_str("the result"),
            Self::Result(index) => write!(f, "result {}", list(index)),
        }
    }
}

/// A parameter in words: argument `cache` (parameter 0).
pub(crate) fn argument(parameter: usize, name: Option<&str>) -> String {
    match name {
        Some(name) if !name.is_empty() => format!("argument `{name}` (parameter {parameter})"),
        _ => format!("parameter {parameter}"),
    }
}

/// The argument of the user's function that an array is a part of: `params` for `params['w']`. Empty if the name begins with `[` or `.`: no argument
/// has such a name.
pub(crate) fn whole_argument(name: &str) -> &str {
    name.split(['[', '.']).next().unwrap_or_default()
}

/// The layout as JAX's `Layout`. If `has_tiling` is false, its tiles are left out, and the compiler chooses them.
///
/// ```
/// use xla_shape_answers::place::layout_in_jax;
///
/// assert_eq!(layout_in_jax(&"{0:T(128)}".parse()?, true), "Layout(major_to_minor=(0,), tiling=((128,),))");
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[must_use]
pub fn layout_in_jax(layout: &Layout, has_tiling: bool) -> String {
    let tuple = |numbers: &[String]| match numbers {
        [one] => format!("({one},)"),
        many => format!("({})", many.join(", ")),
    };
    let order = layout.minor_to_major().iter().rev().map(ToString::to_string).collect::<Vec<_>>();
    // Python reads `(128)` as a number.
    let tile = |tile: String| if tile.contains(',') { tile } else { tile.replace(')', ",)") };
    let tiles = layout.tiles().iter().map(|each| tile(each.to_string())).collect::<Vec<_>>();
    let tiling = if has_tiling { format!(", tiling={}", tuple(&tiles)) } else { String::new() };
    format!("Layout(major_to_minor={}{tiling})", tuple(&order))
}

/// The layout as JAX's `Format`. If `has_tiling` is false, its tiles are left out, and the compiler chooses them.
///
/// ```
/// use xla_shape_answers::place::format_in_jax;
///
/// let layout = "{0,1:T(8,128)}".parse()?;
/// assert_eq!(format_in_jax(&layout, false, "sharding"), "Format(Layout(major_to_minor=(1, 0)), sharding)");
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[must_use]
pub fn format_in_jax(layout: &Layout, has_tiling: bool, sharding: &str) -> String {
    format!("Format({}, {sharding})", layout_in_jax(layout, has_tiling))
}
