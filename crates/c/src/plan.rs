//! Relayouts: copies of an array into another layout, whole or in parts.

use crate::array::dimension_numbers;
use crate::border::error::{Result, XlaShapeError, XlaShapeErrorCode as Code, failure};
use crate::border::{
    Handle, Struct, call, free, give, handle, list, list_mut, new_handle, overlap, read_struct, result,
};
use crate::shape::XlaShape;
use std::ffi::c_void;
use std::ops::Range;
use std::slice;
use xla_shape_core::ArrayShape;
use xla_shape_relayout::wide::byte_count;
use xla_shape_relayout::{AlignedBytes, Options, Padding, Plan, RelayoutError, Side, Slab, Slabs, Stores};

/// A relayout that was checked and prepared: made once for two shapes, run on any number of buffers. Immutable: any number of threads may
/// run it, or parts of it, at once. Free it with xla_shape_plan_free.
pub struct XlaShapePlan {
    plan: Plan,
    slabs: Slabs,
    source_bytes: usize,
    destination_bytes: usize,
}

impl Handle for XlaShapePlan {
    const NAME: &'static str = "XlaShapePlan";
}

/// What a relayout writes into the padding of the destination.
#[repr(i32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum XlaShapePadding {
    /// Nothing: the bytes stay as they are.
    Keep = 0,
    /// Zeros.
    Zero = 1,
    /// The element `fill`.
    Fill = 2,
}

/// Which store instructions a relayout uses.
#[repr(i32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum XlaShapeStores {
    /// Non-temporal stores for large arrays, where they are faster; otherwise ordinary ones.
    Auto = 0,
    /// Non-temporal stores where possible: for a destination that is not read soon, and begins at a multiple of 64 bytes.
    Streaming = 1,
    /// Ordinary stores: for a destination that is read at once.
    Regular = 2,
}

/// Options of a relayout. For the defaults, set every field except `struct_size` to 0:
/// `XlaShapePlanOptions options = {.struct_size = sizeof options};`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct XlaShapePlanOptions {
    /// Set it to sizeof(XlaShapePlanOptions).
    pub struct_size: usize,
    /// Transposes during the copy: dimension i of the destination is dimension `permutation[i]` of the source. `num_permutation` entries. NULL:
    /// no transpose.
    pub permutation: *const i64,
    /// The number of entries of `permutation`: the number of dimensions. 0: no transpose.
    pub num_permutation: usize,
    /// What is written into padding: an XlaShapePadding. 0: XLA_SHAPE_PADDING_KEEP.
    pub padding: i64,
    /// With XLA_SHAPE_PADDING_FILL: the bytes of an element, as many as it takes in the destination, little-endian; for a packed
    /// element, one byte with the element in its low bits. Otherwise it must be NULL.
    pub fill: *const c_void,
    /// The number of bytes of `fill`; it must be 0 without XLA_SHAPE_PADDING_FILL.
    pub fill_size: usize,
    /// Which store instructions: an XlaShapeStores. 0: XLA_SHAPE_STORES_AUTO.
    pub stores: i64,
    /// The most bytes that a part has in either array. Parts may be larger where an array cannot be cut. 0: a single part, the whole array.
    /// 1048576 is a good size: both sides of a part then fit in the caches.
    pub part_bytes: usize,
}

// SAFETY: the struct is `repr(C)` and begins with its size. All fields are integers or pointers of 8 bytes, so it has no padding.
unsafe impl Struct for XlaShapePlanOptions {
    const NAME: &'static str = "XlaShapePlanOptions";
    const FIRST_SIZE: usize = 8 * 8;
}

