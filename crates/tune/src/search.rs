//! The search for the best layouts. It does not compile itself: it passes requests to the caller, and compares the answers.
//!
//! The question is in `question.rs`, the answer in `xla_shape_answers::tune`, its text in `crates/render/src/tune`. `scripts/tune_sets.py` compares
//! the search with every combination of layouts, on sets of programs.

use super::candidates::{Candidate, bytes, candidates, is_same};
use super::memory::{Memory, Requested, homes, in_space, without_space};
use super::{Ask, Measured, Options, Place, Program, SharedArray, TuneError};
use std::collections::{BTreeMap, HashMap, HashSet};
use xla_shape_answers::tune::Because;
use xla_shape_core::{ArrayShape, Layout};

/// An order that takes more than this many times the bytes of the smallest one is not tried unless a program prefers it. Reading its padding costs as
/// much as reading the whole array once more, as a copy would. If no part of a program needs the order, nothing makes up for that cost. If a part
/// does need it, the compiler chooses this order itself or copies the array to it, so the program counts as preferring the order.
const MOST_PADDING: u64 = 2;

/// A gain is small if it is less than 1/33 (3 percent) of the cycles.
const SMALL_GAIN: u128 = 33;

/// The most combinations of layouts that `all` accepts.
pub(crate) const MOST_COMBINATIONS: u64 = 10_000;

/// The layout of each shared array.
pub(crate) type Choice = Vec<Layout>;

/// Arrays, by number, that all get the same layout. They have the same type and sizes.
type Unit = Vec<usize>;

/// The key by which choices are compared; a smaller one is better.
type Score = (usize, u128, u64, bool, bool);

/// The result of trying a choice of layouts.
#[derive(Clone, Debug)]
pub(crate) struct Tried {
    pub(crate) choice: Choice,
    /// The programs, by number, for which the compiler chose these layouts. For the other programs, the layouts were requested. The compiler may make
    /// one program if it chooses these layouts itself, and another if they are requested.
    pub(crate) auto: Vec<usize>,
    /// Whether the compiled programs have these layouts.
    pub(crate) taken: bool,
    /// For each program, what the compiler says.
    pub(crate) programs: Vec<Measured>,
    /// The number of the program that the compiler refused, and why.
    pub(crate) error: Option<(usize, String)>,
    /// Why it was tried.
    pub(crate) because: Because,
}

/// The result of a search.
#[derive(Debug)]
pub(crate) struct Found {
    /// The programs without requests for layouts.
    pub(crate) today: Vec<Measured>,
    /// The layouts of today; `None` if an array has different ones in different places.
    pub(crate) today_choice: Option<Choice>,
    /// The number of the best entry of `tried`; `None` if none can be used.
    pub(crate) best: Option<usize>,
    pub(crate) tried: Vec<Tried>,
    pub(crate) compiles: usize,
    /// For each array: how many layouts it can have, how many orders put every byte at the same place as another order, and how many layouts have
    /// too much padding.
    pub(crate) rules: Vec<[usize; 3]>,
    /// Whether the search left out compilations, because it reached their limit or because the caller ended it.
    pub(crate) is_cut: bool,
    /// Whether the caller ended the search.
    pub(crate) is_ended: bool,
    /// The layouts that programs prefer: for each array, those of each program.
    pub(crate) preferred: Vec<Vec<Vec<Layout>>>,
    /// Why the compiler could not choose layouts itself, for each program where that failed.
    pub(crate) auto_errors: Vec<(usize, String)>,
}

/// A compiler. It gets a list of programs by number, each with the requested layouts. It returns, in the same order, what each program costs, or
/// why it was refused. `None` ends the search: the program was not compiled.
pub type Compile<'a> = dyn FnMut(&[(usize, Ask)]) -> Vec<Option<Result<Measured, String>>> + 'a;

struct Search<'a> {
    arrays: &'a [SharedArray],
    programs: &'a [Program],
    options: &'a Options,
    compile: &'a mut Compile<'a>,
    /// The answers of the compiler so far.
    known: HashMap<(usize, Ask), Result<Measured, String>>,
    today: Vec<Measured>,
    today_choice: Option<Choice>,
    candidates: Vec<Vec<Candidate>>,
    tried: Vec<Tried>,
    seen: HashSet<Choice>,
    is_cut: bool,
    is_ended: bool,
    /// The combinations of memories to try, each with one memory for each array; the preferred ones come first.
    homes: Vec<Vec<Option<Memory>>>,
    /// The index in `homes` of the combination that is tried now.
    home: usize,
}

