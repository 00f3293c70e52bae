//! `xla-shape guard`, with compiled modules and with a fake PJRT plug-in: records and checks are tested here, the rest in the other files.

mod action;
mod claims;
mod lock;

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
    // The next command is about the cause. The digest does not suggest the command that accepts the change, because only the user should decide
    // that.
    let digest = folder.guard(&["check", "r.json", "slower.hlo", "--format", "digest"]).output;
    let next = digest.lines().filter(|line| line.starts_with("Next:")).collect::<Vec<_>>();
    assert_eq!(next, ["Next: xla-shape cost slower.hlo"]);
    let markdown = folder.guard(&["check", "r.json", "slower.hlo", "--markdown"]).output;
    assert!(markdown.starts_with("### <code>program</code>: **failed**\n"), "{markdown}");
    assert!(markdown.contains("| cycles | 400 | 410 | +2.5 % | flags or version |"), "{markdown}");
    // After the change is accepted, the check passes.
    assert_eq!(folder.guard(&["record", "r.json", "slower.hlo"]).code, 0);
    assert_eq!(folder.check(&["slower.hlo"]).1, 0);
}

/// The measured time may grow by as much as the times of single runs differ.
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
    // The record does not have this device.
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
        (String::new(), "not a record"),
        ("[]".to_owned(), "not a record"),
        (
            MODULE.to_owned(),
            "not a record, as `guard record` or `guard lock` writes it; the record comes before the program",
        ),
        ("{\"schema\": ".to_owned(), "EOF while parsing a value at line 1 column 11"),
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
    // A file that is an input is not overwritten.
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
    // The command also names the devices that are not checked.
    assert_eq!(folder.check(&["p.mlir", "--for", "v6e"]).0["accept"], accept);
    folder.write("it's p.mlir", "module {}");
    let options = ["--option", "a=b c", "--replicas", "1", "--partitions", "1", "--time-limit", "60"];
    let (check, _) = folder.check(&[&["it's p.mlir"][..], &options].concat());
    let expected = r"xla-shape guard record r.json 'it'\''s p.mlir' --for v5e:2x2,v6e:2x2 --replicas 1 --partitions 1 --option 'a=b c' --time-limit 60";
    assert_eq!(check["accept"], expected);
    // The command for a compiled module names the device that the record has for it.
    assert_eq!(folder.guard(&["record", "r.json", "m.hlo", "--for", "v6e"]).code, 0);
    assert_eq!(folder.check(&["m.hlo"]).0["accept"], "xla-shape guard record r.json m.hlo --for v6e:2x2");
    assert_eq!(folder.guard(&["record", "r.json", "m.hlo"]).code, 0);
    assert_eq!(folder.devices(), ["v6e:2x2"]);
    // A device whose name cannot be read is not left out.
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
        // This shows that nothing is compiled: the device would give another error.
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
    // This record does not say which arguments were donated.
    folder.edit(|record| drop(record["programs"][0].as_object_mut().unwrap().remove("aliases")));
    assert_eq!(folder.check(&["m.hlo"]).0["measures"][0]["cause"], "flags or version");

    // The same arrays, divided along the other dimension. The module has the shapes of one device, and a collective.
    let divided = MODULE.replace("HloModule m,", "HloModule m, num_partitions=4,");
    folder.write("rows.hlo", &divided);
    let columns =
        divided.replace("[8,128]", "[32,32]").replace("jit(f)/neg", "jit(f)/psum").replace("\"300\"", "\"900\"");
    folder.write("columns.hlo", &columns);
    assert_eq!(folder.guard(&["record", "r.json", "rows.hlo"]).code, 0);
    let (other, code) = folder.check(&["columns.hlo"]);
    assert_eq!((&other["measures"][0]["cause"], code), (&json!("sharding"), 1));
    // A module without `num_partitions`. Its collectives show how many devices there are.
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
    // If no division explains the sizes, the module is another program.
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
    // A line that moved and now costs more is shown, also if it moved to another file.
    folder.write("moved.hlo", &MODULE.replace("f.py", "g.py"));
    assert_eq!(folder.check(&["moved.hlo"]).0["lines"].as_array().unwrap().len(), 2);
}
