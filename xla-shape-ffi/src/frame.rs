//! The call as XLA passes it, read and checked once: all pointers are followed here.

use crate::abi::{self, attribute_kind};
use crate::error::Error;
use std::ffi::{c_char, c_int, c_void};
use std::marker::PhantomData;
use std::slice;
use xla_shape::ElementType;

/// A call that a handler has been given.
///
/// Made only from what XLA passes ([`Frame::new`]), so that its pointers are what the interface says they are for `'a`.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a>(&'a abi::CallFrame);

/// What XLA wants of the handler.
pub(crate) enum Request<'a> {
    /// To say what it is.
    Metadata(&'a mut abi::Metadata),
    /// To run.
    Call(Frame<'a>),
}

/// An operand or a result. Only that it is a buffer has been checked.
#[derive(Clone, Copy)]
pub(crate) struct RawArray<'a> {
    /// The number of the element type in XLA's schema.
    pub(crate) element_type: c_int,
    pub(crate) sizes: &'a [i64],
    pub(crate) data: *mut u8,
}

/// The value of an attribute, whose type has not been looked at.
///
/// Made only from what XLA passes (`Frame::attribute_at`): `value` points to an attribute of this kind for `'a`.
#[derive(Clone, Copy, Debug)]
pub struct RawAttribute<'a> {
    kind: c_int,
    value: *const c_void,
    lifetime: PhantomData<&'a ()>,
}

/// The slice of C's pointer and length, of which the pointer may be null if the length is 0.
///
/// # Safety
/// If `len` is greater than 0, `data` points to `len` initialised values, aligned, which nobody writes during `'a`.
#[inline(always)]
unsafe fn slice_of<'a, T>(data: *const T, len: usize) -> &'a [T] {
    if len == 0 {
        return &[];
    }
    // SAFETY: what the caller promises.
    unsafe { slice::from_raw_parts(data, len) }
}

/// The sizes of structs must be at least those known here.
#[inline(always)]
fn check_size(name: &str, expected: usize, found: usize) -> Result<(), Error> {
    if found >= expected { Ok(()) } else { Err(too_old(name, expected, found)) }
}

#[cold]
fn too_old(name: &str, expected: usize, found: usize) -> Error {
    Error::invalid_argument(format!("expected {name} of at least {expected} bytes, found {found}: this XLA is too old"))
}

impl<'a> Request<'a> {
    /// Reads what XLA asks for.
    ///
    /// # Safety
    /// `frame` is what XLA passes to a handler, and lives for `'a`.
    #[inline(always)]
    pub(crate) unsafe fn new(frame: *mut abi::CallFrame) -> Result<Self, Error> {
        // SAFETY: the caller promises a call frame; every version of it begins with its size.
        let size = unsafe { (*frame).struct_size };
        // SAFETY: and then has its extensions.
        let mut extension = unsafe { (*frame).extensions };
        while !extension.is_null() {
            // SAFETY: extensions are a list that ends with null, and each begins with this head.
            let head = unsafe { &*extension };
            if head.kind == abi::METADATA_EXTENSION {
                check_size("XLA_FFI_Metadata_Extension", abi::MetadataExtension::SIZE, head.struct_size)?;
                // SAFETY: an extension of this kind and size is one that asks for metadata.
                let metadata = unsafe { (*extension.cast::<abi::MetadataExtension>()).metadata };
                // SAFETY: XLA passes memory for the metadata, of which the first field is its size.
                check_size("XLA_FFI_Metadata", abi::Metadata::SIZE, unsafe { (*metadata).struct_size })?;
                // SAFETY: as above; XLA waits for the handler to write it.
                return Ok(Self::Metadata(unsafe { &mut *metadata }));
            }
            extension = head.next;
        }
        check_size("XLA_FFI_CallFrame", abi::CallFrame::SIZE, size)?;
        // SAFETY: it lives for `'a`, as the caller promises, and has all fields that are known here, as its size says.
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

    /// Whether the handler is to compute.
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

    /// How many attributes there are.
    #[inline(always)]
    pub(crate) fn num_attributes(self) -> usize {
        usize::try_from(self.0.attributes.size).unwrap_or(0)
    }

    /// The names of the attributes.
    #[inline(always)]
    pub(crate) fn attribute_names(self) -> impl ExactSizeIterator<Item = &'a [u8]> {
        // SAFETY: XLA passes as many pointers to names as there are attributes.
        let names = unsafe { slice_of(self.0.attributes.names, self.num_attributes()) };
        names.iter().map(|&name| {
            // SAFETY: each points to a name.
            let name = unsafe { &*name };
            // SAFETY: a name has as many bytes as it says.
            unsafe { slice_of(name.data, name.len) }
        })
    }

