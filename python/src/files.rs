//! Files that hold arrays, as the program reads and writes them.

use crate::buffer::Buffer;
use crate::destination::DestinationArgument;
use crate::error::{file_error, shape_error};
use crate::number::{Number, numbers};
use crate::shape::ShapeArgument;
use crate::threads::Signals;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use xla_shape_answers::answer_line;
use xla_shape_files::{ArrayFile, Checkpoint, Error, Relayout, RelayoutDone, RelayoutOptions, ShardPlan, write_array};

/// Reads an array: a `.npy` file, the array `tensor` of a `.safetensors` or `.npz` file, or raw bytes of the shape `from_`.
#[pyfunction]
#[pyo3(signature = (path, tensor=None, *, from_=None))]
pub(crate) fn read(
    py: Python<'_>,
    path: PathBuf,
    tensor: Option<String>,
    from_: Option<ShapeArgument<'_>>,
) -> PyResult<Buffer> {
    let from = from_.as_ref().map(|shape| shape.0.get().array()).transpose()?.cloned();
    let read = || {
        let file = ArrayFile::open(&path, tensor.as_deref(), from.as_ref())?;
        let bytes = file.read()?;
        Ok((file.shape().clone(), bytes))
    };
    let (shape, bytes) = py.detach(read).map_err(file_error)?;
    Ok(Buffer::owned(shape, bytes))
}

/// Writes an array: a `.npy` file, a `.safetensors` file with a tensor of this name, or raw bytes. The file is written whole or not at all.
#[pyfunction]
#[pyo3(signature = (path, array, tensor=None))]
pub(crate) fn write(py: Python<'_>, path: PathBuf, array: &Bound<'_, Buffer>, tensor: Option<String>) -> PyResult<()> {
    let buffer = array.get();
    let bytes = buffer.bytes();
    py.detach(|| write_array(&path, buffer.array(), tensor.as_deref(), bytes)).map_err(file_error)
}

/// Copies an array in a file into another layout in another file. Returns what was done, as JSON.
#[pyfunction]
#[pyo3(signature = (input, output, to=None, *, from_=None, tensor=None, permute=None))]
pub(crate) fn relayout_file(
    py: Python<'_>,
    input: PathBuf,
    output: PathBuf,
    to: Option<DestinationArgument>,
    from_: Option<ShapeArgument<'_>>,
    tensor: Option<String>,
    permute: Option<Vec<Number<usize>>>,
) -> PyResult<String> {
    let from = from_.as_ref().map(|shape| shape.0.get().array()).transpose()?.cloned();
    let mut options = RelayoutOptions::new();
    if let Some(to) = to {
        options = options.to(to.0);
    }
    if let Some(name) = &tensor {
        options = options.tensor(name);
    }
    if let Some(permutation) = permute {
        options = options.transposed(&numbers(permutation));
    }
    let done = interruptible(py, |stop, progress| {
        let source = ArrayFile::open(&input, tensor.as_deref(), from.as_ref())?;
        Relayout::new(&source, &output, &options)?.until(stop).run(progress)
    });
    Ok(answer_line(RelayoutDone::SCHEMA, &done?))
}

/// The names of the files of a checkpoint, and the paths for each name: several if each device has a file of its own. `plan` is JSON.
#[pyfunction]
pub(crate) fn shard_files(py: Python<'_>, input: Vec<PathBuf>, plan: &str) -> PyResult<Vec<(Vec<PathBuf>, PathBuf)>> {
    let files = || {
        let plan = read_plan(plan)?;
        let checkpoint = Checkpoint::open(&input)?;
        checkpoint.check(&plan)?;
        let owned = |paths: Vec<&Path>| paths.into_iter().map(Path::to_owned).collect();
        Ok(checkpoint.files().map(|(paths, name)| (owned(paths), name.to_owned())).collect())
    };
    py.detach(files).map_err(file_error)
}

/// Writes the parts of a file's tensors that one device needs. `paths` is one file, or the files of several devices, each with a part of it. An
/// existing file with the same bytes is kept. Returns what was done, as JSON. `plan` is JSON.
#[pyfunction]
#[pyo3(signature = (paths, name, device, plan, output, force=false))]
pub(crate) fn shard_file(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    name: PathBuf,
    device: Number<i64>,
    plan: &str,
    output: PathBuf,
    force: bool,
) -> PyResult<String> {
    let done = interruptible(py, |stop, progress| {
        let plan = read_plan(plan)?;
        Checkpoint::open_part(&paths, &name)?.shards(&plan, device.0, &output)?.until(stop).run(force, progress)
    });
    Ok(json(&done?))
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
    let index = || {
        let plan = read_plan(plan)?;
        Checkpoint::open(&input)?.shards(&plan, device.0, &output)?.write_index()
    };
    py.detach(index).map_err(file_error)
}

/// What the header of a device's file says about its tensors, as JSON.
#[pyfunction]
pub(crate) fn shard_notes(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let notes = py.detach(|| xla_shape_files::shard_notes(&path)).map_err(file_error)?;
    notes.ok_or_else(|| {
        let path = path.display();
        shape_error(format_args!("{path}: expected a file that `xla-shape shard` has written, found another"))
    })
}

/// Works with files without the GIL, until a signal such as Ctrl-C comes. This thread looks for signals after each part that it has
/// written.
fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool, &(dyn Fn(u64) + Sync)) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let (signals, stop, caller) = (Signals::default(), AtomicBool::new(false), thread::current().id());
    let progress = |_| {
        if thread::current().id() == caller && !stop.load(Ordering::Relaxed) && !signals.check() {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let done = py.detach(|| work(&stop, &progress));
    // If a signal comes while the last part is written, the work is done, but the signal's exception is still raised.
    match signals.raised() {
        Some(raised) => Err(raised),
        None => done.map_err(file_error),
    }
}

fn read_plan(json: &str) -> Result<ShardPlan, Error> {
    ShardPlan::parse(json.as_bytes()).map_err(|error| Error::Plan { plan: None, error })
}

fn json(done: &impl serde::Serialize) -> String {
    // This does not fail: the data are texts and numbers.
    serde_json::to_string(done).unwrap_or_default()
}
