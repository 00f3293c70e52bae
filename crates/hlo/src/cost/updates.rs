//! Copies of a parameter that the program updates. They would be unnecessary if the caller donated the parameter.

use super::copies::Search;
use crate::attribute::Alias;
use crate::schema::Key;
use crate::{Instruction, Module, Opcode};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use xla_shape_core::ArrayShape;
use xla_shape_core::compare::ShapeEqual;
use xla_shape_core::sorting::set_of;

/// The limit on the instructions through which an array is followed, from a parameter or to a result.
const LONGEST: usize = 64;

/// The limit on instructions in the search for one that needs the old value. With more, the old value counts as needed.
const MOST: usize = 10_000;

/// An array in a value: the value, and the position of the array in it.
type Place<'m> = (Instruction<'m>, Vec<usize>);

/// The path of an array from instruction to instruction; each of them can leave the array in the same memory.
#[derive(Clone)]
struct Way<'m> {
    at: Place<'m>,
    /// The instructions that overwrite parts of the array, or all of it in a loop.
    updates: Vec<Instruction<'m>>,
    has_loop: bool,
}

impl<'m> Search<'m> {
    /// The parameter whose donation would make this copy unnecessary. The copy is on a path from the parameter's array to a result of the same
    /// shape. All other instructions on the path pass the array on or update it in place, and nothing reads the old value after an update.
    /// `None` if that is not certain.
    ///
    /// If the copy moves the array to another memory (`moves`) for a loop that works there, the copy may be worth its time, so the answer is
    /// `None`, too.
    pub(super) fn donatable(&self, copy: Instruction<'m>, moves: bool) -> Option<(Instruction<'m>, usize)> {
        let module = copy.module();
        if !copy.computation().is_entry() {
            return None;
        }
        let (parameter, index, before) = self.origin(copy.operand(0)?.instruction()?)?;
        let number = parameter.parameter_number()?;
        let aliases = aliases(module)?;
        let is_given = |alias: &Alias| alias.parameter == number && alias.parameter_index == index;
        let is_donor = |donors: Vec<(usize, Vec<usize>)>| donors.iter().any(|(of, at)| *of == number && *at == index);
        let donors = module.attribute("buffer_donor").and_then(|value| value.donors().ok());
        if aliases.iter().any(is_given) || donors.is_some_and(is_donor) {
            return None;
        }
        let array = array_at(parameter, &index)?;
        let is_result = |way: &Way<'m>| {
            way.at.0.is_root()
                && aliases.iter().all(|alias| alias.result_index != way.at.1)
                && array_at(way.at.0, &way.at.1).is_some_and(|result| is_same(array, result))
        };
        let after = self.ways((copy, Vec::new()));
        let after = after.into_iter().find(is_result)?;
        let updates = before.updates.iter().chain(&after.updates).copied().collect::<Vec<_>>();
        let has_loop = before.has_loop || after.has_loop;
        // The results that could take the parameter's memory. Only one result can have this memory, so if several could, the answer is not certain.
        let results = self.ways((parameter, index.clone())).into_iter().filter(|way| is_result(way));
        let results = set_of(results.map(|way| way.at.1));
        if updates.is_empty() || results.len() != 1 || (moves && has_loop) {
            return None;
        }
        (!self.is_needed_after((parameter, index), &updates)).then_some((parameter, number))
    }

    /// The parameter of the program that an array comes from, and the path from there.
    fn origin(&self, mut value: Instruction<'m>) -> Option<(Instruction<'m>, Vec<usize>, Way<'m>)> {
        let mut way = Way { at: (value, Vec::new()), updates: Vec::new(), has_loop: false };
        for _ in 0..LONGEST {
            let index = &mut way.at.1;
            let operand = match value.opcode() {
                Opcode::Parameter => {
                    index.reverse();
                    let index = core::mem::take(index);
                    return Some((value, index, way));
                }
                Opcode::GetTupleElement => {
                    index.push(value.value_of(Key::Index)?.number().ok()?);
                    0
                }
                Opcode::Tuple => index.pop()?,
                Opcode::While => {
                    way.updates.push(value);
                    way.has_loop = true;
                    0
                }
                _ => {
                    let operand = updated(value)?;
                    if !only_moves(value) {
                        way.updates.push(value);
                    }
                    operand
                }
            };
            value = value.operand(operand)?.instruction()?;
        }
        None
    }

    /// The paths from an array to other instructions, as far as it can stay in its memory.
    fn ways(&self, from: Place<'m>) -> Vec<Way<'m>> {
        let mut all = alloc::vec![Way { at: from, updates: Vec::new(), has_loop: false }];
        let mut next = 0;
        while let Some(way) = all.get(next).cloned() {
            next += 1;
            if all.len() > LONGEST {
                break;
            }
            let (value, index) = &way.at;
            let step = |at: Place<'m>| Way { at, ..way.clone() };
            if let Some((first, rest)) = index.split_first() {
                let elements = self.elements_of(*value, *first);
                all.extend(elements.iter().map(|element| step((*element, rest.to_vec()))));
            }
            for &reader in self.readers_of(*value) {
                if reader.opcode() == Opcode::Tuple {
                    for (position, _) in
                        reader.operands().enumerate().filter(|(_, of)| of.instruction() == Some(*value))
                    {
                        let index = core::iter::once(position).chain(index.iter().copied()).collect();
                        all.push(step((reader, index)));
                    }
                } else if reader.opcode() == Opcode::While {
                    let mut way = step((reader, index.clone()));
                    way.updates.push(reader);
                    way.has_loop = true;
                    all.push(way);
                } else if index.is_empty()
                    && updated(reader).and_then(|operand| reader.operand(operand)?.instruction()) == Some(*value)
                {
                    let mut way = step((reader, Vec::new()));
                    if !only_moves(reader) {
                        way.updates.push(reader);
                    }
                    all.push(way);
                }
            }
        }
        all
    }

    /// Whether something reads the old value, in the parameter or in a copy of it, during one of these updates or after
    /// it.
    fn is_needed_after(&self, parameter: Place<'m>, updates: &[Instruction<'m>]) -> bool {
        let old = self.ways(parameter).into_iter().filter(|way| way.updates.is_empty());
        let old = set_of(old.map(|way| way.at.0.number()));
        // An update writes one of its operands. The operands of a loop are the elements of its tuple.
        let reads = |update: &Instruction<'m>| {
            let values = match update.opcode() {
                Opcode::While => update.operand(0).and_then(|tuple| tuple.instruction()),
                _ => Some(*update),
            };
            let values = values.map(|values| values.operands().filter_map(|operand| operand.instruction()));
            values.into_iter().flatten().filter(|value| old.contains(&value.number())).count()
        };
        if updates.iter().any(|update| reads(update) > 1) {
            return true;
        }
        let mut seen = BTreeSet::new();
        let mut open = updates.to_vec();
        while let Some(value) = open.pop() {
            if seen.len() > MOST {
                return true;
            }
            for &reader in self.readers_of(value).iter().chain(self.all_elements_of(value)) {
                let is_old = |operand: Option<Instruction<'m>>| operand.is_some_and(|of| old.contains(&of.number()));
                // A tuple does not read the arrays that it contains.
                let reads_old = reader.operands().any(|operand| is_old(operand.instruction()));
                if reads_old && (reader.opcode() != Opcode::Tuple || reader.is_root()) {
                    return true;
                }
                if seen.insert(reader.number()) {
                    open.push(reader);
                }
            }
        }
        false
    }
}

