//! `guard lock`: the layouts and shardings of arguments and results, and the plan that converts data.

use super::{Folder, MODULE};
use crate::program::program_path;
use serde_json::{Value, json};
use std::fs;

/// Data that were written for a program fit only as long as its arguments and results keep their shapes and layouts.
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
    // In another memory, the bytes are the same. But a program that reads from the host's memory does not accept an array in the device's memory.
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
    // XLA's partitioner may remove a sharding, so a record without one proves nothing.
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
    // If the parts belong to one array, the text has the command for that array.
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

/// libtpu 0.0.52 gives arrays of int8 other tiles than libtpu 0.0.24. Both modules are compiled from the same function, `step`.
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

    // `check` of a lock always reports this, and compares no costs.
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
    // With one more argument, it is not known which data belong to which argument.
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
