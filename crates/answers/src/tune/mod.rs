//! The layouts that arrays should have if several programs share them: what was tried, and what is best.
//!
//! The crate `xla-shape-tune` searches, and makes this answer.

mod advice;

use crate::Answer;
use crate::amount::{self, Amount};
use crate::digest::{self, Digest};
use crate::search::Search;
pub use advice::{Advice, Copied, PlaceNow, Smallest, Wanted};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use xla_shape_core::sorting::sort_by_key;

/// The best layouts of shared arrays, and all that were tried.
///
/// ```
/// use xla_shape_answers::cost::Amount;
/// use xla_shape_answers::tune::{Because, Cost, Entry, Problem, Today, Tuning};
///
/// // The answer that `xla-shape-tune` makes from a compiler's figures for two layouts of the array `kv`.
/// let entry = |layout: &str, cycles, bytes, because| Entry {
///     layouts: [("kv".to_owned(), layout.to_owned())].into(),
///     cost: Cost { amount: Some(Amount::Cycles(cycles)), bytes: Some(bytes), ..Cost::default() },
///     taken: true,
///     auto: Vec::new(),
///     error: None,
///     because,
/// };
/// let tried = vec![
///     entry("{1,0:T(8,128)}", 900, 131_072, Because::Today),
///     entry("{0,1:T(4,128)}", 500, 4096, Because::Preferred),
/// ];
/// let today = Today { cost: tried[0].cost.clone(), ..Today::default() };
/// let tuning = Tuning { today, tried, best_entry: Some(1), limit: Some(100_000), ..Tuning::default() };
///
/// let best = tuning.changed().expect("the best layouts are not today's");
/// assert_eq!((best.layouts["kv"].as_str(), best.cost.amount), ("{0,1:T(4,128)}", Some(Amount::Cycles(500))));
/// assert_eq!(best.because.to_string(), "preferred by a program");
/// // With today's, a program takes more than the limit.
/// assert_eq!(tuning.problem(&tuning.tried[0]), Some(Problem::Exceeds(131_072)));
/// ```
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Tuning {
    /// The best layout of each shared array, by its name; null if none of the tried layouts can be used, for example because all exceed the limit;
    /// also null in advice.
    pub best: Option<BTreeMap<String, ArrayLayout>>,
    /// The programs as they are.
    pub today: Today,
    /// Whether the programs should stay as they are, because nothing better was found.
    pub keep: bool,
    /// The entry of `tried` with the best layouts; null if there is none.
    pub best_entry: Option<usize>,
    /// The shared arrays.
    pub arrays: Vec<Array>,
    /// The programs.
    pub programs: Vec<Weighted>,
    /// The number of compilations: pairs of a program and its layouts. Answers from the cache count too.
    pub compiles: usize,
    /// Whether every combination of layouts was asked for.
    pub all: bool,
    /// How the search went.
    #[serde(flatten)]
    pub search: Search,
    /// Whether the caller ended the search.
    #[serde(skip)]
    pub ended: bool,
    /// Whether an array is in another memory than today, so that cycles cannot be compared with today's.
    #[serde(skip)]
    pub moved: bool,
    /// The device that the programs were compiled for, as `--for` reads it; `None` for modules that are compiled already.
    #[serde(skip)]
    pub device: Option<String>,
    /// The most bytes that a program may take, if there is a limit.
    #[serde(skip)]
    pub limit: Option<u64>,
    /// What was tried.
    pub tried: Vec<Entry>,
    /// Advice from modules that are compiled already, which no compiler confirmed; null if compilers made the answer.
    pub advice: Option<Vec<Advice>>,
    /// What a reader of the figures should know.
    pub notes: Vec<String>,
}

/// A layout, in XLA's text and as JAX orders dimensions.
///
/// ```
/// use xla_shape_answers::tune::ArrayLayout;
///
/// let layout = ArrayLayout { layout: "{0,1:T(4,128)}".to_owned(), major_to_minor: vec![1, 0], memory: None };
/// assert_eq!(serde_json::to_string(&layout)?, r#"{"layout":"{0,1:T(4,128)}","major_to_minor":[1,0]}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct ArrayLayout {
    /// In XLA's text.
    pub layout: String,
    /// The dimensions from major to minor, as JAX orders them.
    pub major_to_minor: Vec<usize>,
    /// The memory, as in mhlo.memory_kind; absent if none was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "&'static str")]
    pub memory: Option<&'static str>,
}

/// The programs as they are.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Today {
    /// The layout of each shared array, by its name; null if one has different layouts in different places.
    pub layouts: Option<BTreeMap<String, ArrayLayout>>,
    /// The cost of the programs.
    #[serde(flatten)]
    pub cost: Cost,
}

