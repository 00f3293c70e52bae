//! `hlo` with the compiler's own files beside the module.

use assert_cmd::Command;
use serde_json::Value;
use std::fs;
use std::path::Path;

const MODULE: &str = "\
HloModule jit_f, is_scheduled=true
ENTRY main {
  a = f32[8,128]{1,0:T(8,128)} parameter(0)
  b = f32[8,128]{1,0:T(8,128)} negate(a), metadata={op_name=\"jit(f)/layer/neg\" source_file=\"f.py\" source_line=3}
  ROOT c = f32[8,128]{1,0:T(8,128)} add(a, b)
}
";
const ASSIGNMENT: &str = "\
BufferAssignment:
allocation 0: size 4096, page 0, parameter 0, shape |f32[8,128]| at ShapeIndex {}:
 value: <1 a @0> (size=4096,offset=0): f32[8,128]{1,0:T(8,128)}
allocation 1: size 4096, page 0, output shape is |f32[8,128]|, maybe-live-out:
 value: <3 c @0> (size=4096,offset=0): f32[8,128]{1,0:T(8,128)}
allocation 2: size 20480, page 0, preallocated-temp:
 value: <2 b @0> (size=4096,offset=16384): f32[8,128]{1,0:T(8,128)}
";
const RANGES: &str = "\
HloLiveRange (max 3):
  InstructionSequence:
    0:a
    1:b
    2:c
  BufferLiveRange:
    a{}:0-3
    b{}:1-2
    c{}:2-3
";
const USAGE: &str = "Memory Space: default (color=0)\nTotal bytes: 28672 (28.0KiB)\n";

fn hlo(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::cargo_bin("xla-shape").unwrap().arg("hlo").args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
}

#[test]
fn what_lies_beside_a_module_makes_it_exact() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let name = "module_0001.jit_f.after_optimizations.txt";
    write(
        folder.path(),
        &[
            (name, MODULE),
            ("module_0001.jit_f.after_optimizations-buffer-assignment.txt", ASSIGNMENT),
            ("module_0001.jit_f.after_optimizations-live-range.txt", RANGES),
            ("module_0001.jit_f.after_optimizations-memory-usage-report.txt", USAGE),
            ("module_0002.jit_g.after_optimizations.txt", MODULE),
        ],
    );
    let directory = folder.path().to_str().unwrap();
    for argument in [directory, &path(name)] {
        let (code, json, error) = hlo(&[argument, "--format", "json", "--device", "20480"]);
        assert_eq!((code, error.as_str()), (0, ""));
        let report: Value = serde_json::from_str(&json).unwrap();
        let device = &report["memory"]["device"];
        assert_eq!(device["exact"], true);
        assert_eq!((&device["arguments"], &device["outputs"]), (&4096.into(), &4096.into()));
        assert_eq!((&device["temporaries"], &device["total"]), (&32768.into(), &(8192 + 32768).into()));
        assert_eq!((&device["peak"], &report["capacity"][0]["free"]), (&12288.into(), &(-20480).into()));
        assert_eq!(report["files"].as_array().unwrap().len(), 3);
        let peak = &report["at_peak"][0];
        assert_eq!(peak["by_scope"][1]["name"], "jit(f)/layer");
        assert_eq!(peak["by_scope"][1]["source"], "f.py:3");
    }
    let (_, text, _) = hlo(&[directory, "--device", "v5e"]);
    assert!(text.contains("other modules of the directory: module_0002.jit_g.after_optimizations.txt"), "{text}");
    assert!(text.contains("exact: the compiler's own assignment") && text.contains("of 15.7 GiB"), "{text}");
    let (_, text, _) = hlo(&[directory, "--estimate"]);
    assert!(text.contains("  estimate: of "), "{text}");
    let (_, text, _) = hlo(&[&path("module_0002.jit_g.after_optimizations.txt")]);
    assert!(text.contains("  estimate: of "), "{text}");
}

#[test]
fn files_that_do_not_belong_together_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().to_str().unwrap();
    let (code, _, error) = hlo(&[directory]);
    assert_eq!(code, 1);
    assert!(error.contains("has no optimized module: a file"), "{error}");
    let with = |name: &str, text: &str, message: &str| {
        write(
            folder.path(),
            &[("after.hlo", MODULE), ("buffer-assignment.txt", ASSIGNMENT), ("live-range.txt", RANGES)],
        );
        write(folder.path(), &[("memory-usage-report.txt", USAGE), (name, text)]);
        let (code, output, error) = hlo(&[directory]);
        assert_eq!((code, output.as_str()), (1, ""));
        assert!(error.contains(message) && error.contains("--estimate"), "{error}");
        assert_eq!(hlo(&[directory, "--estimate"]).0, 0);
    };
    with(
        "after.hlo",
        &MODULE.replace("b = ", "x = ").replace(", b)", ", x)"),
        "buffer-assignment.txt: the file belongs to another module: it has no place for %x{}",
    );
    with(
        "after.hlo",
        &MODULE.replace("8,128]", "16,128]"),
        "the file belongs to another module: %a{} takes 8192 bytes, and the file gives it 4096",
    );
    with("buffer-assignment.txt", "HloModule m", "the file does not begin with `BufferAssignment:`");
    with("live-range.txt", &RANGES.replace("b{}", "d{}"), "it does not say how long %b{} is needed");
    with("memory-usage-report.txt", &USAGE.replace("28672", "9"), "the files do not belong together");
    fs::write(folder.path().join("memory-usage-report.txt"), [0xFF]).unwrap();
    let (code, _, error) = hlo(&[directory]);
    assert!(code == 1 && error.contains("is not text"), "{error}");
    let (code, _, error) = hlo(&[directory, "--device", "v99"]);
    assert!(code == 2 && error.contains("expected one of v2, v3, v4"), "{error}");
}

#[test]
fn a_module_without_a_schedule_says_so() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("m.hlo", &MODULE.replace(", is_scheduled=true", ""))]);
    let (_, text, _) = hlo(&[folder.path().join("m.hlo").to_str().unwrap()]);
    assert!(text.contains("rough estimate: the module has no schedule"), "{text}");
}

#[test]
fn a_short_form_counts_as_what_it_stands_for() {
    let directory = tempfile::tempdir().unwrap();
    let module = |name: &str, computation: &str, opcodes: [&str; 2], more: [&str; 2]| {
        let text = format!(
            "HloModule m\n{computation}ENTRY main {{\n  a = f32[8]{{0}} parameter(0)\n  \
             s = ((f32[8]{{0}}), f32[4]{{0}}, u32[]) {}(a){}\n  ROOT d = f32[4]{{0}} {}(s){}\n}}\n",
            opcodes[0], more[0], opcodes[1], more[1],
        );
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        let (code, out, error) = hlo(&[path.to_str().unwrap(), "--format", "json"]);
        assert_eq!((code, error.as_str()), (0, ""));
        let report: Value = serde_json::from_str(&out).unwrap();
        ["computations", "instructions", "opcodes", "memory", "findings"].map(|field| report[field].clone())
    };
    let called = "c {\n  p = f32[8]{0} parameter(0)\n  ROOT r = f32[4]{0} slice(p), slice={[0:4]}\n}\n";
    let long = module("long.hlo", called, ["async-start", "async-done"], [", calls=c", ""]);
    let short = module("short.hlo", "", ["slice-start", "slice-done"], [", slice={[0:4]}", ""]);
    assert_eq!(long, short);
    assert_eq!((&long[0], &long[1]), (&2.into(), &5.into()));
}
