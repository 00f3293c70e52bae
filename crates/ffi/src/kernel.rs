//! The macros [`kernel!`](crate::kernel), which makes handlers of functions, and [`export!`](crate::export), which exports them
//! from a library.

use crate::abi::{API_MAJOR, API_MINOR, Handler};
use crate::signature::{Description, Role};
use serde_json::{Value, json};
use std::ffi::CString;
use xla_shape::text::ConstText;
use xla_shape::type_limits::MAX_LIST;

/// A function that XLA can call. [`kernel!`](crate::kernel) implements it, for a type with the name of the function.
pub trait Kernel {
    /// The name of the function.
    const NAME: &'static str;
    /// The C function that XLA calls.
    const HANDLER: Handler;
    /// The lines of the function's documentation, each with the space that follows `///`.
    const DOC: &'static [&'static str] = &[];
    /// The batch sizes: names of sizes whose indices the kernel computes independently of each other. `...` stands for dimensions
    /// added in front of those of all operands.
    const BATCH: &'static [&'static str] = &[];

    /// The parameters, in order: the name of each, and what a call must pass for it.
    ///
    /// ```
    /// use xla_shape::{View, shape};
    /// use xla_shape_ffi::{Kernel, Role};
    ///
    /// xla_shape_ffi::kernel! {
    ///     fn check(x: View<'_, shape!(f32[8])>, limit: f32 = 1.0) {}
    /// }
    /// let signature = check::signature();
    /// assert_eq!((signature[0].0, signature[0].1.role), ("x", Role::Operand));
    /// assert!(signature[1].1.is_optional);
    /// ```
    #[must_use]
    fn signature() -> Vec<(&'static str, Description)>;
}

/// A parameter as the source declares it.
#[doc(hidden)]
#[derive(Debug)]
pub struct DeclaredParameter {
    pub role: Role,
    pub name: &'static str,
    pub is_variadic: bool,
    /// The names of the sizes of an array.
    pub sizes: &'static [Option<&'static str>],
}

/// What a call must pass for one parameter. Computed when the kernel is compiled, and checked in each call.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct ExpectedParameter {
    pub(crate) role: Role,
    pub(crate) name: &'static str,
    /// The number of an attribute among all attributes, sorted by name: XLA passes them in this order.
    pub(crate) attribute: usize,
    /// For each dimension: if the name of its size has occurred before, the place of its first occurrence. The two sizes must be equal.
    pub(crate) sizes: [Option<NamedSize>; Self::MAX_SIZES],
}

/// A dimension of an operand or a result, whose size has a name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedSize {
    /// The name of the size.
    pub(crate) name: &'static str,
    pub(crate) is_result: bool,
    /// The number of the operand or result, not counting the operands of a variadic parameter.
    pub(crate) number: usize,
    /// Whether the operand comes after the variadic parameter, so that the number of its operands must be added to `number`.
    pub(crate) is_behind_variadic: bool,
    pub(crate) dimension: usize,
}

impl ExpectedParameter {
    /// The largest number of dimensions of an array in a signature.
    pub(crate) const MAX_SIZES: usize = MAX_LIST;

    const NONE: Self = Self { role: Role::Context, name: "", attribute: 0, sizes: [None; Self::MAX_SIZES] };
}

/// What each call is checked against, for each of the parameters that the source declares.
#[doc(hidden)]
#[must_use]
pub const fn expected_parameters<const N: usize>(parameters: &'static [DeclaredParameter]) -> [ExpectedParameter; N] {
    let (mut all, mut i) = ([ExpectedParameter::NONE; N], 0);
    while i < N {
        let DeclaredParameter { role, name, sizes, .. } = parameters[i];
        let (mut attribute, mut other) = (0, 0);
        while other < N {
            let is_attribute = matches!(parameters[other].role, Role::Attribute);
            if is_attribute && is_less(parameters[other].name.as_bytes(), name.as_bytes()) {
                attribute += 1;
            }
            other += 1;
        }
        all[i] = ExpectedParameter { role, name, attribute, sizes: [None; ExpectedParameter::MAX_SIZES] };
        let mut dimension = 0;
        while dimension < sizes.len() {
            if let Some(name) = sizes[dimension] {
                all[i].sizes[dimension] = match first_size(parameters, name) {
                    // The first size with this name is this one: there is nothing to compare.
                    Some((parameter, first))
                        if parameter == i && first.dimension == dimension && !parameters[i].is_variadic =>
                    {
                        None
                    }
                    Some((_, first)) => Some(first),
                    None => None,
                };
            }
            dimension += 1;
        }
        i += 1;
    }
    all
}