/// The cost of the programs with some layouts.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Cost {
    /// The weighted cost of all programs; `None` if it is not known.
    #[serde(flatten, serialize_with = "amount::all_runs")]
    #[schemars(with = "amount::AllRuns")]
    pub amount: Option<Amount>,
    /// The bytes of HBM of the program that takes the most; null if the programs were not compiled.
    pub bytes: Option<u64>,
    /// How many copies in all programs change a layout; null if the programs were not compiled.
    pub copies: Option<usize>,
    /// The programs; empty if they were not compiled.
    pub programs: Vec<ProgramCost>,
}

/// The cost of one program with some layouts.
///
/// ```
/// use xla_shape_answers::cost::Amount;
/// use xla_shape_answers::tune::{ProgramCost, Weighted};
///
/// let cost = |program: &str, cycles| ProgramCost {
///     program: program.to_owned(),
///     amount: Some(Amount::Cycles(cycles)),
///     bytes: 4096,
///     copies: 0,
///     gone: vec!["f32[256,3]{1,0:T(8,128)} to f32[256,3]{0,1:T(4,128)}".to_owned()],
///     new: Vec::new(),
///     opcodes: Vec::new(),
/// };
/// let programs = [cost("prefill", 900), cost("decode", 70)];
/// let weights = [("prefill", 1), ("decode", 100)].map(|(name, weight)| Weighted { name: name.to_owned(), weight });
/// // The weighted costs of the programs add up to the amount of `Cost`.
/// let cycles = programs.iter().zip(&weights).map(|(cost, own)| cost.amount.unwrap().number() * u64::from(own.weight));
/// assert_eq!(Amount::Cycles(cycles.sum()).to_string(), "7,900 cycles");
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProgramCost {
    /// Its name.
    pub program: String,
    /// Its cost, without its weight; `None` if it is not known.
    #[serde(flatten, serialize_with = "amount::all_runs")]
    #[schemars(with = "amount::AllRuns")]
    pub amount: Option<Amount>,
    /// The bytes of HBM that it takes.
    pub bytes: u64,
    /// How many copies change a layout.
    pub copies: usize,
    /// Copies that today's layouts need and these do not.
    pub gone: Vec<String>,
    /// Copies that these layouts need and today's do not.
    pub new: Vec<String>,
    /// The opcodes whose cost changes the most, with the change in the unit of the cost.
    #[serde(skip)]
    pub opcodes: Vec<(String, i128)>,
}

/// A choice of layouts that was tried.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Entry {
    /// The layout of each shared array, by its name.
    pub layouts: BTreeMap<String, String>,
    /// The programs that were compiled with Layout.AUTO, for which the compiler chose these layouts. For the others, these layouts were requested;
    /// or, if they are today's layouts, the programs were compiled as they are. Layouts do not determine a program.
    pub auto: Vec<String>,
    /// Whether the compiled programs have these layouts. If not, the figures are not those of these layouts.
    pub taken: bool,
    /// The cost of the programs.
    #[serde(flatten)]
    pub cost: Cost,
    /// Why it was tried.
    pub because: Because,
    /// Why the compiler refused; null if it did not.
    pub error: Option<String>,
}

words! {
    /// Why a choice of layouts was tried.
    pub enum Because {
        /// The programs have these layouts today.
        Today = "today",
        /// Every combination was wanted.
        Every = "every combination",
        /// They are the best layouts in the preferred memory, tried in another one.
        BestElsewhere = "the best layouts, in other memory",
        /// They are today's layouts, in another memory.
        TodayElsewhere = "today's layouts, in other memory",
        /// The compiler chose them for at least one program, and its compiled program differs from the one that it makes if they are requested.
        Auto = "the compiler's own choice",
        /// A program prefers them.
        Preferred = "preferred by a program",
        /// They have the most minor dimension that one program prefers, followed by the one that another program prefers.
        Between = "between what two programs prefer",
        /// They are a neighbour of the best so far.
        Neighbour = "a neighbour of the best",
    }
}

/// Why an entry cannot be recommended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Problem<'a> {
    /// The compiler refused it with this message.
    Refused(&'a str),
    /// The compiled programs have other layouts.
    NotTaken,
    /// The cycles are not known.
    NoCycles,
    /// A program takes this many bytes, more than the limit.
    Exceeds(u64),
}

