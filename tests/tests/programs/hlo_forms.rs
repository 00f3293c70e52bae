//! Forms of HLO text that XLA reads, other than those that it prints by default.

use xla_shape_hlo::{Computation, Module, Opcode};

fn parse(text: &str) -> Module {
    Module::parse(text).unwrap_or_else(|error| panic!("{}", error.render(text)))
}

fn error(text: &str) -> String {
    Module::parse(text).unwrap_err().to_string()
}

/// The instructions of a computation as they are printed.
fn lines(computation: Computation<'_>) -> Vec<String> {
    computation.instructions().map(|instruction| instruction.to_string()).collect()
}

/// A module whose entry has these instructions after a tuple `x`.
fn with_tuple(instructions: &str) -> String {
    format!("HloModule m\nENTRY e {{\n  x = (f32[2], (s32[], f32[3])) parameter(0)\n{instructions}\n}}\n")
}

#[test]
fn elements_of_tuples_are_operands() {
    let text =
        with_tuple("  a = f32[2] add(x#0, %x#0)\n  b = f32[3] negate(%x#1#1)\n  ROOT c = f32[3] negate(f32[3] %x#1#1)");
    let module = parse(&text);
    let expected = [
        "%x = (f32[2]{0}, (s32[], f32[3]{0})) parameter(0)",
        "%x_0 = f32[2]{0} get-tuple-element(%x), index=0",
        "%a = f32[2]{0} add(%x_0, %x_0)",
        "%x_1 = (s32[], f32[3]{0}) get-tuple-element(%x), index=1",
        "%x_1_1 = f32[3]{0} get-tuple-element(%x_1), index=1",
        "%b = f32[3]{0} negate(%x_1_1)",
        "ROOT %c = f32[3]{0} negate(%x_1_1)",
    ];
    assert_eq!(lines(module.entry().unwrap()), expected);
    let element = module.instruction("x_1_1").unwrap();
    assert!(element.is_implied() && element.is_read());
    let span = module.instruction("b").unwrap().operand(0).unwrap().span();
    assert_eq!(&text[span.start..span.end], "x#1#1");
    assert_eq!(&text[element.name_span().start..element.name_span().end], "x#1#1");

    // Names that are added avoid those of later instructions, which keep the names in the text.
    let text = with_tuple("  a = f32[2] negate(x#0)\n  x_0 = s32[] constant(1)\n  x_0.1 = s32[] constant(1)");
    let module = parse(&text);
    let names: Vec<_> = module.instructions().map(|instruction| instruction.name()).collect();
    assert_eq!(names, ["x", "x_0.1.1", "a", "x_0", "x_0.1"]);
    assert_eq!(module.instruction("a").unwrap().operand(0).unwrap().name(), "x_0.1.1");

    let unknown = "expected the name of an instruction of this computation, found `y`";
    assert_eq!(error(&with_tuple("  a = f32[2] negate(y#0)")), unknown);
    assert_eq!(error(&with_tuple("  a = f32[2] negate(x#a)")), "expected the number of a tuple element, found `a`");
    let index = "cannot infer the shape of `get-tuple-element`, which is left out: \
                 expected an index less than 2, the number of elements, found 2";
    assert_eq!(error(&with_tuple("  a = f32[2] negate(x#2)")), index);
    let part = parse("a = f32[2] copy(%sort.14#0#1)");
    assert_eq!(part.instruction("a").unwrap().operand(0).unwrap().name(), "sort.14#0#1");
}

#[test]
fn operands_are_instructions() {
    let text = with_tuple(
        "  y = f32[2] get-tuple-element(x), index=0\n  \
         ROOT r = f32[2] add(y, f32[2] multiply(f32[2] y, negate(y)), /*index=2*/f32[2] broadcast(f32[] constant(0)))",
    );
    let module = parse(&text);
    let expected = [
        "%negate.anon = f32[2]{0} negate(%y)",
        "%multiply.anon = f32[2]{0} multiply(%y, %negate.anon)",
        "%constant.anon = f32[] constant(0)",
        "%broadcast.anon = f32[2]{0} broadcast(%constant.anon)",
        "ROOT %r = f32[2]{0} add(%y, %multiply.anon, %broadcast.anon)",
    ];
    assert_eq!(lines(module.entry().unwrap())[2..], expected);
    let again = module.to_string();
    assert_eq!(parse(&again).to_string(), again);
    let anonymous = module.instruction("multiply.anon").unwrap();
    let span = anonymous.span();
    assert_eq!(&text[span.start..span.end], "f32[2] multiply(f32[2] y, negate(y))");

    let deep = |depth: usize| {
        with_tuple(&format!("  a = s32[] {}s32[] constant(1){}", "negate(".repeat(depth), ")".repeat(depth)))
    };
    assert_eq!(parse(&deep(200)).instructions().len(), 202);
    assert_eq!(error(&deep(202)), "expected at most 200 nested operands and computations, found more");
}