/// The first place where a size has this name, and the number of its parameter. A variadic parameter counts only if the name
/// occurs nowhere else, because a call may pass no operands for it.
const fn first_size(parameters: &'static [DeclaredParameter], name: &'static str) -> Option<(usize, NamedSize)> {
    let mut variadic = None;
    let (mut operands, mut results, mut is_behind_variadic) = (0, 0, false);
    let mut i = 0;
    while i < parameters.len() {
        let DeclaredParameter { role, is_variadic, sizes, .. } = parameters[i];
        let is_result = matches!(role, Role::Result);
        let number = if is_result { results } else { operands };
        let mut dimension = 0;
        while dimension < sizes.len() {
            if let Some(found) = sizes[dimension]
                && is_same(found.as_bytes(), name.as_bytes())
            {
                let is_behind_variadic = is_behind_variadic && !is_result;
                let found = NamedSize { name, is_result, number, is_behind_variadic, dimension };
                if !is_variadic {
                    return Some((i, found));
                }
                if variadic.is_none() {
                    variadic = Some((i, found));
                }
            }
            dimension += 1;
        }
        match role {
            // How many operands a variadic parameter takes is known only in a call, so the numbers after it leave them out.
            Role::Operand if is_variadic => is_behind_variadic = true,
            Role::Operand => operands += 1,
            Role::Result => results += 1,
            Role::InPlace => (operands, results) = (operands + 1, results + 1),
            Role::Attribute | Role::Context => {}
        }
        i += 1;
    }
    variadic
}

/// The parameters of a kernel, and the numbers of operands, results and attributes that follow from them.
#[doc(hidden)]
#[derive(Debug)]
pub struct KernelParameters {
    pub(crate) list: &'static [ExpectedParameter],
    pub(crate) attributes: usize,
    /// The number of operands, without those of the variadic parameter.
    pub(crate) operands: usize,
    pub(crate) results: usize,
    /// The name of the variadic parameter, which takes any number of operands.
    pub(crate) variadic: Option<&'static str>,
}

impl KernelParameters {
    /// Counts the parameters of a kernel and checks its `batch` names.
    ///
    /// # Panics
    /// At compile time, if two parameters are variadic, because a call does not say which operands belong to which; or if `batch`
    /// names a size that no parameter has.
    #[must_use]
    pub const fn new(
        parameters: &'static [ExpectedParameter],
        written: &'static [DeclaredParameter],
        mut batch: &[&'static str],
    ) -> Self {
        while let [name, rest @ ..] = batch {
            if !is_same(name.as_bytes(), b"...") && first_size(written, name).is_none() {
                panic!("{}", no_size(written, name).as_str());
            }
            batch = rest;
        }
        let mut counted = Self { list: parameters, attributes: 0, operands: 0, results: 0, variadic: None };
        let mut rest = written;
        while let [parameter, others @ ..] = rest {
            match parameter.role {
                Role::Operand if parameter.is_variadic => {
                    assert!(counted.variadic.is_none(), "two parameters of a kernel take any number of operands");
                    counted.variadic = Some(parameter.name);
                }
                Role::Operand => counted.operands += 1,
                Role::Result => counted.results += 1,
                Role::InPlace => (counted.operands, counted.results) = (counted.operands + 1, counted.results + 1),
                Role::Attribute => counted.attributes += 1,
                Role::Context => {}
            }
            rest = others;
        }
        counted
    }

    /// The parameters that are operands, or results, in the order of the call. In-place parameters are both.
    pub(crate) fn with_role(&self, role: Role) -> impl Iterator<Item = &'static ExpectedParameter> + use<> {
        self.list.iter().filter(move |expected| expected.role == role || expected.role == Role::InPlace)
    }

