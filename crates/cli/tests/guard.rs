//! `xla-shape guard`, with compiled modules and with a fake PJRT plug-in.

use crate::program::{Command, program_path};
use serde_json::{Value, json};
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;
use tempfile::TempDir;

/// A compiled program with a copy.
const MODULE: &str = r#"HloModule m, is_scheduled=true, entry_computation_layout={(f32[8,128]{1,0:T(8,128)})->f32[8,128]{0,1:T(8,128)}}

ENTRY main {
  a = f32[8,128]{1,0:T(8,128)} parameter(0), metadata={op_name="params['w']"}
  b = f32[8,128]{1,0:T(8,128)} negate(a), metadata={op_name="jit(f)/neg" source_file="f.py" source_line=7}, backend_config={"window_config":{"estimated_cycles":"300"}}
  ROOT c = f32[8,128]{0,1:T(8,128)} copy(b), metadata={op_name="jit(f)/neg" source_file="f.py" source_line=7}, backend_config={"window_config":{"estimated_cycles":"100"}}
}
"#;

struct Folder(TempDir);

struct Answer {
    output: String,
    errors: String,
    code: i32,
}

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.write("m.hlo", MODULE);
        folder.write("p.mlir", "module {}");
        folder
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).unwrap()
    }

    fn guard(&self, arguments: &[&str]) -> Answer {
        let program = program_path();
        let plugin = program.parent().unwrap().join("deps").join(format!("{DLL_PREFIX}pjrt_fake{DLL_SUFFIX}"));
        let mut command = Command::new(program);
        command.current_dir(self.0.path()).env("PJRT_PLUGIN", plugin).env_remove("COLUMNS");
        let output = command.arg("guard").args(arguments).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Answer { output: text(output.stdout), errors: text(output.stderr), code: output.status.code().unwrap() }
    }

    /// The answer of `check`, which has no errors.
    fn check(&self, arguments: &[&str]) -> (Value, i32) {
        let answer = self.guard(&[&["check", "r.json"], arguments, &["--format", "json"]].concat());
        assert_eq!(answer.errors, "");
        (serde_json::from_str(answer.output.lines().next().unwrap()).unwrap(), answer.code)
    }
}

#[test]
fn the_same_program_passes_and_a_worse_one_fails() {
    let folder = Folder::new();
    let recorded = folder.guard(&["record", "r.json", "m.hlo"]);
    assert_eq!((recorded.errors.as_str(), recorded.code), ("", 0));
    let record: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    let measures = json!({"memory": 86016, "cycles": 400, "copies": 1, "collectives": 0, "fusions": 0});
    assert_eq!(
        (&record["schema"], &record["programs"][0]["measures"]),
        (&json!("xla-shape/guard-record/1"), &measures)
    );
    let (same, code) = folder.check(&["m.hlo"]);
    assert_eq!((&same["passed"], &same["measures"], code), (&json!(true), &json!([]), 0));
    assert_eq!(same["limits"], json!(["cycles>2%", "memory>1%", "copies>0", "collectives>0"]));
    // Names and metadata do not matter.
    folder.write(
        "renamed.hlo",
        &MODULE.replace(" b = ", " negated = ").replace("(b)", "(negated)").replace("source_line=7", "source_line=70"),
    );
    let (renamed, code) = folder.check(&["renamed.hlo"]);
    assert_eq!((&renamed["copies_added"], code), (&json!([]), 0));

    folder.write("slower.hlo", &MODULE.replace("\"300\"", "\"310\""));
    let (slower, code) = folder.check(&["slower.hlo"]);
    let cycles = json!({"name": "cycles", "before": 400, "after": 410, "cause": "flags or version"});
    assert_eq!((&slower["measures"], code), (&json!([cycles]), 1));
    assert_eq!(slower["exceeded"], json!(["cycles>2%: 400 before, 410 after (flags or version)"]));
    assert_eq!(
        slower["lines"],
        json!([{"source": "f.py:7", "before": 400, "before_seconds": null, "after": 410, "after_seconds": null}])
    );
    assert_eq!(slower["accept"], "xla-shape guard record r.json slower.hlo");
    // The limits are those of `hlo diff`.
    assert_eq!(folder.check(&["slower.hlo", "--fail-if", "cycles>10"]).1, 0);
    let text = folder.guard(&["check", "r.json", "slower.hlo"]);
    let expected = "m: FAILED; limits: cycles>2%, memory>1%, copies>0, collectives>0
  more than allowed: cycles>2%: 400 before, 410 after (flags or version)
  cycles      400 -> 410 (+2.5 %): flags or version
  f.py:7: 400 -> 410 cycles
To accept the change: xla-shape guard record r.json slower.hlo
";
    assert_eq!((text.output.trim_start(), text.code), (expected, 1));
    // The next question is about the cause. The command that accepts the change is not one to run unasked.
    let digest = folder.guard(&["check", "r.json", "slower.hlo", "--format", "digest"]).output;
    let next = digest.lines().filter(|line| line.starts_with("Next:")).collect::<Vec<_>>();
    assert_eq!(next, ["Next: xla-shape cost slower.hlo"]);
    let markdown = folder.guard(&["check", "r.json", "slower.hlo", "--markdown"]).output;
    assert!(markdown.starts_with("### <code>program</code>: **failed**\n"), "{markdown}");
    assert!(markdown.contains("| cycles | 400 | 410 | +2.5 % | flags or version |"), "{markdown}");
    // What is accepted passes.
    assert_eq!(folder.guard(&["record", "r.json", "slower.hlo"]).code, 0);
    assert_eq!(folder.check(&["slower.hlo"]).1, 0);
}

