//! `xla-shape THING`, without a verb: it says what THING is, gives the answer, and names the verbs for more.

use crate::compile::plugin;
use crate::program::Command;
use std::fs;
use std::process::Output;
use xla_shape_corpus::corpus;
use xla_shape_web::{Given, answer};

fn run(arguments: &[&str], input: &str) -> Output {
    let mut program = Command::program();
    program
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .env("COLUMNS", "80")
        .args(arguments)
        .write_stdin(input)
        .output()
        .unwrap()
}

fn text(arguments: &[&str], input: &str) -> String {
    let output = run(arguments, input);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Checks that the answer begins with the answer of a command, and ends with what the thing is and the commands about it.
#[track_caller]
fn answers_as(thing: &[&str], input: &str, command: &[&str], what: &str, more: &[&str]) {
    let (found, expected) = (text(thing, input), text(command, input));
    let rest = found.strip_prefix(&expected).unwrap_or_else(|| panic!("{found}"));
    assert!(rest.starts_with(&format!("\nThis is {what}\n")), "{rest}");
    let named =
        rest.lines().filter_map(|line| line.strip_prefix("  xla-shape ")?.split(' ').next()).collect::<Vec<_>>();
    assert_eq!(named, [&command[..1], more].concat(), "{rest}");
    let json = |arguments: &[&str]| text(&[arguments, &["--format", "json"]].concat(), input);
    assert_eq!(json(thing), json(command));
}

#[test]
fn texts_files_and_directories_are_answered() {
    let of_array = &["draw", "advise", "convert"];
    answers_as(&["f32[3,5]{1,0:T(2,2)}"], "", &["explain", "f32[3,5]{1,0:T(2,2)}"], "a shape", of_array);
    answers_as(&["(f32[2], token[])"], "", &["explain", "(f32[2], token[])"], "a shape", &[]);
    let sharded = ["explain", "f32[8,8]", "--sharding", "{devices=[2,1]<=[2]}"];
    answers_as(&["f32[8,8] {devices=[2,1]<=[2]}"], "", &sharded, "a sharding", &["draw", "scan"]);
    answers_as(
        &["(4,2):(2,1)"],
        "",
        &["convert", "--from", "cute", "(4,2):(2,1)"],
        "a layout of CuTe",
        &["explain", "draw"],
    );
    let hlo = "examples/hlo/v5e__rnn_scan.hlo";
    answers_as(&[hlo], "", &["hlo", hlo], "an HLO module", &["cost", "scan"]);
    answers_as(
        &["examples/kernels/first"],
        "",
        &["kernel", "examples/kernels/first"],
        "the compiler's texts about kernels",
        &[],
    );
}

#[test]
fn standard_input_is_answered() {
    let message = "Used 40.00G of 32.00G hbm.\nlargest: f32[8,1]{1,0:T(8,128)}\n";
    answers_as(&["-"], message, &["scan", "-"], "a log or a message with shapes in it", &[]);
    let module = "HloModule m, is_scheduled=true\nENTRY e { ROOT p = f32[8]{0:T(128)} parameter(0) }\n";
    answers_as(&["-"], module, &["hlo", "-"], "an HLO module", &["cost", "scan"]);
    answers_as(&["-"], "f32[8]\n", &["explain", "f32[8]"], "a shape", &["draw", "advise", "convert"]);
    // A text on the command line is answered in the same way.
    let found = text(&[message], "");
    assert!(found.starts_with(&text(&["scan", "-"], message)), "{found}");
}

/// A pipe is read once, although the verb reads its input again.
#[cfg(unix)]
#[test]
fn a_pipe_is_answered() {
    let program = env!("CARGO_BIN_EXE_xla-shape");
    let message = "Used 40.00G of 32.00G hbm.";
    let bash = std::process::Command::new("bash").args(["-c", &format!("'{program}' <(printf '{message}')")]).output();
    let found = String::from_utf8(bash.unwrap().stdout).unwrap();
    assert!(found.starts_with(&text(&["scan", "-"], message)) && found.contains("  xla-shape scan -\n"), "{found}");
}

#[test]
fn two_things_are_compared() {
    let pair = ["f32[6,2,3]{2,1,0}", "f32[36]{0}"];
    answers_as(&pair, "", &["compare", pair[0], pair[1]], "two shapes to compare", &["block"]);
    answers_as(
        &["f32[6]{0} -> f32[2,3]{1,0}"],
        "",
        &["compare", "f32[6]{0}", "f32[2,3]{1,0}"],
        "two shapes to compare",
        &["block", "scan"],
    );
    let [before, after] = ["examples/hlo/v5e__gather_step.hlo", "examples/hlo/v5e__gather_step_transposed.hlo"];
    let found = text(&[before, after], "");
    assert!(found.starts_with(&text(&["hlo", "diff", before, after], "")), "{found}");
    assert!(found.contains("\nThis is two HLO modules to compare\n"), "{found}");
}

#[test]
fn a_dump_is_a_directory_of_files() {
    let folder = tempfile::tempdir().unwrap();
    let module = "HloModule m, is_scheduled=true\nENTRY e { ROOT p = f32[8]{0:T(128)} parameter(0) }\n";
    let dump = folder.path().join("deep/--dump");
    fs::create_dir_all(&dump).unwrap();
    fs::write(dump.join("module_0001.jit_f.after_optimizations.txt"), module).unwrap();
    fs::write(dump.join(".hidden"), "x").unwrap();
    // A directory with one file is read as that file.
    let alone = dump.join("module_0001.jit_f.after_optimizations.txt");
    let found = text(&[folder.path().to_str().unwrap()], "");
    assert!(found.starts_with(&text(&["hlo", alone.to_str().unwrap()], "")), "{found}");
    fs::write(dump.join("stats.json"), "{\"argument_size_in_bytes\": 512}").unwrap();
    let found = text(&[folder.path().to_str().unwrap()], "");
    assert!(found.starts_with(&text(&["hlo", dump.to_str().unwrap()], "")), "{found}");
    // The verbs find the same dump below a directory.
    for verb in [&["hlo"][..], &["hlo", "print"], &["cost"]] {
        let of = |path: &std::path::Path| text(&[verb, &[path.to_str().unwrap()]].concat(), "");
        assert_eq!(of(folder.path()), of(&dump), "{verb:?}");
    }
    let kernels = folder.path().join("kernels/deep");
    fs::create_dir_all(&kernels).unwrap();
    let first = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/kernels/first");
    for file in fs::read_dir(first).unwrap().map(|entry| entry.unwrap().path()) {
        fs::copy(&file, kernels.join(file.file_name().unwrap())).unwrap();
    }
    assert_eq!(text(&["kernel", folder.path().to_str().unwrap()], ""), text(&["kernel", first], ""));
    let empty = tempfile::tempdir().unwrap();
    let output = run(&[empty.path().to_str().unwrap()], "");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .starts_with("error: expected a text, a file, or a directory with files, found nothing")
    );
}

