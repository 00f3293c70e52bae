//! `xla-shape cost` and `xla-shape hlo show`, run as programs.

use crate::program::Command;
use serde_json::{Value, json};
use std::process::Output;
use xla_shape::gpu::Gpu;
use xla_shape_corpus::{corpus, corpus_path};

/// A program with a copy, because its parameter and its result have different layouts.
const MODULE: &str = r#"HloModule m, is_scheduled=true, entry_computation_layout={(f32[8,128]{1,0:T(8,128)})->f32[8,128]{0,1:T(8,128)}}

ENTRY main {
  a = f32[8,128]{1,0:T(8,128)} parameter(0), metadata={op_name="params['w']"}
  b = f32[8,128]{1,0:T(8,128)} negate(a), metadata={op_name="jit(f)/neg" source_file="f.py" source_line=7}, backend_config={"window_config":{"estimated_cycles":"300"}}
  c = f32[128,8]{0,1:T(8,128)} transpose(b), dimensions={1,0}
  ROOT d = f32[128,8]{1,0:T(8,128)} copy(c), backend_config={"window_config":{"estimated_cycles":"100"}}
}
"#;

fn program(arguments: &[&str], input: &str) -> Output {
    Command::program().args(arguments).write_stdin(input).output().unwrap()
}

fn json(arguments: &[&str], input: &str) -> Value {
    let output = program(arguments, input);
    assert_eq!((String::from_utf8(output.stderr).unwrap().as_str(), output.status.code()), ("", Some(0)));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn error(arguments: &[&str], input: &str) -> String {
    let output = program(arguments, input);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b""[..]));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn cycles_are_summed_and_copies_have_causes() {
    let cost = json(&["cost", "-", "--format", "json"], MODULE);
    let cycles = json!({"once": 400, "total": 400, "said": 2, "without": 1, "flagged": 0, "partial": false});
    assert_eq!(cost["cycles"], cycles);
    assert_eq!(cost["lines"][0], json!({"source": "f.py:7", "cycles": 300, "seconds": null, "instructions": 1}));
    assert_eq!(cost["without"], json!([{"opcode": "transpose", "instructions": 1}]));
    let copy = &cost["copies"][0];
    assert_eq!((&copy["instruction"], &copy["cycles"], &copy["share"]), (&json!("d"), &json!(100), &json!(0.25)));
    assert_eq!(copy["change"], "layout");
    assert_eq!(
        copy["remedy"],
        "ask for {0,1:T(8,128)} at the result; in JAX `Format(Layout(major_to_minor=(1, 0)), sharding)`"
    );
    let text = String::from_utf8(program(&["cost", "-"], MODULE).stdout).unwrap();
    let first = "400 cycles in one run, by the compiler's estimates; 25.0 % of them only move\ndata; the most expensive line is f.py:7 with 75.0 %.\n";
    assert!(text.starts_with(first), "{text}");
}