/// Data that were written for a program fit only as long as its arguments and results keep their form.
#[test]
fn arguments_and_results_in_another_form_are_named() {
    let folder = Folder::new();
    assert_eq!(folder.guard(&["record", "r.json", "m.hlo"]).code, 0);
    let record: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    assert_eq!(record["programs"][0]["names"], json!(["params['w']"]));
    assert_eq!(folder.check(&["m.hlo", "--same-layouts"]).0["arrays"], json!([]));

    let argument = "a = f32[8,128]{1,0:T(8,128)}";
    folder.write("columns.hlo", &MODULE.replace(argument, "a = f32[8,128]{0,1:T(8,128)}"));
    folder.write("host.hlo", &MODULE.replace(argument, "a = f32[8,128]{1,0:T(8,128)S(5)}"));
    folder.write("divided.hlo", &MODULE.replace("metadata={op_name=\"params['w']\"}", "sharding={devices=[2,1]<=[2]}"));
    let limits: &[&str] = &["--fail-if", "copies>0"];
    let (columns, code) = folder.check(&[&["columns.hlo"], limits].concat());
    let array = json!({
        "array": "argument `params['w']` (parameter 0)",
        "argument": "params['w']",
        "change": "layout",
        "before": "f32[8,128]{1,0:T(8,128)}",
        "after": "f32[8,128]{0,1:T(8,128)}",
        "sharding_before": null,
        "sharding": null, "whole": null,
        "same_bytes": false,
    });
    assert_eq!((&columns["arrays"], code), (&json!([array]), 0));
    let (columns, code) = folder.check(&[&["columns.hlo", "--same-layouts"], limits].concat());
    let exceeded = "1 argument or result is not kept as the record says";
    assert_eq!((&columns["exceeded"], code), (&json!([exceeded]), 1));
    let text = folder.guard(&["check", "r.json", "columns.hlo"]).output;
    let command = "xla-shape relayout IN --from 'f32[8,128]{1,0:T(8,128)}' --to 'f32[8,128]{0,1:T(8,128)}' -o OUT\n";
    assert!(text.contains(&format!("      data of the record must be copied:\n      {command}")), "{text}");
    let markdown = folder.guard(&["check", "r.json", "columns.hlo", "--markdown"]).output;
    assert!(markdown.contains("| argument &#96;params&#91;&#39;w&#39;&#93;&#96; (parameter 0) |"), "{markdown}");
    let digest = folder.guard(&["check", "r.json", "columns.hlo", "--same-layouts", "--format", "digest"]).output;
    assert!(digest.contains("argument `params['w']` (parameter 0)"), "{digest}");
    // Another memory has the same bytes, but a program that reads from the host's memory does not take an array of the device.
    let (host, code) = folder.check(&["host.hlo", "--same-layouts"]);
    let found = [&host["arrays"][0]["change"], &host["arrays"][0]["same_bytes"]];
    assert_eq!((found, code), ([&json!("memory_space"), &json!(true)], 1));
    let (other, code) = folder.check(&["columns.hlo", "--same-layouts", "--fail-if", "copies>9"]);
    assert_eq!((&other["same_layouts"], code), (&json!(true), 1));
    // An argument of another size.
    folder.write("wider.hlo", &MODULE.replace("f32[8,128]", "f32[16,128]"));
    let (wider, code) = folder.check(&["wider.hlo", "--same-layouts", "--fail-if", "copies>9"]);
    let changes = wider["arrays"].as_array().unwrap().iter().map(|array| array["change"].clone());
    assert_eq!((changes.collect::<Vec<_>>(), code), (vec![json!("array"); 2], 1));
    // After XLA's partitioner, a sharding may be gone: that the record has none says nothing.
    assert_eq!(folder.check(&["divided.hlo"]).0["arrays"], json!([]));
    assert_eq!(folder.guard(&["record", "r.json", "divided.hlo"]).code, 0);
    folder.write("other.hlo", &folder.read("divided.hlo").replace("[2,1]<=[2]", "[1,2]<=[2]"));
    let (other, _) = folder.check(&["other.hlo", "--other-devices"]);
    let found = &other["arrays"][0];
    let shardings = json!(["sharding", "{devices=[2,1]<=[2]}", "{devices=[1,2]<=[2]}", false]);
    assert_eq!(json!([found["change"], found["sharding_before"], found["sharding"], found["same_bytes"]]), shardings);
    let text = folder.guard(&["check", "r.json", "other.hlo", "--other-devices"]).output;
    let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("data of the record must move between devices: `xla-shape reshard` says what moves"),
        "{text}"
    );
    // Where the parts are those of one array, its command is there.
    folder.write("moved.hlo", &folder.read("other.hlo").replace("f32[8,128]", "f32[16,64]"));
    let (moved, _) = folder.check(&["moved.hlo", "--other-devices"]);
    assert_eq!([&moved["arrays"][0]["whole"], &found["whole"]], [&json!("f32[16,128]"), &json!(null)]);
    let text = folder.guard(&["check", "r.json", "moved.hlo", "--other-devices"]).output;
    let command = "xla-shape reshard 'f32[16,128]' --from '{devices=[2,1]<=[2]}' --to '{devices=[1,2]<=[2]}'\n";
    assert!(text.contains(command), "{text}");
}

