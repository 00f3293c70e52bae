//! From functions to what a library exports.

use crate::abi::{API_MAJOR, API_MINOR, Handler};
use crate::signature::{Description, Role};
use serde_json::{Value, json};
use std::ffi::CString;
use xla_shape::type_limits::MAX_LIST;

/// A function that XLA can call. Made by [`kernel!`](crate::kernel).
pub trait Kernel {
    /// The name of the function.
    const NAME: &'static str;
    /// What XLA calls.
    const HANDLER: Handler;
    /// The lines of its documentation.
    const DOC: &'static [&'static str] = &[];
    /// The names of sizes whose indices are computed independently of each other; `...` is any dimension before those of the
    /// operands.
    const BATCH: &'static [&'static str] = &[];

    /// The parameters: their names and what a call must bring for them.
    #[must_use]
    fn signature() -> Vec<(&'static str, Description)>;
}

/// A parameter as it stands in the source.
#[doc(hidden)]
#[derive(Debug)]
pub struct Written {
    pub role: Role,
    pub name: &'static str,
    pub is_variadic: bool,
    /// The names of the sizes of an array.
    pub sizes: &'static [Option<&'static str>],
}

/// A parameter, with what calls are compared with. All of it is worked out while the kernel is compiled.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Known {
    pub(crate) role: Role,
    pub(crate) name: &'static str,
    /// How many attributes stand before this one, in the order of their names: XLA's order.
    pub(crate) attribute: usize,
    /// For each dimension whose size has a name that stands elsewhere before: where.
    pub(crate) sizes: [Option<SizeOf>; Self::MOST_SIZES],
}

/// The size of an operand or of a result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SizeOf {
    /// The name of the size.
    pub(crate) name: &'static str,
    pub(crate) is_result: bool,
    /// Its number among the operands or the results, not counting those of a parameter that takes any number of them.
    pub(crate) number: usize,
    /// Whether it stands behind such a parameter.
    pub(crate) is_behind_variadic: bool,
    pub(crate) dimension: usize,
}

impl Known {
    /// How many dimensions an array of a signature has at most.
    pub(crate) const MOST_SIZES: usize = MAX_LIST;

    const NONE: Self = Self { role: Role::Context, name: "", attribute: 0, sizes: [None; Self::MOST_SIZES] };
}

