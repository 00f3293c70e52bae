//! HLO text that is broken, old, odd or huge. Every answer is a module, or an error with a place, in linear time; never a crash.

use proptest::prelude::*;
use std::fmt::Write as _;
use xla_shape_core::text::ParseErrorKind;
use xla_shape_core::{ParseError, Span};
use xla_shape_hlo::{Alias, Module, Opcode, Severity, find_shapes, instruction_shapes};
use xla_shape_tests::{hlo_modules, is_thorough};

/// The messages of all errors, each with the text that it points to.
fn errors(text: &str) -> Vec<(String, String)> {
    let (_, errors) = Module::parse_with_errors(text);
    let first = Module::parse(text).err();
    assert_eq!(first.is_some(), !errors.is_empty(), "both ways of reading find errors, or none");
    errors.iter().map(|error| (text[range(error.span())].to_owned(), error.to_string())).collect()
}

fn range(span: Span) -> std::ops::Range<usize> {
    span.start..span.end
}

fn error(text: &str) -> (String, String) {
    let found = errors(text);
    assert_eq!(found.len(), 1, "{found:?}");
    found.into_iter().next().unwrap()
}

fn expect(text: &str, place: &str, message: &str) {
    assert_eq!(error(text), (place.into(), message.into()), "{text}");
}

/// A module with these instructions in its entry computation.
fn module(instructions: &str) -> String {
    format!("HloModule m\n\nENTRY %main {{\n  %a = f32[2]{{0}} parameter(0)\n{instructions}\n}}\n")
}

#[test]
fn errors_say_what_and_where() {
    let unknown = "expected the name of an instruction of this computation, found";
    let body = |text: &str| module(&format!("  ROOT %b = {text}"));
    expect(&body("f32[2]{1} negate(%a)"), "1", "expected a dimension number less than 1, found 1");
    expect(&body("f33[2] negate(%a)"), "f33", "expected an element type, found `f33`; did you mean `f32`?");
    expect(&body("f32[2]{0} negate(%c)"), "c", &format!("{unknown} `c`"));
    expect(&body("f32[2]{0} (%a)"), "(", "expected an opcode, found `(`");
    expect(&body("f32[2]{0} negate %a"), "%", "expected `(`, found `%`");
    expect(&body("f32[2]{0} negate(%a %a)"), "%", "expected `,` or `)`, found `%`");
    expect(&body("f32[2]{0} add(%a, =)"), "=", "expected an operand: a name, or a shape and a name, found `=`");
    expect(&body("f32[2]{0} negate(%a), "), "}", "expected an attribute's name, found `}`");
    expect(&body("f32[2]{0} negate(%a), x"), "}", "expected `=`, found `}`");
    expect(&body("f32[2]{0} negate(%a), x="), "}", "expected an attribute's value, found `}`");
    let unclosed = "found none before the next instruction or the end";
    expect(&body("f32[2]{0} constant({1, 2)"), ")", "expected `}`, found `)`");
    expect(&body("f32[2]{0} constant({1, 2"), "(", &format!("expected a bracket that closes this `(`, {unclosed}"));
    expect(&body("f32[2]{0} negate(%a), x=\"y"), "\"", &format!("expected `\"` to close the string, {unclosed}"));
    expect(&body("f32[2]{0} parameter(x)"), "x", "expected the number of the parameter, found `x`");
    expect(
        &body("f32[] parameter(4294967296)"),
        "4294967296",
        "expected the number of the parameter, found `4294967296`",
    );
    expect(&body("f32[] parameter()"), ")", "expected the number of the parameter, found `)`");
    expect(&body("f32[2]{0} /* negate(%a)"), "/*", "expected `*/` to close the comment, found the end of the text");
    expect(&module("  %a = f32[] constant(1)"), "a", "expected a name that is not taken, found `a` again");
    expect(
        &module("  ROOT %b = f32[] constant(1)\n  ROOT %c = f32[] constant(1)"),
        "ROOT",
        "expected one ROOT in a computation, found a second one",
    );
    expect("HloModule m\n", "", "expected an ENTRY computation, found none");
    expect("HloModule m\nENTRY e {\n}\n", "e", "expected an instruction in the computation, found none");
    expect(
        "HloModule m\nENTRY e { a = f32[] constant(1)\n}\nENTRY f { a = f32[] constant(1)\n}",
        "ENTRY",
        "expected one ENTRY in a module, found a second one",
    );
    expect(
        "e { a = f32[] constant(1)\n}\ne { a = f32[] constant(1)\n}",
        "e",
        "expected a name that is not taken, found `e` again",
    );
    expect("HloModule", "", "expected a name, found the end of the text");
    expect(
        "FileNames\n1 x\nFunctionNames\nFileLocations\nStackFrames\ne { a = f32[] constant(1)\n}",
        "x",
        "expected a row of the table: a number, and a string or `{…}`, found `x`",
    );
}

