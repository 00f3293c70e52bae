//! All interfaces give the same answers: the program, the explorer, C and Python. `tests/corpus/doors.jsonl` has the questions and the program's
//! answers, and each interface is compared with them: the program and the explorer here, C in `tests/tests/shapes/c_interface.rs`, Python in
//! `python/tests/test_doors.py`, the explorer as WebAssembly in `web/tests/doors.test.mjs`.
//!
//! `BLESS=1 cargo test -p xla-shape-cli --test program doors` writes the program's answers into the file.

use crate::program::{Command, in_words};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use xla_shape_corpus::corpus;
use xla_shape_program::{File, PASTED};
use xla_shape_web::{Given, answer};

/// The root of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A question, as a command of the program, and its answer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Row {
    command: Vec<String>,
    /// What the command reads from standard input.
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<String>,
    /// The texts of the files that the command reads, by name. Other names are files of the repository.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    files: BTreeMap<String, String>,
    /// The lines of JSON that the command writes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    answer: Vec<Value>,
    /// What the command writes to standard error.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    error: String,
}

fn file() -> PathBuf {
    [ROOT, "tests/corpus/doors.jsonl"].iter().collect()
}

fn rows() -> Vec<Row> {
    corpus("doors.jsonl")
}

fn values(json: &str) -> Vec<Value> {
    json.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_program_gives_these_answers() {
    let asked = |row: &Row| {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in &row.files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let mut program = Command::program();
        program.current_dir(if row.files.is_empty() { Path::new(ROOT) } else { folder.path() });
        let program =
            program.args(&row.command).args(["--format", "json"]).write_stdin(row.input.clone().unwrap_or_default());
        let output = program.output().unwrap();
        let [json, error] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        Row { answer: values(&json), error: in_words(&error), ..row.clone() }
    };
    let rows = rows();
    assert!(rows.len() >= 200, "{}", rows.len());
    let answered = rows.iter().map(asked).collect::<Vec<_>>();
    if std::env::var_os("BLESS").is_some() {
        let lines = answered.iter().map(|row| format!("{}\n", serde_json::to_string(row).unwrap()));
        return fs::write(file(), lines.collect::<String>()).unwrap();
    }
    for (row, answered) in rows.iter().zip(&answered) {
        assert_eq!(answered, row);
    }
    let failed = rows.iter().filter(|row| row.answer.is_empty()).count();
    assert!((20..60).contains(&failed), "some questions have no answer, most have one: {failed}");
}

/// The names and contents of the files for which the explorer shows this command; `None` if it never does.
fn given(row: &Row) -> Option<Vec<(String, Vec<u8>)>> {
    let words = row.command.iter().map(String::as_str).collect::<Vec<_>>();
    if !row.files.is_empty() {
        return Some(row.files.iter().map(|(name, text)| (name.clone(), text.clone().into_bytes())).collect());
    }
    let pasted = match words[..] {
        ["explain" | "draw" | "advise" | "convert", shape] => Some(shape.to_owned()),
        ["explain", shape, "--sharding", sharding] => Some(format!("{shape} {sharding}")),
        ["convert", "--from", _, layout] => Some(layout.to_owned()),
        ["compare" | "block", a, b] => Some(format!("{a} -> {b}")),
        ["hlo" | "cost" | "scan", "-"] => row.input.clone(),
        ["hlo" | "cost", name] => return Some(vec![(name.to_owned(), fs::read(Path::new(ROOT).join(name)).unwrap())]),
        _ => None,
    };
    pasted.map(|text| vec![(PASTED.to_owned(), text.into_bytes())])
}

#[test]
fn the_explorer_gives_the_answers_of_the_program() {
    let mut compared = 0;
    for row in rows() {
        let Some(files) = given(&row) else { continue };
        let files = files.iter().map(|(name, bytes)| File { name: name.clone(), bytes }).collect();
        let given = Given { files, ..Given::default() };
        let readings = answer(&given).readings.into_iter().map(|reading| reading.name.to_owned());
        let view = readings.into_iter().find_map(|reading| {
            let given = Given { reading: Some(reading), view: Some(row.command[0].clone()), ..given.clone() };
            answer(&given).view.filter(|view| view.command == row.command)
        });
        // A text that is not recognised has no view; the page itself says so.
        let Some(view) = view else {
            assert!(row.answer.is_empty(), "the explorer has no answer to {:?}", row.command);
            continue;
        };
        assert_eq!(values(&view.json), row.answer, "{:?}", row.command);
        assert_eq!(view.said.trim_end(), row.error.trim_end(), "{:?}", row.command);
        compared += 1;
    }
    assert!(compared >= 120, "{compared}");
}
