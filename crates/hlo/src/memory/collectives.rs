//! Collectives: the bytes that devices exchange, and how often.

use super::calls::CallOrder;
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
    let order = CallOrder::new(module, called_once);
    let mut found: BTreeMap<u32, Option<u64>> = BTreeMap::new();
    for &number in order.callees_first.iter().rev() {
        let Some(computation) = module.computation_at(number) else { continue };
        if super::is_entry_point(computation) {
            found.insert(number, Some(1));
        }
        let times = *found.entry(number).or_insert(Some(0));
        for instruction in computation.instructions() {
            let called = called_once(instruction);
            if called.is_empty() {
                continue;
            }
            let trips = if instruction.opcode() == Opcode::While { trip_count(instruction) } else { Some(1) };
            let inside = times.zip(trips).and_then(|(times, trips)| times.checked_mul(trips));
            for called in called {
                let sum = found.entry(called.number()).or_insert(Some(0));
                *sum = sum.zip(inside).and_then(|(sum, inside)| sum.checked_add(inside));
            }
        }
    }
    found
}

/// The computations that one run of an instruction reaches, each once: of a conditional, every branch.
fn called_once<'m, 'a>(instruction: Instruction<'m, 'a>) -> Vec<Computation<'m, 'a>> {
    // What the start of an asynchronous pair runs is named at its end as well.
    if matches!(instruction.opcode(), Opcode::AsyncUpdate | Opcode::AsyncDone) {
        return Vec::new();
    }
    let module = instruction.module();
    let mut called: Vec<_> = instruction.called_names().filter_map(|name| module.computation(name)).collect();
    called.sort_unstable_by_key(|called| called.number());
    called.dedup_by_key(|called| called.number());
    called
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

    #[test]
    fn all_callers_count() {
        let text = "HloModule m
shared {
  p = f32[256]{0} parameter(0)
  ROOT r = f32[256]{0} all-reduce(p), to_apply=add
}
body {
  p = (s32[], f32[256]{0}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  n = s32[] add(i, one)
  x = f32[256]{0} get-tuple-element(p), index=1
  y = f32[256]{0} call(x), to_apply=shared
  ROOT t = (s32[], f32[256]{0}) tuple(n, y)
}
condition {
  p = (s32[], f32[256]{0}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(7)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  a = f32[256]{0} parameter(0)
  b = f32[256]{0} call(a), to_apply=shared
  z = s32[] constant(0)
  t = (s32[], f32[256]{0}) tuple(z, b)
  w = (s32[], f32[256]{0}) while(t), condition=condition, body=body
  x = f32[256]{0} get-tuple-element(w), index=1
  ROOT c = f32[256]{0} conditional(z, x, x), branch_computations={shared, shared}
}
";
        let runs = |text: &str| {
            Module::parse(text).unwrap().collectives().iter().map(|found| found.runs).collect::<alloc::vec::Vec<_>>()
        };
        // The call before the loop, seven iterations, and one branch of the conditional.
        assert_eq!(runs(text), [Some(9)]);
        // One unknown loop makes the sum unknown.
        let dynamic = text.replace("n = s32[] constant(7)", "n = s32[] get-tuple-element(p), index=0");
        assert_eq!(runs(&dynamic), [None]);
    }
}