#[test]
fn an_error_is_shown_with_line_and_column() {
    let text = module("  ROOT %b = f32[2]{1} negate(%a)");
    let error = Module::parse(&text).unwrap_err();
    assert_eq!(error.line_column(&text), (5, 20));
    assert_eq!(
        error.render(&text).to_string(),
        "error: expected a dimension number less than 1, found 1\n  |\n5 |   ROOT %b = f32[2]{1} negate(%a)\n  |                    ^"
    );
}

#[test]
fn what_is_right_is_kept_beside_what_is_wrong() {
    let text = "\
HloModule m, x=y

%broken (a: f32[2) -> f32[2] {
  %a = f32[2] parameter(0)
}

%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %add = f32[] add(%x, %y)
}

ENTRY %main (a: f32[2]) -> f32[] {
  %a = f32[2]{0} parameter(0)
  %zero = f32[ constant(0)
  %one = f32[] constant(1)
  %b = f32[2]{0} multiply(%a, %a), dimensions={0
  ROOT %sum.1 = f32[] reduce(%a, %one), dimensions={0}, to_apply=%sum
}
";
    let (module, errors) = Module::parse_with_errors(text);
    let lines: Vec<_> = errors.iter().map(|error| error.line_column(text).0).collect();
    assert_eq!(lines[0], 3);
    assert!(lines.ends_with(&[15, 17]), "{errors:?}");
    let main = module.entry().unwrap();
    // Instructions that could not be read are still listed by name.
    let names: Vec<_> = main.instructions().map(|instruction| (instruction.name(), instruction.is_read())).collect();
    assert_eq!(names, [("a", true), ("zero", false), ("one", true), ("b", false), ("sum.1", true)]);
    let b = main.instruction("b").unwrap();
    assert_eq!((b.opcode(), b.shape().to_string()), (Opcode::Multiply, "f32[2]{0}".into()));
    assert_eq!(&text[range(b.span())], "b = f32[2]{0} multiply(%a, %a), dimensions={0");
    assert_eq!(main.instruction("zero").unwrap().shape_text(), "");
    assert_eq!(main.root().opcode(), Opcode::Reduce);
    assert_eq!(module.computation("sum").unwrap().instructions().len(), 3);
}

#[test]
fn old_and_short_spellings_are_read() {
    // Operands with shapes, names without `%`, no header, comments, spaces, a literal over several lines.
    let text = "\
HloModule   old // a comment
/* another
   one */
ENTRY main.5 {
  p = (f32[2,2]{1,0}, s32[]) parameter( 0 )
  gte = f32[2, 2] {1, 0} get-tuple-element((f32[2,2]{1,0}, /*index=1*/s32[]) p), index=0
  c = f32[2,2]{1,0} constant({
    { 1, 2 },
    { 3, nan }
  })
  later = f32[2,2]{1,0} add(f32[2,2]{1,0} first, f32[2,2]{1,0} %c), metadata={op_name=\"a \\\" } b\"}
  first = f32[2,2]{1,0} negate(gte)
  ROOT r = f32[2,2]{1,0} my-op(later), a={1}, b=\"x\", c=[2,2]<=[4]T(1,0), d=bf_io->bf
}, execution_thread=\"main\"
";
    let crlf = text.replace('\n', "\r\n");
    for text in [text, &crlf] {
        let module = Module::parse(text).unwrap();
        let main = module.entry().unwrap();
        assert_eq!(main.name(), "main.5");
        assert_eq!(main.attribute("execution_thread").unwrap().string().unwrap(), "main");
        let gte = main.instruction("gte").unwrap();
        assert_eq!(gte.shape().to_string(), "f32[2,2]{1,0}");
        assert_eq!(gte.operand(0).unwrap().written_shape().unwrap().to_string(), "(f32[2,2]{1,0}, s32[])");
        let later = main.instruction("later").unwrap();
        assert_eq!(later.operand(0).unwrap().instruction().unwrap().opcode(), Opcode::Negate);
        let name = later.attribute("metadata").unwrap().field("op_name").unwrap().unwrap();
        assert_eq!(name.string().unwrap(), "a \" } b");
        let literal = main.instruction("c").unwrap().literal().unwrap();
        assert!(literal.starts_with("{") && literal.ends_with("}"), "{literal}");
        assert_eq!(main.root().opcode(), Opcode::Other("my-op"));
        assert_eq!(main.root().attributes().len(), 4);
        let printed = module.to_string();
        let again = Module::parse(&printed).unwrap();
        assert_eq!(again.to_string(), printed);
    }
}

#[test]
fn shapes_of_operands_are_printed_where_they_say_something() {
    let text = "\
a = f32[2]{0} parameter(0)
b = f32[2]{0} add(f32[2] a, f32[3]{0} a)
c = f32[2]{0} add(f32[2]{0} elsewhere, a)
";
    let expected = "\
%a = f32[2]{0} parameter(0)
%b = f32[2]{0} add(%a, f32[3]{0} %a)
%c = f32[2]{0} add(f32[2]{0} %elsewhere, %a)
";
    assert_eq!(Module::parse(text).unwrap().to_string(), expected);
    assert_eq!(Module::parse(expected).unwrap().to_string(), expected);
}

#[test]
fn aliases_are_read_in_full_and_in_short() {
    let text = "HloModule m, input_output_alias={ {0}: (0, {1}, must-alias), {1}: (2, {}), {}: 3 }, other={ {0}: 1, {} }\n\
                ENTRY e {\n a = f32[] parameter(0)\n}\n";
    let module = Module::parse(text).unwrap();
    let alias = |result: &[usize], parameter, index: &[usize], must| Alias {
        result_index: result.into(),
        parameter,
        parameter_index: index.into(),
        must,
    };
    let expected = [alias(&[0], 0, &[1], true), alias(&[1], 2, &[], false), alias(&[], 3, &[], false)];
    assert_eq!(module.attribute("input_output_alias").unwrap().aliases().unwrap(), expected);
    let error = module.attribute("other").unwrap().aliases().unwrap_err();
    assert_eq!(error.to_string(), "expected `:`, found `}`");
}

#[test]
fn values_of_another_kind_are_errors() {
    let text = "x = f32[] add(), a={1}[2], b={k=v}{k=v}, c={{0}: 1}(2), d={(f32[])->f32[]}{}, e=\"\\377\", f=-1, g=True, h={f32[2]x}";
    let module = Module::parse(text).unwrap();
    let value = |name| module.instructions().next().unwrap().attribute(name).unwrap();
    let braces = |found: &str| format!("expected a value in one pair of braces, found `{found}`");
    let message = |error: Option<ParseError>| error.map(|error| error.to_string()).unwrap();
    assert_eq!(message(value("a").numbers().err()), braces("{1}[2]"));
    assert_eq!(message(value("b").fields().err()), braces("{k=v}{k=v}"));
    assert_eq!(message(value("c").aliases().err()), braces("{{0}: 1}(2)"));
    assert_eq!(message(value("d").program_shape().err()), braces("{(f32[])->f32[]}{}"));
    assert_eq!(message(value("e").string().err()), "expected a UTF-8 string, found `\"\\377\"`");
    assert_eq!(*value("e").bytes().unwrap(), [0xff]);
    assert_eq!(message(value("f").number().err()), "expected a number, found `-1`");
    assert_eq!(message(value("g").boolean().err()), "expected `true` or `false`, found `True`");
    assert_eq!(message(value("g").string().err()), "expected a string, found `True`");
    assert_eq!(message(value("h").shapes().err()), "expected the end of the shape, found `x`");
}

#[test]
fn one_line_is_enough_for_a_module() {
    let text =
        "HloModule m, is_scheduled=true ENTRY e { a = f32[2] parameter(0), x={1} ROOT b = f32[2] negate(a), k=v }";
    let module = Module::parse(text).unwrap();
    assert!(module.is_scheduled());
    assert_eq!(module.entry().unwrap().root().attribute("k").unwrap().text(), "v");
}

#[test]
fn parts_of_modules_are_read() {
    let line = "add.936 = bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)} add(exponential.183, broadcast.3115)";
    let module = Module::parse(line).unwrap();
    let add = module.instructions().next().unwrap();
    assert_eq!((add.name(), add.opcode()), ("add.936", Opcode::Add));
    assert_eq!(add.operands().map(|operand| operand.name()).collect::<Vec<_>>(), ["exponential.183", "broadcast.3115"]);
    assert!(add.operand(0).unwrap().instruction().is_none());
    assert!(module.check().is_empty());

    let module = Module::parse("a = f32[] constant(1)\nROOT b = f32[] negate(a)\n").unwrap();
    assert_eq!(module.instructions().len(), 2);
    assert_eq!(module.computations().next().unwrap().root().name(), "b");

    let module = Module::parse("%f (x: f32[]) -> f32[] {\n  ROOT %x = f32[] parameter(0)\n}\n").unwrap();
    assert_eq!(module.computation("f").unwrap().parameters().len(), 1);

    // As in XLA, the last computation is the entry if none is marked.
    let body = "{\n  x = f32[2] parameter(0)\n  ROOT y = f32[2] negate(x)\n}\n";
    let text = format!("f {body}g {body}");
    let module = Module::parse(&text).unwrap();
    assert_eq!(module.entry().map(|entry| (entry.name(), entry.is_entry())), Some(("g", false)));
    let usage = module.memory().usage();
    assert_eq!((usage[&0].parameters.bytes, usage[&0].values.bytes, usage[&0].results.bytes), (8, 8, 8));
    let marked = format!("ENTRY f {body}g {body}");
    assert_eq!(Module::parse(&marked).unwrap().entry().map(|entry| entry.name()), Some("f"));
    assert!(Module::parse("x = f32[] parameter(0)").unwrap().entry().is_none());

    assert_eq!(Module::parse("").unwrap().instructions().len(), 0);
}

#[test]
fn bytes_that_are_not_utf8_have_a_place() {
    let error = xla_shape_hlo::utf8(b"HloModule m\xff\n").unwrap_err();
    assert_eq!((error.kind(), error.span()), (&ParseErrorKind::InvalidUtf8, Span { start: 11, end: 12 }));
    assert_eq!(xla_shape_hlo::utf8(b"HloModule m").unwrap(), "HloModule m");
    assert_eq!(
        xla_shape_hlo::utf8("é".as_bytes().split_last().unwrap().1).unwrap_err().span(),
        Span { start: 0, end: 1 }
    );
}

#[test]
fn nul_bytes_are_errors() {
    expect("e {\n  a = f32[] \0constant(1)\n}", "\0", "expected an opcode, found `\\0`");
    assert!(Module::parse("\0").is_err());
    assert_eq!(find_shapes("\0f32[2]\0").count(), 1);
}

/// Reads the text in every way, and checks that the result is consistent.
fn survive(text: &str) -> (usize, Vec<ParseError>) {
    let (module, errors) = Module::parse_with_errors(text);
    for error in &errors {
        assert!(text.get(range(error.span())).is_some(), "{error}: {:?}", error.span());
    }
    assert_eq!(Module::parse(text).is_err(), !errors.is_empty());
    assert!(errors.is_sorted_by_key(|error| error.span().start));
    for instruction in module.instructions() {
        assert_eq!(instruction.computation().instructions().filter(|other| *other == instruction).count(), 1);
        let _ = instruction.operands().filter_map(|operand| operand.shape()).count();
    }
    let _ = (module.check().len(), module.memory().peaks());
    let printed = module.to_string();
    if errors.is_empty() {
        let again = Module::parse(&printed).unwrap_or_else(|error| panic!("{}\n{text}", error.render(&printed)));
        assert_eq!(again.instructions().len(), module.instructions().len());
        assert_eq!(again.to_string(), printed, "printing is stable");
    }
    assert!(find_shapes(text).all(|found| text.get(range(found.span)).is_some()));
    assert!(instruction_shapes(text).all(|span| text.get(range(span)).is_some()));
    (module.instructions().len(), errors)
}

#[test]
fn truncated_modules_are_errors() {
    let modules = hlo_modules();
    let smallest = modules.iter().min_by_key(|module| module.text.len()).unwrap();
    for length in 0..smallest.text.len() {
        let text = &smallest.text[..length];
        let (instructions, errors) = survive(text);
        assert!(instructions <= smallest.instructions);
        let ends_inside = text.contains("HloModule ") && !text.trim_end().ends_with('}');
        assert!(!ends_inside || !errors.is_empty(), "{length}");
    }
}

proptest! {
    #[test]
    fn damaged_modules_are_survived(
        module in 0_usize..1000,
        damage in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..40, "[ -~\n\0é]{0,4}|[(){}\\[\\]\"/*,=%]{1,3}"), 1..5),
    ) {
        let modules = small_modules();
        let mut text = modules[module % modules.len()].clone();
        for (at, length, new) in damage {
            let floor = |mut at: usize| { while !text.is_char_boundary(at) { at -= 1 } at };
            let start = floor(at.index(text.len()));
            let end = floor((start + length).min(text.len())).max(start);
            text.replace_range(start..end, &new);
        }
        survive(&text);
    }

    #[test]
    fn instructions_with_any_space_are_survived(
        instructions in prop::collection::vec(instruction(), 1..4),
        ends in prop::sample::select(vec!["", "}"]),
    ) {
        let head = if ends.is_empty() { "" } else { "e {" };
        survive(&format!("{head}{}{ends}", instructions.concat()));
    }

    #[test]
    fn any_text_is_survived(text in "(HloModule|ENTRY|ROOT|%?[a-z]{1,2}|=|f32\\[2?\\]|\\{[01]?\\}|[(){}\\[\\],\"/*\n\0é -]|parameter\\(0\\)|add|, ){0,60}") {
        survive(&text);
    }
}

/// An instruction with white space and comments between its parts. Most of these are valid.
fn instruction() -> impl Strategy<Value = String> {
    const PARTS: [&str; 13] =
        ["c", "=", "f32", "[", "2", "]", "constant", "(", "{1, 2}", ")", ", x", "=", "{1} [2]<=a/b"];
    let space =
        prop_oneof![4 => Just(""), 2 => Just(" "), 1 => Just("\t"), 1 => Just("/* \n */"), 1 => Just("// \" {\n")];
    (prop::collection::vec(space, PARTS.len()), 0_usize..1000).prop_map(|(spaces, number)| {
        let parts = PARTS.iter().zip(spaces).map(|(part, space)| format!("{part}{space}")).collect::<String>();
        format!("\n%{}", parts.replacen('c', &format!("c{number}"), 1))
    })
}

fn small_modules() -> &'static [String] {
    static MODULES: std::sync::OnceLock<Vec<String>> = std::sync::OnceLock::new();
    MODULES.get_or_init(|| hlo_modules().into_iter().map(|row| row.text).filter(|text| text.len() < 20_000).collect())
}

