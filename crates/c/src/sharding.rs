//! Shardings, and arrays divided among devices.

use crate::border::error::{Result, XlaShapeError, XlaShapeErrorCode as Code, failure};
use crate::border::{
    Handle, c_text, call, free, give, handle, list, list_mut, new_handle, overlap, result, signed, text, unsigned,
};
use crate::shape::{XlaShape, lend_text, parsed};
use std::ffi::{CString, c_char};
use std::sync::OnceLock;
use xla_shape_core::shard::{Partition, Sharding};

/// How a value is divided among devices. Immutable: any number of threads may use it at once. Free it with xla_shape_sharding_free.
pub struct XlaShapeSharding {
    value: Sharding,
    text: OnceLock<CString>,
}

impl Handle for XlaShapeSharding {
    const NAME: &'static str = "XlaShapeSharding";
}

/// An array divided among devices. Immutable: any number of threads may use it at once. Free it with xla_shape_partition_free.
pub struct XlaShapePartition {
    value: Partition,
}

impl Handle for XlaShapePartition {
    const NAME: &'static str = "XlaShapePartition";
}

/// Reads a sharding from XLA's text, such as `{devices=[4,1,2]<=[8] last_tile_dim_replicate}`.
///
/// `text` has `length` bytes of UTF-8 and need not end with NUL; it is not used after the call. `*sharding` becomes a new handle, which the
/// caller frees with xla_shape_sharding_free, or NULL after an error.
///
/// Errors: XLA_SHAPE_ERROR_CODE_PARSE with a span if the text is not a valid sharding, and as for all functions.
///
/// # Safety
/// `text` has `length` bytes; `sharding` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_sharding_parse(
    text: *const c_char,
    length: usize,
    sharding: *mut *mut XlaShapeSharding,
) -> *mut XlaShapeError {
    call(|| {
        // SAFETY: the caller promises *results*.
        let sharding = unsafe { new_handle(sharding) }?;
        // SAFETY: the caller promises *lists*.
        let text = unsafe { self::text(text, length) }?;
        sharding.write(give(XlaShapeSharding { value: parsed(text)?, text: OnceLock::new() }));
        Ok(())
    })
}

/// The text of a sharding as XLA prints it.
///
/// `*text` becomes a text of `*length` bytes that ends with NUL (which is not counted); `length` may be NULL. The text belongs to the
/// sharding and is valid until that is freed. Errors: as for all functions.
///
/// # Safety
/// `sharding` is NULL or a sharding; `text` and `length` are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_sharding_text(
    sharding: *const XlaShapeSharding,
    text: *mut *const c_char,
    length: *mut usize,
) -> *mut XlaShapeError {
    call(|| {
        // SAFETY: the caller promises *handles*.
        let sharding = unsafe { handle(sharding) }?;
        let owned = sharding.text.get_or_init(|| c_text(&sharding.value.to_string()));
        // SAFETY: the caller promises *results*.
        unsafe { lend_text(owned, text, length) }
    })
}

/// Frees a sharding and its text. Nothing happens if it is NULL. Partitions that were made with it stay valid.
///
/// # Safety
/// `sharding` is NULL, or a sharding that has not been freed, and that no thread uses any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_sharding_free(sharding: *mut XlaShapeSharding) {
    // SAFETY: the caller promises *handles*, and that nobody uses this handle any more.
    unsafe { free(sharding) };
}

/// Divides an array among devices. A bounded dimension is divided as if its size were the bound. Sizes of shards are rounded up; the last
/// shards have fewer elements, or none.
///
/// `*partition` becomes a new handle, which the caller frees with xla_shape_partition_free, or NULL after an error. The partition does not
/// depend on the lifetimes of `sharding` and `shape`.
///
/// Errors: XLA_SHAPE_ERROR_CODE_INVALID_ARGUMENT if the sharding has another number of dimensions, is for a tuple, does not say what each
/// device has ({manual}, {unknown}), or lists a device twice; XLA_SHAPE_ERROR_CODE_UNKNOWN_SIZE if a dimension is unbounded;
/// XLA_SHAPE_ERROR_CODE_WRONG_KIND if the shape is not an array; and as for all functions.
///
/// # Safety
/// `sharding` is NULL or a sharding; `shape` is NULL or a shape; `partition` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_partition(
    sharding: *const XlaShapeSharding,
    shape: *const XlaShape,
    partition: *mut *mut XlaShapePartition,
) -> *mut XlaShapeError {
    call(|| {
        // SAFETY: the caller promises *results*.
        let partition = unsafe { new_handle(partition) }?;
        // SAFETY: the caller promises *handles*.
        let sharding = unsafe { handle(sharding) }?;
        // SAFETY: the caller promises *handles*.
        let shape = unsafe { handle(shape) }?;
        let value = sharding.value.partition(shape.array()?)?;
        partition.write(give(XlaShapePartition { value }));
        Ok(())
    })
}

/// Frees a partition. Nothing happens if it is NULL.
///
/// # Safety
/// `partition` is NULL, or a partition that has not been freed, and that no thread uses any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_partition_free(partition: *mut XlaShapePartition) {
    // SAFETY: the caller promises *handles*, and that nobody uses this handle any more.
    unsafe { free(partition) };
}

/// The shape of a shard, in the layout of the whole array. Every device has this shape, even if it holds fewer elements. The shape is an
/// array, even if a buffer was divided.
///
/// `*shard` becomes a new handle, which the caller frees with xla_shape_free, or NULL after an error. Errors: as for all functions.
///
/// # Safety
/// `partition` is NULL or a partition; `shard` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_partition_shard(
    partition: *const XlaShapePartition,
    shard: *mut *mut XlaShape,
) -> *mut XlaShapeError {
    call(|| {
        // SAFETY: the caller promises *results*.
        let shard = unsafe { new_handle(shard) }?;
        // SAFETY: the caller promises *handles*.
        let partition = unsafe { handle(partition) }?;
        shard.write(give(XlaShape::from(partition.value.shard().clone())));
        Ok(())
    })
}

