//! The types that parameters of kernels may have.
//!
//! A new kind is a `Parameter` here, read from the call in `call.rs` and `frame.rs`, written as JSON in `signature.rs`, and made into an argument
//! by `python/xla_shape_ffi.py`. Add a kernel with such a parameter to `examples/jax`.

use crate::call::{Argument, Call};
use crate::error::Error;
use crate::frame::RawAttribute;
use crate::kernel::ExpectedParameter;
use crate::signature::{Description, Role, Wants, is_possible, sizes_text};
use serde_json::{Value, json};
use std::fmt;
use std::ops::{Deref, DerefMut};
use xla_shape::buffer::{Bytes, WholeShape};
use xla_shape::{Buffer, ElementType, View, ViewMut};
#[cfg(doc)]
use xla_shape::{DynView, DynViewMut};

/// The types that parameters of a kernel may have. The crate implements it for all types below; you need not call it.
///
/// | type | the part of a call that it stands for |
/// |---|---|
/// | [`View<S>`](View), [`DynView`] | the next operand |
/// | `Vec` of those | any number of operands |
/// | [`ViewMut<S>`](ViewMut), [`DynViewMut`] | the next result |
/// | [`InPlace<S>`](InPlace) | the next operand and the next result in one |
/// | `bool`, `i8` … `i64`, `u8` … `u64`, `f32`, `f64` | the attribute with the parameter's name |
/// | `&str` | that attribute, a text |
/// | `Vec` of numbers | that attribute, an array |
/// | `Option` of one of the last three | that attribute, which a call may leave out |
/// | `threads::ThreadPool` (feature `threads`) | none: XLA's thread pool |
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a parameter of a kernel",
    label = "expected `View`, `ViewMut`, `DynView`, `DynViewMut`, `InPlace`, a number, `&str`, a `Vec` of numbers, an `Option` of these, or `ThreadPool`"
)]
pub trait Parameter<'a>: Sized {
    /// The part of a call that the parameter stands for: an operand, a result, an attribute, …
    const ROLE: Role;

    /// Whether it takes any number of operands.
    const IS_VARIADIC: bool = false;

    /// For an array, the name of each size, or `None` where it has no name; otherwise empty.
    const SIZES: &'static [Option<&'static str>] = &[];

    /// What a call must pass for it.
    ///
    /// ```
    /// use xla_shape_ffi::{Parameter, Role};
    ///
    /// assert_eq!(<&str>::describe().role, Role::Attribute);
    /// assert!(Option::<f32>::describe().is_optional);
    /// ```
    #[must_use]
    fn describe() -> Description;

    /// Takes the value from a call. [`kernel!`](crate::kernel) calls it for each parameter, in order.
    ///
    /// # Errors
    /// If the call has no value for this parameter, or one of another type, rank or size.
    fn take(call: &mut Call<'a>, expected: &'static ExpectedParameter) -> Result<Self, Error>;
}

/// The types of attributes: numbers, `&str`, and lists of numbers.
///
/// ```
/// use xla_shape_ffi::{Attribute, Wants};
///
/// fn element_type<'a, A: Attribute<'a>>() -> &'static str {
///     match A::WANTS {
///         Wants::Scalar(name) | Wants::Values(name) => name,
///         _ => "text",
///     }
/// }
///
/// assert_eq!([element_type::<f32>(), element_type::<Vec<i64>>(), element_type::<&str>()], ["f32", "s64", "text"]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be left out of a call",
    label = "expected a number, `&str` or a `Vec` of numbers: only attributes have defaults, or are `Option`s"
)]
pub trait Attribute<'a>: Parameter<'a> {
    /// The type of value that a call must pass.
    const WANTS: Wants;

