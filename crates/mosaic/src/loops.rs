//! The loops in final bundles, and how often each runs.

use crate::Source;
use crate::bundles::{Bundle, Bundles, Slot};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

/// A loop in final bundles.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Loop<'a> {
    /// The number of its first bundle in [`Bundles::bundles`].
    pub first: usize,
    /// The number of its last bundle.
    pub last: usize,
    /// The nesting depth: 1 for an outermost loop.
    pub depth: usize,
    /// The number of iterations each time it is entered. `None` if it depends on values that are not constants.
    pub trips: Option<u64>,
    /// The comparison that ends the loop, as the compiler wrote it.
    pub condition: Option<String>,
    /// The Python line of the comparison.
    pub source: Option<Source<'a>>,
}

/// The most copies that are followed from a register to its constant.
const MAX_COPIES: usize = 16;

/// The most bundles after a branch that still belong to it.
const MAX_DELAY: usize = 6;

/// The loops of an instruction, outer ones before inner ones.
///
/// A loop begins at the label `LB`. The bundles in the delay slots of the branch back belong to it: it ends where the compiler comments
/// that its region ends. Without such a comment, it ends with the last bundle that the compiler marks with the loop's depth, and the empty
/// bundles after it.
///
/// ```
/// use xla_shape_mosaic::{Bundles, loops};
///
/// let bundles = Bundles::parse("\
///    0   :  { %s1_s0 = smov.u32 0 }
///  0x1 LB: > { %s3_s0 = sphi %s1_s0, %s4_s0  ;;  %s4_s0 = sadd.s32 1, %s3_s0 }
///  0x2   : > { %p5_p0 = scmp.ge.s32.totalorder %s4_s0, 32 }
///  0x3   : > { %6 = sbr.rel (!%p5_p0) target = $region4 }
///  0x4   :  {}
///  0x5   :  { %7 = vsyncpa [#allocation4], 1 }
/// ");
/// let [found] = &loops(&bundles)[..] else { panic!() };
/// assert_eq!((found.first, found.last, found.trips), (1, 4, Some(32)));
/// ```
#[must_use]
pub fn loops<'a>(bundles: &Bundles<'a>) -> Vec<Loop<'a>> {
    let all = bundles.bundles();
    let mut registers = BTreeMap::new();
    for slot in all.iter().flat_map(|bundle| bundle.slots()) {
        if let Some(register) = slot.register() {
            // Each register is written once. If two slots write the same one, its value is not known.
            registers.entry(register).and_modify(|known| *known = None).or_insert(Some(slot));
        }
    }
    let mut found: Vec<Loop<'a>> = Vec::new();
    // The indices of the loops that have begun and not ended.
    let mut open: Vec<usize> = Vec::new();
    for (number, bundle) in all.iter().enumerate() {
        if !bundle.slots().is_empty() {
            // Unmarked bundles can be inside a loop, so a loop ends at its last marked bundle.
            if bundle.depth() > 0 || bundle.label().is_some() {
                open.retain(|&open| found.get(open).is_some_and(|found| found.depth <= bundle.depth()));
            }
            if bundle.label() == Some("LB") {
                open.retain(|&open| found.get(open).is_some_and(|found| found.depth < bundle.depth()));
                open.push(found.len());
                let depth = bundle.depth();
                found.push(Loop { first: number, last: number, depth, trips: None, condition: None, source: None });
            }
            for &inner in &open {
                if let Some(inner) = found.get_mut(inner)
                    && inner.depth <= bundle.depth()
                {
                    inner.last = number;
                }
            }
        }
    }
    for found in &mut found {
        found.last = last(all, found);
        let count = found.last.saturating_sub(found.first).saturating_add(1);
        let body = all.iter().skip(found.first).take(count).filter(|bundle| bundle.depth() == found.depth);
        let back = body.flat_map(|bundle| bundle.slots()).rfind(|slot| is_branch_back(slot));
        let test = back.and_then(|back| written(&registers, back.predicate()?.strip_prefix('!')?));
        if let Some(test) = test.filter(|test| test.opcode().starts_with("scmp.")) {
            let operands = plain(test).collect::<Vec<_>>();
            found.condition = Some(alloc::format!("{} {}", test.opcode(), operands.join(", ")));
            found.source = test.source();
            found.trips = trips(&registers, test, &operands);
        }
    }
    found
}

