//! Compiled programs with one change each: `hlo diff` finds the change and its cause, and reports nothing if the change does not matter.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use xla_shape_answers::Answer;
use xla_shape_answers::guard::{Check, Checks, Record, Recorded};
use xla_shape_answers::hlo::Difference;
use xla_shape_core::Shape;
use xla_shape_hlo::cost::Figure;
use xla_shape_hlo::{Instruction, Module, Opcode, Readers};
use xla_shape_program::{Program, ProgramMemory};
use xla_shape_tests::hlo_modules;

/// The number of places in a module where each kind of change is tried.
const PLACES: usize = 1;

/// Modules with at most this many bytes are changed, so that the test stays quick; in `scripts/laws.sh`, longer ones too.
fn longest() -> usize {
    if xla_shape_tests::is_thorough() { 40_000 } else { 18_000 }
}

/// The expected answer: a word of `change`, and the cause.
type Expected = (&'static str, &'static str);

/// A text with some parts replaced. Each edit has the first byte, the end, and the new text of a part.
fn edited(text: &str, mut edits: Vec<(usize, usize, String)>) -> String {
    edits.sort_by_key(|edit| (edit.0, edit.1));
    let (mut out, mut at) = (String::new(), 0);
    for (start, end, new) in edits {
        out += &text[at..start];
        out += &new;
        at = end;
    }
    out + &text[at..]
}

/// The line of an instruction, with the operand `%name` replaced.
fn with_operand(line: &str, name: &str, new: &str) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let (head, rest) = line.split_once('(').unwrap();
    let mut out = format!("{head}(");
    let mut parts = rest.split('%');
    out += parts.next().unwrap();
    for part in parts {
        let end = part.find(|c| !is_name(c)).unwrap_or(part.len());
        let shown = if &part[..end] == name { new } else { &part[..end] };
        out = out + "%" + shown + &part[end..];
    }
    out
}

/// Adds an instruction after another one, and lets some readers of the old one read the new one.
fn inserted<'m>(
    from: Instruction<'m>,
    line: &str,
    readers: impl Iterator<Item = Instruction<'m>>,
) -> Option<Vec<(usize, usize, String)>> {
    let text = from.module().text();
    let new = line.split(" = ").next()?.trim_start_matches('%').to_owned();
    let mut edits = vec![(from.span().end, from.span().end, format!("\n  {line}"))];
    for reader in readers {
        let span = reader.span();
        let line = &text[span.start..span.end];
        // A tuple's shape has parentheses, too, so look for the operands after the opcode.
        let start = line.find(&format!(" {}(", reader.opcode()))?;
        let operands = with_operand(&line[start..], from.name(), &new);
        edits.push((span.start + start, span.end, operands));
    }
    (edits.len() > 1).then_some(edits)
}

/// The layout in the text of a shape, with the order of dimensions reversed.
fn reversed_layout(shape: &str) -> Option<String> {
    let (head, layout) = shape.split_once('{')?;
    let end = layout.find([':', '}'])?;
    let mut order: Vec<&str> = layout[..end].split(',').collect();
    order.reverse();
    (order.len() > 1).then(|| format!("{head}{{{}{}", order.join(","), &layout[end..]))
}

