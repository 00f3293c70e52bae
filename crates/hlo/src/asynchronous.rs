//! Asynchronous operations, which start and end in different instructions.
//!
//! An `HloModuleProto` has `async-start`, `async-update` and `async-done`, which call a computation with the wrapped operation.
//! If that computation is a single instruction, HLO text uses a short form: `slice-start`, `slice-done`
//! (`HloAsyncInstruction` in `xla/hlo/ir/hlo_instructions.cc`; `HloParserImpl::ParseInstructionRhs` expands it).

use crate::attribute::Attribute;
use crate::module::{Instruction, Module};
use crate::schema::Key;
use crate::schema::opcode::Opcode;
use alloc::string::String;
use xla_shape_core::Shape;

/// Which of the three instructions of an asynchronous operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Start,
    Update,
    Done,
}

impl Step {
    const ALL: [Self; 3] = [Self::Start, Self::Update, Self::Done];

    pub(crate) const fn opcode(self) -> Opcode<'static> {
        match self {
            Self::Start => Opcode::AsyncStart,
            Self::Update => Opcode::AsyncUpdate,
            Self::Done => Opcode::AsyncDone,
        }
    }

    pub(crate) const fn suffix(self) -> &'static str {
        match self {
            Self::Start => "-start",
            Self::Update => "-update",
            Self::Done => "-done",
        }
    }
}

/// The step that an opcode stands for in the long form.
pub(crate) fn step(opcode: Opcode<'_>) -> Option<Step> {
    Step::ALL.into_iter().find(|step| step.opcode() == opcode)
}

/// Opcodes that end like a short form but are opcodes of their own in XLA (`xla/hlo/ir/hlo_opcode.h`).
const OWN: [&str; 12] = [
    "all-gather-done",
    "all-gather-start",
    "all-reduce-done",
    "all-reduce-start",
    "async-done",
    "async-start",
    "async-update",
    "collective-permute-done",
    "collective-permute-start",
    "copy-done",
    "copy-start",
    "recv-done",
];

/// Splits a short form such as `slice-start` into the wrapped opcode and the step. XLA's own opcodes do not count as short forms.
fn short(opcode: &str) -> Option<(&str, Step)> {
    if OWN.contains(&opcode) || opcode == "send-done" {
        return None;
    }
    let steps = Step::ALL.into_iter();
    steps.filter_map(|step| Some((opcode.strip_suffix(step.suffix())?, step))).find(|(opcode, _)| !opcode.is_empty())
}

impl<'a> Opcode<'a> {
    /// Expands the short form of an asynchronous operation into its step and the wrapped opcode: `slice-start` is an
    /// `async-start` that calls a computation of one `slice`. `None` for all other opcodes.
    ///
    /// ```
    /// use xla_shape_hlo::Opcode;
    ///
    /// let (step, operation) = Opcode::from_text("slice-start").long_form().unwrap();
    /// assert_eq!((step, operation), (Opcode::AsyncStart, Opcode::Slice));
    /// assert!(Opcode::CopyStart.long_form().is_none());
    /// ```
    #[must_use]
    pub fn long_form(self) -> Option<(Opcode<'static>, Opcode<'a>)> {
        short(self.text()).map(|(operation, step)| (step.opcode(), Opcode::from_text(operation)))
    }
}

/// The collectives whose start and done are opcodes of their own.
const COLLECTIVES: [(&str, Opcode<'static>, Opcode<'static>); 3] = [
    ("all-gather", Opcode::AllGatherStart, Opcode::AllGatherDone),
    ("all-reduce", Opcode::AllReduceStart, Opcode::AllReduceDone),
    ("collective-permute", Opcode::CollectivePermuteStart, Opcode::CollectivePermuteDone),
];

/// Whether a start such as `all-gather-start` with this many operands can be read in two ways, because both have the same shape: as an opcode of its
/// own, or as the short form of an `async-start`.
pub(crate) fn has_two_meanings(operation: Opcode<'_>, operands: usize) -> bool {
    matches!(operation, Opcode::AllGather | Opcode::CollectivePermute) && operands > 1
}

