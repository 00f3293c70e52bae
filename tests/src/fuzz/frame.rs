//! XLA's side of a call through its FFI: `xla/ffi/api/c_api.h` of version 0.1, as far as a handler reads it.

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::offset_of;
use std::ptr::{null, null_mut, without_provenance_mut};
use xla_shape_ffi::{Kernel, XlaError};

#[repr(C)]
struct ErrorCreateArgs {
    struct_size: usize,
    extensions: *mut Extension,
    message: *const c_char,
    code: c_int,
}

/// The functions of XLA up to the one that makes errors. The functions after it are null.
#[repr(C)]
struct Api {
    struct_size: usize,
    extensions: *mut Extension,
    version: [usize; 3],
    internal: *const c_void,
    error_create: Option<unsafe extern "C" fn(*mut ErrorCreateArgs) -> *mut XlaError>,
    others: [usize; 16],
}

#[repr(C)]
pub(super) struct Extension {
    pub(super) struct_size: usize,
    pub(super) kind: c_int,
    pub(super) next: *mut Extension,
    /// Only in the extension that asks for metadata: the metadata, which begins with its size.
    pub(super) metadata: *mut [usize; 8],
}

#[repr(C)]
struct Buffer {
    struct_size: usize,
    extensions: *mut Extension,
    element_type: c_int,
    data: *mut c_void,
    rank: i64,
    dimensions: *const i64,
}

#[repr(C)]
struct Buffers {
    struct_size: usize,
    extensions: *mut Extension,
    size: i64,
    kinds: *const c_int,
    values: *const *mut c_void,
}

#[repr(C)]
struct ByteSpan {
    data: *const u8,
    len: usize,
}

#[repr(C)]
struct Attributes {
    struct_size: usize,
    extensions: *mut Extension,
    size: i64,
    kinds: *const c_int,
    names: *const *const ByteSpan,
    values: *const *const c_void,
}

#[repr(C)]
struct Scalar {
    element_type: c_int,
    value: *const c_void,
}

#[repr(C)]
struct Array {
    element_type: c_int,
    len: usize,
    data: *const c_void,
}

#[repr(C)]
struct Frame {
    struct_size: usize,
    extensions: *mut Extension,
    api: *const Api,
    context: *mut c_void,
    stage: c_int,
    operands: Buffers,
    results: Buffers,
    attributes: Attributes,
}

/// An operand or a result.
pub(super) struct Argument {
    /// The kind of the value; 1 is an array.
    pub(super) kind: c_int,
    pub(super) element_type: c_int,
    pub(super) sizes: Vec<i64>,
    pub(super) data: *mut u8,
}

/// The value of an attribute.
pub(super) enum Value {
    Scalar(c_int, [u8; 16]),
    /// The element type of a list, its length, and its bytes.
    Array(c_int, usize, Vec<u8>),
    Text(Vec<u8>),
    /// A kind of attribute that has no value here.
    Other(c_int),
}

/// A call, either as XLA would make it, or an invalid one.
#[derive(Default)]
pub(super) struct Call {
    pub(super) stage: c_int,
    pub(super) operands: Vec<Argument>,
    pub(super) results: Vec<Argument>,
    pub(super) attributes: Vec<(Vec<u8>, Value)>,
    /// The extensions of the frame: the kind of each, and the size that it claims to have.
    pub(super) extensions: Vec<(c_int, usize)>,
    /// The sizes in bytes that the frame, its lists of arguments, an array and the metadata claim to have.
    pub(super) sizes: [usize; 4],
}

/// The true sizes in bytes of the frame, its lists of arguments, an array and the metadata.
pub(super) const SIZES: [usize; 4] = [
    size_of::<Frame>(),
    size_of::<Buffers>(),
    size_of::<Buffer>(),
    // XLA counts the size of a struct up to the end of its last field, without trailing padding.
    offset_of!(Metadata, traits) + size_of::<u32>(),
];

/// The metadata of a handler.
#[repr(C)]
struct Metadata {
    struct_size: usize,
    version: [usize; 3],
    traits: u32,
}

thread_local! {
    static RAISED: RefCell<Option<(c_int, String)>> = const { RefCell::new(None) };
}

unsafe extern "C" fn create(arguments: *mut ErrorCreateArgs) -> *mut XlaError {
    // SAFETY: handlers call it with arguments of this type.
    let arguments = unsafe { &*arguments };
    // SAFETY: the message ends with 0.
    let message = unsafe { CStr::from_ptr(arguments.message) };
    RAISED.set(Some((arguments.code, message.to_str().expect("a text").to_owned())));
    without_provenance_mut(1)
}

