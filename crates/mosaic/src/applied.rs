//! Which instructions each relayout became: the stage `apply-vector-layout`, in which values are registers.

use crate::operands::{last_text, layout_texts};
use crate::values::{Instructions, Values, plain_name};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use xla_shape_mlir::{Module, Operation};

/// The instructions of each operation whose results are vectors, by its index in `before`. `None` if the two texts do not have the same values.
///
/// In `after`, a `roll_vectors` marks each value: it has the value's layout and sizes and takes the registers of the value, and no operation uses
/// its result. The marks are in the order of `before`; the marks of an operation with regions follow the regions. The instructions of a value lie
/// between its registers and the registers of earlier values. The compiler's next stage removes equal instructions, so they count once.
pub(crate) fn instructions<'a>(before: &Module<'a>, after: &Module<'a>) -> Option<BTreeMap<usize, Instructions<'a>>> {
    let values =
        in_order_of_ends(before).into_iter().filter_map(|number| Some((number, before.operations().get(number)?)));
    let values = values.flat_map(|(number, operation)| {
        let alone = vector_layouts(operation).count() == 1;
        vector_layouts(operation).map(move |layout| (number, Value::new(operation, layout, alone))).collect::<Vec<_>>()
    });
    // Both texts have the values in the same order, so a mark that fits the next value is the mark of that value. Marks of values inside of
    // other operations, such as products of matrices, fit no value, and count as instructions.
    let mut values = values.peekable();
    let used = used(after);
    let mut found: BTreeMap<usize, Instructions<'a>> = BTreeMap::new();
    let mut registers = Values::default();
    for (number, operation) in after.operations().iter().enumerate() {
        if operation.name() == "func.func" {
            // Each function has its own names.
            registers = Values::default();
        }
        let is_value = operation.name().ends_with(".roll_vectors") && !used.contains(&number);
        let rolled = vector_layouts(operation).next().filter(|_| is_value);
        let rolled = rolled.map(|layout| Value::new(operation, layout, true));
        match rolled.and_then(|rolled| values.next_if(|(_, value)| value.is(&rolled))) {
            Some((value, _)) => registers.count(operation, found.entry(value).or_default()),
            None => registers.add(operation),
        }
    }
    values.next().is_none().then_some(found)
}

/// The operations, each after the operations in its regions.
fn in_order_of_ends(module: &Module<'_>) -> Vec<usize> {
    // An operation ends when one begins that does not lie in its regions.
    let (mut ended, mut open) = (Vec::new(), Vec::new());
    for (number, operation) in module.operations().iter().enumerate() {
        while let Some(last) = open.pop_if(|last| Some(*last) != operation.parent()) {
            ended.push(last);
        }
        open.push(number);
    }
    ended.extend(open.into_iter().rev());
    ended
}

/// The operations whose results others use. Regions side by side may have the same names, so the last definition of a name counts.
fn used(module: &Module<'_>) -> BTreeSet<usize> {
    let (mut writers, mut used) = (BTreeMap::new(), BTreeSet::new());
    for (number, operation) in module.operations().iter().enumerate() {
        used.extend(operation.operands().filter_map(|name| writers.get(name).copied()));
        for result in operation.results() {
            writers.insert(plain_name(result), number);
        }
    }
    used
}

/// The properties by which a mark is matched to a value: the layout, and the sizes if the type of this result is known.
struct Value<'a> {
    layout: &'a str,
    sizes: Option<&'a str>,
}

impl<'a> Value<'a> {
    fn new(operation: &Operation<'a>, layout: &'a str, alone: bool) -> Self {
        let types = alone.then(|| last_text(operation)).and_then(|text| text.rsplit_once("vector<"));
        let vector = types.and_then(|(_, vector)| vector.split('>').next());
        Self { layout, sizes: vector.map(|vector| vector.rsplit_once('x').map_or("", |(sizes, _)| sizes)) }
    }

    fn is(&self, rolled: &Self) -> bool {
        self.layout == rolled.layout && self.sizes.zip(rolled.sizes).is_none_or(|(one, other)| one == other)
    }
}