impl<'m> Instruction<'m> {
    /// Expands the short form of an asynchronous operation into its step and the wrapped opcode, as [`Opcode::long_form`] does.
    ///
    /// `all-gather-start`, `all-reduce-start` and `collective-permute-start` are opcodes of their own. But XLA prints an `async-start` that
    /// wraps such a collective with the same name, as in programs for GPUs. The shape of such an `async-start` shows what it is: it begins with a
    /// tuple of the operands, as in `((f32[8]), f32[8])`. For an all-gather or a collective-permute with several operands, the shape is the
    /// same in both cases, and the instruction counts as an opcode of its own.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("\
    /// add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
    /// ENTRY e { p = f32[8] parameter(0)
    ///   s = ((f32[8]), f32[8]) all-reduce-start(p), replica_groups={}, to_apply=add
    ///   ROOT d = f32[8] all-reduce-done(s) }")?;
    /// let (step, operation) = module.instruction("s").unwrap().long_form().unwrap();
    /// assert_eq!((step.text(), operation.text()), ("async-start", "all-reduce"));
    /// assert!(module.check().is_empty());
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn long_form(self) -> Option<(Opcode<'static>, Opcode<'m>)> {
        self.short_form().map(|(operation, step)| (step.opcode(), Opcode::from_text(operation)))
    }

    /// The wrapped opcode and the step of an asynchronous operation in short form.
    pub(crate) fn short_form(self) -> Option<(&'m str, Step)> {
        short(self.opcode().text()).or_else(|| self.wrapped_collective())
    }

    /// Which step of an asynchronous operation it is, in long or short form.
    pub(crate) fn asynchronous_step(self) -> Option<Step> {
        self.short_form().map(|(_, step)| step).or_else(|| step(self.opcode()))
    }

    fn wrapped_collective(self) -> Option<(&'m str, Step)> {
        let opcode = self.opcode();
        let &(name, own_start, _) = COLLECTIVES.iter().find(|(_, start, done)| opcode == *start || opcode == *done)?;
        let (start, step) = match opcode == own_start {
            true => (self, Step::Start),
            false => (self.operand(0)?.instruction().filter(|found| found.opcode() == own_start)?, Step::Done),
        };
        let given = start.shape().tuple_shapes()?.first()?;
        let is_wrapped =
            given.tuple_shapes().is_some() && !has_two_meanings(Opcode::from_text(name), start.operands().len());
        is_wrapped.then_some((name, step))
    }
}

impl Module {
    /// The operations that `async-start`s wrap, each with its start. An operation is listed only if it is alone in its computation. XLA can print
    /// such a pair in short form, as one instruction with the name of the start. The name of the start therefore identifies the pair in both forms.
    ///
    /// ```
    /// let text = "w { x = f32[8] parameter(0) ROOT n = f32[8] negate(x) }
    /// ENTRY e { p = f32[8] parameter(0) s = ((f32[8]), f32[8]) async-start(p), calls=w ROOT d = f32[8] async-done(s) }";
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// let found: Vec<_> = module.asynchronous_operations().map(|(one, start)| (one.name(), start.name())).collect();
    /// assert_eq!(found, [("n", "s")]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    pub fn asynchronous_operations(&self) -> impl Iterator<Item = (Instruction<'_>, Instruction<'_>)> {
        let starts = self.instructions().filter(|instruction| instruction.opcode() == Opcode::AsyncStart);
        starts.filter_map(|start| {
            let root = start.callee(Key::Calls)?.root();
            let mut others = root.computation().instructions().filter(|other| other.number() != root.number());
            let is_alone =
                root.opcode() != Opcode::Parameter && others.all(|other| other.opcode() == Opcode::Parameter);
            is_alone.then_some((root, start))
        })
    }
}

