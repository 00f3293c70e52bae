//! What a kernel takes, as data: for whoever registers and calls it.

use serde_json::{Value, json};
use xla_shape::{ArrayShape, Dimension, ElementType};

/// What a parameter of a kernel is to the call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Role {
    /// The next operand.
    Operand,
    /// The next result.
    Result,
    /// The attribute of the parameter's name.
    Attribute,
    /// Nothing of the call: what XLA's runtime offers.
    Context,
}

/// One parameter.
#[derive(Clone, Debug)]
pub struct Description {
    /// What it is to the call.
    pub role: Role,
    /// What a call must bring.
    pub wants: Wants,
}

/// What a call must bring for a parameter.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Wants {
    /// An array of this shape.
    Array(Box<ArrayShape>),
    /// An array of any shape, row-major.
    AnyArray,
    /// One value of this element type.
    Scalar(&'static str),
    /// Values of this element type.
    Values(&'static str),
    /// Text.
    Text,
    /// Nothing.
    Nothing,
}

/// Why a custom call of XLA's CPU backend cannot carry an array of this shape; `None` if it can.
#[must_use]
pub fn obstacle(shape: &ArrayShape) -> Option<String> {
    let layout = shape.layout();
    let reason = if !layout.tiles().is_empty() {
        "a custom call on CPU carries no tiled layouts"
    } else if layout.memory_space() != 0 {
        "a custom call on CPU has one memory space only"
    } else if !layout.split_configs().is_empty() {
        "a custom call carries no split arrays"
    } else if layout.dynamic_shape_metadata_prefix_bytes() != 0 {
        "a custom call on CPU carries no arrays with a prefix"
    } else if layout.tail_padding_alignment_in_elements() != 1 {
        "a custom call on CPU carries no padding"
    } else if shape.dimensions().iter().any(|dimension| matches!(dimension, Dimension::Bounded(_))) {
        "a custom call carries the sizes of arrays, not their bounds: take `?` in the place of `<=`"
    } else if shape.element_bits() != element_bits(shape.element_type()) {
        let bits = element_bits(shape.element_type());
        return Some(format!("a custom call on CPU carries elements of {bits} bits: write E({bits})"));
    } else {
        return None;
    };
    Some(reason.to_owned())
}

/// How wide an element is in the memory that XLA's CPU backend passes: those of less than a byte are packed.
pub(crate) const fn element_bits(element_type: ElementType) -> u64 {
    match element_type {
        ElementType::Pred => 8,
        _ if element_type.bits() < 8 => element_type.bits(),
        _ => 8 * element_type.storage_bytes(),
    }
}

impl Description {
    /// As JSON, with the name of the parameter.
    #[must_use]
    pub fn to_json(&self, name: &str) -> Value {
        let role = match self.role {
            Role::Operand => "operand",
            Role::Result => "result",
            Role::Attribute => "attribute",
            Role::Context => "context",
        };
        let wants = match &self.wants {
            Wants::Array(shape) => json!({
                "shape": shape.to_string(),
                "element_type": shape.element_type().name(),
                "sizes": shape.dimensions().iter().map(|dimension| match dimension {
                    Dimension::Static(size) | Dimension::Bounded(size) => Some(size),
                    Dimension::Unbounded => None,
                }).collect::<Vec<_>>(),
                "minor_to_major": shape.layout().minor_to_major(),
                "obstacle": obstacle(shape),
            }),
            Wants::AnyArray => json!({ "shape": null }),
            Wants::Scalar(element_type) => json!({ "scalar": element_type }),
            Wants::Values(element_type) => json!({ "values": element_type }),
            Wants::Text => json!({ "text": true }),
            Wants::Nothing => json!({}),
        };
        json!({ "name": name, "role": role, "wants": wants })
    }
}
