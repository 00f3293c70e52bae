//! What devices send each other, and how often.

use super::values::body;
use crate::{Computation, Instruction, Module, Opcode};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// An operation in which devices take part together.
#[derive(Clone, Copy, Debug)]
pub struct Collective<'m, 'a> {
    /// The instruction; it may stand in a fusion.
    pub instruction: Instruction<'m, 'a>,
    /// The bytes that one device gives each time.
    pub bytes_in: u64,
    /// The bytes that one device gets each time.
    pub bytes_out: u64,
    /// How often it runs in each run of the program; `None` if a loop does not say how often it repeats.
    pub runs: Option<u64>,
}

impl<'a> Module<'a> {
    /// Every collective of the program, those in fusions and loops included, in the order of the text.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("\
    /// HloModule m
    /// ENTRY main {
    ///   a = f32[8,128]{1,0} parameter(0)
    ///   ROOT g = f32[32,128]{1,0} all-gather(a), dimensions={0}, replica_groups={{0,1,2,3}}
    /// }")?;
    /// let gather = module.collectives()[0];
    /// assert_eq!((gather.bytes_in, gather.bytes_out, gather.runs), (4096, 16384, Some(1)));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn collectives(&self) -> Vec<Collective<'_, 'a>> {
        let runs = runs(self);
        let found = self.instructions().filter(|instruction| is_collective(instruction.opcode()));
        let found = found.filter_map(|instruction| {
            // What no program calls does not run.
            let runs = *runs.get(&instruction.computation().number())?;
            let operands = instruction.operands().filter_map(|operand| operand.shape());
            let bytes_in = operands.flat_map(super::arrays).filter_map(|array| array.byte_size());
            let bytes_in = bytes_in.fold(0_u64, u64::saturating_add);
            let results = super::arrays(instruction.shape()).filter_map(|array| array.byte_size());
            let all = results.fold(0_u64, u64::saturating_add);
            // The tuple of what has begun holds the operands, too.
            let has_begun = instruction.opcode().text().ends_with("-start") && instruction.shape().array().is_none();
            let bytes_out = if has_begun { all.saturating_sub(bytes_in) } else { all };
            Some(Collective { instruction, bytes_in, bytes_out, runs })
        });
        found.collect()
    }
}

fn is_collective(opcode: Opcode<'_>) -> bool {
    let name = opcode.text();
    let name = name.strip_suffix("-start").unwrap_or(name);
    matches!(
        name,
        "all-gather"
            | "all-reduce"
            | "reduce-scatter"
            | "all-to-all"
            | "ragged-all-to-all"
            | "collective-permute"
            | "collective-broadcast"
            | "collective-reduce"
    )
}

/// How often each computation runs that the program calls; `None` where that is not known.
fn runs(module: &Module<'_>) -> BTreeMap<u32, Option<u64>> {
    let mut found = BTreeMap::new();
    let mut waiting: Vec<(Computation<'_, '_>, Option<u64>)> =
        module.computations().filter(|computation| super::runs(*computation)).map(|entry| (entry, Some(1))).collect();
    while let Some((computation, times)) = waiting.pop() {
        // A computation with several callers is taken as often as the first one calls it.
        if found.contains_key(&computation.number()) {
            continue;
        }
        found.insert(computation.number(), times);
        for instruction in computation.instructions() {
            let is_loop = instruction.opcode() == Opcode::While;
            let inside = if is_loop {
                times.zip(trip_count(instruction)).and_then(|(times, trips)| times.checked_mul(trips))
            } else {
                times
            };
            for key in ["calls", "to_apply", "body", "condition", "branch_computations", "called_computations"] {
                let names = instruction.attribute(key).and_then(|names| names.names().ok()).unwrap_or_default();
                waiting.extend(names.into_iter().filter_map(|name| Some((module.computation(name)?, inside))));
            }
        }
    }
    found
}