/// Searches for the best layouts.
pub(crate) fn search<'a>(
    arrays: &'a [SharedArray],
    programs: &'a [Program],
    options: &'a Options,
    compile: &'a mut Compile<'a>,
) -> Result<Found, TuneError> {
    let mut search = Search {
        arrays,
        programs,
        options,
        compile,
        known: HashMap::new(),
        today: Vec::new(),
        today_choice: None,
        candidates: Vec::new(),
        tried: Vec::new(),
        seen: HashSet::new(),
        is_cut: false,
        is_ended: false,
        homes: homes(arrays, MOST_COMBINATIONS).ok_or(TuneError::TooMany { combinations: None })?,
        home: 0,
    };
    search.look_at_today()?;
    let found: Vec<_> =
        arrays.iter().map(|array| candidates(&array.array, options.generation, options.tilings)).collect();
    let repeated: Vec<_> = found.iter().map(|(_, repeated)| *repeated).collect();
    search.candidates = found.into_iter().map(|(candidates, _)| candidates).collect();
    if let Some((home, today)) = search.today_choice.clone().and_then(|today| Some((search.home_of(&today)?, today))) {
        search.home = home;
        search.add(vec![today], Because::Today);
    }
    for home in 0..search.homes.len() {
        search.home = home;
        search.try_home()?;
    }
    let rules = search.candidates.iter().zip(repeated).map(|(all, repeated)| rules(all, repeated)).collect();
    let auto_errors = (0..programs.len()).filter_map(|program| match search.known.get(&(program, Ask::Auto)) {
        Some(Err(error)) => Some((program, error.clone())),
        _ => None,
    });
    Ok(Found {
        best: search.best(),
        preferred: search.all_preferred(),
        auto_errors: auto_errors.collect(),
        rules,
        compiles: search.known.len(),
        today: search.today,
        today_choice: search.today_choice,
        tried: search.tried,
        is_cut: search.is_cut,
        is_ended: search.is_ended,
    })
}

