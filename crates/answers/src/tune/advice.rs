//! Advice from modules that are compiled already.

use super::{ArrayLayout, Write};
use crate::amount;
use crate::cost::{Amount, Cause, Remedy};
use schemars::JsonSchema;
use serde::Serialize;

/// What compiled modules say about a shared array.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Advice {
    /// Its name.
    pub array: String,
    /// Its places.
    pub places: Vec<PlaceNow>,
    /// The layout in the device's tiles that takes the fewest bytes; null if the modules have no tiles.
    pub smallest: Option<Smallest>,
    /// The layouts with which copies would not have to change the layout, the one of the most cycles first.
    pub layouts: Vec<Wanted>,
    /// The copies of the array that do more than change its memory space, the most expensive of each program first.
    pub copies: Vec<Copied>,
}

/// A place of an array, and its layout there.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PlaceNow {
    /// The program.
    pub program: String,
    /// The parameter or result.
    pub place: String,
    /// Its layout there, in XLA's text.
    pub layout: String,
    /// Its bytes there, padding included; null if they are not known.
    pub bytes: Option<u64>,
    /// The bytes of padding; null if they are not known.
    pub padding: Option<u64>,
}

/// The layout that takes the fewest bytes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Smallest {
    /// The layout.
    #[serde(flatten)]
    pub layout: ArrayLayout,
    /// The bytes of HBM of the program that takes the most; null if the programs were not compiled.
    pub bytes: u64,
}

/// A layout with which copies would not have to change the layout. They go, unless their remedy says that a copy stays.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Wanted {
    /// The layout.
    #[serde(flatten)]
    pub layout: ArrayLayout,
    /// How many copies would not have to change the layout.
    pub copies: usize,
    /// What these copies cost today, with the weights of their programs; `None` if one has no figure.
    #[serde(flatten, serialize_with = "amount::all_runs")]
    #[schemars(with = "amount::AllRuns")]
    pub amount: Option<Amount>,
    /// The bytes of the array in this layout; null if they are not known.
    pub bytes: Option<u64>,
    /// What to write for it; null if nothing can be written.
    pub write: Option<Write>,
}

/// A copy of a shared array.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Copied {
    /// The program.
    pub program: String,
    /// The instruction.
    pub instruction: String,
    /// The array that it reads.
    pub from: String,
    /// The array that it writes.
    pub to: String,
    /// What all its executions in one run of the program cost, not multiplied by the program's weight; `None` if there is no figure.
    #[serde(flatten, serialize_with = "amount::all_runs")]
    #[schemars(with = "amount::AllRuns")]
    pub amount: Option<Amount>,
    /// Why it is there.
    pub cause: Cause,
    /// What would remove it; null if nothing is known that would.
    pub remedy: Option<Remedy>,
}
