//! Collectives: the bytes that devices exchange, and how often.

use super::calls::CallOrder;
use crate::schema::Key;
use crate::trips::trip_count;
use crate::{Computation, Instruction, Module, Opcode, ReplicaGroups};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use xla_shape_core::Shape;
use xla_shape_core::sorting::{map_of, sort_by_key};

/// A collective operation, with the bytes that a device sends and receives.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Collective<'m> {
    /// The instruction, which can be inside a fusion.
    pub instruction: Instruction<'m>,
    /// If the TPU compiler divided the collective among several fusions: its pieces, in the order of these fusions. The first piece is `instruction`.
    /// Empty if the collective is not divided.
    ///
    /// The collective begins in the first of the fusions and ends in the last one; the other computations of these fusions, and the instructions
    /// between them, run at the same time.
    pub pieces: Vec<CollectivePiece<'m>>,
    /// The bytes of the operands on one device, for each run.
    pub bytes_in: u64,
    /// The bytes of the results on one device, for each run.
    pub bytes_out: u64,
    /// How often it runs in one run of the program; `None` if it is in a loop of unknown trip count.
    pub runs: Option<u64>,
}

/// One of the instructions into which the TPU compiler divided a collective.
///
/// ```
/// let module = xla_shape_hlo::Module::parse(r#"
/// HloModule m
/// f { p = f32[8]{0} parameter(0)
///   ROOT g = f32[16]{0} all-gather(p), channel_id=1, dimensions={0}, frontend_attributes={chain_id="0"} }
/// h { q = f32[8]{0} parameter(0)
///   ROOT r = f32[16]{0} all-gather(q), channel_id=1, dimensions={0}, frontend_attributes={chain_id="0"} }
/// ENTRY e { a = f32[8]{0} parameter(0)
///   begin = f32[16]{0} fusion(a), kind=kLoop, calls=f
///   ROOT end = f32[16]{0} fusion(a), kind=kLoop, calls=h }"#)?;
/// let [collective] = &module.collectives()[..] else { panic!("one collective") };
/// let fusions: Vec<_> = collective.pieces.iter().map(|piece| piece.fusion.name()).collect();
/// assert_eq!(fusions, ["begin", "end"]);
/// assert_eq!(collective.pieces[1].instruction.name(), "r");
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CollectivePiece<'m> {
    /// The instruction. Each piece has the shapes of the whole collective.
    pub instruction: Instruction<'m>,
    /// The fusion that contains it.
    pub fusion: Instruction<'m>,
}

impl<'m> Collective<'m> {
    /// Its instruction or, if it is divided, the instructions of all pieces.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("\
    /// HloModule m
    /// ENTRY main {
    ///   a = f32[8] parameter(0)
    ///   ROOT r = f32[8] all-to-all(a), dimensions={0}, replica_groups={{0,1}}
    /// }")?;
    /// let names: Vec<_> = module.collectives()[0].instructions().map(|all| all.name()).collect();
    /// assert_eq!(names, ["r"]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    pub fn instructions(&self) -> impl Iterator<Item = Instruction<'m>> {
        let rest = self.pieces.iter().skip(1).map(|piece| piece.instruction);
        core::iter::once(self.instruction).chain(rest)
    }

    /// The bytes of elements that all of the program's `devices` together receive in each run, without padding. Data that a device already has
    /// do not count. An all-reduce counts as a reduce-scatter followed by an all-gather. `None` if it moves slices (`slice_sizes`), if its sizes or
    /// groups are not known, if the number does not fit in 64 bits, or for kinds of collectives that this function does not know.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("\
    /// HloModule m
    /// ENTRY main {
    ///   a = f32[8,128]{1,0:T(8,128)} parameter(0)
    ///   g = f32[32,128]{1,0:T(8,128)} all-gather(a), dimensions={0}, replica_groups={{0,1,2,3},{4,5,6,7}}
    ///   ROOT p = f32[8,128]{1,0:T(8,128)} collective-permute(a), source_target_pairs={{0,0},{1,2},{2,1}}
    /// }")?;
    /// let received = module.collectives().iter().map(|found| found.bytes_received(8)).collect::<Vec<_>>();
    /// // Each of 8 devices receives the 4 KiB of 3 others; 2 devices receive those of one.
    /// assert_eq!(received, [Some(8 * 3 * 4096), Some(2 * 4096)]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn bytes_received(&self, devices: u64) -> Option<u64> {
        let own = self.instruction;
        let operands = own.operands().map(|operand| operand.shape()).collect::<Option<Vec<_>>>()?;
        let mut operand = 0_u64;
        for array in operands.into_iter().flat_map(Shape::arrays) {
            let bits = array.elements()?.checked_mul(array.element_bits())?;
            operand = operand.checked_add(bits.div_ceil(8))?;
        }
        if let Some(pairs) = own.value_of(Key::SourceTargetPairs) {
            let ReplicaGroups::Lists(pairs) = pairs.replica_groups().ok()? else { return None };
            let is_whole = own.value_of(Key::PermuteSliceSizes).is_none();
            let moved = pairs.iter().filter(|pair| pair.first() != pair.last()).count() as u64;
            return operand.checked_mul(moved).filter(|_| is_whole);
        }
        let opcode = own.opcode().text();
        let mut received = 0_u64;
        for (groups, size) in own.group_sizes(devices)? {
            let others = size.checked_sub(1)?;
            let times = match Opcode::from_text(opcode.strip_suffix("-start").unwrap_or(opcode)) {
                Opcode::AllGather => size.checked_mul(others)?,
                Opcode::AllReduce => others.checked_mul(2)?,
                Opcode::AllToAll | Opcode::ReduceScatter | Opcode::CollectiveBroadcast => others,
                _ => return None,
            };
            received = received.checked_add(operand.checked_mul(times)?.checked_mul(groups)?)?;
        }
        Some(received)
    }
}