fn aliases(module: &Module) -> Option<Vec<Alias>> {
    module.attribute("input_output_alias").map_or(Some(Vec::new()), |value| value.aliases().ok())
}

/// The operand that an instruction changes in place, or passes on unchanged; `None` if the instruction makes a new array.
fn updated(instruction: Instruction<'_>) -> Option<usize> {
    match instruction.opcode() {
        Opcode::DynamicUpdateSlice | Opcode::CopyDone | Opcode::OptBarrier => Some(0),
        // A scatter of several arrays has a tuple.
        Opcode::Scatter if instruction.shape().array().is_some() => Some(0),
        Opcode::Copy | Opcode::CopyStart => keeps_layout(instruction).then_some(0),
        Opcode::Fusion => {
            let mut root = instruction.callee(Key::Calls)?.root();
            if !matches!(root.opcode(), Opcode::DynamicUpdateSlice | Opcode::Scatter) {
                return None;
            }
            for _ in 0..LONGEST {
                root = root.operand(0)?.instruction()?;
                match root.opcode() {
                    Opcode::Parameter => return root.parameter_number(),
                    Opcode::Bitcast | Opcode::DynamicUpdateSlice | Opcode::Scatter => {}
                    _ => return None,
                }
            }
            None
        }
        _ => None,
    }
}

