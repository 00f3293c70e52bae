//! The check of a module: its findings, message by message; and it finds nothing in modules that compilers write.

use serde::Deserialize;
use xla_shape_hlo::{Module, Problem, Severity};
use xla_shape_tests::corpus;

const SUM: &str = "sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n";
const NOT: &str = "not {\n  a = pred[] parameter(0)\n  ROOT c = pred[] not(a)\n}\n";

/// A module with these attributes whose entry computation has these lines; returns all findings.
fn findings(attributes: &str, lines: &str) -> Vec<String> {
    let text = format!("HloModule m{attributes}\n{SUM}{NOT}ENTRY e {{\n  x = f32[4] parameter(0)\n{lines}\n}}\n");
    let module = Module::parse(&text).unwrap_or_else(|error| panic!("{}", error.render(&text)));
    let text = |found: &xla_shape_hlo::Finding<'_>| {
        assert!(found.span().end <= text.len() && found.span().start < found.span().end, "{found}");
        found.to_string()
    };
    module.check().iter().map(text).collect()
}

#[track_caller]
fn finds(attributes: &str, lines: &str, expected: &str) {
    let found = findings(attributes, lines);
    assert_eq!(found, if expected.is_empty() { vec![] } else { vec![expected.to_owned()] }, "{lines}");
}

#[test]
fn unknown_things_are_hints_that_name_them() {
    finds(
        "",
        "  ROOT r = f32[4] teleport(x)",
        "hint: %r (teleport): the opcode `teleport` is unknown and is not checked",
    );
    finds(
        "",
        "  ROOT r = f32[4] negate(x), mood=good",
        "hint: %r (negate): the attribute `mood` is unknown and is not checked",
    );
    finds("", "  ROOT r = f32[4] atan(x)", "");
    finds("", "  ROOT r = f32[4] shuffle(x)", "%r (shuffle): expected the attribute `dimensions`, found none");
}

#[test]
fn attributes_of_other_opcodes_are_hints_that_name_them() {
    let hint =
        |name: &str, opcode: &str| format!("hint: %r ({opcode}): expected an attribute of `{opcode}`, found `{name}`");
    finds("", "  ROOT r = f32[4] negate(x), k=1", &hint("k", "negate"));
    finds("", "  ROOT r = f32[4] negate(x), result_accuracy={mode=highest}", &hint("result_accuracy", "negate"));
    finds("", "  ROOT r = f32[4] exponential(x), result_accuracy={mode=highest}", "");
    finds("", "  ROOT r = f32[4] shuffle(x), dimensions={0}, mode=rotate, shifts={-1}", "");
    finds("", "  ROOT r = f32[4] all-reduce(x), to_apply=sum, mode=flattened_id", "");
    // For an unknown opcode, it is not known which attributes belong to other opcodes.
    let found = findings("", "  ROOT r = f32[4] teleport(x), k=1");
    assert_eq!(found, ["hint: %r (teleport): the opcode `teleport` is unknown and is not checked"]);
    // The start of an asynchronous operation may have all attributes of the operation.
    let slice = "  s = ((f32[4]), f32[2], u32[]) slice-start(x), slice={[0:2]}, async_execution_thread=\"t\"\n  \
                 ROOT r = f32[2] slice-done(s)";
    finds("", slice, "");
}

#[test]
fn values_that_xla_reads_are_read() {
    let negate = |attribute: &str| format!("  ROOT r = f32[4] exponential(x), {attribute}");
    for good in [
        "statistics={}",
        "statistics={a=1}",
        "statistics={a=-1,b=nan,c=-1.5e-7}",
        "result_accuracy={mode=DEFAULT}",
        "result_accuracy={tolerance={}}",
        "result_accuracy={tolerance={ulps=1.5}}",
        "result_accuracy={tolerance={rtol=inf,atol=-0.0,ulps=-0.5}}",
    ] {
        finds("", &negate(good), "");
    }
    for bad in [
        "statistics={visualizing_index=0.5,a=1}",
        "statistics={visualizing_index=0,a=foo}",
        "statistics={visualizing_index=0,a=inf}",
        "result_accuracy={}",
        "result_accuracy={ulps=1.5}",
        "result_accuracy={tolerance={ulps=-1}}",
        "result_accuracy={tolerance={ulps=inf}}",
        "result_accuracy={tolerance={atol=nan}}",
        "result_accuracy={tolerance={atol=-1}}",
        "result_accuracy={mode=highest,tolerance={ulps=3}}",
    ] {
        assert_eq!(findings("", &negate(bad)).len(), 1, "{bad}");
    }
    finds(", entry_computation_layout={ (f32[4]{0},) -> f32[4] }", &negate("metadata={}"), "");
    for bad in ["{(,)->f32[4]}", "{f32[4]->f32[4]}", "{(f32[4])->f32[4],}", "{(f32[4])->}", "{}"] {
        let found = findings(&format!(", entry_computation_layout={bad}"), &negate("metadata={}"));
        assert_eq!(found.len(), 1, "{bad}: {found:?}");
    }
}