/// The same profile can be given as its file, as the directory of a run, as the directory that the profiler was given, or as the trace for viewers
/// next to it.
#[test]
fn a_profile_is_answered_with_what_it_measured() {
    let train = "tests/corpus/profiles/train.xplane.pb";
    answers_as(&[train], "", &["cost", train], "a profile", &["hlo"]);
    let found = text(&[train, "tests/corpus/profiles/v6e.xplane.pb"], "");
    assert!(found.contains("\nThis is two profiles to compare\n"), "{found}");
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("plugins/profile/2026_11_28");
    fs::create_dir_all(&run).unwrap();
    let profile =
        fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/profiles/train.xplane.pb")).unwrap();
    fs::write(run.join("vm.xplane.pb"), profile).unwrap();
    let trace = run.join("vm.trace.json.gz");
    fs::write(&trace, b"\x1f\x8b\x08").unwrap();
    let measured = text(&["cost", train], "");
    for path in [folder.path(), &run] {
        let path = path.to_str().unwrap();
        answers_as(&[path], "", &["cost", path], "a profile", &["hlo"]);
        assert!(text(&[path], "").starts_with(&measured));
    }
    let output = run_at(&trace);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.stdout.starts_with(measured.as_bytes()));
    assert!(
        said.starts_with("note: a trace for viewers has no modules, so ") && said.ends_with(" beside it is read\n"),
        "{said}"
    );
    fs::remove_file(run.join("vm.xplane.pb")).unwrap();
    let said = String::from_utf8(run_at(&trace).stderr).unwrap();
    assert!(said.contains("vm.trace.json.gz: this is a trace for viewers, which has no modules"), "{said}");
}

fn run_at(path: &std::path::Path) -> Output {
    run(&[path.to_str().unwrap()], "")
}

