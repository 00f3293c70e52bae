//! Files and streams.

mod lines;

pub(crate) use lines::{Line, Lines, MAX_LINE};

use crate::failure::Failure;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// The file's contents; `-` is standard input.
pub(crate) fn open(path: &Path) -> Result<Box<dyn Read>, Failure> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    match File::open(path) {
        Ok(file) => Ok(Box::new(file)),
        Err(error) => Err(read_failure(path, error)),
    }
}

pub(crate) fn read_failure(path: &Path, error: io::Error) -> Failure {
    let name = if path.as_os_str() == "-" { "standard input".into() } else { format!("`{}`", path.display()) };
    Failure::Read { name, error }
}

/// Writes to standard output; without styles where it is not a terminal that shows them.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut output = anstream::stdout().lock();
    output.write_all(text.as_bytes()).and_then(|()| output.flush()).map_err(Failure::Write)
}
