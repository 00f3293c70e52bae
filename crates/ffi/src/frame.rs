//! The call as XLA passes it. All of its pointers are dereferenced here, after the struct sizes have been checked.
//!
//! # What XLA guarantees
//!
//! The SAFETY comments below cite these rules by name. They follow from how `xla/ffi/api/c_api.h` defines a call frame
//! and how `xla/ffi/call_frame.cc` builds it. All of them hold from the call of the handler until it returns.
//!
//! - *Struct size*: every struct begins with `struct_size`, and every field that ends within that size exists. All versions of
//!   the call frame have `struct_size`, `extensions` and `api`.
//! - *Extensions*: they form a linked list that ends with null; each begins with an [`Extension`](abi::Extension), whose `kind`
//!   says what the rest is.
//! - *Lists*: the arrays `kinds`, `values` and `names` of operands, results and attributes have `size` entries each, and
//!   `kinds[i]` says which struct `values[i]` points to. The pointers may be null where `size` is 0.
//! - *Spans*: a pointer with a length (names, texts, numbers, sizes of an array) points to that many initialised values.
//! - *Shared*: nobody writes these structs during the call.

use crate::abi::{self, attribute_kind};
use crate::error::Error;
use std::ffi::{c_char, c_int, c_void};
use std::marker::PhantomData;
use std::slice;
use xla_shape::ElementType;

/// A call frame for which the [guarantees](self) hold during `'a`. Only [`Request::new`] makes one.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a>(&'a abi::CallFrame);

/// What XLA asks of the handler.
pub(crate) enum Request<'a> {
    /// Fill in the handler's metadata.
    Metadata(&'a mut abi::Metadata),
    /// Run the kernel.
    Call(Frame<'a>),
}

/// An operand or a result that is a buffer; its type and sizes are still unchecked.
#[derive(Clone, Copy)]
pub(crate) struct RawArray<'a> {
    /// The element type's number in `xla/xla_data.proto`, `PrimitiveType`.
    pub(crate) element_type: c_int,
    pub(crate) sizes: &'a [i64],
    pub(crate) data: *mut u8,
}

/// The value of an attribute; its element type is still unchecked.
///
/// Invariant: `value` points to a struct of this `kind` that is valid during `'a`. Only `Frame::attribute_at` makes one.
#[derive(Clone, Copy, Debug)]
pub struct RawAttribute<'a> {
    kind: c_int,
    value: *const c_void,
    lifetime: PhantomData<&'a ()>,
}

/// A slice of a C pointer and a length. The pointer may be null if the length is 0.
///
/// # Safety
/// If `len` is greater than 0, `data` is aligned and points to `len` initialised values, which nobody writes during `'a`.
#[inline(always)]
unsafe fn slice_of<'a, T>(data: *const T, len: usize) -> &'a [T] {
    if len == 0 {
        return &[];
    }
    // SAFETY: `len` is not 0, so the caller promises that `data` is aligned and points to `len` initialised values that are
    // not written during `'a`.
    unsafe { slice::from_raw_parts(data, len) }
}

/// Refuses a struct that is smaller than its definition in [`abi`], so that all fields defined there exist.
#[inline(always)]
fn check_size(name: &str, expected: usize, found: usize) -> Result<(), Error> {
    if found >= expected { Ok(()) } else { Err(too_old(name, expected, found)) }
}

#[cold]
fn too_old(name: &str, expected: usize, found: usize) -> Error {
    Error::invalid_argument(format!("expected {name} of at least {expected} bytes, found {found}: this XLA is too old"))
}

impl<'a> Request<'a> {
    /// Finds out what XLA asks for.
    ///
    /// # Safety
    /// `frame` is the pointer that XLA has passed to a handler, and `'a` ends before the handler returns.
    #[inline(always)]
    pub(crate) unsafe fn new(frame: *mut abi::CallFrame) -> Result<Self, Error> {
        // SAFETY: `frame` is a call frame (caller), and all versions have this field (*struct size*).
        let size = unsafe { (*frame).struct_size };
        // SAFETY: as above.
        let mut extension = unsafe { (*frame).extensions };
        while !extension.is_null() {
            // SAFETY: `extension` is not null and comes from the list, so it points to an `Extension` (*extensions*).
            let head = unsafe { &*extension };
            if head.kind == abi::METADATA_EXTENSION {
                check_size("XLA_FFI_Metadata_Extension", abi::MetadataExtension::SIZE, head.struct_size)?;
                // SAFETY: its `kind` says that it is a `MetadataExtension` (*extensions*), and its size has been checked.
                let metadata = unsafe { (*extension.cast::<abi::MetadataExtension>()).metadata };
                // SAFETY: a metadata extension points to a `Metadata` of XLA's, which begins with its size (*struct size*).
                check_size("XLA_FFI_Metadata", abi::Metadata::SIZE, unsafe { (*metadata).struct_size })?;
                // SAFETY: its size has been checked, so all fields exist. XLA has made it for the handler to fill in, so
                // nobody else uses it before the handler returns.
                return Ok(Self::Metadata(unsafe { &mut *metadata }));
            }
            extension = head.next;
        }
        check_size("XLA_FFI_CallFrame", abi::CallFrame::SIZE, size)?;
        // SAFETY: its size has been checked, so all fields of `abi::CallFrame` exist; it is valid during `'a` (caller) and not
        // written (*shared*).
        let frame = unsafe { &*frame };
        check_size("XLA_FFI_Args", abi::Buffers::SIZE, frame.operands.struct_size)?;
        check_size("XLA_FFI_Rets", abi::Buffers::SIZE, frame.results.struct_size)?;
        check_size("XLA_FFI_Attrs", abi::Attributes::SIZE, frame.attributes.struct_size)?;
        Ok(Self::Call(Frame(frame)))
    }
}