#[test]
fn a_compiled_module_is_for_the_gpu_that_is_named() {
    let module = r#"HloModule m, is_scheduled=true
ENTRY e { a = f32[1000]{0} parameter(0)
  ROOT b = (f32[1000]{0}, u8[0]{0}) custom-call(a), custom_call_target="__cublas$gemm" }"#;
    let said =
        |device: &[&str]| json(&[&["cost", "-", "--format", "json"], device].concat(), module)["seconds"].clone();
    assert_eq!((&said(&[])["said"], &said(&[])["total"]), (&json!(0), &Value::Null));
    // The time is 8000 bytes divided by the bandwidth of the named GPU's memory.
    for (gpu, bandwidth) in [("h100", Gpu::H100Sxm), ("nvidia-l4:8", Gpu::L4)] {
        let total = said(&["--for", gpu])["total"].as_f64().unwrap();
        assert!((total - 8000.0 / bandwidth.bytes_per_second() as f64).abs() < 1e-12, "{gpu}: {total}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.hlo");
    std::fs::write(&path, module).unwrap();
    let module = path.to_str().unwrap();
    let record = json(&["guard", "record", "-", module, "--for", "h100"], "");
    let program = &record["programs"][0];
    assert_eq!(
        (&program["device"], &program["measures"]["seconds"]),
        (&json!("h100"), &said(&["--for", "h100"])["total"])
    );
}

#[test]
fn figures_are_never_made_up() {
    let none = MODULE.replace("estimated_cycles", "cycles");
    let cost = json(&["cost", "-", "--format", "json"], &none);
    let cycles = json!({"once": null, "total": null, "said": 0, "without": 3, "flagged": 0, "partial": false});
    assert_eq!((&cost["cycles"], &cost["lines"]), (&cycles, &json!([])));
    let text = String::from_utf8(program(&["cost", "-"], &none).stdout).unwrap();
    assert!(text.starts_with("The compiler says nothing about cycles in this module."), "{text}");
}

#[test]
fn one_instruction_is_shown() {
    let shown = json(&["hlo", "show", "-", "%b", "--format", "json"], MODULE);
    assert_eq!((&shown["operands"], &shown["readers"]), (&json!(["a"]), &json!(["c"])));
    assert_eq!((&shown["cycles"], &shown["source"], &shown["padding"]), (&json!(300), &json!("f.py:7"), &json!(0)));
    assert_eq!(shown["operand_shapes"], json!(["f32[8,128]{1,0:T(8,128)}"]));
    assert_eq!(shown["live"], json!([[1, 2]]));
}

#[test]
fn an_instruction_is_shown_although_a_figure_is_bad() {
    let bad = MODULE.replace("\"300\"", "\"many\"");
    let message = "b: expected `estimated_cycles` to be a number, found \"many\"";
    for (name, cycles) in [("b", json!(null)), ("d", json!(100))] {
        let shown = json(&["hlo", "show", "-", name, "--format", "json"], &bad);
        assert_eq!((&shown["cycles"], &shown["unread"]), (&cycles, &json!([message])));
        assert!(shown["bytes"].is_u64() && shown["text"].is_string());
    }
    let text = String::from_utf8(program(&["hlo", "show", "-", "b"], &bad).stdout).unwrap();
    assert!(
        text.contains("cycles   the compiler does not say\n")
            && text.contains("\nnote: b: expected `estimated_cycles`"),
        "{text}"
    );
}

#[test]
fn wrong_input_is_said() {
    let nearest = error(&["hlo", "show", "-", "%bb"], MODULE);
    assert_eq!(nearest, "error: -: the module has no instruction %bb; the nearest is %b\n");
    let figure = error(&["cost", "-"], &MODULE.replace("\"300\"", "\"many\""));
    assert_eq!(figure, "error: -: b: expected `estimated_cycles` to be a number, found \"many\"\n");
    assert!(error(&["cost", "-"], "").starts_with("error: "));
}

#[test]
fn a_change_is_guarded() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let slower = MODULE.replace("\"300\"", "\"310\"");
    // The program returns the array in the layout in which it is computed, so nothing is copied.
    let asked = MODULE
        .replace("ROOT d = f32[128,8]{1,0:T(8,128)} copy(c), backend_config={\"window_config\":{\"estimated_cycles\":\"100\"}}\n", "")
        .replace("  c = ", "  ROOT c = ");
    let renamed = MODULE.replace("  b =", "  negated =").replace("(b)", "(negated)");
    let [before, slower, asked, renamed] =
        [path("before", MODULE), path("slower", &slower), path("asked", &asked), path("renamed", &renamed)];
    let none = path("none", &MODULE.replace("estimated_cycles", "cycles"));
    let diff = |after: &str, limits: &[&str]| {
        let arguments = [&["hlo", "diff", &before, after, "--format", "json"], limits].concat();
        let output = program(&arguments, "");
        let lines = String::from_utf8(output.stdout).unwrap();
        let mut lines = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>();
        assert_eq!(lines.pop().unwrap()["change"], "programs");
        (lines, String::from_utf8(output.stderr).unwrap(), output.status.code())
    };
    let strict = ["--fail-if", "cycles>+2%", "memory>0", "copies>0"];
    assert_eq!(diff(&renamed, &strict), (vec![], String::new(), Some(0)));
    let (lines, error, status) = diff(&slower, &strict);
    assert_eq!((error.as_str(), status), ("error: cycles>2%: 400 before, 410 after (flags or version)\n", Some(1)));
    let measure = json!({"schema": "xla-shape/hlo-diff/1", "name": "cycles", "change": "measure", "before": 400, "after": 410, "cause": "flags or version"});
    assert_eq!(lines, [measure]);
    assert_eq!(diff(&slower, &["--fail-if", "cycles>10"]).2, Some(0));
    // A limit on an unknown number fails.
    let (lines, error, status) = diff(&none, &["--fail-if", "cycles>2%"]);
    let why = "the second module lacks the compiler's figures";
    let expected = format!("error: cycles>2%: the cycles are not known in both modules ({why})\n");
    assert_eq!((error, status), (expected, Some(1)));
    let cycles = lines.iter().find(|line| line["name"] == "cycles").unwrap();
    assert_eq!((&cycles["cause"], &cycles["after"]), (&json!("missing figures"), &Value::Null));
    let shown = String::from_utf8(program(&["hlo", "diff", &before, &none], "").stdout).unwrap();
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains(&format!("note: the cycles are not compared: {why} ")), "{shown}");
    let (lines, _, status) = diff(&asked, &strict);
    let gone = lines.iter().find(|line| line["change"] == "copy removed").unwrap();
    assert_eq!((&gone["name"], &gone["cause"], status), (&json!("d"), &json!("layout asked"), Some(0)));
    // Each change names its source line and its cause.
    assert!(
        lines
            .iter()
            .all(|line| line["cause"] == "layout asked" || line["change"] == "peak" || line["change"] == "total"),
        "{lines:?}"
    );
    let value = lines.iter().find(|line| line["change"] == "removed").unwrap();
    assert_eq!((&value["name"], &value["cause"]), (&json!("d"), &json!("layout asked")));
    let sourced = path("sourced", &MODULE.replace("negate(a)", "exponential(a)").replace("jit(f)/neg", "jit(f)/exp"));
    let (lines, ..) = diff(&sourced, &[]);
    let added = lines.iter().find(|line| line["change"] == "added").unwrap();
    assert_eq!((&added["cause"], &added["source"]), (&json!("source changed"), &json!("f.py:7")));
    // Markdown has the same differences, after the limits that were exceeded.
    let output = program(&["hlo", "diff", &before, &slower, "--markdown", "--fail-if", "cycles>2%"], "");
    assert_eq!(output.status.code(), Some(1));
    let markdown = String::from_utf8(output.stdout).unwrap();
    assert!(markdown.starts_with("### <code>m</code>\n\n**More than allowed**\n\n| limit |\n"), "{markdown}");
    assert!(markdown.contains("| cycles | 400 | 410 | +2.5 % | flags or version |\n"), "{markdown}");
    // Programs for different numbers of devices are compared only if the user asks for it.
    let divided = path("divided", &MODULE.replace("is_scheduled=true", "is_scheduled=true, num_partitions=4"));
    let refused = program(&["hlo", "diff", &before, &divided], "");
    assert_eq!((refused.status.code(), refused.stdout.as_slice()), (Some(1), &b""[..]));
    assert_eq!(
        String::from_utf8(refused.stderr).unwrap(),
        "error: the programs are for different devices: num_partitions is 1 before and 4 after; --other-devices compares them anyway\n"
    );
    assert_eq!(diff(&divided, &["--other-devices"]), (vec![], String::new(), Some(0)));
    let back = program(&["hlo", "diff", &asked, &before, "--fail-if", "copies>0"], "");
    assert_eq!(back.status.code(), Some(1));
    let error = String::from_utf8(back.stderr).unwrap();
    assert_eq!(error, "error: copies>0: 0 before, 1 after (layout asked)\n");
}