impl Module {
    /// The collectives of the program, including those in fusions and loops, in text order. A collective that the TPU compiler divided among several
    /// fusions is listed once: its pieces are recognized by an equal `channel_id`, and by having a `chain_id`.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("\
    /// HloModule m
    /// ENTRY main {
    ///   a = f32[8,128]{1,0} parameter(0)
    ///   ROOT g = f32[32,128]{1,0} all-gather(a), dimensions={0}, replica_groups={{0,1,2,3}}
    /// }")?;
    /// let gather = &module.collectives()[0];
    /// assert_eq!((gather.bytes_in, gather.bytes_out, gather.runs), (4096, 16384, Some(1)));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn collectives(&self) -> Vec<Collective<'_>> {
        let found = self.instructions().filter(|instruction| instruction.opcode().is_collective());
        let all: Vec<_> = found.collect();
        if all.is_empty() {
            return Vec::new();
        }
        let runs = runs(self);
        let mut divided = divided(self, &all);
        let found = all.into_iter().filter_map(|instruction| {
            let pieces = match divided.remove(&instruction.number()) {
                Some(Divided::First(pieces)) => pieces,
                Some(Divided::Later) => return None,
                None => Vec::new(),
            };
            // A computation that the program does not call does not run.
            let runs = *runs.get(&instruction.computation().number())?;
            let operands = instruction.operands().filter_map(|operand| operand.shape());
            let bytes_in = operands.flat_map(Shape::arrays).filter_map(|array| array.byte_size());
            let bytes_in = bytes_in.fold(0_u64, u64::saturating_add);
            let results = instruction.computed_shape().arrays().filter_map(|array| array.byte_size());
            let bytes_out = results.fold(0_u64, u64::saturating_add);
            Some(Collective { instruction, pieces, bytes_in, bytes_out, runs })
        });
        found.collect()
    }
}

/// Which piece of a divided collective an instruction is.
enum Divided<'m> {
    /// The first one, with all pieces.
    First(Vec<CollectivePiece<'m>>),
    /// Another one.
    Later,
}

/// The pieces among these collectives, by the numbers of their instructions.
fn divided<'m>(module: &'m Module, all: &[Instruction<'m>]) -> BTreeMap<u32, Divided<'m>> {
    let chain = |instruction: Instruction<'m>| {
        instruction.value_of(Key::FrontendAttributes).filter(|all| all.text().contains("chain_id="))?;
        Some((instruction, instruction.value_of(Key::ChannelId)?))
    };
    let mut chained = all.iter().copied().filter_map(chain).peekable();
    if chained.peek().is_none() {
        return BTreeMap::new();
    }
    // Each piece is in a fusion of its own. The fusions of one collective are in one computation, and its pieces have one channel and
    // opcode.
    let fusions = module.instructions().filter(|fusion| fusion.opcode() == Opcode::Fusion);
    let fusions = fusions.filter_map(|fusion| Some((fusion.callee(Key::Calls)?.number(), fusion)));
    let fusions = map_of(fusions);
    let mut groups = BTreeMap::<_, Vec<CollectivePiece<'m>>>::new();
    for (instruction, channel) in chained {
        let Some(&fusion) = fusions.get(&instruction.computation().number()) else { continue };
        let group = (fusion.computation().number(), channel.text(), instruction.opcode().text());
        groups.entry(group).or_default().push(CollectivePiece { instruction, fusion });
    }
    let mut found = BTreeMap::new();
    for mut pieces in groups.into_values().filter(|pieces| pieces.len() > 1) {
        sort_by_key(&mut pieces, |piece| piece.fusion.number());
        found.extend(pieces.iter().map(|piece| (piece.instruction.number(), Divided::Later)));
        let Some(first) = pieces.first().map(|first| first.instruction.number()) else { continue };
        found.insert(first, Divided::First(pieces));
    }
    found
}

