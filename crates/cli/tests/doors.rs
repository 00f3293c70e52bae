//! One law for all doors: the program, the explorer, C and Python give the same answers. `tests/corpus/doors.jsonl` has the questions and
//! the program's answers, and each door is compared with them: the program and the explorer here, C in `tests/tests/shapes/c_interface.rs`, Python
//! in `python/tests/test_doors.py`, the explorer as WebAssembly in `web/tests/doors.test.mjs`.
//!
//! `BLESS=1 cargo test -p xla-shape-cli --test program doors` writes the program's answers into the file.

use crate::program::{Command, in_words};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use xla_shape_web::{Given, answer};

/// A question, as a command of the program, and its answer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Row {
    command: Vec<String>,
    /// What the command reads from standard input.
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<String>,
    /// The lines of its JSON.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    answer: Vec<Value>,
    /// What it writes to standard error.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    error: String,
}

fn file() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../tests/corpus/doors.jsonl"].iter().collect()
}

fn rows() -> Vec<Row> {
    let text = fs::read_to_string(file()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn values(json: &str) -> Vec<Value> {
    json.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_program_gives_these_answers() {
    let asked = |row: &Row| {
        let mut program = Command::program();
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

/// The text that leads to the command in the explorer, if its answers include it.
fn pasted(row: &Row) -> Option<String> {
    let words = row.command.iter().map(String::as_str).collect::<Vec<_>>();
    match words[..] {
        ["explain" | "draw" | "advise" | "convert", shape] => Some(shape.to_owned()),
        ["explain", shape, "--sharding", sharding] => Some(format!("{shape} {sharding}")),
        ["convert", "--from", _, layout] => Some(layout.to_owned()),
        ["compare" | "block", a, b] => Some(format!("{a} -> {b}")),
        ["hlo" | "scan", "-"] => row.input.clone(),
        _ => None,
    }
}

#[test]
fn the_explorer_gives_the_answers_of_the_program() {
    let mut compared = 0;
    for row in rows() {
        let Some(text) = pasted(&row) else { continue };
        let given = Given::text(&text);
        let readings = answer(&given).readings.into_iter().map(|reading| reading.name.to_owned());
        let view = readings.into_iter().find_map(|reading| {
            let given = Given { reading: Some(reading), view: Some(row.command[0].clone()), ..given.clone() };
            answer(&given).view.filter(|view| view.command == row.command)
        });
        // A text that is nothing known has no view; its message is the page's.
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
