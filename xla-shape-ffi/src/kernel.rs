//! From functions to what a library exports.

use crate::abi::Handler;
use crate::signature::Description;
use serde_json::{Value, json};
use std::ffi::CString;

/// A function that XLA can call. Made by [`kernel!`](crate::kernel).
pub trait Kernel {
    /// The name of the function.
    const NAME: &'static str;
    /// What XLA calls.
    const HANDLER: Handler;

    /// The parameters: their names and what a call must bring for them.
    #[must_use]
    fn signature() -> Vec<(&'static str, Description)>;
}

/// The name of a parameter that is written as this pattern.
#[doc(hidden)]
#[must_use]
pub const fn name(pattern: &'static str) -> &'static str {
    without(without(pattern, "mut "), "r#")
}

/// The text without what it may begin with.
const fn without(text: &'static str, prefix: &str) -> &'static str {
    match text.split_at_checked(prefix.len()) {
        Some((start, rest)) if is_same(start.as_bytes(), prefix.as_bytes()) => rest,
        _ => text,
    }
}

/// Whether no two of these names are the same.
#[doc(hidden)]
#[must_use]
pub const fn are_distinct(mut names: &[&str]) -> bool {
    while let [name, rest @ ..] = names {
        let mut others = rest;
        while let [other, rest @ ..] = others {
            if is_same(name.as_bytes(), other.as_bytes()) {
                return false;
            }
            others = rest;
        }
        names = rest;
    }
    true
}

const fn is_same(mut one: &[u8], mut other: &[u8]) -> bool {
    while let ([a, one_rest @ ..], [b, other_rest @ ..]) = (one, other) {
        if *a != *b {
            return false;
        }
        (one, other) = (one_rest, other_rest);
    }
    one.is_empty() && other.is_empty()
}

/// The signature of a kernel as JSON.
#[doc(hidden)]
#[must_use]
pub fn signature<K: Kernel>() -> Value {
    let parameters = K::signature();
    let parameters: Vec<_> = parameters.iter().map(|(name, description)| description.to_json(name)).collect();
    json!({ "name": K::NAME, "parameters": parameters })
}

/// All of them, as text for C.
#[doc(hidden)]
#[must_use]
pub fn signatures(kernels: Vec<Value>) -> CString {
    // JSON writes 0 as an escape.
    CString::new(Value::Array(kernels).to_string()).unwrap_or_default()
}

/// Makes functions that XLA can call.
///
/// A function stays what it is, and a type of its name implements [`Kernel`]. Its parameters are what
/// [`Parameter`](crate::Parameter) says: views are operands and results, in their order; numbers, texts and lists are attributes, by their
/// names. It returns nothing or a `Result` whose error becomes an [`Error`](crate::Error). Attributes such as documentation are
/// the function's.
///
/// A panic becomes an error where panics unwind: not in a program that is built with `panic = "abort"`, which it ends.
///
/// ```
/// use xla_shape::{DynView, DynViewMut};
/// use xla_shape::element::F32;
/// use xla_shape_ffi::{Error, Kernel};
///
/// xla_shape_ffi::kernel! {
///     /// Takes arrays of any shape.
///     fn negate(x: DynView<'_>, mut y: DynViewMut<'_>) -> Result<(), Error> {
///         if x.shape() != y.shape() {
///             return Err(Error::invalid_argument("expected a result like the operand"));
///         }
///         y.fill_with::<F32>(|index| -x.get::<F32>(index).unwrap_or_default())?;
///         Ok(())
///     }
/// }
/// assert_eq!(negate::NAME, "negate");
/// assert_eq!(negate::signature().len(), 2);
/// ```
#[macro_export]
macro_rules! kernel {
    // A parameter's first token as it stands in the source, so that what the compiler says of it, such as that it should be `mut`,
    // is said there.
    ($(
        $(#[$attribute:meta])*
        $visibility:vis fn $name:ident($($parameter:tt $($name_if_mut:ident)? : $type:ty),* $(,)?) $(-> $result:ty)? $body:block
    )+) => { $(
        $(#[$attribute])*
        #[allow(clippy::type_complexity, reason = "what `shape!` makes is written in one line")]
        $visibility fn $name($($parameter $($name_if_mut)?: $type),*) $(-> $result)? $body

        #[doc = concat!("The handler of the function `", stringify!($name), "`.")]
        #[allow(non_camel_case_types, reason = "a type beside the function of the same name")]
        $visibility enum $name {}

        #[allow(clippy::type_complexity, reason = "as above")]
        impl $crate::Kernel for $name {
            const NAME: &'static str = $crate::__private::name(stringify!($name));

            const HANDLER: $crate::Handler = {
                unsafe extern "C" fn handler(frame: *mut $crate::CallFrame) -> *mut $crate::XlaError {
                    let kernel = |call: &mut $crate::Call<'_>| {
                        call.expect(&[$((
                            <$type as $crate::Parameter<'_>>::ROLE,
                            $crate::__private::name(stringify!($parameter $($name_if_mut)?)),
                        )),*])?;
                        ::core::result::Result::Ok($name($(<$type as $crate::Parameter<'_>>::take(
                            call,
                            $crate::__private::name(stringify!($parameter $($name_if_mut)?)),
                        )?),*))
                    };
                    // SAFETY: only XLA calls handlers, and passes them a frame.
                    unsafe { $crate::__private::handle(frame, kernel) }
                }
                handler
            };

            fn signature() -> ::std::vec::Vec<(&'static str, $crate::Description)> {
                ::std::vec![$((
                    $crate::__private::name(stringify!($parameter $($name_if_mut)?)),
                    <$type as $crate::Parameter<'_>>::describe(),
                )),*]
            }
        }
    )+ };
    ($($other:tt)*) => {
        ::core::compile_error! {
            "expected kernels, `fn name(parameter: Type, …) -> Result<(), Error> { … }`, each parameter a name, without generics"
        }
    };
}

/// Exports kernels from a library (`crate-type = ["cdylib"]`), for `python/xla_shape_ffi.py` to load. Once in a library.
///
/// Two functions are exported: `xla_shape_ffi_signatures`, which gives a JSON array of all signatures as a C string, and
/// `xla_shape_ffi_handler`, which gives the handler of the kernel with this number in that array, or null.
#[macro_export]
macro_rules! export {
    [$($kernel:path),+ $(,)?] => {
        const _: () = assert!(
            $crate::__private::are_distinct(&[$(<$kernel as $crate::Kernel>::NAME),+]),
            "two kernels of a library have the same name",
        );

        /// The signatures of the kernels, as JSON.
        #[unsafe(no_mangle)]
        pub extern "C" fn xla_shape_ffi_signatures() -> *const ::std::ffi::c_char {
            static SIGNATURES: $crate::__private::LazyLock<::std::ffi::CString> = $crate::__private::LazyLock::new(|| {
                $crate::__private::signatures(::std::vec![$($crate::__private::signature::<$kernel>()),+])
            });
            SIGNATURES.as_ptr()
        }

        /// What XLA calls for the kernel of this number.
        #[unsafe(no_mangle)]
        pub extern "C" fn xla_shape_ffi_handler(number: usize) -> ::core::option::Option<$crate::Handler> {
            [$(<$kernel as $crate::Kernel>::HANDLER),+].get(number).copied()
        }
    };
}
