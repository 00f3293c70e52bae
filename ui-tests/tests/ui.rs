//! What the compiler says of programs that use the library. `ui-tests/bless.sh` accepts what it says now.

use trybuild::TestCases;

/// What is wrong with a shape shows in `cargo check`: no case here is built.
#[test]
fn fails_in_check() {
    let cases = TestCases::new();
    cases.compile_fail("tests/fail/syntax/*.rs");
    cases.compile_fail("tests/fail/rules/*.rs");
    cases.compile_fail("tests/fail/types/*.rs");
}

/// What is wrong with a constant index, or with a free transpose, may show only when code is generated; the case that passes makes it so.
#[test]
fn passes_and_fails_in_build() {
    let cases = TestCases::new();
    cases.pass("tests/pass/*.rs");
    cases.compile_fail("tests/fail/index/*.rs");
    cases.compile_fail("tests/fail/bitcast/*.rs");
}
