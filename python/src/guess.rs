//! Names of attributes in other libraries, and what this package calls the same things.

use pyo3::PyErr;
use pyo3::exceptions::PyAttributeError;

/// Names that users of other libraries may try: the class, the name, and what to write instead.
const GUESSES: &[(&str, &str, &str)] = &[
    ("Shape", "tiles", "shape.layout.tiles"),
    ("Shape", "tiling", "shape.layout.tiles"),
    ("Shape", "minor_to_major", "shape.layout.minor_to_major"),
    ("Shape", "memory_space", "shape.layout.memory_space"),
    ("Shape", "dims", "shape.dimensions"),
    ("Shape", "shape", "shape.dimensions"),
    ("Shape", "sizes", "shape.dimensions"),
    ("Shape", "rank", "shape.ndim"),
    ("Shape", "nbytes", "shape.byte_size"),
    ("Shape", "bytes", "shape.byte_size"),
    ("Shape", "size", "shape.elements, the number of elements, or shape.byte_size"),
    ("Shape", "itemsize", "shape.dtype.itemsize"),
    ("Shape", "padding_bytes", "shape.padding"),
    ("Shape", "is_scalar", "shape.ndim == 0"),
    ("Shape", "default_layout", "shape.with_default_layout(generation).layout"),
    ("Shape", "strides", "Buffer(shape, data).numpy().strides"),
    ("Layout", "tiling", "layout.tiles"),
    ("Layout", "rank", "layout.ndim"),
    ("Layout", "order", "layout.minor_to_major"),
    ("Module", "instruction_names", "[instruction.name for instruction in module.instructions]"),
    ("Module", "entry", "module.parameters and module.results"),
    ("Module", "text", "str(module)"),
    ("Module", "as_text", "str(module)"),
    ("Module", "diff", "module.difference(after)"),
    ("Module", "verify", "module.check()"),
    ("Module", "outputs", "module.results"),
    ("Module", "inputs", "module.parameters"),
    ("Module", "arguments", "module.parameters"),
    ("Instruction", "metadata", "instruction.op_name and instruction.source"),
    ("Instruction", "source_file", "instruction.source"),
    ("Instruction", "source_line", "instruction.source"),
    ("Instruction", "layout", "instruction.shape.layout"),
    ("Buffer", "layout", "buffer.shape.layout"),
    ("Buffer", "bytes", "buffer.tobytes(), or buffer.data without a copy"),
    ("Buffer", "to_numpy", "buffer.numpy()"),
    ("Buffer", "array", "buffer.numpy()"),
    ("Buffer", "strides", "buffer.numpy().strides"),
    ("Buffer", "transpose", "buffer.T, or buffer.relayout(permute=…)"),
    ("Buffer", "astype", "buffer.numpy().astype(dtype)"),
    ("Buffer", "reshape", "buffer.numpy().reshape(sizes)"),
    ("Buffer", "copy", "buffer.relayout(buffer.shape)"),
    ("Buffer", "itemsize", "buffer.dtype.itemsize"),
];

/// The error for an attribute that a class does not have. If the name is one of the guesses, the error says what to write instead.
pub(crate) fn unknown_name(class: &str, name: &str) -> PyErr {
    let message = format!("'{class}' object has no attribute '{name}'");
    // Libraries look for the names of protocols in every object: suggest nothing.
    if name.starts_with("__") {
        return PyAttributeError::new_err(message);
    }
    let right = GUESSES.iter().find(|(owner, guess, _)| (*owner, *guess) == (class, name));
    PyAttributeError::new_err(
        right.map_or_else(|| message.clone(), |(_, _, right)| format!("{message}: write {right}")),
    )
}
