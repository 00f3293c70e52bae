//! Searches over a compiler's answers: which layout an array should have that several programs share.
//!
//! The caller compiles. This crate decides which layouts to try, compares the results, and has the answer as data. It writes nothing: the
//! words, the text and the page of an answer are those of `xla-shape-render`.

#![forbid(unsafe_code)]

mod advice;
mod candidates;
mod measured;
mod memory;
mod search;
#[cfg(test)]
mod tests;

pub use advice::{Advice, Compiled, CompiledCopy, Copied, PlaceNow, Smallest, Wanted};
pub use measured::{Figures, Measured};
pub use memory::{Memory, Requested};
use schemars::JsonSchema;
pub use search::Compile;
use search::{Found, Tried, described, most_bytes, search, weighted};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use xla_shape_answers::Answer;
pub use xla_shape_answers::place::{Place, format_in_jax};
use xla_shape_core::tpu::Generation;
use xla_shape_core::{ArrayShape, Layout};

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;

/// A program that uses shared arrays.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// The user's name for it.
    pub name: String,
    /// How often it runs, relative to the other programs.
    pub weight: u32,
}

/// An array that is a parameter or a result of several programs, or in several places of one.
#[derive(Clone, PartialEq, Debug)]
pub struct SharedArray {
    /// The user's name for it.
    pub name: String,
    /// The places: the index of a program, and the parameter or result in it.
    pub places: Vec<(usize, Place)>,
    /// The array on one device, in today's layout.
    pub array: ArrayShape,
    /// The memories that it may be in, the preferred one first. If empty, each program keeps it where it has it.
    pub memories: Vec<Memory>,
}

/// The layouts that a program is compiled with.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Ask {
    /// The program's own layouts.
    Today,
    /// The compiler chooses the layouts of shared arrays.
    Auto,
    /// Layouts, by the number of the shared array.
    Layouts(BTreeMap<usize, Layout>),
}

/// How to search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// The TPU, which determines the tiles of the layouts.
    pub generation: Generation,
    /// Try every combination of layouts.
    pub all: bool,
    /// Also try other tiles than those that the device's rules give an order.
    pub tilings: bool,
    /// The most bytes of HBM that a program may take.
    pub at_most_bytes: Option<u64>,
    /// The most compilations, including those with cached answers. The first two of each program, as it is and with the compiler's choice,
    /// are always made.
    pub most: Option<usize>,
}

/// Why a search failed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TuneError {
    /// A program does not compile as it is.
    Today {
        /// The program.
        program: String,
        /// Why.
        message: String,
    },
    /// The caller ended the search before a program had compiled as it is, so there is no result.
    Unfinished {
        /// The program.
        program: String,
    },
    /// The compiler does not say how many cycles a program takes.
    NoCycles {
        /// The program.
        program: String,
    },
    /// A program has no array at a place.
    NoArray {
        /// The shared array.
        name: String,
        /// The place, and its program.
        place: String,
    },
    /// An array has different sizes or types in different places.
    OtherArray {
        /// The shared array.
        name: String,
        /// What it is in its first place.
        first: String,
        /// What it is in another place.
        other: String,
        /// The other place, and its program.
        place: String,
    },
    /// There are too many combinations to try all.
    TooMany {
        /// How many; `None` if not even the number fits.
        combinations: Option<u64>,
    },
}

impl fmt::Display for TuneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Today { program, message } => write!(f, "{program} does not compile as it is: {message}"),
            Self::Unfinished { program } => {
                write!(f, "no result yet, because the search ended before {program} was compiled with today's layouts")
            }
            Self::NoCycles { program } => {
                write!(f, "the compiler does not say how many cycles {program} takes, so layouts cannot be compared")
            }
            Self::NoArray { name, place } => write!(f, "{name}: there is no array at {place}"),
            Self::OtherArray { name, first, other, place } => {
                write!(f, "{name}: it is {first} in its first place, but {other} at {place}")
            }
            Self::TooMany { combinations } => {
                let most = search::MOST_COMBINATIONS;
                match combinations {
                    Some(count) => write!(f, "there are {count} combinations of layouts; at most {most} are tried")?,
                    None => write!(f, "there are too many combinations of layouts; at most {most} are tried")?,
                }
                f.write_str("; without --all, the search needs a few")
            }
        }
    }
}