/// The sums for each instruction agree with those of other readers of the same profiles: for a TPU v6e, the HLO statistics of XProf 2.24; for a CPU,
/// the events of XProf's trace viewer; for a GPU (H200), the events of JAX's own `ProfileData`.
#[test]
fn measured_times_are_those_of_other_readers() {
    let folder = corpus_path("profiles").display().to_string();
    let sums = corpus::<Value>("profiles/sums.jsonl");
    for file in ["train.xplane.pb", "v6e.xplane.pb", "h200.xplane.pb"] {
        let measured = json(&["cost", &format!("{folder}/{file}"), "--format", "json"], "")["measured"].take();
        let mut found = 0;
        for row in measured["instructions"].as_array().unwrap() {
            let is_it = |sum: &&Value| sum["file"] == file && sum["instruction"] == row["instruction"];
            let sum = sums.iter().find(is_it).unwrap();
            assert_eq!((&row["count"], &row["total_picoseconds"]), (&sum["count"], &sum["total_picoseconds"]));
            assert_eq!(row["picoseconds"], *sum.get("picoseconds").unwrap_or(&row["picoseconds"]));
            found += 1;
        }
        assert_eq!(found, sums.iter().filter(|sum| sum["file"] == file).count());
        // The times of all instructions add up to the total, and so do those of all lines, scopes and opcodes.
        for parts in ["instructions", "lines", "scopes", "opcodes"] {
            let parts = measured[parts].as_array().unwrap().iter().map(|part| part["picoseconds"].as_u64().unwrap());
            assert_eq!(parts.sum::<u64>(), measured["picoseconds"]);
        }
    }
}

