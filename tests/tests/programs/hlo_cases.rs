//! Thousands of small programs, valid and invalid, compared with XLA's answers.

use serde::Deserialize;
use std::collections::BTreeMap;
use xla_shape_core::Shape;
use xla_shape_hlo::{Module, Severity};
use xla_shape_tests::corpus;

#[derive(Deserialize)]
pub(super) struct Row {
    pub(super) op: String,
    changed: String,
    text: String,
    /// The shape that XLA infers; `Some(None)` if XLA refuses the program, `None` if it was not asked.
    #[serde(default, deserialize_with = "there")]
    infer: Option<Option<String>>,
    pub(super) valid: Option<bool>,
}

/// Distinguishes `null` from a missing field.
fn there<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(from).map(Some)
}

/// The program without the shape of its root.
fn left_out(text: &str) -> String {
    let (before, rest) = text.rsplit_once("ROOT r = ").expect("a root");
    let end = if rest.starts_with('(') {
        rest.find(") ").expect("the end of a tuple") + 2
    } else {
        rest.find(' ').expect("a shape") + 1
    };
    format!("{before}ROOT r = {}", &rest[end..])
}

fn inferred(text: &str) -> Result<String, String> {
    let text = left_out(text);
    let module = Module::parse(&text).map_err(|error| error.to_string())?;
    Ok(module.entry().expect("the entry computation").root().shape().without_layout().to_string())
}

/// The errors of a program, of reading it or of checking it.
fn errors(text: &str) -> Vec<String> {
    match Module::parse(text) {
        Ok(module) => {
            let found = module.check();
            found.iter().filter(|found| found.severity() == Severity::Error).map(ToString::to_string).collect()
        }
        Err(error) => vec![error.to_string()],
    }
}

/// A case in which XLA's answer differs from ours, and why.
pub(super) struct Difference {
    op: &'static str,
    changed: &'static str,
    why: &'static str,
}

pub(super) const fn difference(op: &'static str, changed: &'static str, why: &'static str) -> Difference {
    Difference { op, changed, why }
}

/// Differences in programs in which a shape is left out: XLA accepts them, and they are refused here.
const LEFT_OUT: &[Difference] = &[
    difference(
        "convolution",
        "operand count",
        "XLA's parser looks at the first two operands only; such a program is not valid",
    ),
    difference(
        "dot",
        "operand count",
        "XLA's parser looks at the first two operands only; such a program is not valid",
    ),
];

/// Differences in whether a program is valid. The conversion to StableHLO drops what XLA's verifier compares,
/// so it accepts most of these.
const VALID: &[Difference] = &[
    difference("all-reduce", "operand type", "StableHLO lets the elements become wider; XLA's verifier does not"),
    difference("reduce-scatter", "operand type", "StableHLO lets the elements become wider; XLA's verifier does not"),
    difference(
        "convolution",
        "attribute",
        "StableHLO has no size of the window, and takes the kernel's; where XLA infers, it refuses",
    ),
    difference("rng", "operand count", "StableHLO reads two operands, whatever there are; a range needs two limits"),
    difference(
        "set-dimension-size",
        "result size",
        "StableHLO infers the result anew; where XLA infers, it gives the operand's size",
    ),
    difference(
        "set-dimension-size",
        "operand size",
        "StableHLO infers the result anew; where XLA infers, it gives the operand's size",
    ),
    difference(
        "bitcast-convert",
        "operand type",
        "StableHLO counts one bit in a `pred`, XLA eight; and it does not compare the ranks of equal widths",
    ),
];

/// Splits the differences into listed ones and others.
fn split<'w>(wrong: &'w [(Row, String)], listed: &[Difference]) -> (Vec<&'static str>, Vec<&'w String>) {
    let is = |row: &Row, known: &&Difference| known.op == row.op && known.changed == row.changed;
    let reason = |row: &Row| listed.iter().find(|known| is(row, known)).map(|known| known.why);
    let known = wrong.iter().filter_map(|(row, _)| reason(row)).collect();
    (known, wrong.iter().filter(|(row, _)| reason(row).is_none()).map(|(_, text)| text).collect())
}

/// Fails if an answer differs for a reason that is not listed, or if more than one answer in a hundred differs for a listed one.
fn judge(what: &str, all: usize, wrong: &[(Row, String)], listed: &[Difference]) {
    let (known, unknown) = split(wrong, listed);
    println!("{what}: {} of {all} agree; {} differ for a reason that is listed", all - wrong.len(), known.len());
    let unknown: Vec<_> = unknown.into_iter().cloned().collect();
    assert!(unknown.is_empty(), "{} differ:\n{}", unknown.len(), unknown.join("\n"));
    assert!(known.len() * 100 <= all, "{} answers differ", known.len());
    let unused: Vec<_> = listed
        .iter()
        .filter(|known| !wrong.iter().any(|(row, _)| known.op == row.op && known.changed == row.changed))
        .map(|known| known.op)
        .collect();
    assert!(unused.is_empty(), "nothing differs any more for {unused:?}");
}

