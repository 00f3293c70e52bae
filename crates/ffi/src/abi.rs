//! The part of XLA's C interface for foreign functions that handlers need (`xla/ffi/api/c_api.h`, version 0.1 and later).
//!
//! Every struct begins with `struct_size`, the size that it had in the header its creator was compiled with. Newer versions only
//! append fields. So a struct can be read if it is at least as large as its definition here; additional fields and extensions of
//! unknown kinds are ignored.
//!
//! `abi.txt` lists the sizes, offsets and numbers in XLA's header. The test below compares the definitions here with it, and
//! `examples/jax/test_abi.py` compares it with the header that comes with JAX.

use std::ffi::{c_char, c_int, c_void};

/// The size of a struct as `XLA_FFI_STRUCT_SIZE` counts it: up to the end of its last field. Padding after that field does not
/// count, because a newer version may put a field there.
macro_rules! struct_size {
    ($name:ident, $last:ident) => {{
        const fn size<T>(_: fn(&$name) -> &T) -> usize {
            size_of::<T>()
        }
        std::mem::offset_of!($name, $last) + size(|this| &this.$last)
    }};
}

macro_rules! sizes {
    ($($name:ident up to $last:ident;)*) => { $(
        impl $name {
            /// The size of this struct up to the end of its last field.
            pub(crate) const SIZE: usize = struct_size!($name, $last);
        }
    )* };
}

sizes! {
    MetadataExtension up to metadata;
    Metadata up to traits;
    ApiVersion up to minor;
    ErrorCreateArgs up to code;
    Buffer up to dimensions;
    Buffers up to values;
    Attributes up to values;
    CallFrame up to attributes;
}

// Only the thread pool uses these.
#[cfg(any(feature = "threads", test))]
sizes! {
    Api up to thread_pool_num_threads;
    ErrorDestroyArgs up to error;
    ThreadPoolScheduleArgs up to data;
    ThreadPoolNumThreadsArgs up to num_threads;
}

/// The major version, which changes with incompatible changes of the interface.
pub(crate) const API_MAJOR: c_int = 0;
/// The minor version, which changes when fields are appended. This is the oldest one that has all fields used here, because XLA
/// refuses handlers of a newer version than its own.
pub(crate) const API_MINOR: c_int = 1;

/// XLA's error object (`XLA_FFI_Error`); opaque, created and destroyed by XLA.
#[doc(hidden)]
#[repr(C)]
pub struct XlaError {
    _opaque: [u8; 0],
}

/// The state of one execution of a program (`XLA_FFI_ExecutionContext`); opaque.
#[repr(C)]
pub(crate) struct ExecutionContext {
    _opaque: [u8; 0],
}

/// The first fields of every extension (`XLA_FFI_Extension_Base`).
#[repr(C)]
pub(crate) struct Extension {
    pub(crate) struct_size: usize,
    pub(crate) kind: c_int,
    pub(crate) next: *mut Extension,
}

/// The [`Extension::kind`] with which XLA asks for the handler's [`Metadata`] instead of running it.
pub(crate) const METADATA_EXTENSION: c_int = 1;

#[repr(C)]
pub(crate) struct MetadataExtension {
    pub(crate) base: Extension,
    pub(crate) metadata: *mut Metadata,
}

/// The facts about a handler that XLA reads when the handler is registered; the handler fills them in.
#[repr(C)]
pub(crate) struct Metadata {
    pub(crate) struct_size: usize,
    pub(crate) api_version: ApiVersion,
    pub(crate) traits: u32,
}

#[repr(C)]
pub(crate) struct ApiVersion {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *mut Extension,
    pub(crate) major: c_int,
    pub(crate) minor: c_int,
}

/// A function of [`Api`] that this crate does not call.
type Unused = Option<unsafe extern "C" fn()>;

/// XLA's table of functions (`XLA_FFI_Api`), up to the last one that this crate calls.
#[repr(C)]
pub(crate) struct Api {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *mut Extension,
    pub(crate) version: ApiVersion,
    pub(crate) internal: *const c_void,
    pub(crate) error_create: Option<unsafe extern "C" fn(*mut ErrorCreateArgs) -> *mut XlaError>,
    error_get_message: Unused,
    pub(crate) error_destroy: Option<unsafe extern "C" fn(*mut ErrorDestroyArgs)>,
    handler_register: Unused,
    stream_get: Unused,
    type_register: Unused,
    execution_context_get: Unused,
    state_set: Unused,
    state_get: Unused,
    device_memory_allocate: Unused,
    device_memory_free: Unused,
    pub(crate) thread_pool_schedule: Option<unsafe extern "C" fn(*mut ThreadPoolScheduleArgs) -> *mut XlaError>,
    pub(crate) thread_pool_num_threads: Option<unsafe extern "C" fn(*mut ThreadPoolNumThreadsArgs) -> *mut XlaError>,
}