/// The injected changes of a kind.
type Kind = (&'static str, Expected, fn(Instruction<'_>, &Readers<'_>, &Module) -> Option<String>);

/// Whether an instruction computes an array in a buffer of its own. The answer does not list values that share the buffer of another one.
fn array(instruction: Instruction<'_>) -> bool {
    use Opcode as O;
    let shares = matches!(instruction.opcode(), O::Parameter | O::Bitcast | O::GetTupleElement | O::OptBarrier)
        || instruction.opcode().text().ends_with("-done")
        || instruction.name().contains("dynamic-update-slice");
    matches!(instruction.shape(), Shape::Array(_)) && !shares
}

const KINDS: &[Kind] = &[
    ("source", ("added", "source changed"), |at, readers, module| {
        let line = format!(
            "%injected.1 = {} custom-call(%{}), custom_call_target=\"x\", metadata={{op_name=\"jit(f)/injected\" source_file=\"new.py\" source_line=9}}",
            at.shape_text(),
            at.name()
        );
        array(at).then(|| inserted(at, &line, readers.of(at)))?.map(|edits| edited(module.text(), edits))
    }),
    ("copy in the source", ("copy added", "source changed"), |at, readers, module| {
        let other = reversed_layout(at.shape_text())?;
        let line = format!(
            "%injected.1 = {other} copy(%{}), metadata={{op_name=\"jit(f)/injected\" source_file=\"new.py\" source_line=9}}",
            at.name()
        );
        array(at).then(|| inserted(at, &line, readers.of(at)))?.map(|edits| edited(module.text(), edits))
    }),
    ("layout", ("copy added", "layout asked"), |at, readers, module| {
        let other = reversed_layout(at.shape_text())?;
        let line = format!("%injected.1 = {} copy(%{})", at.shape_text(), at.name());
        let is_parameter = at.opcode() == Opcode::Parameter && matches!(at.shape(), Shape::Array(_));
        let mut edits = is_parameter.then(|| inserted(at, &line, readers.of(at)))??;
        let span = at.shape_span();
        edits.push((span.start, span.end, other));
        Some(edited(module.text(), edits))
    }),
    ("rematerialization", ("added", "rematerialization"), |at, readers, module| {
        let whole = &module.text()[at.span().start..at.span().end];
        let (_, rest) = whole.split_once(" = ")?;
        let line = format!("%{}.remat = {rest}", at.name());
        let last = readers.of(at).last().filter(|_| array(at) && at.operands().len() > 0);
        inserted(at, &line, last.into_iter()).map(|edits| edited(module.text(), edits))
    }),
    ("fusion", ("fusion added", "fusion choice"), |at, readers, module| {
        let whole = &module.text()[at.span().start..at.span().end];
        let (_, rest) = whole.split_once(" = ")?;
        let line = format!("%injected.1 = {rest}");
        let last = readers.of(at).last().filter(|_| at.opcode() == Opcode::Fusion);
        inserted(at, &line, last.into_iter()).map(|edits| edited(module.text(), edits))
    }),
    ("sharding", ("collective added", "sharding"), |at, readers, module| {
        let line = format!("%injected.1 = {} all-gather(%{}), dimensions={{0}}", at.shape_text(), at.name());
        let mut edits = array(at).then(|| inserted(at, &line, readers.of(at)))??;
        let text = module.text();
        let comma = text.find(',')?;
        edits.push((comma, comma, ", replica_count=77".to_owned()));
        Some(edited(text, edits))
    }),
    ("cycles", ("measure", "flags or version"), |at, _, module| {
        let (text, span) = (module.text(), at.span());
        let line = &text[span.start..span.end];
        let start = line.find("\"estimated_cycles\":\"")? + "\"estimated_cycles\":\"".len();
        let end = start + line[start..].find('"')?;
        let cycles: u64 = line[start..end].parse().ok().filter(|&cycles| cycles < 1 << 60)?;
        Some(edited(text, vec![(span.start + start, span.start + end, (cycles + 1000).to_string())]))
    }),
    ("memory space", ("memory space", "flags or version"), |at, _, module| {
        let shape = at.shape_text();
        let other = if shape.contains("S(") { shape.replace("S(1)", "") } else { shape.replace(")}", ")S(1)}") };
        let span = at.shape_span();
        // The root is left out, because the program requests the layout of its result.
        (array(at) && !at.is_root() && other != shape && !other.contains(":}"))
            .then(|| edited(module.text(), vec![(span.start, span.end, other)]))
    }),
];

fn lines(before: &ProgramMemory<'_>, after: Module) -> Vec<Value> {
    let after = Program::from(after);
    let json = Difference::new(before, &after.memory(None)).json();
    let mut lines = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>();
    // The last line is about the programs as a whole.
    assert_eq!(lines.pop().unwrap()["change"], "programs");
    lines
}

#[test]
fn injected_changes_are_found_with_their_cause() {
    let (mut pairs, mut found) = (BTreeMap::<&str, usize>::new(), BTreeMap::<&str, usize>::new());
    let mut missed = Vec::new();
    for row in hlo_modules().into_iter().filter(|row| row.text.len() < longest()) {
        let program = Program::from(Module::parse(&row.text).unwrap());
        let (module, before) = (program.module(), program.memory(None));
        let readers = module.readers();
        let costs = module.costs().unwrap();
        let is_partial = costs.total().total.is_none();
        let entry = module.entry().unwrap();
        let memory = module.memory();
        let owners: BTreeSet<u32> = memory.buffers().iter().map(|buffer| buffer.instruction.number()).collect();
        for &(kind, (change, cause), inject) in KINDS {
            let mut places = 0;
            for at in entry.instructions() {
                let runs = costs
                    .instructions()
                    .iter()
                    .any(|cost| cost.instruction == at && matches!(cost.figure, Figure::Known(_)));
                if places == PLACES || !owners.contains(&at.number()) || (kind == "cycles" && (is_partial || !runs)) {
                    continue;
                }
                let Some(text) = inject(at, &readers, module) else { continue };
                let after = Module::parse(&text).unwrap_or_else(|error| panic!("{} {kind}: {error}", row.module));
                places += 1;
                *pairs.entry(kind).or_default() += 1;
                assert_ne!(module.is_same_program(&after), Some(true), "{}: {kind}", row.module);
                let lines = lines(&before, after);
                let is_found = lines.iter().any(|line| {
                    let is_new = change == "measure" || change == "memory space" || {
                        let name = line["name"].as_str().unwrap();
                        name.contains("injected") || name.contains(".remat")
                    };
                    let has_source = cause != "source changed" || line["source"] == "new.py:9";
                    line["change"] == change && line["cause"] == cause && is_new && has_source
                });
                match is_found {
                    true => *found.entry(kind).or_default() += 1,
                    false => missed.push(format!("{} {kind} at %{}", row.module, at.name())),
                }
            }
        }
    }
    let all: usize = pairs.values().sum();
    assert!(pairs.len() == KINDS.len() && all >= 200, "{pairs:?}");
    assert!(missed.len() * 100 <= all, "{} of {all} missed: {pairs:?} {found:?} {missed:#?}", missed.len());
}

/// A program compiled twice for four chips of v5e, with libtpu 0.0.52.
#[derive(serde::Deserialize)]
struct Pair {
    program: String,
    /// What was changed in the call of `jax.jit`.
    cause: String,
    before: String,
    after: String,
}

#[test]
fn a_lost_donation_and_another_input_sharding_are_named_in_real_programs() {
    let pairs: Vec<Pair> = xla_shape_tests::corpus("diff_pairs.jsonl.zst");
    assert_eq!(pairs.len(), 4);
    for pair in pairs {
        let cause = if pair.cause == "lost donation" { "donation" } else { "sharding" };
        let [before, after] = [&pair.before, &pair.after].map(|text| Module::parse(text).unwrap());
        let lines = lines(&Program::from(before).memory(None), after);
        let measures: Vec<_> = lines.iter().filter(|line| line["change"] == "measure").collect();
        assert!(!measures.is_empty(), "{}", pair.program);
        assert!(measures.iter().all(|line| line["cause"] == cause), "{}: {measures:#?}", pair.program);
    }
}

#[test]
fn harmless_changes_raise_nothing() {
    let mut pairs = 0;
    let mut raised = Vec::new();
    for row in hlo_modules().into_iter().filter(|row| row.text.len() < longest()) {
        let text = &row.text;
        let program = Program::from(Module::parse(text).unwrap());
        let (module, before) = (program.module(), program.memory(None));
        let entry = module.entry().unwrap();
        let mut others = vec![
            ("op_name", text.replace("op_name=\"jit(", "op_name=\"jit(other_")),
            ("no frames", text.replace("stack_frame_id=", "scheduling_name_id=")),
            ("lines", text.replace(" line=", " line=1").replace("source_line=", "source_line=1")),
            ("name", text.replacen("HloModule ", "HloModule other_", 1)),
        ];
        // The order of parameters does not matter in a schedule. So swap two adjacent ones.
        let all: Vec<_> = entry.instructions().collect();
        let is_parameter = |at: &Instruction<'_>| at.opcode() == Opcode::Parameter && !at.is_root();
        if let Some([one, other]) = all.windows(2).find(|pair| pair.iter().all(is_parameter)) {
            let part = |at: &Instruction<'_>| text[at.span().start..at.span().end].to_owned();
            let edits = vec![
                (one.span().start, one.span().end, part(other)),
                (other.span().start, other.span().end, part(one)),
            ];
            others.push(("order of parameters", edited(text, edits)));
        }
        for (kind, other) in others {
            if other == *text {
                continue;
            }
            pairs += 1;
            let other = Module::parse(&other).unwrap_or_else(|error| panic!("{} {kind}: {error}", row.module));
            assert_ne!(module.is_same_program(&other), Some(false), "{}: {kind}", row.module);
            let lines = lines(&before, other);
            if let Some(first) = lines.first() {
                raised.push(format!("{} {kind}: {} lines, such as {first}", row.module, lines.len()));
            }
        }
    }
    assert!(pairs >= 200, "{pairs} pairs");
    assert!(raised.is_empty(), "{} of {pairs}: {raised:#?}", raised.len());
}

/// If the outermost function of a program has another name, `guard` still finds the same copies and lines. The programs are for v6e.
#[test]
fn guard_sees_no_difference_in_real_programs_with_a_renamed_function() {
    #[derive(serde::Deserialize)]
    struct Row {
        program: String,
        generation: String,
        module: String,
    }
    let rows: Vec<Row> = xla_shape_tests::corpus("tpu_memory.jsonl.zst");
    let mut with_copies = 0;
    for row in rows.iter().filter(|row| row.generation == "v6e") {
        let (_, rest) = row.module.split_once("op_name=\"jit(").unwrap();
        let (name, _) = rest.split_once(')').unwrap();
        let renamed = row.module.replace(&format!("jit({name})"), "jit(renamed)");
        assert_ne!(renamed, row.module);
        let recorded = |text: &str| Recorded::new(&Module::parse(text).unwrap(), Some(1), None, None).unwrap();
        let before = Record::new(vec![recorded(&row.module)]);
        let check = Check::new(&before, &recorded(&renamed), &[], false, "").unwrap();
        let checked: Value = serde_json::from_str(&Checks::new(vec![check]).json()).unwrap();
        for list in ["exceeded", "measures", "copies_added", "copies_removed", "lines"] {
            assert_eq!(checked[list], Value::Array(Vec::new()), "{}: {list}", row.program);
        }
        let file: Value = serde_json::from_str(&before.file()).unwrap();
        with_copies += usize::from(file["programs"][0]["copies"].as_array().is_some_and(|copies| !copies.is_empty()));
    }
    assert!(with_copies >= 3, "{with_copies}");
}
