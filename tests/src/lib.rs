//! What the tests share: the data made by XLA that they compare with (`corpus/README.md` says where it comes from), and
//! random shapes for laws.

pub mod strategy;

use serde::de::DeserializeOwned;
use std::fs;
use std::path::PathBuf;

/// The path of a file of the corpus.
///
/// # Panics
/// Never.
#[must_use]
pub fn corpus_path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name)
}

/// The rows of a file of the corpus, which has one JSON object a line.
///
/// # Panics
/// If the file is missing or a line is not what `T` wants.
#[must_use]
pub fn corpus<T: DeserializeOwned>(name: &str) -> Vec<T> {
    let path = corpus_path(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{}: {error} in {line}", path.display())))
        .collect()
}
