//! The native part of the wheel `xla-shape`: the core's values, its answers and its copies, with Python's manners.
//!
//! Nothing about shapes is decided here. A file holds what its name says; memory of others is looked at in `memory` and `capsule` alone.

mod answer;
mod buffer;
mod capsule;
mod error;
mod files;
mod index;
mod layout;
mod memory;
mod module;
mod number;
mod shape;
mod sharding;
mod sharding_value;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::ffi::OsString;
use xla_shape::ElementType;

/// Runs the program `xla-shape` with these arguments, the first of which is its name; gives its exit code.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<u8> {
    let python = py.import("sys")?.getattr("executable")?.extract::<OsString>()?;
    let program = [python, "-m".into(), "xla_shape".into()];
    Ok(py.detach(|| xla_shape_cli::run_with(&program, arguments)))
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("element_types", PyTuple::new(module.py(), ElementType::ALL.iter().map(|known| known.name()))?)?;
    module.add_class::<answer::Answer>()?;
    module.add_class::<buffer::Buffer>()?;
    module.add_class::<layout::Layout>()?;
    module.add_class::<module::Instruction>()?;
    module.add_class::<module::Module>()?;
    module.add_class::<shape::Shape>()?;
    module.add_class::<sharding_value::Sharding>()?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(buffer::buffer_of_capsule, module)?)?;
    module.add_function(wrap_pyfunction!(buffer::relayout, module)?)?;
    module.add_function(wrap_pyfunction!(buffer::relayout_into, module)?)?;
    module.add_function(wrap_pyfunction!(files::read, module)?)?;
    module.add_function(wrap_pyfunction!(files::relayout_file, module)?)?;
    module.add_function(wrap_pyfunction!(files::shard_file, module)?)?;
    module.add_function(wrap_pyfunction!(files::shard_files, module)?)?;
    module.add_function(wrap_pyfunction!(files::shard_index, module)?)?;
    module.add_function(wrap_pyfunction!(files::write, module)?)?;
    module.add_function(wrap_pyfunction!(index::linear_indices, module)?)?;
    module.add_function(wrap_pyfunction!(index::multi_indices, module)?)?;
    module.add_function(wrap_pyfunction!(shape::advise, module)?)?;
    module.add_function(wrap_pyfunction!(shape::bitcast, module)?)?;
    module.add_function(wrap_pyfunction!(shape::byte_size, module)?)?;
    module.add_function(wrap_pyfunction!(shape::default_layout, module)?)?;
    module.add_function(wrap_pyfunction!(shape::explain, module)?)?;
    module.add_function(wrap_pyfunction!(shape::linear_index, module)?)?;
    module.add_function(wrap_pyfunction!(shape::padding, module)?)
}
