//! How often the body of a loop runs.

use crate::schema::Key;
use crate::{Computation, Instruction, Opcode};
use xla_shape_core::{ElementClass, ElementType};

/// How often the body of a `while` runs: the `known_trip_count` of its `backend_config`. Without that, a counter that goes from one constant
/// to another by a constant step shows the number. `None` if the loop has neither.
///
/// This finds the count of every loop that XLA counts (`ComputeWhileLoopTripCount` in `xla/service/while_loop_analysis.cc`), and of some more.
pub(crate) fn trip_count(loops: Instruction<'_>) -> Option<u64> {
    known_trip_count(loops).or_else(|| {
        let condition = loops.callee(Key::Condition)?;
        let body = loops.callee(Key::Body)?;
        let compare = condition.root();
        if compare.opcode() != Opcode::Compare {
            return None;
        }
        let direction = compare.value_of(Key::Direction)?.text();
        let sides = [compare.operand(0)?.instruction()?, compare.operand(1)?.instruction()?];
        // `limit > counter` means what `counter < limit` does.
        let (counter, direction, limit) = match sides.map(|side| entry_value(loops, body, side)) {
            [Some(Entry::Counter(counter)), Some(Entry::Constant(limit))] => (counter, direction, limit),
            [Some(Entry::Constant(limit)), Some(Entry::Counter(counter))] => (counter, reversed(direction)?, limit),
            _ => return None,
        };
        let trips = counted(counter, direction, i128::from(limit))?;
        let last = i128::from(counter.step).checked_mul(i128::from(trips))?.checked_add(i128::from(counter.start))?;
        // A counter that leaves the range of its type wraps around, so the count would be wrong.
        let counter_type = sides.into_iter().find_map(|side| Some(side.shape().array()?.element_type()))?;
        range(counter_type).is_none_or(|range| range.contains(&last)).then_some(trips)
    })
}

fn known_trip_count(loops: Instruction<'_>) -> Option<u64> {
    let text = loops.config()?.ok()?;
    let (_, count) = text.split_once("\"known_trip_count\":{\"n\":\"")?;
    count.split_once('"')?.0.parse().ok()
}

/// A value that starts at a constant and changes by a constant in each iteration.
#[derive(Clone, Copy)]
struct Counter {
    start: i64,
    step: i64,
}

/// What is known about a value in the condition of a loop.
enum Entry {
    Constant(i64),
    Counter(Counter),
}

/// What a value in the condition of a loop is: a constant, an element of the loop's tuple that no iteration changes, or a counter.
fn entry_value(loops: Instruction<'_>, body: Computation<'_>, value: Instruction<'_>) -> Option<Entry> {
    if let Some(constant) = constant(value) {
        return Some(Entry::Constant(constant));
    }
    let element = element(value)?;
    let start = constant(item(loops.operand(0)?.instruction()?, element)?)?;
    let next = behind_copies(item(body.root(), element)?)?;
    if self::element(next) == Some(element) {
        return Some(Entry::Constant(start));
    }
    let is_element = |operand: usize| next.operand(operand)?.instruction().and_then(self::element);
    let step = |operand: usize| constant(next.operand(operand)?.instruction()?);
    let step = match next.opcode() {
        Opcode::Add if is_element(0) == Some(element) => step(1)?,
        Opcode::Add if is_element(1) == Some(element) => step(0)?,
        Opcode::Subtract if is_element(0) == Some(element) => step(1)?.checked_neg()?,
        _ => return None,
    };
    Some(Entry::Counter(Counter { start, step }))
}

/// The instruction that makes element `number` of a tuple.
fn item<'m>(tuple: Instruction<'m>, number: usize) -> Option<Instruction<'m>> {
    (tuple.opcode() == Opcode::Tuple).then(|| tuple.operand(number)?.instruction())?
}

/// Which element of the parameter an instruction takes out of it.
fn element(instruction: Instruction<'_>) -> Option<usize> {
    let instruction = behind_copies(instruction)?;
    let tuple = instruction.operand(0)?.instruction()?;
    let index = instruction.value_of(Key::Index)?.number().ok()?;
    (instruction.opcode() == Opcode::GetTupleElement && tuple.opcode() == Opcode::Parameter).then_some(index)
}

fn constant(instruction: Instruction<'_>) -> Option<i64> {
    behind_copies(instruction)?.literal()?.parse().ok()
}

fn behind_copies<'m>(mut instruction: Instruction<'m>) -> Option<Instruction<'m>> {
    // Chains of copies are short. If a chain is longer than this, the trip count is unknown; the limit bounds the effort.
    for _ in 0..8 {
        if !matches!(instruction.opcode(), Opcode::Copy | Opcode::Bitcast) {
            break;
        }
        instruction = instruction.operand(0)?.instruction()?;
    }
    Some(instruction)
}

fn reversed(direction: &str) -> Option<&'static str> {
    Some(match direction {
        "LT" => "GT",
        "LE" => "GE",
        "GT" => "LT",
        "GE" => "LE",
        "NE" => "NE",
        _ => return None,
    })
}

