//! `hlo` with the compiler's own files beside the module.

use crate::program::Command;
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
    let output = Command::program().arg("hlo").args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
}

#[test]
fn files_beside_a_module_make_numbers_exact() {
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
        assert_eq!((code, error.as_str()), (1, ""), "the program does not fit");
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
    assert!(text.contains("other modules here: module_0002.jit_g.after_optimizations.txt"), "{text}");
    assert!(text.contains("exact: the compiler's own assignment") && text.contains("of 15.7 GiB"), "{text}");
    let (_, text, _) = hlo(&[directory, "--estimate"]);
    assert!(text.contains("  estimate (the release of libtpu is not shown): of "), "{text}");
    let (_, text, _) = hlo(&[&path("module_0002.jit_g.after_optimizations.txt")]);
    assert!(text.contains("  estimate (the release of libtpu is not shown): of "), "{text}");
}

#[test]
fn a_device_of_another_kind_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("after.hlo", MODULE)]);
    let file = folder.path().join("after.hlo");
    for verb in [&["hlo"][..], &["cost"], &["guard", "claims"]] {
        let output = Command::program().args(verb).args([file.to_str().unwrap(), "--for", "h100"]).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{error}");
        assert!(
            error.contains("the program was not compiled for h100, but for a TPU: its arrays have tiles; `xla-shape compile PROGRAM --for h100`"),
            "{error}"
        );
    }
    assert_eq!(hlo(&[file.to_str().unwrap(), "--for", "v5e"]).0, 0);
}

#[test]
fn a_program_that_is_not_divided_yet_has_no_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let undivided = MODULE.replace("is_scheduled=true", "num_partitions=4");
    write(folder.path(), &[("before.hlo", &undivided)]);
    let (code, text, _) = hlo(&[folder.path().join("before.hlo").to_str().unwrap(), "--for", "5000"]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(code, 0);
    let expected = "with every array at its whole size: it is not divided among its 4 devices yet, and what one of them needs is not known";
    assert!(text.contains(expected) && !text.contains("FIT"), "{text}");
}

#[test]
fn a_gpu_with_a_larger_part_for_jax_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let text = "HloModule m, is_scheduled=true\nENTRY e { ROOT p = u8[68719476736]{0} parameter(0) }";
    write(folder.path(), &[("after.hlo", text)]);
    let (code, text, _) = hlo(&[folder.path().join("after.hlo").to_str().unwrap(), "--for", "h100"]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(code, 1);
    let expected = "DOES NOT FIT, but fits the 75.2 GiB of 79.1 GiB that XLA_PYTHON_CLIENT_MEM_FRACTION=0.95 gives a process of JAX";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn unexpected_contents_of_a_file_lead_to_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().to_str().unwrap();
    let (code, _, error) = hlo(&[directory]);
    assert_eq!(code, 1);
    assert!(error.contains("has no optimized module: a file"), "{error}");
    let with = |name: &str, text: &[u8], note: &str, exact: bool| {
        write(
            folder.path(),
            &[("after.hlo", MODULE), ("buffer-assignment.txt", ASSIGNMENT), ("live-range.txt", RANGES)],
        );
        write(folder.path(), &[("memory-usage-report.txt", USAGE)]);
        fs::write(folder.path().join(name), text).unwrap();
        let (code, json, error) = hlo(&[directory, "--format", "json"]);
        assert_eq!((code, error.as_str()), (0, ""), "{note}");
        let report: Value = serde_json::from_str(&json).unwrap();
        let notes = report["notes"].as_array().unwrap();
        assert!(notes.iter().any(|found| found.as_str().unwrap().contains(note)), "{notes:?}");
        assert_eq!(report["memory"]["device"]["exact"], exact, "{note}");
        let (_, text, _) = hlo(&[directory]);
        let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(joined(&text).contains(&joined(&format!("note: {}", notes[0].as_str().unwrap()))), "{text}");
        // `--estimate` reads no files.
        let (_, text, _) = hlo(&[directory, "--estimate"]);
        assert!(!text.contains("note: "), "{text}");
        fs::remove_file(folder.path().join(name)).unwrap();
    };
    with(
        "after.hlo",
        MODULE.replace("b = ", "x = ").replace(", b)", ", x)").as_bytes(),
        "`buffer-assignment.txt` is ignored: the file is not complete, or belongs to another module: it lacks %x{}",
        false,
    );
    with(
        "after.hlo",
        MODULE.replace("8,128]", "16,128]").as_bytes(),
        "the file belongs to another module: %a{} takes 8192 bytes, and the file gives it 4096",
        false,
    );
    with("buffer-assignment.txt", b"HloModule m", "the file does not begin with `BufferAssignment:`", false);
    with("live-range.txt", RANGES.replace("b{}", "d{}").as_bytes(), "it has no live range of %b{}", true);
    with("memory-usage-report.txt", USAGE.replace("28672", "9").as_bytes(), "the files do not belong together", true);
    with("memory-usage-report.txt", &[0xFF], "it is not text", true);
    with("stats.json", b"{\"loss\": 3}", "`stats.json` is ignored: it is not a memory analysis in JSON", true);
    with(
        "stats.json",
        b"{\"argument_size_in_bytes\": 5}",
        "`stats.json` is ignored: it is of another program: `argument_size_in_bytes` is 5, and of this one 4096",
        true,
    );
    with("stats.json", b"{\"temp_size_in_bytes\": 36864}", "this release of the compiler counts differently", true);
    let (code, _, error) = hlo(&[directory, "--device", "v99"]);
    assert!(code == 2 && error.contains("expected a generation of TPUs: v2, v3, v4"), "{error}");
}