/// How often the body of a loop runs, if the compiler says so or the loop counts from one constant to another.
fn trip_count(instruction: Instruction<'_, '_>) -> Option<u64> {
    let config = instruction.attribute("backend_config").and_then(|config| config.unquoted().ok());
    let told = config.as_deref().and_then(|config| config.split_once("\"known_trip_count\":{\"n\":\""));
    if let Some(count) = told.and_then(|(_, count)| count.split_once('"')?.0.parse().ok()) {
        return Some(count);
    }
    let module = instruction.module();
    let condition = module.computation(instruction.attribute("condition")?.name().ok()?)?;
    let compare = condition.root();
    if compare.opcode() != Opcode::Compare || compare.attribute("direction")?.text() != "LT" {
        return None;
    }
    let (counter, _) = element(compare.operand(0)?.instruction()?)?;
    let limit = constant(compare.operand(1)?.instruction()?)?;
    let first = instruction.operand(0)?.instruction()?;
    let start = constant(first.operand(counter).filter(|_| first.opcode() == Opcode::Tuple)?.instruction()?)?;
    let next = body(instruction)?.root();
    let next = next.operand(counter).filter(|_| next.opcode() == Opcode::Tuple)?.instruction()?;
    let steps = [next.operand(0)?.instruction()?, next.operand(1)?.instruction()?];
    let step = steps.into_iter().find_map(constant).filter(|&step| step > 0 && next.opcode() == Opcode::Add)?;
    let counts = steps.into_iter().filter_map(element).any(|(number, _)| number == counter);
    let way = u64::try_from(limit.checked_sub(start)?).unwrap_or(0);
    counts.then(|| way.div_ceil(step.unsigned_abs()))
}

/// The element of a parameter that an instruction takes out.
fn element<'m, 'a>(instruction: Instruction<'m, 'a>) -> Option<(usize, Instruction<'m, 'a>)> {
    let instruction = behind_copies(instruction)?;
    let of = instruction.operand(0)?.instruction()?;
    let index = instruction.attribute("index")?.number().ok()?;
    (of.opcode() == Opcode::Parameter).then_some((index, of))
}

fn constant(instruction: Instruction<'_, '_>) -> Option<i64> {
    behind_copies(instruction)?.literal()?.parse().ok()
}

fn behind_copies<'m, 'a>(mut instruction: Instruction<'m, 'a>) -> Option<Instruction<'m, 'a>> {
    // Copies of copies are few; a text with more ends here, too.
    for _ in 0..8 {
        if !matches!(instruction.opcode(), Opcode::Copy | Opcode::Bitcast) {
            break;
        }
        instruction = instruction.operand(0)?.instruction()?;
    }
    Some(instruction)
}

#[cfg(test)]
mod tests {
    use crate::Module;

    #[test]
    fn loops_are_counted() {
        let text = "HloModule m, is_scheduled=true
fused {
  p = f32[256]{0} parameter(0)
  ROOT r = f32[256]{0} all-reduce(p), to_apply=add
}
body {
  p = (s32[], f32[256]{0}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(2)
  n = s32[] add(i, one)
  x = f32[256]{0} get-tuple-element(p), index=1
  y = f32[256]{0} fusion(x), kind=kLoop, calls=fused
  ROOT t = (s32[], f32[256]{0}) tuple(n, y)
}
condition {
  p = (s32[], f32[256]{0}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(7)
  ROOT c = pred[] compare(i, n), direction=LT
}
unused {
  p = f32[256]{0} parameter(0)
  ROOT r = f32[256]{0} all-reduce(p), to_apply=add
}
ENTRY e {
  a = f32[256]{0} parameter(0)
  z = s32[] constant(0)
  k = s32[] copy(z)
  t = (s32[], f32[256]{0}) tuple(k, a)
  w = (s32[], f32[256]{0}) while(t), condition=condition, body=body
  x = f32[256]{0} get-tuple-element(w), index=1
  s = (f32[256]{0}, f32[512]{0}) all-gather-start(x), dimensions={0}
  ROOT d = f32[512]{0} all-gather-done(s)
}
";
        let module = Module::parse(text).unwrap();
        let found = module.collectives();
        let found = found.iter().map(|c| (c.instruction.name(), c.bytes_in, c.bytes_out, c.runs));
        // 0, 2, 4 and 6 are below 7.
        assert!(found.eq([("r", 1024, 1024, Some(4)), ("s", 1024, 2048, Some(1))]));
        // A loop that does not end at a constant, and one that is told.
        let module = text.replace("n = s32[] constant(7)", "n = s32[] get-tuple-element(p), index=0");
        assert_eq!(Module::parse(&module).unwrap().collectives()[0].runs, None);
        let told = "body=body, backend_config={\"known_trip_count\":{\"n\":\"9\"}}";
        let module = text.replace("body=body", told);
        assert_eq!(Module::parse(&module).unwrap().collectives()[0].runs, Some(9));
    }
}