/// Prepares to copy arrays of the shape `source` into arrays of the shape `destination`. Both have the same element type and, after the
/// transpose that `options` may ask for, the same sizes; the layouts may differ. Elements take the same number of bits on both sides, or are
/// packed on one side (`E(4)`) and take a byte each on the other.
///
/// `options` may be NULL for the defaults. `*plan` becomes a new handle, which the caller frees with xla_shape_plan_free, or NULL after an
/// error. The plan does not depend on the lifetimes of the shapes and the options.
///
/// Errors: XLA_SHAPE_ERROR_CODE_INVALID_ARGUMENT if the shapes or options do not fit together, XLA_SHAPE_ERROR_CODE_UNKNOWN_SIZE if a
/// dimension is unbounded, XLA_SHAPE_ERROR_CODE_WRONG_KIND if a shape is not an array, and as for all functions.
///
/// # Safety
/// `source` and `destination` are NULL or shapes; `options` is NULL, or has `options->struct_size` bytes, and its lists have as many entries
/// as the fields say; `plan` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_plan(
    source: *const XlaShape,
    destination: *const XlaShape,
    options: *const XlaShapePlanOptions,
    plan: *mut *mut XlaShapePlan,
) -> *mut XlaShapeError {
    call(|| {
        // SAFETY: the caller promises *results*.
        let place = unsafe { new_handle(plan) }?;
        // SAFETY: the caller promises *handles*.
        let source = unsafe { handle(source) }?;
        // SAFETY: the caller promises *handles*.
        let destination = unsafe { handle(destination) }?;
        let (from, to) = (source.array()?, destination.array()?);
        let (options, part_bytes) = if options.is_null() {
            (Options::new(), 0)
        } else {
            // SAFETY: the caller promises *structs*.
            let options = unsafe { read_struct(options) }?;
            // SAFETY: the caller promises *lists* for the lists of the struct.
            (unsafe { self::options(&options, from, to) }?, options.part_bytes)
        };
        let plan = Plan::new(from, to, &options)?;
        let bytes = if part_bytes == 0 { usize::MAX } else { part_bytes };
        let slabs = Slabs::new(from, to, &options, bytes)?;
        let too_large = |side| move || Box::<XlaShapeError>::from(RelayoutError::TooLarge { side });
        let source_bytes = byte_count(from).ok_or_else(too_large(Side::Source))?;
        let destination_bytes = byte_count(to).ok_or_else(too_large(Side::Destination))?;
        place.write(give(XlaShapePlan { plan, slabs, source_bytes, destination_bytes }));
        Ok(())
    })
}

/// # Safety
/// The lists of the struct have as many entries as its fields say (*lists*).
unsafe fn options(given: &XlaShapePlanOptions, from: &ArrayShape, to: &ArrayShape) -> Result<Options> {
    let unknown = |what: &str, found: i64| {
        failure(Code::InvalidArgument, format_args!("expected {what}, a number from 0 to 2, found {found}"))
    };
    let stores = match given.stores {
        0 => Stores::Auto,
        1 => Stores::Streaming,
        2 => Stores::Regular,
        other => return Err(unknown("an XlaShapeStores", other)),
    };
    if given.padding != XlaShapePadding::Fill as i64 && (!given.fill.is_null() || given.fill_size != 0) {
        return Err(failure(
            Code::InvalidArgument,
            "expected no fill element without XLA_SHAPE_PADDING_FILL, found one",
        ));
    }
    let padding = match given.padding {
        0 => Padding::Keep,
        1 => Padding::Zero,
        2 => {
            // SAFETY: the caller promises *lists*; bytes have no invalid values.
            let fill = unsafe { list(given.fill.cast::<u8>(), given.fill_size, "fill element") }?;
            Padding::Fill(fill_element(fill, to)?)
        }
        other => return Err(unknown("an XlaShapePadding", other)),
    };
    let options = Options::new().stores(stores).padding(padding);
    if given.num_permutation == 0 {
        return Ok(options);
    }
    // Compare the numbers before the list is read and copied: a wrong one may be huge.
    let (expected, found) = (from.num_dimensions(), given.num_permutation);
    if found != expected {
        return Err(failure(
            Code::InvalidArgument,
            format_args!("expected a permutation of the source's {expected} dimensions, found {found} entries"),
        ));
    }
    // SAFETY: the caller promises *lists*.
    let permutation = unsafe { list(given.permutation, given.num_permutation, "permutation") }?;
    Ok(options.transposed(dimension_numbers(permutation)?))
}

/// The bytes of one element of the destination. Their number is checked before they are copied.
fn fill_element(fill: &[u8], to: &ArrayShape) -> Result<Vec<u8>> {
    let (expected, found) = (to.element_bits().div_ceil(8) as usize, fill.len());
    if found != expected {
        return Err(RelayoutError::FillSizeMismatch { expected, found }.into());
    }
    Ok(fill.to_vec())
}

