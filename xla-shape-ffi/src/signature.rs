//! What a kernel takes, as data, for the code that registers and calls it.

use serde_json::{Value, json};
use xla_shape::buffer::WholeShape;
use xla_shape::{ArrayShape, Dimension, ElementType};

/// What a parameter of a kernel is to the call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Role {
    /// The next operand.
    Operand,
    /// The next result.
    Result,
    /// The next operand and the next result in one: the result begins as the operand.
    InPlace,
    /// The attribute of the parameter's name.
    Attribute,
    /// Nothing of the call: what XLA's runtime offers.
    Context,
}

/// One parameter.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Description {
    /// What it is to the call.
    pub role: Role,
    /// What a call must bring.
    pub wants: Wants,
    /// The names of the array's sizes, where they have some.
    pub names: &'static [Option<&'static str>],
    /// Whether it takes any number of operands.
    pub is_variadic: bool,
    /// Whether a call may leave the attribute out.
    pub is_optional: bool,
    /// The value of an attribute that a call leaves out, in JSON; infinities and NaN are texts.
    pub default: Option<Value>,
}

impl Description {
    /// A parameter that a call must bring.
    #[must_use]
    pub const fn new(role: Role, wants: Wants) -> Self {
        Self { role, wants, names: &[], is_variadic: false, is_optional: false, default: None }
    }

    /// The same, that a call may leave out.
    #[must_use]
    pub fn optional(mut self, default: Option<Value>) -> Self {
        (self.is_optional, self.default) = (true, default);
        self
    }
}

/// The text of a type of arrays, with the names of its sizes.
pub(crate) fn text_of<S: WholeShape>() -> String {
    S::TYPE.map_or_else(String::new, |shape| shape.with_size_names(S::NAMES).to_string())
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
    Some(match find_obstacle(shape)? {
        Obstacle::Form(reason) => reason.to_owned(),
        Obstacle::Bits(bits) => format!("a custom call on CPU carries elements of {bits} bits: write E({bits})"),
    })
}

/// What speaks against a shape.
enum Obstacle {
    Form(&'static str),
    /// How wide its elements should be.
    Bits(u64),
}

/// Whether a custom call of XLA's CPU backend can carry an array of this shape.
pub(crate) const fn is_possible(shape: &ArrayShape) -> bool {
    find_obstacle(shape).is_none()
}

const fn find_obstacle(shape: &ArrayShape) -> Option<Obstacle> {
    let layout = shape.layout();
    let bits = element_bits(shape.element_type());
    Some(if !layout.tiles().is_empty() {
        Obstacle::Form("a custom call on CPU carries no tiled layouts")
    } else if layout.memory_space() != 0 {
        Obstacle::Form("a custom call on CPU has one memory space only")
    } else if !layout.split_configs().is_empty() {
        Obstacle::Form("a custom call carries no split arrays")
    } else if layout.dynamic_shape_metadata_prefix_bytes() != 0 {
        Obstacle::Form("a custom call on CPU carries no arrays with a prefix")
    } else if layout.tail_padding_alignment_in_elements() != 1 {
        Obstacle::Form("a custom call on CPU carries no padding")
    } else if has_bound(shape.dimensions()) {
        Obstacle::Form("a custom call carries the sizes of arrays, not their bounds: take `?` in the place of `<=`")
    } else if shape.element_bits() != bits {
        Obstacle::Bits(bits)
    } else {
        return None;
    })
}

const fn has_bound(mut dimensions: &[Dimension]) -> bool {
    while let [dimension, rest @ ..] = dimensions {
        if matches!(dimension, Dimension::Bounded(_)) {
            return true;
        }
        dimensions = rest;
    }
    false
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
            Role::InPlace => "in_place",
            Role::Attribute => "attribute",
            Role::Context => "context",
        };
        let wants = match &self.wants {
            Wants::Array(shape) => json!({
                "shape": shape.with_size_names(self.names).to_string(),
                "element_type": shape.element_type().name(),
                "sizes": shape.dimensions().iter().map(|dimension| match dimension {
                    Dimension::Static(size) | Dimension::Bounded(size) => Some(size),
                    Dimension::Unbounded => None,
                }).collect::<Vec<_>>(),
                "names": self.names,
                "minor_to_major": shape.layout().minor_to_major(),
                "obstacle": obstacle(shape),
            }),
            Wants::AnyArray => json!({ "shape": null }),
            Wants::Scalar(element_type) => json!({ "scalar": element_type }),
            Wants::Values(element_type) => json!({ "values": element_type }),
            Wants::Text => json!({ "text": true }),
            Wants::Nothing => json!({}),
        };
        json!({
            "name": name,
            "role": role,
            "wants": wants,
            "variadic": self.is_variadic,
            "optional": self.is_optional,
            "default": self.default,
        })
    }
}