impl std::error::Error for TuneError {}

impl SharedArray {
    /// The array that is at some places of programs, in the layout that it has today.
    ///
    /// # Errors
    /// If a place has no array, or one whose type or sizes differ from those at the first place.
    pub fn new(
        name: &str,
        places: Vec<(usize, Place)>,
        programs: &[Program],
        today: &[Measured],
    ) -> Result<Self, TuneError> {
        let mut first: Option<ArrayShape> = None;
        for (number, place) in &places {
            let text = || match programs.get(*number) {
                Some(program) => format!("{place} of {}", program.name),
                None => place.to_string(),
            };
            let array = today.get(*number).and_then(|measured| measured.array(place));
            let array = array.ok_or_else(|| TuneError::NoArray { name: name.to_owned(), place: text() })?;
            match &first {
                Some(first) if described(first) != described(&array) => {
                    return Err(TuneError::OtherArray {
                        name: name.to_owned(),
                        first: described(first),
                        other: described(&array),
                        place: text(),
                    });
                }
                Some(_) => {}
                None => first = Some(array),
            }
        }
        let none = || TuneError::NoArray { name: name.to_owned(), place: "any place".to_owned() };
        Ok(Self { name: name.to_owned(), places, array: first.ok_or_else(none)?, memories: Vec::new() })
    }
}

/// The best layouts of shared arrays, and all that were tried. It serializes to the JSON of `xla-shape tune`, without its `schema`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Tuning {
    /// The best layout of each shared array, by its name; null if none of the layouts that were tried can be used, such as where all exceed
    /// the limit, and in advice.
    pub best: Option<BTreeMap<String, ArrayLayout>>,
    /// The programs as they are.
    pub today: Today,
    /// Whether the programs as they are are the best.
    pub keep: bool,
    /// The entry of `tried` with the best layouts; null if there is none.
    pub best_entry: Option<usize>,
    /// The shared arrays.
    pub arrays: Vec<Array>,
    /// The programs.
    pub programs: Vec<Weighted>,
    /// The versions of the compilers that made the figures, in their own words.
    pub compilers: Vec<String>,
    /// The number of compilations: pairs of a program and its layouts. Answers from the cache count too.
    pub compiles: usize,
    /// How many of these answers came from the cache.
    pub kept: usize,
    /// Whether every combination of layouts was asked for.
    pub all: bool,
    /// Whether the search stopped early, because it reached the limit of compilations or because the user interrupted it.
    pub cut: bool,
    /// Whether the caller ended it.
    #[serde(skip)]
    pub ended: bool,
    /// Whether another search goes on from the answers of this one.
    #[serde(skip)]
    pub goes_on: bool,
    /// Whether an array is in another memory than today, so that cycles cannot be compared with today's.
    #[serde(skip)]
    pub moved: bool,
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
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Today {
    /// The layout of each shared array, by its name; null if one has different layouts in different places.
    pub layouts: Option<BTreeMap<String, ArrayLayout>>,
    /// What they cost.
    #[serde(flatten)]
    pub cost: Cost,
}

/// The cost of the programs with some layouts.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Cost {
    /// The cycles of all programs with their weights; null if they are not known.
    pub cycles: Option<u64>,
    /// The bytes of HBM of the program that takes the most; null if the programs were not compiled.
    pub bytes: Option<u64>,
    /// How many copies in all programs change a layout; null if the programs were not compiled.
    pub copies: Option<usize>,
    /// The programs; empty if they were not compiled.
    pub programs: Vec<ProgramCost>,
}

/// The cost of one program with some layouts.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProgramCost {
    /// Its name.
    pub program: String,
    /// Its cycles, without its weight; null if they are not known.
    pub cycles: Option<u64>,
    /// The bytes of HBM that it takes.
    pub bytes: u64,
    /// How many copies change a layout.
    pub copies: usize,
    /// Copies that today's layouts need and these do not.
    pub gone: Vec<String>,
    /// Copies that these layouts need and today's do not.
    pub new: Vec<String>,
    /// The opcodes whose cycles change the most, with the change.
    #[serde(skip)]
    pub opcodes: Vec<(String, i128)>,
}

