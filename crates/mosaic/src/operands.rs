//! The vectors that operations use: in which layout each was computed, and in which the operation needs it.

use crate::values::{Values, plain_name};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use xla_shape_core::{ArrayShape, ElementType};
use xla_shape_hlo::find_spelled_shapes;
use xla_shape_mlir::Operation;

/// A vector that an operation uses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Operand<'a> {
    /// The layout in which it was computed.
    pub(crate) from: &'a str,
    /// The layout in which the operation needs it.
    pub(crate) to: &'a str,
    /// Its element type and sizes; `None` if its type was not understood.
    pub(crate) vector: Option<ArrayShape>,
    /// Whether an earlier operation in the same region needs an equal vector in the same layout. The compiler removes equal instructions.
    pub(crate) repeated: bool,
}

/// Reads the operands of operations, one after the other in the order of the text.
#[derive(Default)]
pub(crate) struct Operands<'a> {
    /// The results by name: the layout, which is `none` for scalars, and the type.
    results: BTreeMap<&'a str, Vec<(&'a str, Option<ArrayShape>)>>,
    values: Values<'a>,
    needed: BTreeSet<Needed<'a>>,
}

/// A vector that is needed in a layout: the region, the number of the operation's value, the number of the result, the layout, and the
/// sizes of the vector, if they are known.
type Needed<'a> = (Option<usize>, usize, usize, &'a str, Option<Vec<Option<u64>>>);

/// A value: the name of an operation's results, and the number of the result.
type Name<'a> = (&'a str, usize);

impl<'a> Operands<'a> {
    /// The vectors among the operands of the next operation; `None` if it is not known which vector needs which layout. The arguments of
    /// a region are left out: the operations that use them state their layouts.
    pub(crate) fn next(&mut self, operation: &Operation<'a>) -> Option<Vec<Operand<'a>>> {
        if operation.name() == "func.func" {
            // Each function has its own names.
            *self = Self::default();
        }
        let names = self.names(operation);
        let layouts = layouts_of(operation, if is_relayout(operation) { "out_layout" } else { "in_layout" });
        let vectors = layouts.iter().filter(|layout| **layout != "none").count();
        let known = names.iter().filter(|name| self.get(**name).is_some_and(|(layout, _)| *layout != "none"));
        // Operands and layouts may be in different orders, as in a store, whose memory comes first. Their vectors are in the same order.
        let pairs: Option<Vec<_>> = if known.clone().count() == vectors {
            Some(known.copied().zip(layouts.iter().copied().filter(|layout| *layout != "none")).collect())
        } else if names.len() == layouts.len() {
            let all = names.iter().copied().zip(layouts.iter().copied());
            Some(all.filter(|(_, layout)| *layout != "none").collect())
        } else {
            None
        };
        let operands = pairs.map(|pairs| pairs.into_iter().filter_map(|pair| self.operand(operation, pair)).collect());
        self.add_results(operation);
        operands
    }

    fn get(&self, (name, number): Name<'a>) -> Option<&(&'a str, Option<ArrayShape>)> {
        self.results.get(name)?.get(number)
    }

    fn operand(&mut self, operation: &Operation<'a>, (name, to): (Name<'a>, &'a str)) -> Option<Operand<'a>> {
        let (from, vector) = self.get(name).filter(|(layout, _)| *layout != "none")?.clone();
        let mut repeated = false;
        if let Some(value) = self.values.of(name.0).filter(|_| from != to) {
            let sizes = vector.as_ref().map(|vector| vector.dimensions().iter().map(|size| size.extent()).collect());
            repeated = !self.needed.insert((operation.parent(), value, name.1, to, sizes));
        }
        Some(Operand { from, to, vector, repeated })
    }

    /// The values that an operation uses. If the operation names arguments of its region, earlier values with these names are forgotten, as in
    /// `scf.for %i = %0 to %n step %1 iter_args(%sum = %zero)`.
    fn names(&mut self, operation: &Operation<'a>) -> Vec<Name<'a>> {
        let mut names = Vec::new();
        for text in operation.texts() {
            let text = text.split(" : ").next().unwrap_or(text);
            for rest in text.split('%').skip(1) {
                let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '-')));
                let (name, after) = rest.split_at_checked(end.unwrap_or(rest.len())).unwrap_or((rest, ""));
                if after.starts_with(" = ") {
                    self.results.remove(name);
                    continue;
                }
                let digits = after.strip_prefix('#').unwrap_or("");
                let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
                names.push((name, digits.get(..end).and_then(|digits| digits.parse().ok()).unwrap_or(0)));
            }
        }
        names
    }

