//! An array in a file, copied into another layout.

use super::pipeline;
use crate::failure::Failure;
use crate::given::array_of;
use crate::io::tensor::{self, FileFormat, TensorFile, UNNAMED};
use serde::Serialize;
use std::path::Path;
use xla_shape::relayout::{Options, RelayoutError, Slab, Slabs};
use xla_shape::text::parse_index;
use xla_shape::{ArrayShape, Layout};

/// A relayout of an array in a file. Paths of `-` are the standard streams.
#[derive(Clone, Copy, Debug)]
pub struct Relayout<'a> {
    /// The file to read.
    pub input: &'a Path,
    /// The file to write, whole or not at all.
    pub output: &'a Path,
    /// The shape in the file, where it does not tell it itself.
    pub from: Option<&'a ArrayShape>,
    /// The shape to write, or its layout.
    pub to: Option<&'a str>,
    /// The dimension of the source that becomes each dimension of the result, as text.
    pub permute: Option<&'a str>,
    /// The name of the tensor in a `.safetensors` file.
    pub tensor: Option<&'a str>,
    /// How much of each is in memory at a time, in bytes.
    pub slab_bytes: usize,
    /// Whether a bar shows on a terminal.
    pub shows_progress: bool,
}

/// What a relayout did.
#[derive(Debug, Serialize)]
pub struct RelayoutDone {
    /// The shape that was read.
    pub from: String,
    /// The shape that was written.
    pub to: String,
    /// The file that was written.
    pub output: String,
    /// Of the array, without a header of the file.
    pub bytes: u64,
}

impl Relayout<'_> {
    /// Reads, moves and writes, a part at a time; while one part is written, others are read and moved.
    ///
    /// # Errors
    /// If a file cannot be read or written, or holds no such array; then nothing is written.
    pub fn run(&self) -> Result<RelayoutDone, Failure> {
        let file = TensorFile::open(self.input, self.tensor, self.from)?;
        let from = source(self.input, self.from, &file)?;
        let mut options = Options::new().zero_padding();
        let permutation = match self.permute {
            Some(text) => {
                let numbers = parse_index(text, from.num_dimensions()).map_err(|error| Failure::shape(&error, text))?;
                // Of a dimension that is too large for a `usize` there is none either.
                Some(
                    numbers.into_iter().map(|number| usize::try_from(number).unwrap_or(usize::MAX)).collect::<Vec<_>>(),
                )
            }
            None => None,
        };
        if let Some(permutation) = &permutation {
            options = options.transposed(permutation);
        }
        let to = self.destination(permutation.as_deref(), &from)?;
        Slabs::new(&from, &to, &options, self.slab_bytes).map_err(Failure::said)?;
        tensor::check_writable(self.output, &to)?;
        // Before anything is made from the shapes: only then are they known to be those of real data.
        check_length(self.input, &from, &file)?;
        tensor::write(self.output, &to, self.tensor.unwrap_or(UNNAMED), self.shows_progress, |sink| {
            let gather = |slab: &Slab, room: &mut [u8]| file.gather(slab.source(), room);
            pipeline::run((&from, &to), &options, self.slab_bytes, gather, sink)
        })?;
        let (output, bytes) = (self.output.display().to_string(), to.byte_size().unwrap_or_default());
        Ok(RelayoutDone { from: from.to_string(), to: to.to_string(), output, bytes })
    }

    /// The shape to write: what `to` says, which may be a layout alone; by default, row-major.
    fn destination(&self, permutation: Option<&[usize]>, from: &ArrayShape) -> Result<ArrayShape, Failure> {
        let text = match self.to {
            Some(text) if !text.trim_start().starts_with('{') => return array_of(text),
            None if FileFormat::of(self.output) == FileFormat::Raw => {
                return Err(Failure::said("give the layout of the result with --to"));
            }
            text => text,
        };
        let dimensions = match permutation {
            None => from.dimensions().to_vec(),
            Some(permutation) => {
                let dimension = |&number: &usize| from.dimensions().get(number).copied();
                permutation.iter().map(dimension).collect::<Option<Vec<_>>>().ok_or_else(|| {
                    let (permutation, num_dimensions) = (permutation.to_vec(), from.num_dimensions());
                    Failure::said(RelayoutError::InvalidPermutation { permutation, num_dimensions })
                })?
            }
        };
        let layout = match text {
            Some(text) => text.parse::<Layout>().map_err(|error| Failure::shape(&error, text))?,
            None => Layout::descending(dimensions.len()),
        };
        ArrayShape::new(from.element_type(), &dimensions, layout).map_err(Failure::said)
    }
}

/// The shape of the array in the file.
pub(super) fn source(path: &Path, given: Option<&ArrayShape>, file: &TensorFile<'_>) -> Result<ArrayShape, Failure> {
    match (given, &file.shape) {
        (Some(given), None) => Ok(given.clone()),
        (None, Some(shape)) => Ok(shape.clone()),
        (Some(given), Some(shape)) if given == shape => Ok(given.clone()),
        (Some(given), Some(shape)) => {
            Err(Failure::said(format_args!("`{}` holds {shape}, not {given}", path.display())))
        }
        (None, None) => Err(Failure::said("raw bytes have no shape; give it with --from")),
    }
}

/// Checks that the file has as many bytes as the array.
pub(super) fn check_length(path: &Path, shape: &ArrayShape, file: &TensorFile<'_>) -> Result<(), Failure> {
    match shape.byte_size() {
        Some(expected) if file.len() != expected => {
            let more = if file.may_have_more() && file.len() > expected { " or more" } else { "" };
            Err(Failure::said(format_args!(
                "expected {expected} bytes of {shape} in `{}`, found {}{more}",
                path.display(),
                file.len()
            )))
        }
        _ => Ok(()),
    }
}
