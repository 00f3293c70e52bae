//! What the tests share: the data made by XLA that they compare with (`corpus/README.md` says where it comes from),
//! random shapes for laws, and what is fuzzed.

pub mod differential;
pub mod fuzz;
pub mod reference;
pub mod strategy;

use ruzstd::decoding::StreamingDecoder;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

/// The path of a file of the corpus.
///
/// # Panics
/// Never.
#[must_use]
pub fn corpus_path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name)
}

/// The rows of a file of the corpus, which has one JSON object a line and may be compressed (`.zst`).
///
/// # Panics
/// If the file is missing or has no line, or a line is not what `T` wants.
#[must_use]
pub fn corpus<T: DeserializeOwned>(name: &str) -> Vec<T> {
    let path = corpus_path(name);
    let text = read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let row = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{}: {error} in {line}", path.display()));
    let rows: Vec<T> = text.lines().map(row).collect();
    assert!(!rows.is_empty(), "{} has no rows, so that it agrees with anything", path.display());
    rows
}

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

fn read(path: &Path) -> io::Result<String> {
    if path.extension().is_none_or(|extension| extension != "zst") {
        return fs::read_to_string(path);
    }
    let mut text = String::new();
    let file = BufReader::new(File::open(path)?);
    StreamingDecoder::new(file).map_err(io::Error::other)?.read_to_string(&mut text)?;
    Ok(text)
}

/// An HLO module that XLA printed.
#[derive(Deserialize)]
pub struct HloModule {
    /// `tpu-hlo`: compiled for a TPU; `tpu-hlo-before`: before that; `cpu-hlo`: compiled for a CPU.
    pub set: String,
    /// The name of the file.
    pub module: String,
    /// The module.
    pub text: String,
    /// How many computations it has.
    pub computations: usize,
    /// How many instructions it has.
    pub instructions: usize,
    /// How many instructions of each opcode.
    pub opcodes: BTreeMap<String, usize>,
    /// Whether XLA's own parser reads it.
    pub parsed_by_xla: bool,
}

/// All HLO modules of the corpus.
///
/// # Panics
/// As [`corpus`].
#[must_use]
pub fn hlo_modules() -> Vec<HloModule> {
    corpus("hlo.jsonl.zst")
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