impl Search<'_> {
    /// Tries layouts, with the arrays in the memories of `home`. If the best layouts so far are in memories that are preferred to these memories,
    /// only the best layouts are tried here, for comparison.
    fn try_home(&mut self) -> Result<(), TuneError> {
        if self.options.all {
            let all = self.combinations()?;
            self.add(all, Because::Every);
        }
        if self.best_score().is_some_and(|(home, ..)| home < self.home) {
            self.add(vec![self.start()], Because::BestElsewhere);
            return Ok(());
        }
        if let Some(today) = self.today_choice.clone() {
            self.add(vec![today], Because::TodayElsewhere);
        }
        for units in self.units() {
            self.try_preferred(&units);
            if !self.options.all {
                self.descend(&units);
            }
        }
        Ok(())
    }

    /// The sets of arrays that get one layout, for each stage of the search: first sets of similar arrays, then each array by itself. For example, a
    /// program that uses two caches in the same way may need the same order for both. If changing only one of them gains nothing, a search that
    /// changes one array at a time never changes both.
    fn units(&self) -> Vec<Vec<Unit>> {
        let mut alike = BTreeMap::<_, Unit>::new();
        for (number, array) in self.arrays.iter().enumerate() {
            let role = |(program, place): &(usize, Place)| (*program, matches!(place, Place::Parameter(..)));
            let mut roles: Vec<_> = array.places.iter().map(role).collect();
            roles.sort_unstable();
            alike.entry((described(&array.array), roles)).or_default().push(number);
        }
        let mut together: Vec<Unit> = alike.into_values().collect();
        together.sort_unstable();
        let single = (0..self.arrays.len()).map(|array| vec![array]).collect();
        if together == single { vec![single] } else { vec![together, single] }
    }

    /// The choice with its arrays in the memories that are tried now.
    fn at_home(&self, choice: &Choice) -> Choice {
        let homes = self.homes.get(self.home).into_iter().flatten();
        let placed = choice.iter().zip(homes).map(|(layout, home)| match home {
            Some(memory) => in_space(layout, memory.space()),
            None => layout.clone(),
        });
        placed.collect()
    }

    /// The index in `homes` of a choice's memories; `None` if an array is elsewhere.
    fn home_of(&self, choice: &Choice) -> Option<usize> {
        let is_home = |homes: &Vec<Option<Memory>>| {
            let mut pairs = homes.iter().zip(choice);
            pairs.all(|(home, layout)| home.is_none_or(|home| Memory::of(layout) == Some(home)))
        };
        self.homes.iter().position(is_home)
    }

    /// Compiles the programs without requests, and with the layouts that the compiler chooses.
    fn look_at_today(&mut self) -> Result<(), TuneError> {
        let numbers = 0..self.programs.len();
        let today: Vec<_> = numbers.clone().map(|program| (program, Ask::Today)).collect();
        let preferred: Vec<_> = numbers.clone().map(|program| (program, Ask::Auto)).collect();
        // Every other result is compared with these, so they are compiled even if the limit of compilations is lower.
        self.ask(today.iter().chain(&preferred).cloned().collect());
        for (program, ask) in today {
            let name = || self.programs[program].name.clone();
            let measured = self.known.get(&(program, ask)).cloned();
            let measured = measured.ok_or_else(|| TuneError::Unfinished { program: name() })?;
            let measured = measured.map_err(|message| TuneError::Today { program: name(), message })?;
            if measured.cost.is_none() {
                return Err(TuneError::NoCycles { program: name() });
            }
            self.today.push(measured);
        }
        self.today_choice = today_choice(self.arrays, &self.today);
        Ok(())
    }

    /// Compiles the requests among these that have not been compiled yet.
    fn ask(&mut self, mut asks: Vec<(usize, Ask)>) {
        let mut new = HashSet::new();
        asks.retain(|ask| !self.known.contains_key(ask) && new.insert(ask.clone()));
        if asks.is_empty() {
            return;
        }
        let answers = (self.compile)(&asks).into_iter().chain(std::iter::repeat(None));
        for (ask, answer) in asks.into_iter().zip(answers) {
            match answer {
                Some(answer) => {
                    self.known.insert(ask, answer);
                }
                None => (self.is_cut, self.is_ended) = (true, true),
            }
        }
    }

    /// The shared arrays that a program has.
    fn used(&self, program: usize) -> impl Iterator<Item = usize> {
        (0..self.arrays.len()).filter(move |&array| self.arrays[array].places_of(program).next().is_some())
    }

    /// What to request of the compiler for a choice of layouts. If the program has these layouts already, it is compiled unchanged. Otherwise
    /// the layouts are requested, even if the compiler chose them itself before: it may make another program when they are requested.
    fn asked(&self, program: usize, choice: &Choice) -> Ask {
        let is_today = |today: &Choice| self.used(program).all(|array| today[array] == choice[array]);
        if self.today_choice.as_ref().is_some_and(is_today) {
            return Ask::Today;
        }
        Ask::Layouts(self.used(program).map(|array| (array, choice[array].clone())).collect())
    }

    /// The same requests, except that the compiler chooses the layouts of some programs: those for which it chose exactly these layouts before, but
    /// whose compiled program differs from the one with requested layouts. If its own choice costs less for some of these programs, it chooses only
    /// for those; otherwise, it chooses for all of them. `None` if there are no such programs.
    fn with_auto(&self, choice: &Choice, asked: &[(usize, Ask)]) -> Option<Vec<(usize, Ask)>> {
        let has = |program, measured: &Measured| {
            self.used(program).all(|array| self.has(measured, program, array, &choice[array]))
        };
        let own = |program: usize| match self.known.get(&(program, Ask::Auto)) {
            Some(Ok(measured)) if has(program, measured) => Some(measured),
            _ => None,
        };
        let other = asked.iter().filter_map(|ask| {
            let (measured, asked) = (own(ask.0)?, self.known.get(ask));
            let asked = asked.and_then(|asked| asked.as_ref().ok()).filter(|asked| has(ask.0, asked));
            let cost = |measured: &Measured| (measured.cost.is_none(), measured.cost, measured.bytes);
            let is_less = asked.is_none_or(|asked| cost(measured) < cost(asked));
            (asked != Some(measured)).then_some((ask.0, is_less))
        });
        let other: Vec<(usize, bool)> = other.collect();
        let is_any_less = other.iter().any(|(_, is_less)| *is_less);
        let chosen = |program| other.iter().any(|&(one, is_less)| one == program && (is_less || !is_any_less));
        let with = |(program, ask): &(usize, Ask)| (*program, if chosen(*program) { Ask::Auto } else { ask.clone() });
        (!other.is_empty()).then(|| asked.iter().map(with).collect())
    }

    /// Whether a compiled program has a layout at all places of an array.
    fn has(&self, measured: &Measured, program: usize, array: usize, layout: &Layout) -> bool {
        let shared = &self.arrays[array];
        let is_as_wanted = |found: &Layout| is_same(&shared.array, found, layout) && shared.is_in_memory(found, layout);
        shared.places_of(program).all(|place| measured.array(place).is_some_and(|found| is_as_wanted(found.layout())))
    }

    /// Tries choices: compiles what has not been compiled yet, and adds the results to the table.
    fn add(&mut self, choices: Vec<Choice>, because: Because) {
        let mut new: Vec<(Choice, Vec<(usize, Ask)>)> = Vec::new();
        let mut asks = Vec::new();
        let mut wanted = HashSet::new();
        let mut count = self.known.len();
        for choice in choices {
            let choice = self.at_home(&choice);
            if !self.seen.insert(choice.clone()) {
                continue;
            }
            let asked: Vec<_> =
                (0..self.programs.len()).map(|program| (program, self.asked(program, &choice))).collect();
            let missing = asked.iter().filter(|ask| !self.known.contains_key(ask) && !wanted.contains(*ask)).cloned();
            let missing: Vec<_> = missing.collect();
            let is_limited = self.options.most.is_some_and(|most| count + missing.len() > most);
            // A choice that would exceed the limit of compilations is left out. Later choices may need no compilation.
            if !missing.is_empty() && (is_limited || self.is_ended) {
                self.is_cut = true;
            } else {
                count += missing.len();
                wanted.extend(missing.iter().cloned());
                asks.extend(missing);
            }
            new.push((choice, asked));
        }
        self.ask(asks);
        for (choice, asked) in new {
            let tried = self.judge(&choice, &asked, because);
            self.tried.extend(tried);
            if let Some(asked) = self.with_auto(&choice, &asked) {
                let tried = self.judge(&choice, &asked, Because::Auto);
                self.tried.extend(tried);
            }
        }
    }

    /// The result of a choice; `None` if some programs were not compiled, because the search reached its limit or ended.
    fn judge(&self, choice: &Choice, asked: &[(usize, Ask)], because: Because) -> Option<Tried> {
        let answers = asked.iter().map(|ask| Some((ask.0, self.known.get(ask)?))).collect::<Option<Vec<_>>>()?;
        let auto = asked.iter().filter(|(_, ask)| *ask == Ask::Auto).map(|(program, _)| *program).collect();
        let mut tried = Tried { choice: choice.clone(), auto, taken: true, programs: Vec::new(), error: None, because };
        for (program, answer) in answers {
            match answer {
                Ok(measured) => {
                    let mut arrays = 0..self.arrays.len();
                    tried.taken &= arrays.all(|array| self.has(measured, program, array, &choice[array]));
                    tried.programs.push(measured.clone());
                }
                Err(error) => {
                    let error = Some((program, error.clone()));
                    return Some(Tried { taken: false, programs: Vec::new(), error, ..tried });
                }
            }
        }
        Some(tried)
    }

    /// The key by which choices are compared: the preference of the memories, cycles, bytes, then whether a program changes, and whether the
    /// compiler chooses. `None` if the choice has no result.
    fn score(&self, tried: &Tried) -> Option<Score> {
        if !tried.taken || tried.programs.len() < self.programs.len() {
            return None;
        }
        let bytes = most_bytes(&tried.programs);
        if self.options.at_most_bytes.is_some_and(|most| bytes > most) {
            return None;
        }
        let home = self.home_of(&tried.choice)?;
        Some((
            home,
            weighted(self.programs, &tried.programs)?,
            bytes,
            !tried.is_today(self.today_choice.as_ref()),
            !tried.auto.is_empty(),
        ))
    }

    fn best(&self) -> Option<usize> {
        let scores = self.tried.iter().enumerate().filter_map(|(number, tried)| Some((self.score(tried)?, number)));
        scores.min().map(|(_, number)| number)
    }

    /// The choice from which the search continues: the best so far, or today's layouts.
    fn start(&self) -> Choice {
        let best = self.best().map(|number| self.tried[number].choice.clone());
        let own = || self.arrays.iter().map(|array| without_space(array.array.layout())).collect();
        best.or_else(|| self.today_choice.clone()).unwrap_or_else(own)
    }

    /// The candidate that keeps every byte in the same place as this layout.
    fn canonical(&self, array: usize, layout: &Layout) -> Layout {
        let shape = &self.arrays[array].array;
        let known = self.candidates[array].iter().find(|other| is_same(shape, &other.layout, layout));
        without_space(known.map_or(layout, |known| &known.layout))
    }

    /// The layouts that a program prefers for an array: the compiler's own choice, and layouts that would make a copy unnecessary.
    fn preferred(&self, array: usize, program: usize) -> Vec<Layout> {
        let own = self.arrays[array].places.iter().filter(|(other, _)| *other == program);
        let places: Vec<_> = own.map(|(_, place)| place.clone()).collect();
        let mut preferred = Vec::new();
        if let Some(Ok(chosen)) = self.known.get(&(program, Ask::Auto)) {
            preferred.extend(places.iter().filter_map(|place| Some(chosen.array(place)?.layout().clone())));
        }
        preferred.extend(self.today[program].remedies(&places));
        let mut unique = Vec::new();
        for layout in preferred {
            let layout = self.canonical(array, &layout);
            if !unique.contains(&layout) && bytes(&self.arrays[array].array, &layout).is_some() {
                unique.push(layout);
            }
        }
        unique
    }

    /// The layouts that each program prefers for each array.
    fn all_preferred(&self) -> Vec<Vec<Vec<Layout>>> {
        let of_array = |array| (0..self.programs.len()).map(|program| self.preferred(array, program)).collect();
        (0..self.arrays.len()).map(of_array).collect()
    }

    /// The layouts that a program prefers for one of these arrays.
    fn preferred_by(&self, program: usize, unit: &Unit) -> Vec<Layout> {
        let mut unique = Vec::new();
        for layout in unit.iter().flat_map(|&array| self.preferred(array, program)) {
            if !unique.contains(&layout) {
                unique.push(layout);
            }
        }
        unique
    }

    /// Tries the layouts that each program prefers, then combinations of those that two programs prefer.
    fn try_preferred(&mut self, units: &[Unit]) {
        let start = self.start();
        let numbers = 0..self.programs.len();
        let preferred = |unit| numbers.clone().map(|program| self.preferred_by(program, unit)).collect::<Vec<_>>();
        let preferred: Vec<(&Unit, Vec<Vec<Layout>>)> = units.iter().map(|unit| (unit, preferred(unit))).collect();
        // One choice per program: its first preference for each of its arrays.
        let of_program = |program: usize| {
            let first = preferred.iter().filter_map(|(unit, of_unit)| Some((unit, of_unit[program].first()?)));
            first.fold(start.clone(), |choice, (unit, layout)| with(&choice, unit, layout))
        };
        let mut choices: Vec<Choice> = numbers.clone().map(of_program).collect();
        for (unit, of_unit) in &preferred {
            choices.extend(of_unit.iter().flatten().map(|layout| with(&start, unit, layout)));
        }
        self.add(choices, Because::Preferred);
        let best = self.start();
        let mut between = Vec::new();
        for (unit, of_unit) in &preferred {
            let all: Vec<&Layout> = of_unit.iter().flatten().collect();
            for one in &all {
                for other in all.iter().filter(|other| *other != one) {
                    let found = self.between(unit[0], one, other);
                    between.extend(found.into_iter().map(|layout| with(&best, unit, &layout)));
                }
            }
        }
        if self.programs.len() > 1 {
            self.add(between, Because::Between);
        }
    }

    /// The layouts that have the most minor dimension of `one`, followed by the most minor dimension of `other`.
    fn between(&self, array: usize, one: &Layout, other: &Layout) -> Vec<Layout> {
        let [first, second] = [one, other].map(|layout| layout.minor_to_major().first().copied());
        let (Some(first), Some(second)) = (first, second.filter(|second| Some(*second) != first)) else {
            return Vec::new();
        };
        let rest = one.minor_to_major().iter().copied().filter(|dimension| ![first, second].contains(dimension));
        let order: Vec<usize> = [first, second].into_iter().chain(rest).collect();
        self.with_order(array, &order).into_iter().collect()
    }

    fn with_order(&self, array: usize, order: &[usize]) -> Option<Layout> {
        let mut found = within(&self.candidates[array]);
        let found = found.find(|other| other.has_default_tiles && other.layout.minor_to_major() == order);
        Some(without_space(&found?.layout))
    }

    /// Moves to better neighbours. If that gains little, it also tries the other neighbours of the starting point: they may lead further.
    fn descend(&mut self, units: &[Unit]) {
        let cycles = |search: &Self| search.best_score().map_or(0, |(_, cycles, ..)| cycles);
        let (before, near) = (cycles(self), self.near(&self.start(), units));
        self.follow(units);
        if cycles(self) > before - before / SMALL_GAIN && self.is_any_better(near) {
            self.follow(units);
        }
    }

    /// Moves to the first better neighbour until no neighbour is better. Swaps the most minor dimensions first, because they matter most.
    fn follow(&mut self, units: &[Unit]) {
        while self.is_any_better(self.near(&self.start(), units)) {}
    }

    /// Tries choices until one is better than the best.
    fn is_any_better(&mut self, choices: Vec<Choice>) -> bool {
        let before = self.best_score();
        choices.into_iter().any(|choice| {
            self.add(vec![choice], Because::Neighbour);
            self.best_score() != before
        })
    }

    /// The choices that differ from `from` in one unit. In each, all arrays of the unit get a neighbour of their layout. If they have different
    /// layouts in `from`, there are also choices in which they all get one of these layouts.
    fn near(&self, from: &Choice, units: &[Unit]) -> Vec<Choice> {
        let mut near = Vec::new();
        for unit in units {
            let layouts: Vec<&Layout> = unit.iter().map(|&array| &from[array]).collect();
            let is_new = |(number, layout): &(usize, &&Layout)| !layouts[..*number].contains(*layout);
            for (_, layout) in layouts.iter().enumerate().filter(is_new) {
                near.push(with(from, unit, layout));
                near.extend(self.neighbours(unit[0], layout).iter().map(|layout| with(from, unit, layout)));
            }
        }
        near
    }

    fn best_score(&self) -> Option<Score> {
        self.score(&self.tried[self.best()?])
    }

    /// The layouts in which two adjacent dimensions are swapped, and those of the same order with other tiles.
    fn neighbours(&self, array: usize, layout: &Layout) -> Vec<Layout> {
        let order = layout.minor_to_major();
        let swapped = (1..order.len()).filter_map(|place| {
            let mut order = order.to_vec();
            order.swap(place - 1, place);
            self.with_order(array, &order)
        });
        let same_order = within(&self.candidates[array])
            .filter(|other| self.options.tilings && other.layout.minor_to_major() == order && other.layout != *layout);
        swapped.chain(same_order.map(|other| without_space(&other.layout))).collect()
    }

    /// Every combination of layouts. Each is tried with every combination of memories, and the limit applies to the number of all these trials.
    fn combinations(&self) -> Result<Vec<Choice>, TuneError> {
        let homes = self.homes.len() as u64;
        let count = self.candidates.iter().try_fold(homes, |count, all| count.checked_mul(all.len() as u64));
        if count.is_none_or(|count| count > MOST_COMBINATIONS) {
            return Err(TuneError::TooMany { combinations: count });
        }
        let mut all = vec![Vec::new()];
        for candidates in &self.candidates {
            let longer = |choice: Choice| {
                let layouts = candidates.iter().map(|candidate| without_space(&candidate.layout));
                layouts.map(move |layout| [choice.as_slice(), &[layout]].concat())
            };
            all = all.into_iter().flat_map(longer).collect();
        }
        Ok(all)
    }
}