/// Frees a plan. Nothing happens if it is NULL.
///
/// # Safety
/// `plan` is NULL, or a plan that has not been freed, and that no thread uses any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_plan_free(plan: *mut XlaShapePlan) {
    // SAFETY: the caller promises *handles*, and that nobody uses this handle any more.
    unsafe { free(plan) };
}

/// The sizes of the two buffers in bytes. The buffers that are passed to xla_shape_plan_run must have exactly these sizes.
///
/// Writes them to `*source_bytes` and `*destination_bytes`; either may be NULL. Errors: as for all functions.
///
/// # Safety
/// `plan` is NULL or a plan; `source_bytes` and `destination_bytes` are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_plan_bytes(
    plan: *const XlaShapePlan,
    source_bytes: *mut usize,
    destination_bytes: *mut usize,
) -> *mut XlaShapeError {
    call(|| {
        // SAFETY: the caller promises *handles*.
        let plan = unsafe { handle(plan) }?;
        // SAFETY: the caller promises *results*.
        let source = unsafe { crate::border::optional(source_bytes, "place for the bytes of the source") }?;
        // SAFETY: the caller promises *results*.
        let destination =
            unsafe { crate::border::optional(destination_bytes, "place for the bytes of the destination") }?;
        if let Some(source) = source {
            source.write(plan.source_bytes);
        }
        if let Some(destination) = destination {
            destination.write(plan.destination_bytes);
        }
        Ok(())
    })
}

/// Copies a whole array. The calling thread does all of it. For a large destination, an address that is a multiple of 64 is fastest.
///
/// `source` has `source_bytes` bytes and is only read; `destination` has `destination_bytes` bytes. They need no alignment and must not
/// overlap. NULL is allowed for a buffer of 0 bytes.
///
/// Errors, after which nothing is written: XLA_SHAPE_ERROR_CODE_BUFFER_SIZE if a buffer does not have exactly the bytes of its shape,
/// XLA_SHAPE_ERROR_CODE_OVERLAP if they overlap, and as for all functions.
///
/// # Safety
/// `plan` is NULL or a plan; `source` has `source_bytes` bytes, and `destination` has `destination_bytes`; nobody writes the source or uses the
/// destination during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_plan_run(
    plan: *const XlaShapePlan,
    source: *const c_void,
    source_bytes: usize,
    destination: *mut c_void,
    destination_bytes: usize,
) -> *mut XlaShapeError {
    call(|| {
        // SAFETY: the caller promises *handles*.
        let plan = unsafe { handle(plan) }?;
        let destination = Destination::new(plan, source, source_bytes, destination, destination_bytes)?;
        // SAFETY: the caller promises *lists*.
        let source = unsafe { list(source.cast::<u8>(), source_bytes, "source") }?;
        // SAFETY: nobody else uses the destination (caller), and it does not overlap the source.
        let whole = unsafe { destination.bytes(0..destination_bytes) };
        Ok(plan.plan.run(source, whole)?)
    })
}

/// The number of parts that a plan is divided into, by `part_bytes` of its options. At least 1, even for an empty array.
///
/// Writes it to `*count`. Errors: as for all functions.
///
/// # Safety
/// `plan` is NULL or a plan; `count` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_plan_part_count(plan: *const XlaShapePlan, count: *mut usize) -> *mut XlaShapeError {
    call(|| {
        // SAFETY: the caller promises *handles*.
        let plan = unsafe { handle(plan) }?;
        // SAFETY: the caller promises *results*.
        unsafe { result(count, "count") }?.write(plan.slabs.total() as usize);
        Ok(())
    })
}

/// A range of bytes: `start` to `end`, which is exclusive.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct XlaShapeByteRange {
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
}