impl<'m> Instruction<'m> {
    /// The shape of the result alone. The tuple of an asynchronous start also contains its operands, and context such as semaphores; the
    /// result is one of its elements. Only the opcode `all-reduce-start` has just the result as its shape.
    pub(crate) fn computed_shape(self) -> &'m Shape {
        let shape = self.shape();
        let element = |index: usize| shape.tuple_shapes().and_then(|all| all.get(index)).unwrap_or(shape);
        match self.opcode() {
            Opcode::CopyStart => element(0),
            Opcode::AsyncStart | Opcode::AllGatherStart | Opcode::CollectivePermuteStart => element(1),
            _ if self.short_form().is_some_and(|(_, step)| step == Step::Start) => element(1),
            _ => shape,
        }
    }

    /// Whether array number `leaf` of its shape is a result of the operation that a short form wraps. XLA runs the wrapped computation
    /// first, so such a result is defined before the other values of the start or update.
    pub(crate) fn is_wrapped_result(self, leaf: usize) -> bool {
        let Some((_, Step::Start | Step::Update)) = self.short_form() else { return false };
        let Some([operands, result, ..]) = self.shape().tuple_shapes() else { return false };
        leaf.checked_sub(operands.arrays().count()).is_some_and(|leaf| leaf < result.arrays().count())
    }

    /// The name of the operation that a start in short form wraps, if the module was read from a message.
    pub(crate) fn wrapped_name(self) -> Option<&'m str> {
        self.module().wrapped.get(&self.number()).map(String::as_str)
    }

    /// The sharding of the wrapped operation, for a start in short form that also has a sharding of its own. XLA prints both:
    /// first the sharding of the wrapped operation (`HloAsyncInstruction::PrintExtraAttributesImpl` in `xla/hlo/ir/hlo_instructions.cc`).
    pub(crate) fn wrapped_sharding(self) -> Option<Attribute<'m>> {
        self.short_form().filter(|(_, step)| *step == Step::Start)?;
        let mut shardings = self.attributes().filter(|attribute| attribute.name() == Key::Sharding.name());
        let first = shardings.next()?;
        shardings.next().map(|_| first)
    }
}