/// The number of devices that hold a part of the array.
///
/// Writes it to `*count`: -1 if every device has the whole array, because such a sharding does not say how many devices there are. Errors:
/// as for all functions.
///
/// # Safety
/// `partition` is NULL or a partition; `count` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_partition_device_count(
    partition: *const XlaShapePartition,
    count: *mut i64,
) -> *mut XlaShapeError {
    call(|| {
        // SAFETY: the caller promises *handles*.
        let partition = unsafe { handle(partition) }?;
        // SAFETY: the caller promises *results*.
        unsafe { result(count, "count") }?.write(partition.value.device_count().map_or(-1, signed));
        Ok(())
    })
}

/// Which part of the array a device holds: in dimension i, the indices `start[i]` to `limit[i]` (exclusive) of the whole array. The part has
/// no elements if a limit is equal to its start.
///
/// `start` and `limit` have `num_dimensions` entries each, one for each dimension of the array (NULL is allowed for a scalar), and do not
/// overlap.
///
/// Errors, after which nothing is written: XLA_SHAPE_ERROR_CODE_OUT_OF_BOUNDS if the sharding has no such device,
/// XLA_SHAPE_ERROR_CODE_BUFFER_SIZE if `num_dimensions` is not that of the array, XLA_SHAPE_ERROR_CODE_OVERLAP if the lists overlap, and as for
/// all functions.
///
/// # Safety
/// `partition` is NULL or a partition; `start` and `limit` have `num_dimensions` entries each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_partition_region(
    partition: *const XlaShapePartition,
    device: i64,
    start: *mut i64,
    limit: *mut i64,
    num_dimensions: usize,
) -> *mut XlaShapeError {
    call(|| {
        // SAFETY: the caller promises *handles*.
        let partition = unsafe { handle(partition) }?;
        check_dimensions(partition, num_dimensions)?;
        let bytes = size_of_val(partition.value.sizes());
        if overlap((start, bytes), (limit, bytes)) {
            return Err(failure(Code::Overlap, "expected lists of starts and limits that do not overlap"));
        }
        // SAFETY: the caller promises *results*.
        let start = unsafe { list_mut(start, num_dimensions, "list of starts") }?;
        // SAFETY: the caller promises *results*.
        let limit = unsafe { list_mut(limit, num_dimensions, "list of limits") }?;
        let region = partition.value.region(device).map_err(|error| failure(Code::OutOfBounds, error))?;
        start.iter_mut().zip(&region.start).for_each(|(to, &from)| *to = signed(from));
        limit.iter_mut().zip(&region.limit).for_each(|(to, &from)| *to = signed(from));
        Ok(())
    })
}

fn check_dimensions(partition: &XlaShapePartition, found: usize) -> Result<()> {
    let expected = partition.value.sizes().len();
    if found == expected {
        return Ok(());
    }
    Err(failure(Code::BufferSize, format_args!("expected {expected} entries, one for each dimension, found {found}")))
}

/// Which devices hold an element.
///
/// `index` has `num_dimensions` entries, one for each dimension of the whole array. `devices` has room for `capacity` devices. Writes the
/// number of devices to `*count` and, if there is enough room, the devices. Call it with a capacity of 0 to learn the number.
///
/// Errors: XLA_SHAPE_ERROR_CODE_BUFFER_SIZE if `num_dimensions` is not that of the array, or if `capacity` is too small but not 0 (`*count`
/// is written all the same). XLA_SHAPE_ERROR_CODE_OUT_OF_BOUNDS if the array has no such element.
/// XLA_SHAPE_ERROR_CODE_UNSUPPORTED if every device has the whole array: then the number of devices is not known. Also the errors of all
/// functions.
///
/// # Safety
/// `partition` is NULL or a partition; `index` has `num_dimensions` entries, `devices` has room for `capacity`, `count` is NULL or valid;
/// none of them overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xla_shape_partition_holders(
    partition: *const XlaShapePartition,
    index: *const i64,
    num_dimensions: usize,
    devices: *mut i64,
    capacity: usize,
    count: *mut usize,
) -> *mut XlaShapeError {
    call(|| {
        // SAFETY: the caller promises *handles*.
        let partition = unsafe { handle(partition) }?;
        check_dimensions(partition, num_dimensions)?;
        // SAFETY: the caller promises *lists*.
        let index = unsafe { list(index, num_dimensions, "index") }?;
        // SAFETY: the caller promises *results*.
        let devices = unsafe { list_mut(devices, capacity, "list of devices") }?;
        // SAFETY: the caller promises *results*.
        let count = unsafe { result(count, "count") }?;
        if unsigned(index).iter().zip(partition.value.sizes()).any(|(entry, size)| entry >= size) {
            let sizes = partition.value.sizes();
            return Err(failure(
                Code::OutOfBounds,
                format_args!("index {index:?} is out of bounds for an array of the sizes {sizes:?}"),
            ));
        }
        let found = partition.value.replication().and_then(|found| usize::try_from(found).ok());
        let found = found.ok_or_else(|| {
            failure(Code::Unsupported, "every device has the whole array, and their number is not known")
        })?;
        count.write(found);
        if devices.is_empty() {
            return Ok(());
        }
        if devices.len() < found {
            let room = devices.len();
            return Err(failure(Code::BufferSize, format_args!("expected room for {found} devices, found {room}")));
        }
        devices.iter_mut().zip(partition.value.holders(unsigned(index))).for_each(|(to, device)| *to = device);
        Ok(())
    })
}
