//! Whether two modules are the same program, instruction for instruction.

use crate::configuration::is_same_config;
use crate::schema::Key;
use crate::schema::opcode::Opcode;
use crate::{Attribute, Computation, Instruction, Module, Pairs};
use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use xla_shape_core::sorting::map_of;
use xla_shape_core::text::MAX_NESTING;

/// Attributes that say where an instruction comes from, and nothing about what it does.
const ORIGINS: [&str; 2] = ["metadata", "origin"];

/// The attribute whose value names instructions of the same computation.
const CONTROL: &str = "control-predecessors";

impl Module {
    /// Whether another module is the same program: the same instructions in the same order, with the same shapes, layouts, operands, attributes and
    /// constants, in the entry computation and all that it calls. Names and the places in the user's program may differ, and so may the notation:
    /// `x#1` or a get-tuple-element, and the order of keys in a configuration. `None` if this cannot be known: an instruction of one of them could
    /// not be read, or no difference is found but a text leaves out elements of a constant, or a part of a configuration that the other text has.
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
        let mut lacks_parts = false;
        let is_same = has_same_attributes(self, other) && has_same_computations(self, other, &mut lacks_parts);
        let is_whole = |found: Instruction<'_>| found.literal().is_none_or(|literal| !literal.contains("..."));
        let is_known = !is_same || !lacks_parts && modules.iter().all(|module| module.instructions().all(is_whole));
        is_known.then_some(is_same)
    }
}

impl<'m> Pairs<'m> {
    /// The instructions that differ: pairs that do not have the same opcode, shape, attributes, constant or operands, and those without a
    /// counterpart. If computations that a pair calls differ, only the instructions inside them are listed, not the pair itself. Of values that are
    /// taken from a tuple, what uses them is listed, because some texts have no instruction for them (`x#1`).
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
        let changed = before.instructions().filter(|one| !is_element(*one)).filter_map(|one| match self.after(one) {
            Some(other) if self.is_alike(one, other) => None,
            other => Some([Some(one), other]),
        });
        let added = after.instructions().filter(|other| !is_element(*other) && self.before(*other).is_none());
        let added = added.map(|other| [None, Some(other)]);
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
            && is_same_config(&config(one), &config(other)) != Some(false)
            && operands().all(|(one, other)| {
                is_same_value(one.instruction(), other.instruction(), |one, other| self.after(one) == Some(other))
            })
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

/// The attributes that are compared as texts: all but the origin and the configuration.
fn attributes<'m>(of: Instruction<'m>) -> impl Iterator<Item = Attribute<'m>> {
    let is_apart = |name: &str| name == Key::BackendConfig.name() || ORIGINS.contains(&name);
    of.attributes().filter(move |attribute| !is_apart(attribute.name()))
}