#[test]
fn hostile_texts_are_survived() {
    // The texts nest more deeply than any stack allows, and are so long that quadratic time would be noticed.
    let length = if is_thorough() { 200_000 } else { 25_000 };
    let many = |piece: &str| piece.repeat(length);
    let short = |piece: &str| piece.repeat(length / 8);
    let in_operand = |inside: String| format!("e {{\n  a = f32[] add({inside}\n}}\n");
    let texts = [
        many("("),
        format!("x = {}", many("(")),
        format!("x = {}{}", many("("), many(")")),
        in_operand(many("(")),
        format!("e {{\n  a = f32[] constant({}{})\n}}\n", many("{"), many("}")),
        format!("e {{\n  a = f32[] constant(1), x={}{}\n}}\n", many("["), many("]")),
        short("x = f32[] add((\n"),
        short("x = f32[/*\n"),
        short("x\n= f32[] add(\n"),
        short("/**/x = f32[] add(\n"),
        short("/*\n*/x = f32[] add(\n"),
        short("x = f32[] constant(\"\n"),
        short("x = f32[] constant(1), y={\n\n"),
        short("e {\n"),
        short("ENTRY e (a: f32[]\n"),
        short("}\n"),
        short("FileNames\n1 \"\n"),
        short("f32[/*"),
        short("(f32[2],"),
        short("((f32[],s32[]),"),
        format!("{}f32[]{}", short("("), short(")")),
        format!(
            "e {{\n  x = (f32[], f32[]) parameter(0)\n  a = f32[] add({})\n}}\n",
            vec!["x#0, x#1"; length / 2].join(", ")
        ),
        format!("e {{\n  x = f32[] parameter(0)\n  a = f32[] add({})\n}}\n", vec!["negate(x)"; length / 2].join(", ")),
        format!("e {{\n  x = f32[] parameter(0)\n  a = f32[] add({}x{})\n}}\n", short("negate("), short(")")),
        format!("e {{\n  x = f32[] parameter(0)\n  a = f32[] negate(x{})\n}}\n", short("#0")),
        format!("e {{ {} }}", short("a = f32[] call(), to_apply={ ")),
        // The parser looks for the closing brace of each level, up to the limit of 200.
        format!(
            "e {{ {}b = f32[] constant(1){} }}",
            "a = f32[] call(), to_apply={ ".repeat(10_000),
            "}".repeat(10_000)
        ),
        short("e {\n  a = f32[] call(), to_apply={\n"),
        short("a = f32[] custom-call(), backend_config={\"\n"),
        short("a = f32[] custom-call(), literal=(s32[] \n"),
        short("a = f32[] all-reduce(), replica_groups=mesh['a'=2], device_ids=(\n"),
        many("\n"),
        many("a"),
        many("é"),
    ];
    for text in &texts {
        let (module, errors) = Module::parse_with_errors(text);
        assert!(errors.iter().all(|error| text.get(range(error.span())).is_some()));
        let _ = (module.check().len(), module.memory().peaks(), module.to_string().len());
        let _ = (find_shapes(text).count(), instruction_shapes(text).count());
    }
}

