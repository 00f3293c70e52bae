//! The loops in final bundles, and how often each runs.

use crate::bundles::{Bundle, Bundles, Slot};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use xla_shape_core::sorting::set_of;
use xla_shape_mlir::Source;

/// A loop in final bundles.
///
/// ```
/// use xla_shape_mosaic::{Bundles, loops};
///
/// let bundles = Bundles::parse("\
///    0   :  { %s1_s0 = smov.u32 0 }
///  0x1 LB: > { %s3_s0 = sphi %s1_s0, %s4_s0  ;;  %s4_s0 = sadd.s32 1, %s3_s0 }
///  0x2   : > { %p5_p0 = scmp.ge.s32.totalorder %s4_s0, %s9_s0 }
///  0x3   : > { %6 = sbr.rel (!%p5_p0) target = $region4 }
/// ");
/// let found = &loops(&bundles)[0];
/// assert_eq!((found.first, found.last, found.depth), (1, 3, 1));
/// assert_eq!(found.trips, None, "its end is in a register that is written elsewhere");
/// ```
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

/// The most delay slots of a branch, in bundles.
const MAX_DELAY: usize = 6;

/// The loops of an instruction, outer ones before inner ones.
///
/// A loop begins at the label `LB`. It ends where the compiler comments that its region ends, so that the bundles in the delay slots of the
/// branch back belong to it. Without such a comment, it ends with the last bundle that the compiler marks with the loop's depth, and the empty
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
    let registers = registers(all);
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
        let back = branch_back(all, found).map(|(_, back)| back);
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

pub(crate) fn is_branch_back(slot: &Slot<'_>) -> bool {
    slot.opcode() == "sbr.rel" && slot.predicate().is_some_and(|on| on.starts_with('!'))
}

/// The branch back of a loop, and the number of its bundle. The compiler does not always mark this bundle as one of the loop.
pub(crate) fn branch_back<'s, 'a>(all: &'s [Bundle<'a>], found: &Loop<'_>) -> Option<(usize, &'s Slot<'a>)> {
    let inside = |more: usize| {
        let count = (found.last.saturating_sub(found.first) + 1) + more;
        all.iter().enumerate().skip(found.first).take(count).rev().filter_map(|(number, bundle)| {
            let back = bundle.slots().iter().rfind(|slot| is_branch_back(slot));
            back.map(|back| (number, bundle.depth(), back))
        })
    };
    let marked = inside(0).find(|(_, depth, _)| *depth == found.depth);
    // An unmarked branch must lead to a region that ends in this loop.
    let unmarked = || {
        let body = all.get(found.first..=found.last).unwrap_or_default();
        let ended = set_of(body.iter().flat_map(Bundle::ends));
        let is_own = |back: &Slot<'_>| target(back).is_some_and(|region| ended.contains(&region));
        inside(MAX_DELAY).find(|(_, depth, back)| *depth < found.depth && is_own(back))
    };
    marked.or_else(unmarked).map(|(number, _, back)| (number, back))
}

/// The region that a branch leads to.
pub(crate) fn target(branch: &Slot<'_>) -> Option<u64> {
    let (_, target) = branch.operands().split_once("$region")?;
    let end = target.find(|c: char| !c.is_ascii_digit()).unwrap_or(target.len());
    target.get(..end)?.parse().ok()
}

