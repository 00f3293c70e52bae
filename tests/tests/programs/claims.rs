//! Claims about a program keep holding if a change does not concern them. After a change, exactly the claims about it fail.

use std::collections::BTreeMap;
use xla_shape_answers::guard::claims::{CheckedClaim, ClaimState, Claims, Expectation, Table};
use xla_shape_hlo::{Instruction, Module, Opcode};

/// The longest module that is changed, in bytes, so that the test stays quick.
const LONGEST: usize = 16_000;

/// A changed program.
struct Mutant {
    kind: &'static str,
    text: String,
    /// Whether a claim must fail.
    breaks: Box<dyn Fn(&CheckedClaim) -> bool>,
    /// The tables whose claims may hold or fail, because the change affects bytes or time.
    may_break: &'static [Table],
    /// A name that the answer must contain: what it found instead.
    named: Option<&'static str>,
}

/// The text of an instruction under another name, so that the same computation can have it twice.
fn again(at: Instruction<'_>, name: &str) -> String {
    let span = at.span();
    let line = &at.module().text()[span.start..span.end];
    let (head, rest) = line.split_once(" = ").unwrap();
    let sign = if head.contains('%') { "%" } else { "" };
    format!("{sign}{name} = {rest}")
}

/// The text of the module, with this line after an instruction.
fn with_line(module: &Module, after: Instruction<'_>, line: &str) -> String {
    let (text, end) = (module.text(), after.span().end);
    let comma = if text[end..].starts_with(',') { 1 } else { 0 };
    format!("{}\n  {line}{}", &text[..end + comma], &text[end + comma..])
}

fn mutants(module: &Module) -> Vec<Mutant> {
    let text = module.text();
    let mut found = Vec::new();
    let mut add = |kind, text: String, named, may_break, breaks: Box<dyn Fn(&CheckedClaim) -> bool>| {
        found.push(Mutant { kind, text, breaks, may_break, named });
    };
    let Some(entry) = module.entry() else { return found };

    // A change that no claim is about.
    let nothing = || Box::new(|_: &CheckedClaim| false);
    add("another function", text.replace("op_name=\"jit(", "op_name=\"jit(other_"), None, &[], nothing());
    add("another name", text.replacen("HloModule ", "HloModule other_", 1), None, &[], nothing());
    add("other lines", text.replace("source_line=", "source_line=1"), None, &[], nothing());

    let calls = module.instructions().filter(|found| found.opcode() == Opcode::CustomCall);
    let targets: BTreeMap<_, _> =
        calls.map(|call| (call.attribute("custom_call_target").unwrap().string().unwrap(), call)).collect();
    for target in targets.keys() {
        let renamed = text.replace(&format!("custom_call_target=\"{target}\""), "custom_call_target=\"another\"");
        let claim = format!("custom_calls: name = \"{target}\",");
        add(
            "another kernel",
            renamed,
            None,
            &[Table::Copies, Table::Program],
            Box::new(move |found| found.claim.starts_with(&claim)),
        );
    }

    // Reverse the order of an argument's two dimensions.
    for (number, parameter) in entry.parameters_by_number() {
        let order = parameter.shape().array().map(|array| array.layout().minor_to_major().to_vec());
        let span = parameter.shape_span();
        let turned = match order.as_deref() {
            Some([1, 0]) => text[span.start..span.end].replacen("{1,0", "{0,1", 1),
            Some([0, 1]) => text[span.start..span.end].replacen("{0,1", "{1,0", 1),
            _ => continue,
        };
        let name = module
            .sources()
            .get(parameter)
            .op_name
            .map_or_else(|| parameter.name().to_owned(), |name| name.into_owned());
        let claims = [format!("arguments: name = {name:?}, "), format!("arguments: number = {number}, ")];
        let is_about = move |found: &CheckedClaim| claims.iter().any(|claim| found.claim.starts_with(claim));
        let changed = format!("{}{turned}{}", &text[..span.start], &text[span.end..]);
        add("another order", changed, None, &[Table::Program, Table::Arrays], Box::new(is_about));
        break;
    }

    if let Some(at) = text.find("input_output_alias={") {
        let end = at + text[at..].find(") }").unwrap() + 3;
        let changed = format!("{}buffer_donor={{}}{}", &text[..at], &text[end..]);
        add(
            "lost donation",
            changed,
            None,
            &[Table::Program],
            Box::new(|found| found.claim.contains("aliased = true")),
        );
    }

    // Add a second copy of an instruction.
    let first = |opcode: Opcode<'_>| module.instructions().find(|found| found.opcode() == opcode);
    for opcode in [Opcode::Dot, Opcode::Convolution] {
        let Some(product) = first(opcode) else { continue };
        let types = product.operands().filter_map(|operand| Some(operand.shape()?.array()?.element_type().to_string()));
        let claims: Vec<_> =
            types.map(|name| format!("instructions: opcode = \"{opcode}\", operand = \"{name}\",")).collect();
        let is_about = move |found: &CheckedClaim| claims.iter().any(|claim| found.claim.starts_with(claim));
        let changed = with_line(module, product, &again(product, "once_more"));
        add("a product more", changed, Some("once_more"), &[Table::Program], Box::new(is_about));
    }
    for opcode in [Opcode::AllGather, Opcode::AllReduce, Opcode::ReduceScatter, Opcode::CollectivePermute] {
        let Some(collective) = first(opcode) else { continue };
        let claim = format!("collectives: opcode = \"{opcode}\",");
        let changed = with_line(module, collective, &again(collective, "once_more"));
        let is_about = move |found: &CheckedClaim| found.table == Table::Program || found.claim.starts_with(&claim);
        add("a collective more", changed, Some("once_more"), &[], Box::new(is_about));
    }

    // Add a copy of the first argument in another order, or an array that is larger than all others.
    let parameters = entry.parameters_by_number();
    let argument = parameters.iter().find(|(_, found)| {
        found
            .shape()
            .array()
            .is_some_and(|array| array.num_dimensions() == 2 && array.layout().minor_to_major() == [1, 0])
    });
    if let Some((_, argument)) = argument {
        let shape = argument.shape().to_string();
        let sign = if text[argument.span().start..].starts_with('%') { "%" } else { "" };
        let copy = format!("{sign}once_more = {} copy({sign}{})", shape.replacen("{1,0", "{0,1", 1), argument.name());
        add(
            "a copy",
            with_line(module, *argument, &copy),
            None,
            &[Table::Arrays],
            Box::new(|found| found.table == Table::Program),
        );
        let large = format!(
            "{sign}once_more = s8[1099511627776]{{0}} custom-call({sign}{}), custom_call_target=\"large\"",
            argument.name()
        );
        add(
            "a large array",
            with_line(module, *argument, &large),
            Some("once_more"),
            &[Table::Program],
            Box::new(|found| found.table == Table::Arrays),
        );
    }

    let trips = "\"known_trip_count\":{\"n\":\"";
    if let Some(at) = text.find(trips) {
        let start = at + trips.len();
        let length = text[start..].find('"').unwrap();
        let number: u64 = text[start..start + length].parse().unwrap();
        let changed = format!("{}{}{}", &text[..start], number + 1, &text[start + length..]);
        let claims = [number, number + 1].map(|number| format!("loops: trips = {number},"));
        let is_about = move |found: &CheckedClaim| claims.iter().any(|claim| found.claim.starts_with(claim));
        add("another iteration", changed, None, &[Table::Collectives, Table::Program], Box::new(is_about));
    }
    found
}