#[test]
fn the_compilers_memory_analysis_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().to_str().unwrap();
    let analysis = "{\"argument_size_in_bytes\": 4096, \"output_size_in_bytes\": 4096, \"alias_size_in_bytes\": 0, \
                    \"temp_size_in_bytes\": 36864, \"peak_memory_in_bytes\": 9, \"generated_code_size_in_bytes\": 7}";
    // With a module alone, and with a module and its assignment. A file without a prefix belongs to every module of the directory.
    write(folder.path(), &[("m.after.hlo", MODULE), ("stats.json", analysis)]);
    for accuracy in ["exact: the compiler's own memory analysis", "exact: the compiler's own assignment"] {
        let (_, json, _) = hlo(&[directory, "--format", "json"]);
        let report: Value = serde_json::from_str(&json).unwrap();
        let device = &report["memory"]["device"];
        assert_eq!((&device["temporaries"], &device["total"]), (&36864.into(), &45056.into()));
        assert_eq!((&device["peak"], &device["generated_code"]), (&9.into(), &7.into()));
        assert!(report["accuracy"].as_str().unwrap().starts_with(accuracy), "{json}");
        write(folder.path(), &[("m.buffer-assignment.txt", ASSIGNMENT)]);
    }
}

#[test]
fn modules_for_other_devices_have_no_accuracy_of_tpus() {
    let module = MODULE.replace(":T(8,128)", "");
    let assignment = ASSIGNMENT.replace(":T(8,128)", "").replace("20480", "4096").replace("offset=16384", "offset=0");
    for device in ["cpu", "sm_8.0_gpu", "gfx950_gpu"] {
        let folder = tempfile::tempdir().unwrap();
        let name = |tail: &str| format!("module_0000.jit_f.{device}_after_optimizations{tail}");
        let directory = folder.path().to_str().unwrap();
        write(folder.path(), &[(&name(".txt"), &module)]);
        let path = folder.path().join(name(".txt"));
        let said = || [hlo(&[directory]), hlo(&[path.to_str().unwrap()])];
        for (code, text, error) in said() {
            assert_eq!((code, error.as_str()), (0, ""));
            assert!(
                text.contains("\n  estimate, by the rules of XLA's own assignment: temporaries were within"),
                "{text}"
            );
        }
        write(folder.path(), &[(&name("-buffer-assignment.txt"), &assignment)]);
        for (_, text, _) in said() {
            assert!(text.contains("\n  exact: the compiler's own assignment\n"), "{text}");
            assert!(text.contains("\n       4 KiB  temporaries\n"), "{text}");
        }
    }
}

#[test]
fn a_module_without_a_schedule_says_so() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("m.hlo", &MODULE.replace(", is_scheduled=true", ""))]);
    let (_, text, _) = hlo(&[folder.path().join("m.hlo").to_str().unwrap()]);
    assert!(text.contains("rough estimate: the module has no schedule"), "{text}");
}

#[test]
fn a_short_form_counts_as_its_long_form() {
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
