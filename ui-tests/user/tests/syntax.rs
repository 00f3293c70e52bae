//! What cargo says, in a crate that depends on `xla-shape`, of shapes that are written wrongly. The programs in `ui-tests/tests/fail` go to
//! the compiler directly, which is faster; these go through cargo and trybuild, as those of users do.
//! `scripts/bless.sh` accepts what it says now.

/// No program here passes, so that trybuild checks all of them with one call of cargo.
#[test]
fn shapes_that_are_written_wrongly() {
    trybuild::TestCases::new().compile_fail("tests/syntax/*.rs");
}