fn is_branch_back(slot: &Slot<'_>) -> bool {
    slot.opcode() == "sbr.rel" && slot.predicate().is_some_and(|on| on.starts_with('!'))
}

/// The region that a branch leads to.
fn target(branch: &Slot<'_>) -> Option<u64> {
    let (_, target) = branch.operands().split_once("$region")?;
    let end = target.find(|c: char| !c.is_ascii_digit()).unwrap_or(target.len());
    target.get(..end)?.parse().ok()
}

/// For each bundle, whether a branch forward can skip it; `None` if it is not known where a branch leads.
pub(crate) fn skippable(bundles: &Bundles<'_>, loops: &[Loop<'_>]) -> Option<Vec<bool>> {
    let all = bundles.bundles();
    let mut starts = BTreeMap::new();
    for (number, region) in
        all.iter().enumerate().flat_map(|(number, bundle)| bundle.starts().map(move |region| (number, region)))
    {
        starts.entry(region).or_insert(number);
    }
    // Whether a bundle is in a loop: how many loops begin, less those that have ended.
    let mut changes = alloc::vec![0_i64; all.len().saturating_add(1)];
    for found in loops {
        for (place, change) in [(found.first, 1), (found.last.saturating_add(1), -1)] {
            if let Some(entry) = changes.get_mut(place) {
                *entry = entry.saturating_add(change);
            }
        }
    }
    let mut open = 0_i64;
    // How far the branches so far lead.
    let mut until = 0;
    let mut skippable = Vec::with_capacity(all.len());
    for (number, bundle) in all.iter().enumerate() {
        skippable.push(number < until);
        open = open.saturating_add(changes.get(number).copied().unwrap_or(0));
        for branch in bundle.slots().iter().filter(|slot| slot.opcode().starts_with("sbr")) {
            let region = target(branch)?;
            let back = || is_branch_back(branch) && open > 0;
            match starts.get(&region) {
                Some(start) => until = until.max(*start),
                None if back() => {}
                None => return None,
            }
        }
    }
    Some(skippable)
}

/// The number of a loop's last bundle. `found.last` is the last one that the compiler marks.
fn last(all: &[Bundle<'_>], found: &Loop<'_>) -> usize {
    let marked = found.last.saturating_sub(found.first).saturating_add(1);
    let mut inside =
        all.iter().enumerate().skip(found.first).take(marked).filter(|(_, bundle)| bundle.depth() == found.depth);
    let ended = inside.rfind(|(_, bundle)| bundle.slots().iter().any(is_branch_back)).and_then(|(number, bundle)| {
        let back = bundle.slots().iter().rfind(|slot| is_branch_back(slot))?;
        // The branch leads to the body, whose number is one more than that of the loop.
        let region = target(back)?.checked_sub(1)?;
        let mut behind = all.iter().enumerate().skip(number).take(MAX_DELAY.saturating_add(1));
        behind.find(|(_, bundle)| bundle.ends_region(region)).map(|(number, _)| number)
    });
    let waits = || all.iter().skip(found.last.saturating_add(1)).take_while(|bundle| bundle.slots().is_empty()).count();
    ended.filter(|&ended| ended >= found.last).unwrap_or_else(|| found.last.saturating_add(waits()))
}

type Registers<'s, 'a> = BTreeMap<&'a str, Option<&'s Slot<'a>>>;

fn written<'s, 'a>(registers: &Registers<'s, 'a>, name: &str) -> Option<&'s Slot<'a>> {
    registers.get(name).copied().flatten()
}

/// The operands without comments and predicate.
fn plain<'a>(slot: &Slot<'a>) -> impl Iterator<Item = &'a str> {
    let text = slot.operands().split("/*").next().unwrap_or("");
    text.split(',').map(str::trim).filter(|operand| !operand.is_empty())
}

