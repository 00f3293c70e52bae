//! The lines of `xla-shape check`.

use serde_json::Value;
use std::io::Read;
use xla_shape::Shape;

/// A reader that returns as many bytes at a time as the next number of `sizes` says.
struct Pieces<'a> {
    sizes: &'a [u8],
    rest: &'a [u8],
}

impl Read for Pieces<'_> {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        let mut size = usize::MAX;
        if let Some((&first, rest)) = self.sizes.split_first() {
            (size, self.sizes) = (usize::from(first) + 1, rest);
        }
        let (given, rest) = self.rest.split_at(size.min(room.len()).min(self.rest.len()));
        room[..given.len()].copy_from_slice(given);
        self.rest = rest;
        Ok(given.len())
    }
}

/// Any bytes, in pieces of any length: `check` answers each line, and the answer agrees with the library.
///
/// # Panics
/// If one of these checks fails.
pub fn check(bytes: &[u8]) {
    let Some((sizes, input)) = bytes.split_at_checked(4) else { return };
    let (output, all_good) = xla_shape_cli::check(Pieces { sizes, rest: input });
    let output = String::from_utf8(output).unwrap();
    let mut answers = output.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut lines: Vec<&[u8]> = input.split(|&byte| byte == b'\n').collect();
    let last = lines.pop().filter(|last| !last.is_empty());
    let whole = lines.iter().map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let mut expect_all_good = true;
    for line in whole.chain(last) {
        let answer = answers.next().expect("an answer to each line");
        let text = String::from_utf8_lossy(line);
        assert_eq!(answer["input"], *text);
        let parsed = std::str::from_utf8(line).ok().and_then(|text| text.parse::<Shape>().ok());
        assert_eq!(answer["ok"], parsed.is_some());
        expect_all_good &= parsed.is_some();
        match parsed {
            Some(shape) => {
                assert_eq!(answer["shape"], shape.to_string());
                assert_eq!(answer["bytes"].as_u64(), shape.byte_size());
            }
            None => {
                let [start, end] = [0, 1].map(|i| answer["error"]["span"][i].as_u64().expect("a position") as usize);
                assert!(start <= end && end <= line.len(), "{answer}");
            }
        }
    }
    assert_eq!(answers.next(), None);
    assert_eq!(all_good, expect_all_good);
}
