//! How many bundles an instruction executes at least: the bundles that no branch skips.
//!
//! The branches of a pipelined grid depend on the number of the iteration alone: the kernel's body runs in all iterations except the first
//! and the last. So the predicates of branches are computed for each iteration, as far as they depend on constants and on values that the
//! loop carries. A branch whose predicate is not known counts as taken, and what it skips is marked as open: it may execute more often.

use crate::bundles::{Bundle, Bundles, Slot};
use crate::loops::{Loop, Registers, branch_back, constant, filled, is_branch_back, plain, registers, target};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use xla_shape_core::sorting::set_of;

/// The most work for the predicates of branches, over all iterations of all loops. Each computed slot, each value that is carried or comes
/// from outside, and each branch counts as one.
const MAX_STEPS: u64 = 1 << 21;

/// A branch forward: the bundles that it skips.
#[derive(Clone, Copy)]
struct Branch<'s, 'a> {
    /// The first bundle that it skips.
    from: usize,
    /// The first bundle after those that it skips.
    until: usize,
    slot: &'s Slot<'a>,
    /// The innermost loop around it.
    around: Option<usize>,
}

/// How often a bundle executes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Executions {
    /// It executes at least this often.
    pub(crate) least: u64,
    /// Whether it may execute more often: it is unknown whether a branch skips the bundle, because that depends on values or takes more than
    /// [`MAX_STEPS`] to compute; or the trips of a loop around it are not known.
    pub(crate) is_open: bool,
}

/// How often each bundle executes; `None` if it is not known where a branch leads, or if one leads into the middle of a loop.
///
/// A loop whose trips are not known runs at least once, because its branch back is at its end. The same holds for a loop that a
/// branch leaves.
pub(crate) fn least_executions(bundles: &Bundles<'_>, loops: &[Loop<'_>]) -> Option<Vec<Executions>> {
    let all = bundles.bundles();
    let nest = Nest::new(loops, all.len());
    let branches = forward(all, loops, &nest)?;
    let mut trips = loops.iter().map(|found| found.trips.unwrap_or(1).max(1)).collect::<Vec<_>>();
    let mut open = loops.iter().map(|found| found.trips.is_none()).collect::<Vec<_>>();
    let backs = loops.iter().map(|found| branch_back(all, found).map_or(found.first, |(number, _)| number));
    let backs = backs.collect::<Vec<_>>();
    // The branches in each outermost loop.
    let mut own = alloc::vec![Vec::new(); loops.len()];
    // The branches that skip bundles outside all loops, in the order of the bundles.
    let mut outside = Vec::new();
    for branch in &branches {
        let mut outermost = None;
        for around in nest.around(branch.around) {
            if let (Some(back), Some(trips), Some(open)) =
                (backs.get(around), trips.get_mut(around), open.get_mut(around))
                && branch.until > *back
            {
                (*trips, *open) = (1, true);
            }
            outermost = loops.get(around).map(|found| (around, found));
        }
        match outermost {
            Some((number, outer)) => {
                if let Some(own) = own.get_mut(number) {
                    own.push(*branch);
                }
                let from = outer.last + 1;
                if branch.until > from {
                    outside.push(Branch { from, ..*branch });
                }
            }
            None => outside.push(*branch),
        }
    }
    // How often an inner loop runs in each iteration of the outermost one.
    let mut inner = Vec::with_capacity(loops.len());
    for (number, trips) in trips.iter().enumerate() {
        let outer = nest.outer(number).map(|outer| inner.get(outer).copied().unwrap_or(1_u64));
        inner.push(outer.map_or(1, |outer| outer.saturating_mul(*trips)));
    }
    let mut program = Program { all, registers: registers(all), nest, budget: MAX_STEPS };
    let mut counts = program.executed(&outside, None, 1);
    for (number, outer) in loops.iter().enumerate() {
        if program.nest.outer(number).is_some() {
            continue;
        }
        let own = own.get(number).map_or(&[][..], Vec::as_slice);
        let runs = trips.get(number).copied().unwrap_or(1);
        let times = program.executed(own, Some((number, outer)), runs);
        for ((bundle, count), times) in counts.iter_mut().enumerate().skip(outer.first).zip(times) {
            let innermost = program.nest.of(bundle);
            let inner = innermost.and_then(|innermost| inner.get(innermost)).copied().unwrap_or(1);
            let is_open = program.nest.around(innermost).any(|around| open.get(around).is_some_and(|open| *open));
            *count = Executions {
                least: count.least.saturating_mul(times.least).saturating_mul(inner),
                is_open: count.is_open || times.is_open || is_open,
            };
        }
    }
    Some(counts)
}

