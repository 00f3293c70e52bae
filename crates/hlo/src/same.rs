//! Whether two modules are the same program, instruction for instruction.

use crate::schema::Key;
use crate::schema::opcode::Opcode;
use crate::{Attribute, Computation, Instruction, Module, Pairs};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use xla_shape_core::sorting::map_of;

/// Attributes that say where an instruction comes from, and nothing about what it does.
const ORIGINS: [&str; 2] = ["metadata", "origin"];

/// The attribute whose value names instructions of the same computation.
const CONTROL: &str = "control-predecessors";

impl Module {
    /// Whether another module is the same program: the same instructions in the same order, with the same shapes, layouts, operands, attributes and
    /// constants, in the entry computation and all that it calls. Names and the places in the user's program may differ. `None` if this cannot be
    /// known: an instruction of one of them could not be read, or no difference is found but both texts leave out elements of a constant.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    ///
    /// let program = |opcode: &str| {
    ///     let text = format!(
    ///         "HloModule m\nf {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] {opcode}(a, b) }}\n\
    ///          ENTRY e {{ p = f32[8] parameter(0) z = f32[] constant(0) ROOT r = f32[] reduce(p, z), dimensions={{0}}, to_apply=f }}"
    ///     );
    ///     Module::parse(&text)
    /// };
    /// let (sum, maximum) = (program("add")?, program("maximum")?);
    /// assert_eq!((sum.is_same_program(&sum), sum.is_same_program(&maximum)), (Some(true), Some(false)));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn is_same_program(&self, other: &Self) -> Option<bool> {
        let modules = [self, other];
        if modules.iter().any(|module| module.instructions().any(|found| !found.is_read())) {
            return None;
        }
        let is_same = has_same_attributes(self, other) && has_same_computations(self, other);
        let is_whole = |found: Instruction<'_>| found.literal().is_none_or(|literal| !literal.contains("..."));
        let is_known = !is_same || modules.iter().all(|module| module.instructions().all(is_whole));
        is_known.then_some(is_same)
    }
}

impl<'m> Pairs<'m> {
    /// The instructions that differ: pairs that do not have the same opcode, shape, attributes, constant or operands, and those without a
    /// counterpart. If computations that a pair calls differ, only the instructions inside them are listed, not the pair itself.
    ///
    /// ```
    /// use xla_shape_hlo::{Module, Pairs};
    ///
    /// let program = |sum: &str| Module::parse(&format!("HloModule m\nENTRY e {{ p = f32[8] parameter(0) {sum} }}"));
    /// let (before, after) = (program("ROOT n = f32[8] negate(p)")?, program("ROOT a = f32[8] abs(p)")?);
    /// let names = Pairs::new(&before, &after).differing().into_iter().map(|pair| pair.map(|found| found.map(|found| found.name())));
    /// assert_eq!(names.collect::<Vec<_>>(), [[Some("n"), None], [None, Some("a")]]);
    /// assert!(Pairs::new(&before, &before).differing().is_empty());
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn differing(&self) -> Vec<[Option<Instruction<'m>>; 2]> {
        let [before, after] = self.modules();
        let changed = before.instructions().filter_map(|one| match self.after(one) {
            Some(other) if self.is_alike(one, other) => None,
            other => Some([Some(one), other]),
        });
        let added = after.instructions().filter(|other| self.before(*other).is_none()).map(|other| [None, Some(other)]);
        changed.chain(added).collect()
    }

    fn is_alike(&self, one: Instruction<'m>, other: Instruction<'m>) -> bool {
        let is_callee = |name: &str| name == CONTROL || Key::among(Key::CALLS, name).is_some();
        let texts = |found: Instruction<'m>| {
            attributes(found).filter(move |of| !is_callee(of.name())).map(|of| (of.name(), of.value().text()))
        };
        let operands = || one.operands().zip(other.operands());
        is_same_itself(one, other)
            && texts(one).eq(texts(other))
            && operands().all(|(one, other)| one.instruction().and_then(|one| self.after(one)) == other.instruction())
    }
}