/// If a program has more or fewer arguments than the record, it is not known which of them correspond.
#[test]
fn other_arguments_and_results_are_not_compared() {
    let folder = Folder::new();
    assert_eq!(folder.guard(&["record", "r.json", "m.hlo"]).code, 0);
    let limits = ["--fail-if", "copies>9"];
    folder.write("more.hlo", &MODULE.replace("  ROOT c", "  d = f32[2]{0} parameter(1)\n  ROOT c"));
    let (more, code) = folder.check(&[&["more.hlo"][..], &limits].concat());
    let warning = "the layouts of the arguments are not compared: the record has 1 array, the program 2 arrays";
    assert_eq!((&more["arrays"], &more["warnings"], code), (&json!([]), &json!([warning]), 0));
    let (more, code) = folder.check(&[&["more.hlo", "--same-layouts"][..], &limits].concat());
    let exceeded = "the arguments or results are not those of the record, so their layouts cannot be the same";
    assert_eq!((&more["exceeded"], code), (&json!([exceeded]), 1));
    let result = "HloModule m\nENTRY e {\n  a = f32[8,128]{1,0} parameter(0)\n  b = s32[4]{0} constant({1, 2, 3, 4})\n";
    folder.write("two.hlo", &format!("{result}  ROOT r = (s32[4]{{0}}, f32[8,128]{{1,0}}) tuple(b, a)\n}}"));
    folder.write("one.hlo", &format!("{result}  ROOT r = (f32[8,128]{{1,0}}) tuple(a)\n}}"));
    assert_eq!(folder.guard(&["record", "r.json", "two.hlo"]).code, 0);
    let (one, _) = folder.check(&[&["one.hlo"][..], &limits].concat());
    let warning = "the layouts of the results are not compared: the record has 2 arrays, the program 1 array";
    assert_eq!((&one["arrays"], &one["warnings"]), (&json!([]), &json!([warning])));
    // Each array of a tuple has its own part of the sharding.
    let divided = |second: &str| {
        folder.read("two.hlo").replace("tuple(b, a)", &format!("tuple(b, a), sharding={{{{replicated}}, {second}}}"))
    };
    folder.write("two.hlo", &divided("{devices=[2,1]<=[2]}"));
    folder.write("columns.hlo", &folder.read("two.hlo").replace("[2,1]<=[2]", "[1,2]<=[2]"));
    assert_eq!(folder.guard(&["record", "r.json", "two.hlo"]).code, 0);
    let (columns, _) = folder.check(&[&["columns.hlo", "--other-devices"][..], &limits].concat());
    let found = columns["arrays"].as_array().unwrap().iter();
    let found = found.map(|array| json!([array["array"], array["sharding_before"], array["sharding"]]));
    let expected = json!(["result 1", "{devices=[2,1]<=[2]}", "{devices=[1,2]<=[2]}"]);
    assert_eq!(found.collect::<Vec<_>>(), [expected]);
}

/// libtpu 0.0.52 gives arrays of int8 other tiles than libtpu 0.0.24. Both compiled `step` of the modules' source lines.
#[test]
fn another_release_of_the_compiler_keeps_int8_in_other_tiles() {
    let folder = Folder::new();
    let module = |release: &str| {
        format!("{}/../../tests/corpus/guard/int8_step.libtpu-{release}.hlo", env!("CARGO_MANIFEST_DIR"))
    };
    assert_eq!(folder.guard(&["record", "r.json", &module("0.0.24"), "--for", "v5e"]).code, 0);
    let (check, code) = folder.check(&[&module("0.0.52"), "--same-layouts"]);
    let found = check["arrays"].as_array().unwrap().iter();
    let found = found.map(|found| json!([found["array"], found["before"], found["after"], found["same_bytes"]]));
    let [old, new] = ["{1,0:T(8,128)(4,1)}", "{1,0:T(32,128)(4,1)}"];
    let row = |array: &str, shape: &str| json!([array, format!("{shape}{old}"), format!("{shape}{new}"), false]);
    let expected = [
        row("argument `params['w']` (parameter 0)", "s8[512,256]"),
        row("argument `cache` (parameter 1)", "s8[64,512]"),
        row("result 1", "s8[64,512]"),
    ];
    assert_eq!((found.collect::<Vec<_>>(), code), (expected.to_vec(), 1));

    // A lock says so without being asked, and compares no costs.
    fs::remove_file(folder.0.path().join("r.json")).unwrap();
    let locked = folder.guard(&["lock", "r.json", &module("0.0.24"), "--for", "v5e"]);
    assert!(locked.output.starts_with("Locked for v5e:2x2: "), "{}", locked.output);
    let (check, code) = folder.check(&[&module("0.0.52"), "--plan", "move.sh"]);
    let exceeded = "3 arguments and results are not kept as the record says";
    assert_eq!(json!([check["limits"], check["exceeded"], code]), json!([[], [exceeded], 1]));
    let (same, code) = folder.check(&[&module("0.0.24")]);
    assert_eq!(json!([same["limits"], same["same_layouts"], same["exceeded"], code]), json!([[], true, [], 0]));
    let text = folder.guard(&["check", "r.json", &module("0.0.52")]).output;
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.starts_with("v5e:2x2: FAILED; limits: the same layouts "), "{text}");
    assert!(words.contains("To accept the change: xla-shape guard lock r.json "), "{text}");
    let plan = folder.guard(&["check", "r.json", &module("0.0.52"), "--plan", "-"]).output;
    assert_eq!(plan, folder.read("move.sh"));
    // Costs are compared if limits are named.
    assert_eq!(folder.check(&[&module("0.0.24"), "--fail-if", "cycles>2%"]).0["limits"], json!(["cycles>2%"]));
}

