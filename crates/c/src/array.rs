//! The parts of an array as a struct of C.

use crate::border::error::{Result, XlaShapeError, XlaShapeErrorCode as Code, failure};
use crate::border::{Struct, call, give, handle, list, new_handle, read_struct, signed, unsigned, write_struct};
use crate::shape::{Parts, UNKNOWN, XlaShape};
use std::ffi::c_char;
use std::ptr;
use xla_shape_core::{
    ArrayShape, Dimension, ElementType, Layout, LayoutAttributes, Tile, TileDimension, ValidationError,
};
use xla_shape_relayout::wide::local;

/// The parts of the shape of an array. The layout is described as in PJRT_Buffer_MemoryLayout_Tiled: the pointers can be passed on.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct XlaShapeArray {
    /// Set it to sizeof(XlaShapeArray) before the call. xla_shape_array sets it to the bytes of the struct that the library has filled.
    pub struct_size: usize,
    /// The element type: its number in XLA's enum PrimitiveType (xla_data.proto), such as 11 for F32 and 16 for BF16. These are not the
    /// numbers of PJRT_Buffer_Type. See xla_shape_element_type_number.
    pub element_type: i64,
    /// The sizes, in elements, `num_dimensions` entries. XLA_SHAPE_UNBOUNDED for an unbounded dimension.
    pub dimensions: *const i64,
    /// For each dimension 1 if its size is a bound and the actual size is known at run time only, otherwise 0. NULL: all 0.
    /// xla_shape_array sets 1 for unbounded dimensions, too, and never sets NULL.
    pub is_dynamic: *const u8,
    /// The number of dimensions: 0 for a scalar.
    pub num_dimensions: usize,
    /// The dimension numbers from the most minor to the most major one, `num_dimensions` entries. NULL: row-major.
    pub minor_to_major: *const i64,
    /// The sizes of all tiles, one tile after the other, each from major to minor, in elements. XLA_SHAPE_TILE_COMBINE for `*`.
    pub tile_dims: *const i64,
    /// For each tile, the number of its entries in `tile_dims`. `num_tiles` entries.
    pub tile_dim_sizes: *const usize,
    /// The number of tiles: 0 for a layout without tiles.
    pub num_tiles: usize,
    /// `E(n)`: the bits that an element takes; 0: those of the element type.
    pub element_size_in_bits: i64,
    /// `S(n)`: the memory space; 0: the default memory.
    pub memory_space: i64,
    /// `L(n)`: the number of positions is rounded up to a multiple of this. 0 and 1 mean no rounding.
    pub tail_padding_alignment_in_elements: i64,
    /// `M(n)`: the bytes in front of the elements, for the sizes of bounded dimensions.
    pub dynamic_shape_metadata_prefix_bytes: i64,
    /// The number of split dimensions (`SC`). Their indices are in the text only. Must be 0 in xla_shape_from_array.
    pub num_split_configs: usize,
}

// SAFETY: the struct is `repr(C)` and begins with its size. All fields are integers or pointers of 8 bytes, so it has no padding.
unsafe impl Struct for XlaShapeArray {
    const NAME: &'static str = "XlaShapeArray";
    const FIRST_SIZE: usize = 14 * 8;
}

/// The parts of an array: element type, sizes, order of dimensions, tiles, and attributes of the layout.
///
/// Set `array->struct_size` first: `XlaShapeArray array = {.struct_size = sizeof array};`. The call fills the other fields. The lists belong to
/// the shape and are valid until it is freed.
///
/// Errors: XLA_SHAPE_ERROR_CODE_WRONG_KIND if the shape is not an array, and as for all functions.
///
/// # Safety
/// `shape` is NULL or a shape; `array` is NULL, or has `array->struct_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_array(shape: *const XlaShape, array: *mut XlaShapeArray) -> *mut XlaShapeError {
    call(|| {
        // SAFETY: the caller promises *handles*.
        let shape = unsafe { handle(shape) }?;
        let value = shape.array()?;
        let parts = shape.parts.get_or_init(|| Parts::new(value));
        let LayoutAttributes {
            tail_padding_alignment_in_elements,
            element_size_in_bits,
            memory_space,
            split_configs,
            dynamic_shape_metadata_prefix_bytes,
        } = value.layout().attributes();
        let fill = |struct_size| {
            Ok(XlaShapeArray {
                struct_size,
                element_type: value.element_type().proto_number().into(),
                dimensions: parts.dimensions.as_ptr(),
                is_dynamic: parts.is_dynamic.as_ptr(),
                num_dimensions: parts.dimensions.len(),
                minor_to_major: parts.minor_to_major.as_ptr(),
                tile_dims: parts.tile_dims.as_ptr(),
                tile_dim_sizes: parts.tile_dim_sizes.as_ptr(),
                num_tiles: parts.tile_dim_sizes.len(),
                element_size_in_bits: signed(element_size_in_bits),
                memory_space: memory_space.into(),
                tail_padding_alignment_in_elements: signed(tail_padding_alignment_in_elements),
                dynamic_shape_metadata_prefix_bytes: signed(dynamic_shape_metadata_prefix_bytes),
                num_split_configs: split_configs.len(),
            })
        };
        // SAFETY: the caller promises *structs* and *results*.
        unsafe { write_struct(array, fill) }
    })
}