/// A choice of layouts that was tried.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Entry {
    /// The layout of each shared array, by its name.
    pub layouts: BTreeMap<String, String>,
    /// The programs for which the compiler chose these layouts (Layout.AUTO); the others were compiled with the layouts themselves, or as
    /// they are if these are today's. Layouts do not determine a program.
    pub auto: Vec<String>,
    /// Whether the compiled programs have these layouts. If not, the figures are not theirs.
    pub taken: bool,
    /// What the programs cost.
    #[serde(flatten)]
    pub cost: Cost,
    /// Why it was tried.
    pub because: Because,
    /// Why the compiler refused; null if it did not.
    pub error: Option<String>,
}

xla_shape_answers::words! {
    /// Why a choice of layouts was tried.
    pub enum Because {
        /// The programs have these layouts today.
        Today = "today",
        /// Every combination was wanted.
        Every = "every combination",
        /// They are the best layouts in the preferred memory, tried in another one.
        BestElsewhere = "the best layouts, in other memory",
        /// They are today's, in another memory.
        TodayElsewhere = "today's layouts, in other memory",
        /// The compiler chose them for at least one program, and made another program than of the layouts themselves.
        Auto = "the compiler's own choice",
        /// A program prefers them.
        Preferred = "preferred by a program",
        /// They have the first dimension of what one program prefers, and the next one of another.
        Between = "between what two programs prefer",
        /// They are a neighbour of the best so far.
        Neighbour = "a neighbour of the best",
    }
}

/// Why an entry cannot be recommended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Problem<'a> {
    /// The compiler refused it, and said this.
    Refused(&'a str),
    /// The compiled programs have other layouts.
    NotTaken,
    /// The cycles are not known.
    NoCycles,
    /// A program takes more than the limit: these bytes.
    Exceeds(u64),
}

/// A shared array.
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
    /// How many orders of its dimensions place every byte as another order does, because they differ only in dimensions of size 1.
    pub repeated: usize,
    /// How many layouts take so much padding that the search leaves them out.
    pub padded: usize,
    /// The layouts that programs prefer by themselves: the compiler's own choice, and those that would remove a copy, such as one that a
    /// kernel requires.
    pub preferred: Vec<Preferred>,
    /// What to write for the best layout; null if there is none.
    pub write: Option<Write>,
}

/// A layout that a program prefers: the compiler's own choice, or one that would remove a copy, such as one that a kernel requires.
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
    /// How often it runs, compared with the others.
    pub weight: u32,
}

impl Answer for Tuning {
    const SCHEMA: &'static str = "xla-shape/tune/1";
}