#[test]
fn computations_are_written_inside_attributes() {
    let text = "\
HloModule m

ENTRY e {
  x = f32[8] parameter(0)
  i = s32[] parameter(1)
  r = f32[] reduce(x, f32[] constant(0)), dimensions={0}, to_apply={
    a = f32[] parameter(0)
    b = f32[] parameter(1)
    ROOT q = f32[] add(a, b)
  }, metadata={op_name=\"sum\"}
  ROOT z = conditional(i, r, r), branch_computations={
    { ROOT a = f32[] parameter(0) }, {
      a = f32[] parameter(0)
      ROOT c = f32[] call(a), to_apply=
      { ROOT a = f32[] parameter(0) }
    }
  }
}
";
    let module = parse(text);
    let names: Vec<_> = module.computations().map(|computation| computation.name()).collect();
    assert_eq!(names, ["_", "_.1", "_.2", "_.3", "e"]);
    let entry = module.entry().unwrap();
    assert_eq!(entry.name(), "e");
    let reduce = entry.instruction("r").unwrap();
    assert_eq!(reduce.attribute("to_apply").unwrap().name(), Ok("_"));
    assert_eq!(reduce.attribute("metadata").unwrap().field("op_name").unwrap().unwrap().text(), "\"sum\"");
    let value = reduce.attribute("to_apply").unwrap().span();
    assert!(text[value.start..value.end].starts_with("{\n    a = "));
    assert_eq!(entry.root().attribute("branch_computations").unwrap().names(), Ok(vec!["_.1", "_.3"]));
    assert_eq!(entry.root().shape().to_string(), "f32[]");
    assert!(entry.instructions().all(|instruction| instruction.computation().name() == "e"));
    assert!(module.computation("_.3").unwrap().instructions().all(|inner| inner.computation().name() == "_.3"));
    assert_eq!(module.computation("_").unwrap().root().opcode(), Opcode::Add);
    assert!(module.check().is_empty(), "{:?}", module.check());
    let printed = module.to_string();
    assert_eq!(parse(&printed).to_string(), printed);

    let inside =
        "HloModule m\nENTRY e {\n  ROOT r = f32[] call(), to_apply={\n    ROOT a = f32[2]{1} parameter(0)\n  }\n}\n";
    let wrong = Module::parse(inside).unwrap_err();
    assert_eq!(
        (wrong.line_column(inside).0, wrong.to_string().as_str()),
        (4, "expected a dimension number less than 1, found 1")
    );
    let (module, errors) = Module::parse_with_errors(inside);
    assert_eq!((errors.len(), module.computations().len()), (1, 2));
}

#[test]
fn braces_and_strings_go_over_lines() {
    let text = "\
HloModule m:, origin_recovery_table={
  {\"a\"} : {\"b\" {0}},
  \"
    HloModule inner

    ENTRY f {
      ROOT x = f32[2] parameter(0)
    }
  \"
}, frontend_attributes={
  key=\"1\",
  other={ x = f32[2] add(y) ) }
}

ENTRY e (p f32[2]) -> f32[2] {
  p = f32[2] parameter(0), frontend_attributes={
    name=\"x\"
  }
  q = f32[2] custom-call(p), custom_call_target='a\"b', literal=s32[2]{0} {1, 2}, backend_config={
    name = 1
    x = f32[2] add(y)
  }
  s = f32[2] custom-call(p), custom_call_target=\"c\", literal=s32[] 1, metadata={
    op_name=\"n\"
  }
  ROOT w = f32[2] reduce-window(p, f32[] constant(0)), window={size=1
    stride=1}, to_apply={ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
}
";
    let module = parse(text);
    assert_eq!(module.name(), Some("m"));
    let entry = module.entry().unwrap();
    assert_eq!(entry.instructions().len(), 5);
    assert_eq!(entry.parameters().next().unwrap().0, "p");
    assert_eq!(entry.instruction("q").unwrap().attribute("literal").unwrap().text(), "s32[2]{0} {1, 2}");
    assert_eq!(entry.instruction("s").unwrap().attribute("literal").unwrap().text(), "s32[] 1");
    assert_eq!(entry.root().attribute("window").unwrap().window().unwrap().len(), 1);
}

