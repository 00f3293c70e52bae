//! How files hold arrays: raw bytes, NumPy's `.npy`, and tensors of `.safetensors`.

mod array;
mod safetensors;

pub use array::{ArrayFile, write_array};
pub(crate) use array::{UNNAMED, check_writable, write, zeroed};
pub(crate) use safetensors::{NOTES, dtype_of, header_of, read_header, shape_of};

use std::path::Path;

/// How a file holds an array; the ending of its name says it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FileFormat {
    Raw,
    Npy,
    Safetensors,
}

impl FileFormat {
    pub(crate) fn of(path: &Path) -> Self {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("npy") => Self::Npy,
            Some("safetensors") => Self::Safetensors,
            _ => Self::Raw,
        }
    }
}
