//! Shapes: text, kind, sizes, layouts, and which operations are bitcasts.

use crate::border::error::{Result, XlaShapeError, XlaShapeErrorCode as Code, failure};
use crate::border::{
    Handle, Struct, c_text, call, call_or, free, give, handle, list, new_handle, optional, result, signed, text,
    unsigned, write_struct,
};
use std::ffi::{CString, c_char};
use std::sync::OnceLock;
use xla_shape_core::bitcast::Answer;
use xla_shape_core::tpu::Generation;
use xla_shape_core::{ArrayShape, Layout, ParseError, Placement, Shape, StrideTableError, TileDimension};
use xla_shape_relayout::wide::local;

/// How XLA writes an unbounded dimension, and `*` in a tile.
pub(crate) const UNKNOWN: i64 = i64::MIN;

/// The shape of an XLA value: of an array with its layout, of a tuple, a token, or an opaque value. Always valid.
///
/// Immutable: any number of threads may use it at once. Free it with xla_shape_free.
pub struct XlaShape {
    value: Shape,
    text: OnceLock<CString>,
    pub(crate) parts: OnceLock<Parts>,
    /// `Err(None)`: the array is split over several memories.
    placement: OnceLock<std::result::Result<Placement, Option<StrideTableError>>>,
}

/// The lists that an [`XlaShapeArray`](crate::XlaShapeArray) points to. They belong to the handle of the shape.
pub(crate) struct Parts {
    pub(crate) dimensions: Vec<i64>,
    pub(crate) is_dynamic: Vec<u8>,
    pub(crate) minor_to_major: Vec<i64>,
    pub(crate) tile_dims: Vec<i64>,
    pub(crate) tile_dim_sizes: Vec<usize>,
}

impl Parts {
    pub(crate) fn new(array: &ArrayShape) -> Self {
        let layout = array.layout();
        let entry = |entry: &TileDimension| match entry {
            TileDimension::Size(size) => signed(*size),
            TileDimension::Combine => UNKNOWN,
        };
        Self {
            dimensions: array.dimensions().iter().map(|dimension| number(dimension.extent(), UNKNOWN)).collect(),
            is_dynamic: array.dimensions().iter().map(|dimension| u8::from(dimension.is_dynamic())).collect(),
            minor_to_major: layout.minor_to_major().iter().map(|&dimension| dimension as i64).collect(),
            tile_dims: layout.tiles().iter().flat_map(|tile| tile.dimensions().iter().map(entry)).collect(),
            tile_dim_sizes: layout.tiles().iter().map(|tile| tile.dimensions().len()).collect(),
        }
    }
}

impl Handle for XlaShape {
    const NAME: &'static str = "XlaShape";
}

impl From<Shape> for XlaShape {
    fn from(value: Shape) -> Self {
        Self { value, text: OnceLock::new(), parts: OnceLock::new(), placement: OnceLock::new() }
    }
}

impl From<ArrayShape> for XlaShape {
    fn from(array: ArrayShape) -> Self {
        Shape::Array(array).into()
    }
}

impl XlaShape {
    #[inline]
    pub(crate) fn array(&self) -> Result<&ArrayShape> {
        self.value.array().ok_or_else(|| self.no_array())
    }

    #[cold]
    fn no_array(&self) -> Box<XlaShapeError> {
        failure(Code::WrongKind, format_args!("expected an array, found {}", self.value))
    }

    /// Where the elements are; computed at the first use. An error for an array that is split: its sizes are those of one memory, so
    /// positions in the whole array would lie outside of them.
    #[inline]
    pub(crate) fn placement(&self) -> Result<&Placement> {
        let array = self.array()?;
        let found = self.placement.get_or_init(|| {
            let is_split = !array.layout().attributes().split_configs.is_empty();
            if is_split { Err(None) } else { array.placement().map_err(Some) }
        });
        found.as_ref().map_err(|&error| error.map_or_else(|| self.split(), Into::into))
    }