impl Tried {
    /// Whether the programs stay as they are. `today` is the choice of today's layouts.
    pub(crate) fn is_today(&self, today: Option<&Choice>) -> bool {
        Some(&self.choice) == today && self.auto.is_empty()
    }
}

/// The candidates without too much padding. They are sorted by bytes.
fn within(all: &[Candidate]) -> impl Iterator<Item = &Candidate> {
    let least = all.first().map_or(0, |candidate| candidate.bytes);
    all.iter().filter(move |candidate| candidate.bytes <= least.saturating_mul(MOST_PADDING))
}

/// The same choice, except that these arrays have this layout.
fn with(choice: &Choice, unit: &[usize], layout: &Layout) -> Choice {
    let mut choice = choice.clone();
    for &array in unit {
        layout.clone_into(&mut choice[array]);
    }
    choice
}

/// The weighted sum of the programs' costs, in their unit; `None` if one cost is not known.
pub(crate) fn weighted(programs: &[Program], measured: &[Measured]) -> Option<u128> {
    let costs = programs.iter().zip(measured);
    let costs = costs.map(|(program, measured)| Some(u128::from(measured.cost?.number()) * u128::from(program.weight)));
    costs.sum()
}

/// The layouts that the arrays have in all of their places today; `None` if an array has different layouts in different places.
pub(crate) fn today_choice(arrays: &[SharedArray], today: &[Measured]) -> Option<Choice> {
    let own = |array: &SharedArray| {
        let is_own = |(program, place): &(usize, _)| {
            let found = today.get(*program)?.array(place)?;
            let own = array.array.layout();
            (is_same(&array.array, found.layout(), own) && array.is_in_memory(found.layout(), own)).then_some(())
        };
        array.places.iter().map(is_own).collect::<Option<Vec<()>>>()?;
        let own = array.array.layout();
        Some(if array.memories.is_empty() { without_space(own) } else { own.clone() })
    };
    arrays.iter().map(own).collect()
}

