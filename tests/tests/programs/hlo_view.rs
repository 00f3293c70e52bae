//! What can be found in modules: wrong instructions, memory, and the positions of shapes.

use std::collections::BTreeMap;
use xla_shape_hlo::{Buffer, Memory, Module, find_shapes, instruction_shapes};
use xla_shape_tests::{every, hlo_modules};

/// The finding about the last of these instructions.
fn finding(instructions: &str) -> String {
    let module = Module::parse(instructions).unwrap();
    match module.check().as_slice() {
        [] => String::new(),
        [finding] => finding.problem().to_string(),
        findings => panic!("{findings:?}"),
    }
}

#[test]
fn wrong_shapes_are_found() {
    let operands = "a = f32[2,3] parameter(0)\nb = f32[3,5] parameter(1)\np = pred[2,3] parameter(2)\ns = s32[] parameter(3)\n\
                    t = (f32[2,3], s32[]) tuple(a, s)\nz = f32[] constant(0)\nx = c64[2,3] parameter(4)\n";
    let cases = [
        ("f32[2,4] negate(a)", "expected the shape f32[2,3], found f32[2,4]"),
        ("bf16[2,3] negate(a)", "expected the shape f32[2,3], found bf16[2,3]"),
        ("f32[2,3] add(a)", "expected 2 operands, found 1"),
        ("f32[2,3] add(a, b)", "expected size 2 in dimension 0 of an operand, found 3"),
        ("f32[2,3] add(a, p)", "expected elements of f32 in operand 1, found pred"),
        ("f32[2,3] negate(t)", "expected an array as operand 0"),
        ("f32[2,3] compare(a, a), direction=LT", "expected the shape pred[2,3], found f32[2,3]"),
        ("f32[2,3] select(a, a, a)", "expected elements of pred in operand 0, found f32"),
        ("f32[2,3] clamp(z, a, b)", "expected size 2 in dimension 0 of an operand, found 3"),
        ("f32[2,9] broadcast(a), dimensions={0,1}", "expected size 3 in dimension 1 of the result, found 9"),
        ("f32[7] reshape(a)", "expected a result of 6 elements, found 7"),
        ("f32[2,3] transpose(a), dimensions={1,0}", "expected the shape f32[3,2], found f32[2,3]"),
        ("f32[2,3] transpose(a), dimensions={0,0}", "dimension 0 is named twice in `dimensions`"),
        (
            "f32[1,3] slice(a), slice={[0:1], [0:4]}",
            "expected a slice inside dimension 1 of size 3, found the one from 0 to 4",
        ),
        ("f32[1,3] slice(a)", "expected the attribute `slice`, found none"),
        ("f32[1,3] slice(a), slice={0:1}", "expected a slice: `[start:limit]` or `[start:limit:stride]`, found `0:1`"),
        ("f32[2,3] pad(a, z), padding=0_1x0_0", "expected the shape f32[3,3], found f32[2,3]"),
        ("f32[2,3] concatenate(a, a), dimensions={1}", "expected the shape f32[2,6], found f32[2,3]"),
        ("f32[3] reduce(a, z), dimensions={1}", "expected the attribute `to_apply`, found none"),
        ("f32[2,3] reduce-window(a, z), window={size=1x2 stride=1x2}", "expected the attribute `to_apply`, found none"),
        (
            "f32[5,2] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
            "expected the shape f32[2,5], found f32[5,2]",
        ),
        (
            "f32[2,5] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
            "expected size 2 in dimension 0 of the right operand, found 3",
        ),
        ("f32[5,2] convolution(a, b), dim_labels=bf_io->bf", "expected the shape f32[2,5], found f32[5,2]"),
        (
            "f32[2,5] convolution(a, b), dim_labels=bf_io->bg",
            "expected labels of a convolution, such as `b01f_01io->b01f`, found `bf_io->bg`",
        ),
        ("f32[7] bitcast(a)", "expected a result of 24 bytes, the size of the operand, found 28"),
        ("u8[7] bitcast-convert(a)", "expected the shape u8[2,3,4], found u8[7]"),
        ("f32[2,3] get-tuple-element(t), index=1", "expected the shape s32[], found f32[2,3]"),
        ("f32[2,3] get-tuple-element(t), index=2", "expected an index less than 2, the number of elements, found 2"),
        ("f32[2,3] get-tuple-element(a), index=0", "expected a tuple as operand 0"),
        ("(f32[2,3], f32[]) tuple(a, s)", "expected the shape s32[], found f32[]"),
        ("(f32[2,3]) tuple(a, s)", "expected a tuple of 2 elements, one for each operand, found (f32[2,3])"),
        ("f32[1,3] dynamic-slice(a, s), dynamic_slice_sizes={1,3}", "expected 3 operands, found 2"),
        ("f32[2,3] dynamic-slice(a, s, s), dynamic_slice_sizes={1,3}", "expected the shape f32[1,3], found f32[2,3]"),
        (
            "f32[2,3] dynamic-update-slice(a, b, s, s)",
            "expected a slice inside dimension 0 of size 2, found the one from 0 to 3",
        ),
        ("s32[4] iota(), iota_dimension=1", "expected a dimension number less than 1 in `iota_dimension`, found 1"),
        // This is only a part of a module, so a computation that it calls may be elsewhere.
        ("f32[2,3] fusion(a), kind=kLoop, calls=f", ""),
        ("pred[2,3] compare(a, a)", "expected the attribute `direction`, found none"),
        ("f32[2,3] pad(a, a), padding=0_0x0_0", "expected a scalar as operand 1, found an array of 2 dimensions"),
        ("f32[2,3] concatenate(a, a)", "expected the attribute `dimensions`, found none"),
        ("f32[4,3] concatenate(a, a), dimensions={0,1}", "expected a list of one number, found `{0,1}`"),
        ("f32[2,3] transpose(a)", "expected the attribute `dimensions`, found none"),
        ("f32[2] reduce(a, z)", "expected the attribute `to_apply`, found none"),
        ("f32[2] reduce(a, s), dimensions={1}", "expected the attribute `to_apply`, found none"),
        ("f32[2] reduce(a, a), dimensions={1}", "expected the attribute `to_apply`, found none"),
        ("s32[2] reduce(a, z), dimensions={1}", "expected the attribute `to_apply`, found none"),
        ("f64[2] reduce(a, z), dimensions={1}", "expected the attribute `to_apply`, found none"),
        (
            "f32[1,3] dynamic-slice(a, s, a), dynamic_slice_sizes={1,3}",
            "expected a scalar as operand 2, found an array of 2 dimensions",
        ),
        ("f32[2,3] reverse(a), dimensions={2}", "expected a dimension number less than 2 in `dimensions`, found 2"),
        ("f32[3,2] reverse(a), dimensions={1}", "expected the shape f32[2,3], found f32[3,2]"),
        ("f32[2,3] reduce-window(a, z), window={size=0x2}", "expected the attribute `to_apply`, found none"),
        (
            "f32[2,5] dot(a, b), lhs_batch_dims={1}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={0}",
            "dimension 1 is named twice in the left operand's batch and contracting dimensions",
        ),
        ("f32[2,3] sort(b), dimensions={0}", "expected the shape f32[3,5], found f32[2,3]"),
        (
            "(f32[2,3], f32[2,3]) sort(a, p), dimensions={0}",
            "expected the shape (f32[2,3], pred[2,3]), found (f32[2,3], f32[2,3])",
        ),
        ("(f32[2,3], f32[2,3]) sort(a), dimensions={0}", "expected the shape f32[2,3], found (f32[2,3], f32[2,3])"),
        ("f32[2,3] fft(), fft_type=FFT", "expected 1 operand, found 0"),
        ("f32[2,3] scatter(a, s)", "expected the attribute `to_apply`, found none"),
        ("f32[2,3] negate(f32[2,4] a)", "expected the shape f32[2,3] before operand 0, found f32[2,4]"),
        ("f32[2,3] negate(f32[2,3]{0,1} a)", ""),
        ("s32[2,3] abs(x)", "expected the shape f32[2,3], found s32[2,3]"),
        ("f32[2,3] abs(x)", ""),
        ("f32[2,3] negate(x)", "expected the shape c64[2,3], found f32[2,3]"),
        ("f64[2,3] real(x)", "expected the shape f32[2,3], found f64[2,3]"),
        ("f32[2,3] imag(a)", ""),
        ("c128[2,3] complex(a, a)", "expected the shape c64[2,3], found c128[2,3]"),
        ("u8[2,3] bitcast-convert(p)", ""),
        ("u8[3] bitcast-convert(p)", "expected the shape u8[2,3], found u8[3]"),
        ("f32[2,2] dot(a, b, s), lhs_contracting_dims={0}, rhs_contracting_dims={1}, sparsity=L.1@2:4", ""),
        ("f32[2,3] unheard-of(a, b)", "the opcode `unheard-of` is unknown and is not checked"),
        ("f32[2,3] negate(nowhere)", ""),
    ];
    for (instruction, expected) in cases {
        assert_eq!(finding(&format!("{operands}ROOT r = {instruction}")), expected, "{instruction}");
    }
}