/// Whether an instruction writes no part of the array.
fn only_moves(instruction: Instruction<'_>) -> bool {
    matches!(instruction.opcode(), Opcode::Copy | Opcode::CopyStart | Opcode::CopyDone | Opcode::OptBarrier)
}

fn keeps_layout(copy: Instruction<'_>) -> bool {
    let from = copy.operand(0).and_then(|operand| operand.shape()?.array());
    from.zip(copy.shape().arrays().next()).is_some_and(|(from, to)| is_same(from, to))
}

fn is_same(one: &ArrayShape, other: &ArrayShape) -> bool {
    ShapeEqual::new().ignore_memory_space_in_layout().compare_arrays(one, other)
}

fn array_at<'m>(value: Instruction<'m>, index: &[usize]) -> Option<&'m ArrayShape> {
    let mut shape = value.shape();
    for &element in index {
        shape = shape.tuple_shapes()?.get(element)?;
    }
    shape.array()
}

#[cfg(test)]
mod tests {
    use crate::Module;
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;

    const UPDATE: &str = "  c = f32[64,8]{1,0} copy(p)\n  u = f32[64,8]{1,0} dynamic-update-slice(c, x, i, i)\n";

    /// The copies that donating parameter 0 makes unnecessary.
    fn donatable(aliases: &str, body: &str) -> Vec<String> {
        let text = format!(
            "HloModule m, is_scheduled=true{aliases}\nENTRY e {{\n  p = f32[64,8]{{1,0}} parameter(0)\n  x = f32[1,8]{{1,0}} parameter(1)\n  \
             i = s32[] parameter(2)\n{body}}}\n"
        );
        let module = Module::parse(&text).unwrap_or_else(|error| panic!("{}", error.render(&text)));
        let copies = module.costs().unwrap().copies();
        let named = copies.iter().filter_map(|copy| {
            let (parameter, number) = copy.donatable?;
            assert_eq!((parameter.name(), number), ("p", 0));
            Some(copy.cost.instruction.name().into())
        });
        named.collect()
    }

    #[test]
    fn an_update_that_is_a_result_needs_no_copy_if_the_parameter_is_donated() {
        let updated = format!("{UPDATE}  ROOT r = (s32[], f32[64,8]{{1,0}}) tuple(i, u)\n");
        assert_eq!(donatable("", &updated), ["c"]);
        let donated = ", input_output_alias={ {1}: (0, {}, may-alias) }";
        assert_eq!(donatable(donated, &updated), [""; 0], "it is donated, and the copy has another reason");
        assert_eq!(donatable(", buffer_donor={ (0, {}) }", &updated), [""; 0]);
        // The array goes to another memory and back. A donation makes both copies unnecessary.
        let moved = "  s = (f32[64,8]{1,0:S(1)}, f32[64,8]{1,0}, u32[]) copy-start(p)\n  d = f32[64,8]{1,0:S(1)} copy-done(s)\n  \
                     u = f32[64,8]{1,0:S(1)} dynamic-update-slice(d, x, i, i)\n  n = f32[64,8]{1,0:S(1)} negate(u)\n  \
                     b = f32[64,8]{1,0} copy(u)\n  ROOT r = (f32[64,8]{1,0}, f32[64,8]{1,0:S(1)}) tuple(b, n)\n";
        assert_eq!(donatable("", moved), ["s", "b"]);
    }

