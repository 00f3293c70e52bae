//! The parameters of a kernel as data, for the code that registers and calls it.

use serde_json::{Value, json};
use xla_shape::buffer::WholeShape;
use xla_shape::validate::{AttributeEffect, LayoutAttribute};
use xla_shape::{ArrayShape, Dimension};

/// Which part of a call a parameter stands for.
///
/// ```
/// use xla_shape::{ViewMut, shape};
/// use xla_shape_ffi::{InPlace, Parameter, Role};
///
/// assert_eq!(ViewMut::<shape!(f32[8])>::ROLE, Role::Result);
/// assert_eq!(InPlace::<shape!(f32[8])>::ROLE, Role::InPlace, "an operand and a result");
/// assert_eq!(f32::ROLE, Role::Attribute);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Role {
    /// The next operand.
    Operand,
    /// The next result.
    Result,
    /// The next operand and the next result in one: the result's memory initially holds the operand's values.
    InPlace,
    /// The attribute with the parameter's name.
    Attribute,
    /// No part of the call: XLA's runtime provides the value, such as its thread pool.
    Context,
}

/// A parameter of a kernel: which part of a call it stands for, and what it accepts.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Description {
    /// Which part of a call it stands for.
    pub role: Role,
    /// The type of value that a call must pass.
    pub wants: Wants,
    /// For an array, the name of each size, or `None` where it has no name; otherwise empty.
    pub names: &'static [Option<&'static str>],
    /// Whether it takes any number of operands.
    pub is_variadic: bool,
    /// Whether a call may leave the attribute out.
    pub is_optional: bool,
    /// The value of an attribute that a call leaves out, in JSON; infinities and NaN are strings.
    pub default: Option<Value>,
}

impl Description {
    /// A parameter that every call must pass.
    ///
    /// ```
    /// use xla_shape_ffi::{Description, Role, Wants};
    ///
    /// let eps = Description::new(Role::Attribute, Wants::Scalar("f32"));
    /// assert!(!eps.is_optional);
    /// ```
    #[must_use]
    pub const fn new(role: Role, wants: Wants) -> Self {
        Self { role, wants, names: &[], is_variadic: false, is_optional: false, default: None }
    }

    /// The same parameter, but calls may leave it out; then it has the default, or is an `Option` that is `None`.
    ///
    /// ```
    /// use xla_shape_ffi::{Description, Role, Wants};
    ///
    /// let eps = Description::new(Role::Attribute, Wants::Scalar("f32")).optional(Some(1e-5.into()));
    /// assert!(eps.is_optional);
    /// ```
    #[must_use]
    pub fn optional(mut self, default: Option<Value>) -> Self {
        (self.is_optional, self.default) = (true, default);
        self
    }
}

/// The text of a shape type, with the names of its sizes: `f32[rows,128]{1,0}`.
pub(crate) fn type_text<S: WholeShape>() -> String {
    S::TYPE.map_or_else(String::new, |shape| shape.with_size_names(S::NAMES).to_string())
}

/// Like [`type_text`], but without the layout: what a call is compared with.
pub(crate) fn sizes_text<S: WholeShape>() -> String {
    let mut text = type_text::<S>();
    text.truncate(text.find('{').unwrap_or(text.len()));
    text
}

/// The type of value that a call must pass for a parameter.
///
/// ```
/// use xla_shape::{View, shape};
/// use xla_shape_ffi::{Parameter, Wants};
///
/// let Wants::Array(shape) = View::<shape!(f32[8,128]{0,1})>::describe().wants else { panic!("no array") };
/// assert_eq!(shape.to_string(), "f32[8,128]{0,1}", "the layout that the custom call must declare");
/// assert!(matches!(f32::describe().wants, Wants::Scalar("f32")));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Wants {
    /// An array of this shape.
    Array(Box<ArrayShape>),
    /// An array of any shape, row-major.
    AnyArray,
    /// A number of this element type.
    Scalar(&'static str),
    /// A list of numbers of this element type.
    Values(&'static str),
    /// A text of UTF-8.
    Text,
    /// Nothing: XLA's runtime provides the value.
    Nothing,
}

/// The reason why a custom call of XLA's CPU backend cannot carry an array of this shape; `None` if it can.
///
/// ```
/// use xla_shape_ffi::obstacle;
///
/// assert_eq!(obstacle(&"f32[8,128]{0,1}".parse()?), None);
/// let reason = obstacle(&"f32[8,128]{1,0:T(8,128)}".parse()?);
/// assert_eq!(reason.as_deref(), Some("a custom call on CPU carries no tiled layouts"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn obstacle(shape: &ArrayShape) -> Option<String> {
    Some(match find_obstacle(shape)? {
        Obstacle::Form(reason) => reason.to_owned(),
        Obstacle::Bits(bits) => format!("a custom call on CPU carries elements of {bits} bits: write E({bits})"),
    })
}

/// The reason why a custom call cannot carry a shape.
enum Obstacle {
    Form(&'static str),
    /// A custom call needs this number of bits for each element, and the array has another number in memory.
    Bits(u64),
}

/// Whether a custom call of XLA's CPU backend can carry an array of this shape.
pub(crate) const fn is_possible(shape: &ArrayShape) -> bool {
    find_obstacle(shape).is_none()
}

const fn find_obstacle(shape: &ArrayShape) -> Option<Obstacle> {
    let layout = shape.layout();
    let bits = shape.element_type().packed_bits();
    if !layout.tiles().is_empty() {
        return Some(Obstacle::Form("a custom call on CPU carries no tiled layouts"));
    }
    let mut rest = LayoutAttribute::NUMBERS;
    while let [attribute, others @ ..] = rest {
        let is_default = match (layout.number(*attribute), attribute.default_number()) {
            (Some(number), Some(default)) => number == default,
            _ => true,
        };
        let reason = match attribute.effect() {
            Some(AttributeEffect::Place) => "a custom call on CPU has one memory space only",
            Some(AttributeEffect::Prefix) => "a custom call on CPU carries no arrays with a prefix",
            Some(AttributeEffect::End) => "a custom call on CPU carries no padding",
            // Element bits are compared below, as `element_bits` of the shape.
            Some(AttributeEffect::ElementBits | AttributeEffect::Nothing) | None => "",
        };
        if !is_default && !reason.is_empty() {
            return Some(Obstacle::Form(reason));
        }
        rest = others;
    }
    Some(if !layout.split_configs().is_empty() {
        Obstacle::Form("a custom call carries no split arrays")
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

impl Description {
    /// The description as JSON, with the name of the parameter; `python/xla_shape_ffi.py` reads it.
    ///
    /// ```
    /// use xla_shape_ffi::{Description, Role, Wants};
    ///
    /// let json = Description::new(Role::Attribute, Wants::Scalar("f32")).to_json("eps");
    /// assert_eq!((&json["name"], &json["wants"]["scalar"]), (&"eps".into(), &"f32".into()));
    /// ```
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