/// For each computation that the program calls, how often it runs; `None` if unknown.
fn runs(module: &Module) -> BTreeMap<u32, Option<u64>> {
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
fn called_once<'m>(instruction: Instruction<'m>) -> Vec<Computation<'m>> {
    // The update and the done of an asynchronous operation name the computation again that its start runs.
    if matches!(instruction.opcode(), Opcode::AsyncUpdate | Opcode::AsyncDone) {
        return Vec::new();
    }
    let module = instruction.module();
    let mut called: Vec<_> = instruction.called_names().filter_map(|name| module.computation(name)).collect();
    sort_by_key(&mut called, |called| called.number());
    called.dedup_by_key(|called| called.number());
    called
}

#[cfg(test)]
mod tests {
    use crate::Module;
    use alloc::string::String;
    use alloc::vec::Vec;

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
    fn results_of_a_start_are_without_its_operands_and_semaphores() {
        let text = "HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY e {
  p = f32[8] parameter(0)
  q = f32[4] parameter(1)
  s = (f32[8], f32[8], u32[]{:S(2)}, u32[]{:S(2)}) collective-permute-start(p), source_target_pairs={{0,1}}
  d = f32[8] collective-permute-done(s)
  several = (f32[8], f32[4]) all-reduce-start(p, q), replica_groups={}, to_apply=add
  sums = (f32[8], f32[4]) all-reduce-done(several)
  wrapped = ((f32[8]), f32[8]) all-reduce-start(p), replica_groups={}, to_apply=add
  sum = f32[8] all-reduce-done(wrapped)
  gather = ((f32[8], f32[4]), (f32[16], f32[8])) all-gather-start(p, q), replica_groups={{0,1}}, dimensions={0}
  gathered = (f32[16], f32[8]) all-gather-done(gather)
  scatter = ((f32[8]), f32[4], s32[]) reduce-scatter-start(p), replica_groups={{0,1}}, dimensions={0}, to_apply=add
  ROOT scattered = f32[4] reduce-scatter-done(scatter)
}
";
        let module = Module::parse(text).unwrap();
        let found = module.collectives();
        let found: Vec<_> = found.iter().map(|one| (one.instruction.name(), one.bytes_in, one.bytes_out)).collect();
        let expected =
            [("s", 32, 32), ("several", 48, 48), ("wrapped", 32, 32), ("gather", 48, 96), ("scatter", 32, 16)];
        assert_eq!(found, expected);
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
        let runs =
            |text: &str| Module::parse(text).unwrap().collectives().iter().map(|found| found.runs).collect::<Vec<_>>();
        // The call before the loop, seven iterations, and one branch of the conditional.
        assert_eq!(runs(text), [Some(9)]);
        // One unknown loop makes the sum unknown.
        let dynamic = text.replace("n = s32[] constant(7)", "n = s32[] get-tuple-element(p), index=0");
        assert_eq!(runs(&dynamic), [None]);
    }

    #[test]
    fn pieces_are_one_collective() {
        let piece = |number: u32| {
            alloc::format!(
                "f{number} {{
  p{number} = f32[8]{{0}} parameter(0)
  ROOT r{number} = f32[16]{{0}} all-gather(p{number}), channel_id=1, replica_groups={{{{0,1}}}}, dimensions={{0}}, use_global_device_ids=true, frontend_attributes={{chain_id=\"0\"}}
}}
"
            )
        };
        let text = alloc::format!(
            "HloModule m
{}{}ENTRY e {{
  a = f32[8]{{0}} parameter(0)
  x = f32[16]{{0}} fusion(a), kind=kLoop, calls=f2
  y = f32[16]{{0}} fusion(a), kind=kLoop, calls=f1
  ROOT s = f32[16]{{0}} add(x, y)
}}
",
            piece(1),
            piece(2)
        );
        let names = |text: &str| {
            let module = Module::parse(text).unwrap();
            let found = module.collectives();
            let names = |one: &super::Collective<'_>| {
                let pieces = one.pieces.iter().map(|piece| piece.fusion.name().into());
                (one.instructions().map(|all| all.name().into()).collect(), pieces.collect())
            };
            found.iter().map(names).collect::<Vec<(Vec<String>, Vec<String>)>>()
        };
        let list = |names: &[&str]| names.iter().map(|&name| name.into()).collect::<Vec<String>>();
        assert_eq!(names(&text), [(list(&["r2", "r1"]), list(&["x", "y"]))]);
        // Without a chain, they are two collectives.
        let two = [(list(&["r1"]), list(&[])), (list(&["r2"]), list(&[]))];
        assert_eq!(names(&text.replace("chain_id", "other")), two);
        // Another channel.
        assert_eq!(names(&text.replacen("channel_id=1", "channel_id=2", 1)), two);
    }
}