#[test]
fn orders_of_elements() {
    let compare =
        |elements: &str, rest: &str| format!("  y = {elements}\n  ROOT r = pred[4] compare(y, y), direction={rest}");
    let (int, complex) = ("s32[4] convert(x)", "c64[4] complex(x, x)");
    for (elements, rest) in [(int, "LT"), (int, "LT, type=SIGNED"), (int, "EQ, order=TOTAL"), (complex, "NE")] {
        finds("", &compare(elements, rest), "");
    }
    finds(
        "",
        &compare(int, "LT, type=FLOAT"),
        "%r (compare): expected a total order of elements of s32, found `type=FLOAT`",
    );
    finds(
        "",
        &compare(int, "LT, order=PARTIAL"),
        "%r (compare): expected a total order of elements of s32, found `order=PARTIAL`",
    );
    finds("", &compare(complex, "LT"), "%r (compare): expected the direction EQ or NE for elements of c64, found LT");
}

#[test]
fn computations_of_fusions_and_asynchronous_operations() {
    let module = |body: &str, call: &str| {
        format!(
            "HloModule m\nf {{\n  a = f32[4] parameter(0)\n{body}\n}}\nENTRY e {{\n  x = f32[4] parameter(0)\n{call}\n}}\n"
        )
    };
    let all = |text: &str| {
        let module = Module::parse(text).unwrap();
        module.check().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let fusion = "  ROOT r = f32[4] fusion(x), kind=kLoop, calls=f";
    let root = "  ROOT b = f32[4] negate(a)";
    assert!(all(&module(root, fusion)).is_empty());
    assert_eq!(
        all(&module(&format!("  c = f32[4] cosine(a)\n{root}"), fusion)),
        ["%c (cosine): expected every instruction of a fused computation to be the root or to have a user, found none"]
    );
    assert_eq!(
        all(&module(&format!("{root}\n  c = f32[4] custom-call(b), custom_call_target=\"t\""), fusion)),
        ["%b (negate): expected the root of a fused computation to have no user, found one"]
    );
    let start = "  s = ((f32[4]), f32[4], u32[]) async-start(x), calls=f\n  ROOT r = f32[4] async-done(s)";
    assert!(all(&module(root, start)).is_empty());
    assert_eq!(
        all(&module("  c = f32[4] cosine(a)\n  ROOT b = f32[4] negate(c)", start)),
        ["%c (cosine): expected one operation and its parameters in an asynchronous computation, found also `cosine`"]
    );
}

#[test]
fn buffers_are_only_handed_on() {
    let pin = "  b = b(f32[4]) custom-call(x), custom_call_target=\"Pin\", output_to_operand_aliasing={{}: (0, {})}\n";
    let unpin =
        "  ROOT r = f32[4] custom-call(b), custom_call_target=\"Unpin\", output_to_operand_aliasing={{}: (0, {})}";
    finds("", &format!("{pin}{unpin}"), "");
    let found = findings("", &format!("{pin}  ROOT r = f32[4] negate(b)"));
    let expected = "%r (negate): expected arrays, found a buffer, which only custom calls and loops may use".to_owned();
    assert!(found.contains(&expected), "{found:?}");
}

#[test]
fn heads_that_xla_does_not_read_are_hints() {
    let text = "HloModule m\nENTRY e (x: f32[5]) -> f32[4] {\n  ROOT x = f32[4] parameter(0)\n}\n";
    let module = Module::parse(text).unwrap();
    let found = &module.check()[0];
    assert_eq!(found.severity(), Severity::Hint);
    assert_eq!(
        found.to_string(),
        "hint: %x (parameter): expected the shape f32[5], as in the computation's signature, found f32[4]"
    );
}

#[test]
fn element_classes_and_precisions() {
    finds(
        "",
        "  i = s32[4] convert(x)\n  ROOT r = s32[4] exponential(i)",
        "%r (exponential): expected elements of floats or complex numbers in operand 0, found s32",
    );
    let mixed = "  b = bf16[4] convert(x)\n  ROOT r = f32[4] add(x, b)";
    finds("", mixed, "%r (add): expected floats of one precision, found f32[4] and bf16[4]");
    // The compiler for TPUs writes this after optimisation.
    finds(", is_scheduled=true", mixed, "");
    finds("", "  ROOT r = bf16[4] copy(x)", "%r (copy): expected the shape f32[4], found bf16[4]");
    finds(", is_scheduled=true", "  ROOT r = bf16[4] copy(x)", "");
    finds(", is_scheduled=true", "  ROOT r = s32[4] copy(x)", "%r (copy): expected the shape f32[4], found s32[4]");
    finds(
        "",
        "  i = s32[4] convert(x)\n  ROOT r = s8[] dot(i, i), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
        "hint: %r (dot): expected a result at least as wide as the operands, s32, found s8",
    );
}

#[test]
fn refusals_say_what_is_wrong() {
    for (lines, why) in [
        ("  ROOT r = f32[4] add(x)", "%r (add): expected 2 operands, found 1"),
        ("  ROOT r = f32[4] concatenate(), dimensions={0}", "%r (concatenate): expected at least 1 operand, found 0"),
        ("  t = token[] after-all()\n  ROOT r = f32[4] negate(t)", "%r (negate): expected an array as operand 0"),
        (
            "  i = s32[4] convert(x)\n  ROOT r = f32[4] add(x, i)",
            "%r (add): expected elements of f32 in operand 1, found s32",
        ),
        (
            "  ROOT r = f32[4] pad(x, x), padding=0_0",
            "%r (pad): expected a scalar as operand 1, found an array of 1 dimension",
        ),
        ("  ROOT r = f32[4] cholesky(x)", "%r (cholesky): expected 2 or more dimensions in operand 0, found 1"),
        ("  ROOT r = pred[4] iota(), iota_dimension=0", "%r (iota): expected the elements of the result to be numbers"),
        (
            "  t = (f32[4]) tuple(x)\n  ROOT r = f32[4] get-tuple-element(t), index=1",
            "%r (get-tuple-element): expected an index less than 1, the number of elements, found 1",
        ),
        ("  ROOT r = f32[4] transpose(x)", "%r (transpose): expected the attribute `dimensions`, found none"),
        (
            "  ROOT r = (f32[4]) tuple(x, x)",
            "%r (tuple): expected a tuple of 2 elements, one for each operand, found (f32[4])",
        ),
        (
            "  ROOT r = f64[3] bitcast(x)",
            "%r (bitcast): expected a result of 16 bytes, the size of the operand, found 24",
        ),
        (
            "  i = s32[] constant(0)\n  ROOT r = f32[1] dynamic-slice(x, i), dynamic_slice_sizes={5}",
            "%r (dynamic-slice): expected a slice inside dimension 0 of size 4, found the one from 0 to 5",
        ),
    ] {
        finds("", lines, why);
    }
}

#[test]
fn called_computations() {
    finds(
        "",
        "  ROOT r = f32[4] map(x), dimensions={0}, to_apply=gone",
        "%r (map): expected the name of a computation, found `gone`",
    );
    finds(
        "",
        "  z = f32[] constant(0)\n  ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=not",
        "%r (reduce): expected 2 parameters of `to_apply`, found 1",
    );
    finds(
        "",
        "  ROOT r = f32[4] all-reduce(x), to_apply=not",
        "%r (all-reduce): expected a computation of two scalars as `to_apply`, found `not` with 1 parameters",
    );
    finds(
        "",
        "  ROOT r = f32[4] custom-call(x), custom_call_target=\"f\", called_computations={gone}",
        "%r (custom-call): expected the name of a computation, found `gone`",
    );
    finds(
        "",
        "  ROOT r = f32[4] while(x), condition=not, body=not",
        "%r (while): expected parameter 0 of `condition` to be of the shape of its operand",
    );
    finds(
        "",
        "  i = u32[] constant(0)\n  ROOT r = f32[4] conditional(i, x), branch_computations={not}",
        "%r (conditional): expected elements of pred or s32 in operand 0, found u32",
    );
}

#[test]
fn computations_do_not_call_themselves() {
    let text = "HloModule m\na {\n  x = f32[] parameter(0)\n  ROOT r = f32[] call(x), to_apply=b\n}\nb {\n  \
        x = f32[] parameter(0)\n  ROOT q = f32[] call(x), to_apply=a\n}\nENTRY e {\n  x = f32[] parameter(0)\n  \
        ROOT r = f32[] call(x), to_apply=a\n}\n";
    // The parser may refuse this, too.
    if let Ok(module) = Module::parse(text) {
        let found: Vec<_> = module.check().iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "%q (call): expected computations that do not call themselves, found a cycle of calls through this instruction"
            ]
        );
    }
}