/// Which loops are in which.
struct Nest {
    /// For each bundle, the innermost loop around it.
    innermost: Vec<Option<usize>>,
    /// For each loop, the loop around it.
    outer: Vec<Option<usize>>,
}

impl Nest {
    fn new(loops: &[Loop<'_>], bundles: usize) -> Self {
        let mut nest = Self { innermost: alloc::vec![None; bundles], outer: Vec::with_capacity(loops.len()) };
        for (number, found) in loops.iter().enumerate() {
            nest.outer.push(nest.of(found.first));
            let count = found.last.saturating_sub(found.first) + 1;
            nest.innermost.iter_mut().skip(found.first).take(count).for_each(|innermost| *innermost = Some(number));
        }
        nest
    }

    fn of(&self, bundle: usize) -> Option<usize> {
        self.innermost.get(bundle).copied().flatten()
    }

    fn outer(&self, number: usize) -> Option<usize> {
        self.outer.get(number).copied().flatten()
    }

    /// A loop and those around it, from inside to outside.
    fn around(&self, number: Option<usize>) -> impl Iterator<Item = usize> {
        core::iter::successors(number, |number| self.outer(*number))
    }
}

/// The branches forward, in the order of the bundles; `None` if it is not known where a branch leads, or if one leads into the middle of a
/// loop, because the loop's trips are then not those that its counter gives.
fn forward<'s, 'a>(all: &'s [Bundle<'a>], loops: &[Loop<'_>], nest: &Nest) -> Option<Vec<Branch<'s, 'a>>> {
    let mut starts = BTreeMap::new();
    for (number, bundle) in all.iter().enumerate() {
        for region in bundle.starts() {
            starts.entry(region).or_insert(number);
        }
    }
    let mut found = Vec::new();
    for (number, bundle) in all.iter().enumerate() {
        for slot in bundle.slots().iter().filter(|slot| slot.opcode().starts_with("sbr")) {
            let around = nest.of(number);
            let enters = |until: usize| {
                let firsts =
                    nest.around(nest.of(until)).filter_map(|around| loops.get(around)).map(|found| found.first);
                { firsts }.any(|first| ((number + 1)..until).contains(&first))
            };
            match starts.get(&target(slot)?) {
                // A branch from before a loop's first bundle to a place in the loop would enter the loop in the middle.
                Some(&until) if enters(until) => return None,
                Some(&until) => found.push(Branch { from: number + 1, until, slot, around }),
                None if is_branch_back(slot) && around.is_some() => {}
                None => return None,
            }
        }
    }
    Some(found)
}

/// The bundles whose executions are counted.
struct Program<'s, 'a> {
    all: &'s [Bundle<'a>],
    registers: Registers<'s, 'a>,
    nest: Nest,
    /// What is left of [`MAX_STEPS`].
    budget: u64,
}

