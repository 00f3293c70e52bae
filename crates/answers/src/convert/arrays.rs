//! Code in Python that pads, reshapes and transposes an array, and code that undoes this.

use super::code::Language;
use crate::formula::{self, Notation};
use crate::numbers::dimension_names;
use std::fmt::Write as _;
use xla_shape_core::{ArrayShape, StrideTableError};
use xla_shape_notations::{Step, tile_steps};

/// Numbers as a tuple.
fn tuple(numbers: &[u64]) -> String {
    let list = numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if numbers.len() == 1 { format!("({list},)") } else { format!("({list})") }
}

/// The line of code that applies a step to `variable`.
fn forward(step: &Step, language: Language, variable: &str) -> String {
    match step {
        Step::Pad { from, to } => {
            let rooms = from.iter().zip(to).map(|(from, to)| to - from);
            let call = match language {
                Language::Torch => {
                    // torch lists the last dimension first.
                    let rooms = rooms.rev().map(|room| format!("0, {room}")).collect::<Vec<_>>().join(", ");
                    format!("torch.nn.functional.pad({variable}, ({rooms}))")
                }
                _ => {
                    let module = if language == Language::Jax { "jnp" } else { "np" };
                    let rooms = rooms.map(|room| format!("(0, {room})")).collect::<Vec<_>>();
                    let last = if rooms.len() == 1 { "," } else { "" };
                    format!("{module}.pad({variable}, ({}{last}))", rooms.join(", "))
                }
            };
            format!("{variable} = {call}")
        }
        Step::Reshape { to, .. } => format!("{variable} = {variable}.reshape({})", tuple(to)),
        Step::Transpose { permutation } => transpose(permutation, language, variable),
        _ => String::new(),
    }
}

fn transpose(permutation: &[usize], language: Language, variable: &str) -> String {
    let list = permutation.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let method = if language == Language::Torch { "permute" } else { "transpose" };
    format!("{variable} = {variable}.{method}({list})")
}

/// The line of code that undoes a step.
fn backward(step: &Step, language: Language, variable: &str) -> String {
    match step {
        Step::Pad { from, to } => {
            let slices = from.iter().zip(to).map(|(from, to)| if from == to { ":".into() } else { format!(":{from}") });
            format!("{variable} = {variable}[{}]", slices.collect::<Vec<_>>().join(", "))
        }
        Step::Reshape { from, .. } => format!("{variable} = {variable}.reshape({})", tuple(from)),
        Step::Transpose { permutation } => {
            let mut inverse = vec![0; permutation.len()];
            for (to, &from) in permutation.iter().enumerate() {
                if let Some(entry) = inverse.get_mut(from) {
                    *entry = to;
                }
            }
            transpose(&inverse, language, variable)
        }
        _ => String::new(),
    }
}

/// A module with `tile`, `untile` and the function that gives positions.
pub(super) fn module(array: &ArrayShape, language: Language, name: &str) -> Result<String, StrideTableError> {
    let steps = tile_steps(array)?;
    let placement = array.placement()?;
    let table = placement.table();
    let positions = placement.padded_positions();
    let import = match language {
        Language::Jax => "import jax.numpy as jnp\n",
        Language::Torch => "import torch\n",
        // Without padding, the code needs only methods of the array.
        _ => "import numpy as np\n",
    };
    let shape = tuple(table.extents());
    let mut code = format!("\"\"\"{array}: a plain array in the order of its positions, and back.\"\"\"\n\n");
    let needs_import = steps.iter().any(|step| matches!(step, Step::Pad { .. }));
    if needs_import {
        code += import;
        code.push('\n');
    }
    // Writing to memory does not fail.
    let _ = write!(
        code,
        "SHAPE = {shape}\nPOSITIONS = {positions}\n\n\n\
         def tile(x):\n    \"\"\"The elements of x, of shape SHAPE, at all POSITIONS; padding is 0.\"\"\"\n    assert tuple(x.shape) == SHAPE, x.shape\n"
    );
    for step in &steps {
        let _ = writeln!(code, "    {}", forward(step, language, "x"));
    }
    let _ = write!(
        code,
        "    return x\n\n\n\
         def untile(y):\n    \"\"\"The array of shape SHAPE whose elements are at the positions of y.\"\"\"\n    assert tuple(y.shape) == (POSITIONS,), y.shape\n"
    );
    for step in steps.iter().rev() {
        let _ = writeln!(code, "    {}", backward(step, language, "y"));
    }
    let names = dimension_names(array);
    let (sum, values) = formula::position(table, &names, Notation::ShiftsAndMasks);
    let _ = write!(
        code,
        "    return y\n\n\n\
         def {name}({}):\n    \"\"\"The position of an element, in elements.\"\"\"\n",
        names.join(", ")
    );
    // In Python, `//` divides whole numbers.
    for value in values {
        let _ = writeln!(code, "    {}", value.replace(" / ", " // "));
    }
    let _ = writeln!(code, "    return {}", sum.join(" + ").replace(" / ", " // "));
    Ok(code)
}