#[test]
fn a_change_breaks_the_claims_about_it_and_no_others() {
    #[derive(serde::Deserialize)]
    struct Row {
        module: String,
    }
    let rows: Vec<Row> = xla_shape_tests::corpus("tpu_memory.jsonl.zst");
    let texts =
        xla_shape_tests::hlo_modules().into_iter().map(|row| row.text).chain(rows.into_iter().map(|row| row.module));
    let mut pairs = BTreeMap::<&str, usize>::new();
    let mut wrong = Vec::new();
    for text in texts.filter(|text| text.len() < LONGEST) {
        let module = Module::parse(&text).unwrap();
        let claims = Claims::of(&module, None);
        let name = module.name().unwrap_or_default();
        assert_eq!(Claims::parse(&claims.to_string()).unwrap(), claims, "{name}");
        let now = Expectation::new(&claims, &module, None);
        assert!(now.passed, "{name}: {now:#?}");
        for mutant in mutants(&module).into_iter().filter(|mutant| mutant.text != text) {
            let changed = Module::parse(&mutant.text).unwrap_or_else(|error| panic!("{}", error.render(&mutant.text)));
            let found = Expectation::new(&claims, &changed, None);
            *pairs.entry(mutant.kind).or_default() += 1;
            for claim in &found.claims {
                let fails = claim.state != ClaimState::Holds;
                let must_fail = (mutant.breaks)(claim);
                if fails != must_fail && (must_fail || !mutant.may_break.contains(&claim.table)) {
                    wrong.push(format!("{name}, {}: {} {:?}", mutant.kind, claim.claim, claim.differs));
                }
                let is_named =
                    |named| claim.table == Table::Program || claim.instead.iter().any(|found| found.name == named);
                if must_fail && mutant.named.is_some_and(|named| !is_named(named)) {
                    wrong.push(format!("{name}, {}: {} does not name it", mutant.kind, claim.claim));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {pairs:?}: {wrong:#?}", wrong.len());
    let all: usize = pairs.values().sum();
    assert!(all >= 200 && pairs.values().all(|pairs| *pairs >= 3), "{pairs:?}");
}
