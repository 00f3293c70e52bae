//! Turns the result of a search into an answer.

use crate::candidates::candidates;
use crate::memory;
use crate::search::{Found, Tried, described, most_bytes, weighted};
use crate::{Compile, Measured, Memory, Options, Program, SharedArray, TuneError};
use std::collections::{BTreeMap, BTreeSet};
use xla_shape_answers::place::{Place, format_in_jax};
use xla_shape_answers::search::Search;
use xla_shape_answers::tune::{
    Array, ArrayLayout, Cost, Entry, Preferred, ProgramCost, Today, Tuning, Weighted, Write,
};
use xla_shape_core::Layout;
use xla_shape_core::tpu::Generation;

/// Searches for the best layouts. `compile` gets a list of programs by number, each with the requested layouts. It returns, in the same
/// order, what the compiler says about each program, or why it refused.
///
/// ```
/// use xla_shape_answers::cost::Amount;
/// use xla_shape_answers::tune::Problem;
/// use xla_shape_core::Shape;
/// use xla_shape_core::tpu::Generation;
/// use xla_shape_tune::{Ask, Compile, Figures, Measured, Options, Place, Program, SharedArray, search};
///
/// // A stand-in for a compiler: with columns, the program takes fewer cycles and more memory.
/// let compiled = |layout: &str| {
///     let (cycles, bytes) = if layout.starts_with("{0,1") { (500, 3 << 30) } else { (900, 1 << 30) };
///     let shapes: [Shape; 1] = [format!("f32[256,128]{layout}").parse().unwrap()];
///     Measured::new(Figures { cost: Some(Amount::Cycles(cycles)), bytes, ..Figures::default() }, &shapes, &[])
/// };
/// let today = compiled("{1,0:T(8,128)}");
/// let compiler: &mut Compile<'_> = &mut |asks| {
///     let one = |ask: &Ask| match ask {
///         Ask::Layouts(layouts) => compiled(&layouts[&0].to_string()),
///         Ask::Today | Ask::Auto => today.clone(),
///     };
///     asks.iter().map(|(_, ask)| Some(Ok(one(ask)))).collect()
/// };
///
/// let programs = [Program { name: "decode".into(), weight: 1 }];
/// let arrays = [SharedArray::new("kv", vec![(0, Place::Parameter(0, vec![]))], &programs, &[today.clone()])?];
/// let generation = Some(Generation::V5e);
/// let options = Options { generation, all: false, tilings: false, at_most_bytes: Some(2 << 30), most: None };
/// let tuning = search(&arrays, &programs, &options, compiler)?;
/// assert!(tuning.keep, "columns exceed the limit");
/// let columns = tuning.tried.iter().find(|entry| entry.layouts["kv"].starts_with("{0,1")).unwrap();
/// assert_eq!(tuning.problem(columns), Some(Problem::Exceeds(3 << 30)));
/// # Ok::<(), xla_shape_tune::TuneError>(())
/// ```
///
/// # Errors
/// If a program does not compile without requests for layouts, the search ends before that program has compiled, or the compiler gives no cycles for
/// it; or if there are too many combinations to try all of them.
pub fn search<'a>(
    arrays: &'a [SharedArray],
    programs: &'a [Program],
    options: &'a Options,
    compile: &'a mut Compile<'a>,
) -> Result<Tuning, TuneError> {
    let found = crate::search::search(arrays, programs, options, compile)?;
    Ok(answer(arrays, programs, options, &found))
}