/// Each attribute and each unusual form, very long and without its end.
#[test]
fn every_form_is_survived_when_it_is_long() {
    const MANY: usize = 2_000;
    let of_module: &[[&str; 3]] = &[
        ["input_output_alias={ ", "{0}: (0, {}, must-alias), ", "{1}: (0, {}) }"],
        ["buffer_donor={ ", "(0, {0}), ", "(1, {}) }"],
        ["entry_computation_layout={(", "f32[2]{0}, ", "f32[2])->f32[2]}"],
        ["frontend_attributes={", "a=\"b\",", "c={\"d\":1}}"],
        ["origin_recovery_table={", "{\"a\"} : {\"b\" {0}},\n\"\nENTRY e { ROOT x = f32[] parameter(0) }\n\"\n", "}"],
        ["allow_spmd_sharding_propagation_to_output={", "true,", "false}"],
    ];
    for [before, piece, after] in of_module {
        for after in [after, ""] {
            let value = format!("{before}{}{after}", piece.repeat(MANY));
            survive(&format!("HloModule m, {value}\n\nENTRY e {{\n  ROOT x = (f32[], f32[]) parameter(0)\n}}\n"));
        }
    }
    let of_instruction: &[[&str; 3]] = &[
        ["control-predecessors={", "%x, ", "%x}"],
        ["sharding={devices=[2001]", "0,", "1}"],
        ["sharding={devices=[2]<=[", "1,", "2]}"],
        ["sharding={devices=[1,2]<=[2] last_tile_dims={", "manual,", "replicated}}"],
        ["sharding={mesh[", "'a'=2,", "'b'=2], [{'a'}]}"],
        ["sharding={mesh['a'=2], [", "{'a'}, ", "{}]}"],
        ["sharding={", "{replicated}, ", "{maximal device=1}}"],
        ["replica_groups={", "{0,1},", "{2,3}}"],
        ["replica_groups=[2,2]<=[", "2,", "2]T(1,0)"],
        ["replica_groups=mesh['a'=2] {", "'a':(1)2,", "'a'}"],
        ["source_target_pairs={", "{0,1},", "{1,0}}"],
        ["statistics={visualizing_index=0,", "a=1.5,", "b=nan}"],
        ["result_accuracy={tolerance={", "atol=1,", "ulps=1.5}}"],
        ["origin={", "(", "{\"a\" {0}})}"],
        ["origin={(", "{\"a\" {0}}, ", "{\"b\"})}"],
        ["original_value={(", "{\"a\" {0}}, ", "{\"b\"})}"],
        ["window={size=", "1x", "1 stride=1 pad=0_0}"],
        ["dim_labels=", "0", "bf_io->bf"],
        ["slice={", "[0:1:1], ", "[0:1]}"],
        ["padding=", "0_1_2x", "0_0"],
        ["operand_precision={", "high,", "highest}"],
        ["output_to_operand_aliasing={", "{0}: (0, {}), ", "{}: (0, {})}"],
        ["operand_layout_constraints={", "f32[2]{0}, ", "f32[]}"],
        ["called_computations={", "%e, ", "%f}"],
        ["branch_computations={", "{ ROOT a = f32[] parameter(0) }, ", "f}"],
        ["parameter_replication={", "true,", "false}"],
        ["metadata={", "op_name=\"a\" ", "source_line=1}"],
        ["domain={kind=\"sharding\", entry={", "{replicated}, ", "{manual}}, exit={replicated}}"],
        ["backend_config={", "\"a\":{\"b\":[1,\"}\"]},", "\"c\":1}"],
        ["literal=(", "s32[] 1, ", "s32[2]{0} {1, 2})"],
        ["async_execution_thread=\"", "\\\\303\\\\251", "\""],
        ["dimensions={", "0,", "1}"],
        ["shifts={", "-1,", "1}"],
        ["slice_sizes={{", "1,", "2}}"],
    ];
    for [before, piece, after] in of_instruction {
        for after in [after, ""] {
            let value = format!("{before}{}{after}", piece.repeat(MANY));
            survive(&format!(
                "HloModule m\n\nENTRY e {{\n  x = f32[] parameter(0)\n  ROOT r = f32[] custom-call(x), {value}\n}}\n"
            ));
        }
    }
    // Many loops share a body with a long sharding, and many scans share a body with many results.
    let devices = (0..MANY).map(|device| device.to_string()).collect::<Vec<_>>().join(",");
    let mut loops = format!(
        "HloModule m\nc {{\n  p = f32[] parameter(0)\n  ROOT t = pred[] constant(true)\n}}\nb {{\n  \
         ROOT p = f32[] parameter(0), sharding={{devices=[{MANY}]{devices}}}\n}}\nENTRY e {{\n  x = f32[] parameter(0)\n"
    );
    let results = "f32[], ".repeat(MANY);
    let mut scans = format!(
        "HloModule m\nf {{\n  ROOT p = ({results}f32[]) parameter(0)\n}}\nENTRY e {{\n  x = f32[2] parameter(0)\n"
    );
    for number in 0..MANY {
        writeln!(loops, "  w.{number} = f32[] while(x), condition=c, body=b").unwrap();
        writeln!(scans, "  w.{number} = f32[] scan(x), dimensions={{0}}, num_carries=0, to_apply=f").unwrap();
    }
    assert_eq!(Module::parse(&format!("{loops}}}\n")).unwrap().check().len(), 1);
    assert_eq!(Module::parse(&format!("{scans}}}\n")).unwrap().check().len(), MANY);
}