#[cfg(test)]
mod tests {
    use super::{Step, short};
    use crate::Module;
    use alloc::format;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    fn findings(start: &str, done: &str) -> Vec<String> {
        let text = format!(
            "HloModule m, num_partitions=2\nadd {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}\n\
             ENTRY e {{ p = f32[8,2] parameter(0)\n s = {start}\n ROOT d = {done} }}"
        );
        Module::parse(&text).unwrap().check().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn wrapped_collectives_have_the_shape_of_an_async_start() {
        let permute = "collective-permute-start(p), channel_id=1, source_target_pairs={{0,1},{1,0}}";
        let gather =
            "all-gather-start(p), channel_id=1, replica_groups={{0,1}}, dimensions={0}, use_global_device_ids=true";
        let reduce = "all-reduce-start(p), replica_groups={}, to_apply=add";
        for (start, done) in [
            (format!("((f32[8,2]), f32[8,2]) {permute}"), "f32[8,2] collective-permute-done(s)"),
            (format!("(f32[8,2], f32[8,2]) {permute}"), "f32[8,2] collective-permute-done(s)"),
            (format!("((f32[8,2]), f32[16,2]) {gather}"), "f32[16,2] all-gather-done(s)"),
            (format!("(f32[8,2], f32[16,2]) {gather}"), "f32[16,2] all-gather-done(s)"),
            (format!("((f32[8,2]), f32[8,2]) {reduce}"), "f32[8,2] all-reduce-done(s)"),
            (format!("f32[8,2] {reduce}"), "f32[8,2] all-reduce-done(s)"),
        ] {
            assert_eq!(findings(&start, done), Vec::<String>::new(), "{start}");
        }
        for (start, done) in [
            (format!("((f32[8,2]), f32[8,3]) {permute}"), "f32[8,3] collective-permute-done(s)"),
            (format!("((f32[8,2]), f32[8,2]) {gather}"), "f32[8,2] all-gather-done(s)"),
            (format!("((f32[8,3]), f32[8,2]) {reduce}"), "f32[8,2] all-reduce-done(s)"),
            (format!("((f32[8,2]), f32[8,2]) {reduce}"), "((f32[8,2]), f32[8,2]) all-reduce-done(s)"),
        ] {
            assert_eq!(findings(&start, done).len(), 1, "{start}");
        }
    }

    /// Compares each operation in long form, where `w` contains the wrapped operation, with the same operation in short form.
    #[test]
    fn both_forms_take_the_same_memory() {
        const BIG: &str = "f32[64,1024]{1,0:T(8,128)}";
        let shapes = |text: &str| text.replace("BIG", BIG);
        let called = "u {\n x = BIG parameter(0)\n y = BIG parameter(1)\n ROOT r = BIG add(x, y)\n}\n\
            v {\n x = BIG parameter(0)\n y = BIG parameter(1)\n z = s32[] constant(0)\n \
            ROOT r = BIG dynamic-update-slice(x, y, z, z)\n}\nk {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}\n";
        let memory = |wrapped: &str, start: &str, update: &str| {
            let operands = if update.is_empty() { "(a, b)" } else { "()" };
            let after = if update.is_empty() { "s" } else { "t" };
            let start = start.replace("()", operands);
            let text = shapes(&format!(
                "HloModule m, is_scheduled=true\n{called}w {{\n x = BIG parameter(0)\n y = BIG parameter(1)\n \
                 ROOT r = BIG {wrapped}\n}}\nENTRY e {{\n p = BIG parameter(0)\n a = BIG negate(p)\n b = BIG negate(a)\n \
                 s = {start}\n{update} ROOT c = BIG async-done({after})\n}}"
            ));
            let module = Module::parse(&text).unwrap_or_else(|error| panic!("{}", error.render(&text)));
            let timeline = module.memory().timeline().unwrap();
            timeline.account().clone()
        };
        let tuple = "((BIG, BIG), BIG, s32[]{:S(2)})";
        let custom = "custom_call_target=\"t\", output_to_operand_aliasing={{}: (0, {})}";
        let reduce = "replica_groups={}, to_apply=k";
        for (wrapped, own, short, attributes) in [
            (format!("custom-call(x, y), {custom}"), "", "custom-call", custom),
            ("custom-call(x, y), custom_call_target=\"t\"".into(), "", "custom-call", "custom_call_target=\"t\""),
            ("fusion(x, y), kind=kLoop, calls=v".into(), "", "fusion", "kind=kLoop, calls=v"),
            ("fusion(x, y), kind=kLoop, calls=u".into(), "", "fusion", "kind=kLoop, calls=u"),
            ("call(x, y), to_apply=u".into(), "", "call", "to_apply=u"),
            (
                format!("all-to-all(x, y), {reduce}"),
                ", output_to_operand_aliasing={{1}: (1, {})}",
                "all-to-all",
                reduce,
            ),
        ] {
            let long = memory(&wrapped, &format!("{tuple} async-start(), calls=w{own}"), "");
            assert_eq!(long, memory(&wrapped, &format!("{tuple} {short}-start(), {attributes}{own}"), ""), "{wrapped}");
            // The TPU compiler writes work for SparseCores like this: an update, not the start, has the operands.
            if own.is_empty() {
                let none = "((), (), s32[]{:S(2)})";
                let update = |opcode: &str| format!(" t = {tuple} {opcode}-update(s, a, b)\n");
                let late = memory(&wrapped, &format!("{none} async-start(), calls=w"), &update("async"));
                let start = format!("{none} {short}-start(), {attributes}");
                let short = memory(&wrapped, &start, &update(short));
                // In short form, the empty result of the start may have an index table of its own.
                const TABLE: u64 = 16 << 10;
                let more = short.device.temporaries - late.device.temporaries;
                assert!(more <= TABLE, "{wrapped}, bound late: {more} more bytes");
                assert_eq!(short.device.outputs, late.device.outputs);
            }
        }
    }

    #[test]
    fn short_forms() {
        assert_eq!(short("slice-start"), Some(("slice", Step::Start)));
        assert_eq!(short("custom-call-update"), Some(("custom-call", Step::Update)));
        assert_eq!(short("all-gather-done"), None);
        assert_eq!(short("send-done"), None);
        assert_eq!(short("-start"), None);
        assert_eq!(short("slice"), None);
    }
}
