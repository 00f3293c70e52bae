//! What `relayout` and `shard` do with files that hold arrays, for the program and for Python.

mod pipeline;
mod plan;
mod relayout;
mod shard;

pub use plan::ShardPlan;
pub use relayout::{Relayout, RelayoutDone};
pub(crate) use shard::Shards;
pub use shard::{Shard, ShardDone, Tensor, Written, shard_files, write_index};

use crate::failure::Failure;
use crate::io::tensor::{self, TensorFile, UNNAMED};
use std::path::Path;
use xla_shape::ArrayShape;
use xla_shape::buffer::AlignedBytes;

/// How much of the source, and of the result, is in memory at a time, in bytes. Less is used unless more
/// makes the pieces longer in which files are read and written.
pub const SLAB_BYTES: usize = 128 << 20;

/// Reads an array: `.npy`, the tensor of this name of a `.safetensors` file, or raw bytes, whose shape must be given.
///
/// # Errors
/// If the file cannot be read, or does not hold such an array.
pub fn read(
    path: &Path,
    tensor: Option<&str>,
    given: Option<&ArrayShape>,
) -> Result<(ArrayShape, AlignedBytes), Failure> {
    let file = TensorFile::open(path, tensor, given)?;
    let shape = relayout::source(path, given, &file)?;
    relayout::check_length(path, &shape, &file)?;
    let mut bytes = room(&shape)?;
    let whole = 0..bytes.as_ref().len();
    file.gather(std::iter::once(whole), bytes.as_mut())?;
    Ok((shape, bytes))
}

/// Writes an array, whole or not at all; into a `.safetensors` file, under this name.
///
/// # Errors
/// If the file cannot be written, or cannot hold such an array.
pub fn write(path: &Path, array: &ArrayShape, tensor: Option<&str>, bytes: &[u8]) -> Result<(), Failure> {
    tensor::check_writable(path, array)?;
    tensor::write(path, array, tensor.unwrap_or(UNNAMED), false, |sink| sink.write_whole(bytes))
}

/// Zeroed memory for an array, if there is as much.
fn room(array: &ArrayShape) -> Result<AlignedBytes, Failure> {
    let bytes = array.byte_size().unwrap_or_default();
    usize::try_from(bytes)
        .ok()
        .and_then(|bytes| AlignedBytes::zeroed(bytes).ok())
        .ok_or_else(|| Failure::said(format_args!("not enough memory for {array}, which takes {bytes} bytes")))
}
