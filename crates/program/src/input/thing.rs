//! What a word of a command line names.

use super::{File, PASTED};
use crate::profile::profile_files;
use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::path::Path;
use xla_shape_files::{Error, contents, files_below};

/// How many bytes at the beginning of a file show whether it is a profile.
const BEGINNING: u64 = 128;

/// What a word of a command line names: a file with its name, the names of the files of a directory, or the word itself, which is a text.
///
/// ```
/// use xla_shape_program::{Input, Reading, Thing};
///
/// let thing = Thing::open("f32[8,128]".as_ref())?;
/// assert!(thing.is_text());
/// assert_eq!(Reading::all(Input { files: &thing.files(), against: &[] }), [Reading::Shape]);
/// # Ok::<(), xla_shape_files::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Thing {
    /// The names of the files; [`PASTED`] for a text, and for input that can be read only once.
    pub names: Vec<String>,
    /// The contents. Empty for a directory of several files, because their names are enough to recognize it. Of a profile, only the
    /// beginning.
    pub bytes: Vec<u8>,
}

impl Thing {
    /// Reads what a word names; `-` is standard input.
    ///
    /// # Errors
    /// If a file or a directory cannot be read.
    pub fn open(given: &OsStr) -> Result<Self, Error> {
        let path = Path::new(given);
        let name = || path.to_string_lossy().into_owned();
        // If `given` is a text that is too long for a file's name, the system returns an error: then it is no file.
        let kind = if given == PASTED { None } else { fs::metadata(path).ok() };
        if let Some(first) = kind.as_ref().and_then(|_| profile_files(path)?.into_iter().next()) {
            let mut bytes = Vec::new();
            let read = fs::File::open(&first).and_then(|file| file.take(BEGINNING).read_to_end(&mut bytes));
            return match read {
                Ok(_) => Ok(Self { names: vec![name()], bytes }),
                Err(error) => Err(Error::Read { path: first, error }),
            };
        }
        match kind {
            Some(kind) if kind.is_dir() => {
                let below = files_below(path)?;
                let names = below.iter().map(|name| path.join(name).to_string_lossy().into_owned()).collect();
                let bytes = if let [alone] = &below[..] { contents(path.join(alone))? } else { Vec::new() };
                Ok(Self { names, bytes })
            }
            Some(kind) if kind.is_file() => Ok(Self { names: vec![name()], bytes: contents(path)? }),
            None if given != PASTED => Ok(Self::text(given.as_encoded_bytes().to_vec())),
            // Standard input, and a pipe, can be read only once, so they are texts.
            _ => Ok(Self::text(contents(path)?)),
        }
    }

    fn text(bytes: Vec<u8>) -> Self {
        Self { names: vec![PASTED.to_owned()], bytes }
    }

    /// Whether it is a text that is not in a file.
    #[must_use]
    pub fn is_text(&self) -> bool {
        self.names == [PASTED]
    }

    /// The files, for an [`Input`](super::Input).
    #[must_use]
    pub fn files(&self) -> Vec<File<'_>> {
        self.names.iter().map(|name| File { name: name.clone(), bytes: &self.bytes }).collect()
    }
}