/// Compares the shapes that `inferred` finds for programs in which they are left out with those that XLA infers.
pub(super) fn compare_shapes(rows: Vec<Row>, inferred: fn(&str) -> Result<String, String>, listed: &[Difference]) {
    let (mut all, mut wrong) = (0, Vec::new());
    for row in rows {
        let Some(expected) = &row.infer else { continue };
        let found = inferred(&row.text);
        let bare = |text: &String| text.parse::<Shape>().expect("a shape of XLA").without_layout().to_string();
        all += 1;
        if expected.as_ref().map(bare) != found.clone().ok() {
            let text = format!("{} ({}): XLA {expected:?}, here {found:?}\n{}", row.op, row.changed, row.text);
            wrong.push((row, text));
        }
    }
    judge("shapes that are left out", all, &wrong, listed);
}

/// Compares whether programs have errors with whether XLA refuses them.
pub(super) fn compare_validity(rows: Vec<Row>, listed: &[Difference]) {
    let (mut all, mut wrong) = (0, Vec::new());
    for row in rows {
        let Some(valid) = row.valid else { continue };
        let found = errors(&row.text);
        all += 1;
        if found.is_empty() != valid {
            let text = format!("{} ({}): XLA {valid}, here {found:?}\n{}", row.op, row.changed, row.text);
            wrong.push((row, text));
        }
    }
    judge("programs", all, &wrong, listed);
}

#[test]
fn shapes_that_are_left_out_are_what_xla_infers() {
    compare_shapes(corpus("hlo_cases.jsonl.zst"), inferred, LEFT_OUT);
}

#[test]
fn programs_are_refused_that_xla_refuses() {
    compare_validity(corpus("hlo_cases.jsonl.zst"), VALID);
}

#[test]
fn every_opcode_has_many_cases_right_and_wrong() {
    let mut counts = BTreeMap::<String, [usize; 2]>::new();
    for row in corpus::<Row>("hlo_cases.jsonl.zst") {
        counts.entry(row.op).or_default()[usize::from(row.changed != "none")] += 1;
    }
    // These instructions have no operands and attributes, so there are few ways to write them.
    counts.retain(|op, _| op != "partition-id" && op != "replica-id");
    let few: Vec<_> = counts.iter().filter(|(_, [right, wrong])| right + wrong < 40 || *wrong < 15).collect();
    assert!(few.is_empty() && counts.len() > 100, "{} opcodes; few cases: {few:?}", counts.len());
}

#[test]
fn layouts_of_shapes_that_are_left_out_are_those_of_xla() {
    const HEAD: &str = "pair { x = f32[3] parameter(0)\n c = f32[3] parameter(1)\n ROOT t = (f32[3], f32[3]) tuple(x, c) }\n\
        one { x = f32[3] parameter(0)\n c = f32[3] parameter(1)\n ROOT t = f32[3] add(x, c) }\nENTRY e {\n  x = f32[2,3]{0,1} parameter(0)\n  y = f32[2,3]{1,0} parameter(1)\n  \
        p = pred[2,3]{0,1} parameter(2)\n  s = s32[] parameter(3)\n  z = f32[] parameter(4)\n  v = f32[3] parameter(6)\n  \
        t = (f32[2,3]{0,1}, f32[2,3]{1,0}) parameter(5)\n";
    // The text that jaxlib 0.12 prints.
    for (instruction, expected) in [
        ("compare(x, y), direction=EQ", "pred[2,3]{0,1}"),
        ("add(x, y)", "f32[2,3]{0,1}"),
        ("add(y, x)", "f32[2,3]{1,0}"),
        ("add(x, z)", "f32[2,3]{1,0}"),
        ("complex(x, x)", "c64[2,3]{0,1}"),
        ("select(p, y, y)", "f32[2,3]{0,1}"),
        ("clamp(x, y, x)", "f32[2,3]{1,0}"),
        ("clamp(z, x, z)", "f32[2,3]{0,1}"),
        ("transpose(x), dimensions={1,0}", "f32[3,2]{1,0}"),
        ("reverse(x), dimensions={0}", "f32[2,3]{0,1}"),
        ("pad(x, z), padding=0_1x0_0", "f32[3,3]{1,0}"),
        ("concatenate(x, x), dimensions={0}", "f32[4,3]{1,0}"),
        ("set-dimension-size(x, s), dimensions={0}", "f32[<=2,3]{0,1}"),
        ("dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}", "f32[2,2]{1,0}"),
        ("fft(x), fft_type=RFFT, fft_length={3}", "c64[2,2]{0,1}"),
        ("get-tuple-element(t), index=0", "f32[2,3]{0,1}"),
        ("tuple(x, y)", "(f32[2,3]{0,1}, f32[2,3]{1,0})"),
        ("broadcast(x), dimensions={5}", "f32[5,2,3]{2,1,0}"),
        ("shuffle(x), dimensions={0}, mode=rotate, shifts={1}", "f32[2,3]{0,1}"),
        ("scan(x, v), dimensions={0}, num_carries=1, to_apply=pair", "(f32[2,3]{1,0}, f32[3]{0})"),
        ("scan(y, v), dimensions={1}, num_carries=1, to_apply=pair", "(f32[3,3]{1,0}, f32[3]{0})"),
        ("scan(x, v), dimensions={0}, num_carries=0, to_apply=pair", "(f32[2,3]{1,0}, f32[2,3]{1,0})"),
        ("scan(x, v), dimensions={0}, num_carries=1, to_apply=one", "f32[3]{0}"),
    ] {
        let text = format!("{HEAD}  ROOT r = {instruction}\n}}\n");
        let module = Module::parse(&text).expect(instruction);
        assert_eq!(module.entry().expect("the entry").root().shape().to_string(), expected, "{instruction}");
    }
}
