//! Programs that the compiler refuses, and its messages. `scripts/bless.sh` accepts the present messages.

use super::compiler::{Until, compile, plain};
use super::messages::messages;
use std::{env, fs};
use xla_shape_ui_tests::{in_parallel, workspace};

const FOLDER: &str = "ui-tests/tests/fail";

/// The folders of programs that already fail in `cargo check`.
const CHECKED: [&str; 11] =
    ["dispatch", "hlo", "infer", "kernels", "limits", "notations", "rank", "rules", "syntax", "tpu", "types"];

/// The folders of programs that may fail only when functions are compiled for the types that they are called with.
pub(crate) const COMPILED: [&str; 11] = [
    "bitcast",
    "block",
    "buffer",
    "dispatch_in_build",
    "index",
    "infer_in_build",
    "iteration",
    "product",
    "section",
    "sizes",
    "slice",
];

/// The programs in these folders, by their paths from the workspace.
pub(crate) fn programs(folders: &[&str]) -> Vec<String> {
    let mut programs = Vec::new();
    for folder in folders {
        let folder = format!("{FOLDER}/{folder}");
        for entry in fs::read_dir(workspace().join(&folder)).expect("a folder") {
            let name = entry.expect("an entry").file_name().into_string().expect("an ASCII name");
            if name.ends_with(".rs") {
                programs.push(format!("{folder}/{name}"));
            }
        }
    }
    programs.sort();
    programs
}

#[test]
fn every_folder_is_tested() {
    let folders = fs::read_dir(workspace().join(FOLDER)).expect("a folder");
    let mut folders: Vec<_> = folders.map(|entry| entry.expect("an entry").file_name()).collect();
    let mut tested = [&CHECKED[..], &COMPILED].concat();
    folders.sort();
    tested.sort();
    assert_eq!(folders, tested);
}

/// Errors in shapes show in `cargo check`.
#[test]
fn fails_in_check() {
    fail(&programs(&CHECKED), Until::Checked);
}

/// Errors in an index, a buffer or a bitcast may show only in `cargo build`.
#[test]
fn fails_in_build() {
    fail(&programs(&COMPILED), Until::Compiled);
}

/// Compiles programs, and compares the compiler's messages with the files beside them.
fn fail(programs: &[String], until: Until) {
    let compiler = plain();
    let wrong = in_parallel(programs, |program| {
        let output = compile(&compiler, program, until);
        let shown = messages(&String::from_utf8(output.stderr).expect("UTF-8"), program);
        if output.status.success() {
            return Some(format!("{program} compiles:\n{shown}"));
        }
        let file = workspace().join(program).with_extension("stderr");
        if env::var_os("BLESS").is_some() {
            fs::write(&file, shown).expect("the file can be written");
            return None;
        }
        let expected = fs::read_to_string(&file).unwrap_or_default();
        (shown != expected).then(|| format!("{program}, expected:\n{expected}\nfound:\n{shown}"))
    });
    let wrong: Vec<_> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{} of {} programs:\n\n{}", wrong.len(), programs.len(), wrong.join("\n\n"));
}