impl<'a> Program<'_, 'a> {
    /// For each bundle of a loop, the number of the loop's iterations in which no branch skips the bundle. Without a loop, all
    /// bundles count as the body of a loop with one iteration.
    fn executed(
        &mut self,
        branches: &[Branch<'_, 'a>],
        within: Option<(usize, &Loop<'_>)>,
        trips: u64,
    ) -> Vec<Executions> {
        let Self { all, registers, nest, budget } = self;
        let (registers, nest) = (&*registers, &*nest);
        let first = within.map_or(0, |(_, found)| found.first);
        let bundles = within.map_or(Some(*all), |(_, found)| all.get(found.first..=found.last)).unwrap_or_default();
        let within = within.map(|(number, _)| number);
        let predicates = branches.iter().map(|branch| {
            let predicate = branch.slot.predicate().filter(|_| branch.around == within);
            predicate.map(|predicate| (predicate.starts_with('!'), predicate.trim_start_matches('!')))
        });
        let predicates = predicates.collect::<Vec<_>>();
        let wanted = predicates.iter().flatten().map(|(_, register)| *register);
        let numbered = || (first..).zip(bundles);
        // Only the slots of the loop itself: an inner loop has other iterations.
        let own = |number| {
            numbered()
                .filter(move |(bundle, _)| nest.of(*bundle) == Some(number))
                .flat_map(|(_, bundle)| bundle.slots())
        };
        let mut values = within.map(|number| Values::new(|| own(number), registers, wanted)).unwrap_or_default();
        let steps = values.work().saturating_add(branches.len() as u64).saturating_mul(trips);
        let is_computed = steps <= *budget;
        *budget = budget.saturating_sub(if is_computed { steps } else { 0 });
        // How many more times each bundle is executed than the bundle before it.
        let mut changes = alloc::vec![0_i64; bundles.len() + 1];
        // For each bundle: if a branch skips from here and its predicate is unknown in some iteration, where the branch leads.
        let mut open_until = alloc::vec![0; bundles.len()];
        if let Some(first) = changes.first_mut() {
            *first = first.saturating_add_unsigned(trips);
        }
        let (rounds, weight) = if is_computed { (trips, 1) } else { (1, trips) };
        for round in 0..rounds {
            values.advance(round == 0);
            let mut skipped_until = 0;
            for (branch, predicate) in branches.iter().zip(&predicates) {
                let known = predicate.filter(|_| is_computed);
                let taken =
                    known.and_then(|(negated, register)| Some((values.get(registers, register)? != 0) != negated));
                let from = branch.from.max(skipped_until);
                if taken.is_none()
                    && let Some(until) = open_until.get_mut(branch.from.saturating_sub(first))
                {
                    *until = branch.until.max(*until);
                }
                if taken != Some(false) && from < branch.until {
                    if let Some(entry) = changes.get_mut(from.saturating_sub(first)) {
                        *entry = entry.saturating_sub_unsigned(weight);
                    }
                    if let Some(entry) = changes.get_mut(branch.until.saturating_sub(first)) {
                        *entry = entry.saturating_add_unsigned(weight);
                    }
                    skipped_until = branch.until;
                }
            }
        }
        let (mut count, mut until) = (0_i64, 0);
        let counts = (first..).zip(changes.iter().zip(&open_until)).map(|(bundle, (change, open_until))| {
            count = count.saturating_add(*change);
            until = until.max(*open_until);
            Executions { least: u64::try_from(count).unwrap_or(0), is_open: bundle < until }
        });
        counts.collect()
    }
}

/// The scalar values of an iteration of a loop, as far as they depend on constants and on what the loop carries.
#[derive(Default)]
struct Values<'s, 'a> {
    /// What the loop carries: the register, its value in the first iteration, and the register that has the next one.
    carried: Vec<(&'a str, Option<u32>, &'a str)>,
    /// The slots that compute the wanted values, in the order of execution. For a fill, also the register that was
    /// spilled.
    steps: Vec<(&'s Slot<'a>, Option<&'a str>)>,
    /// Values from outside the loop.
    outside: BTreeMap<&'a str, u32>,
    known: BTreeMap<&'a str, u32>,
}

impl<'s, 'a> Values<'s, 'a> {
    /// The values that the predicates `wanted` depend on, as far as the slots `own` compute them.
    fn new<I: Iterator<Item = &'s Slot<'a>>>(
        own: impl Fn() -> I,
        registers: &Registers<'s, 'a>,
        wanted: impl Iterator<Item = &'a str>,
    ) -> Self {
        let inside = set_of(own().filter_map(Slot::register));
        let mut values = Self::default();
        let (mut open, mut needed) = (wanted.collect::<Vec<_>>(), BTreeSet::new());
        while let Some(register) = open.pop() {
            if !needed.insert(register) {
                continue;
            }
            match registers.get(register).copied().flatten().filter(|_| inside.contains(register)) {
                Some(slot) => open.extend(plain(slot).flat_map(names).chain(filled(registers, slot))),
                None => {
                    if let Some(number) = constant(registers, register) {
                        values.outside.insert(register, number as u32);
                    }
                }
            }
        }
        for slot in own() {
            let Some(register) = slot.register().filter(|register| needed.contains(register)) else { continue };
            // A register that is written twice has no known value.
            if registers.get(register).copied().flatten().is_none() {
                continue;
            }
            if slot.opcode() != "sphi" {
                values.steps.push((slot, filled(registers, slot)));
            } else if let [first, next] = plain(slot).collect::<Vec<_>>()[..] {
                let first = constant(registers, first).map(|number| number as u32);
                values.carried.push((register, first, next));
            }
        }
        values
    }

    /// The work of an iteration.
    fn work(&self) -> u64 {
        (self.steps.len() + self.carried.len() + self.outside.len()) as u64
    }