    #[cold]
    fn split(&self) -> Box<XlaShapeError> {
        failure(
            Code::Unsupported,
            format_args!(
                "expected an array in one memory, found {} with splits: each memory has positions of its own",
                self.value
            ),
        )
    }

    /// The error of a shape whose sizes are not known.
    #[cold]
    fn no_size(&self) -> Box<XlaShapeError> {
        failure(Code::UnknownSize, format_args!("expected known sizes that fit in 63 bits, found {}", self.value))
    }
}

/// The value of a text; its error points into the text.
pub(crate) fn parsed<T: std::str::FromStr<Err = ParseError>>(text: &str) -> Result<T> {
    text.parse().map_err(|error| XlaShapeError::of_parse(&error, text))
}

/// Passes C a text that belongs to a handle.
///
/// # Safety
/// The rule *results*.
pub(crate) unsafe fn lend_text(owned: &std::ffi::CStr, to: *mut *const c_char, length: *mut usize) -> Result<()> {
    // SAFETY: the caller promises *results*.
    let to = unsafe { result(to, "place for the text") }?;
    // SAFETY: the caller promises *results*.
    let length = unsafe { optional(length, "length") }?;
    to.write(owned.as_ptr());
    if let Some(length) = length {
        length.write(owned.count_bytes());
    }
    Ok(())
}

/// What kind of value a shape describes. Later versions may have further kinds.
#[repr(i32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum XlaShapeKind {
    /// No shape: the pointer is NULL, or not a shape.
    Invalid = 0,
    /// An array.
    Array = 1,
    /// A tuple of values.
    Tuple = 2,
    /// A token, which orders side effects and has no data.
    Token = 3,
    /// An opaque value, whose content XLA does not know.
    Opaque = 4,
    /// A buffer: an array that is passed by reference. All functions on arrays accept it.
    Buffer = 5,
}

/// Reads a shape from XLA's text, such as `bf16[8,128]{1,0:T(8,128)(2,1)}` or `(f32[2], token[])`. Without a layout in the text, an array is
/// row-major.
///
/// `text` has `length` bytes of UTF-8 and need not end with NUL; it is not used after the call. `*shape` becomes a new handle, which the
/// caller frees with xla_shape_free, or NULL after an error.
///
/// Errors: XLA_SHAPE_ERROR_CODE_PARSE with a span if the text is not a valid shape, and as for all functions.
///
/// # Safety
/// `text` has `length` bytes; `shape` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_parse(
    text: *const c_char,
    length: usize,
    shape: *mut *mut XlaShape,
) -> *mut XlaShapeError {
    call(|| {
        // SAFETY: the caller promises *results*.
        let shape = unsafe { new_handle(shape) }?;
        // SAFETY: the caller promises *lists*.
        let text = unsafe { self::text(text, length) }?;
        shape.write(give(XlaShape::from(parsed::<Shape>(text)?)));
        Ok(())
    })
}

/// Frees a shape, and with it the texts and lists that functions returned for it. Nothing happens if it is NULL. What was made from it
/// (tuple elements, partitions, plans) stays valid.
///
/// # Safety
/// `shape` is NULL, or a shape that has not been freed, and that no thread uses any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_free(shape: *mut XlaShape) {
    // SAFETY: the caller promises *handles*, and that nobody uses this handle any more.
    unsafe { free(shape) };
}

/// A copy of a shape, with a lifetime of its own.
///
/// `*copy` becomes a new handle, which the caller frees with xla_shape_free, or NULL after an error. Errors: as for all functions.
///
/// # Safety
/// `shape` is NULL or a shape; `copy` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_clone(shape: *const XlaShape, copy: *mut *mut XlaShape) -> *mut XlaShapeError {
    call(|| {
        // SAFETY: the caller promises *results*.
        let copy = unsafe { new_handle(copy) }?;
        // SAFETY: the caller promises *handles*.
        let shape = unsafe { handle(shape) }?;
        copy.write(give(XlaShape::from(shape.value.clone())));
        Ok(())
    })
}

