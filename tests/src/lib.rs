//! What the tests share: the data made by XLA that they compare with (`corpus/README.md` says where it comes from),
//! random shapes for laws, and what is fuzzed.

pub mod differential;
pub mod fuzz;
pub mod reference;
pub mod strategy;

use std::env;
pub use xla_shape_corpus::{HloModule, corpus, corpus_path, hlo_modules};

/// How many random cases a test takes: those of property tests, which are few in `cargo test` (`.cargo/config.toml`) and many in
/// `scripts/laws.sh`. 256 without cargo.
///
/// # Panics
/// If `PROPTEST_CASES` is not a number.
#[must_use]
pub fn cases() -> usize {
    env::var("PROPTEST_CASES").map_or(256, |cases| cases.parse().expect("PROPTEST_CASES is a number"))
}

/// Whether tests take their larger data, too: in `scripts/laws.sh`, not in `cargo test`.
///
/// # Panics
/// As [`cases`].
#[must_use]
pub fn is_thorough() -> bool {
    cases() > 256
}

/// Every `step`th of some rows whose neighbours are similar, from the first; all of them if [`is_thorough`].
///
/// # Panics
/// If `step` is 0, and as [`cases`].
pub fn every<T>(step: usize, rows: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    rows.into_iter().step_by(if is_thorough() { 1 } else { step })
}

/// An index or sizes of this machine's memory, as shapes have them.
#[must_use]
pub fn wide(list: &[usize]) -> Vec<u64> {
    list.iter().map(|&number| number as u64).collect()
}

/// An index or sizes of a small array, as indices of this machine's memory.
#[must_use]
pub fn local(list: &[u64]) -> Vec<usize> {
    list.iter().map(|&number| number as usize).collect()
}