/// The layouts of the results that are vectors, as text.
fn vector_layouts<'a>(operation: &Operation<'a>) -> impl Iterator<Item = &'a str> + use<'a> {
    let text = operation.attribute("out_layout").unwrap_or("");
    layout_texts(text).filter(|text| *text != "none")
}

#[cfg(test)]
mod tests {
    use super::instructions;
    use alloc::borrow::ToOwned;
    use alloc::string::String;
    use alloc::vec::Vec;
    use xla_shape_mlir::Module;

    const BEFORE: &str = "\
%a = xir.vector_load %x {out_layout = [#xir_tc.vpad<\"32,{3,0},(8,128)\">]} : vector<8x128xf32>
%b = xir_tc.relayout %a {out_layout = [#xir_tc.vpad<\"32,{0,0},(8,128)\">]} : vector<8x128xf32>
%c = xir_tc.relayout %b {out_layout = [#xir_tc.vpad<\"32,{0,*},(8,128)\">]} : vector<8x128xf32>
";
    const AFTER: &str = "\
%1 = xir.load %x : vector<8x128xf32>
%2 = xir.load %x : vector<8x128xf32>
%3 = xir.roll_vectors %1, %2 {out_layout = [#xir_tc.vpad<\"32,{3,0},(8,128)\">]} : vector<8x128xf32>
%4 = arith.constant 5 : i32
%40 = arith.constant 5 : i32
%0 = arith.constant 0 : i32
%11 = xir.bitcast_vreg %1 : vector<8x128xf32> -> vector<8x128xi32>
%5 = xir.dynamic_rotate %11 by %4 dim 0 : vector<8x128xi32>
%6 = xir.dynamic_rotate %2 by %4 dim 0 : vector<8x128xf32>
%50 = xir.dynamic_rotate %1 by %40 dim 0 : vector<8x128xf32>
%51 = xir.dynamic_rotate %50 by %0 dim 0 : vector<8x128xf32>
%70 = arith.select %m, %5, %6 : vector<8x128xf32>
%7 = arith.addf %70, %51 : vector<8x128xf32>
%8 = xir.roll_vectors %7 {out_layout = [#xir_tc.vpad<\"32,{0,0},(8,128)\">]} : vector<8x128xf32>
%9 = xir.roll_vectors %7 {out_layout = [#xir_tc.vpad<\"32,{0,*},(8,128)\">]} : vector<8x128xf32>
";

    #[test]
    fn instructions_between_registers() {
        let [before, after] = [BEFORE, AFTER].map(|text| Module::parse(text).unwrap());
        let found = instructions(&before, &after).unwrap();
        let of =
            |number: usize| found.get(&number).unwrap().iter().map(|(name, times)| (*name, *times)).collect::<Vec<_>>();
        assert_eq!(of(0), [("load", 2)]);
        assert_eq!(of(1), [("addf", 1), ("dynamic_rotate", 2), ("select", 1)]);
        assert_eq!(of(2), [("", 0); 0], "it only names a register again");
    }

    #[test]
    fn other_values_are_not_compared() {
        let before = Module::parse(BEFORE).unwrap();
        let with_more = AFTER.replace(
            "%4 =",
            "%m = xir.roll_vectors %1 {out_layout = [#xir_tc.vpad<\"32,{0,0},(8,128)\">]} : vector<8x128xf32>\n%n = xir.matmul %m : f32\n%4 =",
        );
        let found = instructions(&before, &Module::parse(&with_more).unwrap()).unwrap();
        assert_eq!(
            found.get(&1).unwrap().get("select"),
            Some(&1),
            "a value inside a matrix product is not counted as a value of the program"
        );
        for text in [AFTER.split_once("%9").unwrap().0.to_owned(), AFTER.replace("{0,*}", "{*,0}"), String::new()] {
            assert!(instructions(&before, &Module::parse(&text).unwrap()).is_none(), "{text}");
        }
    }
}