/// The text of a shape as XLA prints it, always with the layout: `bf16[8,128]{1,0:T(8,128)(2,1)}`. xla_shape_parse reads it back.
///
/// `*text` becomes a text of `*length` bytes that ends with NUL (which is not counted); `length` may be NULL. The text belongs to the shape
/// and is valid until that is freed. Errors: as for all functions.
///
/// # Safety
/// `shape` is NULL or a shape; `text` and `length` are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_text(
    shape: *const XlaShape,
    text: *mut *const c_char,
    length: *mut usize,
) -> *mut XlaShapeError {
    call(|| {
        // SAFETY: the caller promises *handles*.
        let shape = unsafe { handle(shape) }?;
        let owned = shape.text.get_or_init(|| c_text(&shape.value.to_string()));
        // SAFETY: the caller promises *results*.
        unsafe { lend_text(owned, text, length) }
    })
}

/// What kind of value the shape describes.
///
/// Returns XLA_SHAPE_KIND_INVALID if `shape` is NULL, or, where it can be known, not a shape. Never fails.
///
/// # Safety
/// `shape` is NULL or a shape.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_kind(shape: *const XlaShape) -> XlaShapeKind {
    call_or(XlaShapeKind::Invalid, || {
        // SAFETY: the caller promises *handles*.
        match unsafe { handle(shape) }.map(|shape| &shape.value) {
            Err(_) => XlaShapeKind::Invalid,
            Ok(Shape::Array(_)) => XlaShapeKind::Array,
            Ok(Shape::Tuple(_)) => XlaShapeKind::Tuple,
            Ok(Shape::Token) => XlaShapeKind::Token,
            Ok(Shape::Opaque) => XlaShapeKind::Opaque,
            Ok(Shape::Buffer(_)) => XlaShapeKind::Buffer,
        }
    })
}

/// Whether two shapes are equal: element types, sizes, layouts and memory spaces.
///
/// Writes the answer to `*equal`. Errors: as for all functions.
///
/// # Safety
/// `a` and `b` are NULL or shapes; `equal` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_equal(
    a: *const XlaShape,
    b: *const XlaShape,
    equal: *mut bool,
) -> *mut XlaShapeError {
    call(|| {
        // SAFETY: the caller promises *handles*.
        let a = unsafe { handle(a) }?;
        // SAFETY: the caller promises *handles*.
        let b = unsafe { handle(b) }?;
        // SAFETY: the caller promises *results*.
        unsafe { result(equal, "result") }?.write(a.value == b.value);
        Ok(())
    })
}

/// The number of elements of a tuple.
///
/// Writes it to `*count`. Errors: XLA_SHAPE_ERROR_CODE_WRONG_KIND if the shape is not a tuple, and as for all functions.
///
/// # Safety
/// `shape` is NULL or a shape; `count` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_tuple_count(shape: *const XlaShape, count: *mut usize) -> *mut XlaShapeError {
    call(|| {
        // SAFETY: the caller promises *handles*.
        let shape = unsafe { handle(shape) }?;
        let elements = tuple(shape)?;
        // SAFETY: the caller promises *results*.
        unsafe { result(count, "count") }?.write(elements.len());
        Ok(())
    })
}

fn tuple(shape: &XlaShape) -> Result<&[Shape]> {
    let expected = || failure(Code::WrongKind, format_args!("expected a tuple, found {}", shape.value));
    shape.value.tuple_shapes().ok_or_else(expected)
}

