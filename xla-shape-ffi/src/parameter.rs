//! What the parameters of a kernel may be.

use crate::call::{Argument, Call};
use crate::error::Error;
use crate::frame::RawAttribute;
use crate::kernel::Known;
use crate::signature::{Description, Role, Wants, is_possible, text_of};
use serde_json::{Value, json};
use std::fmt;
use std::ops::{Deref, DerefMut};
use xla_shape::buffer::{Bytes, WholeShape};
use xla_shape::{Buffer, ElementType, View, ViewMut};
#[cfg(doc)]
use xla_shape::{DynView, DynViewMut};

/// A parameter of a kernel: how it is taken from a call.
///
/// | type | what it is to the call |
/// |---|---|
/// | [`View<S>`](View), [`DynView`] | the next operand |
/// | `Vec` of those | any number of operands |
/// | [`ViewMut<S>`](ViewMut), [`DynViewMut`] | the next result |
/// | [`InPlace<S>`](InPlace) | the next operand and the next result in one |
/// | `bool`, `i8` … `i64`, `u8` … `u64`, `f32`, `f64` | the attribute of the parameter's name |
/// | `&str` | the same, a text |
/// | `Vec` of numbers | the same, an array |
/// | `Option` of those three | the same, which a call may leave out |
/// | `threads::ThreadPool` (feature `threads`) | XLA's threads: nothing that a call brings |
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a parameter of a kernel",
    label = "expected `View`, `ViewMut`, `DynView`, `DynViewMut`, `InPlace`, a number, `&str`, a `Vec` of numbers, an `Option` of these, or `ThreadPool`"
)]
pub trait Parameter<'a>: Sized {
    /// What it is to the call.
    const ROLE: Role;

    /// Whether it takes any number of operands.
    const IS_VARIADIC: bool = false;

    /// The names of the array's sizes, where they have some.
    const SIZES: &'static [Option<&'static str>] = &[];

    /// What a call must bring.
    #[must_use]
    fn describe() -> Description;

    /// Takes it from a call.
    ///
    /// # Errors
    /// If the call has none, or another one.
    fn take(call: &mut Call<'a>, known: &'static Known) -> Result<Self, Error>;
}

/// What may be an attribute: a number, a text, or a list of numbers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be left out of a call",
    label = "expected a number, `&str` or a `Vec` of numbers: only attributes have defaults, or are `Option`s"
)]
pub trait Attribute<'a>: Parameter<'a> {
    /// What a call brings.
    const WANTS: Wants;

    /// The value; `None` if it is of another type.
    #[doc(hidden)]
    fn read(value: RawAttribute<'a>) -> Option<Result<Self, &'static str>>;

    /// The value in JSON; infinities and NaN are texts.
    #[doc(hidden)]
    #[must_use]
    fn to_json(&self) -> Value;
}

/// An operand and a result in one: the kernel finds the operand's values, and what it leaves there is the result.
///
/// XLA is told that the two share their memory, and copies the operand before the call if the program still needs it.
/// A call that does not say so gets a copy.
///
/// ```
/// use xla_shape::shape;
/// use xla_shape_ffi::InPlace;
///
/// xla_shape_ffi::kernel! {
///     fn add_one(mut x: InPlace<'_, shape!(f32[n])>) {
///         x.apply(|x| x + 1.0);
///     }
/// }
/// let mut values = [1.0, 2.0];
/// # use xla_shape::{ViewMut, types::Array};
/// # type Two = shape!(f32[n]);
/// # let view = ViewMut::<Two>::from_parts(Two::with_sizes([2])?, bytes_of(&mut values))?;
/// add_one(InPlace(view));
/// assert_eq!(values, [2.0, 3.0]);
/// # fn bytes_of(values: &mut [f32]) -> &mut [u8] {
/// #     // SAFETY: floats are bytes, and any bytes are floats.
/// #     unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), 4 * values.len()) }
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct InPlace<'a, S>(pub ViewMut<'a, S>);