    #[test]
    fn what_needs_the_value_before_keeps_the_copy() {
        let result = "  ROOT r = (f32[64,8]{1,0}, f32[64,8]{1,0}) tuple(u, o)\n";
        let before = format!("  o = f32[64,8]{{1,0}} negate(p)\n{UPDATE}{result}");
        assert_eq!(donatable("", &before), ["c"], "it is read before the update");
        let after = format!("{UPDATE}  o = f32[64,8]{{1,0}} subtract(u, p)\n{result}");
        assert_eq!(donatable("", &after), [""; 0], "the difference needs both");
        let later = format!("{UPDATE}  n = f32[64,8]{{1,0}} negate(u)\n  o = f32[64,8]{{1,0}} add(n, p)\n{result}");
        assert_eq!(donatable("", &later), [""; 0]);
        let returned = format!("{UPDATE}  ROOT r = (f32[64,8]{{1,0}}, f32[64,8]{{1,0}}) tuple(u, p)\n");
        assert_eq!(donatable("", &returned), [""; 0], "the value before is a result");
        let twice = format!(
            "{UPDATE}  d = f32[64,8]{{1,0}} copy(p)\n  o = f32[64,8]{{1,0}} dynamic-update-slice(d, x, i, i)\n{result}"
        );
        assert_eq!(donatable("", &twice), [""; 0], "one memory is not enough for two results");
    }

    #[test]
    fn an_update_that_reads_the_array_elsewhere_keeps_the_copy() {
        let fused = |operand: &str| {
            let body = format!(
                "  c = f32[64,8]{{1,0}} copy(p)\n  z = f32[64,8]{{1,0}} broadcast(x), dimensions={{0,1}}\n  \
                 ROOT u = f32[64,8]{{1,0}} fusion(c, x, i, {operand}), kind=kLoop, calls=f\n"
            );
            let inside = "f {\n  a = f32[64,8]{1,0} parameter(0)\n  b = f32[1,8]{1,0} parameter(1)\n  j = s32[] parameter(2)\n  \
                          o = f32[64,8]{1,0} parameter(3)\n  ROOT d = f32[64,8]{1,0} dynamic-update-slice(a, b, j, j)\n}";
            donatable(&format!("\n{inside}"), &body)
        };
        assert_eq!((fused("z"), fused("p")), (["c".into()].into(), Vec::new()));
        let loops = |other: &str| {
            let state = "(f32[64,8]{1,0}, f32[64,8]{1,0})";
            let inside = format!(
                "body {{ ROOT s = {state} parameter(0) }}\ncondition {{ s = {state} parameter(0) ROOT t = pred[] constant(true) }}"
            );
            let body = format!(
                "  c = f32[64,8]{{1,0}} copy(p)\n  z = f32[64,8]{{1,0}} broadcast(x), dimensions={{0,1}}\n  t = {state} tuple(c, {other})\n  \
                 w = {state} while(t), condition=condition, body=body\n  ROOT e = f32[64,8]{{1,0}} get-tuple-element(w), index=0\n"
            );
            donatable(&format!("\n{inside}"), &body)
        };
        assert_eq!((loops("z"), loops("p")), (["c".into()].into(), Vec::new()));
    }

    #[test]
    fn an_array_that_is_made_anew_is_not_updated_in_place() {
        assert_eq!(donatable("", &format!("{UPDATE}  ROOT r = f32[64,8]{{1,0}} negate(u)\n")), [""; 0]);
        assert_eq!(donatable("", "  ROOT c = f32[64,8]{1,0} copy(p)\n"), [""; 0], "nothing is updated");
        let other = format!("{UPDATE}  ROOT r = f32[64,8]{{0,1}} copy(u)\n");
        assert_eq!(donatable("", &other), [""; 0], "the result has another layout");
    }
}