impl Call {
    /// Calls a kernel, and gives the code and message of its error.
    ///
    /// # Safety
    /// The data of each argument is null, or points to as many bytes as the argument's type and sizes require. Where they require `i64::MAX`
    /// bytes or more, it may point to any number of bytes.
    pub(super) unsafe fn run<K: Kernel>(&self) -> Result<(), (c_int, String)> {
        let [frame_size, list_size, array_size, metadata_size] = self.sizes;
        let buffers = |arguments: &[Argument]| -> Vec<Buffer> {
            let buffer = |argument: &Argument| Buffer {
                struct_size: array_size,
                extensions: null_mut(),
                element_type: argument.element_type,
                data: argument.data.cast(),
                rank: argument.sizes.len() as i64,
                dimensions: argument.sizes.as_ptr(),
            };
            arguments.iter().map(buffer).collect()
        };
        let (mut operands, mut results) = (buffers(&self.operands), buffers(&self.results));
        let places = |buffers: &mut [Buffer]| -> Vec<*mut c_void> {
            buffers.iter_mut().map(|buffer| (&raw mut *buffer).cast()).collect()
        };
        let (operands, results) = (places(&mut operands), places(&mut results));
        let kinds = |arguments: &[Argument]| arguments.iter().map(|argument| argument.kind).collect::<Vec<_>>();
        let (operand_kinds, result_kinds) = (kinds(&self.operands), kinds(&self.results));
        let list = |values: &[*mut c_void], kinds: &[c_int]| Buffers {
            struct_size: list_size,
            extensions: null_mut(),
            size: values.len() as i64,
            kinds: kinds.as_ptr(),
            values: values.as_ptr(),
        };
        let names = self.attributes.iter().map(|(name, _)| ByteSpan { data: name.as_ptr(), len: name.len() });
        let names = names.collect::<Vec<_>>();
        let name_places = names.iter().map(|name| &raw const *name).collect::<Vec<_>>();
        let mut kept: Vec<Box<dyn std::any::Any>> = Vec::new();
        let (mut attribute_kinds, mut values) = (Vec::new(), Vec::<*const c_void>::new());
        for (_, value) in &self.attributes {
            let (kind, held, place): (_, Box<dyn std::any::Any>, *const c_void) = match value {
                Value::Array(element_type, len, bytes) => {
                    let array = Array { element_type: *element_type, len: *len, data: bytes.as_ptr().cast() };
                    let array = Box::new(array);
                    let place = (&raw const *array).cast();
                    (1, array, place)
                }
                Value::Scalar(element_type, bytes) => {
                    let scalar = Scalar { element_type: *element_type, value: bytes.as_ptr().cast() };
                    let scalar = Box::new(scalar);
                    let place = (&raw const *scalar).cast();
                    (3, scalar, place)
                }
                Value::Text(text) => {
                    let text = Box::new(ByteSpan { data: text.as_ptr(), len: text.len() });
                    let place = (&raw const *text).cast();
                    (4, text, place)
                }
                Value::Other(kind) => (*kind, Box::new(()), null()),
            };
            attribute_kinds.push(kind);
            values.push(place);
            kept.push(held);
        }
        let mut metadata = [0_usize; 8];
        metadata[0] = metadata_size;
        let mut next = null_mut();
        let mut extensions = Vec::new();
        for &(kind, struct_size) in &self.extensions {
            let mut extension = Box::new(Extension { struct_size, kind, next, metadata: &raw mut metadata });
            next = &raw mut *extension;
            extensions.push(extension);
        }
        let api = Api {
            struct_size: size_of::<Api>(),
            extensions: null_mut(),
            version: [24, 0, 1 << 32],
            internal: null(),
            error_create: Some(create),
            others: [0; 16],
        };
        let mut frame = Frame {
            struct_size: frame_size,
            extensions: next,
            api: &api,
            context: null_mut(),
            stage: self.stage,
            operands: list(&operands, &operand_kinds),
            results: list(&results, &result_kinds),
            attributes: Attributes {
                struct_size: size_of::<Attributes>(),
                extensions: null_mut(),
                size: self.attributes.len() as i64,
                kinds: attribute_kinds.as_ptr(),
                names: name_places.as_ptr(),
                values: values.as_ptr(),
            },
        };
        // SAFETY: every struct of the frame has all fields that a handler reads,
        // whatever size it claims; the caller owns the memory.
        let error = unsafe { (K::HANDLER)((&raw mut frame).cast()) };
        drop((extensions, kept));
        if error.is_null() { Ok(()) } else { Err(RAISED.take().expect("an error says what it is")) }
    }
}