#[test]
fn pairs() {
    let start = "  s = (f32[4], f32[4], u32[]) copy-start(x)\n";
    finds("", &format!("{start}  ROOT r = f32[4] copy-done(s)"), "");
    finds(
        "",
        &format!("{start}  ROOT r = f32[4] copy(x)"),
        "%s (copy-start): expected one `copy-done` that uses it, found none",
    );
    finds(
        "",
        &format!("{start}  ROOT r = f32[4] get-tuple-element(s), index=0"),
        "hint: %s (copy-start): expected one `copy-done` that uses it, found `get-tuple-element`",
    );
    finds(
        "",
        "  t = (f32[4], f32[4], u32[]) custom-call(), custom_call_target=\"f\"\n  ROOT r = f32[4] copy-done(t)",
        "%r (copy-done): expected `copy-start` as the operand, found `custom-call`",
    );
    finds(
        "",
        "  s = (f32[4], f32[4]) all-gather-start(x), dimensions={0}\n  ROOT r = f32[4] copy(x)",
        "%s (all-gather-start): expected one `all-gather-done` that uses it, found none",
    );
    let two = format!("{start}  d = f32[4] copy-done(s)\n  ROOT r = f32[4] copy-done(s)");
    finds("", &two, "%s (copy-start): expected one `copy-done` that uses it, found several instructions");
    // In an optimised module, an iteration of a loop may end an operation that the iteration before began.
    finds(
        ", is_scheduled=true",
        &two,
        "hint: %s (copy-start): expected one `copy-done` that uses it, found several instructions",
    );
    let send = |first: &str, last: &str| {
        format!(
            "  t = token[] after-all()\n  s = (f32[4], u32[], token[]) send(x, t), channel_id={first}\n  \
             d = token[] send-done(s), channel_id={last}\n  ROOT r = f32[4] copy(x)"
        )
    };
    finds("", &send("1", "1"), "");
    finds("", &send("1", "2"), "%s (send): expected `channel_id=1`, as `s` has, found `channel_id=2`");
    // The compiler of several slices gives transfers the channels of collectives.
    finds("", &format!("{}\n  p = f32[4] all-reduce(x), channel_id=1, to_apply=sum", send("1", "1")), "");
}