    /// The parameter of this name.
    ///
    /// # Panics
    /// If no parameter has this name.
    #[must_use]
    pub const fn named(&self, name: &str) -> &'static ExpectedParameter {
        let mut rest = self.list;
        while let [parameter, others @ ..] = rest {
            if is_same(parameter.name.as_bytes(), name.as_bytes()) {
                return parameter;
            }
            rest = others;
        }
        panic!("a kernel has the parameters that it is written with")
    }
}

/// What is wrong with a name in `batch`.
const fn no_size(parameters: &'static [DeclaredParameter], name: &str) -> ConstText<512> {
    let text = ConstText::new().push_str("batch(").push_str(name);
    let mut text = text.push_str("): expected the name of a size");
    let (mut found, mut i) = (false, 0);
    while i < parameters.len() {
        let sizes = parameters[i].sizes;
        let mut dimension = 0;
        while dimension < sizes.len() {
            if let Some(size) = sizes[dimension]
                && let Some((first, place)) = first_size(parameters, size)
                && first == i
                && place.dimension == dimension
            {
                text = text.push_str(if found { ", " } else { " of the parameters (" }).push_str(size);
                found = true;
            }
            dimension += 1;
        }
        i += 1;
    }
    text.push_str(if found { "), found another" } else { ", and no parameter has one" })
}