#[test]
fn too_many_errors_end_the_reading_but_keep_what_was_read() {
    let many = |piece: &str| format!("e {{\n  a = f32[] parameter(0)\n{}\n}}\n", piece.repeat(100_000));
    for text in
        [many("  x = f32[] add((\n"), many("}\n"), many("\n b = !"), format!("{}{}", many(""), "}\n".repeat(100_000))]
    {
        let (module, errors) = Module::parse_with_errors(&text);
        assert!(errors.len() < 1002 + text.len() / 64, "{} errors in {} bytes", errors.len(), text.len());
        assert_eq!(errors.last().map(ParseError::kind), Some(&ParseErrorKind::TooManyErrors));
        assert_eq!(module.instruction("a").map(|a| a.computation().name()), Some("e"));
    }

    let text = format!("e {{\n  a = f32[] parameter(0)\n  b = f32[] add({}a)\n}}\n", "c, ".repeat(100_000));
    let (module, errors) = Module::parse_with_errors(&text);
    assert_eq!(errors.last().map(ParseError::kind), Some(&ParseErrorKind::TooManyErrors));
    let b = module.instruction("b").unwrap();
    assert_eq!(b.operands().filter_map(|operand| operand.instruction()).count(), 1);
    assert_eq!(b.operands().len(), 100_001);
}