#[test]
fn transfers_with_the_host_share_a_channel_if_they_are_the_same() {
    let send = |name: &str, shape: &str, more: &str| {
        format!(
            "  {name} = ({shape}, u32[], token[]) send(x, t), channel_id=5{more}\n  \
             d.{name} = token[] send-done({name}), channel_id=5{}\n",
            if more.contains("is_host_transfer=true") { ", is_host_transfer=true" } else { "" }
        )
    };
    let both =
        |first: String, second: String| format!("  t = token[] after-all()\n{first}{second}  ROOT r = f32[4] copy(x)");
    let host = ", is_host_transfer=true";
    let named = ", is_host_transfer=true, frontend_attributes={a=\"1\",b=\"2\"}";
    let swapped = ", is_host_transfer=true, frontend_attributes={b=\"2\",a=\"1\"}, metadata={op_name=\"n\"}";
    for (first, second) in [("", ""), ("", host), (host, ""), (host, host), (named, swapped)] {
        finds("", &both(send("s", "f32[4]", first), send("q", "f32[4]", second)), "");
    }
    for (first, second, what) in [
        (host, named, "`frontend_attributes`"),
        (host, ", is_host_transfer=true, backend_config=\"c\"", "`backend_config`"),
    ] {
        finds(
            "",
            &both(send("s", "f32[4]", first), send("q", "f32[4]", second)),
            &format!(
                "%q (send): expected all host transfers on channel 5 to have the same {what}, found a difference from `s`"
            ),
        );
    }
    let recv = "  q = (f32[4], u32[], token[]) recv(t), channel_id=5, is_host_transfer=true\n  \
                e = (f32[4], token[]) recv-done(q), channel_id=5, is_host_transfer=true\n";
    finds(
        "",
        &both(send("s", "f32[4]", host), recv.into()),
        "%q (recv): expected all host transfers on channel 5 to have the same opcode, found a difference from `s`",
    );
    let more = recv.replace("f32[4]", "f32[5]").replace("q", "o").replace("e =", "m =");
    finds(
        "",
        &both(recv.into(), more),
        "%o (recv): expected all host transfers on channel 5 to have the same shape, found a difference from `q`",
    );
}

