//! Files that hold arrays, as the program reads and writes them.

use crate::buffer::Buffer;
use crate::error::file_error;
use crate::number::Number;
use crate::shape::ShapeArgument;
use pyo3::prelude::*;
use std::path::PathBuf;
use xla_shape_cli::files::{self, Relayout, SLAB_BYTES, Shard, ShardPlan};

/// Reads an array: `.npy`, the tensor of this name of a `.safetensors` file, or raw bytes of the shape `from_`.
#[pyfunction]
#[pyo3(signature = (path, tensor=None, *, from_=None))]
pub(crate) fn read(
    py: Python<'_>,
    path: PathBuf,
    tensor: Option<String>,
    from_: Option<ShapeArgument<'_>>,
) -> PyResult<Buffer> {
    let from = from_.as_ref().map(|shape| shape.0.get().array()).transpose()?.cloned();
    let (shape, bytes) = py.detach(|| files::read(&path, tensor.as_deref(), from.as_ref())).map_err(file_error)?;
    Ok(Buffer::owned(shape, bytes))
}

/// Writes an array, whole or not at all: `.npy`, a tensor of this name in a `.safetensors` file, or raw bytes.
#[pyfunction]
#[pyo3(signature = (path, array, tensor=None))]
pub(crate) fn write(py: Python<'_>, path: PathBuf, array: &Bound<'_, Buffer>, tensor: Option<String>) -> PyResult<()> {
    let buffer = array.get();
    let bytes = buffer.bytes();
    py.detach(|| files::write(&path, buffer.array(), tensor.as_deref(), bytes)).map_err(file_error)
}

/// Copies an array in a file into another layout in another file; gives what was done, as JSON.
#[pyfunction]
#[pyo3(signature = (input, output, to=None, *, from_=None, tensor=None, permute=None))]
pub(crate) fn relayout_file(
    py: Python<'_>,
    input: PathBuf,
    output: PathBuf,
    to: Option<String>,
    from_: Option<ShapeArgument<'_>>,
    tensor: Option<String>,
    permute: Option<Vec<Number<usize>>>,
) -> PyResult<String> {
    let from = from_.as_ref().map(|shape| shape.0.get().array()).transpose()?.cloned();
    let permute =
        permute.map(|numbers| numbers.iter().map(|number| number.0.to_string()).collect::<Vec<_>>().join(","));
    let done = py.detach(|| {
        let relayout = Relayout {
            input: &input,
            output: &output,
            from: from.as_ref(),
            to: to.as_deref(),
            permute: permute.as_deref(),
            tensor: tensor.as_deref(),
            slab_bytes: SLAB_BYTES,
            shows_progress: false,
        };
        relayout.run()
    });
    Ok(json(&done.map_err(file_error)?))
}

/// The files of a checkpoint, each with its name in it. `plan` is JSON.
#[pyfunction]
pub(crate) fn shard_files(py: Python<'_>, input: Vec<PathBuf>, plan: &str) -> PyResult<Vec<(PathBuf, PathBuf)>> {
    py.detach(|| files::shard_files(&input, &read_plan(plan)?)).map_err(file_error)
}

/// Writes what one device needs of one file, unless it is there already; gives what was done, as JSON. `plan` is JSON.
#[pyfunction]
pub(crate) fn shard_file(
    py: Python<'_>,
    path: PathBuf,
    name: PathBuf,
    device: Number<i64>,
    plan: &str,
    output: PathBuf,
) -> PyResult<String> {
    let done = py.detach(|| Shard::new(&path, &name, device.0, &read_plan(plan)?, &output)?.run());
    Ok(json(&done.map_err(file_error)?))
}

/// Writes the index of a device's files, if the checkpoint has one. `plan` is JSON.
#[pyfunction]
pub(crate) fn shard_index(
    py: Python<'_>,
    input: Vec<PathBuf>,
    device: Number<i64>,
    plan: &str,
    output: PathBuf,
) -> PyResult<Option<PathBuf>> {
    py.detach(|| files::write_index(&input, &read_plan(plan)?, device.0, &output)).map_err(file_error)
}

fn read_plan(text: &str) -> Result<ShardPlan, xla_shape_cli::Failure> {
    ShardPlan::parse("the plan", text.as_bytes())
}

fn json(done: &impl serde::Serialize) -> String {
    // Texts and numbers are always JSON.
    serde_json::to_string(done).unwrap_or_default()
}