#[test]
fn long_and_wide_modules_are_read() {
    let times = if is_thorough() { 3 } else { 1 };
    // A line of 2 MB, a tuple of 8,000 elements, each of which is read, a chain of 8,000 calls.
    let long = module(&format!(
        "  ROOT %b = f32[2]{{0}} negate(%a), metadata={{op_name=\"{}\"}}",
        "x".repeat(2_000_000 * times)
    ));
    assert_eq!(survive_large(&long, &[]), 2);

    let count = 8_000 * times;
    let mut text = String::from("HloModule wide, is_scheduled=true\nENTRY e {\n  t = (");
    text.push_str(&vec!["f32[]"; count].join(", "));
    text.push_str(") parameter(0)\n");
    for index in 0..count {
        writeln!(text, "  g.{index} = f32[] get-tuple-element(t), index={index}").unwrap();
    }
    text.push_str("}\n");
    assert_eq!(survive_large(&text, &[]), count + 1);

    // `count` calls of a computation with `count` instructions, each with a tuple of `count` elements as its operand.
    let tuple = vec!["f32[]"; count].join(", ");
    let mut text = format!("HloModule again, is_scheduled=true\nf {{\n  t = ({tuple}) parameter(0)\n");
    for index in 0..count {
        writeln!(text, "  c.{index} = f32[] constant(1)").unwrap();
    }
    writeln!(text, "}}\nENTRY e {{\n  t = ({tuple}) parameter(0)").unwrap();
    for index in 0..count {
        writeln!(text, "  r.{index} = f32[] call(t), to_apply=f").unwrap();
    }
    writeln!(text, "  ROOT x = () x-start({}t)\n}}", "t, ".repeat(count)).unwrap();
    assert_eq!(survive_large(&text, &[]), 2 * count + 3);

    let mut text = String::from("HloModule deep, is_scheduled=true\n");
    for index in 0..count {
        writeln!(text, "c.{index} {{\n  ROOT r = f32[] call(), to_apply=c.{}\n}}", (index + 1) % count).unwrap();
    }
    text.push_str("ENTRY e {\n  ROOT r = f32[] call(), to_apply=c.0\n}\n");
    let cycle =
        "%r (call): expected computations that do not call themselves, found a cycle of calls through this instruction";
    assert_eq!(survive_large(&text, &[cycle]), count + 1);
}