/// The plan of `guard check` copies the data that were written for the program of the record.
#[cfg(unix)]
#[test]
fn the_plan_moves_data() {
    let folder = Folder::new();
    folder.write("old.hlo", "HloModule m\nENTRY e {\n  a = s8[3,5]{1,0} parameter(0), metadata={op_name=\"kv['k']\"}\n  b = s8[3,5]{1,0} parameter(1), metadata={op_name=\"kv.k\"}\n  ROOT c = (s8[3,5]{1,0}) tuple(a)\n}");
    let columns = folder.read("old.hlo").replace("{1,0} par", "{0,1} par").replace("(s8[3,5]{1,0})", "(s8[3,5]{0,1})");
    folder.write("new.hlo", &columns.replace("kv.k", "kv_k\nrm -r x"));
    assert_eq!(folder.guard(&["lock", "r.json", "old.hlo"]).code, 0);
    assert_eq!(folder.check(&["new.hlo", "--plan", "move.sh"]).1, 1);
    let [old, new] = ["old", "new"].map(|name| folder.0.path().join(name));
    for place in [&old, &new] {
        fs::create_dir(place).unwrap();
    }
    let bytes: Vec<u8> = (0..15).collect();
    let names: Vec<_> = folder
        .read("move.sh")
        .lines()
        .filter_map(|line| Some(line.split_once("\"$old/")?.1.split_once('"')?.0.to_owned()))
        .collect();
    assert_eq!(names, ["kv_k", "kv_k_rm_r_x"]);
    for name in &names {
        fs::write(old.join(name), &bytes).unwrap();
    }
    let programs = format!("{}:{}", program_path().parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut command = std::process::Command::new("sh");
    let done =
        command.current_dir(folder.0.path()).env("PATH", programs).args(["move.sh", "old", "new"]).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    let moved: Vec<u8> = (0..5).flat_map(|column| (0..3).map(move |row| row * 5 + column)).collect();
    for name in &names {
        assert_eq!(fs::read(new.join(name)).unwrap(), moved, "{name}");
    }
    // With an argument more, it is not known which data are whose.
    folder.write("more.hlo", &columns.replace("  ROOT", "  d = s8[3,5]{0,1} parameter(2)\n  ROOT"));
    assert_eq!(folder.check(&["more.hlo", "--plan", "move.sh"]).1, 1);
    let done =
        std::process::Command::new("sh").current_dir(folder.0.path()).args(["move.sh", "old", "new"]).output().unwrap();
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    assert!(String::from_utf8_lossy(&done.stderr).starts_with("not all was moved"), "{done:?}");
    // A record does not replace a lock.
    let refused = folder.guard(&["record", "r.json", "new.hlo"]);
    assert!(refused.errors.contains("it is a lock"), "{}", refused.errors);
}

/// The measured time of a profile may grow by what the runs differ in any case.
#[test]
fn measured_times_are_compared_by_their_spread() {
    let folder = Folder::new();
    let program = "HloModule m, is_scheduled=true\nENTRY e {\n  a = f32[8,128]{1,0} parameter(0)\n  \
                ROOT b = f32[8,128]{1,0} negate(a), metadata={op_name=\"jit(f)/neg\" source_file=\"f.py\" source_line=7}\n}";
    for (name, milliseconds) in
        [("first", [10, 11, 12]), ("same", [12, 10, 11]), ("slow", [13, 15, 14]), ("noisy", [11, 15, 90])]
    {
        let path = folder.0.path().join(format!("{name}.xplane.pb"));
        fs::write(path, crate::cost::profile(program, &[("b", milliseconds)])).unwrap();
    }
    let recorded = folder.guard(&["record", "r.json", "first.xplane.pb"]);
    assert!(recorded.output.contains("time 11.0 ms, "), "{}", recorded.output);
    let limits = json!(["time>5%", "memory>1%", "copies>0", "collectives>0"]);
    let (same, code) = folder.check(&["same.xplane.pb"]);
    assert_eq!((&same["limits"], &same["exceeded"], code), (&limits, &json!([]), 0));
    let (slow, code) = folder.check(&["slow.xplane.pb"]);
    assert_eq!(slow["exceeded"], json!(["time>5%: 11.0 ms before, 14.0 ms after (flags or version)"]));
    let line = &slow["times"][1];
    assert_eq!((&line["name"], &line["is_clear"], code), (&json!("f.py:7"), &json!(true), 1));
    let (noisy, code) = folder.check(&["noisy.xplane.pb"]);
    let undecided = "`time>5%` is not decided: 11.0 ms (10.0 ms to 12.0 ms) before, 15.0 ms (11.0 ms to 90.0 ms) now; the spread of the runs is too \
                     wide, so measure more runs, or on a quieter machine";
    assert!(noisy["warnings"].as_array().unwrap().contains(&json!(undecided)), "{noisy}");
    assert_eq!((&noisy["exceeded"], code), (&json!([]), 0));
    let text = folder.guard(&["check", "r.json", "slow.xplane.pb"]).output;
    assert!(text.contains("Measured times of one run\n  run  11.0 ms -> 14.0 ms (+27.3 %)\n"), "{text}");
    let markdown = folder.guard(&["check", "r.json", "slow.xplane.pb", "--markdown"]).output;
    assert!(markdown.contains("| <code>f.py&#58;7</code> | 11.0 ms | 14.0 ms | +27.3 % |"), "{markdown}");
    // A program that was not measured has no time.
    folder.write("same.hlo", program);
    assert_eq!(folder.check(&["same.hlo"]).0["exceeded"][0], "time>5%: the time is not known in both modules");
}

#[test]
fn changes_have_causes() {
    let folder = Folder::new();
    let without = MODULE.replace("ROOT c = f32[8,128]{0,1:T(8,128)} copy(b), metadata={op_name=\"jit(f)/neg\" source_file=\"f.py\" source_line=7}, backend_config={\"window_config\":{\"estimated_cycles\":\"100\"}}\n", "");
    let without = without.replace("  b = ", "  ROOT b = ").replace("->f32[8,128]{0,1:", "->f32[8,128]{1,0:");
    folder.write("without.hlo", &without);
    assert_eq!(folder.guard(&["record", "r.json", "without.hlo", "--for", "v5e"]).code, 0);
    let (asked, code) = folder.check(&["m.hlo"]);
    let copy = &asked["copies_added"][0];
    assert_eq!((&copy["cause"], &copy["source"], code), (&json!("layout asked"), &json!("f.py:7"), 1));
    assert_eq!(asked["exceeded"][2], "copies>0: 0 before, 1 after (layout asked)");
    assert_eq!(
        copy["remedy"],
        "ask for {1,0:T(8,128)} at the result; in JAX `Format(Layout(major_to_minor=(0, 1)), sharding)`"
    );
    folder.write("source.hlo", &MODULE.replace("jit(f)/neg", "jit(f)/sub"));
    assert_eq!(folder.check(&["source.hlo"]).0["measures"][0]["cause"], "source changed");
}

#[test]
fn programs_are_compiled_for_the_devices_of_the_record() {
    let folder = Folder::new();
    let recorded = folder.guard(&["record", "r.json", "p.mlir", "--for", "v5e:2x2,v6e"]);
    assert_eq!((recorded.errors.as_str(), recorded.code), ("", 0));
    let record: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    let devices: Vec<_> = record["programs"].as_array().unwrap().iter().map(|program| &program["device"]).collect();
    assert_eq!(devices, ["v5e:2x2", "v6e:2x2"]);
    assert!(record["programs"][0]["compiler"].is_string(), "{record}");
    let same = folder.guard(&["check", "r.json", "p.mlir", "--format", "json"]);
    assert_eq!((same.output.lines().count(), same.code), (2, 0), "{}", same.errors);
    // Another version of the compiler is a warning with both names.
    let other = folder.read("r.json").replacen("\"compiler\": \"", "\"compiler\": \"older ", 1);
    folder.write("r.json", &other);
    let warned = folder.guard(&["check", "r.json", "p.mlir", "--for", "v5e"]);
    assert_eq!((warned.errors.as_str(), warned.code), ("", 0));
    assert!(warned.output.contains("warning: another compiler made the record: `older "), "{}", warned.output);
    // A device that the record does not have.
    let missing = folder.guard(&["check", "r.json", "p.mlir", "--for", "v4"]);
    assert_eq!((missing.output.as_str(), missing.code), ("", 1));
    assert!(missing.errors.starts_with("error: r.json: the record has no program for v4:"), "{}", missing.errors);
    // A program that is not compiled leaves the record as it is.
    let refused = folder.guard(&["record", "r.json", "p.mlir", "--for", "v8i"]);
    assert_eq!((refused.code, folder.read("r.json")), (1, other));
}

#[test]
fn bad_records_are_errors_with_a_position() {
    let folder = Folder::new();
    assert_eq!(folder.guard(&["record", "good.json", "m.hlo"]).code, 0);
    let good = folder.read("good.json");
    for (bad, message) in [
        (String::new(), "EOF while parsing a value at line 1 column 0"),
        ("[]".to_owned(), "invalid type: sequence, expected an object with `schema`\n"),
        ("1".to_owned(), "invalid type: integer `1`, expected an object with `schema` at line 1"),
        (
            "{\"schema\": \"xla-shape/guard-record/1\", \"programs\": [1]}".to_owned(),
            "invalid type: integer `1`, expected a program at line 1",
        ),
        (
            "{\"schema\": \"xla-shape/guard-record/9\"}".to_owned(),
            "expected the schema `xla-shape/guard-record/1`, found `xla-shape/guard-record/9`",
        ),
        ("{\"schema\": \"xla-shape/guard-record/1\",\n \"programs\": []}".to_owned(), "the record has no programs"),
        (
            good.replace("\"cycles\": 400", "\"cycles\": -4"),
            "invalid value: integer `-4`, expected u64 at line 14 column 20",
        ),
        (good.replace("f32[8,128]{1,0:T(8,128)}\"\n", "f32[8,128]{1,1}\"\n"), "programs[0].parameters[0]: "),
    ] {
        folder.write("r.json", &bad);
        let answer = folder.guard(&["check", "r.json", "m.hlo"]);
        assert_eq!((answer.output.as_str(), answer.code), ("", 1), "{bad}");
        assert!(answer.errors.starts_with(&format!("error: r.json: {message}")), "{message}: {}", answer.errors);
    }
    assert!(folder.guard(&["check", "none.json", "m.hlo"]).errors.starts_with("error: cannot read `none.json`"));
    // A file that is read is not written over.
    let same = folder.guard(&["record", "m.hlo", "m.hlo"]);
    assert_eq!((same.code, folder.read("m.hlo").as_str()), (1, MODULE));
}

impl Folder {
    /// Changes the record.
    fn edit(&self, change: impl FnOnce(&mut Value)) {
        let mut record = serde_json::from_str(&self.read("r.json")).unwrap();
        change(&mut record);
        self.write("r.json", &record.to_string());
    }

    fn devices(&self) -> Vec<String> {
        let record: Value = serde_json::from_str(&self.read("r.json")).unwrap();
        record["programs"].as_array().unwrap().iter().map(|of| of["device"].as_str().unwrap().to_owned()).collect()
    }
}

#[test]
fn a_record_keeps_its_devices() {
    let folder = Folder::new();
    assert_eq!(folder.guard(&["record", "r.json", "p.mlir", "--for", "v5e,v6e"]).code, 0);
    assert_eq!(folder.guard(&["record", "r.json", "p.mlir"]).code, 0);
    assert_eq!(folder.devices(), ["v5e:2x2", "v6e:2x2"]);
    let accept = "xla-shape guard record r.json p.mlir --for v5e:2x2,v6e:2x2";
    assert_eq!(folder.check(&["p.mlir"]).0["accept"], accept);
    // Also the devices that are not checked.
    assert_eq!(folder.check(&["p.mlir", "--for", "v6e"]).0["accept"], accept);
    folder.write("it's p.mlir", "module {}");
    let options = ["--option", "a=b c", "--replicas", "1", "--partitions", "1", "--time-limit", "60"];
    let (check, _) = folder.check(&[&["it's p.mlir"][..], &options].concat());
    let expected = r"xla-shape guard record r.json 'it'\''s p.mlir' --for v5e:2x2,v6e:2x2 --replicas 1 --partitions 1 --option 'a=b c' --time-limit 60";
    assert_eq!(check["accept"], expected);
    // A compiled module keeps the device that was named for it.
    assert_eq!(folder.guard(&["record", "r.json", "m.hlo", "--for", "v6e"]).code, 0);
    assert_eq!(folder.check(&["m.hlo"]).0["accept"], "xla-shape guard record r.json m.hlo --for v6e:2x2");
    assert_eq!(folder.guard(&["record", "r.json", "m.hlo"]).code, 0);
    assert_eq!(folder.devices(), ["v6e:2x2"]);
    // A device that cannot be read is not left out.
    folder.edit(|record| record["programs"][0]["device"] = json!("v99"));
    for verb in ["check", "record"] {
        let answer = folder.guard(&[verb, "r.json", "p.mlir"]);
        assert_eq!((answer.output.as_str(), answer.code), ("", 1));
        assert!(answer.errors.starts_with("error: r.json: the device `v99`: "), "{}", answer.errors);
    }
}

#[test]
fn a_limit_is_not_dropped_in_silence() {
    let folder = Folder::new();
    assert_eq!(folder.guard(&["record", "r.json", "m.hlo"]).code, 0);
    folder.edit(|record| record["programs"][0]["measures"]["cycles"] = Value::Null);
    let (check, code) = folder.check(&["m.hlo"]);
    assert_eq!((&check["limits"], code), (&json!(["memory>1%", "copies>0", "collectives>0"]), 0));
    assert_eq!(check["warnings"], json!(["`cycles>2%` is not checked, because the record does not know the cycles"]));
    folder.edit(|record| {
        for name in ["memory", "copies", "collectives"] {
            record["programs"][0]["measures"][name] = Value::Null;
        }
    });
    let answer = folder.guard(&["check", "r.json", "m.hlo"]);
    let message = "error: r.json: the record knows neither cycles nor memory nor copies nor collectives, so no limit can be checked\n";
    assert_eq!((answer.output.as_str(), answer.errors.as_str(), answer.code), ("", message, 1));
    folder.edit(|record| record["programs"][0]["measures"] = json!({}));
    let answer = folder.guard(&["check", "r.json", "m.hlo"]);
    let message = "error: r.json: programs[0].measures: missing field `memory`\n";
    assert_eq!((answer.output.as_str(), answer.errors.as_str(), answer.code), ("", message, 1));
}

#[test]
fn only_a_record_is_replaced() {
    let folder = Folder::new();
    for text in ["notes", "", "{}"] {
        folder.write("notes.md", text);
        // Nothing is compiled: the device would be another error.
        let answer = folder.guard(&["record", "notes.md", "p.mlir", "--for", "v8i"]);
        let [start, end] = ["error: notes.md: not replaced, because it is not a record: ", "; remove it first\n"];
        assert!(answer.errors.starts_with(start) && answer.errors.ends_with(end), "{}", answer.errors);
        assert_eq!((answer.code, folder.read("notes.md").as_str()), (1, text));
    }
    for (path, message) in [
        ("none/r.json", "error: none/r.json: there is no folder `none`; make it first\n"),
        (".", "error: .: expected a file, found a folder\n"),
    ] {
        let answer = folder.guard(&["record", path, "p.mlir", "--for", "v8i"]);
        assert_eq!((answer.errors.as_str(), answer.code), (message, 1));
    }
}

#[test]
fn standard_output_has_only_the_record() {
    let folder = Folder::new();
    assert_eq!(folder.guard(&["record", "r.json", "m.hlo"]).code, 0);
    let answer = folder.guard(&["record", "-", "m.hlo"]);
    assert_eq!((answer.output, answer.errors.as_str(), answer.code), (folder.read("r.json"), "", 0));
}

#[test]
fn a_program_with_unreadable_shapes_says_where() {
    use xla_shape_answers::guard::{Check, CheckError, Record, Recorded};
    let folder = Folder::new();
    assert_eq!(folder.guard(&["record", "r.json", "m.hlo"]).code, 0);
    let record = Record::parse(folder.read("r.json").as_bytes()).unwrap();
    folder.edit(|record| record["programs"][0]["result"] = json!("f32[8"));
    let mut bad: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    let bad: Recorded = serde_json::from_value(bad["programs"][0].take()).unwrap();
    let error = Check::new(&record, &bad, &[], false, "").unwrap_err();
    assert!(matches!(error, CheckError::Shape(_)), "{error}");
    assert!(error.to_string().starts_with("the program: result: "), "{error}");
}

#[test]
fn other_numbers_of_devices_are_compared_on_request() {
    let folder = Folder::new();
    assert_eq!(folder.guard(&["record", "r.json", "m.hlo"]).code, 0);
    folder.write("divided.hlo", &MODULE.replace("is_scheduled=true", "is_scheduled=true, num_partitions=4"));
    let refused = folder.guard(&["check", "r.json", "divided.hlo"]);
    let message = "error: r.json: the programs are for different devices: num_partitions is 1 before and 4 after; --other-devices compares them anyway\n";
    assert_eq!((refused.errors.as_str(), refused.code), (message, 1));
    assert_eq!(folder.check(&["divided.hlo", "--other-devices"]).1, 0);
}

/// The shell text of a step of the action.
fn step(name: &str) -> String {
    let action =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.github/actions/guard/action.yml")).unwrap();
    let (_, rest) = action.split_once(&format!("    - name: {name}\n")).unwrap();
    let (_, text) = rest.split_once("      run: |\n").unwrap();
    let lines = text.lines().take_while(|line| line.starts_with("        "));
    lines.map(|line| format!("{}\n", &line[8..])).collect()
}

#[cfg(unix)]
#[test]
fn the_steps_of_the_action_run() {
    let folder = Folder::new();
    assert_eq!(folder.guard(&["record", "r.json", "m.hlo"]).code, 0);
    folder.write("slower.hlo", &MODULE.replace("\"300\"", "\"310\""));
    let program = program_path();
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", program.parent().unwrap().display());
    let run = |name: &str, variables: &[(&str, &str)]| {
        let mut command = std::process::Command::new("bash");
        command
            .current_dir(folder.0.path())
            .env("PATH", &path)
            .env("GITHUB_STEP_SUMMARY", "summary.md")
            .env("GITHUB_ENV", "env");
        let output = command.args(["-c", &step(name)]).envs(variables.iter().copied()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr), output.status.code().unwrap())
    };
    // The program is there already, and no compiler is asked for.
    assert_eq!(run("Install the program", &[]), (String::new(), String::new(), 0));
    assert_eq!(run("Install the compiler", &[("LIBTPU", "")]), (String::new(), String::new(), 0));
    let check = |program: &str, limits: &str| {
        let variables = [("RECORD", "r.json"), ("PROGRAM", program), ("FOR", ""), ("FAIL_IF", limits)];
        run("Compare with the record", &variables)
    };
    let (output, errors, code) = check("m.hlo", "");
    assert!(output.starts_with("### <code>program</code>: passed\n"), "{output}{errors}");
    assert_eq!((errors.as_str(), code), ("", 0));
    let (output, _, code) = check("slower.hlo", "");
    assert!(
        output.contains("**failed**")
            && output.contains("To accept the change: <code>xla-shape guard record r.json slower.hlo</code>"),
        "{output}"
    );
    assert_eq!(code, 1);
    assert_eq!(check("slower.hlo", "cycles>+5% copies>0").2, 0);
    assert_eq!(check("slower.hlo", "cycles>+1% copies>0").2, 1);
    assert_eq!(folder.read("summary.md").matches("### ").count(), 4);
    // Limits may be on several lines; empty lines do not count.
    for limits in ["copies>0\ncycles>+1%", "copies>0\n\n  cycles>+1%\n", "\tcopies>0\r\ncycles>+1%\r\n"] {
        let (output, errors, code) = check("slower.hlo", limits);
        assert!(output.contains("**failed**"), "{limits:?}: {output}{errors}");
        assert_eq!(code, 1, "{limits:?}");
    }
    for blanks in [" ", "\n", " \n\t\n"] {
        assert_eq!((check("m.hlo", blanks).2, check("slower.hlo", blanks).2), (0, 1), "{blanks:?}");
    }
    // No input becomes another option: `--help` would end with 0.
    for limits in ["--help", "--other-devices", "-h", "copies>0 --help", "*", "copies"] {
        let (output, errors, code) = check("slower.hlo", limits);
        assert!(output.is_empty() && errors.contains("invalid value '") && code == 2, "{limits}: {output}{errors}");
    }
    let at = |record: &str, program: &str, devices: &str| {
        let variables = [("RECORD", record), ("PROGRAM", program), ("FOR", devices), ("FAIL_IF", "")];
        run("Compare with the record", &variables)
    };
    assert_ne!(at("--help", "slower.hlo", "").2, 0);
    assert_ne!(at("r.json", "--help", "").2, 0);
    assert_eq!(at("r.json", "slower.hlo", "--help").2, 2);
    for name in ["--format=json", "-h"] {
        fs::copy(folder.0.path().join("slower.hlo"), folder.0.path().join(name)).unwrap();
        let (output, errors, code) = at("r.json", name, "");
        assert!(output.contains(&format!("xla-shape guard record r.json ./{name}</code>")), "{output}{errors}");
        assert_eq!(code, 1);
    }
}

