//! Reading from any place of a file.

use crate::failure::Failure;
use crate::io::read_failure;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

/// A file that can be read from any place, or a pipe, of which what has come is kept.
pub(super) enum Source {
    File(File),
    Pipe { rest: Box<dyn Read + Send + Sync>, bytes: Vec<u8> },
}

impl Source {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let failed = |error| read_failure(path, error);
        if path.as_os_str() != "-" && path.metadata().map_err(failed)?.is_file() {
            return Ok(Self::File(File::open(path).map_err(failed)?));
        }
        Ok(Self::Pipe { rest: super::open(path)?, bytes: Vec::new() })
    }

    /// The first bytes, at most this many.
    pub(super) fn beginning(&mut self, most: u64) -> io::Result<Vec<u8>> {
        match self {
            Self::File(file) => {
                let mut bytes = Vec::new();
                file.rewind()?;
                file.take(most).read_to_end(&mut bytes)?;
                Ok(bytes)
            }
            Self::Pipe { .. } => {
                self.len(most)?;
                let Self::Pipe { bytes, .. } = self else { return Ok(Vec::new()) };
                Ok(bytes.iter().copied().take(usize::try_from(most).unwrap_or(usize::MAX)).collect())
            }
        }
    }

    /// How long it is; of a pipe, which may have no end, no more than `most` bytes are read.
    pub(super) fn len(&mut self, most: u64) -> io::Result<u64> {
        match self {
            Self::File(file) => file.seek(SeekFrom::End(0)),
            Self::Pipe { rest, bytes } => {
                rest.take(most.saturating_sub(bytes.len() as u64)).read_to_end(bytes)?;
                Ok(most.min(bytes.len() as u64))
            }
        }
    }

    /// Fills a buffer with what begins here.
    fn read_at(&self, start: u64, room: &mut [u8]) -> io::Result<()> {
        match self {
            // In one call of the system: pieces of a file can be many and small.
            #[cfg(unix)]
            Self::File(file) => std::os::unix::fs::FileExt::read_exact_at(file, room, start),
            #[cfg(not(unix))]
            Self::File(file) => {
                // One thread at a time, since a file has one place.
                static PLACE: std::sync::Mutex<()> = std::sync::Mutex::new(());
                let _own = PLACE.lock();
                let mut file = file;
                file.seek(SeekFrom::Start(start)).and_then(|_| file.read_exact(room))
            }
            Self::Pipe { bytes, .. } => {
                let from = usize::try_from(start).ok().and_then(|start| bytes.get(start..)?.get(..room.len()));
                room.copy_from_slice(from.ok_or(io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
        }
    }
}

/// A call of the system takes about as long as reading so many bytes.
pub(crate) const CALL: u64 = 4096;

/// What [`Reader`] takes for pieces beyond reading their bytes: as if it read so many more.
pub(crate) fn reading_effort(mut pieces: impl ExactSizeIterator<Item = Range<usize>>) -> u64 {
    /// Copying a piece that was read with others.
    const PIECE: u64 = 64;
    let count = pieces.len() as u64;
    let (Some(first), Some(second)) = (pieces.next(), pieces.next()) else { return CALL };
    let (stride, gap) = ((second.start - first.start) as u64, (second.start - first.end) as u64);
    let calls = (Reader::BATCH / stride.max(1)).clamp(1, Reader::COPIES as u64);
    count.saturating_mul(if gap > Reader::GAP { CALL } else { gap + PIECE + CALL / calls })
}

/// Reads pieces of a file; those that are close together with one call.
pub(super) struct Reader<'a, 'b> {
    source: &'a Source,
    /// The bytes of the file that the next call reads.
    batch: Range<u64>,
    /// Which part of it goes where.
    copies: Vec<(u64, &'b mut [u8])>,
    scratch: Vec<u8>,
}

impl<'a, 'b> Reader<'a, 'b> {
    /// As much is read without need.
    const GAP: u64 = CALL;
    const BATCH: u64 = 1 << 20;
    const COPIES: usize = 1 << 13;

    pub(super) const fn new(source: &'a Source) -> Self {
        Self { source, batch: 0..0, copies: Vec::new(), scratch: Vec::new() }
    }

    /// Reads what begins here into a piece of the buffer, now or with a later one.
    pub(super) fn add(&mut self, start: u64, room: &'b mut [u8]) -> io::Result<()> {
        let end = start + room.len() as u64;
        let continues = start >= self.batch.end && start - self.batch.end <= Self::GAP;
        if self.copies.is_empty() {
            self.batch = start..end;
        } else if continues && end - self.batch.start <= Self::BATCH && self.copies.len() < Self::COPIES {
            self.batch.end = end;
        } else {
            self.flush()?;
            self.batch = start..end;
        }
        self.copies.push((start, room));
        Ok(())
    }

    /// Reads what has not been read yet.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        if let [(start, room)] = self.copies.as_mut_slice() {
            self.source.read_at(*start, room)?;
        } else if !self.copies.is_empty() {
            self.scratch.resize((self.batch.end - self.batch.start) as usize, 0);
            self.source.read_at(self.batch.start, &mut self.scratch)?;
            for (start, room) in &mut self.copies {
                let from = (*start - self.batch.start) as usize;
                room.copy_from_slice(&self.scratch[from..from + room.len()]);
            }
        }
        self.copies.clear();
        Ok(())
    }
}
