//! One module for each verb of the program: it reads the input, computes the answer and writes it.

pub(crate) mod advise;
mod answers;
pub(crate) mod block;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod compile;
pub(crate) mod convert;
pub(crate) mod cost;
pub(crate) mod draw;
pub(crate) mod explain;
pub(crate) mod guard;
pub(crate) mod hlo;
pub(crate) mod kernel;
pub(crate) mod manual;
pub(crate) mod relayout;
pub(crate) mod rustc;
pub(crate) mod scan;
pub(crate) mod schema;
pub(crate) mod shard;
pub(crate) mod thing;
pub(crate) mod tune;

use crate::args::Format;
use crate::failure::Failure;
use crate::io;
use std::path::Path;
use xla_shape_files::{is_stdout, write_whole};
use xla_shape_render::Show;

/// Writes an answer to standard output.
fn show(answer: &impl Show, format: Format) -> Result<(), Failure> {
    match format {
        Format::Text => io::print(&answer.text(io::width())),
        Format::Json => io::write(answer.json().as_bytes()),
    }
}

/// Writes the page into this file, if there is one, and the answer to standard output unless the page is written there.
fn show_with_page(
    answer: &impl Show,
    format: Format,
    file: Option<&Path>,
    page: impl FnOnce() -> String,
) -> Result<(), Failure> {
    if let Some(path) = file {
        if is_stdout(path) && format == Format::Json {
            return Err(Failure::said("standard output takes the page or JSON, not both"));
        }
        write_whole(path, page().as_bytes())?;
        if is_stdout(path) {
            return Ok(());
        }
    }
    show(answer, format)
}