/// Which bytes of the source a part reads, and which bytes of the destination it writes: so a part can be copied as soon as its bytes of
/// the source are there. Parts write different bytes, and all parts together write the whole destination.
///
/// `part` is from 0 to one less than xla_shape_plan_part_count. With `of_destination`, the ranges are of the destination, otherwise of the
/// source. `ranges` has room for `capacity` of them. Writes their number to `*count` and, if there is enough room, the ranges. Call it with
/// a capacity of 0 to learn the number.
///
/// Errors: XLA_SHAPE_ERROR_CODE_OUT_OF_BOUNDS if the plan has no part of this number. XLA_SHAPE_ERROR_CODE_BUFFER_SIZE if `capacity` is not 0
/// and less than the number of ranges; `*count` is written in this case, too. Also the errors of all functions.
///
/// # Safety
/// `plan` is NULL or a plan; `ranges` has room for `capacity`; `count` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_plan_part_ranges(
    plan: *const XlaShapePlan,
    part: usize,
    of_destination: bool,
    ranges: *mut XlaShapeByteRange,
    capacity: usize,
    count: *mut usize,
) -> *mut XlaShapeError {
    fn fill(
        found: impl ExactSizeIterator<Item = Range<usize>>,
        ranges: &mut [XlaShapeByteRange],
        count: &mut std::mem::MaybeUninit<usize>,
    ) -> Result<()> {
        let (expected, room) = (found.len(), ranges.len());
        count.write(expected);
        if room != 0 && room < expected {
            return Err(failure(Code::BufferSize, format_args!("expected room for {expected} ranges, found {room}")));
        }
        let found = found.map(|range| XlaShapeByteRange { start: range.start, end: range.end });
        ranges.iter_mut().zip(found).for_each(|(to, range)| *to = range);
        Ok(())
    }
    call(|| {
        // SAFETY: the caller promises *handles*.
        let plan = unsafe { handle(plan) }?;
        // SAFETY: the caller promises *results*.
        let ranges = unsafe { list_mut(ranges, capacity, "list of ranges") }?;
        // SAFETY: the caller promises *results*.
        let count = unsafe { result(count, "count") }?;
        let slab = plan.part(part)?;
        if of_destination { fill(slab.destination(), ranges, count) } else { fill(slab.source(), ranges, count) }
    })
}

/// Copies one part of an array, from the whole source into the whole destination. All parts together, in any order, do what
/// xla_shape_plan_run does. Several threads may copy different parts into the same destination at once.
///
/// `part` is from 0 to one less than xla_shape_plan_part_count. The buffers are those of the whole arrays, as in xla_shape_plan_run, but
/// only the bytes that xla_shape_plan_part_ranges lists are read and written. If the part is scattered in a buffer, this allocates memory
/// for it.
///
/// Errors: XLA_SHAPE_ERROR_CODE_OUT_OF_BOUNDS if the plan has no part of this number. XLA_SHAPE_ERROR_CODE_BUFFER_SIZE if a buffer does not have
/// exactly the bytes of its shape. XLA_SHAPE_ERROR_CODE_OVERLAP if the buffers overlap. XLA_SHAPE_ERROR_CODE_OUT_OF_MEMORY if memory for a
/// scattered part could not be allocated. Also the errors of all functions. After an error, nothing has been written.
///
/// # Safety
/// `plan` is NULL or a plan; `source` has `source_bytes` bytes, and `destination` has `destination_bytes`; during the call, nobody writes the
/// part of the source or uses the part of the destination.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_plan_run_part(
    plan: *const XlaShapePlan,
    part: usize,
    source: *const c_void,
    source_bytes: usize,
    destination: *mut c_void,
    destination_bytes: usize,
) -> *mut XlaShapeError {
    call(|| {
        // SAFETY: the caller promises *handles*.
        let plan = unsafe { handle(plan) }?;
        let slab = plan.part(part)?;
        let destination = Destination::new(plan, source, source_bytes, destination, destination_bytes)?;
        let source = Source(source.cast::<u8>());
        // SAFETY: the buffers have as many bytes as their shapes, and nobody else uses these parts of them (caller).
        unsafe { run_part(&slab, source, &destination) }
    })
}

impl XlaShapePlan {
    fn part(&self, part: usize) -> Result<Slab> {
        self.slabs.numbered(part as u64).ok_or_else(|| {
            let count = self.slabs.total();
            failure(Code::OutOfBounds, format_args!("expected a part below {count}, found {part}"))
        })
    }
}

/// A source with as many bytes as its shape.
#[derive(Clone, Copy)]
struct Source(*const u8);

impl Source {
    /// # Safety
    /// The range is within the buffer, nobody writes it during `'a`.
    unsafe fn bytes<'a>(self, range: Range<usize>) -> &'a [u8] {
        if range.is_empty() {
            return &[];
        }
        // SAFETY: the range is within the buffer (caller).
        let start = unsafe { self.0.add(range.start) };
        // SAFETY: these bytes are in the buffer, and nobody writes them during `'a` (caller).
        unsafe { slice::from_raw_parts(start, range.len()) }
    }
}

