//! Advice from modules that are compiled already.

use super::{ArrayLayout, Write};
use crate::amount;
use crate::cost::{Amount, Cause, Remedy};
use schemars::JsonSchema;
use serde::Serialize;

/// What compiled modules say about a shared array.
///
/// `xla-shape-tune` makes it. Here, the program `decode` has an array `f32[256,3]` in rows of 128 and copies it to columns:
///
/// ```
/// # use xla_shape_answers::cost::{Amount, ProgramCost};
/// # use xla_shape_answers::tune::{Advice, ArrayLayout, Copied, PlaceNow, Smallest, Wanted};
/// # let module = xla_shape_hlo::Module::parse(r#"
/// # HloModule m
/// # ENTRY e { a = f32[256,3]{1,0:T(8,128)} parameter(0)
/// #   ROOT b = f32[256,3]{0,1:T(4,128)} copy(a), backend_config={"window_config":{"estimated_cycles":"1200"}} }"#)?;
/// # let copy = ProgramCost::new(&module)?.copies.remove(0);
/// # let layout = ArrayLayout { layout: "{0,1:T(4,128)}".into(), major_to_minor: vec![1, 0], memory: None };
/// # let advice = Advice {
/// #     array: "kv".into(),
/// #     places: vec![PlaceNow {
/// #         program: "decode".into(), place: "parameter 0".into(), layout: "{1,0:T(8,128)}".into(),
/// #         bytes: Some(131_072), padding: Some(128_000),
/// #     }],
/// #     smallest: Some(Smallest { layout: layout.clone(), bytes: 4096 }),
/// #     layouts: vec![Wanted { layout, copies: 1, amount: copy.total, bytes: Some(4096), write: None }],
/// #     copies: vec![Copied {
/// #         program: "decode".into(), instruction: copy.instruction, from: copy.from, to: copy.to, amount: copy.total,
/// #         cause: copy.cause, remedy: copy.remedy,
/// #     }],
/// # };
/// let (now, smallest) = (&advice.places[0], advice.smallest.as_ref().unwrap());
/// assert_eq!((now.bytes, now.padding, smallest.bytes), (Some(131_072), Some(128_000), 4096));
/// let (copied, wanted) = (&advice.copies[0], &advice.layouts[0]);
/// assert_eq!(copied.cause.to_string(), "parameter 0 has the layout {1,0:T(8,128)}; the result must have {0,1:T(4,128)}");
/// // Without the copy, the program takes 1,200 fewer cycles, and the array fewer bytes.
/// assert_eq!((wanted.amount, wanted.layout.layout.as_str()), (Some(Amount::Cycles(1200)), "{0,1:T(4,128)}"));
/// assert_eq!(wanted.bytes, Some(smallest.bytes));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Advice {
    /// Its name.
    pub array: String,
    /// Its places.
    pub places: Vec<PlaceNow>,
    /// The layout in the device's tiles that takes the fewest bytes; null if the modules have no tiles.
    pub smallest: Option<Smallest>,
    /// The layouts with which copies would not have to change the layout, sorted by the cost of these copies, the highest first.
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

/// A layout with which copies would not have to change the layout. These copies are then unnecessary, unless their remedy says that a copy stays.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Wanted {
    /// The layout.
    #[serde(flatten)]
    pub layout: ArrayLayout,
    /// How many copies would not have to change the layout.
    pub copies: usize,
    /// The cost of these copies today, with the weights of their programs; `None` if one has no figure.
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
    /// The cost of all executions of this copy in one run of the program, without the program's weight. `None` if the cost is unknown.
    #[serde(flatten, serialize_with = "amount::all_runs")]
    #[schemars(with = "amount::AllRuns")]
    pub amount: Option<Amount>,
    /// Why it is there.
    pub cause: Cause,
    /// What would remove it; null if no remedy is known.
    pub remedy: Option<Remedy>,
}