#[cfg(test)]
impl Api {
    /// A table whose only function is `error_create`.
    pub(crate) fn for_tests(error_create: unsafe extern "C" fn(*mut ErrorCreateArgs) -> *mut XlaError) -> Self {
        use std::ptr::{null, null_mut};
        Self {
            struct_size: Self::SIZE,
            extensions: null_mut(),
            version: ApiVersion {
                struct_size: ApiVersion::SIZE,
                extensions: null_mut(),
                major: API_MAJOR,
                minor: API_MINOR,
            },
            internal: null(),
            error_create: Some(error_create),
            error_get_message: None,
            error_destroy: None,
            handler_register: None,
            stream_get: None,
            type_register: None,
            execution_context_get: None,
            state_set: None,
            state_get: None,
            device_memory_allocate: None,
            device_memory_free: None,
            thread_pool_schedule: None,
            thread_pool_num_threads: None,
        }
    }
}

#[repr(C)]
pub(crate) struct ErrorCreateArgs {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *mut Extension,
    pub(crate) message: *const c_char,
    pub(crate) code: c_int,
}

#[repr(C)]
pub(crate) struct ErrorDestroyArgs {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *mut Extension,
    pub(crate) error: *mut XlaError,
}

#[repr(C)]
pub(crate) struct ThreadPoolScheduleArgs {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *mut Extension,
    pub(crate) context: *mut ExecutionContext,
    pub(crate) task: unsafe extern "C" fn(*mut c_void),
    pub(crate) data: *mut c_void,
}

#[repr(C)]
pub(crate) struct ThreadPoolNumThreadsArgs {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *mut Extension,
    pub(crate) context: *mut ExecutionContext,
    pub(crate) num_threads: *mut i64,
}

/// An array (`XLA_FFI_Buffer`). It does not give its layout, which the custom call declares.
#[repr(C)]
pub(crate) struct Buffer {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *mut Extension,
    pub(crate) element_type: c_int,
    pub(crate) data: *mut c_void,
    pub(crate) rank: i64,
    pub(crate) dimensions: *const i64,
}

/// The kind of operands and results that are buffers; the header has no other kind.
pub(crate) const BUFFER: c_int = 1;

/// The operands (`XLA_FFI_Args`) or the results (`XLA_FFI_Rets`) of a call: `size` of them.
#[repr(C)]
pub(crate) struct Buffers {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *mut Extension,
    pub(crate) size: i64,
    pub(crate) kinds: *const c_int,
    pub(crate) values: *const *mut c_void,
}

#[repr(C)]
pub(crate) struct ByteSpan {
    pub(crate) data: *const u8,
    pub(crate) len: usize,
}

/// The kinds of attributes.
pub(crate) mod attribute_kind {
    use std::ffi::c_int;

    pub(crate) const ARRAY: c_int = 1;
    pub(crate) const DICTIONARY: c_int = 2;
    pub(crate) const SCALAR: c_int = 3;
    pub(crate) const STRING: c_int = 4;
}

/// The attributes of a call (`XLA_FFI_Attrs`): `size` of them, sorted by name.
#[repr(C)]
pub(crate) struct Attributes {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *mut Extension,
    pub(crate) size: i64,
    pub(crate) kinds: *const c_int,
    pub(crate) names: *const *const ByteSpan,
    pub(crate) values: *const *const c_void,
}

#[repr(C)]
pub(crate) struct ScalarAttribute {
    pub(crate) element_type: c_int,
    pub(crate) value: *const c_void,
}

#[repr(C)]
pub(crate) struct ArrayAttribute {
    pub(crate) element_type: c_int,
    pub(crate) len: usize,
    pub(crate) data: *const c_void,
}

/// The stage in which a handler computes (`XLA_FFI_ExecutionStage_EXECUTE`).
pub(crate) const EXECUTE: c_int = 3;

/// The argument of a handler (`XLA_FFI_CallFrame`): operands, results, attributes and XLA's functions.
#[doc(hidden)]
#[repr(C)]
pub struct CallFrame {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *mut Extension,
    pub(crate) api: *const Api,
    pub(crate) context: *mut ExecutionContext,
    pub(crate) stage: c_int,
    pub(crate) operands: Buffers,
    pub(crate) results: Buffers,
    pub(crate) attributes: Attributes,
}