impl<'a, S> Deref for InPlace<'a, S> {
    type Target = ViewMut<'a, S>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<S> DerefMut for InPlace<'_, S> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<'a, S> fmt::Debug for InPlace<'a, S>
where
    ViewMut<'a, S>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InPlace").field(&self.0).finish()
    }
}

/// The shape of type `S` that an argument has.
#[inline(always)]
fn shape_of<'a, S: WholeShape>(call: &Call<'a>, argument: &Argument<'a>, known: &'static Known) -> Result<S, Error> {
    if const { S::TYPE.is_none() } {
        let shape = call.row_major(argument)?;
        return S::of(&shape).map_err(|error| call.refuse(argument, error));
    }
    if !const { matches!(S::TYPE, Some(shape) if is_possible(shape)) } {
        return Err(call.impossible::<S>(argument));
    }
    let is_type = argument.type_number() == const { type_number::<S>() };
    let Some(found) = of_sizes(argument.sizes()).filter(|_| is_type) else {
        return Err(differs::<S>(call, argument));
    };
    call.compare_sizes::<S>(argument, known)?;
    Ok(found)
}

/// The shape of these sizes; `None` if the type cannot have them.
#[inline(always)]
fn of_sizes<S: WholeShape>(sizes: &[i64]) -> Option<S> {
    let mut converted = [0; Known::MOST_SIZES];
    let converted = &mut converted[..const { S::NAMES.len() }];
    if sizes.len() != converted.len() {
        return None;
    }
    for i in 0..sizes.len() {
        converted[i] = usize::try_from(sizes[i]).ok()?;
    }
    S::of_sizes(converted).ok()
}

/// The number of the type's element type in XLA's schema.
const fn type_number<S: WholeShape>() -> i32 {
    match S::TYPE {
        Some(shape) => shape.element_type().proto_number(),
        None => 0,
    }
}

#[cold]
fn differs<'a, S: WholeShape>(call: &Call<'a>, argument: &Argument<'a>) -> Error {
    call.differs(argument, &text_of::<S>())
}

/// A parameter that is an array of shape `S`.
fn array<S: WholeShape>(role: Role) -> Description {
    let wants = S::TYPE.map_or(Wants::AnyArray, |shape| Wants::Array(Box::new(shape.clone())));
    let mut description = Description::new(role, wants);
    description.names = S::NAMES;
    description
}

/// The bytes of an array.
#[inline(always)]
fn len_of<S: WholeShape>(call: &Call<'_>, argument: &Argument<'_>, shape: &S) -> Result<usize, Error> {
    shape.bytes().map_err(|_| too_long(call, argument))
}

#[cold]
fn too_long(call: &Call<'_>, argument: &Argument<'_>) -> Error {
    call.error(format_args!("{argument}: expected an array of fewer bytes"))
}

/// The array of this shape in these bytes.
#[inline(always)]
fn buffer<'a, S: WholeShape, B: Bytes>(
    call: &Call<'a>,
    argument: &Argument<'a>,
    shape: S,
    bytes: B::Parts,
) -> Result<Buffer<S, B>, Error> {
    shape.buffer(bytes).map_err(|error| call.refuse(argument, error))
}

#[inline(always)]
fn take_operand<'a, S: WholeShape>(call: &mut Call<'a>, known: &'static Known) -> Result<View<'a, S>, Error> {
    let argument = call.next_operand()?;
    let shape = shape_of::<S>(call, &argument, known)?;
    let len = len_of(call, &argument, &shape)?;
    let bytes = call.read(&argument, len)?;
    buffer(call, &argument, shape, bytes)
}

impl<'a, S: WholeShape> Parameter<'a> for View<'a, S> {
    const ROLE: Role = Role::Operand;
    const SIZES: &'static [Option<&'static str>] = S::NAMES;

    fn describe() -> Description {
        array::<S>(Self::ROLE)
    }

    #[inline(always)]
    fn take(call: &mut Call<'a>, known: &'static Known) -> Result<Self, Error> {
        take_operand(call, known)
    }
}