/// A destination with as many bytes as its shape, which does not overlap the source.
struct Destination(*mut u8);

impl Destination {
    /// Checks both buffers.
    fn new(
        plan: &XlaShapePlan,
        source: *const c_void,
        source_bytes: usize,
        destination: *mut c_void,
        destination_bytes: usize,
    ) -> Result<Self> {
        for (side, expected, found) in [
            (Side::Source, plan.source_bytes, source_bytes),
            (Side::Destination, plan.destination_bytes, destination_bytes),
        ] {
            if expected != found {
                return Err(RelayoutError::BufferSizeMismatch { side, expected, found }.into());
            }
        }
        for (buffer, bytes, name) in
            [(source, source_bytes, "source"), (destination.cast_const(), destination_bytes, "destination")]
        {
            if bytes != 0 && buffer.is_null() {
                return Err(crate::border::null(name));
            }
            if buffer.addr().checked_add(bytes).is_none() {
                return Err(failure(Code::InvalidArgument, format_args!("expected a {name} that fits in memory")));
            }
        }
        if overlap((source, source_bytes), (destination, destination_bytes)) {
            return Err(failure(Code::Overlap, "expected a source and a destination that do not overlap"));
        }
        Ok(Self(destination.cast::<u8>()))
    }

    /// # Safety
    /// The range is within the buffer, and nobody else uses it during `'a`.
    unsafe fn bytes<'a>(&self, range: Range<usize>) -> &'a mut [u8] {
        if range.is_empty() {
            return &mut [];
        }
        // SAFETY: the range is within the buffer (caller).
        let start = unsafe { self.0.add(range.start) };
        // SAFETY: these bytes are in the buffer, and nobody else uses them during `'a` (caller). Memory that C passes counts as
        // initialised.
        unsafe { slice::from_raw_parts_mut(start, range.len()) }
    }
}

/// The only range; `None` if there are several or none.
fn single(mut ranges: impl ExactSizeIterator<Item = Range<usize>>) -> Option<Range<usize>> {
    if ranges.len() == 1 { ranges.next() } else { None }
}

/// # Safety
/// The ranges of the slab are within the buffers. During the call, nobody writes the source's ranges or uses the destination's.
unsafe fn run_part(slab: &Slab, source: Source, destination: &Destination) -> Result<()> {
    let plan = slab.plan()?;
    let bytes_of = |shape| byte_count(shape).unwrap_or_default();
    let gathered;
    let from = match single(slab.source()) {
        // SAFETY: the slab's ranges are within the buffers (caller).
        Some(range) => unsafe { source.bytes(range) },
        None => {
            let mut bytes = AlignedBytes::zeroed(bytes_of(plan.from()))?;
            let mut rest = bytes.as_mut();
            for range in slab.source() {
                // SAFETY: the slab's ranges are within the buffers (caller).
                let piece = unsafe { source.bytes(range) };
                let (to, others) = rest.split_at_mut(piece.len());
                to.copy_from_slice(piece);
                rest = others;
            }
            gathered = bytes;
            gathered.as_ref()
        }
    };
    if let Some(range) = single(slab.destination()) {
        // SAFETY: the slab's ranges are within the buffers (caller).
        return Ok(plan.run(from, unsafe { destination.bytes(range) })?);
    }
    let mut made = AlignedBytes::zeroed(bytes_of(plan.to()))?;
    // Copy what the destination holds: the plan may leave padding as it is.
    let mut rest = made.as_mut();
    for range in slab.destination() {
        // SAFETY: the slab's ranges are within the buffers (caller).
        let piece = unsafe { destination.bytes(range) };
        let (to, others) = rest.split_at_mut(piece.len());
        to.copy_from_slice(piece);
        rest = others;
    }
    plan.run(from, made.as_mut())?;
    let mut rest = made.as_ref();
    for range in slab.destination() {
        let (piece, others) = rest.split_at(range.len());
        // SAFETY: the slab's ranges are within the buffers (caller).
        unsafe { destination.bytes(range) }.copy_from_slice(piece);
        rest = others;
    }
    Ok(())
}