    /// The value; `None` if the attribute has another type, an error if its value is invalid.
    #[doc(hidden)]
    fn read(value: RawAttribute<'a>) -> Option<Result<Self, &'static str>>;

    /// The value in JSON; infinities and NaN are strings.
    #[doc(hidden)]
    #[must_use]
    fn to_json(&self) -> Value;
}

/// An operand and a result in one: the memory holds the operand's values when the kernel starts, and the result when it returns.
///
/// The Python module declares the two as aliases (`input_output_aliases`). XLA then passes the same memory for both, and copies the
/// operand beforehand if the program still needs it. If a call does not declare the aliases, the operand is first copied to the result.
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
/// #     // SAFETY: the slice covers exactly the memory of `values`, which stays borrowed; any bytes are valid as `f32`.
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

/// The argument's shape as a value of type `S`, or an error if the type does not accept it.
#[inline(always)]
fn argument_shape<'a, S: WholeShape>(
    call: &Call<'a>,
    argument: &Argument<'a>,
    expected: &'static ExpectedParameter,
) -> Result<S, Error> {
    // A shape at run time takes any element type and sizes, row-major.
    if const { S::TYPE.is_none() } {
        let shape = call.row_major(argument)?;
        return S::try_from_shape(&shape).map_err(|error| call.refuse(argument, error));
    }
    if !const { matches!(S::TYPE, Some(shape) if is_possible(shape)) } {
        return Err(call.impossible::<S>(argument));
    }
    // The layout is not compared: the custom call declares it, and XLA passes the array in it.
    let is_type = argument.type_number() == const { type_number::<S>() };
    let Some(found) = shape_with_sizes(argument.sizes()).filter(|_| is_type) else {
        return Err(differs::<S>(call, argument));
    };
    call.compare_sizes::<S>(argument, expected)?;
    Ok(found)
}

/// The shape of type `S` with these sizes; `None` if the type has other sizes or another rank.
#[inline(always)]
fn shape_with_sizes<S: WholeShape>(sizes: &[i64]) -> Option<S> {
    let mut converted = [0; ExpectedParameter::MAX_SIZES];
    let converted = &mut converted[..const { S::NAMES.len() }];
    if sizes.len() != converted.len() {
        return None;
    }
    for i in 0..sizes.len() {
        converted[i] = usize::try_from(sizes[i]).ok()?;
    }
    S::try_from_sizes(converted).ok()
}

/// The number of the shape's element type in `xla/xla_data.proto`, `PrimitiveType`.
const fn type_number<S: WholeShape>() -> i32 {
    match S::TYPE {
        Some(shape) => shape.element_type().proto_number(),
        None => 0,
    }
}

#[cold]
fn differs<'a, S: WholeShape>(call: &Call<'a>, argument: &Argument<'a>) -> Error {
    call.mismatch(argument, &sizes_text::<S>())
}

/// The description of a parameter that is an array of shape `S`.
fn array<S: WholeShape>(role: Role) -> Description {
    let wants = S::TYPE.map_or(Wants::AnyArray, |shape| Wants::Array(Box::new(shape.clone())));
    let mut description = Description::new(role, wants);
    description.names = S::NAMES;
    description
}

/// The size in bytes of an array of this shape.
#[inline(always)]
fn byte_len<S: WholeShape>(call: &Call<'_>, argument: &Argument<'_>, shape: &S) -> Result<usize, Error> {
    shape.bytes().map_err(|_| too_long(call, argument))
}

#[cold]
fn too_long(call: &Call<'_>, argument: &Argument<'_>) -> Error {
    call.error(format_args!("{argument}: expected an array of fewer bytes"))
}

/// The view of these bytes as an array of this shape.
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
fn take_operand<'a, S: WholeShape>(
    call: &mut Call<'a>,
    expected: &'static ExpectedParameter,
) -> Result<View<'a, S>, Error> {
    let argument = call.next_operand()?;
    let shape = argument_shape::<S>(call, &argument, expected)?;
    let len = byte_len(call, &argument, &shape)?;
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
    fn take(call: &mut Call<'a>, expected: &'static ExpectedParameter) -> Result<Self, Error> {
        take_operand(call, expected)
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

    fn take(call: &mut Call<'a>, expected: &'static ExpectedParameter) -> Result<Self, Error> {
        let count = call.variadic_operands();
        let mut views = Self::new();
        let no_memory = |_| Error::internal(format!("{}: not enough memory for {count} operands", expected.name));
        views.try_reserve_exact(count).map_err(no_memory)?;
        for _ in 0..count {
            views.push(take_operand(call, expected)?);
        }
        Ok(views)
    }
}

impl<'a, S: WholeShape> Parameter<'a> for ViewMut<'a, S> {
    const ROLE: Role = Role::Result;
    const SIZES: &'static [Option<&'static str>] = S::NAMES;

    fn describe() -> Description {
        array::<S>(Self::ROLE)
    }

    #[inline(always)]
    fn take(call: &mut Call<'a>, expected: &'static ExpectedParameter) -> Result<Self, Error> {
        let argument = call.next_result()?;
        let shape = argument_shape::<S>(call, &argument, expected)?;
        let len = byte_len(call, &argument, &shape)?;
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

    fn take(call: &mut Call<'a>, expected: &'static ExpectedParameter) -> Result<Self, Error> {
        // The operand and the result must each fit `S`. Where `S` leaves sizes or the element type open, those of both must be equal.
        let operand = call.next_operand()?;
        argument_shape::<S>(call, &operand, expected)?;
        let result = call.next_result()?;
        let shape = argument_shape::<S>(call, &result, expected)?;
        if operand.sizes() != result.sizes() || operand.type_number() != result.type_number() {
            return Err(call.mismatch(&result, &operand.to_string()));
        }
        let len = byte_len(call, &result, &shape)?;
        let bytes = call.write_in_place(&operand, &result, len)?;
        buffer(call, &result, shape, bytes).map(Self)
    }
}