impl<'a> Frame<'a> {
    #[cfg(feature = "threads")]
    pub(crate) fn abi(self) -> &'a abi::CallFrame {
        self.0
    }

    /// Whether this is the stage in which the kernel computes.
    #[inline(always)]
    pub(crate) fn is_execution(self) -> bool {
        self.0.stage == abi::EXECUTE
    }

    #[inline(always)]
    pub(crate) fn operands(self) -> Arrays<'a> {
        Arrays::new(&self.0.operands)
    }

    #[inline(always)]
    pub(crate) fn results(self) -> Arrays<'a> {
        Arrays::new(&self.0.results)
    }

    /// The number of attributes.
    #[inline(always)]
    pub(crate) fn num_attributes(self) -> usize {
        usize::try_from(self.0.attributes.size).unwrap_or(0)
    }

    /// The names of the attributes.
    #[inline(always)]
    pub(crate) fn attribute_names(self) -> impl ExactSizeIterator<Item = &'a [u8]> {
        // SAFETY: `names` has `size` entries, which is `num_attributes` (*lists*).
        let names = unsafe { slice_of(self.0.attributes.names, self.num_attributes()) };
        names.iter().map(|&name| {
            // SAFETY: each entry of `names` points to a `ByteSpan` (*lists*) that is not written (*shared*).
            let name = unsafe { &*name };
            // SAFETY: `data` points to `len` bytes (*spans*).
            unsafe { slice_of(name.data, name.len) }
        })
    }

    /// Attribute number `i`.
    ///
    /// # Panics
    /// If `i` is not less than [`num_attributes`](Self::num_attributes).
    #[inline(always)]
    pub(crate) fn attribute_at(self, i: usize) -> RawAttribute<'a> {
        let attributes = &self.0.attributes;
        // SAFETY: `kinds` has `size` entries, which is `num_attributes` (*lists*).
        let kinds = unsafe { slice_of(attributes.kinds, self.num_attributes()) };
        // SAFETY: `values` has as many entries (*lists*).
        let values = unsafe { slice_of(attributes.values, self.num_attributes()) };
        // `kinds[i]` says which struct `values[i]` points to (*lists*): the invariant of `RawAttribute`.
        RawAttribute { kind: kinds[i], value: values[i], lifetime: PhantomData }
    }
}

/// The operands, or the results, of a call.
#[derive(Clone, Copy)]
pub(crate) struct Arrays<'a> {
    kinds: &'a [c_int],
    values: &'a [*mut c_void],
}

impl<'a> Arrays<'a> {
    #[inline(always)]
    fn new(buffers: &'a abi::Buffers) -> Self {
        let len = usize::try_from(buffers.size).unwrap_or(0);
        // SAFETY: `kinds` has `size` entries (*lists*).
        let kinds = unsafe { slice_of(buffers.kinds, len) };
        // SAFETY: `values` has `size` entries (*lists*).
        let values = unsafe { slice_of(buffers.values, len) };
        Self { kinds, values }
    }

    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        self.values.len()
    }

    /// Operand or result number `i`.
    ///
    /// # Panics
    /// If `i` is not less than [`len`](Self::len).
    #[inline(always)]
    pub(crate) fn get(self, i: usize) -> Result<RawArray<'a>, Error> {
        if self.kinds[i] != abi::BUFFER {
            return Err(no_buffer(self.kinds[i]));
        }
        let buffer = self.values[i].cast::<abi::Buffer>();
        // SAFETY: `kinds[i]` is `BUFFER`, so `values[i]` points to a `Buffer` (*lists*), which begins with its size (*struct
        // size*).
        check_size("XLA_FFI_Buffer", abi::Buffer::SIZE, unsafe { (*buffer).struct_size })?;
        // SAFETY: its size has been checked, so all fields exist; nobody writes it (*shared*).
        let buffer = unsafe { &*buffer };
        // SAFETY: `dimensions` points to `rank` sizes (*spans*).
        let sizes = unsafe { slice_of(buffer.dimensions, usize::try_from(buffer.rank).unwrap_or(0)) };
        Ok(RawArray { element_type: buffer.element_type, sizes, data: buffer.data.cast() })
    }
}

