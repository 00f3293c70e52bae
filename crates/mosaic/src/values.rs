//! Which values of a function are equal: the same operation with the same operands in the same region.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use xla_shape_mlir::Operation;

/// The numbers of instructions, by their names without the dialect.
pub(crate) type Instructions<'a> = BTreeMap<&'a str, u64>;

/// The name of a result without `%` and the number of results.
pub(crate) fn plain_name(result: &str) -> &str {
    let name = result.trim_start_matches('%');
    name.split(':').next().unwrap_or(name)
}

/// The values of a function. Equal values have the same number.
#[derive(Default)]
pub(crate) struct Values<'a> {
    names: BTreeMap<&'a str, usize>,
    /// The number of each value, by the region and the text of its operation. That text has the numbers of operands in place of their names.
    texts: BTreeMap<(Option<usize>, String), usize>,
    /// For each value, its operation and operands; `None` once the operation is counted.
    operations: Vec<Option<(&'a str, Vec<usize>)>>,
}

impl<'a> Values<'a> {
    /// The number of the value with this name, without `%`.
    pub(crate) fn of(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    pub(crate) fn numbers(&self, operation: &Operation<'a>) -> Vec<usize> {
        operation.operands().filter_map(|name| self.names.get(name).copied()).collect()
    }

    pub(crate) fn add(&mut self, operation: &Operation<'a>) {
        if operation.results().is_empty() {
            return;
        }
        let operands = self.numbers(operation);
        // All results of an operation have the operation's number. So the operation is counted once, even if registers
        // need several of its results.
        let number = match operands[..] {
            [only] if is_other_name(operation) => only,
            [rotated, by] if operation.name().ends_with("rotate") && Some(by) == self.zero(operation) => rotated,
            _ => self.number(operation, operands),
        };
        for result in operation.results() {
            self.names.insert(plain_name(result), number);
        }
    }

    /// The number of an operation's value: a new one, unless an equal operation stands in the same region.
    fn number(&mut self, operation: &Operation<'a>, operands: Vec<usize>) -> usize {
        let new = self.operations.len();
        let number = match key(operation, &operands) {
            Some(key) => *self.texts.entry((operation.parent(), key)).or_insert(new),
            None => new,
        };
        if number == new {
            self.operations.push(Some((operation.name(), operands)));
        }
        number
    }

    /// The number of the constant 0 in the region of an operation.
    fn zero(&self, operation: &Operation<'a>) -> Option<usize> {
        self.texts.get(&(operation.parent(), "arith.constant 0".to_owned())).copied()
    }

    /// Counts the operations that the registers of a value need, unless they are counted already. Each is visited once, so the time is
    /// linear.
    #[expect(clippy::arithmetic_side_effects, reason = "each operation of a text counts once")]
    pub(crate) fn count(&mut self, rolled: &Operation<'a>, instructions: &mut Instructions<'a>) {
        let mut open = self.numbers(rolled);
        while let Some(number) = open.pop() {
            let Some((name, operands)) = self.operations.get_mut(number).and_then(Option::take) else { continue };
            if !matches!(name, "arith.constant" | "ub.poison" | "xir.roll_vectors" | "xir.unroll_vectors") {
                let times = instructions.entry(name.rsplit('.').next().unwrap_or(name)).or_default();
                *times += 1;
            }
            open.extend(operands);
        }
    }
}

/// The text of an operation with the numbers of its operands, without types and locations. `None` if equal texts can be different values.
fn key(operation: &Operation<'_>, operands: &[usize]) -> Option<String> {
    let name = operation.name();
    let [text] = operation.texts() else { return None };
    if name.ends_with("load") || name.ends_with("store") || operation.results().len() != 1 {
        return None;
    }
    let text = text.split(" : ").next().unwrap_or(text);
    if operation.operands().count() != operands.len() {
        // An argument of the function, which has no number.
        return Some(alloc::format!("{name} {text}"));
    }
    let mut parts = text.split('%');
    let mut key = alloc::format!("{name} {}", parts.next().unwrap_or(""));
    for (part, number) in parts.zip(operands) {
        let end = part.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '-')));
        key.push_str(&alloc::format!("%{number}{}", end.and_then(|end| part.get(end..)).unwrap_or("")));
    }
    Some(key)
}

/// Whether an operation only gives a register another name. A `mask_cast` does so if its two types are equal.
fn is_other_name(operation: &Operation<'_>) -> bool {
    let types = || operation.texts().last().and_then(|text| text.rsplit_once(" : ")?.1.split_once(" -> "));
    match operation.name() {
        "xir.bitcast_vreg" | "xir.unroll_vectors" => true,
        "xir.mask_cast" => types().is_some_and(|(before, after)| before.trim() == after.trim()),
        _ => false,
    }
}