/// The values of an integer type; `None` for other types.
fn range(element_type: ElementType) -> Option<core::ops::RangeInclusive<i128>> {
    let bits = element_type.bits();
    let half = 1_i128.checked_shl(u32::try_from(bits).ok()?.checked_sub(1)?)?;
    match element_type.class() {
        ElementClass::SignedInteger => Some(half.checked_neg()?..=half.checked_sub(1)?),
        ElementClass::UnsignedInteger => Some(0..=half.checked_mul(2)?.checked_sub(1)?),
        _ => None,
    }
}

/// For how many values of a counter the comparison with the limit holds, before it fails.
fn counted(counter: Counter, direction: &str, limit: i128) -> Option<u64> {
    let (start, step) = (i128::from(counter.start), i128::from(counter.step));
    // Differences of 64-bit numbers, so that none of this overflows.
    let (way, step) = match direction {
        "LT" => (limit.checked_sub(start)?, step),
        "LE" => (limit.checked_sub(start)?.checked_add(1)?, step),
        "GT" => (start.checked_sub(limit)?, step.checked_neg()?),
        "GE" => (start.checked_sub(limit)?.checked_add(1)?, step.checked_neg()?),
        "NE" => {
            let way = limit.checked_sub(start)?;
            // The counter must reach exactly the limit.
            return match (way, way.checked_rem(step)) {
                (0, _) => Some(0),
                (_, Some(0)) => u64::try_from(way.checked_div(step)?).ok(),
                _ => None,
            };
        }
        _ => return None,
    };
    if way <= 0 {
        return Some(0);
    }
    let step = u128::try_from(step).ok().filter(|&step| step > 0)?;
    u64::try_from(way.unsigned_abs().div_ceil(step)).ok()
}

#[cfg(test)]
mod tests {
    use super::trip_count;
    use crate::{Module, Opcode};
    use alloc::format;

    /// How often a loop runs: `start` is the counter's first value, `compare` the condition, and `next` computes the
    /// next value.
    fn trips(start: i64, compare: &str, next: &str) -> Option<u64> {
        let text = format!(
            "HloModule m
body {{
  p = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  k = s32[] get-tuple-element(p), index=1
  one = s32[] constant(1)
  three = s32[] constant(3)
  n = s32[] {next}
  ROOT t = (s32[], s32[]) tuple(n, k)
}}
condition {{
  p = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  k = s32[] get-tuple-element(p), index=1
  limit = s32[] constant(7)
  ROOT c = pred[] {compare}
}}
ENTRY e {{
  z = s32[] constant({start})
  k = s32[] constant(10)
  t = (s32[], s32[]) tuple(z, k)
  ROOT w = (s32[], s32[]) while(t), condition=condition, body=body
}}
"
        );
        let module = Module::parse(&text).unwrap();
        let loops = module.instructions().find(|found| found.opcode() == Opcode::While).unwrap();
        trip_count(loops)
    }

    #[test]
    fn counters_reach_their_limits() {
        let compare = |direction: &str| format!("compare(i, limit), direction={direction}");
        let up = "add(i, three)";
        let down = "subtract(i, one)";
        assert_eq!(trips(0, &compare("LT"), up), Some(3)); // 0 3 6
        assert_eq!(trips(1, &compare("LT"), up), Some(2)); // 1 4
        assert_eq!(trips(1, &compare("LE"), up), Some(3)); // 1 4 7
        assert_eq!(trips(7, &compare("LT"), up), Some(0));
        assert_eq!(trips(10, &compare("GT"), down), Some(3)); // 10 9 8
        assert_eq!(trips(10, &compare("GE"), down), Some(4));
        assert_eq!(trips(1, &compare("NE"), up), Some(2)); // 1 4
        assert_eq!(trips(0, "compare(limit, i), direction=GT", "add(one, i)"), Some(7));
        // The limit may be an element of the tuple that stays as it is.
        assert_eq!(trips(0, "compare(i, k), direction=LT", "add(i, one)"), Some(10));
    }

    #[test]
    fn loops_that_do_not_count_are_unknown() {
        // Loops whose counter never reaches the limit exactly, goes in the wrong direction or does not change, and one
        // without a counter.
        assert_eq!(trips(0, "compare(i, limit), direction=NE", "add(i, three)"), None);
        assert_eq!(trips(0, "compare(i, limit), direction=LT", "subtract(i, one)"), None);
        assert_eq!(trips(0, "compare(i, limit), direction=LT", "add(i, i)"), None);
        assert_eq!(trips(0, "compare(i, limit), direction=LT", "multiply(i, three)"), None);
        assert_eq!(trips(0, "compare(i, limit), direction=EQ", "add(i, one)"), None);
        assert_eq!(trips(0, "compare(i, i), direction=LT", "add(i, one)"), None);
    }

    #[test]
    fn limits_of_64_bits_do_not_overflow() {
        let compare = "compare(i, limit), direction=GT";
        assert_eq!(trips(i64::MAX, compare, "subtract(i, one)"), Some(9_223_372_036_854_775_800));
        assert_eq!(trips(i64::MIN, "compare(i, limit), direction=LT", "add(i, one)"), Some(9_223_372_036_854_775_815));
    }
}