/// The answer about shared arrays.
pub(crate) fn answer(arrays: &[SharedArray], programs: &[Program], options: &Options, found: &Found) -> Tuning {
    let named = |choice: &[Layout]| {
        let layouts = arrays.iter().zip(choice);
        layouts.map(|(array, layout)| (array.name.clone(), layout_of(array, layout))).collect::<BTreeMap<_, _>>()
    };
    let cost = |measured: &[Measured]| cost_of(programs, measured, &found.today);
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
            write: best.and_then(|best| write(array, best.choice.get(number)?, options.generation)),
        }
    };
    Tuning {
        best: best.map(|best| named(&best.choice)),
        keep: best.is_some_and(|best| best.is_today(found.today_choice.as_ref())),
        best_entry: found.best,
        today: Today { layouts: found.today_choice.as_deref().map(named), cost: cost(&found.today) },
        arrays: arrays.iter().enumerate().map(array).collect(),
        programs: programs.iter().map(|own| Weighted { name: own.name.clone(), weight: own.weight }).collect(),
        compiles: found.compiles,
        all: options.all && !found.is_cut,
        limit: options.at_most_bytes,
        search: Search { compilers: compilers(found), cut: found.is_cut, ..Search::default() },
        ended: found.is_ended,
        device: None,
        moved: best.is_some_and(|best| memory::is_moved(arrays, &best.choice, &found.today)),
        tried: found.tried.iter().map(entry).collect(),
        advice: None,
        notes: notes(programs, found).into_iter().chain(memory::note(arrays)).collect(),
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
/// A layout, without its memory.
pub(crate) fn plain(layout: &Layout) -> ArrayLayout {
    let major_to_minor = layout.minor_to_major().iter().rev().copied().collect();
    ArrayLayout { layout: layout.to_string(), major_to_minor, memory: None }
}

/// The layout of a shared array, with its memory if that was asked for.
fn layout_of(array: &SharedArray, layout: &Layout) -> ArrayLayout {
    let memory = Memory::of(layout).filter(|_| !array.memories.is_empty());
    ArrayLayout { memory: memory.map(Memory::kind), ..plain(layout) }
}

/// What to write for a layout of a shared array.
pub(crate) fn write(array: &SharedArray, layout: &Layout, generation: Option<Generation>) -> Option<Write> {
    // The layout for JAX needs no tiles if the device itself chooses the same tiles for this order.
    let (candidates, _) = candidates(&array.array, generation, false);
    let order = layout.minor_to_major();
    let mut same = candidates.iter().filter(|other| other.layout.minor_to_major() == order);
    let memory = Memory::of(layout).filter(|_| !array.memories.is_empty());
    let sharding = memory
        .map_or_else(|| "sharding".to_owned(), |memory| format!("sharding.with_memory_kind(\"{}\")", memory.kind()));
    let plain = memory::without_space(layout);
    let jax = format_in_jax(layout, same.all(|other| memory::without_space(&other.layout) != plain), &sharding);
    Some(Write {
        orbax: format!("ArrayRestoreArgs(sharding={jax})"),
        jax,
        shape: format!("shape!({})", array.array.clone().with_layout(layout.clone()).ok()?),
    })
}

/// The cost of the programs with some layouts.
fn cost_of(programs: &[Program], measured: &[Measured], today: &[Measured]) -> Cost {
    // If the compiler refused a program, `measured` is empty, and there are no sums.
    let is_whole = measured.len() == programs.len();
    let entries = programs.iter().zip(measured).zip(today);
    let all = weighted(programs, measured).filter(|_| is_whole).and_then(|cost| u64::try_from(cost).ok());
    let unit = measured.iter().find_map(|measured| measured.cost);
    Cost {
        amount: unit.zip(all).map(|(unit, all)| unit.with_number(all)),
        bytes: is_whole.then(|| most_bytes(measured)),
        copies: is_whole.then(|| measured.iter().map(Measured::num_copies).sum()),
        programs: entries.map(|((program, measured), today)| cost_of_program(program, measured, today)).collect(),
    }
}

/// The cost of one program, and its differences from today.
fn cost_of_program(program: &Program, measured: &Measured, today: &Measured) -> ProgramCost {
    let more = |one: &Measured, other: &Measured| {
        let copies = one.copies.iter();
        let more = copies.flat_map(|(copy, &count)| {
            // If `one` has a copy 3 times and `other` once, this lists it twice.
            let known = other.copies.get(copy).copied().unwrap_or(0);
            std::iter::repeat_n(copy.clone(), count.saturating_sub(known))
        });
        more.collect::<Vec<_>>()
    };
    let mut opcodes = BTreeMap::<&str, i128>::new();
    for (measured, sign) in [(measured, 1), (today, -1)] {
        for (opcode, cost) in &measured.opcodes {
            *opcodes.entry(opcode).or_default() += sign * i128::from(cost.number());
        }
    }
    let mut opcodes: Vec<_> = opcodes.into_iter().map(|(opcode, change)| (opcode.to_owned(), change)).collect();
    opcodes.retain(|(_, change)| *change != 0);
    opcodes.sort_by_key(|(_, change)| -change.abs());
    ProgramCost {
        program: program.name.clone(),
        amount: measured.cost,
        bytes: measured.bytes,
        copies: measured.num_copies(),
        gone: more(today, measured),
        new: more(measured, today),
        opcodes,
    }
}
