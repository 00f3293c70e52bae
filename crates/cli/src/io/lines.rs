//! Reads lines of any bytes, as they arrive.

use crate::failure::Failure;
use std::io::{self, ErrorKind, Read};
use std::ops::Range;
use std::path::Path;
use xla_shape_files::Error;

/// At most this many bytes of a line are kept.
pub(crate) const MAX_LINE: usize = 64 << 20;

/// How many bytes are read at a time.
const CHUNK: usize = 256 << 10;

/// A line without its ending, which is `\n` or `\r\n`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Line<'a> {
    Whole(&'a [u8]),
    /// A line of more than [`MAX_LINE`] bytes: its beginning, and its length in bytes.
    TooLong {
        beginning: &'a [u8],
        length: u64,
    },
}

/// Calls `act` with each line of a file. Also calls `act` with `None` at the end, and each time before it waits for more input: `act` must then
/// write its output, because the program that sends the next line may be waiting for it.
pub(crate) fn for_each_line(
    file: &Path,
    input: impl Read,
    mut act: impl FnMut(Option<Line<'_>>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut lines = Lines::new(input);
    loop {
        while let Some(line) = lines.next_buffered() {
            act(Some(line))?;
        }
        act(None)?;
        if !lines.fill().map_err(|error| Error::Read { path: file.to_owned(), error })? {
            break;
        }
    }
    if let Some(line) = lines.last() {
        act(Some(line))?;
        act(None)?;
    }
    Ok(())
}

/// Splits the input into lines, and waits only if no complete line is left.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    /// The range of the buffer that has been read and not returned yet.
    pending: Range<usize>,
    /// Before this position, `pending` has no line break.
    searched: usize,
    /// How many bytes of the current line were dropped because it is too long.
    dropped: u64,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, buffer: vec![0; CHUNK], pending: 0..0, searched: 0, dropped: 0 }
    }

    /// The next line, if it has been read completely.
    pub(crate) fn next_buffered(&mut self) -> Option<Line<'_>> {
        let unsearched = self.buffer.get(self.searched..self.pending.end)?;
        let Some(offset) = memchr::memchr(b'\n', unsearched) else {
            self.searched = self.pending.end;
            return None;
        };
        let end = self.searched + offset;
        let range = self.pending.start..end;
        self.pending.start = end + 1;
        self.searched = end + 1;
        Some(self.line(range))
    }

    /// Waits for more input; `false` at its end.
    pub(crate) fn fill(&mut self) -> io::Result<bool> {
        self.make_room();
        loop {
            match self.reader.read(&mut self.buffer[self.pending.end..]) {
                Ok(count) => {
                    self.pending.end += count;
                    return Ok(count > 0);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The bytes after the last line ending, at the end of the input.
    pub(crate) fn last(&mut self) -> Option<Line<'_>> {
        let range = std::mem::replace(&mut self.pending, 0..0);
        (!range.is_empty() || self.dropped > 0).then(|| self.line_at_end(range))
    }

    fn make_room(&mut self) {
        if self.pending.start > 0 {
            self.buffer.copy_within(self.pending.clone(), 0);
            self.searched -= self.pending.start;
            self.pending = 0..self.pending.len();
        }
        if self.pending.end == self.buffer.len() {
            if self.buffer.len() < MAX_LINE + CHUNK {
                // The buffer grows only after it has been filled.
                self.buffer.resize((self.buffer.len() * 2).min(MAX_LINE + CHUNK), 0);
            } else {
                // Keep the beginning of the line for the error message.
                self.dropped += (self.pending.end - MAX_LINE) as u64;
                self.pending.end = MAX_LINE;
                self.searched = MAX_LINE;
            }
        }
    }

    fn line(&mut self, range: Range<usize>) -> Line<'_> {
        let range = match self.buffer.get(range.clone()) {
            Some([.., b'\r']) => range.start..range.end - 1,
            _ => range,
        };
        self.line_at_end(range)
    }

    fn line_at_end(&mut self, range: Range<usize>) -> Line<'_> {
        let dropped = std::mem::take(&mut self.dropped);
        let bytes = &self.buffer[range];
        if dropped == 0 && bytes.len() <= MAX_LINE {
            Line::Whole(bytes)
        } else {
            // If bytes were dropped, they came after the first `MAX_LINE` bytes, and the rest of the buffer comes after them.
            let beginning = bytes.get(..MAX_LINE).unwrap_or(bytes);
            Line::TooLong { beginning, length: dropped + bytes.len() as u64 }
        }
    }
}