impl Tuning {
    /// Searches for the best layouts. `compile` gets a list of programs by number, each with the requested layouts. It returns, in the same
    /// order, what the compiler says about each program, or why it refused.
    ///
    /// The crate's first page has an example.
    ///
    /// # Errors
    /// If a program does not compile as it is, or not before the search ends, or has no cycles, or there are too many combinations to try all.
    pub fn search<'a>(
        arrays: &'a [SharedArray],
        programs: &'a [Program],
        options: &'a Options,
        compile: &'a mut Compile<'a>,
    ) -> Result<Self, TuneError> {
        let found = search(arrays, programs, options, compile)?;
        Ok(Self::new(arrays, programs, options, &found))
    }

    /// The same answer, with what the cache did for it.
    ///
    /// kept: how many answers came from the cache.
    /// goes_on: whether the other answers are in the cache now, so that another search goes on from there.
    #[must_use]
    pub fn with_cache(self, kept: usize, goes_on: bool) -> Self {
        Self { kept, goes_on, ..self }
    }

    /// The best entry, if it is not today's.
    #[must_use]
    pub fn changed(&self) -> Option<&Entry> {
        self.best_entry.and_then(|number| self.tried.get(number)).filter(|_| !self.keep)
    }

    /// All that was tried, the best first.
    #[must_use]
    pub fn sorted(&self) -> Vec<&Entry> {
        let mut entries: Vec<&Entry> = self.tried.iter().collect();
        entries.sort_by_key(|entry| {
            (self.problem(entry).is_some(), entry.cost.cycles.is_none(), entry.cost.cycles, entry.cost.bytes)
        });
        entries
    }

    /// Why an entry cannot be recommended; `None` if it can.
    #[must_use]
    pub fn problem<'a>(&self, entry: &'a Entry) -> Option<Problem<'a>> {
        match (&entry.error, entry.taken, entry.cost.cycles) {
            (Some(error), ..) => Some(Problem::Refused(error)),
            (None, false, _) => Some(Problem::NotTaken),
            (None, true, None) => Some(Problem::NoCycles),
            (None, true, Some(_)) => {
                let limit = self.limit.zip(entry.cost.bytes).filter(|(limit, bytes)| bytes > limit);
                limit.map(|(_, bytes)| Problem::Exceeds(bytes))
            }
        }
    }

    /// The entry with the same layouts where no program has them by the compiler's own choice; `None` if that is not an answer.
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

    fn new(arrays: &[SharedArray], programs: &[Program], options: &Options, found: &Found) -> Self {
        let named = |choice: &[Layout]| {
            let layouts = arrays.iter().zip(choice);
            layouts
                .map(|(array, layout)| (array.name.clone(), ArrayLayout::of(array, layout)))
                .collect::<BTreeMap<_, _>>()
        };
        let cost = |measured: &[Measured]| Cost::new(programs, measured, &found.today);
        let entry = |tried: &Tried| Entry {
            layouts: named(&tried.choice).into_iter().map(|(name, layout)| (name, layout.layout)).collect(),
            auto: tried.auto.iter().map(|program| programs[*program].name.clone()).collect(),
            taken: tried.taken,
            cost: cost(&tried.programs),
            because: tried.because,
            error: tried.error.as_ref().map(|(program, error)| format!("{}: {error}", programs[*program].name)),
        };
        let best = found.best.map(|number| &found.tried[number]);
        let array = |(number, array): (usize, &SharedArray)| {
            let [layouts, repeated, padded] = found.rules.get(number).copied().unwrap_or_default();
            let place = |(program, place): &(usize, Place)| format!("{place} of {}", programs[*program].name);
            Array {
                name: array.name.clone(),
                shape: described(&array.array),
                places: array.places.iter().map(place).collect(),
                layouts,
                repeated,
                padded,
                preferred: found.preferred.get(number).map_or_else(Vec::new, |all| preferred(programs, all)),
                write: best.and_then(|best| Write::new(array, best.choice.get(number)?, options.generation)),
            }
        };
        Self {
            best: best.map(|best| named(&best.choice)),
            keep: best.is_some_and(|best| best.is_today(found.today_choice.as_ref())),
            best_entry: found.best,
            today: Today { layouts: found.today_choice.as_deref().map(named), cost: cost(&found.today) },
            arrays: arrays.iter().enumerate().map(array).collect(),
            programs: programs.iter().map(|own| Weighted { name: own.name.clone(), weight: own.weight }).collect(),
            compilers: compilers(found),
            compiles: found.compiles,
            kept: 0,
            all: options.all && !found.is_cut,
            limit: options.at_most_bytes,
            cut: found.is_cut,
            ended: found.is_ended,
            goes_on: false,
            moved: best.is_some_and(|best| memory::is_moved(arrays, &best.choice, &found.today)),
            tried: found.tried.iter().map(entry).collect(),
            advice: None,
            notes: notes(programs, found).into_iter().chain(memory::note(arrays)).collect(),
        }
    }
}

fn preferred(programs: &[Program], layouts: &[Vec<Layout>]) -> Vec<Preferred> {
    let of_program = |(program, layouts): (&Program, &Vec<Layout>)| {
        let program = program.name.clone();
        let preferred = |layout: &Layout| Preferred { program: program.clone(), layout: layout.to_string() };
        layouts.iter().map(preferred).collect::<Vec<_>>()
    };
    programs.iter().zip(layouts).flat_map(of_program).collect()
}