/// The C function that XLA calls for a custom call (`XLA_FFI_Handler`). [`kernel!`](crate::kernel) makes one for each kernel.
///
/// ```
/// use xla_shape::{View, shape};
/// use xla_shape_ffi::{Handler, Kernel};
///
/// xla_shape_ffi::kernel! {
///     fn check(x: View<'_, shape!(f32[8])>) {}
/// }
///
/// // A program that embeds XLA registers this for the custom calls of the target `check`.
/// let (name, handler): (&str, Handler) = (check::NAME, check::HANDLER);
/// assert_eq!(name, "check");
/// assert_ne!(handler as usize, 0);
/// ```
pub type Handler = unsafe extern "C" fn(*mut CallFrame) -> *mut XlaError;

// `abi.txt` lists the numbers of a 64-bit machine; XLA runs only on such machines.
#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::*;
    use crate::ErrorCode;
    use std::collections::BTreeMap;
    use std::mem::offset_of;
    use xla_shape::ElementType;

    /// The numbers of XLA's header, by name.
    fn header() -> BTreeMap<&'static str, usize> {
        let lines = include_str!("abi.txt").lines();
        lines.map(|line| line.rsplit_once(' ').unwrap()).map(|(name, number)| (name, number.parse().unwrap())).collect()
    }

    #[test]
    fn structs_are_those_of_the_header() {
        let mut header = header();
        header.retain(|name, _| name.contains('.') || name.ends_with("_STRUCT_SIZE"));
        macro_rules! compare {
            ($($name:ident = $theirs:literal { $($field:ident = $their_field:literal),* $(,)? })*) => { $( $(
                let name = concat!($theirs, ".", $their_field);
                assert_eq!(header.remove(name), Some(offset_of!($name, $field)), "{name}");
            )* )* };
        }
        compare! {
            Extension = "XLA_FFI_Extension_Base" { struct_size = "struct_size", kind = "type", next = "next" }
            MetadataExtension = "XLA_FFI_Metadata_Extension" { base = "extension_base", metadata = "metadata" }
            Metadata = "XLA_FFI_Metadata" { struct_size = "struct_size", api_version = "api_version", traits = "traits" }
            ApiVersion = "XLA_FFI_Api_Version" {
                struct_size = "struct_size", extensions = "extension_start", major = "major_version", minor = "minor_version",
            }
            Api = "XLA_FFI_Api" {
                struct_size = "struct_size",
                extensions = "extension_start",
                version = "api_version",
                internal = "internal_api",
                error_create = "XLA_FFI_Error_Create",
                error_destroy = "XLA_FFI_Error_Destroy",
                thread_pool_schedule = "XLA_FFI_ThreadPool_Schedule",
                thread_pool_num_threads = "XLA_FFI_ThreadPool_NumThreads",
            }
            ErrorCreateArgs = "XLA_FFI_Error_Create_Args" {
                struct_size = "struct_size", extensions = "extension_start", message = "message", code = "errc",
            }
            ErrorDestroyArgs = "XLA_FFI_Error_Destroy_Args" {
                struct_size = "struct_size", extensions = "extension_start", error = "error",
            }
            ThreadPoolScheduleArgs = "XLA_FFI_ThreadPool_Schedule_Args" {
                struct_size = "struct_size", extensions = "extension_start", context = "ctx", task = "task", data = "data",
            }
            ThreadPoolNumThreadsArgs = "XLA_FFI_ThreadPool_NumThreads_Args" {
                struct_size = "struct_size", extensions = "extension_start", context = "ctx", num_threads = "num_threads",
            }
            Buffer = "XLA_FFI_Buffer" {
                struct_size = "struct_size",
                extensions = "extension_start",
                element_type = "dtype",
                data = "data",
                rank = "rank",
                dimensions = "dims",
            }
            Buffers = "XLA_FFI_Args" {
                struct_size = "struct_size", extensions = "extension_start", size = "size", kinds = "types", values = "args",
            }
            Buffers = "XLA_FFI_Rets" {
                struct_size = "struct_size", extensions = "extension_start", size = "size", kinds = "types", values = "rets",
            }
            Attributes = "XLA_FFI_Attrs" {
                struct_size = "struct_size",
                extensions = "extension_start",
                size = "size",
                kinds = "types",
                names = "names",
                values = "attrs",
            }
            ByteSpan = "XLA_FFI_ByteSpan" { data = "ptr", len = "len" }
            ScalarAttribute = "XLA_FFI_Scalar" { element_type = "dtype", value = "value" }
            ArrayAttribute = "XLA_FFI_Array" { element_type = "dtype", len = "size", data = "data" }
            CallFrame = "XLA_FFI_CallFrame" {
                struct_size = "struct_size",
                extensions = "extension_start",
                api = "api",
                context = "ctx",
                stage = "stage",
                operands = "args",
                results = "rets",
                attributes = "attrs",
            }
        }
        for (name, size) in [
            ("XLA_FFI_Metadata_Extension", MetadataExtension::SIZE),
            ("XLA_FFI_Metadata", Metadata::SIZE),
            ("XLA_FFI_Api_Version", ApiVersion::SIZE),
            ("XLA_FFI_Error_Create_Args", ErrorCreateArgs::SIZE),
            ("XLA_FFI_Error_Destroy_Args", ErrorDestroyArgs::SIZE),
            ("XLA_FFI_ThreadPool_Schedule_Args", ThreadPoolScheduleArgs::SIZE),
            ("XLA_FFI_ThreadPool_NumThreads_Args", ThreadPoolNumThreadsArgs::SIZE),
            ("XLA_FFI_Buffer", Buffer::SIZE),
            ("XLA_FFI_Args", Buffers::SIZE),
            ("XLA_FFI_Rets", Buffers::SIZE),
            ("XLA_FFI_Attrs", Attributes::SIZE),
            ("XLA_FFI_CallFrame", CallFrame::SIZE),
        ] {
            assert_eq!(header.remove(format!("{name}_STRUCT_SIZE").as_str()), Some(size), "{name}");
        }
        assert!(header.is_empty(), "{header:?}");
    }

    #[test]
    fn sizes_are_those_of_the_header() {
        let sizes: Vec<_> = header()
            .into_iter()
            .filter_map(|(name, size)| Some((name.strip_prefix("sizeof XLA_FFI_")?, size)))
            .collect();
        let enumerations =
            ["ArgType", "AttrType", "DataType", "Error_Code", "ExecutionStage", "Extension_Type", "RetType"];
        let mut known = BTreeMap::from(enumerations.map(|name| (name, size_of::<c_int>())));
        known.insert("Array", size_of::<ArrayAttribute>());
        known.insert("ByteSpan", size_of::<ByteSpan>());
        known.insert("Scalar", size_of::<ScalarAttribute>());
        assert_eq!(sizes, Vec::from_iter(known));
    }

    #[test]
    fn numbers_are_those_of_the_header() {
        let header = header();
        let number = |name: &str| header[name] as c_int;
        assert_eq!(number("XLA_FFI_API_MAJOR"), API_MAJOR);
        assert_eq!(number("XLA_FFI_Extension_Metadata"), METADATA_EXTENSION);
        assert_eq!((number("XLA_FFI_ArgType_BUFFER"), number("XLA_FFI_RetType_BUFFER")), (BUFFER, BUFFER));
        assert_eq!(number("XLA_FFI_ExecutionStage_EXECUTE"), EXECUTE);
        let kinds = ["ARRAY", "DICTIONARY", "SCALAR", "STRING"].map(|kind| number(&format!("XLA_FFI_AttrType_{kind}")));
        let known = [attribute_kind::ARRAY, attribute_kind::DICTIONARY, attribute_kind::SCALAR, attribute_kind::STRING];
        assert_eq!(kinds, known);
        let codes = [
            ErrorCode::Cancelled,
            ErrorCode::Unknown,
            ErrorCode::InvalidArgument,
            ErrorCode::DeadlineExceeded,
            ErrorCode::NotFound,
            ErrorCode::AlreadyExists,
            ErrorCode::PermissionDenied,
            ErrorCode::ResourceExhausted,
            ErrorCode::FailedPrecondition,
            ErrorCode::Aborted,
            ErrorCode::OutOfRange,
            ErrorCode::Unimplemented,
            ErrorCode::Internal,
            ErrorCode::Unavailable,
            ErrorCode::DataLoss,
            ErrorCode::Unauthenticated,
        ];
        let of_header =
            header.iter().filter_map(|(name, number)| Some((name.strip_prefix("XLA_FFI_Error_Code_")?, *number)));
        let of_header: BTreeMap<_, _> = of_header.map(|(name, number)| (name.replace('_', ""), number)).collect();
        let here = codes.map(|code| (format!("{code:?}").to_uppercase(), code as usize));
        assert_eq!(of_header, BTreeMap::from(here));
        let mut count = 0;
        for (name, number) in &header {
            let Some(name) = name.strip_prefix("XLA_FFI_DataType_") else { continue };
            let found = ElementType::from_proto_number(*number as c_int).map(|found| found.name().to_uppercase());
            assert_eq!(found, (name != "TOKEN").then(|| name.to_owned()), "{name}");
            count += 1;
        }
        assert_eq!(count, 31);
    }
}
