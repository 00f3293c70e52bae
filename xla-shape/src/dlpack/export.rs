//! Arrays, given to other libraries as tensors.

use super::{DataType, Device, DlpackError, ManagedTensor, RawTensor, VERSION, signed};
use crate::ArrayShape;
use crate::buffer::{Buffer, Storage, StorageMut, WholeShape};
use xla_shape_core::StridesError;

/// The allocation that an exported tensor owns.
struct Exported<B> {
    tensor: ManagedTensor,
    sizes: Vec<i64>,
    strides: Vec<i64>,
    memory: B,
}

/// The deleter of exported tensors.
///
/// # Safety
/// `manage` made `tensor` for memory of type `B`, and this is its last use.
unsafe extern "C" fn delete<B>(tensor: *mut ManagedTensor) {
    // SAFETY: the caller guarantees a tensor that `manage` made, which is initialised.
    let exported = unsafe { (*tensor).manager_ctx };
    // SAFETY: `manage` set `manager_ctx` to the box of this `Exported<B>`, which nothing else uses from here on.
    drop(unsafe { Box::from_raw(exported.cast::<Exported<B>>()) });
}

/// Makes a tensor that owns the buffer, for another library, which may read and write it and must call its deleter.
///
/// The other library may use the tensor and call its deleter on any thread. Memory that must stay on one thread, such as memory with an
/// `Rc` in it, does not compile.
///
/// ```
/// use xla_shape::dlpack::{self, ManagedTensor};
/// use xla_shape::{Buffer, shape};
///
/// let tensor: *mut ManagedTensor = dlpack::export(Buffer::<shape!(f32[2,3])>::zeroed())?;
/// // The other library frees it like this:
/// // SAFETY: `export` made the tensor, and this is its last use.
/// unsafe {
///     if let Some(deleter) = (*tensor).deleter {
///         deleter(tensor);
///     }
/// }
/// # Ok::<(), xla_shape::dlpack::DlpackError>(())
/// ```
///
/// # Errors
/// If DLPack has no such element type, or the array has no strides in its own dimensions, like most arrays with tiles.
pub fn export<S: WholeShape, B: StorageMut + Send + Sync + 'static>(
    buffer: Buffer<S, B>,
) -> Result<*mut ManagedTensor, DlpackError> {
    manage(buffer, strided, 0, |memory| memory.as_mut().as_mut_ptr())
}

/// Like [`export`], but for memory that must not be written: the tensor is marked as read-only.
///
/// ```
/// use xla_shape::dlpack::{self, Tensor};
/// use xla_shape::{Buffer, shape};
///
/// let tensor = dlpack::export_read_only(Buffer::<shape!(f32[2,3])>::zeroed())?;
/// // SAFETY: `export_read_only` made the tensor, and nothing else uses it.
/// assert!(unsafe { Tensor::from_raw(tensor) }?.is_read_only());
/// # Ok::<(), xla_shape::dlpack::DlpackError>(())
/// ```
///
/// # Errors
/// As [`export`].
pub fn export_read_only<S: WholeShape, B: Storage + Send + Sync + 'static>(
    buffer: Buffer<S, B>,
) -> Result<*mut ManagedTensor, DlpackError> {
    manage(buffer, strided, ManagedTensor::READ_ONLY, |memory| memory.as_ref().as_ptr().cast_mut())
}

/// Like [`export`], but for arrays with tiles: exports the array as it is in memory, with more dimensions, padding included.
/// `f32[30,200]{1,0:T(8,128)}` becomes an array of 4 × 2 × 8 × 128. [`ArrayShape::strided_dimensions`] says which dimension is which.
///
/// ```
/// use xla_shape::dlpack::{self, Tensor};
/// use xla_shape::{Buffer, shape};
///
/// let tensor = dlpack::export_memory(Buffer::<shape!(f32[30,200]{1,0:T(8,128)})>::zeroed())?;
/// // SAFETY: `export_memory` made the tensor, and nothing else uses it.
/// let tensor = unsafe { Tensor::from_raw(tensor) }?;
/// assert_eq!(tensor.shape().to_string(), "f32[4,2,8,128]{3,2,1,0}");
/// # Ok::<(), xla_shape::dlpack::DlpackError>(())
/// ```
///
/// # Errors
/// As for [`export`]; also if tiles combine dimensions.
pub fn export_memory<S: WholeShape, B: StorageMut + Send + Sync + 'static>(
    buffer: Buffer<S, B>,
) -> Result<*mut ManagedTensor, DlpackError> {
    manage(buffer, strided_memory, 0, |memory| memory.as_mut().as_mut_ptr())
}

/// Sizes and strides, in elements.
type SizesAndStrides = (Vec<u64>, Vec<u64>);

/// The dimensions that the array has in memory.
fn strided_memory(shape: &ArrayShape) -> Result<SizesAndStrides, StridesError> {
    let strided = shape.strided_dimensions()?;
    Ok((strided.sizes, strided.strides))
}

/// The array's own dimensions.
fn strided(shape: &ArrayShape) -> Result<SizesAndStrides, StridesError> {
    let sizes = shape.dimensions().iter().map(|dimension| dimension.extent().unwrap_or_default());
    Ok((sizes.collect(), shape.strides()?))
}

fn manage<S: WholeShape, B: Storage + Send + Sync + 'static>(
    buffer: Buffer<S, B>,
    dimensions: fn(&ArrayShape) -> Result<SizesAndStrides, StridesError>,
    flags: u64,
    first: fn(&mut B) -> *mut u8,
) -> Result<*mut ManagedTensor, DlpackError> {
    let shape = buffer.array_shape();
    let (sizes, strides) = dimensions(&shape)?;
    let element_type = shape.element_type();
    let dtype = DataType::from_element_type(element_type).ok_or(DlpackError::NoDataType(element_type))?;
    if shape.element_bits() != element_type.storage_bits() {
        // DLPack has no packed elements.
        return Err(DlpackError::NoDataType(element_type));
    }
    let is_padded = u64::from(dtype.bits) != element_type.storage_bits();
    let (sizes, strides) = (signed(sizes)?, signed(strides)?);
    let tensor = ManagedTensor {
        version: VERSION,
        manager_ctx: std::ptr::null_mut(),
        deleter: Some(delete::<B>),
        flags: flags | if is_padded { ManagedTensor::SUBBYTE_PADDED } else { 0 },
        dl_tensor: RawTensor {
            data: std::ptr::null_mut(),
            device: Device::CPU,
            ndim: i32::try_from(sizes.len()).map_err(|_| DlpackError::Sizes)?,
            dtype,
            shape: std::ptr::null_mut(),
            strides: std::ptr::null_mut(),
            byte_offset: shape.layout().dynamic_shape_metadata_prefix_bytes(),
        },
    };
    let memory = buffer.into_memory();
    let exported = Box::into_raw(Box::new(Exported { tensor, sizes, strides, memory }));
    // SAFETY: `into_raw` has just returned the pointer of a live box; nothing else has it.
    let fields = unsafe { &mut *exported };
    fields.tensor.dl_tensor.data = first(&mut fields.memory).cast();
    fields.tensor.manager_ctx = exported.cast();
    fields.tensor.dl_tensor.shape = fields.sizes.as_mut_ptr();
    fields.tensor.dl_tensor.strides = fields.strides.as_mut_ptr();
    Ok(&raw mut fields.tensor)
}