#[cold]
fn no_buffer(kind: c_int) -> Error {
    Error::invalid_argument(format!("expected a buffer, found a value of kind {kind}"))
}

impl<'a> RawAttribute<'a> {
    #[inline(always)]
    fn as_scalar(self) -> Option<&'a abi::ScalarAttribute> {
        // SAFETY: `kind` is `SCALAR`, so `value` points to a `ScalarAttribute` during `'a` (invariant).
        (self.kind == attribute_kind::SCALAR).then(|| unsafe { &*self.value.cast() })
    }

    #[inline(always)]
    fn as_array(self) -> Option<&'a abi::ArrayAttribute> {
        // SAFETY: `kind` is `ARRAY`, so `value` points to an `ArrayAttribute` during `'a` (invariant).
        (self.kind == attribute_kind::ARRAY).then(|| unsafe { &*self.value.cast() })
    }

    /// The bytes of a scalar; `None` if the attribute is not a scalar of this type, or the type does not take `N` bytes.
    #[inline(always)]
    pub(crate) fn scalar<const N: usize>(self, element_type: ElementType) -> Option<[u8; N]> {
        let scalar = self.as_scalar()?;
        if scalar.element_type != element_type.proto_number() || N as u64 != element_type.storage_bytes() {
            return None;
        }
        // SAFETY: a scalar points to one initialised value of its element type (*spans*), which takes `N` bytes; `[u8; N]`
        // needs no alignment.
        Some(unsafe { scalar.value.cast::<[u8; N]>().read() })
    }

    /// The contiguous bytes of a list of numbers; `None` if the attribute is not a list of this type.
    #[inline(always)]
    pub(crate) fn values(self, element_type: ElementType) -> Option<&'a [u8]> {
        let array = self.as_array()?;
        if array.element_type != element_type.proto_number() {
            return None;
        }
        let len = array.len.checked_mul(element_type.storage_bytes() as usize)?;
        // SAFETY: `data` points to `array.len` values of this element type (*spans*): `len` bytes.
        Some(unsafe { slice_of(array.data.cast(), len) })
    }

    /// The bytes of a text; `None` if the attribute is not a text.
    #[inline(always)]
    pub(crate) fn text(self) -> Option<&'a [u8]> {
        // SAFETY: `kind` is `STRING`, so `value` points to a `ByteSpan` during `'a` (invariant).
        let text: &abi::ByteSpan = (self.kind == attribute_kind::STRING).then(|| unsafe { &*self.value.cast() })?;
        // SAFETY: `data` points to `len` bytes (*spans*).
        Some(unsafe { slice_of(text.data, text.len) })
    }

    /// What the attribute is, for error messages: "a number of type f32".
    pub(crate) fn describe(self) -> String {
        let of_type = |what, number| match ElementType::from_proto_number(number) {
            Some(element_type) => format!("{what} of type {element_type}"),
            None => format!("{what} of an unknown type ({number})"),
        };
        match (self.as_scalar(), self.as_array()) {
            (Some(scalar), _) => of_type("a number", scalar.element_type),
            (_, Some(array)) => of_type("numbers", array.element_type),
            _ if self.kind == attribute_kind::STRING => "a text".to_owned(),
            _ if self.kind == attribute_kind::DICTIONARY => "a dictionary".to_owned(),
            _ => format!("an attribute of an unknown kind ({})", self.kind),
        }
    }
}

/// Makes an error object of XLA's, which the handler returns and XLA destroys.
///
/// The result is null if XLA's table has no function that makes errors. XLA reads null as success, so the error is then lost.
///
/// # Safety
/// `frame` is the pointer that XLA has passed to a handler, and the handler has not returned.
#[cold]
pub(crate) unsafe fn raise(frame: *mut abi::CallFrame, error: &Error) -> *mut abi::XlaError {
    // SAFETY: all versions of the call frame have this field (*struct size*).
    let api = unsafe { (*frame).api };
    if api.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: `api` is not null, so it points to XLA's table of functions, which has `error_create` since the first version.
    let Some(create) = (unsafe { (*api).error_create }) else { return std::ptr::null_mut() };
    let mut message = error.message().replace('\0', " ").into_bytes();
    message.push(0);
    let mut arguments = abi::ErrorCreateArgs {
        struct_size: abi::ErrorCreateArgs::SIZE,
        extensions: std::ptr::null_mut(),
        message: message.as_ptr().cast::<c_char>(),
        code: error.code() as c_int,
    };
    // SAFETY: `create` is `XLA_FFI_Error_Create`. `arguments` has the struct size that it claims and lives until the call
    // returns; the message ends with 0, and XLA copies it.
    unsafe { create(&mut arguments) }
}