/// An element of a tuple, numbered from 0.
///
/// `*element` becomes a new handle with a lifetime of its own, which the caller frees with xla_shape_free, or NULL after an error.
///
/// Errors: XLA_SHAPE_ERROR_CODE_WRONG_KIND if the shape is not a tuple, XLA_SHAPE_ERROR_CODE_OUT_OF_BOUNDS if it has no such element, and as
/// for all functions.
///
/// # Safety
/// `shape` is NULL or a shape; `element` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_tuple_element(
    shape: *const XlaShape,
    number: usize,
    element: *mut *mut XlaShape,
) -> *mut XlaShapeError {
    call(|| {
        // SAFETY: the caller promises *results*.
        let element = unsafe { new_handle(element) }?;
        // SAFETY: the caller promises *handles*.
        let shape = unsafe { handle(shape) }?;
        let elements = tuple(shape)?;
        let found = elements.get(number).ok_or_else(|| {
            failure(Code::OutOfBounds, format_args!("expected an element below {}, found {number}", elements.len()))
        })?;
        element.write(give(XlaShape::from(found.clone())));
        Ok(())
    })
}

/// How much memory a value takes. All numbers are at most INT64_MAX. For a tuple, the bytes are sums over all arrays in it, however nested.
/// If an array is split over several memories (`SC`), `bytes` and `positions` are for one of these memories.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct XlaShapeSizes {
    /// Set it to sizeof(XlaShapeSizes) before the call. The call sets it to the bytes of the struct that the library has filled.
    pub struct_size: usize,
    /// The bytes of the buffer: elements and padding, and the prefix in front of an array with bounded dimensions.
    pub bytes: i64,
    /// The bytes that the elements would take without padding.
    pub unpadded_bytes: i64,
    /// The bytes of padding.
    pub padding_bytes: i64,
    /// The number of elements of an array: the product of its sizes (bounds, where they are bounded). -1 if it is not an array.
    pub elements: i64,
    /// The number of positions of an array, padding included: positions are 0 to `positions` - 1. -1 if it is not an array.
    pub positions: i64,
    /// The bits that an element of an array takes: 4 in `s4[16]{0:E(4)}`, 8 in `s4[16]`. -1 if it is not an array.
    pub element_bits: i64,
}

// SAFETY: `repr(C)`, the size first, integers only, and each of them has 8 bytes, so there is no padding.
unsafe impl Struct for XlaShapeSizes {
    const NAME: &'static str = "XlaShapeSizes";
    const FIRST_SIZE: usize = 7 * 8;
}

/// How much memory a value takes, and how many elements an array has.
///
/// Set `sizes->struct_size` first: `XlaShapeSizes sizes = {.struct_size = sizeof sizes};`. The rest of `*sizes` is filled.
///
/// Errors: XLA_SHAPE_ERROR_CODE_UNKNOWN_SIZE if a dimension is unbounded or a sum does not fit in an int64_t, and as for all functions.
///
/// # Safety
/// `shape` is NULL or a shape; `sizes` is NULL, or has `sizes->struct_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_sizes(shape: *const XlaShape, sizes: *mut XlaShapeSizes) -> *mut XlaShapeError {
    call(|| {
        // SAFETY: the caller promises *handles*.
        let shape = unsafe { handle(shape) }?;
        let fill = |struct_size| {
            let value = &shape.value;
            // The sum over a tuple can be larger than any single array may be.
            let known = |number: Option<u64>| {
                number.and_then(|number| i64::try_from(number).ok()).ok_or_else(|| shape.no_size())
            };
            let of_array = |number: &dyn Fn(&ArrayShape) -> Option<u64>| match value.array() {
                Some(array) => known(number(array)),
                None => Ok(-1),
            };
            Ok(XlaShapeSizes {
                struct_size,
                bytes: known(value.byte_size())?,
                unpadded_bytes: known(value.unpadded_byte_size())?,
                padding_bytes: known(value.padding_byte_size())?,
                elements: of_array(&ArrayShape::elements)?,
                positions: of_array(&ArrayShape::physical_elements)?,
                element_bits: of_array(&|array| Some(array.element_bits()))?,
            })
        };
        // SAFETY: the caller promises *structs* and *results*.
        unsafe { write_struct(sizes, fill) }
    })
}