#[test]
fn a_large_module_takes_memory_in_proportion() {
    let mut text = String::from("HloModule large, is_scheduled=true\nENTRY e {\n  p = f32[8,128]{1,0} parameter(0)\n");
    let mut count = 1;
    let length = if is_thorough() { 20_000_000 } else { 2_000_000 };
    while text.len() < length {
        writeln!(text, "  add.{count} = f32[8,128]{{1,0:T(8,128)}} add(p, p), metadata={{op_name=\"a/b\"}}").unwrap();
        count += 1;
    }
    text.push_str("}\n");
    let module = Module::parse(&text).unwrap();
    assert_eq!(module.instructions().len(), count);
    assert_eq!(module.shapes().len(), 2);
    assert!(module.memory_bytes() <= 3 * text.len(), "{} bytes for {}", module.memory_bytes(), text.len());
}

fn survive_large(text: &str, expected: &[&str]) -> usize {
    let module = Module::parse(text).unwrap();
    // Unknown opcodes and attributes only give a hint, so ignore hints.
    let errors = module.check().into_iter().filter(|finding| finding.severity() == Severity::Error);
    assert_eq!(errors.map(|finding| finding.to_string()).collect::<Vec<_>>(), expected);
    // Above a limit on the number of values, the memory of a program is not computed.
    assert!(module.memory().peaks().is_none() || module.is_scheduled());
    module.instructions().len()
}

