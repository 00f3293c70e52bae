//! The native part of the wheel `xla-shape`: the library's values and functions as Python classes and functions.
//!
//! It has no rules about shapes of its own. Only `memory` and `capsule` access memory of other Python objects. Allocations as large as
//! the input go through `room`, which raises `MemoryError`.

mod answer;
mod blocks;
mod buffer;
mod capsule;
mod compile;
mod copy;
mod destination;
mod error;
mod files;
mod fit;
mod guess;
mod index;
mod kernel;
mod layout;
mod memory;
mod module;
mod number;
mod pattern;
mod recent;
mod reuse;
mod room;
mod scan;
mod shape;
mod sharding;
mod sharding_value;
mod threads;
mod tools;
mod tune;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::ffi::OsString;
use std::io::Write as _;
use xla_shape::ElementType;
use xla_shape::tpu::Generation;
use xla_shape_program::Host;
use xla_shape_render::harmless;

/// Starts the program again in a new process, given only this module's file. `-m xla_shape` would search the current directory first, and
/// an isolated Python (`-I`) may not find the package.
const ANEW: &str = "\
import signal, sys
from importlib.util import module_from_spec, spec_from_file_location
signal.signal(signal.SIGINT, signal.SIG_DFL)
spec = spec_from_file_location('xla_shape._native', sys.argv[1])
native = module_from_spec(spec)
spec.loader.exec_module(native)
sys.exit(native.main(['xla-shape', *sys.argv[2:]]))";

/// Runs the program `xla-shape` with these arguments, beginning with its name; returns its exit code.
#[pyfunction]
#[pyo3(pass_module)]
fn main(module: &Bound<'_, PyModule>, arguments: Vec<OsString>) -> PyResult<u8> {
    let host = host(module)?;
    Ok(module.py().detach(|| xla_shape_cli::run_with(&host, arguments)))
}

/// How the program starts itself in another process.
fn host(module: &Bound<'_, PyModule>) -> PyResult<Host> {
    let py = module.py();
    // `sys.executable` may be empty where Python is embedded in another program.
    let python = py.import("sys")?.getattr("executable")?.extract::<Option<OsString>>()?;
    let python = python.filter(|python| !python.is_empty());
    let file = module.getattr("__file__")?.extract::<OsString>()?;
    let command = python.clone().map(|python| vec![python, "-I".into(), "-c".into(), ANEW.into(), file]);
    Ok(Host { command: command.unwrap_or_default(), python: python.map(Into::into), notes })
}

/// Writes a compiler's messages to standard error, without the characters that control a terminal.
fn notes(text: &str) {
    // An error means that standard error is closed.
    let _ = std::io::stderr().write_all(harmless(text).as_bytes());
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("element_types", PyTuple::new(module.py(), ElementType::ALL.iter().map(|known| known.name()))?)?;
    module.add("generations", PyTuple::new(module.py(), Generation::ALL.iter().map(ToString::to_string))?)?;
    module.add_class::<answer::Answer>()?;
    module.add_class::<buffer::Buffer>()?;
    module.add_class::<layout::Layout>()?;
    module.add_class::<module::Instruction>()?;
    module.add_class::<module::Module>()?;
    module.add_class::<shape::Shape>()?;
    module.add_class::<tools::Tools>()?;
    module.add_class::<buffer::Tensor>()?;
    module.add_class::<sharding_value::Sharding>()?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(buffer::buffer_of_capsule, module)?)?;
    module.add_function(wrap_pyfunction!(buffer::relayout, module)?)?;
    module.add_function(wrap_pyfunction!(buffer::relayout_into, module)?)?;
    module.add_function(wrap_pyfunction!(buffer::relayout_plain, module)?)?;
    module.add_function(wrap_pyfunction!(buffer::tensor_of_capsule, module)?)?;
    module.add_function(wrap_pyfunction!(files::read, module)?)?;
    module.add_function(wrap_pyfunction!(files::relayout_file, module)?)?;
    module.add_function(wrap_pyfunction!(files::shard_file, module)?)?;
    module.add_function(wrap_pyfunction!(files::shard_files, module)?)?;
    module.add_function(wrap_pyfunction!(files::shard_index, module)?)?;
    module.add_function(wrap_pyfunction!(files::shard_notes, module)?)?;
    module.add_function(wrap_pyfunction!(files::write, module)?)?;
    module.add_function(wrap_pyfunction!(blocks::blocks, module)?)?;
    module.add_function(wrap_pyfunction!(fit::fit, module)?)?;
    module.add_function(wrap_pyfunction!(compile::memory_compiled, module)?)?;
    module.add_function(wrap_pyfunction!(compile::module_compiled, module)?)?;
    module.add_function(wrap_pyfunction!(index::linear_indices, module)?)?;
    module.add_function(wrap_pyfunction!(index::multi_indices, module)?)?;
    module.add_function(wrap_pyfunction!(kernel::kernels, module)?)?;
    module.add_function(wrap_pyfunction!(pattern::array_pattern, module)?)?;
    module.add_function(wrap_pyfunction!(module::byte_count, module)?)?;
    module.add_function(wrap_pyfunction!(module::compile_it, module)?)?;
    module.add_function(wrap_pyfunction!(module::generation, module)?)?;
    module.add_function(wrap_pyfunction!(scan::memory_of_refused, module)?)?;
    module.add_function(wrap_pyfunction!(scan::out_of_memory, module)?)?;
    module.add_function(wrap_pyfunction!(scan::scan, module)?)?;
    module.add_function(wrap_pyfunction!(tune::tune, module)?)?;
    module.add_function(wrap_pyfunction!(tune::tune_answer, module)?)?;
    module.add("fit_most", xla_shape_tune::fit::Question::MOST_SETTINGS)?;
    module.add_function(wrap_pyfunction!(tune::tune_jobs, module)?)?;
    module.add_function(wrap_pyfunction!(shape::advise, module)?)?;
    module.add_function(wrap_pyfunction!(shape::compare, module)?)?;
    module.add_function(wrap_pyfunction!(shape::byte_size, module)?)?;
    module.add_function(wrap_pyfunction!(shape::default_layout, module)?)?;
    module.add_function(wrap_pyfunction!(shape::explain, module)?)?;
    module.add_function(wrap_pyfunction!(shape::linear_index, module)?)?;
    module.add_function(wrap_pyfunction!(shape::padding, module)?)
}