#[test]
fn a_lost_donation_and_another_sharding_are_the_causes() {
    let folder = Folder::new();
    let aliased =
        MODULE.replace("is_scheduled=true", "is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }");
    folder.write("donated.hlo", &aliased);
    assert_eq!(folder.guard(&["record", "r.json", "donated.hlo"]).code, 0);
    let (lost, code) = folder.check(&["m.hlo"]);
    assert_eq!(
        (&lost["measures"][0]["name"], &lost["measures"][0]["cause"], code),
        (&json!("memory"), &json!("donation"), 1)
    );
    // A record that does not say which arguments were donated.
    folder.edit(|record| drop(record["programs"][0].as_object_mut().unwrap().remove("aliases")));
    assert_eq!(folder.check(&["m.hlo"]).0["measures"][0]["cause"], "flags or version");

    // The same arrays, divided along the other dimension: the shapes are those of a device, and a collective takes part.
    let divided = MODULE.replace("HloModule m,", "HloModule m, num_partitions=4,");
    folder.write("rows.hlo", &divided);
    let columns =
        divided.replace("[8,128]", "[32,32]").replace("jit(f)/neg", "jit(f)/psum").replace("\"300\"", "\"900\"");
    folder.write("columns.hlo", &columns);
    assert_eq!(folder.guard(&["record", "r.json", "rows.hlo"]).code, 0);
    let (other, code) = folder.check(&["columns.hlo"]);
    assert_eq!((&other["measures"][0]["cause"], code), (&json!("sharding"), 1));
    // A module without `num_partitions`, whose collectives say how many devices there are.
    let gathered = |text: &str, groups: &str| {
        let root = "  ROOT c = f32[8,128]{0,1:T(8,128)} copy(b)";
        let gather = format!(
            "  g = f32[32,128]{{1,0:T(8,128)}} all-gather(b), dimensions={{0}}, replica_groups={groups}\n{root}"
        );
        text.replace(root, &gather).replace(", num_partitions=4", "")
    };
    let columns_of = |text: &str| {
        text.replace("[8,128]", "[32,32]").replace("jit(f)/neg", "jit(f)/psum").replace("\"300\"", "\"900\"")
    };
    for (groups, expected) in [("{{0,1,2,3}}", "sharding"), ("[2,2]<=[4]", "sharding"), ("{{0,1,2}}", "source changed")]
    {
        folder.write("rows.hlo", &gathered(&divided, groups));
        folder.write("columns.hlo", &columns_of(&gathered(&divided, groups)).replace("[32,128]", "[128,32]"));
        assert_eq!(folder.guard(&["record", "r.json", "rows.hlo"]).code, 0);
        assert_eq!(folder.check(&["columns.hlo"]).0["measures"][0]["cause"], expected, "{groups}");
    }
    folder.write("rows.hlo", &divided);
    assert_eq!(folder.guard(&["record", "r.json", "rows.hlo"]).code, 0);
    // Sizes that no division explains are another program.
    folder.write("larger.hlo", &columns.replace("[32,32]", "[32,33]"));
    assert_eq!(folder.check(&["larger.hlo"]).0["measures"][0]["cause"], "source changed");
}