#[test]
fn modules_are_read_in_part() {
    // Without ENTRY, the last computation is the entry.
    let module =
        parse("HloModule m\nf { ROOT x = f32[2] parameter(0) }\ng { y = f32[2] parameter(0) ROOT z = negate(y) }");
    assert_eq!(module.entry().unwrap().name(), "g");
    // Without a head, XLA calls the module after its entry.
    let module = parse("e { ROOT x = f32[2] parameter(0) }");
    assert_eq!((module.name(), module.entry().unwrap().name()), (Some("module_e"), "e"));
    assert_eq!(parse(&module.to_string()).name(), Some("module_e"));
    // The text may be a single instruction, without a name, and with operands that are only shapes.
    let module = parse("f32[2] add(f32[2], f32[2]{0} %q), metadata={op_name=\"a\"}");
    let add = module.instructions().next().unwrap();
    assert_eq!((add.name(), add.opcode()), ("_", Opcode::Add));
    assert_eq!(add.operands().map(|operand| operand.name()).collect::<Vec<_>>(), ["_0", "q"]);
    assert_eq!(add.computation().instructions().len(), 1);
    assert_eq!(error("add(f32[2] a, f32[2] b)"), "expected a shape, found `[`");
}

#[test]
fn shapes_are_left_out() {
    let text = "\
HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = add(a, b) }
ENTRY e {
  x = f32[2,3]{0,1} parameter(0)
  y = bf16[2,3] parameter(1)
  n = negate(x)
  s = add(n, y)
  c = compare(x, x), direction=LT
  z = constant(0)
  t = transpose(s), dimensions={1,0}
  r = reduce(t, f32[] constant(0)), dimensions={0}, to_apply=add
  d = dot(x, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT u = tuple(n, c, r, d, after-all())
}
";
    let refused = error(text);
    assert_eq!(
        refused,
        "cannot infer the shape of `constant`, which is left out: it does not follow from the operands"
    );
    let text = text.replace("z = constant", "z = s32[] constant");
    let module = parse(&text);
    assert_eq!(
        module.entry().unwrap().root().shape().to_string(),
        "(f32[2,3]{0,1}, pred[2,3]{0,1}, f32[2]{0}, f32[2,2]{1,0}, token[])"
    );
    assert_eq!(module.instruction("s").unwrap().shape().to_string(), "f32[2,3]{0,1}");
    assert_eq!(module.instruction("s").unwrap().shape_text(), "");
    // The module can be read. The check refuses operands of two precisions, because the module is not an optimised one.
    let findings: Vec<_> = module.check().iter().map(ToString::to_string).collect();
    assert_eq!(findings, ["%s (add): expected floats of one precision, found f32[2,3] and bf16[2,3]"]);

    // Each tuple is twice as large as the one before.
    let mut text = String::from("HloModule m\nENTRY e {\n  t0 = f32[] parameter(0)\n");
    for depth in 1..60 {
        text.push_str(&format!("  t{depth} = tuple(t{0}, t{0})\n", depth - 1));
    }
    text.push_str("}\n");
    assert_eq!(error(&text), "cannot infer the shape of `tuple`, which is left out: the inferred shapes are too large");
}

/// XLA (jaxlib 0.12) reads each of these, and compiles those that it can compile for a CPU.
#[test]
fn forms_that_xla_reads_have_no_errors() {
    let callee = "w {\n p = f32[16] parameter(0)\n q = f32[16] parameter(1)\n ROOT r = f32[16] add(p, q)\n}\n";
    let slice = "n {\n p = f32[8] parameter(0)\n ROOT r = f32[8] negate(p)\n}\n";
    let scalars = "a = f32[] parameter(0)\n b = f32[] parameter(1)";
    let vectors = "a = f32[16] parameter(0)\n b = f32[16] parameter(1)";
    for (before, instructions) in [
        (
            "",
            "a = f32[2,2] parameter(0)\n ROOT d = f32[2,2] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={HIGH,Highest}",
        ),
        ("", "a = f32[] parameter(0)\n ROOT r = f32[4] rng(a, a), distribution=RNG_UNIFORM"),
        (
            "",
            "a = f32[] parameter(0)\n s = s32[1] parameter(1)\n ROOT r = f32[4] rng(a, a, s), distribution=rng_uniform",
        ),
        ("", "ROOT c = f8e8m0fnu[] constant(5.87747e-39)"),
        (
            "",
            "a = f32[2] parameter(0)\n t = token[] after-all()\n ROOT o = token[] outfeed(a, t), outfeed_shape=f32[2]{0}, sharding={{manual}, {manual}}",
        ),
        (
            slice,
            "param.0 = f32[16,8] parameter(0)\n ROOT z = f32[16,8] scan(param.0), dimensions={0}, num_carries=0, is_associative=true, to_apply=n",
        ),
        (
            "",
            "a = f32[1,8,8,4] parameter(0)\n k = f32[3,3,4,4] parameter(1)\n z = u16[3,3,4,4] parameter(2)\n ROOT o = f32[1,6,6,4] convolution(a, k, z), window={size=3x3}, dim_labels=b01f_01io->b01f, sparsity_config={}",
        ),
        (
            "",
            "a = f32[128,64] parameter(0)\n b = f32[128,64] parameter(1)\n i = s32[] parameter(2)\n t = (s32[], s32[]) tuple(i, i)\n u = ((s32[], s32[]), (s32[], s32[])) tuple(t, t)\n ROOT c = f32[128,64] collective-permute(a, b, u, u), source_target_pairs={{0,1}}, slice_sizes={{128,32},{128,32}}",
        ),
        ("", &format!("{scalars}\n ROOT c = f32[] add(f32[] %a, f32[], %b)")),
        ("", &format!("{scalars}\n ROOT c = f32[] add(a, s32[7], f32[] %b)")),
        (
            callee,
            &format!(
                "{vectors}\n s = ((), f32[16], s32[]) call-start(), to_apply=w\n u = ((f32[16], f32[16]), f32[16], s32[]) async-update(s, a, b)\n ROOT d = f32[16] call-done(u)"
            ),
        ),
        (
            callee,
            &format!(
                "{vectors}\n s = ((f32[16]), f32[16], s32[]) async-start(a), calls=w\n u = ((f32[16], f32[16]), f32[16], s32[]) async-update(s, b)\n ROOT d = f32[16] async-done(u)"
            ),
        ),
        (
            callee,
            &format!(
                "{vectors}\n s = ((f32[16]), (), s32[]) async-start(a), calls=w\n u = ((f32[16], f32[16]), f32[16], s32[]) async-update(s, b)\n ROOT d = f32[16] async-done(u)"
            ),
        ),
    ] {
        let text = format!("HloModule m\n{before}ENTRY e {{\n {instructions}\n}}\n");
        let module = parse(&text);
        let found: Vec<_> = module.check().iter().map(|finding| format!("{finding:?}")).collect();
        assert!(found.is_empty(), "{instructions}: {found:?}");
    }
    let operands = with_tuple("  a = f32[2] add(x#0, s32[7], x#0)");
    assert_eq!(parse(&operands).instruction("a").unwrap().operands().count(), 2);
    assert!(
        Module::parse("HloModule m\nENTRY e {\n a = f32[] parameter(0)\n ROOT b = f32[] negate(f32[] ?)\n}").is_err()
    );
}

#[test]
fn a_number_alone_for_an_array_is_a_hint() {
    let module = parse("HloModule m\nENTRY e {\n ROOT c = s32[2,2] constant(7)\n}");
    let found = module.check();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].severity(), xla_shape_hlo::Severity::Hint);
    // XLA reads {{7,0},{0,0}}.
    let becomes = "found one number, which XLA reads as the first element, followed by 3 zeros";
    assert!(found[0].to_string().ends_with(becomes), "{}", found[0]);
}