#[test]
fn what_another_thread_starts_may_hide_the_operands_of_an_alias() {
    let start = |operands: &str, thread: &str| {
        format!(
            "  s = (({operands}), (), s32[8]) custom-call-start({}){thread}, custom_call_target=\"f\", \
             output_to_operand_aliasing={{{{}}: (0, {{}})}}, frontend_attributes={{xla_skip_custom_call_alias_shape_check=\"1\"}}\n  \
             d = () custom-call-done(s)\n  ROOT r = f32[4] copy(x)",
            if operands.is_empty() { "" } else { "x" }
        )
    };
    finds("", &start("", ", async_execution_thread=\"sparsecore\""), "");
    finds("", &start("f32[4]", ", async_execution_thread=\"sparsecore\""), "");
    finds("", &start("", ""), "%s (custom-call-start): expected an alias with an existing operand, found number 0");
}

#[test]
fn layouts_of_sums_are_kept_by_all_or_none() {
    let two = |first: &str, second: &str| {
        format!(
            "  y = f32[4] all-reduce(x), to_apply=sum{first}\n  ROOT r = f32[4] all-reduce(y), to_apply=sum{second}"
        )
    };
    let keeps = ", constrain_layout=true";
    finds("", &two(keeps, keeps), "");
    finds(
        "",
        &two(keeps, ""),
        "%r (all-reduce): expected `constrain_layout=true`, like every other all-reduce, found `constrain_layout=false`",
    );
}

#[test]
fn groups_and_pairs_of_devices() {
    let all_reduce = |groups: &str| format!("  ROOT r = f32[4] all-reduce(x), replica_groups={groups}, to_apply=sum");
    for good in ["{}", "{{0,1},{2,3}}", "{{0},{1,2,3}}", "[2,2]<=[4]", "[2,2]<=[2,2]T(1,0)"] {
        finds(", replica_count=4", &all_reduce(good), "");
    }
    for (bad, why) in [
        ("{{0,1},{1,3}}", "every device once in `replica_groups`, found 1 again"),
        ("{{0,1},{2,4}}", "the devices from 0 on in `replica_groups`, found none with the number 3"),
        ("{{0,1},{}}", "devices in every group of `replica_groups`, found an empty group"),
        ("{{0,1}}", "all 4 replicas in `replica_groups`, found 2"),
        ("[2,2]<=[8]", "as many devices in the groups as the dimensions after `<=` have, 8, found 4"),
        ("[2,2]<=[2,2]T(1,1)", "a permutation of the array's dimensions after `T`, found other numbers"),
    ] {
        finds(", replica_count=4", &all_reduce(bad), &format!("%r (all-reduce): expected {why}"));
    }
    finds(
        "",
        "  ROOT r = f32[4] all-reduce(x), channel_id=1, use_global_device_ids=true, to_apply=sum",
        "%r (all-reduce): expected `replica_groups`, which `use_global_device_ids` requires, found none",
    );
    finds(
        "",
        "  ROOT r = f32[8] all-gather(x), dimensions={0}, replica_groups={{0,1},{2}}",
        "%r (all-gather): expected groups of 2 devices, like the first one, found one of 1",
    );
    let permute = |pairs: &str| format!("  ROOT r = f32[4] collective-permute(x), source_target_pairs={pairs}");
    finds(", replica_count=2", &permute("{{0,1},{1,0}}"), "");
    finds(
        "",
        &permute("{{0,1},{0,2}}"),
        "%r (collective-permute): expected every source once in `source_target_pairs`, found 0 again",
    );
    finds(
        "",
        &permute("{{0,1},{2,1}}"),
        "%r (collective-permute): expected every target once in `source_target_pairs`, found 1 again",
    );
    finds(
        ", replica_count=2",
        &permute("{{0,2}}"),
        "%r (collective-permute): expected devices below 2 in `source_target_pairs`, found 2",
    );
}