impl<'a, S: WholeShape> Parameter<'a> for Vec<View<'a, S>> {
    const ROLE: Role = Role::Operand;
    const IS_VARIADIC: bool = true;
    const SIZES: &'static [Option<&'static str>] = S::NAMES;

    fn describe() -> Description {
        let mut description = array::<S>(Self::ROLE);
        description.is_variadic = true;
        description
    }

    fn take(call: &mut Call<'a>, known: &'static Known) -> Result<Self, Error> {
        (0..call.variadic_operands()).map(|_| take_operand(call, known)).collect()
    }
}

impl<'a, S: WholeShape> Parameter<'a> for ViewMut<'a, S> {
    const ROLE: Role = Role::Result;
    const SIZES: &'static [Option<&'static str>] = S::NAMES;

    fn describe() -> Description {
        array::<S>(Self::ROLE)
    }

    #[inline(always)]
    fn take(call: &mut Call<'a>, known: &'static Known) -> Result<Self, Error> {
        let argument = call.next_result()?;
        let shape = shape_of::<S>(call, &argument, known)?;
        let len = len_of(call, &argument, &shape)?;
        let bytes = call.write(&argument, len)?;
        buffer(call, &argument, shape, bytes)
    }
}

impl<'a, S: WholeShape> Parameter<'a> for InPlace<'a, S> {
    const ROLE: Role = Role::InPlace;
    const SIZES: &'static [Option<&'static str>] = S::NAMES;

    fn describe() -> Description {
        array::<S>(Self::ROLE)
    }

    fn take(call: &mut Call<'a>, known: &'static Known) -> Result<Self, Error> {
        let operand = call.next_operand()?;
        shape_of::<S>(call, &operand, known)?;
        let result = call.next_result()?;
        let shape = shape_of::<S>(call, &result, known)?;
        if operand.sizes() != result.sizes() || operand.type_number() != result.type_number() {
            return Err(call.differs(&result, &operand.to_string()));
        }
        let len = len_of(call, &result, &shape)?;
        let bytes = call.write_in_place(&operand, &result, len)?;
        buffer(call, &result, shape, bytes).map(Self)
    }
}

/// The kernel takes another attribute, or there is none.
#[cold]
fn attribute_differs(call: &Call<'_>, name: &str, wants: &Wants, found: Option<RawAttribute<'_>>) -> Error {
    let expected = match wants {
        Wants::Scalar(element_type) => format!("a number of type {element_type}"),
        Wants::Values(element_type) => format!("numbers of type {element_type}"),
        _ => "a text".to_owned(),
    };
    let found = found.map_or_else(|| "none".to_owned(), RawAttribute::words);
    call.error(format_args!("attribute '{name}': this kernel takes {expected}, the call has {found}"))
}

/// The attribute of this name; `None` if the call leaves it out.
#[doc(hidden)]
#[inline(always)]
pub fn take_optional<'a, A: Attribute<'a>>(call: &Call<'a>, known: &'static Known) -> Result<Option<A>, Error> {
    let Some(found) = call.attribute(known)? else { return Ok(None) };
    match A::read(found) {
        Some(Ok(value)) => Ok(Some(value)),
        Some(Err(problem)) => Err(attribute_is_wrong(call, known.name, problem)),
        None => Err(attribute_differs(call, known.name, &A::WANTS, Some(found))),
    }
}

#[cold]
fn attribute_is_wrong(call: &Call<'_>, name: &str, problem: &str) -> Error {
    call.error(format_args!("attribute '{name}': {problem}"))
}

