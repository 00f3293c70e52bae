//! XLA's C interface for foreign functions (`xla/ffi/api/c_api.h`, version 0.3): what a handler needs of it.
//!
//! Every struct begins with the size that its maker knew. Newer makers only append, so a struct is read when it is at least
//! as large as the one here; what is behind is ignored, and so are extensions of a kind that is unknown here.

use std::ffi::{c_char, c_int, c_void};

/// Changes when old and new sides do not understand each other.
pub(crate) const API_MAJOR: c_int = 0;
/// Changes when something is appended.
pub(crate) const API_MINOR: c_int = 3;

/// XLA's error object; made and destroyed by XLA.
#[repr(C)]
pub struct XlaError {
    _opaque: [u8; 0],
}

/// What belongs to one execution of a program; opaque.
#[repr(C)]
pub(crate) struct ExecutionContext {
    _opaque: [u8; 0],
}

/// The head of every extension.
#[repr(C)]
pub(crate) struct Extension {
    pub(crate) struct_size: usize,
    pub(crate) kind: c_int,
    pub(crate) next: *mut Extension,
}

/// The [`Extension::kind`] that asks for the handler's [`Metadata`] instead of a call.
pub(crate) const METADATA_EXTENSION: c_int = 1;

#[repr(C)]
pub(crate) struct MetadataExtension {
    pub(crate) base: Extension,
    pub(crate) metadata: *mut Metadata,
}

/// What XLA wants to know of a handler; written by the handler.
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

/// A function of [`Api`] that is not called here.
type Unused = Option<unsafe extern "C" fn()>;

/// The functions that XLA offers, as far as they are needed.
#[repr(C)]
pub(crate) struct Api {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *mut Extension,
    pub(crate) version: ApiVersion,
    pub(crate) internal: *const c_void,
    pub(crate) error_create: Option<unsafe extern "C" fn(*mut ErrorCreateArgs) -> *mut XlaError>,
    pub(crate) error_get_message: Option<unsafe extern "C" fn(*mut ErrorGetMessageArgs)>,
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
    /// A table with one function.
    pub(crate) fn for_tests(error_create: unsafe extern "C" fn(*mut ErrorCreateArgs) -> *mut XlaError) -> Self {
        use std::ptr::{null, null_mut};
        Self {
            struct_size: size_of::<Self>(),
            extensions: null_mut(),
            version: ApiVersion {
                struct_size: size_of::<ApiVersion>(),
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
pub(crate) struct ErrorGetMessageArgs {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *mut Extension,
    pub(crate) error: *mut XlaError,
    pub(crate) message: *const c_char,
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

/// An array, as XLA passes it: no layout, the one that the custom call declares is what arrives.
#[repr(C)]
pub(crate) struct Buffer {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *mut Extension,
    pub(crate) element_type: c_int,
    pub(crate) data: *mut c_void,
    pub(crate) rank: i64,
    pub(crate) dimensions: *const i64,
}

/// The only kind of operand and of result that there is.
pub(crate) const BUFFER: c_int = 1;

/// Operands, or results: `size` of them.
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

/// The attributes of a call: `size` of them, sorted by name.
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

/// The stage in which a handler computes.
pub(crate) const EXECUTE: c_int = 3;

/// All that a handler is given.
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

/// What XLA calls.
pub type Handler = unsafe extern "C" fn(*mut CallFrame) -> *mut XlaError;