#[test]
fn shardings_fit() {
    finds(", num_partitions=2", "  ROOT r = f32[4] negate(x), sharding={devices=[2]<=[2]}", "");
    let found = findings("", "  ROOT r = f32[4] negate(x), sharding={devices=[2,1]<=[2]}");
    assert!(
        found.len() == 1 && found[0].starts_with("%r (negate): expected a sharding that fits f32[4], found "),
        "{found:?}"
    );
    // A loop's state has the same sharding before, in and after the loop; a branch's result keeps its sharding outside.
    let module = |parameter: &str, root: &str, call: &str| {
        format!(
            "HloModule m, num_partitions=2\nc {{\n  p = f32[4] parameter(0){parameter}\n  ROOT t = pred[] constant(false)\n}}\n\
             b {{\n  p = f32[4] parameter(0)\n  ROOT n = f32[4] negate(p){root}\n}}\nENTRY e {{\n  \
             x = f32[4] parameter(0)\n  i = s32[] constant(0)\n  ROOT r = f32[4] {call}\n}}\n"
        )
    };
    let all = |text: String| Module::parse(&text).unwrap().check().iter().map(ToString::to_string).collect::<Vec<_>>();
    let (one, two) = (", sharding={replicated}", ", sharding={devices=[2]<=[2]}");
    let (loops, branches) = ("while(x), condition=c, body=b", "conditional(i, x, x), branch_computations={b, b}");
    assert!(all(module(two, two, &format!("{loops}{two}"))).is_empty());
    assert!(all(module("", two, branches)).is_empty());
    for (opcode, text) in [
        ("while", module(one, two, loops)),
        ("while", module("", one, &format!("{loops}{two}"))),
        ("conditional", module("", one, &format!("{branches}{two}"))),
    ] {
        let found = all(text);
        let start = format!("%r ({opcode}): expected the sharding {{");
        assert!(found.len() == 1 && found[0].starts_with(&start), "{found:?}");
    }
    finds(
        ", num_partitions=2",
        "  ROOT r = f32[4] negate(x), sharding={devices=[4]<=[4]}",
        "%r (negate): expected a sharding for 2 devices, found one for 4",
    );
}