/// A program in MLIR is compiled. It may also be in a fence of Markdown, or have the prefixes of a log: every verb that compiles reads the same
/// program.
#[test]
fn a_source_is_compiled() {
    let folder = tempfile::tempdir().unwrap();
    let source = "module @jit_f {\n  func.func public @main() {\n  }\n}\n";
    let prefixed = source.lines().map(|line| format!("I0000 00:00:1712345678.123456 123 compile.cc:45] {line}\n"));
    for (name, text) in [
        ("p.mlir", source.to_owned()),
        ("issue.md", format!("# An issue\n\n```mlir\n{source}```\n")),
        ("job.log", prefixed.collect()),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let run = |arguments: &[&str]| {
        let mut program = Command::program();
        let output = program.current_dir(folder.path()).env("PJRT_PLUGIN", plugin()).args(arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), said.contains("error")), (Some(0), false), "{arguments:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    };
    let answer = run(&["compile", "p.mlir"]);
    let found = run(&["p.mlir"]);
    let rest = found.strip_prefix(&answer).unwrap();
    assert!(rest.starts_with("\nThis is a program in MLIR, such as StableHLO\n"), "{rest}");
    assert!(rest.ends_with("  xla-shape compile p.mlir\n  xla-shape cost p.mlir\n"), "{rest}");
    for name in ["issue.md", "job.log"] {
        assert_eq!(run(&["compile", name]), answer, "{name}");
        assert_eq!(run(&["cost", name, "--for", "v5e"]), run(&["cost", "p.mlir", "--for", "v5e"]), "{name}");
    }
}

/// For an input that is neither text nor a known format, the error is one line.
#[test]
fn other_files_are_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes, message) in [
        ("a.png", &b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], "nothing known here. What is known: "),
        ("a.gz", b"\x1f\x8b\x08\0\0\0\0\0", "nothing known here. What is known: "),
        ("random", b"\xff\xfe\xfd\xfc", "nothing known here. What is known: "),
        ("a.npy", b"\x93NUMPY\x01\0", "a.npy: this is an array of NumPy; `xla-shape relayout` reads it"),
        ("a.zip", b"PK\x03\x04\x14\0\0\0", "a.zip: this is an archive; of an .npz file, "),
    ] {
        fs::write(folder.path().join(name), bytes).unwrap();
        let output = Command::program().current_dir(folder.path()).arg(name).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.starts_with(&format!("error: {message}")) && said.lines().count() == 1, "{said}");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{name}");
    }
    let large = "no shape here\n".repeat(100_000);
    assert!(String::from_utf8(run(&["-"], &large).stderr).unwrap().starts_with("error: nothing known here"));
}

#[test]
fn what_is_not_known_is_said() {
    for (arguments, message, code) in [
        (&["f32[2,3]{1,1}"][..], "1 | f32[2,3]{1,1}\n  |            ^", 1),
        (&["f33[2]"], "did you mean `f32`?", 1),
        (
            &["nothing that is known"],
            "error: there is no file of this name, and as a text it is nothing known here. What is known: a shape,",
            1,
        ),
        (&["missing.hlo"], "error: there is no file of this name", 1),
        (&[""], "error: expected a text, a file, or a directory with files, found nothing", 1),
        (&["Cargo.toml"], "error: nothing known here. What is known: a shape, two shapes,", 1),
        (
            &["examples/hlo"],
            "error: expected an optimized module or a dump of kernels among these files, found neither",
            1,
        ),
        (&["f32[2]", "nothing that is known"], "error: these two cannot be compared: expected two shapes,", 1),
        (&["explan", "f32[2]"], "a similar subcommand exists: 'explain'", 2),
        (&["explan"], "a similar subcommand exists: 'explain'", 2),
        (&["frobnicate"], "unrecognized subcommand 'frobnicate'", 2),
        (&["a b", "c d", "e f"], "unexpected", 2),
        (&["--format", "json", "explain", "f32[2]"], "a verb takes its arguments after it", 2),
        (&["-"], "error: expected a text, a file, or a directory with files, found nothing", 1),
        (
            &["   0   :  { %s1_s0 = smov.u32 0  ;;  %v2_v0 = vlaneseq.b32 }"],
            "texts about kernels; give the directory that has them",
            1,
        ),
        (
            &[
                "HloModule a\nENTRY e { ROOT p = f32[] parameter(0) }",
                "HloModule b\nENTRY e { ROOT p = f32[] parameter(0) }",
            ],
            "expected at least one of the two in a file",
            1,
        ),
        (&[], "Usage: xla-shape", 2),
    ] {
        let output = run(arguments, "");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(message), "{arguments:?}: {said}");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(code), 0), "{arguments:?}");
    }
    // A program that does not fit has an answer, and the exit code says so.
    let large = "HloModule m, is_scheduled=true\nENTRY e { ROOT p = f32[9] parameter(0), sharding={nonsense} }\n";
    assert_ne!(run(&["-"], large).status.code(), Some(0));
}

/// The explorer recognises the same texts as the program.
#[test]
fn the_explorer_says_the_same() {
    let mut compared = 0;
    for row in corpus::<serde_json::Value>("doors.jsonl").iter().step_by(4) {
        let words = row["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect::<Vec<_>>();
        let given = match (&words[..], row["input"].as_str()) {
            (_, Some(input)) => input.to_owned(),
            (["compare", a, b, ..], _) => format!("{a} -> {b}"),
            (["explain", shape, "--sharding", sharding], _) => format!("{shape} {sharding}"),
            (["convert", "--from", _, layout], _) => (*layout).to_owned(),
            (words, _) => words[1].to_owned(),
        };
        let Some(view) = answer(&Given::text(&given)).view else { continue };
        let output = run(&["--", &given], "");
        let found = String::from_utf8(output.stdout).unwrap();
        assert!(found.starts_with(&view.text), "{given}: {found}");
        assert_eq!(String::from_utf8(output.stderr).unwrap().trim_end(), view.said.trim_end(), "{given}");
        compared += 1;
    }
    assert!(compared >= 40, "{compared}");
}