/// The slot that computes a register; copies of registers are followed.
fn resolved<'s, 'a>(registers: &Registers<'s, 'a>, name: &str) -> Option<&'s Slot<'a>> {
    let mut slot = written(registers, name)?;
    for _ in 0..MAX_COPIES {
        match plain(slot).next() {
            Some(copied) if slot.opcode().starts_with("smov") && copied.starts_with('%') => {
                slot = written(registers, copied)?
            }
            _ => return Some(slot),
        }
    }
    None
}

/// The value of an operand that is a number, or a register to which a number is moved.
fn constant(registers: &Registers<'_, '_>, operand: &str) -> Option<i64> {
    let number = |text: &str| {
        let number = text.parse::<i64>().ok()?;
        // Constants have 32 bits, and are written as unsigned numbers.
        Some(if (1 << 31..1 << 32).contains(&number) { number.wrapping_sub(1 << 32) } else { number })
    };
    if let Some(number) = number(operand) {
        return Some(number);
    }
    let slot = resolved(registers, operand)?;
    let mut operands = plain(slot);
    let value = operands.next().filter(|_| slot.opcode().starts_with("smov"))?;
    if operands.next().is_some() { None } else { number(value) }
}

/// The number of iterations of a loop that ends when `test` is true, if its counter starts at a constant and grows by a constant.
fn trips(registers: &Registers<'_, '_>, test: &Slot<'_>, operands: &[&str]) -> Option<u64> {
    let [counter, limit] = operands else { return None };
    let limit = constant(registers, limit)?;
    let slot = resolved(registers, counter)?;
    // The counter is tested as it is, or after a constant is added, which need not be the step.
    let (phi, ahead) =
        if slot.opcode() == "sphi" { (slot, 0) } else { (phi_of(registers, slot)?, added(registers, slot)?.1) };
    let [first, next] = plain(phi).collect::<Vec<_>>().try_into().ok()?;
    let (first, next) = (constant(registers, first)?, resolved(registers, next)?);
    // The loop-carried value must be the counter of this test.
    if !core::ptr::eq(phi_of(registers, next)?, phi) {
        return None;
    }
    let step = added(registers, next)?.1;
    let begin = first.checked_add(ahead)?;
    let distance = limit.checked_sub(begin)?;
    if step <= 0 {
        return None;
    }
    let more = match test.opcode().split('.').nth(1)? {
        "ge" => distance.checked_add(step)?.checked_sub(1)?.checked_div(step)?,
        "gt" => distance.checked_div_euclid(step)?.checked_add(1)?,
        "eq" if distance >= 0 && distance.checked_rem(step) == Some(0) => distance.checked_div(step)?,
        _ => return None,
    };
    let more = more.max(0);
    // Registers have 32 bits: a value that does not fit wraps, and the test is not true where it would be.
    i32::try_from(begin).ok()?;
    i32::try_from(begin.checked_add(more.checked_mul(step)?)?).ok()?;
    u64::try_from(more).ok()?.checked_add(1)
}

/// The register and the constant that an addition adds.
fn added<'a>(registers: &Registers<'_, '_>, slot: &Slot<'a>) -> Option<(&'a str, i64)> {
    let [a, b] = plain(slot).collect::<Vec<_>>().try_into().ok()?;
    if slot.opcode() != "sadd.s32" {
        return None;
    }
    constant(registers, a).map(|number| (b, number)).or_else(|| constant(registers, b).map(|number| (a, number)))
}

/// The loop-carried value to which this slot adds a constant.
fn phi_of<'s, 'a>(registers: &Registers<'s, 'a>, slot: &Slot<'a>) -> Option<&'s Slot<'a>> {
    let (register, _) = added(registers, slot)?;
    resolved(registers, register).filter(|phi| phi.opcode() == "sphi")
}

/// For each bundle, the product of the trips of the loops around it; `None` if some are not known.
pub(crate) fn executions(loops: &[Loop<'_>], bundles: usize) -> Vec<Option<u64>> {
    let mut times = alloc::vec![Some(1_u64); bundles];
    for found in loops {
        let count = found.last.saturating_sub(found.first).saturating_add(1);
        for time in times.iter_mut().skip(found.first).take(count) {
            *time = time.zip(found.trips).map(|(time, trips)| time.saturating_mul(trips));
        }
    }
    times
}