/// The configuration of an instruction; without one, an empty one.
fn config(of: Instruction<'_>) -> Cow<'_, str> {
    let Some(value) = of.value_of(Key::BackendConfig) else { return Cow::Borrowed("{}") };
    value.unquoted().unwrap_or(Cow::Borrowed(value.text()))
}

/// The tuple from which an instruction takes an element, as `x#1` does, if it does nothing else.
fn tuple_of(found: Instruction<'_>) -> Option<Instruction<'_>> {
    if found.opcode() != Opcode::GetTupleElement || found.is_root() {
        return None;
    }
    let is_bare =
        attributes(found).all(|of| of.name() == Key::Index.name()) && found.value_of(Key::BackendConfig).is_none();
    // An operand that comes later is an error.
    found.operand(0)?.instruction().filter(|tuple| is_bare && tuple.number() < found.number())
}

/// Whether an instruction only takes an element of a tuple. Texts with `x#1` do not have it, so its place in the order says nothing.
fn is_element(found: Instruction<'_>) -> bool {
    tuple_of(found).is_some()
}

/// Whether two operands are the same values: the same elements of corresponding instructions. Two that are missing are the same.
fn is_same_value<'m>(
    one: Option<Instruction<'m>>,
    other: Option<Instruction<'m>>,
    corresponds: impl Fn(Instruction<'m>, Instruction<'m>) -> bool,
) -> bool {
    let (Some(mut one), Some(mut other)) = (one, other) else { return one.is_none() && other.is_none() };
    let index = |of: Instruction<'m>| of.value_of(Key::Index).map(|value| value.text());
    if one.shape() != other.shape() && is_element(one) {
        return false;
    }
    // Tuples are not nested more deeply.
    for _ in 0..MAX_NESTING {
        match (tuple_of(one), tuple_of(other)) {
            (Some(tuple), Some(other_tuple)) if index(one) == index(other) => (one, other) = (tuple, other_tuple),
            (None, None) => return corresponds(one, other),
            _ => return false,
        }
    }
    false
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
/// are compared. Sets `lacks_parts` if a configuration lacks what the other one has.
fn has_same_computations<'m>(one: &'m Module, other: &'m Module, lacks_parts: &mut bool) -> bool {
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
        if seen.insert((one.number(), other.number())) && !is_same_computation(one, other, &mut waiting, lacks_parts) {
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
    lacks_parts: &mut bool,
) -> bool {
    // The places of parameters in the text do not matter, so they are compared by number. Elements of tuples are compared where they are used.
    let [mine, theirs] = [one, other].map(|of| {
        let others = of.instructions().filter(|found| found.opcode() != Opcode::Parameter && !is_element(*found));
        of.parameters_by_number().into_iter().map(|(_, found)| found).chain(others).collect::<Vec<_>>()
    });
    let both = || mine.iter().copied().zip(theirs.iter().copied());
    let partners = map_of(both().map(|(one, other)| (one.number(), other.number())));
    let are_partners = |one: Option<Instruction<'m>>, other: Option<Instruction<'m>>| {
        is_same_value(one, other, |one, other| partners.get(&one.number()) == Some(&other.number()))
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
    let mut is_config_same = |one: Instruction<'m>, other: Instruction<'m>| {
        let is_same = is_same_config(&config(one), &config(other));
        *lacks_parts |= is_same.is_none();
        is_same != Some(false)
    };
    mine.len() == theirs.len()
        && both().all(|(one, other)| {
            let (mine, theirs) = (attributes(one).collect::<Vec<_>>(), attributes(other).collect::<Vec<_>>());
            is_same_itself(one, other)
                && is_config_same(one, other)
                && one.operands().zip(other.operands()).all(|(a, b)| are_partners(a.instruction(), b.instruction()))
                && mine.len() == theirs.len()
                && mine.iter().zip(&theirs).all(|(a, b)| a.name() == b.name() && is_same_attribute(a, b))
        })
}

#[cfg(test)]
mod tests {
    use crate::{Module, Pairs};
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

    /// PJRT returns one text of a compiled program, and XLA dumps another one.
    #[test]
    fn two_notations_of_one_program_make_no_difference() {
        let head =
            "HloModule m, is_scheduled=true\nENTRY e {\n p = (f32[8]{0}, f32[8]{0}, (f32[8]{0})) parameter(0)\n ";
        let long = " x = f32[8]{0} get-tuple-element(p), index=0\n\
            y = f32[8]{0} get-tuple-element(p), index=1\n\
            t = (f32[8]{0}) get-tuple-element(p), index=2\n z = f32[8]{0} get-tuple-element(t), index=0\n\
            a = f32[8]{0} add(x, y), metadata={op_name=\"a\" stack_frame_id=5}, backend_config={\"flags\":[],\"lists\":{\"a\":1,\"b\":2}}\n\
            ROOT b = f32[8]{0} multiply(a, z), control-predecessors={x}\n}";
        let short = " a = f32[8]{0} add(p#0, p#1), metadata={op_name=\"a\" stack_frame_id=7}, \
            backend_config={\"lists\":{\"b\":2,\"a\":1},\"flags\":[]}\n\
            ROOT b = f32[8]{0} multiply(a, p#2#0)\n}";
        let both = |changes: [(&str, &str); 2]| {
            let [long, short] =
                [long, short].map(|text| alloc::format!("{head}{text}").replace(", control-predecessors={x}", ""));
            let (long, short) = (long.replace(changes[0].0, changes[0].1), short.replace(changes[1].0, changes[1].1));
            let [long, short] = [long, short].map(|text| Module::parse(&text).unwrap());
            assert_eq!(long.is_same_program(&short), short.is_same_program(&long));
            let differing = Pairs::new(&long, &short).differing();
            assert_eq!(differing.len(), Pairs::new(&short, &long).differing().len());
            let names = differing.iter().flatten().flatten().map(|found| String::from(found.name()));
            (long.is_same_program(&short), names.collect::<alloc::vec::Vec<_>>())
        };
        let (none, no) = (alloc::vec::Vec::<String>::new(), ("", ""));
        assert_eq!(both([no, no]), (Some(true), none.clone()));
        let add = alloc::vec![String::from("a"); 2];
        assert_eq!(both([no, ("p#0, p#1", "p#1, p#0")]), (Some(false), add.clone()), "the other way round");
        assert_eq!(both([no, ("\"a\":1", "\"a\":2")]), (Some(false), add.clone()), "another configuration");
        assert_eq!(
            both([("\"flags\"", "\"window_config\":{\"n\":\"1\"},\"flags\""), no]),
            (None, none),
            "a part is missing"
        );
        // An element may be named as one that runs before.
        let ordered = Module::parse(&alloc::format!("{head}{long}")).unwrap();
        assert_eq!(ordered.is_same_program(&ordered), Some(true));
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