/// The name of a parameter, from its pattern in the source: without `mut` and `r#`.
#[doc(hidden)]
#[must_use]
pub const fn name(pattern: &'static str) -> &'static str {
    strip_prefix(strip_prefix(pattern, "mut "), "r#")
}

/// The text without this prefix, if it begins with it.
const fn strip_prefix(text: &'static str, prefix: &str) -> &'static str {
    match text.split_at_checked(prefix.len()) {
        Some((start, rest)) if is_same(start.as_bytes(), prefix.as_bytes()) => rest,
        _ => text,
    }
}

/// Whether all of these names differ.
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

/// Whether the first text comes before the second one, byte by byte.
const fn is_less(mut one: &[u8], mut other: &[u8]) -> bool {
    while let ([a, one_rest @ ..], [b, other_rest @ ..]) = (one, other) {
        if *a != *b {
            return *a < *b;
        }
        (one, other) = (one_rest, other_rest);
    }
    one.len() < other.len()
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

/// The signature of a kernel as JSON, which the Python module reads. `package` is the crate that exports the kernel.
#[doc(hidden)]
#[must_use]
pub fn signature<K: Kernel>(package: &str) -> Value {
    let parameters = K::signature();
    let parameters: Vec<_> = parameters.iter().map(|(name, description)| description.to_json(name)).collect();
    // `#[doc]` keeps the space after `///`.
    let doc: Vec<_> = K::DOC.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    json!({
        "name": K::NAME,
        "package": package,
        "doc": doc.join("\n").trim(),
        "api": [API_MAJOR, API_MINOR],
        "batch": K::BATCH,
        "parameters": parameters,
    })
}

/// A JSON array of signatures, as a C string.
#[doc(hidden)]
#[must_use]
pub fn signatures(kernels: Vec<Value>) -> CString {
    // `new` fails only if the text contains a 0 byte, which JSON writes as an escape.
    CString::new(Value::Array(kernels).to_string()).unwrap_or_default()
}

/// Makes functions that XLA can call.
///
/// Each function remains an ordinary function, and a type of the same name implements [`Kernel`]. [`Parameter`](crate::Parameter)
/// lists the types that parameters may have: views are operands and results, in the order of the call; numbers, texts and lists are
/// attributes, found by name. The function returns nothing, or a `Result` whose error converts to [`Error`](crate::Error).
/// Documentation and other attributes go to the function.
///
/// - An attribute may have a default, `eps: f32 = 1e-5`, for calls that leave it out. In a direct call of the function, it is an
///   ordinary parameter.
/// - `where batch(b, s)` promises that the kernel computes each index of the sizes named `b` and `s` independently of the others. JAX
///   may then divide these dimensions among the devices of a mesh, and `vmap` may make them longer. `batch(...)` promises the same for
///   dimensions that are added before the dimensions of all operands and results; their types must accept any shape.
/// - `where multiversion` compiles the function for AVX2 and AVX-512 too, and calls the version for the machine; see
///   [`multiversion!`](crate::multiversion).
///
/// A panic becomes an error of the call. In a program built with `panic = "abort"`, it ends the process instead.
///
/// ```
/// use xla_shape::{DynView, DynViewMut, View, ViewMut, shape};
/// use xla_shape::element::F32;
/// use xla_shape_ffi::{Error, Kernel};
///
/// xla_shape_ffi::kernel! {
///     /// Takes arrays of any shape.
///     fn negate(x: DynView<'_>, mut y: DynViewMut<'_>) -> Result<(), Error>
///     where batch(...)
///     {
///         if x.shape() != y.shape() {
///             return Err(Error::invalid_argument("expected a result like the operand"));
///         }
///         y.fill_with::<F32>(|index| -x.get::<F32>(index).unwrap_or_default())?;
///         Ok(())
///     }
///
///     /// Each row times a factor.
///     fn scale(x: View<'_, shape!(f32[b,d])>, mut y: ViewMut<'_, shape!(f32[b,d])>, factor: f32 = 2.0)
///     where batch(b), multiversion
///     {
///         for (x, y) in x.as_slice().iter().zip(y.as_mut_slice()) {
///             *y = factor * x;
///         }
///     }
/// }
/// assert_eq!(negate::NAME, "negate");
/// assert_eq!(negate::signature().len(), 2);
/// assert_eq!(scale::BATCH, ["b"]);
/// ```
#[macro_export]
macro_rules! kernel {
    // The parameter's first token is passed on unchanged, so that the compiler's messages about it, such as a missing `mut`, point
    // to the source.
    ($(
        $(#[$($attribute:tt)*])*
        $visibility:vis fn $name:ident($(
            $parameter:tt $($name_if_mut:ident)? : $type:ty $(= $default:expr)?
        ),* $(,)?) $(-> $result:ty)? $(where $($clause:ident $(($($inner:tt)*))?),+ $(,)?)? $body:block
    )+) => { $(
        $crate::__function! {
            [$($($clause)+)?]
            $(#[$($attribute)*])*
            #[allow(clippy::type_complexity, reason = "`shape!` stands for a long type, but is short in the source")]
            $visibility fn $name($([$parameter $($name_if_mut)?]: $type),*) [$(-> $result)?] $body
        }

        #[doc = concat!("The handler of the function `", stringify!($name), "`.")]
        #[allow(non_camel_case_types, reason = "a type beside the function of the same name")]
        $visibility enum $name {}

        #[allow(clippy::type_complexity, reason = "as above")]
        impl $crate::Kernel for $name {
            const NAME: &'static str = $crate::__private::name(stringify!($name));

            const DOC: &'static [&'static str] = &[$($crate::__doc!($($attribute)*)),*];

            const BATCH: &'static [&'static str] = $crate::__batch!($($($clause $(($($inner)*))?),+)?);

            const HANDLER: $crate::Handler = {
                const DECLARED: &[$crate::__private::DeclaredParameter] = &[$($crate::__private::DeclaredParameter {
                    role: <$type as $crate::Parameter<'_>>::ROLE,
                    name: $crate::__private::name(stringify!($parameter $($name_if_mut)?)),
                    is_variadic: <$type as $crate::Parameter<'_>>::IS_VARIADIC,
                    sizes: <$type as $crate::Parameter<'_>>::SIZES,
                }),*];
                const EXPECTED: [$crate::__private::ExpectedParameter; DECLARED.len()] = $crate::__private::expected_parameters(DECLARED);
                const PARAMETERS: &$crate::__private::KernelParameters = &
                    $crate::__private::KernelParameters::new(&EXPECTED, DECLARED, <$name as $crate::Kernel>::BATCH);

                unsafe extern "C" fn handler(frame: *mut $crate::CallFrame) -> *mut $crate::XlaError {
                    let kernel = |call: &mut $crate::Call<'_>| {
                        // A kernel may have no parameters.
                        let _ = &*call;
                        ::core::result::Result::Ok($name($($crate::__take!(
                            call,
                            const { PARAMETERS.named($crate::__private::name(stringify!($parameter $($name_if_mut)?))) },
                            $type
                            $(, $default)?
                        )),*))
                    };
                    // SAFETY: only XLA calls handlers, and passes them a frame.
                    unsafe {
                        $crate::__private::handle(frame, <$name as $crate::Kernel>::NAME, PARAMETERS, kernel)
                    }
                }
                handler
            };

            fn signature() -> ::std::vec::Vec<(&'static str, $crate::Description)> {
                ::std::vec![$((
                    $crate::__private::name(stringify!($parameter $($name_if_mut)?)),
                    $crate::__describe!($type $(, $default)?),
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

/// The text of a line of documentation; an empty text for any other attribute.
#[doc(hidden)]
#[macro_export]
macro_rules! __doc {
    (doc = $text:expr) => {
        $text
    };
    ($($other:tt)*) => {
        ""
    };
}

/// The names in a kernel's `batch` clause.
#[doc(hidden)]
#[macro_export]
macro_rules! __batch {
    () => { &[] };
    (batch(...) $(, $($rest:tt)*)?) => { &["..."] };
    (batch($($name:ident),+ $(,)?) $(, $($rest:tt)*)?) => { &[$(stringify!($name)),+] };
    (multiversion $(, $($rest:tt)*)?) => { $crate::__batch!($($($rest)*)?) };
    ($clause:ident $($rest:tt)*) => {
        ::core::compile_error!(concat!(
            "expected `batch(name, …)`, `batch(...)` or `multiversion` after `where`, found `", stringify!($clause), "`",
        ))
    };
}

/// Takes the value of a parameter from a call.
#[doc(hidden)]
#[macro_export]
macro_rules! __take {
    ($call:ident, $known:expr, $type:ty) => {
        <$type as $crate::Parameter<'_>>::take($call, $known)?
    };
    ($call:ident, $known:expr, $type:ty, $default:expr) => {
        match $crate::__private::take_optional::<$type>($call, $known)? {
            ::core::option::Option::Some(value) => value,
            ::core::option::Option::None => $default,
        }
    };
}

/// The description of a parameter's type, and of its default.
#[doc(hidden)]
#[macro_export]
macro_rules! __describe {
    ($type:ty) => {
        <$type as $crate::Parameter<'_>>::describe()
    };
    ($type:ty, $default:expr) => {{
        let default: $type = $default;
        $crate::__private::describe_default(&default)
    }};
}

/// Exports kernels from a library (`crate-type = ["cdylib"]`), so that `python/xla_shape_ffi.py` can load them. Call it once in a
/// library: `xla_shape_ffi::export![add_row, softmax];`.
///
/// The kernels' names in XLA are `package.kernel`, where the package is the library's crate.
///
/// It exports three functions:
///
/// | function | returns |
/// |---|---|
/// | `xla_shape_ffi_signatures()` | a JSON array of all signatures, as a C string |
/// | `xla_shape_ffi_handler(n)` | the handler of the `n`th kernel of that array, or null |
/// | `xla_shape_ffi_refusal(n)` | its handler for other devices, which returns the error that the kernel runs on CPU only, or null |
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
                $crate::__private::signatures(::std::vec![$($crate::__private::signature::<$kernel>(
                    ::core::option_env!("CARGO_PKG_NAME").unwrap_or("kernels")
                )),+])
            });
            SIGNATURES.as_ptr()
        }

        /// The handler of the kernel of this number; null if there are fewer kernels.
        #[unsafe(no_mangle)]
        pub extern "C" fn xla_shape_ffi_handler(number: usize) -> ::core::option::Option<$crate::Handler> {
            [$(<$kernel as $crate::Kernel>::HANDLER),+].get(number).copied()
        }

        /// The handler of the kernel of this number for devices other than CPU, which returns an error.
        #[unsafe(no_mangle)]
        pub extern "C" fn xla_shape_ffi_refusal(number: usize) -> ::core::option::Option<$crate::Handler> {
            [$($crate::__private::refuse::<$kernel> as $crate::Handler),+].get(number).copied()
        }
    };
}