/// The number of a loop's last bundle. `found.last` is the last one that the compiler marks.
fn last(all: &[Bundle<'_>], found: &Loop<'_>) -> usize {
    let ended = branch_back(all, found).and_then(|(number, back)| {
        // The branch leads to the body, and the loop's number is one less than the body's.
        let region = target(back)?.checked_sub(1)?;
        let mut after = all.iter().enumerate().skip(number).take(MAX_DELAY + 1);
        after.find(|(_, bundle)| bundle.ends_region(region)).map(|(number, _)| number)
    });
    let waits = || all.iter().skip(found.last + 1).take_while(|bundle| bundle.slots().is_empty()).count();
    ended.filter(|&ended| ended >= found.last).unwrap_or_else(|| found.last + waits())
}

/// The slot that writes each register, and each place to which a register is spilled; `None` if there are several.
pub(crate) type Registers<'s, 'a> = BTreeMap<&'a str, Option<&'s Slot<'a>>>;

pub(crate) fn registers<'s, 'a>(all: &'s [Bundle<'a>]) -> Registers<'s, 'a> {
    let mut registers = BTreeMap::new();
    for slot in all.iter().flat_map(|bundle| bundle.slots()) {
        if let Some(register) = slot.register() {
            // Each register is written once. If two slots write the same one, its value is not known.
            registers.entry(register).and_modify(|known| *known = None).or_insert(Some(slot));
        }
        if let Some((place, _)) = spilled(slot).filter(|_| slot.opcode() == "sst") {
            registers.entry(place).and_modify(|known| *known = None).or_insert(Some(slot));
        }
    }
    registers
}

/// The place in memory of a scalar spill or fill, and for a spill the register.
fn spilled<'a>(slot: &Slot<'a>) -> Option<(&'a str, &'a str)> {
    let (place, register) = plain(slot).next()?.split_once("]]")?;
    (slot.is_spill() || slot.is_fill()).then_some((place, register.trim()))
}

/// The register whose value a fill loads, if it is the only one that is spilled to this place. A fill with a predicate may load nothing.
pub(crate) fn filled<'a>(registers: &Registers<'_, 'a>, slot: &Slot<'a>) -> Option<&'a str> {
    let (place, _) = spilled(slot).filter(|_| slot.opcode() == "sld" && slot.predicate().is_none())?;
    let (_, register) = spilled(written(registers, place)?)?;
    Some(register).filter(|register| register.starts_with('%') && !register.contains(' '))
}

fn written<'s, 'a>(registers: &Registers<'s, 'a>, name: &str) -> Option<&'s Slot<'a>> {
    registers.get(name).copied().flatten()
}

/// The operands without comments and predicate. A comment such as `/*on_true=*/` stands before the operand that it names. Any other comment
/// comes after the last operand.
pub(crate) fn plain<'a>(slot: &Slot<'a>) -> impl Iterator<Item = &'a str> {
    let mut pieces = slot.operands().split("/*");
    let first = pieces.next();
    let named = pieces.map_while(|piece| piece.split_once("=*/").filter(|(name, _)| !name.contains("*/")));
    let texts = first.into_iter().chain(named.map(|(_, text)| text));
    texts.flat_map(|text| text.split(',')).map(str::trim).filter(|operand| !operand.is_empty())
}

/// The slot that computes a register; copies of registers are followed, also those in memory.
fn resolved<'s, 'a>(registers: &Registers<'s, 'a>, name: &str) -> Option<&'s Slot<'a>> {
    let mut slot = written(registers, name)?;
    for _ in 0..MAX_COPIES {
        match plain(slot).next() {
            Some(copied) if slot.opcode().starts_with("smov") && copied.starts_with('%') => {
                slot = written(registers, copied)?
            }
            _ => match filled(registers, slot) {
                Some(spilled) => slot = written(registers, spilled)?,
                None => return Some(slot),
            },
        }
    }
    None
}

/// The value of an operand that is a number, or a register to which a number is moved.
pub(crate) fn constant(registers: &Registers<'_, '_>, operand: &str) -> Option<i64> {
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
    // Registers have 32 bits. A counter that does not fit would wrap before the test is true, so the trips are not
    // known.
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
        let count = found.last.saturating_sub(found.first) + 1;
        for time in times.iter_mut().skip(found.first).take(count) {
            *time = time.zip(found.trips).map(|(time, trips)| time.saturating_mul(trips));
        }
    }
    times
}