#[test]
fn copies_of_a_profile_have_measured_times_and_causes() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/profiles");
    let train = format!("{folder}/train.xplane.pb");
    let measured = json(&["cost", &train, "--module", "jit_step", "--format", "json"], "")["measured"].take();
    assert_eq!((&measured["module"], &measured["devices"]), (&json!("jit_step(6)"), &json!(2)));
    let copy = &measured["copies"][0];
    assert_eq!((&copy["instruction"], &copy["source"]), (&json!("transpose_copy_fusion.1"), &json!("train.py:4")));
    assert!(copy["cause"].as_str().unwrap().starts_with("parameter 1 (`batch`) has the layout {1,0}"));
    let v6e = json(&["cost", &format!("{folder}/v6e.xplane.pb"), "--format", "json"], "")["measured"].take();
    let runs = &v6e["runs"];
    assert_eq!((&v6e["device"], &runs["count"]), (&json!("TPU v6 Lite"), &json!(3)));
    assert_eq!(runs["picoseconds"], 75_571_250 + 75_790_000 + 75_916_250);
    assert_eq!((&runs["busy_picoseconds"], &runs["idle_picoseconds"]), (&json!(227_262_500), &json!(15_000)));
    // A program for a GPU, with the cause of a copy.
    let h200 = json(&["cost", &format!("{folder}/h200.xplane.pb"), "--format", "json"], "")["measured"].take();
    // Each execution of the convolution runs two kernels. The estimate is for both: the operations at the peak speed of the matrix units.
    let convolution = &h200["instructions"][0];
    assert_eq!((&convolution["count"], &convolution["executions"]), (&json!(10), &json!(5)));
    assert!((1.37..1.38).contains(&convolution["over_estimate"].as_f64().unwrap()));
    assert_eq!((&h200["device"], h200["copies"].as_array().unwrap().len()), (&json!("NVIDIA H200"), 3));
    assert!(h200["copies"][0]["cause"].as_str().unwrap().starts_with("cuDNN (%cudnn-conv.1) writes NHWC"));
    let page = String::from_utf8(program(&["cost", &train, "--html", "-"], "").stdout).unwrap();
    for part in ["jit_step(6) took ", "id=\"measured-copies\"", "id=\"measured-instructions\"", "train.py:8"] {
        assert!(page.contains(part), "{part}");
    }
    // `hlo` reads the memory of the same module.
    let memory = json(&["hlo", &train, "--module", "jit_step(6)", "--format", "json"], "");
    assert_eq!(memory["module"], "jit_step");
    let message = error(&["cost", &train, "--module", "jit_other"], "");
    assert!(
        message.ends_with("expected the name of one module, found \"jit_other\"; the profile has jit_step(6)\n"),
        "{message}"
    );
}

/// A decode step, compiled by libtpu 0.0.52, in which `jnp.repeat` repeats keys and values for the heads of attention.
#[test]
fn arrays_that_are_repeated_for_a_product_are_named() {
    for device in ["v5e", "v6e"] {
        let path = format!("{}/../../tests/corpus/repeats/decode_{device}.hlo", env!("CARGO_MANIFEST_DIR"));
        let cost = json(&["cost", &path, "--format", "json"], "");
        let copies = cost["copies"].as_array().unwrap();
        let repeated = copies.iter().filter(|copy| copy["change"] == "repetition").collect::<Vec<_>>();
        // Only one of the two repetitions is a copy; the other one is part of the product's fusion.
        let [copy] = repeated[..] else { panic!("{copies:?}") };
        assert_eq!(
            (&copy["instruction"], &copy["source"]),
            (&json!("broadcast_in_dim.4"), &json!("/home/user/project/decode.py:5"))
        );
        let cause = "it writes each element 4 times, and the product %multiply_reduce_fusion reads all of them";
        assert_eq!(copy["cause"], cause);
        assert!(copy["remedy"].as_str().unwrap().contains("split that dimension of the other operand by 4"));
        assert!(copy["share"].as_f64().unwrap() > 0.4);
    }
}