    /// Attribute number `i`, which must be less than how many there are.
    #[inline(always)]
    pub(crate) fn attribute_at(self, i: usize) -> RawAttribute<'a> {
        let attributes = &self.0.attributes;
        // SAFETY: XLA passes as many kinds as there are attributes.
        let kinds = unsafe { slice_of(attributes.kinds, self.num_attributes()) };
        // SAFETY: and as many pointers to values, `values[i]` to one of kind `kinds[i]`.
        let values = unsafe { slice_of(attributes.values, self.num_attributes()) };
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
        // SAFETY: XLA passes `size` kinds.
        let kinds = unsafe { slice_of(buffers.kinds, len) };
        // SAFETY: and `size` pointers to values.
        let values = unsafe { slice_of(buffers.values, len) };
        Self { kinds, values }
    }

    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        self.values.len()
    }

    /// Operand or result number `i`, which must be less than [`len`](Self::len).
    #[inline(always)]
    pub(crate) fn get(self, i: usize) -> Result<RawArray<'a>, Error> {
        if self.kinds[i] != abi::BUFFER {
            return Err(no_buffer(self.kinds[i]));
        }
        let buffer = self.values[i].cast::<abi::Buffer>();
        // SAFETY: a value of this kind points to a buffer; its first field is its size.
        check_size("XLA_FFI_Buffer", abi::Buffer::SIZE, unsafe { (*buffer).struct_size })?;
        // SAFETY: it has all fields that are known here, as its size says.
        let buffer = unsafe { &*buffer };
        // SAFETY: a buffer has `rank` sizes.
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
        // SAFETY: the kind says so.
        (self.kind == attribute_kind::SCALAR).then(|| unsafe { &*self.value.cast() })
    }

    #[inline(always)]
    fn as_array(self) -> Option<&'a abi::ArrayAttribute> {
        // SAFETY: the kind says so.
        (self.kind == attribute_kind::ARRAY).then(|| unsafe { &*self.value.cast() })
    }

    /// The bytes of the value, if it is one of this type, which is stored in as many.
    #[inline(always)]
    pub(crate) fn scalar<const N: usize>(self, element_type: ElementType) -> Option<[u8; N]> {
        let scalar = self.as_scalar()?;
        if scalar.element_type != element_type.proto_number() || N as u64 != element_type.storage_bytes() {
            return None;
        }
        // SAFETY: a value of this type has as many bytes.
        Some(unsafe { scalar.value.cast::<[u8; N]>().read() })
    }

    /// The bytes of the values, one behind the other, if they are of this type.
    #[inline(always)]
    pub(crate) fn values(self, element_type: ElementType) -> Option<&'a [u8]> {
        let array = self.as_array()?;
        if array.element_type != element_type.proto_number() {
            return None;
        }
        let len = array.len.checked_mul(element_type.storage_bytes() as usize)?;
        // SAFETY: an attribute has `len` values, of as many bytes as the type is stored in.
        Some(unsafe { slice_of(array.data.cast(), len) })
    }

    /// The bytes of the text, if it is one.
    #[inline(always)]
    pub(crate) fn text(self) -> Option<&'a [u8]> {
        // SAFETY: the kind says so.
        let text: &abi::ByteSpan = (self.kind == attribute_kind::STRING).then(|| unsafe { &*self.value.cast() })?;
        // SAFETY: a text has as many bytes as it says.
        Some(unsafe { slice_of(text.data, text.len) })
    }

    /// What it is, in words.
    pub(crate) fn words(self) -> String {
        let of_type = |what, number| match ElementType::from_proto_number(number) {
            Some(element_type) => format!("{what} of type {element_type}"),
            None => "values of a type that is unknown here".to_owned(),
        };
        match (self.as_scalar(), self.as_array()) {
            (Some(scalar), _) => of_type("a number", scalar.element_type),
            (_, Some(array)) => of_type("numbers", array.element_type),
            _ if self.kind == attribute_kind::STRING => "a text".to_owned(),
            _ if self.kind == attribute_kind::DICTIONARY => "a dictionary".to_owned(),
            _ => "an attribute of a kind that is unknown here".to_owned(),
        }
    }
}

/// Hands an error to XLA, which takes it over. Null, as if all were well, only if XLA offers no way to make errors.
///
/// # Safety
/// `frame` is what XLA passes to a handler.
#[cold]
pub(crate) unsafe fn raise(frame: *mut abi::CallFrame, error: &Error) -> *mut abi::XlaError {
    // SAFETY: every version of a call frame has this field.
    let api = unsafe { (*frame).api };
    if api.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: not null, so XLA's table of functions.
    let Some(create) = (unsafe { (*api).error_create }) else { return std::ptr::null_mut() };
    let mut message = error.message().replace('\0', " ").into_bytes();
    message.push(0);
    let mut arguments = abi::ErrorCreateArgs {
        struct_size: abi::ErrorCreateArgs::SIZE,
        extensions: std::ptr::null_mut(),
        message: message.as_ptr().cast::<c_char>(),
        code: error.code() as c_int,
    };
    // SAFETY: the arguments are what the interface wants; the message ends with 0, and XLA copies it.
    unsafe { create(&mut arguments) }
}