/// What calls are compared with, for each parameter.
#[doc(hidden)]
#[must_use]
pub const fn known<const N: usize>(parameters: &'static [Written]) -> [Known; N] {
    let (mut all, mut i) = ([Known::NONE; N], 0);
    while i < N {
        let Written { role, name, sizes, .. } = parameters[i];
        let (mut attribute, mut other) = (0, 0);
        while other < N {
            let is_attribute = matches!(parameters[other].role, Role::Attribute);
            if is_attribute && is_less(parameters[other].name.as_bytes(), name.as_bytes()) {
                attribute += 1;
            }
            other += 1;
        }
        all[i] = Known { role, name, attribute, sizes: [None; Known::MOST_SIZES] };
        let mut dimension = 0;
        while dimension < sizes.len() {
            if let Some(name) = sizes[dimension] {
                all[i].sizes[dimension] = match first_size(parameters, name) {
                    // This is where the name stands first.
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

/// Where a name of a size stands first: the number of the parameter, and the size. A parameter of any number of operands, which
/// may be none, comes last.
const fn first_size(parameters: &'static [Written], name: &'static str) -> Option<(usize, SizeOf)> {
    let mut variadic = None;
    let (mut operands, mut results, mut is_behind_variadic) = (0, 0, false);
    let mut i = 0;
    while i < parameters.len() {
        let Written { role, is_variadic, sizes, .. } = parameters[i];
        let is_result = matches!(role, Role::Result);
        let number = if is_result { results } else { operands };
        let mut dimension = 0;
        while dimension < sizes.len() {
            if let Some(found) = sizes[dimension]
                && is_same(found.as_bytes(), name.as_bytes())
            {
                let is_behind_variadic = is_behind_variadic && !is_result;
                let found = SizeOf { name, is_result, number, is_behind_variadic, dimension };
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

/// What a kernel takes.
#[doc(hidden)]
#[derive(Debug)]
pub struct Takes {
    pub(crate) parameters: &'static [Known],
    pub(crate) attributes: usize,
    /// How many operands, besides those of a parameter that takes any number of them.
    pub(crate) operands: usize,
    pub(crate) results: usize,
    /// The parameter that takes any number of operands.
    pub(crate) variadic: Option<&'static str>,
}

impl Takes {
    /// Sorts the parameters of a kernel that computes the indices of the sizes named in `batch` independently.
    ///
    /// # Panics
    /// While compiling, if two parameters take any number of operands: a call could not say which operands are whose; or if no
    /// parameter has a size of a name in `batch`.
    #[must_use]
    pub const fn new(parameters: &'static [Known], written: &'static [Written], mut batch: &[&'static str]) -> Self {
        while let [name, rest @ ..] = batch {
            let is_size = is_same(name.as_bytes(), b"...") || first_size(written, name).is_some();
            assert!(is_size, "`batch` names a size that no parameter of the kernel has");
            batch = rest;
        }
        let mut takes = Self { parameters, attributes: 0, operands: 0, results: 0, variadic: None };
        let mut rest = written;
        while let [parameter, others @ ..] = rest {
            match parameter.role {
                Role::Operand if parameter.is_variadic => {
                    assert!(takes.variadic.is_none(), "two parameters of a kernel take any number of operands");
                    takes.variadic = Some(parameter.name);
                }
                Role::Operand => takes.operands += 1,
                Role::Result => takes.results += 1,
                Role::InPlace => (takes.operands, takes.results) = (takes.operands + 1, takes.results + 1),
                Role::Attribute => takes.attributes += 1,
                Role::Context => {}
            }
            rest = others;
        }
        takes
    }

    /// The operands, or the results, in the order of calls.
    pub(crate) fn of_role(&self, role: Role) -> impl Iterator<Item = &'static Known> + use<> {
        self.parameters.iter().filter(move |known| known.role == role || known.role == Role::InPlace)
    }

    /// The parameter of this name.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub const fn named(&self, name: &str) -> &'static Known {
        let mut rest = self.parameters;
        while let [parameter, others @ ..] = rest {
            if is_same(parameter.name.as_bytes(), name.as_bytes()) {
                return parameter;
            }
            rest = others;
        }
        panic!("a kernel has the parameters that it is written with")
    }
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

/// The signature of a kernel of a package as JSON.
#[doc(hidden)]
#[must_use]
pub fn signature<K: Kernel>(package: &str) -> Value {
    let parameters = K::signature();
    let parameters: Vec<_> = parameters.iter().map(|(name, description)| description.to_json(name)).collect();
    // Rust's documentation comments keep the space behind their slashes.
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
/// - An attribute may have a default, `eps: f32 = 1e-5`, which stands for it in a call that leaves it out. The function itself takes
///   the parameter always.
/// - `where batch(b, s)` says that the kernel computes each index of the sizes named `b` and `s` independently of the others: a
///   mesh may cut them, and `vmap` may make them longer. `batch(...)` says the same of dimensions added in front of all operands and
///   results, which views of any shape can take.
/// - `where multiversion` compiles the function for AVX2 and AVX-512 too, and calls what the machine has; see
///   [`multiversion!`](crate::multiversion).
///
/// A panic becomes an error where panics unwind: not in a program that is built with `panic = "abort"`, which it ends.
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
    // A parameter's first token as it stands in the source, so that what the compiler says of it, such as that it should be `mut`,
    // is said there.
    ($(
        $(#[$($attribute:tt)*])*
        $visibility:vis fn $name:ident($(
            $parameter:tt $($name_if_mut:ident)? : $type:ty $(= $default:expr)?
        ),* $(,)?) $(-> $result:ty)? $(where $($clause:ident $(($($inner:tt)*))?),+ $(,)?)? $body:block
    )+) => { $(
        $crate::__function! {
            [$($($clause)+)?]
            $(#[$($attribute)*])*
            #[allow(clippy::type_complexity, reason = "what `shape!` makes is written in one line")]
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
                const WRITTEN: &[$crate::__private::Written] = &[$($crate::__private::Written {
                    role: <$type as $crate::Parameter<'_>>::ROLE,
                    name: $crate::__private::name(stringify!($parameter $($name_if_mut)?)),
                    is_variadic: <$type as $crate::Parameter<'_>>::IS_VARIADIC,
                    sizes: <$type as $crate::Parameter<'_>>::SIZES,
                }),*];
                const KNOWN: [$crate::__private::Known; WRITTEN.len()] = $crate::__private::known(WRITTEN);
                const TAKES: &$crate::__private::Takes = &
                    $crate::__private::Takes::new(&KNOWN, WRITTEN, <$name as $crate::Kernel>::BATCH);

                unsafe extern "C" fn handler(frame: *mut $crate::CallFrame) -> *mut $crate::XlaError {
                    let kernel = |call: &mut $crate::Call<'_>| {
                        // A kernel may have no parameters.
                        let _ = &*call;
                        ::core::result::Result::Ok($name($($crate::__take!(
                            call,
                            const { TAKES.named($crate::__private::name(stringify!($parameter $($name_if_mut)?))) },
                            $type
                            $(, $default)?
                        )),*))
                    };
                    // SAFETY: only XLA calls handlers, and passes them a frame.
                    unsafe {
                        $crate::__private::handle(frame, <$name as $crate::Kernel>::NAME, TAKES, kernel)
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

/// The text of a line of documentation; nothing of other attributes.
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

/// What a kernel says of `batch`.
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

/// A parameter, taken from a call.
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

/// What a call must bring for a parameter.
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

/// Exports kernels from a library (`crate-type = ["cdylib"]`), for `python/xla_shape_ffi.py` to load. Once in a library.
///
/// XLA knows the kernels as `package.kernel`, where the package is the library's crate.
///
/// Three functions are exported: `xla_shape_ffi_signatures`, which gives a JSON array of all signatures as a C string,
/// `xla_shape_ffi_handler`, which gives the handler of the kernel with this number in that array, or null, and
/// `xla_shape_ffi_refusal`, which gives a handler for other devices, which says that the kernel runs on CPU.
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

        /// What XLA calls for the kernel of this number.
        #[unsafe(no_mangle)]
        pub extern "C" fn xla_shape_ffi_handler(number: usize) -> ::core::option::Option<$crate::Handler> {
            [$(<$kernel as $crate::Kernel>::HANDLER),+].get(number).copied()
        }

        /// What XLA calls for the kernel of this number on other devices than a CPU: it says that it cannot run there.
        #[unsafe(no_mangle)]
        pub extern "C" fn xla_shape_ffi_refusal(number: usize) -> ::core::option::Option<$crate::Handler> {
            [$($crate::__private::refuse::<$kernel> as $crate::Handler),+].get(number).copied()
        }
    };
}