#[test]
fn tables_stand_once_in_their_order_before_the_computations() {
    let tables =
        ["FileNames\n1 \"f\"\n", "FunctionNames\n1 \"g\"\n", "FileLocations\n1 {line=1}\n", "StackFrames\n1 {x=1}\n"];
    let [files, functions, locations, frames] = tables;
    let entry = "ENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n";
    let read = |parts: &[&str]| {
        let text = format!("HloModule m\n\n{}", parts.join("\n"));
        let error = Module::parse(&text).err()?;
        let shown = (error.line_column(&text).0, error.to_string());
        // The rest of the text is still read.
        assert!(Module::parse_with_errors(&text).0.entry().is_some(), "{text}");
        Some(shown)
    };
    assert_eq!(read(&[files, functions, locations, frames, entry]), None);
    assert_eq!(read(&[entry]), None);
    let computation = |found: &str| format!("expected a computation, found `{found}`");
    for (table, name) in tables.into_iter().zip(["FileNames", "FunctionNames", "FileLocations", "StackFrames"]) {
        let again = read(&[files, functions, locations, frames, table, entry]);
        assert_eq!(again, Some((15, computation(name))));
        assert_eq!(read(&[entry, table]), Some((7, computation(name))));
    }
    let missing =
        |line: usize, expected: &str, found: &str| Some((line, format!("expected {expected}, found `{found}`")));
    assert_eq!(read(&[functions, entry]), Some((3, computation("FunctionNames"))));
    assert_eq!(read(&[files, entry]), missing(6, "FunctionNames", "ENTRY"));
    assert_eq!(read(&[files, functions, frames, entry]), missing(9, "FileLocations", "StackFrames"));
    assert_eq!(read(&[files, locations, functions, frames, entry]), missing(6, "FunctionNames", "FileLocations"));
}
