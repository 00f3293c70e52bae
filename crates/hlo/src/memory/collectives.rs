//! Collectives: the bytes that devices exchange, and how often.

use crate::cost::trips::trip_count;
use crate::schema::Family;
use crate::{Computation, Instruction, Module, Opcode};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// A collective operation, with the bytes that a device sends and receives.
#[derive(Clone, Copy, Debug)]
pub struct Collective<'m, 'a> {
    /// The instruction; it can be inside a fusion.
    pub instruction: Instruction<'m, 'a>,
    /// The bytes of the operands on one device, for each run.
    pub bytes_in: u64,
    /// The bytes of the results on one device, for each run.
    pub bytes_out: u64,
    /// How often it runs in one run of the program; `None` if it is in a loop of unknown trip count.
    pub runs: Option<u64>,
}

impl<'a> Module<'a> {
    /// The collectives of the program, including those in fusions and loops, in text order.
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
            // A computation that the program does not call does not run.
            let runs = *runs.get(&instruction.computation().number())?;
            let operands = instruction.operands().filter_map(|operand| operand.shape());
            let bytes_in = operands.flat_map(super::arrays).filter_map(|array| array.byte_size());
            let bytes_in = bytes_in.fold(0_u64, u64::saturating_add);
            let results = super::arrays(instruction.shape()).filter_map(|array| array.byte_size());
            let all = results.fold(0_u64, u64::saturating_add);
            // The result of an asynchronous start also contains the operands.
            let has_begun = instruction.opcode().text().ends_with("-start") && instruction.shape().array().is_none();
            let bytes_out = if has_begun { all.saturating_sub(bytes_in) } else { all };
            Some(Collective { instruction, bytes_in, bytes_out, runs })
        });
        found.collect()
    }
}

fn is_collective(opcode: Opcode<'_>) -> bool {
    let wrapped = opcode.text().strip_suffix("-start").map(Opcode::from_text);
    [Some(opcode), wrapped].into_iter().flatten().any(|opcode| opcode.family() == Family::Collective)
}

/// For each computation that the program calls, how often it runs; `None` if unknown.
fn runs(module: &Module<'_>) -> BTreeMap<u32, Option<u64>> {
    let mut found = BTreeMap::new();
    let mut waiting: Vec<(Computation<'_, '_>, Option<u64>)> = module
        .computations()
        .filter(|computation| super::is_entry_point(*computation))
        .map(|entry| (entry, Some(1)))
        .collect();
    while let Some((computation, times)) = waiting.pop() {
        // With several callers, only the first one counts.
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
            let called = instruction.called_names().filter_map(|name| module.computation(name));
            waiting.extend(called.map(|called| (called, inside)));
        }
    }
    found
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
        // A loop without a constant limit, and one with a known trip count.
        let module = text.replace("n = s32[] constant(7)", "n = s32[] get-tuple-element(p), index=0");
        assert_eq!(Module::parse(&module).unwrap().collectives()[0].runs, None);
        let known = "body=body, backend_config={\"known_trip_count\":{\"n\":\"9\"}}";
        let module = text.replace("body=body", known);
        assert_eq!(Module::parse(&module).unwrap().collectives()[0].runs, Some(9));
    }
}