/// The same array in another layout, which is given as text, such as `{1,0:T(8,128)}`. A buffer stays a buffer.
///
/// `layout` has `length` bytes of UTF-8 and need not end with NUL. `*result` becomes a new handle, which the caller frees with
/// xla_shape_free, or NULL after an error.
///
/// Errors: XLA_SHAPE_ERROR_CODE_PARSE with a span in `layout` if the text is not a layout, XLA_SHAPE_ERROR_CODE_INVALID_ARGUMENT if the
/// layout is not one for this array, XLA_SHAPE_ERROR_CODE_WRONG_KIND if the shape is not an array, and as for all functions.
///
/// # Safety
/// `shape` is NULL or a shape; `layout` has `length` bytes; `result` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_with_layout(
    shape: *const XlaShape,
    layout: *const c_char,
    length: usize,
    result: *mut *mut XlaShape,
) -> *mut XlaShapeError {
    call(|| {
        // SAFETY: the caller promises *results*.
        let result = unsafe { new_handle(result) }?;
        // SAFETY: the caller promises *handles*.
        let shape = unsafe { handle(shape) }?;
        // SAFETY: the caller promises *lists*.
        let layout: Layout = parsed(unsafe { text(layout, length) }?)?;
        shape.array()?;
        let value = shape.value.clone().try_map_arrays(|array| array.with_layout(layout.clone()))?;
        result.write(give(XlaShape::from(value)));
        Ok(())
    })
}

/// The same shape with the layout that a TPU chooses by default for each array in it.
///
/// `generation` is a name of the TPU that JAX, the compiler or Cloud TPU use, in upper or lower case: "v5e", "TPU v5 lite", "v6e", "tpu7x". It has
/// `length` bytes and need not end with NUL. `*result` becomes a new handle, which the caller frees with xla_shape_free, or NULL after an
/// error.
///
/// Errors: XLA_SHAPE_ERROR_CODE_INVALID_ARGUMENT if no generation has this name, XLA_SHAPE_ERROR_CODE_UNSUPPORTED if the layout of an
/// array is not known, and as for all functions.
///
/// # Safety
/// `shape` is NULL or a shape; `generation` has `length` bytes; `result` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_with_tpu_layout(
    shape: *const XlaShape,
    generation: *const c_char,
    length: usize,
    result: *mut *mut XlaShape,
) -> *mut XlaShapeError {
    call(|| {
        // SAFETY: the caller promises *results*.
        let result = unsafe { new_handle(result) }?;
        // SAFETY: the caller promises *handles*.
        let shape = unsafe { handle(shape) }?;
        // SAFETY: the caller promises *lists*.
        let generation: Generation = unsafe { text(generation, length) }?.parse()?;
        result.write(give(XlaShape::from(shape.value.clone().with_tpu_layout(generation)?)));
        Ok(())
    })
}

/// Asks a question about two arrays. Writes whether the answer is yes; if not, also an error object that says why.
///
/// # Safety
/// The rules *handles* and *results*.
unsafe fn ask_bitcast(
    [from, to]: [*const XlaShape; 2],
    is_bitcast: *mut bool,
    reason: *mut *mut XlaShapeError,
    ask: impl FnOnce(&ArrayShape, &ArrayShape) -> Result<Answer>,
) -> *mut XlaShapeError {
    call(|| {
        // SAFETY: the caller promises *handles*.
        let from = unsafe { handle(from) }?;
        // SAFETY: the caller promises *handles*.
        let to = unsafe { handle(to) }?;
        let answer = ask(from.array()?, to.array()?)?;
        // SAFETY: the caller promises *results*.
        let place = unsafe { result(is_bitcast, "result") }?;
        // SAFETY: the caller promises *results*.
        let reason = unsafe { optional(reason, "place for the reason") }?;
        place.write(answer.is_yes());
        if let Some(reason) = reason {
            let no = || give(*failure(Code::NotABitcast, &answer));
            reason.write(if answer.is_yes() { std::ptr::null_mut() } else { no() });
        }
        Ok(())
    })
}