#[test]
fn a_renamed_function_has_the_same_copies_and_lines() {
    let folder = Folder::new();
    assert_eq!(folder.guard(&["record", "r.json", "m.hlo"]).code, 0);
    folder.write("renamed.hlo", &MODULE.replace("jit(f)", "jit(g)").replace("source_line=7", "source_line=70"));
    let (renamed, code) = folder.check(&["renamed.hlo"]);
    let nothing = json!([]);
    assert_eq!(
        (&renamed["copies_added"], &renamed["copies_removed"], &renamed["lines"], code),
        (&nothing, &nothing, &nothing, 0)
    );
    // A line that moved and costs more is shown, and so is one in another file.
    folder.write("moved.hlo", &MODULE.replace("f.py", "g.py"));
    assert_eq!(folder.check(&["moved.hlo"]).0["lines"].as_array().unwrap().len(), 2);
}

#[test]
fn claims_that_hold_are_written_and_fail_after_a_change() {
    let folder = Folder::new();
    let written = folder.guard(&["claims", "m.hlo"]);
    assert_eq!((written.errors.as_str(), written.code), ("", 0));
    folder.write("c.toml", &written.output);
    assert!(
        written.output.contains("[[arguments]]\nname = \"params['w']\"\nlayout = \"{1,0}\"\n"),
        "{}",
        written.output
    );
    let same = folder.guard(&["expect", "c.toml", "m.hlo"]);
    assert_eq!((same.output.trim_start(), same.errors.as_str(), same.code), ("m: passed (3 claims)\n", "", 0));

    let two = MODULE.replace("  ROOT c = ", "  d = f32[8,128]{0,1:T(8,128)} copy(b), metadata={op_name=\"jit(f)/neg\" source_file=\"f.py\" source_line=7}\n  ROOT c = ");
    folder.write("two.hlo", &two);
    folder.write("few.toml", "[[copies]]\nline = \"f.py:7\"\ncount = \"<=1\"\n\n[[copies]]\nline = \"g.py\"\ncount = 0\n\n[[arguments]]\nname = \"params/w\"\nlayout = \"{0,1}\"\naliased = true\n");
    let failed = folder.guard(&["expect", "few.toml", "two.hlo"]);
    let expected = r#"m: FAILED (3 of 3 claims)
  line 1: copies: line = "f.py:7", count = "<=1"
      count: expected <=1, found 2
      %c = f32[8,128]{1,0:T(8,128)} -> f32[8,128]{0,1:T(8,128)} copy, 64 KiB,
      f.py:7, %b (negate) writes {1,0:T(8,128)}; the result must have
      {0,1:T(8,128)}
      %d = f32[8,128]{1,0:T(8,128)} -> f32[8,128]{0,1:T(8,128)} copy, 64 KiB,
      f.py:7, %b (negate) writes {1,0:T(8,128)}; it becomes {0,1:T(8,128)}
  line 5: copies: line = "g.py", count = 0
      nothing is there; the program has f.py:7
  line 9: arguments: name = "params/w", layout = "{0,1}", aliased = true
      layout: expected {0,1}, found {1,0:T(8,128)}
      aliased: expected true, found false
      %a = f32[8,128]{1,0:T(8,128)} parameter, 4 KiB, params['w']
"#;
    assert_eq!((failed.output.trim_start(), failed.errors.as_str(), failed.code), (expected, "", 1));
    let json = folder.guard(&["expect", "few.toml", "two.hlo", "--format", "json"]);
    let json: Value = serde_json::from_str(&json.output).unwrap();
    let states: Vec<_> = json["claims"].as_array().unwrap().iter().map(|claim| &claim["state"]).collect();
    assert_eq!(json["passed"], false);
    assert_eq!(states, ["fails", "unknown", "fails"]);
}