    fn add_results(&mut self, operation: &Operation<'a>) {
        self.values.add(operation);
        let layouts = layouts_of(operation, "out_layout");
        let mut types = result_types(operation);
        let vectors = layouts.iter().filter(|layout| **layout != "none").count();
        // The types of the results are the last ones.
        let mut types = types.split_off(types.len().saturating_sub(vectors)).into_iter();
        let mut layouts = layouts.into_iter();
        for result in operation.results() {
            let count = result.rsplit_once(':').and_then(|(_, count)| count.parse().ok()).unwrap_or(1_usize);
            let known = layouts.by_ref().take(count);
            let known = known.map(|layout| (layout, if layout == "none" { None } else { types.next() })).collect();
            self.results.insert(plain_name(result), known);
        }
    }
}

/// Whether an operation is a relayout that the compiler inserted.
pub(crate) fn is_relayout(operation: &Operation<'_>) -> bool {
    operation.name().ends_with(".relayout")
}

fn layouts_of<'a>(operation: &Operation<'a>, attribute: &str) -> Vec<&'a str> {
    operation.attribute(attribute).map(|text| layout_texts(text).collect()).unwrap_or_default()
}

/// The arrays among the types of an operation's results. If the text also has the operands' types, those come first. An operation with
/// regions has its types before the first region, as in `-> (i32, vector<8x128xf32>)`.
fn result_types(operation: &Operation<'_>) -> Vec<ArrayShape> {
    match operation.texts() {
        [first, .., _] => {
            arrays(first.split_once(" -> (").and_then(|(_, types)| types.split(')').next()).unwrap_or(""))
        }
        _ => last_types(operation),
    }
}

/// The arrays among the types at the end of an operation; the types of its results come last. A comparison only names the type that it
/// compares, so the type of its result is made from it.
pub(crate) fn last_types(operation: &Operation<'_>) -> Vec<ArrayShape> {
    let mut types = arrays(last_text(operation));
    if operation.name().starts_with("arith.cmp")
        && let Some(last) = types.last_mut()
        && let Ok(mask) = ArrayShape::new(ElementType::Pred, last.dimensions(), last.layout().clone())
    {
        *last = mask;
    }
    types
}

/// The text up to the types of an operation's results: usually all of it, and `%x[0] : vector<8xf32>` of
/// `%x[0] : vector<8xf32> from vector<4x8xf32>`.
pub(crate) fn last_text<'a>(operation: &Operation<'a>) -> &'a str {
    let text = operation.texts().last().copied().unwrap_or("");
    text.rsplit_once(" : ").and_then(|(_, types)| types.split_once(" from ")).map_or(text, |(result, _)| result)
}

fn arrays(text: &str) -> Vec<ArrayShape> {
    find_spelled_shapes(text).filter_map(|found| found.shape.array().cloned()).collect()
}

/// The texts in `#xir_tc.vpad<"…">`, in order.
pub(crate) fn layout_texts(text: &str) -> impl Iterator<Item = &str> {
    text.split("vpad<\"").skip(1).filter_map(|rest| rest.split('"').next())
}

#[cfg(test)]
mod tests {
    use super::{Operands, is_relayout};
    use alloc::format;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;
    use xla_shape_mlir::Module;

    /// The operands of all operations: from, to, sizes, and `=` if equal to an earlier one.
    fn read(text: &str) -> Vec<String> {
        let module = Module::parse(text).unwrap();
        let mut operands = Operands::default();
        let operations = module.operations().iter().filter(|operation| !is_relayout(operation));
        let found = operations.map(|operation| {
            operands.next(operation).map(|found| {
                let found = found.into_iter().map(|operand| {
                    let vector = operand.vector.map(|vector| vector.to_string()).unwrap_or_default();
                    let same = if operand.repeated { " =" } else { "" };
                    format!("{} {} {}{same}", vector.split('{').next().unwrap_or(""), operand.from, operand.to)
                });
                found.collect::<Vec<_>>()
            })
        });
        found.flat_map(|found| found.unwrap_or_else(|| ["?".to_string()].to_vec())).collect()
    }

    fn layouts(name: &str, texts: &[&str]) -> String {
        let texts = texts.iter().map(|text| format!("#xir_tc.vpad<\"{text}\">")).collect::<Vec<_>>();
        format!("{name} = [{}]", texts.join(", "))
    }