#[test]
fn aliases_and_the_entry() {
    finds(", input_output_alias={ {}: (0, {}, may-alias) }", "  ROOT r = f32[4] negate(x)", "");
    finds(
        ", input_output_alias={ {}: (1, {}, may-alias) }",
        "  ROOT r = f32[4] negate(x)",
        "%r (negate): expected an alias with an existing parameter, found number 1",
    );
    finds(
        ", input_output_alias={ {2}: (0, {}, may-alias) }",
        "  ROOT r = f32[4] negate(x)",
        "%r (negate): expected an alias of an existing part of the result, found {2}",
    );
    finds(
        ", input_output_alias={ {}: (0, {1}, may-alias) }",
        "  ROOT r = f32[4] negate(x)",
        "%r (negate): expected an alias with an existing part of parameter 0, found {1}",
    );
    finds(
        ", input_output_alias={ {}: (0, {}, may-alias) }",
        "  ROOT r = bf16[4] convert(x)",
        "%r (convert): expected a result of 16 bytes, the size of the operand, found 8",
    );
    // With `must-alias`, both must have the same shape.
    finds(
        ", input_output_alias={ {}: (0, {}, must-alias) }",
        "  ROOT r = s32[4] convert(x)",
        "%r (convert): expected the shape f32[4], found s32[4]",
    );
    finds(
        ", input_output_alias={ {}: (0, {}, may-alias) }",
        "  ROOT r = (f32[4]) tuple(x)",
        "%r (tuple): expected an alias of arrays, found one of another kind of shape",
    );
    finds(
        ", input_output_alias={ {0}: (0, {}), {1}: (0, {}) }",
        "  ROOT r = (f32[4], f32[4]) tuple(x, x)",
        "%r (tuple): expected every part of a parameter once in `input_output_alias`, found {} of parameter 0 again",
    );
    finds(", buffer_donor={ (0, {}), }", "  ROOT r = f32[4] negate(x)", "");
    for (donors, why) in [
        ("{ (1, {}) }", "one of the parameters in `buffer_donor`, found number 1"),
        ("{ (0, {0}) }", "an array of parameter 0 in `buffer_donor`, found {0}"),
        (
            "{ (0, {}) }, input_output_alias={ {}: (0, {}) }",
            "no alias of a part in `buffer_donor`, found one of {} of parameter 0",
        ),
    ] {
        let attributes = format!(", buffer_donor={donors}");
        finds(&attributes, "  ROOT r = f32[4] negate(x)", &format!("%r (negate): expected {why}"));
    }
    // For `may-alias`, XLA compares only the sizes in bytes, not the shapes.
    finds(", input_output_alias={ {}: (0, {}, may-alias) }", "  ROOT r = s32[4] convert(x)", "");
    finds(", input_output_alias={ {}: (0, {}, may-alias) }", "  ROOT r = f32[2,2] reshape(x)", "");
    let call = "  ROOT r = f32[2,2] custom-call(x), custom_call_target=\"t\", output_to_operand_aliasing={{}: (0, {})}";
    finds("", call, "%r (custom-call): expected the shape f32[4], found f32[2,2]");
    finds("", &format!("{call}, frontend_attributes={{xla_skip_custom_call_alias_shape_check=\"1\"}}"), "");
    finds(
        ", entry_computation_layout={(f32[5]{0})->f32[4]{0}}",
        "  ROOT r = f32[4] negate(x)",
        "%x (parameter): expected the shape f32[5], found f32[4]",
    );
    finds(
        ", entry_computation_layout={(f32[4]{0}, f32[4]{0})->f32[4]{0}}",
        "  ROOT r = f32[4] negate(x)",
        "%r (negate): expected 1 parameters in `entry_computation_layout`, found 2",
    );
    finds(
        "",
        "  ROOT r = f32[4] custom-call(x), custom_call_target=\"f\", output_to_operand_aliasing={{}: (1, {})}",
        "%r (custom-call): expected an alias with an existing operand, found number 1",
    );
    finds(
        "",
        "  ROOT r = f32[4] custom-call(x), custom_call_target=\"f\", operand_layout_constraints={f32[4]{0}, f32[4]{0}}",
        "%r (custom-call): expected 1 shapes in `operand_layout_constraints`, one for each operand, found 2",
    );
}

#[test]
fn control_predecessors_stand_before() {
    finds("", "  y = f32[4] negate(x)\n  ROOT r = f32[4] negate(x), control-predecessors={y}", "");
    finds(
        "",
        "  ROOT r = f32[4] negate(x), control-predecessors={r}",
        "%r (negate): expected `control-predecessors` to name earlier instructions, found `r`",
    );
}

/// The check of long chains of calls, and of a long computation that is called often, takes time in proportion to the text.
#[test]
fn effort_is_linear() {
    let mut chain = String::from("HloModule m\nc0 {\n  ROOT x = f32[] parameter(0)\n}\n");
    for number in 1..20_000 {
        chain += &format!(
            "c{number} {{\n  x = f32[] parameter(0)\n  ROOT r = f32[] call(x), to_apply=c{}\n}}\n",
            number - 1
        );
    }
    let module = Module::parse(&chain).unwrap();
    assert!(module.check().is_empty());
    let mut wide = String::from("HloModule m\nc {\n");
    for number in 0..20_000 {
        wide += &format!("  p{number} = f32[] parameter({number})\n");
    }
    wide += "  ROOT r = f32[] add(p0, p1)\n}\nENTRY e {\n  x = f32[] parameter(0)\n";
    for number in 0..20_000 {
        wide += &format!("  y{number} = f32[] call(x), to_apply=c\n");
    }
    wide += "}\n";
    let module = Module::parse(&wide).unwrap();
    assert_eq!(module.check().len(), 20_000);
}

#[derive(Deserialize)]
struct More {
    module: String,
    text: String,
}

