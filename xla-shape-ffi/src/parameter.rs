//! What the parameters of a kernel may be.

use crate::call::{Argument, Call};
use crate::error::Error;
use crate::frame::RawAttribute;
use crate::signature::{Description, Role, Wants, obstacle};
use xla_shape::buffer::WholeShape;
#[cfg(doc)]
use xla_shape::{DynView, DynViewMut};
use xla_shape::{ElementType, View, ViewMut};

/// A parameter of a kernel: how it is taken from a call.
///
/// | type | what it is to the call |
/// |---|---|
/// | [`View<S>`](View), [`DynView`] | the next operand |
/// | [`ViewMut<S>`](ViewMut), [`DynViewMut`] | the next result |
/// | `bool`, `i8` … `i64`, `u8` … `u64`, `f32`, `f64` | the attribute of the parameter's name |
/// | `&str` | the same, a text |
/// | `Vec` of numbers | the same, an array |
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no parameter of a kernel",
    label = "expected `View`, `ViewMut`, `DynView`, `DynViewMut`, a number, `&str` or a `Vec` of numbers"
)]
pub trait Parameter<'a>: Sized {
    /// What it is to the call.
    const ROLE: Role;

    /// What a call must bring.
    #[must_use]
    fn describe() -> Description;

    /// Takes it from a call.
    ///
    /// # Errors
    /// If the call has none, or another one.
    fn take(call: &mut Call<'a>, name: &str) -> Result<Self, Error>;
}

/// The shape of type `S` that an argument has.
fn shape_of<S: WholeShape>(argument: &Argument<'_>) -> Result<S, Error> {
    let Some(shape) = S::TYPE else {
        return S::of(&argument.row_major()?).map_err(|error| argument.refuse(error));
    };
    let text = || shape.to_string();
    if let Some(obstacle) = obstacle(shape) {
        return Err(argument.impossible(&text(), &obstacle));
    }
    if argument.element_type() != shape.element_type() {
        return Err(argument.differs(&text()));
    }
    S::of_sizes(argument.sizes()).map_err(|_| argument.differs(&text()))
}

/// What a view of this shape takes.
fn wants<S: WholeShape>() -> Wants {
    S::TYPE.map_or(Wants::AnyArray, |shape| Wants::Array(Box::new(shape.clone())))
}

impl<'a, S: WholeShape> Parameter<'a> for View<'a, S> {
    const ROLE: Role = Role::Operand;

    fn describe() -> Description {
        Description { role: Self::ROLE, wants: wants::<S>() }
    }

    fn take(call: &mut Call<'a>, _: &str) -> Result<Self, Error> {
        let argument = call.next_operand()?;
        let shape = shape_of::<S>(&argument)?;
        let len = shape.bytes().map_err(|_| argument.refuse("expected an array of fewer bytes"))?;
        let bytes = call.read(&argument, len)?;
        shape.buffer(bytes).map_err(|error| argument.refuse(error))
    }
}

impl<'a, S: WholeShape> Parameter<'a> for ViewMut<'a, S> {
    const ROLE: Role = Role::Result;

    fn describe() -> Description {
        Description { role: Self::ROLE, wants: wants::<S>() }
    }

    fn take(call: &mut Call<'a>, _: &str) -> Result<Self, Error> {
        let argument = call.next_result()?;
        let shape = shape_of::<S>(&argument)?;
        let len = shape.bytes().map_err(|_| argument.refuse("expected an array of fewer bytes"))?;
        let bytes = call.write(&argument, len)?;
        shape.buffer(bytes).map_err(|error| argument.refuse(error))
    }
}

/// The kernel takes another attribute, or there is none.
fn attribute_differs(name: &str, expected: &str, found: Option<RawAttribute<'_>>) -> Error {
    let found = match found {
        None => "none".to_owned(),
        Some(RawAttribute::Scalar(element_type, _)) => format!("a number of type {element_type}"),
        Some(RawAttribute::Array(element_type, _)) => format!("numbers of type {element_type}"),
        Some(RawAttribute::Text(_)) => "a text".to_owned(),
        Some(RawAttribute::Other(what)) => what.to_owned(),
    };
    Error::invalid_argument(format!("attribute {name:?}: this kernel takes {expected}, the call has {found}"))
}

macro_rules! numbers {
    ($($number:ty, $element_type:ident $(or $other:ident)?, $text:literal, |$bytes:ident| $read:expr;)*) => { $(
        impl<'a> Parameter<'a> for $number {
            const ROLE: Role = Role::Attribute;

            fn describe() -> Description {
                Description { role: Self::ROLE, wants: Wants::Scalar($text) }
            }

            fn take(call: &mut Call<'a>, name: &str) -> Result<Self, Error> {
                match call.attribute(name) {
                    Some(RawAttribute::Scalar(ElementType::$element_type, bytes)) => Ok(read_one(bytes, |$bytes| $read)),
                    found => Err(attribute_differs(name, concat!("a number of type ", $text), found)),
                }
            }
        }

        impl<'a> Parameter<'a> for Vec<$number> {
            const ROLE: Role = Role::Attribute;

            fn describe() -> Description {
                Description { role: Self::ROLE, wants: Wants::Values($text) }
            }

            fn take(call: &mut Call<'a>, name: &str) -> Result<Self, Error> {
                match call.attribute(name) {
                    Some(RawAttribute::Array(ElementType::$element_type $(| ElementType::$other)?, bytes)) => {
                        Ok(bytes.chunks_exact(size_of::<$number>()).map(|bytes| read_one(bytes, |$bytes| $read)).collect())
                    }
                    found => Err(attribute_differs(name, concat!("numbers of type ", $text), found)),
                }
            }
        }
    )* };
}

/// A number of so many bytes.
fn read_one<const N: usize, T>(bytes: &[u8], read: impl FnOnce([u8; N]) -> T) -> T {
    let mut copy = [0; N];
    copy.copy_from_slice(bytes);
    read(copy)
}

// XLA's attributes have no lists of `pred`: those come as bytes.
numbers! {
    bool, Pred or U8, "pred", |bytes| bytes != [0];
    i8, S8, "s8", |bytes| i8::from_le_bytes(bytes);
    i16, S16, "s16", |bytes| i16::from_le_bytes(bytes);
    i32, S32, "s32", |bytes| i32::from_le_bytes(bytes);
    i64, S64, "s64", |bytes| i64::from_le_bytes(bytes);
    u8, U8, "u8", |bytes| u8::from_le_bytes(bytes);
    u16, U16, "u16", |bytes| u16::from_le_bytes(bytes);
    u32, U32, "u32", |bytes| u32::from_le_bytes(bytes);
    u64, U64, "u64", |bytes| u64::from_le_bytes(bytes);
    f32, F32, "f32", |bytes| f32::from_le_bytes(bytes);
    f64, F64, "f64", |bytes| f64::from_le_bytes(bytes);
}

impl<'a> Parameter<'a> for &'a str {
    const ROLE: Role = Role::Attribute;

    fn describe() -> Description {
        Description { role: Self::ROLE, wants: Wants::Text }
    }

    fn take(call: &mut Call<'a>, name: &str) -> Result<Self, Error> {
        match call.attribute(name) {
            Some(RawAttribute::Text(text)) => std::str::from_utf8(text).map_err(|_| {
                Error::invalid_argument(format!("attribute {name:?}: expected text of UTF-8, found other bytes"))
            }),
            found => Err(attribute_differs(name, "a text", found)),
        }
    }
}