fn compilers(found: &Found) -> Vec<String> {
    let all = found.tried.iter().flat_map(|tried| &tried.programs).chain(&found.today);
    all.filter_map(|measured| measured.compiler.clone()).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Notes on how far the figures can be trusted.
fn notes(programs: &[Program], found: &Found) -> Vec<String> {
    let mut notes = Vec::new();
    if found.today_choice.is_none() {
        notes.push(
            "Today, an array has different layouts in different places: something copies it between the programs, and no figure counts that."
                .to_owned(),
        );
    }
    if compilers(found).len() > 1 {
        notes.push("Compilers of several versions made the figures, so they should not be compared.".to_owned());
    }
    for (program, measured) in programs.iter().zip(&found.today) {
        if measured.unknown_loops > 0 {
            notes.push(match measured.unknown_loops {
                1 => format!("{}: the trip count of a loop is not known; its body counts once.", program.name),
                all => {
                    format!("{}: the trip counts of {all} loops are not known; their bodies count once.", program.name)
                }
            });
        }
    }
    for (program, error) in &found.auto_errors {
        notes.push(format!("{}: the compiler could not choose layouts itself: {error}", programs[*program].name));
    }
    notes
}

impl ArrayLayout {
    fn new(layout: &Layout) -> Self {
        let major_to_minor = layout.minor_to_major().iter().rev().copied().collect();
        Self { layout: layout.to_string(), major_to_minor, memory: None }
    }

    /// The layout of a shared array, with its memory if that was asked for.
    fn of(array: &SharedArray, layout: &Layout) -> Self {
        let memory = Memory::of(layout).filter(|_| !array.memories.is_empty());
        Self { memory: memory.map(Memory::kind), ..Self::new(layout) }
    }
}

impl Write {
    fn new(array: &SharedArray, layout: &Layout, generation: Generation) -> Option<Self> {
        // JAX needs no tiles if the device chooses the same ones.
        let (candidates, _) = candidates::candidates(&array.array, generation, false);
        let order = layout.minor_to_major();
        let mut same = candidates.iter().filter(|other| other.layout.minor_to_major() == order);
        let memory = Memory::of(layout).filter(|_| !array.memories.is_empty());
        let sharding = memory.map_or_else(
            || "sharding".to_owned(),
            |memory| format!("sharding.with_memory_kind(\"{}\")", memory.kind()),
        );
        let plain = memory::without_space(layout);
        let jax = format_in_jax(layout, same.all(|other| memory::without_space(&other.layout) != plain), &sharding);
        Some(Self {
            orbax: format!("ArrayRestoreArgs(sharding={jax})"),
            jax,
            shape: format!("shape!({})", array.array.clone().with_layout(layout.clone()).ok()?),
        })
    }
}

impl Cost {
    fn new(programs: &[Program], measured: &[Measured], today: &[Measured]) -> Self {
        let is_whole = measured.len() == programs.len();
        let entries = programs.iter().zip(measured).zip(today);
        Self {
            cycles: weighted(programs, measured).filter(|_| is_whole).and_then(|cycles| u64::try_from(cycles).ok()),
            bytes: is_whole.then(|| most_bytes(measured)),
            copies: is_whole.then(|| measured.iter().map(Measured::num_copies).sum()),
            programs: entries.map(|((program, measured), today)| ProgramCost::new(program, measured, today)).collect(),
        }
    }
}

impl ProgramCost {
    fn new(program: &Program, measured: &Measured, today: &Measured) -> Self {
        let more = |one: &Measured, other: &Measured| {
            let copies = one.copies.iter();
            let more = copies.flat_map(|(copy, &count)| {
                let known = other.copies.get(copy).copied().unwrap_or(0);
                std::iter::repeat_n(copy.clone(), count.saturating_sub(known))
            });
            more.collect::<Vec<_>>()
        };
        let mut opcodes = BTreeMap::<&str, i128>::new();
        for (measured, sign) in [(measured, 1), (today, -1)] {
            for (opcode, &cycles) in &measured.opcodes {
                *opcodes.entry(opcode).or_default() += sign * i128::from(cycles);
            }
        }
        let mut opcodes: Vec<_> = opcodes.into_iter().map(|(opcode, change)| (opcode.to_owned(), change)).collect();
        opcodes.retain(|(_, change)| *change != 0);
        opcodes.sort_by_key(|(_, change)| -change.abs());
        Self {
            program: program.name.clone(),
            cycles: measured.cycles,
            bytes: measured.bytes,
            copies: measured.num_copies(),
            gone: more(today, measured),
            new: more(measured, today),
            opcodes,
        }
    }
}