/// Makes the shape of an array from its parts. Set `array->struct_size` and the fields you need; fields that are 0 or NULL have defaults.
///
/// The struct and its lists are not used after the call. `*shape` becomes a new handle, which the caller frees with xla_shape_free, or NULL
/// after an error.
///
/// Errors: XLA_SHAPE_ERROR_CODE_INVALID_ARGUMENT if a part is not valid, and as for all functions.
///
/// # Safety
/// `array` is NULL, or has `array->struct_size` bytes, and its lists have as many entries as the fields say; `shape` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_from_array(
    array: *const XlaShapeArray,
    shape: *mut *mut XlaShape,
) -> *mut XlaShapeError {
    call(|| {
        // SAFETY: the caller promises *results*.
        let shape = unsafe { new_handle(shape) }?;
        // SAFETY: the caller promises *structs*.
        let array = unsafe { read_struct(array) }?;
        // SAFETY: the caller promises *lists* for the lists of the struct.
        let array = unsafe { from_parts(&array) }?;
        shape.write(give(XlaShape::from(array)));
        Ok(())
    })
}

/// # Safety
/// The lists of the struct have as many entries as its fields say (*lists*).
unsafe fn from_parts(parts: &XlaShapeArray) -> Result<ArrayShape> {
    let element_type = i32::try_from(parts.element_type).ok().and_then(ElementType::from_proto_number);
    let element_type = element_type.ok_or_else(|| {
        let found = parts.element_type;
        failure(Code::InvalidArgument, format_args!("expected the number of an element type of arrays, found {found}"))
    })?;
    if parts.num_split_configs != 0 {
        let found = parts.num_split_configs;
        return Err(failure(Code::InvalidArgument, format_args!("expected 0 split dimensions, found {found}")));
    }
    // SAFETY: the caller promises *lists*.
    let sizes = unsafe { list(parts.dimensions, parts.num_dimensions, "list of sizes") }?;
    let is_dynamic = if parts.is_dynamic.is_null() {
        None
    } else {
        // SAFETY: the caller promises *lists*.
        Some(unsafe { list(parts.is_dynamic, parts.num_dimensions, "list of flags") }?)
    };
    let dimension = |(number, &size): (usize, &i64)| {
        let is_dynamic = is_dynamic.and_then(|list| list.get(number)).is_some_and(|&flag| flag != 0);
        match u64::try_from(size) {
            Ok(size) if is_dynamic => Ok(Dimension::Bounded(size)),
            Ok(size) => Ok(Dimension::Static(size)),
            Err(_) if size == UNKNOWN => Ok(Dimension::Unbounded),
            Err(_) => Err(negative("size", number, size)),
        }
    };
    let dimensions = sizes.iter().enumerate().map(dimension).collect::<Result<Vec<_>>>()?;
    // SAFETY: the caller promises *lists*.
    let layout = unsafe { layout(parts) }?;
    Ok(ArrayShape::new(element_type, &dimensions, layout)?)
}