/// Whether the instructions agree in the parts that do not name other instructions or computations. Attributes are
/// compared elsewhere.
fn is_same_itself(one: Instruction<'_>, other: Instruction<'_>) -> bool {
    let has_names = !matches!(one.opcode(), Opcode::Constant | Opcode::Parameter);
    one.opcode() == other.opcode()
        && one.shape() == other.shape()
        && one.is_root() == other.is_root()
        && one.operands().len() == other.operands().len()
        && (has_names || one.arguments() == other.arguments())
}

fn attributes<'m>(of: Instruction<'m>) -> impl Iterator<Item = Attribute<'m>> {
    of.attributes().filter(|attribute| !ORIGINS.contains(&attribute.name()))
}

/// Whether the modules have the same attributes, except for `frontend_attributes`, which depend on the program that made the module.
fn has_same_attributes(one: &Module, other: &Module) -> bool {
    let [texts, others] = [one, other].map(|module| {
        let kept = module.attributes().filter(|of| of.name() != "frontend_attributes");
        kept.map(|of| (of.name(), of.value().text()))
    });
    texts.eq(others)
}

/// Whether the entry computations are the same, with all that they call. Without entry computations, all computations
/// are compared.
fn has_same_computations<'m>(one: &'m Module, other: &'m Module) -> bool {
    let mut waiting = match (one.entry(), other.entry()) {
        (Some(one), Some(other)) => [(one, other)].to_vec(),
        (None, None) if one.computations().len() == other.computations().len() => {
            one.computations().zip(other.computations()).collect()
        }
        _ => return false,
    };
    // Each pair is compared once, so that computations that are called from many places do not cost more.
    let mut seen = BTreeSet::new();
    while let Some((one, other)) = waiting.pop() {
        if seen.insert((one.number(), other.number())) && !is_same_computation(one, other, &mut waiting) {
            return false;
        }
    }
    true
}

/// Compares the instructions of two computations one by one. Adds the computations that they call to `waiting`, to be compared later.
fn is_same_computation<'m>(
    one: Computation<'m>,
    other: Computation<'m>,
    waiting: &mut Vec<(Computation<'m>, Computation<'m>)>,
) -> bool {
    // The places of parameters in the text do not matter, so they are compared by number.
    let [mine, theirs] = [one, other].map(|of| {
        let others = of.instructions().filter(|found| found.opcode() != Opcode::Parameter);
        of.parameters_by_number().into_iter().map(|(_, found)| found).chain(others).collect::<Vec<_>>()
    });
    let both = || mine.iter().copied().zip(theirs.iter().copied());
    let partners = map_of(both().map(|(one, other)| (one.number(), other.number())));
    let are_partners = |one: Option<Instruction<'_>>, other: Option<Instruction<'_>>| match (one, other) {
        (Some(one), Some(other)) => partners.get(&one.number()) == Some(&other.number()),
        (one, other) => one.is_none() && other.is_none(),
    };
    let mut is_same_attribute = |a: &Attribute<'m>, b: &Attribute<'m>| {
        let is_call = Key::among(Key::CALLS, a.name()).is_some();
        let (true, Ok(names), Ok(others)) = (is_call || a.name() == CONTROL, a.value().names(), b.value().names())
        else {
            return a.value().text() == b.value().text();
        };
        names.len() == others.len()
            && names.iter().zip(&others).all(|(a, b)| {
                if !is_call {
                    return are_partners(one.instruction(a), other.instruction(b));
                }
                match (one.module().computation(a), other.module().computation(b)) {
                    (Some(a), Some(b)) => {
                        waiting.push((a, b));
                        true
                    }
                    (a, b) => a.is_none() && b.is_none(),
                }
            })
    };
    mine.len() == theirs.len()
        && both().all(|(one, other)| {
            let (mine, theirs) = (attributes(one).collect::<Vec<_>>(), attributes(other).collect::<Vec<_>>());
            is_same_itself(one, other)
                && one.operands().zip(other.operands()).all(|(a, b)| are_partners(a.instruction(), b.instruction()))
                && mine.len() == theirs.len()
                && mine.iter().zip(&theirs).all(|(a, b)| a.name() == b.name() && is_same_attribute(a, b))
        })
}