/// Whether the reshape of `operand` to `result`, which has the same elements in row-major order, leaves every byte where it is. As
/// ShapeUtil::ReshapeIsBitcast of XLA, but exact.
///
/// Writes the answer to `*is_bitcast`. If `reason` is not NULL, also writes to `*reason`: NULL if the answer is yes, and otherwise an error object
/// whose message says which element moves. Free that object with xla_shape_error_free.
///
/// Errors, after which neither place is written: XLA_SHAPE_ERROR_CODE_WRONG_KIND if one of the shapes is not an array,
/// XLA_SHAPE_ERROR_CODE_UNKNOWN_SIZE if a dimension is unbounded, XLA_SHAPE_ERROR_CODE_UNSUPPORTED if the layouts are too complex to
/// compare, and as for all functions.
///
/// # Safety
/// `operand` and `result` are NULL or shapes; `is_bitcast` and `reason` are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_reshape_is_bitcast(
    operand: *const XlaShape,
    result: *const XlaShape,
    is_bitcast: *mut bool,
    reason: *mut *mut XlaShapeError,
) -> *mut XlaShapeError {
    let ask = |operand: &ArrayShape, result: &ArrayShape| Ok(operand.reshape_is_bitcast(result)?);
    // SAFETY: the caller promises *handles* and *results*.
    unsafe { ask_bitcast([operand, result], is_bitcast, reason, ask) }
}

/// Whether an array of the shape `operand` can be read in the layout of `result` without moving a byte. `result` has the same sizes.
///
/// The answer, the reason and the errors are those of xla_shape_reshape_is_bitcast.
///
/// # Safety
/// `operand` and `result` are NULL or shapes; `is_bitcast` and `reason` are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_layout_change_is_bitcast(
    operand: *const XlaShape,
    result: *const XlaShape,
    is_bitcast: *mut bool,
    reason: *mut *mut XlaShapeError,
) -> *mut XlaShapeError {
    let ask = |operand: &ArrayShape, result: &ArrayShape| Ok(operand.layout_change_is_bitcast(result)?);
    // SAFETY: the caller promises *handles* and *results*.
    unsafe { ask_bitcast([operand, result], is_bitcast, reason, ask) }
}

/// Whether the transpose of `operand` to `result` leaves every byte where it is. Dimension i of `result` is dimension `permutation[i]` of
/// `operand`. As ShapeUtil::TransposeIsBitcast of XLA.
///
/// `permutation` has `num_dimensions` entries, one for each dimension of `operand`. The answer, the reason and the errors are those of
/// xla_shape_reshape_is_bitcast. Another error is XLA_SHAPE_ERROR_CODE_INVALID_ARGUMENT if `permutation` is not a permutation of the
/// dimensions.
///
/// # Safety
/// `operand` and `result` are NULL or shapes; `permutation` has `num_dimensions` entries; `is_bitcast` and `reason` are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_transpose_is_bitcast(
    operand: *const XlaShape,
    result: *const XlaShape,
    permutation: *const i64,
    num_dimensions: usize,
    is_bitcast: *mut bool,
    reason: *mut *mut XlaShapeError,
) -> *mut XlaShapeError {
    let ask = |operand: &ArrayShape, result: &ArrayShape| {
        // SAFETY: the caller promises *lists*.
        let permutation = unsafe { list(permutation, num_dimensions, "permutation") }?;
        Ok(operand.transpose_is_bitcast(result, local(unsigned(permutation)))?)
    };
    // SAFETY: the caller promises *handles* and *results*.
    unsafe { ask_bitcast([operand, result], is_bitcast, reason, ask) }
}

/// A size of the library for C.
pub(crate) fn number(value: Option<u64>, otherwise: i64) -> i64 {
    value.map_or(otherwise, signed)
}