/// The attribute of this name.
#[inline(always)]
fn take<'a, A: Attribute<'a>>(call: &Call<'a>, known: &'static Known) -> Result<A, Error> {
    match take_optional(call, known)? {
        Some(value) => Ok(value),
        None => Err(attribute_differs(call, known.name, &A::WANTS, None)),
    }
}

/// A parameter with a default.
#[doc(hidden)]
pub fn describe_default<'a, A: Attribute<'a>>(default: &A) -> Description {
    A::describe().optional(Some(default.to_json()))
}

impl<'a, A: Attribute<'a>> Parameter<'a> for Option<A> {
    const ROLE: Role = Role::Attribute;

    fn describe() -> Description {
        A::describe().optional(None)
    }

    fn take(call: &mut Call<'a>, known: &'static Known) -> Result<Self, Error> {
        take_optional(call, known)
    }
}

/// An attribute of this type.
macro_rules! attribute {
    ($type:ty, $wants:expr, |$value:ident| $read:expr, |$this:ident| $json:expr) => {
        impl<'a> Parameter<'a> for $type {
            const ROLE: Role = Role::Attribute;

            fn describe() -> Description {
                Description::new(Self::ROLE, Self::WANTS)
            }

            #[inline(always)]
            fn take(call: &mut Call<'a>, known: &'static Known) -> Result<Self, Error> {
                take(call, known)
            }
        }

        impl<'a> Attribute<'a> for $type {
            const WANTS: Wants = $wants;

            #[inline(always)]
            fn read($value: RawAttribute<'a>) -> Option<Result<Self, &'static str>> {
                $read
            }

            fn to_json(&self) -> Value {
                let $this = self;
                $json
            }
        }
    };
}

macro_rules! numbers {
    ($($number:ty, $element_type:ident $(or $other:ident)?, $text:literal, |$bytes:ident| $read:expr, |$value:ident| $json:expr;)*) => { $(
        attribute!($number, Wants::Scalar($text), |value| {
            value.scalar(ElementType::$element_type).map(|$bytes| Ok($read))
        }, |this| { let $value = *this; $json });

        attribute!(Vec<$number>, Wants::Values($text), |value| {
            let found = value.values(ElementType::$element_type) $(.or_else(|| value.values(ElementType::$other)))?;
            found.map(|bytes| Ok(bytes.as_chunks().0.iter().map(|&$bytes| $read).collect()))
        }, |this| this.iter().map(|&$value| $json).collect());
    )* };
}

/// JSON has finite numbers only.
fn float(value: f64) -> Value {
    if value.is_finite() { json!(value) } else { json!(value.to_string()) }
}

// XLA's attributes have no lists of `pred`: those come as bytes.
numbers! {
    bool, Pred or U8, "pred", |bytes| bytes != [0], |value| json!(value);
    i8, S8, "s8", |bytes| i8::from_le_bytes(bytes), |value| json!(value);
    i16, S16, "s16", |bytes| i16::from_le_bytes(bytes), |value| json!(value);
    i32, S32, "s32", |bytes| i32::from_le_bytes(bytes), |value| json!(value);
    i64, S64, "s64", |bytes| i64::from_le_bytes(bytes), |value| json!(value);
    u8, U8, "u8", |bytes| u8::from_le_bytes(bytes), |value| json!(value);
    u16, U16, "u16", |bytes| u16::from_le_bytes(bytes), |value| json!(value);
    u32, U32, "u32", |bytes| u32::from_le_bytes(bytes), |value| json!(value);
    u64, U64, "u64", |bytes| u64::from_le_bytes(bytes), |value| json!(value);
    f32, F32, "f32", |bytes| f32::from_le_bytes(bytes), |value| float(value.to_string().parse().unwrap_or_default());
    f64, F64, "f64", |bytes| f64::from_le_bytes(bytes), |value| float(value);
}

attribute!(
    &'a str,
    Wants::Text,
    |value| value.text().map(|text| std::str::from_utf8(text).map_err(|_| "expected text of UTF-8, found other bytes")),
    |this| json!(this)
);