/// The attribute has another type, or the call does not have it (`found` is `None`).
#[cold]
fn attribute_differs(call: &Call<'_>, name: &str, wants: &Wants, found: Option<RawAttribute<'_>>) -> Error {
    let expected = match wants {
        Wants::Scalar(element_type) => format!("a number of type {element_type}"),
        Wants::Values(element_type) => format!("numbers of type {element_type}"),
        _ => "a text".to_owned(),
    };
    let found = found.map_or_else(|| "none".to_owned(), RawAttribute::describe);
    call.error(format_args!("attribute '{name}': this kernel takes {expected}, the call has {found}"))
}

/// The attribute of this parameter; `None` if the call leaves it out.
#[doc(hidden)]
#[inline(always)]
pub fn take_optional<'a, A: Attribute<'a>>(
    call: &Call<'a>,
    expected: &'static ExpectedParameter,
) -> Result<Option<A>, Error> {
    let Some(found) = call.attribute(expected)? else { return Ok(None) };
    match A::read(found) {
        Some(Ok(value)) => Ok(Some(value)),
        Some(Err(problem)) => Err(attribute_is_wrong(call, expected.name, problem)),
        None => Err(attribute_differs(call, expected.name, &A::WANTS, Some(found))),
    }
}

#[cold]
fn attribute_is_wrong(call: &Call<'_>, name: &str, problem: &str) -> Error {
    call.error(format_args!("attribute '{name}': {problem}"))
}

/// The attribute of this parameter, which the call must have.
#[inline(always)]
fn take<'a, A: Attribute<'a>>(call: &Call<'a>, expected: &'static ExpectedParameter) -> Result<A, Error> {
    match take_optional(call, expected)? {
        Some(value) => Ok(value),
        None => Err(attribute_differs(call, expected.name, &A::WANTS, None)),
    }
}

/// The description of a parameter with a default.
#[doc(hidden)]
pub fn describe_default<'a, A: Attribute<'a>>(default: &A) -> Description {
    A::describe().optional(Some(default.to_json()))
}

impl<'a, A: Attribute<'a>> Parameter<'a> for Option<A> {
    const ROLE: Role = Role::Attribute;

    fn describe() -> Description {
        A::describe().optional(None)
    }

    fn take(call: &mut Call<'a>, expected: &'static ExpectedParameter) -> Result<Self, Error> {
        take_optional(call, expected)
    }
}

/// Implements `Parameter` and `Attribute` for a type of attributes.
macro_rules! attribute {
    ($type:ty, $wants:expr, |$value:ident| $read:expr, |$this:ident| $json:expr) => {
        impl<'a> Parameter<'a> for $type {
            const ROLE: Role = Role::Attribute;

            fn describe() -> Description {
                Description::new(Self::ROLE, Self::WANTS)
            }

            #[inline(always)]
            fn take(call: &mut Call<'a>, expected: &'static ExpectedParameter) -> Result<Self, Error> {
                take(call, expected)
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
            found.map(|bytes| collect_numbers(bytes.as_chunks().0.iter().map(|&$bytes| $read)))
        }, |this| this.iter().map(|&$value| $json).collect());
    )* };
}

/// The numbers of an attribute as a `Vec`. The program chooses how many there are, so allocation may fail.
fn collect_numbers<T>(numbers: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>, &'static str> {
    let mut list = Vec::new();
    list.try_reserve_exact(numbers.len()).map_err(|_| "not enough memory for the list")?;
    list.extend(numbers);
    Ok(list)
}

/// A number in JSON, which has finite numbers only: infinities and NaN become strings.
fn float(value: f64) -> Value {
    if value.is_finite() { json!(value) } else { json!(value.to_string()) }
}

// XLA's attributes cannot be lists of `pred`: the Python module passes them as lists of `u8`.
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
    |value| value
        .text()
        .map(|text| std::str::from_utf8(text).map_err(|_| "expected UTF-8 text, found bytes that are not")),
    |this| json!(this)
);