/// Programs without a rule of their own.
#[test]
fn more_programs_of_compilers_have_no_errors() {
    let (mut hints, mut instructions) = (0, 0);
    let modules = corpus::<More>("hlo_more.jsonl.zst");
    for row in &modules {
        let module =
            Module::parse(&row.text).unwrap_or_else(|error| panic!("{}: {}", row.module, error.render(&row.text)));
        let (errors, others): (Vec<_>, Vec<_>) =
            module.check().into_iter().partition(|found| found.severity() == Severity::Error);
        assert!(errors.is_empty(), "{}: {}", row.module, errors[0]);
        hints += others.len();
        instructions += module.instructions().len();
    }
    println!("{} modules, {instructions} instructions: no errors, {hints} hints", modules.len());
}

#[test]
fn operands_are_defined_before_they_are_used() {
    let early = "  n = f32[4] negate(q)\n  q = f32[4] copy(x)\n  ROOT r = f32[4] add(n, q)";
    for attributes in ["", ", is_scheduled=true"] {
        finds(
            attributes,
            early,
            "%n (negate): expected the operand `q` to be defined before it is used, found its definition later",
        );
        finds(
            attributes,
            "  ROOT r = f32[4] negate(r)",
            "%r (negate): expected the operand `r` to be defined before it is used, found its definition later",
        );
        let text = format!("HloModule m{attributes}\nENTRY e {{\n  x = f32[4] parameter(0)\n{early}\n}}");
        let module = Module::parse(&text).unwrap();
        let finding = &module.check()[0];
        assert_eq!(&text[finding.span().start..finding.span().end], "q");
        // The order of the instructions is not known, so there is no answer about the memory over time.
        let memory = module.memory();
        assert!(memory.timeline().is_none() && memory.timeline_on(None).is_none() && memory.peaks().is_none());
        assert!(module.to_proto().is_err());
        let in_order = text.replace("  n = f32[4] negate(q)\n", "").replace("add(n, q)", "add(q, q)");
        assert!(Module::parse(&in_order).unwrap().memory().timeline_on(None).is_some());
    }
    // Instructions outside a computation may be in any order, which is then not a schedule.
    let alone = "n = f32[4] negate(q)\nq = f32[4] parameter(0)";
    let module = Module::parse(alone).unwrap();
    assert!(module.check().is_empty() && module.memory().timeline_on(None).is_none());
}

#[test]
fn what_could_not_be_read_says_nothing_of_the_rest() {
    let head = "HloModule m, entry_computation_layout={(f32[4]{0})->f32[4]{0}}, input_output_alias={ {}: (0, {}, may-alias) }\n\
                sum { a = f32[] parameter(0)\n b = f32[]{1} parameter(1)\n ROOT s = f32[] add(a, b) }\n\
                f { p = f32[4]{1} parameter(0)\n ROOT n = f32[4] negate(p) }\n\
                ENTRY e {\n  x = f32[4]{0} parameter(0)\n";
    for lines in [
        "  b = f32[4]{1} negate(x)\n  ROOT r = f32[4] add(x, b)",
        "  b = f32[4]{1} negate(x)\n  ROOT r = f32[4] add(f32[4] b, f32[4]{0} b)",
        "  b = f32[4]{1} negate(x)\n  ROOT r = f32[4] fusion(b), kind=kLoop, calls=f",
        "  ROOT r = f32[4] fusion(x), kind=kLoop, calls=f",
        "  z = f32[] constant(0)\n  r = f32[] reduce(x, z), dimensions={0}, to_apply=sum\n  ROOT q = f32[4] negate(x)",
        "  y = f32[4] all-reduce(x), to_apply=sum\n  ROOT q = f32[4] negate(y)",
        "  ROOT r = f32[4]{1} negate(x)",
        "  y = f32[4]{1} parameter(1)\n  ROOT q = f32[4] negate(x)",
        "  s = (f32[4], f32[4], u32[]) copy-start(x)\n  d = f32[4]{1} copy-done(s)\n  ROOT q = f32[4] negate(x)",
        "  s = (f32[4], f32[4]{1}, u32[]) copy-start(x)\n  d = f32[4] copy-done(s)\n  ROOT q = f32[4] negate(d)",
        "  c = f32[4]{1} copy(x)\n  t = (f32[4], f32[4]) tuple(c, x)\n  ROOT q = f32[4] get-tuple-element(t), index=0",
    ] {
        let text = format!("{head}{lines}\n}}");
        let (module, errors) = Module::parse_with_errors(&text);
        assert!(!errors.is_empty());
        for finding in module.check() {
            assert_eq!(*finding.problem(), Problem::Unread, "{lines}: {finding}");
        }
    }
}
