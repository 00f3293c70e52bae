//! `docs/json.md` names every field that the program writes, and every verb takes `--format json`.

use assert_cmd::Command;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// The values that a command writes, one on each line.
fn values(arguments: &[&str]) -> Vec<Value> {
    let mut command = Command::cargo_bin("xla-shape").unwrap();
    let output =
        command.current_dir(root()).args(arguments).args(["--format", "json"]).write_stdin("f32[2,3]\nf32[2\n");
    let output = output.output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The names of all fields, except those of `opcodes`, `units`, `unread` and `instructions`, which are names of other things.
fn fields(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                names.insert(name.clone());
                if !matches!(name.as_str(), "opcodes" | "units" | "unread" | "instructions") {
                    fields(value, names);
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| fields(value, names)),
        _ => {}
    }
}

#[test]
fn every_field_is_documented() {
    let book = std::fs::read_to_string(root().join("docs/json.md")).unwrap();
    let tiled = "f32[3,5]{1,0:T(2,2)}";
    let (before, after) = ("examples/hlo/v5e__rnn_scan.hlo", "examples/hlo/v5e__host_offload.hlo");
    let folder = tempfile::tempdir().unwrap();
    let written = folder.path().join("out.bin");
    let record = folder.path().join("record.json");
    let commands: &[&[&str]] = &[
        &["relayout", "-", "--from", "u8[15]", "--to", "{0:T(8)}", "-o", written.to_str().unwrap()],
        &["explain", tiled],
        &["explain", "(f32[2], b(f32[3]), token[])"],
        &["check"],
        &["check", "--for", "v5e"],
        &["explain", tiled, "--index", "2,3"],
        &["explain", tiled, "--position", "9"],
        &["explain", tiled, "--for", "v5e"],
        &["draw", tiled],
        &["convert", tiled],
        &["convert", "--from", "cute", "(3,3):(1,1)"],
        &["convert", tiled, "--emit", "c"],
        &["compare", tiled, tiled],
        &["compare", tiled, "f32[5,3]"],
        &["compare", tiled, "f32[15]"],
        &["advise", tiled],
        &["explain", "f32[16,256]", "--vector", "32,{3,0},(8,128)", "--index", "5,77"],
        &["cost", before],
        &["kernel", "examples/kernels/first"],
        &["hlo", "show", before, "%copy.4"],
        &["guard", "record", record.to_str().unwrap(), before],
        &["guard", "check", record.to_str().unwrap(), after],
        &["scan"],
        &["hlo", before],
        &["hlo", after, "--space", "1"],
        &["hlo", "diff", before, after],
    ];
    for command in commands {
        let answers = values(command);
        assert!(!answers.is_empty(), "{command:?}");
        let section = book.split("\n## ").find(|section| section.lines().next() == Some(command[0]));
        let section = section.unwrap_or_else(|| panic!("no section {}", command[0]));
        let mut names = BTreeSet::new();
        answers.iter().for_each(|answer| fields(answer, &mut names));
        // Every object has this field; the beginning of the page describes it.
        names.remove("schema");
        for name in names {
            let named = section.contains(&format!("`{name}`")) || section.contains(&format!("\"{name}\":"));
            assert!(named, "{command:?}: `{name}` is not in docs/json.md");
        }
    }
}
