//! Reads text in UTF-16 as UTF-8.

use std::io::{self, ErrorKind, Read};
use xla_shape::hlo::Utf16;

/// How many bytes are read at a time.
const CHUNK: usize = 64 << 10;

/// The bytes of an input, in UTF-8 if a mark at its beginning says that they are in UTF-16, as PowerShell's `>` writes them.
pub(crate) struct AsUtf8<R> {
    input: R,
    /// `None` until the beginning is read.
    encoding: Option<Encoding>,
    /// What was read and not returned yet, from `position` on.
    ready: Vec<u8>,
    position: usize,
}

enum Encoding {
    Utf16(Utf16),
    Other,
}

impl<R: Read> AsUtf8<R> {
    pub(crate) const fn new(input: R) -> Self {
        Self { input, encoding: None, ready: Vec::new(), position: 0 }
    }

    fn read_beginning(&mut self) -> io::Result<Encoding> {
        while self.ready.len() < Utf16::MARK {
            let mut bytes = [0; Utf16::MARK];
            let wanted = &mut bytes[self.ready.len()..];
            match self.input.read(wanted) {
                Ok(0) => break,
                Ok(count) => self.ready.extend_from_slice(&wanted[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            // Other texts are passed on at once: the program that writes a log may be waiting.
            if !matches!(self.ready.first(), Some(0xfe | 0xff)) {
                break;
            }
        }
        Ok(match Utf16::of_mark(&self.ready) {
            Some(utf16) => {
                self.ready.clear();
                Encoding::Utf16(utf16)
            }
            None => Encoding::Other,
        })
    }
}

impl<R: Read> Read for AsUtf8<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.encoding.is_none() {
            self.encoding = Some(self.read_beginning()?);
        }
        loop {
            let ready = &self.ready[self.position..];
            if !ready.is_empty() {
                let count = ready.len().min(buffer.len());
                buffer[..count].copy_from_slice(&ready[..count]);
                self.position += count;
                return Ok(count);
            }
            let Some(Encoding::Utf16(utf16)) = &mut self.encoding else { return self.input.read(buffer) };
            let mut bytes = vec![0; CHUNK];
            let count = self.input.read(&mut bytes)?;
            if count == 0 {
                return Ok(0);
            }
            let mut text = String::new();
            utf16.read(&bytes[..count], &mut text);
            self.ready = text.into_bytes();
            self.position = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::AsUtf8;
    use std::io::Read;

    #[test]
    fn only_texts_with_a_mark_change() {
        for (input, expected) in [
            (&b"f32[8]\n"[..], &b"f32[8]\n"[..]),
            (b"\xff\xfef\x00\n\x00", b"f\n"),
            (b"\xfe\xff\x00f\x00\n", b"f\n"),
            (b"\xff", b"\xff"),
            (b"\xffab", b"\xffab"),
            (b"", b""),
        ] {
            let mut found = Vec::new();
            AsUtf8::new(input).read_to_end(&mut found).unwrap();
            assert_eq!(found, expected);
        }
    }
}