#[test]
fn claims_are_checked_on_each_device() {
    let folder = Folder::new();
    folder.write("c.toml", "[[copies]]\ncount = 0\n");
    let compiled = folder.guard(&["expect", "c.toml", "p.mlir", "--for", "v5e:2x2,v6e", "--format", "json"]);
    let devices: Vec<Value> = compiled.output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let devices: Vec<_> = devices.iter().map(|line| (&line["device"], &line["passed"])).collect();
    assert_eq!(devices, [(&json!("v5e:2x2"), &json!(true)), (&json!("v6e:2x2"), &json!(true))], "{}", compiled.errors);
    for (claims, program, error) in [
        (
            "[[copies]]\ncounts = 0\n",
            "m.hlo",
            "c.toml: line 2, column 1: unknown field `counts`, expected one of `size`,",
        ),
        ("[[copies]]\ncount = 0\n", "missing.hlo", "cannot read `missing.hlo`: "),
    ] {
        folder.write("c.toml", claims);
        let refused = folder.guard(&["expect", "c.toml", program]);
        assert!(refused.errors.starts_with(&format!("error: {error}")) && refused.code == 1, "{}", refused.errors);
    }
    let several = folder.guard(&["claims", "p.mlir", "--for", "v5e,v6e"]);
    assert!(several.errors.starts_with("error: p.mlir: expected one device of --for"), "{}", several.errors);
}