/// A shared array.
///
/// ```
/// use xla_shape_answers::tune::{Array, Preferred, Write};
///
/// let array = Array {
///     name: "kv".to_owned(),
///     shape: "f32[256,3]".to_owned(),
///     places: vec!["parameter 0 of decode".to_owned()],
///     layouts: 2,
///     repeated: 0,
///     padded: 1, // in rows of 128, it takes 32 times as many bytes
///     preferred: vec![Preferred { program: "decode".to_owned(), layout: "{0,1:T(4,128)}".to_owned() }],
///     write: Some(Write {
///         jax: "Format(Layout(major_to_minor=(1, 0)), sharding)".to_owned(),
///         orbax: "ArrayRestoreArgs(sharding=Format(Layout(major_to_minor=(1, 0)), sharding))".to_owned(),
///         shape: "shape!(f32[256,3]{0,1:T(4,128)})".to_owned(),
///     }),
/// };
/// // The layout to write is the one that the program prefers.
/// let (preferred, write) = (&array.preferred[0], array.write.unwrap());
/// assert_eq!(write.shape, format!("shape!({}{})", array.shape, preferred.layout));
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Array {
    /// Its name.
    pub name: String,
    /// Its type and its sizes on one device.
    pub shape: String,
    /// Where it is, such as "parameter 4 of decode".
    pub places: Vec<String>,
    /// How many different layouts it can have in the device's tiles.
    pub layouts: usize,
    /// How many orders of its dimensions put every byte where another order puts it, because the two differ only in dimensions of size 1.
    pub repeated: usize,
    /// How many layouts take so much padding that the search leaves them out.
    pub padded: usize,
    /// The layouts that programs prefer by themselves: the compiler's own choice, and layouts that would remove a copy, for example because a kernel
    /// requires them.
    pub preferred: Vec<Preferred>,
    /// What to write for the best layout; null if there is none.
    pub write: Option<Write>,
}

/// A layout that a program prefers: the compiler's own choice, or one that would remove a copy, for example because a kernel requires it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Preferred {
    /// The program.
    pub program: String,
    /// The layout.
    pub layout: String,
}

/// What to write for a layout.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Write {
    /// For JAX.
    pub jax: String,
    /// For Orbax, when the array is restored.
    pub orbax: String,
    /// For this library.
    pub shape: String,
}

/// A program and its weight.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Weighted {
    /// Its name.
    pub name: String,
    /// How often it runs, relative to the other programs.
    pub weight: u32,
}

impl Answer for Tuning {
    const SCHEMA: &'static str = "xla-shape/tune/1";

    /// The next commands show the cost of the first program, and record it so that it does not grow again.
    fn digest(&self) -> Digest {
        let cost = vec!["cost".into(), digest::Word::File(0)];
        let record = vec!["guard".into(), "record".into(), "guard.json".into(), digest::Word::File(0)];
        let on_device = |mut words: Vec<digest::Word>| {
            words.extend(self.device.iter().flat_map(|device| ["--for".into(), device.clone().into()]));
            words
        };
        Digest { causes: Vec::new(), next: vec![on_device(cost), on_device(record)] }
    }
}

impl Tuning {
    /// The best entry, if it is not today's.
    #[must_use]
    pub fn changed(&self) -> Option<&Entry> {
        self.best_entry.and_then(|number| self.tried.get(number)).filter(|_| !self.keep)
    }

    /// All that was tried, the best first.
    #[must_use]
    pub fn sorted(&self) -> Vec<&Entry> {
        let mut entries: Vec<&Entry> = self.tried.iter().collect();
        sort_by_key(&mut entries, |entry| {
            // `false` comes first: entries without a problem, and of these the ones with a cost.
            (self.problem(entry).is_some(), entry.cost.amount.is_none(), entry.cost.amount, entry.cost.bytes)
        });
        entries
    }

    /// Why an entry cannot be recommended; `None` if it can.
    #[must_use]
    pub fn problem<'a>(&self, entry: &'a Entry) -> Option<Problem<'a>> {
        match (&entry.error, entry.taken, entry.cost.amount) {
            (Some(error), ..) => Some(Problem::Refused(error)),
            (None, false, _) => Some(Problem::NotTaken),
            (None, true, None) => Some(Problem::NoCycles),
            (None, true, Some(_)) => {
                let limit = self.limit.zip(entry.cost.bytes).filter(|(limit, bytes)| bytes > limit);
                limit.map(|(_, bytes)| Problem::Exceeds(bytes))
            }
        }
    }

    /// The entry with the same layouts, in which all of them are requested and none is the compiler's own choice; `None` if it cannot be
    /// recommended.
    #[must_use]
    pub fn explicit(&self, entry: &Entry) -> Option<&Entry> {
        let mut others = self.tried.iter();
        others
            .find(|other| other.auto.is_empty() && other.layouts == entry.layouts)
            .filter(|other| self.problem(other).is_none())
    }

    /// Whether the caller ended the search, so that the best layouts are those of what was tried until then.
    #[must_use]
    pub const fn is_ended(&self) -> bool {
        self.ended
    }

    /// Whether there is a best choice of layouts.
    #[must_use]
    pub const fn has_best(&self) -> bool {
        self.best.is_some()
    }

    /// Whether this is advice, which no compiler has checked.
    #[must_use]
    pub const fn is_advice(&self) -> bool {
        self.advice.is_some()
    }
}
