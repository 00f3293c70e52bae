//! What the compiler says of programs that use the library. `scripts/bless.sh` accepts what it says now.

use trybuild::TestCases;

/// What is wrong with a shape shows in `cargo check`: no case here is built.
#[test]
fn fails_in_check() {
    let cases = TestCases::new();
    for folder in ["syntax", "rules", "limits", "types"] {
        cases.compile_fail(format!("tests/fail/{folder}/*.rs"));
    }
}

/// What is wrong with an index, a buffer or a bitcast may show only when code is made; the cases that pass have it made.
#[test]
fn passes_and_fails_in_build() {
    let cases = TestCases::new();
    cases.pass("tests/pass/*.rs");
    for folder in ["bitcast", "buffer", "index"] {
        cases.compile_fail(format!("tests/fail/{folder}/*.rs"));
    }
}
