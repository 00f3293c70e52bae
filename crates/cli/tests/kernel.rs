//! `xla-shape kernel`, run as a program on dumps; `compile.rs` tests the process of the compiler.

use crate::program::{Command, program_path};
use serde_json::{Value, json};
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;
use std::path::{Path, PathBuf};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().join("examples/kernels").join(name)
}

fn run(path: &Path, more: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::program().arg("kernel").arg(path).args(more).output().unwrap();
    let [text, errors] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (output.status.code(), text, errors)
}

/// The kernels of a dump, as JSON.
fn kernels(path: &Path) -> Vec<Value> {
    let (code, text, errors) = run(path, &["--format", "json"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    serde_json::from_str::<Value>(&text).unwrap()["kernels"].as_array().unwrap().clone()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// A profile gives the time of the instruction that calls the kernel.
#[test]
fn a_kernel_has_its_measured_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.xplane.pb");
    let program = |name: &str| {
        format!(
            "HloModule m\nENTRY e {{ a = f32[64,256]{{1,0}} parameter(0)\n  ROOT {name} = f32[64,256]{{1,0}} custom-call(a), custom_call_target=\"tpu_custom_call\" }}"
        )
    };
    fs::write(&path, crate::cost::profile(&program("name.1"), &[("name.1", [10, 11, 12])])).unwrap();
    let options = ["--profile", path.to_str().unwrap(), "--clock", "1"];
    let (code, text, errors) = run(&example("first"), &options);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("measured: 3 × 11.0 ms (10.0 ms to 12.0 ms); "), "{text}");
    let (_, json, _) = run(&example("first"), &[&options[..], &["--format", "json"]].concat());
    let json = serde_json::from_str::<Value>(&json).unwrap();
    assert_eq!(json["kernels"][0]["measured"]["mean_picoseconds"], 11_000_000_000_u64);
    fs::write(&path, crate::cost::profile(&program("other"), &[("other", [10, 11, 12])])).unwrap();
    let (code, _, errors) = run(&example("first"), &options);
    assert_eq!(code, Some(0));
    assert!(
        errors.ends_with("no instruction of m(1) has the name of one that calls a kernel of the dump\n"),
        "{errors}"
    );
    let (code, _, errors) = run(
        &example("first"),
        &["--profile", concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/hlo/v5e__rnn_scan.hlo")],
    );
    assert_eq!((code, errors.contains("expected a profile, found a program")), (Some(1), true), "{errors}");
}

#[test]
fn a_dump_says_what_could_be_changed() {
    let (code, text, errors) = run(&example("first"), &["--for", "v7x"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(
        text.starts_with(
            "name.1 (first): 57 bundles, 1 empty\n  15 operations in registers, 3 relayouts: 1 free, 2 move data\n"
        ),
        "{text}"
    );
    assert!(text.contains("shifted_sum.py:17: xir.vector_load of f32[64,256] begins at row 3 of a"), "{text}");
    assert!(text.contains("vector memory: 65,536 bytes (64 KiB) of 32 MiB\n"), "{text}");
    let [first] = &kernels(&example("first"))[..] else { panic!() };
    assert_eq!(
        (first["bundles"].as_u64(), first["empty"].as_u64(), first["operations"].as_u64()),
        (Some(57), Some(1), Some(15))
    );
    let relayout = &first["relayouts"][1];
    assert_eq!(
        (&relayout["from"], &relayout["to"]),
        (&Value::from("32,{0,*},(8,128)"), &Value::from("32,{3,0},(8,128)"))
    );
    assert_eq!(
        (&relayout["shape"], &relayout["source"]),
        (&Value::from("f32[64,256]"), &Value::from("shifted_sum.py:19"))
    );
    assert_eq!(first["unaligned"][0]["relayouts"], 2);
    let [aligned] = &kernels(&example("aligned"))[..] else { panic!() };
    assert_eq!((aligned["bundles"].as_u64(), aligned["unaligned"].as_array().unwrap().len()), (Some(45), 0));
}

#[test]
fn several_kernels_have_a_table() {
    let (code, text, _) = run(&example(""), &[]);
    assert_eq!(code, Some(0));
    let rows =
        text.lines().take(3).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>();
    let expected = [
        "kernel for bundles empty with trips relayouts moving VMEM",
        "name.1 (aligned) 45 1 45 2 0 64 KiB",
        "name.1 (first) 57 1 57 3 2 64 KiB",
    ];
    assert_eq!(rows, expected);
}

#[test]
fn a_part_of_a_dump_has_a_part_of_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("dump");
    copy(&example("first"), &dump);
    let operations = dump.join("mosaic.first.post-relayout-insertion.txt");
    let text = fs::read_to_string(&operations).unwrap();
    fs::write(&operations, &text[..text.len() / 2]).unwrap();
    let [cut] = &kernels(&dump)[..] else { panic!() };
    assert_eq!(
        (cut["bundles"].as_u64(), &cut["operations"], &cut["relayouts"]),
        (Some(57), &Value::Null, &Value::Null)
    );
    assert!(cut["notes"][0].as_str().unwrap().starts_with("the text of its operations cannot be read: line "), "{cut}");
    fs::remove_file(&operations).unwrap();
    let [without] = &kernels(&dump)[..] else { panic!() };
    assert_eq!(without["notes"][0], "the dump has no text of operations for this kernel");
    let bundles = dump.join("llo.name.1.final_bundles.txt");
    let text = fs::read_to_string(&bundles).unwrap();
    fs::write(&bundles, &text[..text.len() / 2]).unwrap();
    let [cut] = &kernels(&dump)[..] else { panic!() };
    assert_eq!((&cut["unread"]["bundles that are cut off"], cut["bundles"].as_u64()), (&Value::from(1), Some(57)));
}

#[test]
fn errors_say_what_is_expected() {
    let folder = tempfile::tempdir().unwrap();
    let (code, text, errors) = run(folder.path(), &[]);
    assert_eq!((code, text.as_str()), (Some(1), ""));
    assert!(errors.contains("expected files of kernels, such as"), "{errors}");
    let (code, _, errors) = run(&example("first"), &["--for", "v5e,v6e"]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("a dump is of one device"), "{errors}");
    let (code, _, errors) = run(&folder.path().join("missing"), &[]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("missing"), "{errors}");
    fs::write(folder.path().join("empty.mlir"), "").unwrap();
    assert_eq!(run(&folder.path().join("empty.mlir"), &[]).0, Some(1));
}

/// A dump of a program for an H100.
fn dump_of_gpu(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().join("tests/corpus/gpu").join(name)
}

#[test]
fn the_launches_of_a_gpu_have_instructions_and_grids() {
    let launches = |name: &str| {
        let (code, text, errors) = run(&dump_of_gpu(name), &["--format", "json"]);
        assert_eq!((code, errors.as_str()), (Some(0), ""));
        serde_json::from_str::<Value>(&text).unwrap()["launches"].as_array().unwrap().clone()
    };
    let convolution = launches("convolution");
    let names = convolution.iter().map(|launch| launch["instruction"].as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(names, ["wrapped_transpose.1", "wrapped_transpose", "cudnn-conv.1", "wrapped_transpose.2"]);
    assert_eq!((&convolution[0]["grid"], &convolution[0]["threads"]), (&json!([576, 1, 1]), &json!([128, 1, 1])));
    assert_eq!((&convolution[2]["kind"], &convolution[2]["grid"]), (&json!("Convolution"), &Value::Null));
    // The dump does not name the launches, so a kernel that is launched twice may belong to several instructions.
    let attention = launches("attention");
    let row = |launch: &Value| (launch["kernel"].clone(), launch["instruction"].clone());
    assert_eq!(row(&attention[2]), (json!("gemm_fusion_dot_3"), json!("gemm_fusion_dot.3")));
    assert_eq!(
        (row(&attention[1]), row(&attention[1])),
        (row(&attention[4]), (json!("wrapped_transpose_1"), Value::Null))
    );
    assert_eq!(attention[2]["shared_memory"], 12_288);
    assert!(attention[2]["source"].as_str().unwrap().starts_with("programs.py:"), "{}", attention[2]);
    let (_, text, _) = run(&dump_of_gpu("attention"), &[]);
    assert!(text.starts_with("7 steps, among them 7 launches of kernels; "), "{text}");
    assert!(text.lines().any(|line| line.contains("%gemm_fusion_dot.3") && line.contains("12 KiB")), "{text}");
}

#[test]
fn two_versions_are_compared() {
    let before = example("first");
    let (code, text, errors) = run(&example("aligned"), &["--against", before.to_str().unwrap()]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    let answer = "name.1 (aligned), before name.1 (first): bundles with trips 57 -> 45 (-12), relayouts that move data 2 -> 0 (-2)";
    assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").starts_with(answer), "{text}");
    let rows = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>();
    for row in ["bundles 57 45 -12", "relayouts that move data 2 0 -2", "shifted_sum.py:19 27 to - 85 to - 2 to -"] {
        assert!(rows.iter().any(|other| other == row), "{row} is not in {text}");
    }
    let (_, text, _) = run(&example("first"), &["--against", before.to_str().unwrap(), "--format", "json"]);
    let answer = serde_json::from_str::<Value>(&text).unwrap();
    let [same] = &answer["differences"].as_array().unwrap()[..] else { panic!() };
    assert_eq!((&same["before"], same["lines"].as_array().unwrap().len()), (&same["after"], 0));
    assert_eq!(answer["kernels"].as_array().unwrap().len(), 1);
    let folder = tempfile::tempdir().unwrap();
    let (code, _, errors) = run(&example("first"), &["--against", folder.path().to_str().unwrap()]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("expected files of kernels"), "{errors}");
}

#[test]
fn a_kernel_is_compared_with_xla() {
    let xla = example("softmax_xla");
    let (code, text, errors) = run(&example("softmax"), &["--against", xla.to_str().unwrap()]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    let answer =
        "the program with kernels beside XLA's own: 799 bundles with trips instead of 296, 2.70 times as many ";
    assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").starts_with(answer), "{text}");
    let rows = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>();
    for row in [
        "instructions with bundles 1 3 0.33",
        "bundles with trips 799 296 2.70",
        "kernel: name.1 (softmax) kernel 88 799 0 32,768",
    ] {
        assert!(rows.iter().any(|other| other == row), "{row} is not in {text}");
    }
    let (_, text, _) = run(&example("softmax"), &["--against", xla.to_str().unwrap(), "--format", "json"]);
    let answer = serde_json::from_str::<Value>(&text).unwrap();
    let [program] = &answer["against_xla"].as_array().unwrap()[..] else { panic!() };
    // The counts agree with the compiler's own, which are in the files of the dump.
    let total = |folder: &str| {
        let files = fs::read_dir(example(folder)).unwrap().map(|file| file.unwrap().path());
        let files = files.filter(|path| path.to_str().unwrap().ends_with("schedule-analysis_final_bundles.txt"));
        let count = |path: PathBuf| {
            let text = fs::read_to_string(path).unwrap();
            let (_, count) = text.split_once("total scheduled bundles:").unwrap();
            count.split_whitespace().next().unwrap().parse::<u64>().unwrap()
        };
        files.map(count).sum::<u64>()
    };
    for (side, folder) in [("kernel", "softmax"), ("xla", "softmax_xla")] {
        assert_eq!(program[side]["bundles"].as_u64(), Some(total(folder)));
        assert!(program[side]["least"].as_u64() <= program[side]["executed"].as_u64());
        assert!(program[side]["executed_empty"].as_u64() <= program[side]["executed"].as_u64());
    }
    // A program without kernels is allowed after `--against`, but not alone.
    let (code, _, errors) = run(&xla, &[]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("expected files of kernels"), "{errors}");
}

/// Runs `kernel` on a program that the fake compiler compiles.
fn compiled(text: &str, against: Option<&str>, more: &[&str]) -> (Option<i32>, String, String) {
    let program = program_path();
    let plugin = program.parent().unwrap().join("deps").join(format!("{DLL_PREFIX}pjrt_fake{DLL_SUFFIX}"));
    let folder = tempfile::tempdir().unwrap();
    let [path, before] = ["p.mlir", "before.mlir"].map(|name| folder.path().join(name));
    fs::write(&path, text).unwrap();
    let mut arguments = vec!["--plugin", plugin.to_str().unwrap()];
    if let Some(against) = against {
        fs::write(&before, against).unwrap();
        arguments.extend(["--against", before.to_str().unwrap()]);
    }
    run(&path, &[&arguments[..], more].concat())
}

#[test]
fn a_refused_program_has_the_dump_until_then() {
    let (code, text, errors) = compiled("module {} // fake:kernel-dump fake:error", None, &[]);
    assert_eq!((code, errors.as_str()), (Some(1), ""));
    assert!(
        text.starts_with("k: 2 bundles, 1 empty\n") || text.starts_with("k for v5e:2x2: 2 bundles, 1 empty\n"),
        "{text}"
    );
    assert!(text.contains("v5e:2x2: ") && text.contains("the program asks for an error"), "{text}");
    // The error is the refusal, not that the dump cannot be read.
    let (code, text, _) = compiled("module {} // fake:no-directory fake:error", None, &[]);
    assert_eq!(code, Some(1));
    assert!(text.contains("the program asks for an error"), "{text}");
    let (code, text, _) = compiled("module {} // fake:no-directory", None, &[]);
    assert_eq!(code, Some(1));
    assert!(text.starts_with("v5e:2x2: ") && !text.contains("the compiler dumped no kernel"), "{text}");
}

/// Each device has its own dump. A missing dump is an error; the dump of another device is not used instead.
#[test]
fn a_device_without_a_dump_is_named() {
    let (code, text, _) =
        compiled("module {} // fake:kernel-dump", Some("module {} // fake:xla-dump-v5e"), &["--for", "v5e,v6e"]);
    assert_eq!(code, Some(1));
    assert!(text.starts_with("the program with kernels beside XLA's own for v5e:2x2"), "{text}");
    assert!(text.contains("v6e:2x2: before the change: the compiler dumped no kernel"), "{text}");
    assert!(!text.contains("v5e:2x2: before the change"), "{text}");
}

/// If something is missing or cut off on either side, the sums are too small, so the answer says so.
#[test]
fn a_comparison_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let [kernel, xla] = ["softmax", "softmax_xla"].map(|name| folder.path().join(name));
    copy(&example("softmax"), &kernel);
    copy(&example("softmax_xla"), &xla);
    let compare = |before: &Path| {
        let (code, text, errors) = run(&kernel, &["--against", before.to_str().unwrap()]);
        assert_eq!((code, errors.as_str()), (Some(0), ""));
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(!compare(&xla).contains("note:") && !compare(&xla).contains("not understood:"));
    for dump in [&kernel, &xla] {
        let files = fs::read_dir(dump).unwrap().map(|file| file.unwrap().path());
        let file = files.into_iter().find(|path| path.to_str().unwrap().ends_with(".final_bundles.txt")).unwrap();
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, &text[..text.len() / 2]).unwrap();
    }
    let cut = "not understood: bundles that are cut off (1x)";
    assert_eq!(compare(&xla).matches(cut).count(), 2);
    let text = compare(&example("softmax"));
    assert!(text.contains(&format!("after the change: {cut}")) && !text.contains("before the change:"), "{text}");
    let file = fs::read_dir(&xla).unwrap().map(|file| file.unwrap().path());
    let file = file.into_iter().find(|path| path.to_str().unwrap().ends_with(".final_bundles.txt")).unwrap();
    fs::remove_file(file).unwrap();
    assert!(compare(&xla).contains("note: the dump has no bundles for this instruction"));
}

/// A kernel with a moving window of 12 MiB is refused without asking the compiler, although the fake compiler would accept it.
#[test]
fn a_kernel_that_cannot_fit_is_not_compiled() {
    let program = program_path();
    let plugin = program.parent().unwrap().join("deps").join(format!("{DLL_PREFIX}pjrt_fake{DLL_SUFFIX}"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.mlir");
    fs::write(&path, format!("{}// fake:kernel-dump\n", include_str!("kernel_too_large.mlir"))).unwrap();
    let kernel = |arguments: &[&str]| {
        let mut command = Command::program();
        command.current_dir(folder.path()).env("PJRT_PLUGIN", &plugin).env_remove("COLUMNS");
        let output = command.args(["kernel", "large.mlir", "--keep", "dump"]).args(arguments).output().unwrap();
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        (output.status.code(), text.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let (code, text) = kernel(&["--for", "v5e"]);
    assert_eq!(code, Some(1), "{text}");
    for part in [
        "needs at least 25,169,920 bytes (24.0 MiB) of VMEM for its blocks alone, and may use 16,777,216 bytes (16 MiB): input \
         f32[3072,1024] of f32[24576,1024], 2 buffers of 12,582,912 bytes",
        "These fit, with",
        "--anyway (in Python, anyway=True) asks it.",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!folder.path().join("dump").exists(), "nothing is left in the way of the next call");
    let (code, text) = kernel(&["--for", "v5e", "--anyway"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(folder.path().join("dump").exists());
}

/// Runs `block` in a folder of programs, with the fake compiler.
fn block(arguments: &[&str]) -> (Option<i32>, String, String) {
    let program = program_path();
    let plugin = program.parent().unwrap().join("deps").join(format!("{DLL_PREFIX}pjrt_fake{DLL_SUFFIX}"));
    let folder = tempfile::tempdir().unwrap();
    for (name, wish) in
        [("small", "kernel-dump"), ("wide", "kernel-dump"), ("none", "no"), ("vmem", "too-large fake:vmem")]
    {
        fs::write(folder.path().join(format!("{name}.mlir")), format!("module {{}} // {name} fake:{wish}")).unwrap();
    }
    let mut command = Command::program();
    command.current_dir(folder.path()).env("PJRT_PLUGIN", plugin).env("XDG_CACHE_HOME", folder.path());
    let output = command.arg("block").args(arguments).env_remove("COLUMNS").output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn programs_are_ordered_by_their_least_time() {
    let files = ["--rank", "none.mlir", "wide.mlir", "vmem.mlir", "small.mlir", "--for", "v6e", "--jobs", "2"];
    let (code, text, errors) = block(&files);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(code, Some(0), "{errors}");
    for part in [
        // 1.14 ns is two bundles at 1.75 GHz. If two candidates take the same time, the first one is named.
        "Of 4 candidates, 2 have a time on v6e:2x2. The least is that of program wide: at least 1.14 ns.",
        "Note on program wide; program small: what the grid copies is not known, because the compiler's files do not have the index maps",
        "2 candidates refused by the compiler, such as program none: the compiler dumped no kernel",
        "4 of 4 candidates compiled",
    ] {
        assert!(words.contains(part), "{part}\n{text}");
    }
    let (code, text, _) = block(&[&files[..], &["--format", "json"]].concat());
    let answer: Value = serde_json::from_str(&text).unwrap();
    let states = answer["rows"].as_array().unwrap().iter().map(|row| (&row["setting"]["program"], &row["state"]));
    let states = states.map(|(name, state)| (name.as_str().unwrap(), state.as_str().unwrap())).collect::<Vec<_>>();
    assert_eq!((code, answer["rows"][0]["bundles"].as_u64()), (Some(0), Some(2)));
    assert_eq!(states, [("wide", "ranked"), ("small", "ranked"), ("none", "refused"), ("vmem", "refused")]);
    let (code, text, _) = block(&["--rank", "vmem.mlir"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.starts_with("No candidate has a time on v5e:2x2."), "{text}");
}

#[test]
fn what_cannot_be_ranked_is_an_error() {
    for (arguments, expected) in [
        (
            &["--rank", "small.mlir", "--for", "v5e,v6e"][..],
            "--rank is about one TPU: expected one after --for, found 2",
        ),
        (&["f32[8,128]", "f32[8,128]", "--jobs", "2"], "options of compilers need --rank"),
        (&["f32[8,128]", "f32[8,128]", "--option", "a=1"], "options of compilers need --rank"),
        (&["--rank", "small.mlir", "--scratch", "f32[8,128]"], "cannot be used with"),
        (&["--rank", "absent.mlir"], "absent.mlir"),
        (&["--rank", "small.mlir", "small.mlir"], "the axis \"program\" has the value small.mlir twice"),
    ] {
        let (code, text, errors) = block(arguments);
        assert!(matches!(code, Some(1 | 2)), "{arguments:?}: {text}");
        assert!(errors.contains(expected), "{arguments:?}: {errors}");
    }
}

#[test]
fn the_least_time_needs_a_clock() {
    let (_, text, _) = run(&example("first"), &["--clock", "1.5"]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains(
            "at least 0.038 µs at 1.5 GHz: one cycle for each of the 57 bundles that execute at least; waits"
        ),
        "{text}"
    );
    let (_, text, _) = run(&example("first"), &["--clock", "2", "--format", "json"]);
    let kernel = &serde_json::from_str::<Value>(&text).unwrap()["kernels"][0];
    assert_eq!((kernel["least"].as_u64(), kernel["least_seconds"].as_f64()), (Some(57), Some(57.0 / 2e9)));
    for clock in ["0", "-1", "nan", "inf", "fast"] {
        let (code, _, errors) = run(&example("first"), &["--clock", clock]);
        assert_eq!(code, Some(2), "{clock}");
        assert!(errors.contains("a positive number of GHz") || errors.contains("unexpected argument"), "{errors}");
    }
}

#[test]
fn a_page_shows_lines_and_bundles() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("kernel.html");
    let source = example("shifted_sum.py");
    let more = ["--html", page.to_str().unwrap(), "--source", source.to_str().unwrap()];
    let (code, text, errors) = run(&example("first"), &more);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(text.starts_with("name.1 (first): 57 bundles"), "the text is printed, too");
    let page = fs::read_to_string(page).unwrap();
    assert_eq!(page.matches("class=\"bundle\"").count(), 57);
    let line = fs::read_to_string(source).unwrap().lines().nth(16).unwrap().trim().to_owned();
    assert!(page.contains(&line.replace('<', "&lt;").replace('>', "&gt;")), "{line}");
    let (code, _, errors) = run(&example("first"), &["--html", "-", "--format", "json"]);
    assert_eq!(code, Some(2));
    assert!(errors.contains("standard output takes the page or JSON"), "{errors}");
    assert_eq!(run(&example("first"), &["--source", "x.py"]).0, Some(2));
}

#[test]
fn a_page_counts_the_bundles_that_it_does_not_show() {
    for (bundles, is_cut) in [(2_000, false), (2_001, true)] {
        let folder = tempfile::tempdir().unwrap();
        let text =
            (0..bundles).map(|number| format!("{number:#x} : {{ %s{number}_s0 = smov.u32 0 }}\n")).collect::<String>();
        let text = format!("{text}{bundles:#x} : {{}} /* exit bundle: %k = custom-call(%x) */\n");
        // The exit bundle counts, so remove another one.
        let text = text.replacen("0x0 : { %s0_s0 = smov.u32 0 }\n", "", 1);
        fs::write(folder.path().join("llo.k.final_bundles.txt"), text).unwrap();
        let page = folder.path().join("page.html");
        let (code, answer, errors) = run(folder.path(), &["--html", page.to_str().unwrap()]);
        assert_eq!((code, errors.as_str()), (Some(0), ""));
        assert!(answer.starts_with(&format!("k: {},00{} bundles", bundles / 1000, bundles % 1000)), "{answer}");
        let page = fs::read_to_string(page).unwrap();
        assert_eq!(page.contains("and 1 more"), is_cut, "{bundles}");
    }
}
