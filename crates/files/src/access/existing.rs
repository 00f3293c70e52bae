//! An output that already exists, and may already have the right bytes.

use super::regular::open_regular;
use super::source::Source;
use std::path::Path;

/// How many bytes are read and compared at a time.
const TOGETHER: usize = 256 << 10;

/// A file of the expected length, whose bytes are still to be compared.
pub(crate) struct Existing(Source);

impl Existing {
    /// Opens the file at a path if it is a regular file of this length.
    pub(crate) fn open(path: &Path, bytes: u64) -> Option<Self> {
        let file = open_regular(path).ok()?;
        (file.metadata().ok()?.len() == bytes).then_some(Self(Source::File(file)))
    }

    /// Whether the file has these bytes from byte `start` on; false if the file cannot be read there.
    pub(crate) fn has(&self, start: u64, bytes: &[u8]) -> bool {
        let mut room = vec![0; bytes.len().min(TOGETHER)];
        (start..).step_by(TOGETHER).zip(bytes.chunks(TOGETHER)).all(|(place, expected)| {
            let found = &mut room[..expected.len()];
            self.0.read_at(place, found).is_ok() && found == expected
        })
    }
}