/// The opcodes whose result follows from operands and attributes, each for at least one array in XLA's programs.
#[test]
fn a_larger_dimension_in_a_program_of_xla_is_found() {
    let inferred = [
        "add",
        "and",
        "clamp",
        "compare",
        "concatenate",
        "convert",
        "convolution",
        "copy",
        "divide",
        "dot",
        "dynamic-slice",
        "dynamic-update-slice",
        "exponential",
        "get-tuple-element",
        "maximum",
        "multiply",
        "negate",
        "or",
        "pad",
        "reduce",
        "reduce-window",
        "reshape",
        "reverse",
        "select",
        "slice",
        "sort",
        "subtract",
        "tanh",
        "transpose",
    ];
    let mut seen = BTreeMap::new();
    for row in every(2, hlo_modules()) {
        let module = Module::parse(&row.text).unwrap();
        let (mut text, mut copied, mut changed) = (String::new(), 0, BTreeMap::new());
        for instruction in module.instructions() {
            let opcode = instruction.opcode().text().to_owned();
            let operands: Vec<_> = instruction.operands().filter_map(|operand| operand.instruction()).collect();
            if !inferred.contains(&opcode.as_str())
                || changed.values().any(|other| *other == opcode)
                || operands.iter().any(|operand| changed.contains_key(&operand.number()))
                || instruction.shape().array().is_none_or(|array| array.num_dimensions() == 0)
            {
                continue;
            }
            let start = instruction.shape_span().start + instruction.shape_text().find('[').unwrap() + 1;
            let digits = row.text[start..].find(|c: char| !c.is_ascii_digit()).unwrap();
            // A bound begins with `<`, so it is not a number here.
            let Ok(size) = row.text[start..start + digits].parse::<usize>() else { continue };
            text.push_str(&row.text[copied..start]);
            text.push_str(&(size + 1).to_string());
            copied = start + digits;
            changed.insert(instruction.number(), opcode);
        }
        text.push_str(&row.text[copied..]);
        let module = Module::parse(&text).unwrap();
        let found: Vec<_> = module.check().iter().map(|finding| finding.instruction().number()).collect();
        for (number, opcode) in changed {
            assert!(found.contains(&number), "{} {}", row.module, module.instruction_at(number).unwrap());
            *seen.entry(opcode).or_insert(0) += 1;
        }
    }
    println!("{seen:?}");
    assert_eq!(seen.len(), inferred.len(), "{seen:?}");
}