    /// Computes the values of the next iteration.
    fn advance(&mut self, is_first: bool) {
        let before = core::mem::replace(&mut self.known, self.outside.clone());
        for (register, first, next) in &self.carried {
            let value = if is_first { *first } else { before.get(next).copied() };
            if let Some(value) = value {
                self.known.insert(register, value);
            }
        }
        for (slot, filled) in &self.steps {
            let value = match filled {
                Some(spilled) => self.known.get(spilled).copied(),
                None => computed(slot, &self.known),
            };
            if let (Some(register), Some(value)) = (slot.register(), value) {
                self.known.insert(register, value);
            }
        }
    }

    fn get(&self, registers: &Registers<'_, '_>, register: &str) -> Option<u32> {
        self.known.get(register).copied().or_else(|| constant(registers, register).map(|number| number as u32))
    }
}

/// The registers in an operand: predicates can stand around a register or after it.
fn names(operand: &str) -> impl Iterator<Item = &str> {
    operand.split([' ', '(', ')', '!']).filter(|word| word.starts_with('%'))
}

/// What a slot computes from known values; `None` if it depends on unknown values, or the instruction is not listed below.
fn computed(slot: &Slot<'_>, known: &BTreeMap<&str, u32>) -> Option<u32> {
    let mut operands = plain(slot).collect::<Vec<_>>();
    let value = |operand: &str| match operand.starts_with('%') {
        true => known.get(operand).copied(),
        false => operand.parse::<u32>().ok(),
    };
    if let Some(predicate) = slot.predicate() {
        let holds = (value(predicate.trim_start_matches('!'))? != 0) != predicate.starts_with('!');
        // `(%p, %old), …` keeps the old value if the predicate is false; without one, the register is not written.
        let keeps = operands.first().is_some_and(|first| first.starts_with('('));
        match (keeps, holds) {
            (true, false) => return value(operands.get(1)?.strip_suffix(')')?),
            (true, true) => drop(operands.drain(..operands.len().min(2))),
            (false, false) => return None,
            (false, true) => {
                let last = operands.last_mut()?;
                *last = last.split(" (").next()?.trim();
            }
        }
    }
    let mut words = slot.opcode().split('.');
    let (name, second) = (words.next()?, words.next());
    if let ("scalar_select", [predicate, first, second]) = (name, &operands[..]) {
        return value(if value(predicate)? != 0 { first } else { second });
    }
    let [a, b] = match operands[..] {
        [a] => [value(a)?; 2],
        // One operand alone can decide the result: for `por` if it is not 0, for `pand` and `pnand` if it is 0.
        [a, b] => match (name, value(a), value(b)) {
            (_, Some(a), Some(b)) => [a, b],
            ("por", Some(one), None) | ("por", None, Some(one)) if one != 0 => [1, 1],
            ("pand" | "pnand", Some(0), None) | ("pand" | "pnand", None, Some(0)) => [0, 0],
            _ => return None,
        },
        _ => return None,
    };
    let is_one = operands.len() == 1;
    match (name, second) {
        ("smov", Some("u32" | "s32")) | ("pmov", None) if is_one => Some(a),
        ("pneg", None) if is_one => Some(u32::from(a == 0)),
        _ if is_one => None,
        ("sadd", Some("s32" | "u32")) => Some(a.wrapping_add(b)),
        ("ssub", Some("s32" | "u32")) => Some(a.wrapping_sub(b)),
        ("sand", Some("u32")) => Some(a & b),
        ("sor", Some("u32")) => Some(a | b),
        ("sxor", Some("u32")) => Some(a ^ b),
        ("sshll", Some("u32")) => a.checked_shl(b),
        ("por", None) => Some(u32::from(a != 0 || b != 0)),
        ("pand", None) => Some(u32::from(a != 0 && b != 0)),
        ("pnand", None) => Some(u32::from(a == 0 || b == 0)),
        ("scmp", Some(how)) => {
            let order = match words.next()? {
                "s32" => a.cast_signed().cmp(&b.cast_signed()),
                "u32" => a.cmp(&b),
                _ => return None,
            };
            Some(u32::from(match how {
                "eq" => order.is_eq(),
                "ne" => order.is_ne(),
                "lt" => order.is_lt(),
                "le" => order.is_le(),
                "gt" => order.is_gt(),
                "ge" => order.is_ge(),
                _ => return None,
            }))
        }
        _ => None,
    }
}