    const A: &str = "32,{0,0},(8,128)";
    const B: &str = "32,{3,0},(8,128)";
    const SPLAT: &str = "32,{*,*},(8,128)";

    #[test]
    fn vectors_are_found_in_their_order() {
        let one = layouts("out_layout", &[A]);
        let load = format!("%x = xir.vector_load %m[%i] {{{one}}} : memref<8x128xf32>, vector<8x128xf32>\n");
        let splat =
            format!("%c = arith.constant {{{}}} dense<0.0> : vector<8x128xf32>\n", layouts("out_layout", &[SPLAT]));
        let index = format!("%i = arith.constant {{{}}} 0 : index\n", layouts("out_layout", &["none"]));
        // A store names the memory first, but its layouts begin with the vector's.
        let needs = layouts("in_layout", &[B, "none", "none"]);
        let store = format!("xir.vector_store %m[%i], %x {{{needs}}} : memref<8x128xf32>, vector<8x128xf32>\n");
        let both = layouts("in_layout", &[B, A]);
        let add = format!("%s = arith.addf %x, %c {{{both}, {one}}} : vector<8x128xf32>\n");
        let text = [index, load, splat, store.clone(), add, store].concat();
        let stored = format!("f32[8,128] {A} {B}");
        assert_eq!(
            read(&text),
            [stored.clone(), format!("{stored} ="), format!("f32[8,128] {SPLAT} {A}"), format!("{stored} ="),]
        );
    }

    #[test]
    fn arguments_of_a_region_are_not_known() {
        let constant = |name: &str| {
            format!("%{name} = arith.constant {{{}}} dense<0.0> : vector<8x128xf32>\n", layouts("out_layout", &[SPLAT]))
        };
        let scalar = format!("%n = arith.constant {{{}}} 4 : i32\n", layouts("out_layout", &["none"]));
        let stated = format!("{}, {}", layouts("in_layout", &[A]), layouts("out_layout", &[A]));
        let text = [
            constant("sum"),
            constant("zero"),
            scalar,
            "%r:2 = scf.for %j = %n to %n step %n iter_args(%sum = %zero, %k = %n) -> (vector<8x128xf32>, i32)  : i32 {\n".to_string(),
            format!("%y = xir.assume_layout %sum {{{stated}}} : vector<8x128xf32> -> vector<8x128xf32>\n"),
            format!("scf.yield {{{}}} %y, %n : vector<8x128xf32>, i32\n", layouts("in_layout", &[B, "none"])),
            format!(
                "}} {{{}, {}}}\n",
                layouts("in_layout", &["none", "none", "none", A, "none"]),
                layouts("out_layout", &[A, "none"])
            ),
            format!("%z = arith.negf %r#0 {{{}}} : vector<8x128xf32>\n", layouts("in_layout", &[B])),
        ]
        .concat();
        assert_eq!(
            read(&text),
            [format!("f32[8,128] {SPLAT} {A}"), format!("f32[8,128] {A} {B}"), format!("f32[8,128] {A} {B}"),]
        );
    }

    #[test]
    fn types_are_those_of_results() {
        let one = layouts("out_layout", &[A]);
        let text = format!(
            "%x = arith.constant {{{one}}} dense<0.0> : vector<4x8x128xf32>\n\
             %y = vector.extract %x[0] {{{}, {one}}} : vector<8x128xf32> from vector<4x8x128xf32>\n\
             %m = arith.cmpf olt, %y, %y {{{}, {one}}} : vector<8x128xf32>\n\
             %b = vector.broadcast %y {{{}, {one}}} : vector<8x128xf32> to vector<2x8x128xf32>\n\
             %z = k.use %m, %b {{{}}} : i32\n",
            layouts("in_layout", &[A]),
            layouts("in_layout", &[A, A]),
            layouts("in_layout", &[A]),
            layouts("in_layout", &[B, B]),
        );
        let types = read(&text).into_iter().map(|text| text.split(' ').next().unwrap().to_string()).collect::<Vec<_>>();
        assert_eq!(types, ["f32[4,8,128]", "f32[8,128]", "f32[8,128]", "f32[8,128]", "pred[8,128]", "f32[2,8,128]"]);
    }

    #[test]
    fn unclear_operands_are_not_guessed() {
        let text = format!("%a = arith.addf %x, %y, %z {{{}}} : vector<8x128xf32>\n", layouts("in_layout", &[A, B]));
        assert_eq!(read(&text), ["?"]);
    }
}