/// How many layouts an array can have, how many orders are equivalent to another one, and how many layouts have too much padding.
pub(crate) fn rules(all: &[Candidate], repeated: usize) -> [usize; 3] {
    [all.len(), repeated, all.len() - within(all).count()]
}

/// The most bytes of HBM that any of the programs takes.
pub(crate) fn most_bytes(measured: &[Measured]) -> u64 {
    measured.iter().map(|measured| measured.bytes).max().unwrap_or(0)
}

impl Ask {
    /// What is requested for each parameter and result of a program that is a shared array. Empty if the program is compiled without requests.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    /// use xla_shape_tune::{Ask, Place, Requested, SharedArray};
    ///
    /// let array = "f32[8,128]{1,0:T(8,128)}".parse()?;
    /// let arrays = [SharedArray { name: "w".into(), places: vec![(0, Place::Parameter(2, vec![]))], array, memories: vec![] }];
    /// assert!(Ask::Today.places(&arrays, 0).is_empty());
    /// let auto = Requested { layout: None, memory: None };
    /// assert_eq!(Ask::Auto.places(&arrays, 0), [(Place::Parameter(2, vec![]), auto)].into());
    /// assert!(Ask::Auto.places(&arrays, 1).is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn places(&self, arrays: &[SharedArray], program: usize) -> BTreeMap<Place, Requested> {
        let mut places = BTreeMap::new();
        for (number, array) in arrays.iter().enumerate() {
            let wanted = match self {
                Self::Today => continue,
                Self::Auto => None,
                Self::Layouts(layouts) => match layouts.get(&number) {
                    Some(layout) => Some(layout),
                    None => continue,
                },
            };
            let requested = array.requested(wanted);
            places.extend(array.places_of(program).map(|place| (place.clone(), requested.clone())));
        }
        places
    }
}

/// The type and sizes of an array, for error messages.
pub(crate) fn described(array: &ArrayShape) -> String {
    let sizes: Vec<String> = array.dimensions().iter().map(ToString::to_string).collect();
    format!("{}[{}]", array.element_type(), sizes.join(","))
}