#[cfg(test)]
mod tests {
    use crate::Module;
    use alloc::format;
    use alloc::string::String;

    const PROGRAM: &str = "HloModule m, is_scheduled=true\n\
        f { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n\
        g { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n\
        ENTRY e {\n p = f32[8]{0} parameter(0), metadata={op_name=\"p\"}\n z = f32[] constant(0)\n \
        r = f32[] reduce(p, z), dimensions={0}, to_apply=f\n n = f32[8]{0} negate(p)\n \
        s = f32[] reduce(n, z), dimensions={0}, to_apply=g, control-predecessors={r}\n ROOT t = (f32[], f32[]) tuple(r, s)\n}";

    fn same(changes: &[(&str, &str)]) -> Option<bool> {
        let text = changes.iter().fold(String::from(PROGRAM), |text, (from, to)| {
            assert!(text.contains(from), "{from}");
            text.replace(from, to)
        });
        let [before, after] = [PROGRAM, &text].map(|text| Module::parse(text).unwrap());
        assert_eq!(before.is_same_program(&after), after.is_same_program(&before), "{text}");
        before.is_same_program(&after)
    }

    #[test]
    fn names_and_origins_make_no_difference() {
        assert_eq!(same(&[]), Some(true));
        // These do not count as differences: names, the order and the number of equal computations, and where an instruction comes from.
        assert_eq!(same(&[("z", "zero.7"), ("to_apply=f", "to_apply=g")]), Some(true));
        assert_eq!(same(&[("op_name=\"p\"", "op_name=\"q\" source_line=8")]), Some(true));
        let parameters =
            ("a = f32[] parameter(0) b = f32[] parameter(1)", "b = f32[] parameter(1) a = f32[] parameter(0)");
        assert_eq!(same(&[parameters]), Some(true), "they have no place in the order");
    }

    #[test]
    fn whatever_a_program_does_makes_a_difference() {
        for (from, to) in [
            (
                "g { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b)",
                "g { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(a, b)",
            ),
            ("constant(0)", "constant(1)"),
            ("reduce(n, z)", "reduce(p, z)"),
            ("tuple(r, s)", "tuple(s, r)"),
            ("n = f32[8]{0}", "n = f32[8]{0:T(128)}"),
            (", control-predecessors={r}", ""),
            ("is_scheduled=true", "is_scheduled=true, num_partitions=2"),
            (
                "r = f32[] reduce(p, z), dimensions={0}, to_apply=f\n n = f32[8]{0} negate(p)",
                "n = f32[8]{0} negate(p)\n r = f32[] reduce(p, z), dimensions={0}, to_apply=f",
            ),
        ] {
            assert_eq!(same(&[(from, to)]), Some(false), "{from} {to}");
        }
    }

    #[test]
    fn what_a_module_leaves_out_is_not_known() {
        let text = |elements: &str, opcode: &str| {
            let text = format!(
                "HloModule m\nENTRY e {{ c = f32[2]{{0}} constant({{{elements}}}) ROOT n = f32[2]{{0}} {opcode}(c) }}"
            );
            Module::parse(&text).unwrap()
        };
        let short = text("...", "negate");
        assert_eq!(short.is_same_program(&short), None);
        assert_eq!(short.is_same_program(&text("...", "abs")), Some(false));
        let (unread, _) = Module::parse_with_errors("HloModule m\nENTRY e { ROOT c = f32[2]{5} parameter(0) }");
        assert_eq!(unread.is_same_program(&unread), None);
    }
}