/// # Safety
/// The same as for [`from_parts`].
unsafe fn layout(parts: &XlaShapeArray) -> Result<Layout> {
    let layout = if parts.minor_to_major.is_null() {
        // SAFETY: the caller promises *lists*. So there is a list of `num_dimensions` entries, and a layout of as many dimensions fits in memory.
        Layout::descending(unsafe { list(parts.dimensions, parts.num_dimensions, "list of sizes") }?.len())
    } else {
        // SAFETY: the caller promises *lists*.
        let order = unsafe { list(parts.minor_to_major, parts.num_dimensions, "minor_to_major") }?;
        Layout::new(dimension_numbers(order)?)?
    };
    // SAFETY: the caller promises *lists*.
    let counts = unsafe { list(parts.tile_dim_sizes, parts.num_tiles, "tile_dim_sizes") }?;
    let total = counts.iter().try_fold(0_usize, |sum, &count| sum.checked_add(count));
    let total = total.ok_or_else(|| {
        failure(Code::InvalidArgument, format_args!("expected tiles that fit in memory, found too many entries"))
    })?;
    // SAFETY: the caller promises *lists*: `tile_dims` has `total` entries.
    let mut rest = unsafe { list(parts.tile_dims, total, "tile_dims") }?;
    let mut tiles = Vec::with_capacity(counts.len());
    for &count in counts {
        let (entries, others) = rest.split_at(count);
        rest = others;
        let entries = entries.iter().enumerate().map(|(number, &entry)| match u64::try_from(entry) {
            Ok(size) => Ok(TileDimension::Size(size)),
            Err(_) if entry == UNKNOWN => Ok(TileDimension::Combine),
            Err(_) => Err(negative("tile", number, entry)),
        });
        tiles.push(Tile::new(&entries.collect::<Result<Vec<_>>>()?));
    }
    let size = |number: i64, name: &str| {
        u64::try_from(number)
            .map_err(|_| failure(Code::InvalidArgument, format_args!("expected {name} of at least 0, found {number}")))
    };
    let memory_space = size(parts.memory_space, "memory_space")?;
    let memory_space =
        u8::try_from(memory_space).map_err(|_| ValidationError::MemorySpaceOutOfRange { memory_space })?;
    let alignment = size(parts.tail_padding_alignment_in_elements, "tail_padding_alignment_in_elements")?;
    let prefix = size(parts.dynamic_shape_metadata_prefix_bytes, "dynamic_shape_metadata_prefix_bytes")?;
    Ok(layout
        .with_tiles(&tiles)?
        .with_element_size_in_bits(size(parts.element_size_in_bits, "element_size_in_bits")?)?
        .with_memory_space(memory_space)?
        .with_tail_padding_alignment_in_elements(alignment.max(1))?
        .with_dynamic_shape_metadata_prefix_bytes(prefix)?)
}

/// Converts C's dimension numbers to the library's. Whether there are such dimensions is not checked.
pub(crate) fn dimension_numbers(list: &[i64]) -> Result<&[usize]> {
    match list.iter().enumerate().find(|(_, dimension)| dimension.is_negative()) {
        Some((number, &found)) => Err(negative("dimension", number, found)),
        None => Ok(local(unsigned(list))),
    }
}

#[cold]
fn negative(what: &str, number: usize, found: i64) -> Box<XlaShapeError> {
    failure(Code::InvalidArgument, format_args!("expected a {what} of at least 0 in entry {number}, found {found}"))
}

/// XLA's name of an element type, such as "bf16": a static text that ends with NUL. NULL if `element_type` is not the number of an element
/// type of arrays in XLA's enum PrimitiveType. Never fails.
#[unsafe(no_mangle)]
pub extern "C" fn xla_shape_element_type_name(element_type: i64) -> *const c_char {
    let found = i32::try_from(element_type).ok().and_then(ElementType::from_proto_number);
    found.map_or(ptr::null(), |found| names().name(found))
}

/// The number of an element type in XLA's enum PrimitiveType, by XLA's name of the type: 16 for "bf16".
///
/// `name` has `length` bytes and need not end with NUL. Writes the number to `*element_type`.
///
/// Errors: XLA_SHAPE_ERROR_CODE_PARSE if no element type of arrays has this name, and as for all functions.
///
/// # Safety
/// `name` has `length` bytes; `element_type` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_element_type_number(
    name: *const c_char,
    length: usize,
    element_type: *mut i64,
) -> *mut XlaShapeError {
    call(|| {
        // SAFETY: the caller promises *lists*.
        let name = unsafe { crate::border::text(name, length) }?;
        let found: ElementType = crate::shape::parsed(name)?;
        // SAFETY: the caller promises *results*.
        unsafe { crate::border::result(element_type, "number") }?.write(found.proto_number().into());
        Ok(())
    })
}

/// The names of all element types, each followed by NUL.
struct Names(Vec<(ElementType, std::ffi::CString)>);

impl Names {
    fn name(&self, wanted: ElementType) -> *const c_char {
        let found = self.0.iter().find(|(element_type, _)| *element_type == wanted);
        found.map_or(ptr::null(), |(_, name)| name.as_ptr())
    }
}

fn names() -> &'static Names {
    static NAMES: std::sync::LazyLock<Names> = std::sync::LazyLock::new(|| {
        Names(ElementType::ALL.iter().map(|&one| (one, crate::border::c_text(one.name()))).collect())
    });
    &NAMES
}
