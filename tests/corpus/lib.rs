//! The data made by XLA that the tests compare with; `README.md` beside this file says where it comes from.

use ruzstd::decoding::StreamingDecoder;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

/// The path of a file of the corpus.
///
/// # Panics
/// Never.
#[must_use]
pub fn corpus_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The rows of a file of the corpus, which has one JSON object a line and may be compressed (`.zst`).
///
/// # Panics
/// If the file is missing or empty, or a line cannot be read as a `T`.
#[must_use]
pub fn corpus<T: DeserializeOwned>(name: &str) -> Vec<T> {
    let path = corpus_path(name);
    let text = read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let row = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{}: {error} in {line}", path.display()));
    let rows: Vec<T> = text.lines().map(row).collect();
    assert!(!rows.is_empty(), "{} has no rows, so that it agrees with anything", path.display());
    rows
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
