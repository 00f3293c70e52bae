//! How files hold arrays: raw bytes, NumPy's `.npy` and `.npz`, and tensors of `.safetensors`.
//!
//! A new format is a variant of `FileFormat`, a file here, and its arms in `array.rs`. The help of `relayout` (`crates/cli/src/args`) and
//! `docs/relayout.md` name the formats.

mod array;
mod notes;
mod npz;
mod safetensors;

pub use array::{ArrayFile, write_array};
pub(crate) use array::{UNNAMED, check_writable, write, zeroed};
pub(crate) use notes::{NOTES, Note, Notes, OtherTensor};
pub(crate) use safetensors::{dtype_of, header_of, is_stored_as_bytes, read_header, shape_of};

use crate::error::FileError;
use std::path::Path;

/// The most dimensions of an array in a file: NumPy's limit. A header can claim thousands, and each costs time and memory in every index. Shapes that
/// users write have no such limit.
const MAX_DIMENSIONS: usize = 64;

/// Refuses an array with more dimensions than a file may have.
pub(crate) fn check_dimensions(found: usize) -> Result<(), FileError> {
    if found > MAX_DIMENSIONS {
        return Err(FileError::TooManyDimensions { found, most: MAX_DIMENSIONS });
    }
    Ok(())
}

/// How a file holds an array; the ending of its name says it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FileFormat {
    Raw,
    Npy,
    /// An archive of `.npy` files, which is only read.
    Npz,
    Safetensors,
}

impl FileFormat {
    pub(crate) fn of(path: &Path) -> Self {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("npy") => Self::Npy,
            Some("npz") => Self::Npz,
            Some("safetensors") => Self::Safetensors,
            _ => Self::Raw,
        }
    }
}
