//! Code that the tests share: the data of XLA with which they compare (`corpus/README.md` says where it comes from), random shapes for laws, and the
//! fuzz targets.

pub mod differential;
pub mod fuzz;
pub mod reference;
pub mod strategy;

use std::env;
pub use xla_shape_corpus::{HloModule, corpus, corpus_path, hlo_modules};

/// The number of random cases in a property test: few in `cargo test` (`.cargo/config.toml`), many in `scripts/laws.sh`, 256 without cargo.
///
/// # Panics
/// If `PROPTEST_CASES` is not a number.
#[must_use]
pub fn cases() -> usize {
    env::var("PROPTEST_CASES").map_or(256, |cases| cases.parse().expect("PROPTEST_CASES is a number"))
}

/// Whether tests also use their larger data: in `scripts/laws.sh`, not in `cargo test`.
///
/// # Panics
/// As [`cases`].
#[must_use]
pub fn is_thorough() -> bool {
    cases() > 256
}

/// The first row and every `step`th one after it, for rows whose neighbours are similar; all rows if [`is_thorough`].
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
