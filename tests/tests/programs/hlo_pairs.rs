//! Hundreds of small programs with pairs such as `copy-start` and `copy-done`, valid and invalid, compared with XLA's answers.

use super::hlo_cases::{Difference, Row, compare_shapes, compare_validity, difference};
use std::collections::BTreeMap;
use xla_shape_hlo::Module;
use xla_shape_tests::corpus;

/// Differences in programs in which a shape is left out.
const LEFT_OUT: &[Difference] = &[];

/// Differences in whether a program is valid.
const VALID: &[Difference] = &[difference(
    "async-done",
    "other operand",
    "the TPU compiler removes the update that nothing ends before it asks the verifier",
)];

fn rows() -> Vec<Row> {
    corpus("hlo_pairs.jsonl.zst")
}

/// The inferred shape of `r`, which the text leaves out.
fn inferred(text: &str) -> Result<String, String> {
    let (before, rest) = text.split_once(" r = ").expect("an instruction `r`");
    // Shapes have spaces only within parentheses.
    let mut depth = 0;
    let end = rest.find(|c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ' ' && depth == 0
    });
    let text = format!("{before} r = {}", &rest[end.expect("a shape") + 1..]);
    let module = Module::parse(&text).map_err(|error| error.to_string())?;
    let entry = module.entry().expect("the entry computation");
    let found = entry.instructions().find(|found| found.name() == "r").expect("the instruction `r`");
    Ok(found.shape().without_layout().to_string())
}

#[test]
fn shapes_that_are_left_out_are_what_xla_infers() {
    compare_shapes(rows(), inferred, LEFT_OUT);
}

#[test]
fn programs_are_refused_that_xla_refuses() {
    compare_validity(rows(), VALID);
}

#[test]
fn every_opcode_of_a_pair_has_many_cases_right_and_wrong() {
    let mut counts = BTreeMap::<String, [usize; 3]>::new();
    for row in rows() {
        counts.entry(row.op).or_default()[row.valid.map_or(2, usize::from)] += 1;
    }
    let few: Vec<_> =
        counts.iter().filter(|(_, [wrong, right, _])| right + wrong < 40 || *wrong < 7 || *right < 10).collect();
    assert!(few.is_empty() && counts.len() == 17, "{} opcodes; few cases: {few:?}", counts.len());
}
