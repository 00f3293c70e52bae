//! What the compiler says of programs that use the library. `scripts/bless.sh` accepts what it says now.

use std::fs;
use std::path::Path;
use trybuild::TestCases;

/// What is wrong with a shape shows in `cargo check`: no case here is built.
#[test]
fn fails_in_check() {
    let cases = TestCases::new();
    give_hlo_files();
    for folder in ["dispatch", "hlo", "infer", "kernels", "syntax", "rules", "limits", "tpu", "types"] {
        cases.compile_fail(format!("tests/fail/{folder}/*.rs"));
    }
}

/// What is wrong with an index, a buffer or a bitcast may show only when code is made; the cases that pass have it made.
#[test]
fn passes_and_fails_in_build() {
    let cases = TestCases::new();
    give_hlo_files();
    cases.pass("tests/pass/*.rs");
    for folder in
        ["bitcast", "block", "buffer", "dispatch_in_build", "index", "infer_in_build", "iteration", "sizes", "slice"]
    {
        cases.compile_fail(format!("tests/fail/{folder}/*.rs"));
    }
}

/// Puts the HLO modules of the cases where their paths begin: in the crate that `trybuild` makes of the cases.
fn give_hlo_files() {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("a folder of the target directory");
    let crate_of_cases = target.join("tests/trybuild").join(env!("CARGO_PKG_NAME")).join("hlo");
    fs::create_dir_all(&crate_of_cases).expect("cargo makes the directory");
    let files = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hlo")).expect("a folder");
    for file in files.map(|entry| entry.expect("an entry").path()) {
        let name = file.file_name().expect("a file");
        fs::copy(&file, crate_of_cases.join(name)).expect("the file can be copied");
    }
}