/// A profile of a program that ran three times. `milliseconds` has the times of each instruction.
pub(crate) fn profile(text: &str, milliseconds: &[(&str, [u64; 3])]) -> Vec<u8> {
    let varint = |mut number: u64| {
        let mut bytes = Vec::new();
        while number >= 0x80 {
            bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        bytes.push(number as u8);
        bytes
    };
    let number = |field: u8, number: u64| [vec![field << 3], varint(number)].concat();
    let part =
        |field: u8, content: &[u8]| [vec![field << 3 | 2], varint(content.len() as u64), content.to_vec()].concat();
    let entry = |field, key: u64, value: &[u8]| part(field, &[number(1, key), part(2, value)].concat());
    let event = |metadata: u64, start: u64, duration: u64| {
        part(4, &[number(1, metadata), number(2, start * 1_000_000_000), number(3, duration * 1_000_000_000)].concat())
    };
    let message = part(1, &xla_shape::hlo::Module::parse(text).unwrap().to_proto().unwrap());
    let stat = part(5, &[number(1, 1), part(6, &message)].concat());
    let modules = [
        part(2, b"/host:metadata"),
        entry(5, 1, &part(2, b"hlo_proto")),
        entry(4, 1, &[part(2, b"m(1)"), stat].concat()),
    ];
    let (mut runs, mut instructions, mut names) = (Vec::new(), Vec::new(), entry(4, 1, &part(2, b"m(1)")));
    for (name, key) in milliseconds.iter().map(|(name, _)| name).zip(2..) {
        names.extend(entry(4, key, &part(2, name.as_bytes())));
    }
    for run in 0..3 {
        let mut time = run as u64 * 1000;
        for ((_, times), key) in milliseconds.iter().zip(2..) {
            instructions.extend(event(key, time, times[run]));
            time += times[run];
        }
        runs.extend(event(1, run as u64 * 1000, time - run as u64 * 1000));
    }
    let line = |name: &str, events: &[u8]| part(3, &[&part(2, name.as_bytes()), events].concat());
    let device = [part(2, b"/device:TPU:0"), line("XLA Modules", &runs), line("XLA Ops", &instructions), names];
    [part(1, &modules.concat()), part(1, &device.concat())].concat()
}

#[test]
fn two_profiles_say_which_line_became_slower_and_why() {
    let folder = tempfile::tempdir().unwrap();
    let before = "HloModule m, is_scheduled=true
ENTRY e {
  a = f32[8,128]{1,0} parameter(0)
  b = f32[8,128]{1,0} negate(a), metadata={op_name=\"jit(f)/neg\" source_file=\"f.py\" source_line=7}
  ROOT d = f32[8,128]{1,0} exponential(b), metadata={op_name=\"jit(f)/exp\" source_file=\"f.py\" source_line=8}
}";
    let after = before.replace("ROOT d = f32[8,128]{1,0} exponential(b)", "c = f32[8,128]{0,1} copy(b), metadata={op_name=\"jit(f)/neg\" source_file=\"f.py\" source_line=7}\n  ROOT d = f32[8,128]{1,0} exponential(c)");
    let [first, second] = ["first", "second"].map(|name| folder.path().join(format!("{name}.xplane.pb")));
    std::fs::write(&first, profile(before, &[("b", [10, 11, 12]), ("d", [20, 24, 22])])).unwrap();
    std::fs::write(&second, profile(&after, &[("b", [10, 11, 12]), ("c", [5, 5, 6]), ("d", [21, 26, 23])])).unwrap();
    let [first, second] = [&first, &second].map(|path| path.to_str().unwrap());
    let output = program(&["hlo", "diff", first, second, "--format", "json"], "");
    let lines = String::from_utf8(output.stdout).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let times = lines.filter(|line| line["change"] == "run time" || line["change"] == "line time");
    let times = times
        .map(|line| {
            let milliseconds =
                ["picoseconds_before", "picoseconds_after"].map(|key| line[key].as_u64().unwrap() / 10_000_000);
            (line["name"].to_string(), milliseconds, line["is_clear"] == true, line["instruction"].clone())
        })
        .collect::<Vec<_>>();
    let expected = [
        ("\"run\"".to_owned(), [3400, 4100], true, Value::Null),
        ("\"f.py:7\"".to_owned(), [1100, 1633], true, json!("c")),
        ("\"f.py:8\"".to_owned(), [2200, 2333], false, Value::Null),
    ];
    assert_eq!(times, expected);
    let text = String::from_utf8(program(&["hlo", "diff", first, second], "").stdout).unwrap();
    assert!(text.contains("  f.py:7  11.0 ms -> 16.3 ms (+48.5 %): %c comes or goes: "), "{text}");
    assert!(text.contains("  f.py:8  22.0 ms -> 23.3 ms (+6.1 %): the spread of the runs is too wide to\n"), "{text}");
    // The copy that was added has its time and its cause.
    let measured = json(&["cost", second, "--format", "json"], "")["measured"].take();
    assert_eq!(
        (&measured["copies"][0]["instruction"], &measured["copies"][0]["picoseconds"]),
        (&json!("c"), &json!(16_000_000_000_u64))
    );
    assert_eq!(measured["runs"]["between_picoseconds"], (1000 - 36 + 1000 - 42) * 1_000_000_000_u64);
}