#[test]
fn wrong_calls_are_found() {
    let callee = "f {\n  x = f32[2] parameter(0)\n  ROOT y = f32[2] negate(x)\n}\n";
    let findings = |text: &str| {
        let text = format!("{callee}{text}");
        let module = Module::parse(&text).unwrap();
        module.check().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let entry =
        |call: &str| format!("ENTRY e {{\n  a = f32[3] parameter(0)\n  b = f32[2] parameter(1)\n  ROOT c = {call}\n}}");
    assert!(findings(&entry("f32[2] call(b), to_apply=f")).is_empty());
    assert_eq!(
        findings(&entry("f32[2] call(a), to_apply=f")),
        ["%c (call): expected parameter 0 of `to_apply` to be of the shape of its operand"]
    );
    assert_eq!(findings(&entry("f32[3] call(b), to_apply=f")), ["%c (call): expected the shape f32[2], found f32[3]"]);
    assert_eq!(
        findings(&entry("f32[2] fusion(a, b), calls=f")),
        ["%c (fusion): expected 2 parameters of `calls`, found 1"]
    );
    let unknown = "%c (call): expected the name of a computation, found `g`";
    assert_eq!(findings(&entry("f32[2] call(b), to_apply=g")), [unknown]);
    let module = format!("HloModule m\n{callee}{}", entry("f32[2] call(b), to_apply=g"));
    let module = Module::parse(&module).unwrap();
    assert_eq!(module.check()[0].to_string(), unknown);
    assert_eq!(
        findings(
            &entry("f32[] reduce(b, z), dimensions={0}, to_apply=f")
                .replace("  ROOT", "  z = f32[] constant(0)\n  ROOT")
        ),
        ["%c (reduce): expected 2 parameters of `to_apply`, found 1"]
    );
    let choice = |choice: &str| findings(&entry(choice).replace("  ROOT", "  i = s32[] constant(0)\n  ROOT"));
    assert!(choice("f32[2] conditional(i, b, b, b), branch_computations={f, %f, f}").is_empty());
    assert!(choice("f32[2] conditional(i, b, b), true_computation=f, false_computation=f").is_empty());
    for (wrong, expected) in [
        ("f32[2] conditional(i, b), branch_computations={f, f}", "expected 3 operands, found 2"),
        (
            "f32[2] conditional(i, b, a), branch_computations={f, f}",
            "expected parameter 0 of `branch_computations` to be of the shape of its operand",
        ),
        ("f32[3] conditional(i, b), branch_computations={f}", "expected the shape f32[2], found f32[3]"),
        (
            "f32[2] conditional(b, b), branch_computations={f}",
            "expected a scalar as operand 0, found an array of 1 dimension",
        ),
        ("f32[2] conditional(i, b, b)", "expected the attribute `true_computation`, found none"),
        ("f32[2] while(b), condition=f, body=f", "expected the result of `condition` to be pred[]"),
    ] {
        let kind = if wrong.contains("while") { "while" } else { "conditional" };
        assert_eq!(choice(wrong), [format!("%c ({kind}): {expected}")], "{wrong}");
    }
    assert_eq!(
        findings("ENTRY e (p: f32[3]) -> f32[2] {\n  ROOT p = f32[2] parameter(0)\n}"),
        ["hint: %p (parameter): expected the shape f32[3], as in the computation's signature, found f32[2]"]
    );
    assert_eq!(
        findings("ENTRY e {\n  ROOT p = f32[2] parameter(1)\n}"),
        ["%p (parameter): expected the parameters to be numbered from 0, each once, found 1"]
    );
}

#[test]
fn live_ranges_end_at_the_last_use() {
    let text = "HloModule m, is_scheduled=true
body {
  p = (f32[256]{0}, s32[]) parameter(0)
  x = f32[256]{0} get-tuple-element(p), index=0
  i = s32[] get-tuple-element(p), index=1
  d = f32[512]{0} concatenate(x, x), dimensions={0}
  y = f32[256]{0} slice(d), slice={[0:256]}
  ROOT r = (f32[256]{0}, s32[]) tuple(y, i)
}
condition {
  p = (f32[256]{0}, s32[]) parameter(0)
  ROOT t = pred[] constant(true)
}
ENTRY e {
  a = f32[256]{0} parameter(0)
  b = f32[1024]{0:S(1)} concatenate(a, a, a, a), dimensions={0}
  c = f32[256]{0} slice(b), slice={[0:256]}
  d = f32[16,16]{1,0} bitcast(c)
  i = s32[] constant(0)
  t = (f32[256]{0}, s32[]) tuple(c, i)
  w = (f32[256]{0}, s32[]) while(t), condition=condition, body=body
  x = f32[256]{0} get-tuple-element(w), index=0
  e = f32[16,16]{1,0} negate(d)
  ROOT s = f32[16,16]{1,0} add(e, e)
}
";
    let module = Module::parse(text).unwrap();
    assert_eq!(module.check().len(), 0);
    let memory = module.memory();
    let peaks = memory.peaks().unwrap();
    // The peak is in the loop: a, i, s, d, and t of the condition are live. The state of the loop shares the memory of s, because it ends before s
    // begins.
    assert_eq!((peaks[&0].bytes, peaks[&0].at.name()), (4 * 1024 + 5, "d"));
    assert_eq!((peaks[&1].bytes, peaks[&1].at.name()), (4096, "b"));
    // Step by step: a; b; c; d; i; t; the condition; the body; the loop; x; e; s.
    let timeline = memory.timeline().unwrap();
    let kib = |number: u64| number * 1024 + 5;
    let condition_and_body = [2, 2, 2, 2, 2, 4, 4, 2].map(kib);
    let bytes = [&[2; 6].map(kib)[..], &condition_and_body, &[2, 2, 3, 3].map(kib)].concat();
    assert_eq!(timeline.bytes()[&0], bytes);
    assert_eq!(timeline.bytes()[&1][..4], [0, 4096, 4096, 0]);
    assert_eq!(timeline.peak_step(0), Some(11));
    let live = timeline.live_at(11).map(|lifetime| lifetime.buffer.instruction.name());
    assert_eq!(live.collect::<Vec<_>>(), ["a", "i", "t", "d", "c"]);
    // The name of the value in c's buffer depends on the step.
    let state = timeline.lifetimes().iter().find(|lifetime| lifetime.buffer.instruction.name() == "c").unwrap();
    let name = |step| state.value_at(step).map(|tenant| tenant.instruction.name());
    assert_eq!([name(2), name(9), name(12), name(15)], [Some("c"), Some("p"), Some("y"), Some("w")]);
    let usage = &memory.usage()[&0];
    assert_eq!((usage.parameters.bytes, usage.results.bytes), (1024, 1024));
    // These are c, i, e, s of the entry, d of the body, and t of the condition; y shares the buffer of c.
    assert_eq!((usage.num_values, usage.values.bytes), (6, 1024 + 4 + 1024 + 1024 + 2048 + 1));
    let changes = memory.layout_changes();
    assert_eq!(
        changes.iter().map(|change| (change.instruction.name(), change.moved_bytes)).collect::<Vec<_>>(),
        [("d", 0)]
    );
}

#[test]
fn of_branches_the_largest_counts() {
    let text = "HloModule m, is_scheduled=true
f {
  x = f32[256]{0} parameter(0)
  y = f32[256]{0} negate(x)
  ROOT z = f32[256]{0} add(y, y)
}
g {
  ROOT x = f32[256]{0} parameter(0)
}
ENTRY e {
  i = s32[] parameter(0)
  a = f32[256]{0} parameter(1)
  ROOT c = f32[256]{0} conditional(i, a, a), branch_computations={g, f}
}
";
    let module = Module::parse(text).unwrap();
    assert_eq!(module.check().len(), 0);
    let memory = module.memory();
    let timeline = memory.timeline().unwrap();
    // The bytes are the parameters, and the result, which is the branch's result. y shares the result's memory, because the addition may overwrite
    // its operand.
    assert_eq!(timeline.bytes()[&0], [1028 + 1024; 7]);
    assert_eq!(memory.usage()[&0].num_values, 2);
}

/// Every way in which an instruction's value can share the memory of another one, counted by hand.
#[test]
fn what_lies_where_another_value_lies_is_counted_once() {
    let peak = |instructions: &str| {
        let text = format!(
            "HloModule m, is_scheduled=true\nENTRY e {{\n  a = f32[256]{{0}} parameter(0)\n{instructions}\n}}\n"
        );
        let module = Module::parse(&text).unwrap();
        let memory = module.memory();
        (memory.peaks().unwrap()[&0].bytes, memory.usage()[&0].num_values)
    };
    let kib = 1024;
    // This is short for an `async-start` of a `reduce-scatter`. The bytes are those of `a`, of the result in the tuple, and of the negation.
    let scatter = "
        s = ((f32[256]{0}), f32[128]{0}) reduce-scatter-start(a), dimensions={0}
        n = f32[256]{0} negate(a)
        u = ((f32[256]{0}), f32[128]{0}) reduce-scatter-update(s)
        d = f32[128]{0} reduce-scatter-done(u)
        ROOT t = (f32[256]{0}, f32[128]{0}) tuple(n, d)";
    assert_eq!(peak(scatter), (2 * kib + 512, 2));
    // An update may add operands. The bytes are a, the negation, the result, and 4 bytes that the start allocates.
    let later = "
        s = ((f32[256]{0}), (), s32[]) async-start(a), calls=f
        n = f32[256]{0} negate(a)
        u = ((f32[256]{0}, f32[256]{0}), f32[64]{0}, s32[]) async-update(s, n), output_to_operand_aliasing={{2}: (0, {2})}
        d = f32[64]{0} async-done(u)
        m = f32[256]{0} custom-call(d), custom_call_target=\"f\"
        ROOT b = f32[16,4]{1,0} bitcast(d)";
    assert_eq!(peak(later), (2 * kib + 256 + 4, 4));
    let gather = "
        s = (f32[256]{0}, f32[512]{0}) all-gather-start(a), dimensions={0}
        ROOT d = f32[512]{0} all-gather-done(s)";
    assert_eq!(peak(gather), (3 * kib, 1));
    let reduce = "
        s = f32[256]{0} all-reduce-start(a), to_apply=sum
        ROOT d = f32[256]{0} all-reduce-done(s)";
    assert_eq!(peak(reduce), (2 * kib, 1));
    let permute = "
        s = (f32[256]{0}, f32[256]{0}, u32[]) collective-permute-start(a), source_target_pairs={{0,1}}
        ROOT d = f32[256]{0} collective-permute-done(s)";
    assert_eq!(peak(permute), (2 * kib + 4, 2));
    // In the tuple of `copy-start`, the copy comes first, then the operand, then the copy's context (`u32[]`).
    let copy = "
        b = f32[256]{0} negate(a)
        s = (f32[256]{0}, f32[256]{0}, u32[]) copy-start(b)
        d = f32[256]{0} copy-done(s)
        ROOT n = f32[256]{0} negate(d)";
    // The negation b shares the memory of the result, which begins later.
    assert_eq!(peak(copy), (3 * kib + 4, 4));
    let exchange = "
        t = token[] after-all()
        s = (f32[256]{0}, u32[], token[]) send(a, t), channel_id=1
        r = (f32[256]{0}, u32[], token[]) recv(t), channel_id=2
        x = token[] send-done(s), channel_id=1
        y = (f32[256]{0}, token[]) recv-done(r), channel_id=2
        ROOT g = f32[256]{0} get-tuple-element(y), index=0";
    assert_eq!(peak(exchange), (2 * kib + 8, 3));
    // An unknown opcode whose name ends in `-start`.
    assert_eq!(peak("ROOT b = f32[256]{0} cold-start(a)"), (2 * kib, 1));
    // Nested tuples, and a result that shares the memory of an operand.
    let aliases = "
        b = f32[256]{0} negate(a)
        c = f32[64]{0} slice(a), slice={[0:64]}
        t = (f32[256]{0}, f32[64]{0}) tuple(b, c)
        v = (f32[64]{0}, (f32[256]{0}, f32[64]{0})) tuple(c, t)
        w = (f32[256]{0}, f32[64]{0}) get-tuple-element(v), index=1
        x = f32[256]{0} get-tuple-element(w), index=0
        y = f32[16,16]{1,0} bitcast(x)
        ROOT z = f32[16,16]{1,0} custom-call(y), custom_call_target=\"f\", output_to_operand_aliasing={{}: (0, {})}";
    assert_eq!(peak(aliases), (2 * kib + 256, 2));
}

#[test]
fn memory_of_all_modules_adds_up() {
    let modules = hlo_modules();
    let (mut arrays, mut peaks_seen) = (0, 0);
    for row in &modules {
        let module = Module::parse(&row.text).unwrap();
        let memory: Memory<'_> = module.memory();
        let (usage, peaks) = (memory.usage(), memory.peaks());
        let sum: u64 = usage.values().map(|usage| usage.parameters.bytes + usage.values.bytes).sum();
        assert_eq!(sum, memory.buffers().iter().map(|buffer| buffer.footprint.bytes).sum::<u64>());
        assert_eq!(sum, memory.tile_formats().values().map(|format| format.footprint.bytes).sum::<u64>());
        for buffer in memory.buffers() {
            assert!(buffer.footprint.data_bytes <= buffer.footprint.bytes);
        }
        assert!(memory.largest(2).is_sorted_by_key(|buffer| u64::MAX - buffer.footprint.bytes));
        assert_eq!(peaks.is_some(), row.set != "tpu-hlo-before");
        peaks_seen += peaks.iter().flatten().count();
        if let Some(timeline) = memory.timeline() {
            assert!(timeline.instructions().len() >= module.entry().unwrap().instructions().len());
            // Each array is in exactly one buffer. On a TPU, each has a buffer of its own; compilers for other devices let arrays share buffers.
            let mut homes = BTreeMap::new();
            for value in timeline.lifetimes().iter().flat_map(|lifetime| &lifetime.values) {
                *homes.entry((value.instruction.number(), value.leaf)).or_insert(0) += 1;
            }
            let home = |buffer: &Buffer<'_>| homes.get(&(buffer.instruction.number(), buffer.leaf));
            assert!(memory.buffers().iter().all(|buffer| home(buffer) == Some(&1)), "{}", row.module);
            assert!(timeline.lifetimes().len() <= memory.buffers().len(), "{}", row.module);
            assert!(!module.is_for_tpu() || timeline.lifetimes().len() == memory.buffers().len(), "{}", row.module);
            for lifetime in timeline.lifetimes() {
                assert!(lifetime.bytes >= lifetime.buffer.footprint.bytes, "{}", row.module);
                assert!(lifetime.start <= lifetime.end && !lifetime.values.is_empty());
            }
            // The bytes of each step are those of the live buffers, exactly.
            for step in (0..timeline.instructions().len()).step_by(7) {
                for (space, bytes) in timeline.bytes() {
                    let live = timeline.live_at(step).filter(|lifetime| lifetime.buffer.memory_space() == *space);
                    assert_eq!(bytes[step], live.map(|lifetime| lifetime.bytes).sum::<u64>(), "{} {step}", row.module);
                }
            }
            let account = timeline.account();
            assert!(account.peak >= account.device.arguments && account.device.aliases <= account.device.outputs);
        }
        arrays += memory.buffers().len();
    }
    println!("{arrays} arrays and {peaks_seen} peaks of {} modules", modules.len());
}

#[test]
fn shapes_alone_are_those_of_the_model() {
    let buffers = "a = b(f32[2]) custom-call()\n b = (f32[2], b(s8[3]{0:T(4)}), token[]) custom-call(a)\nc = b(f32[2] negate(a)\n";
    let found: Vec<_> = instruction_shapes(buffers).map(|span| &buffers[span.start..span.end]).collect();
    assert_eq!(found, ["b(f32[2])", "(f32[2], b(s8[3]{0:T(4)}), token[])"]);
    let mut shapes = 0;
    for row in hlo_modules() {
        let module = Module::parse(&row.text).unwrap();
        let model: Vec<_> = module.instructions().map(|instruction| instruction.shape_span()).collect();
        assert_eq!(instruction_shapes(&row.text).collect::<Vec<_>>(), model, "{}", row.module);
        let mut found = find_shapes(&row.text);
        for instruction in module.instructions() {
            // Shapes in the headers of computations and in attributes come between the shapes of instructions.
            let same = found.find(|found| found.span == instruction.shape_span());
            assert_eq!(same.map(|found| found.shape).as_ref(), Some(instruction.shape()), "{}", instruction.name());
        }
        shapes += model.len();
    }
    println!("{shapes} shapes of instructions are found without the model");
}

#[test]
fn shapes_are_found_in_any_text() {
    let cases: [(&str, &[&str]); 12] = [
        ("", &[]),
        ("no shape[3] here, my_f32[2], x.f32[2] f32 [2]", &[]),
        ("TypeError: add got f32[8, 3] and bf16[8,<=3].", &["f32[8,3]{1,0}", "bf16[8,<=3]{1,0}"]),
        ("f32[2]{1} f32[2]{0:x} f32[2]{", &["f32[2]{0}", "f32[2]{0}", "f32[2]{0}"]),
        ("f(f32[2], s32[])", &["f32[2]{0}", "s32[]"]),
        ("((f32[2], /*index=1*/token[]), s32[])->(f32[])", &["((f32[2]{0}, token[]), s32[])", "(f32[])"]),
        ("((f32[2], s32[]) %x, f32[3] %y)", &["(f32[2]{0}, s32[])", "f32[3]{0}"]),
        ("(f32[2], nothing), (f32[3]", &["f32[2]{0}", "f32[3]{0}"]),
        ("(f32[2] (s32[], f32[]))", &["f32[2]{0}", "(s32[], f32[])"]),
        ("f32[9223372036854775808] s8[3", &[]),
        ("f8e3m4[]{8SC(0:295)}, 32.0K", &["f8e3m4[]"]),
        ("(f64[3], f64->)(][f64[5])", &["f64[3]{0}", "f64[5]{0}"]),
    ];
    for (text, expected) in cases {
        let found: Vec<_> = find_shapes(text).map(|found| found.shape.to_string()).collect();
        assert_eq!(found, expected, "{text}");
    }
}
