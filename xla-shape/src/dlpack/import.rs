//! Tensors of other libraries, taken as arrays.

use super::{Device, DlpackError, ManagedTensor, VERSION, signed};
use crate::ArrayShape;
use crate::buffer::{Buffer, DynShape, Storage, StorageMut};
use std::fmt;
use std::ptr::NonNull;
use xla_shape_core::{ElementType, StridesError};
use xla_shape_relayout::wide::byte_count;

/// A tensor of another library, as memory of a [`Buffer`]. It is freed when this value is dropped.
///
/// It can only be read; [`into_mut`](Self::into_mut) makes it writable if the library that made the tensor allows that.
pub struct Tensor {
    managed: Managed,
    shape: ArrayShape,
    first: NonNull<u8>,
    len: usize,
}

/// A tensor of another library that can be read and written.
pub struct TensorMut(Tensor);

/// A tensor of another library with any strides, to be read: elements may have gaps between them, be in reverse order, or share one place.
/// It is freed when this value is dropped.
///
/// ```
/// use xla_shape::dlpack::{self, StridedTensor};
/// use xla_shape::DynBuffer;
///
/// let x = DynBuffer::zeroed_with("bf16[2,100]{1,0:T(128)}".parse()?)?; // rows of 128
/// // SAFETY: `export` made the tensor, and nothing else uses it.
/// let tensor = unsafe { StridedTensor::from_raw(dlpack::export(x)?) }?;
/// assert_eq!((tensor.shape().to_string().as_str(), tensor.strides()), ("bf16[2,100]{1,0}", &[128, 1][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct StridedTensor {
    managed: Managed,
    shape: ArrayShape,
    strides: Vec<i64>,
    first: NonNull<u8>,
}

/// The owner of a tensor of another library: dropping it calls the tensor's deleter.
struct Managed(NonNull<ManagedTensor>);

// SAFETY: DLPack allows tensors to be passed between threads, and the deleter to be called on any thread.
unsafe impl Send for Managed {}
// SAFETY: a shared reference only gives read access to the tensor.
unsafe impl Sync for Managed {}
// SAFETY: `first` points into the tensor's memory, which is initialised and may be read from any thread; `managed` is `Send`.
unsafe impl Send for Tensor {}
// SAFETY: a shared reference only reads the memory, which nothing writes meanwhile (`from_raw`).
unsafe impl Sync for Tensor {}
// SAFETY: as for `Tensor`.
unsafe impl Send for StridedTensor {}
// SAFETY: as for `Tensor`.
unsafe impl Sync for StridedTensor {}

impl Managed {
    fn get(&self) -> &ManagedTensor {
        // SAFETY: `from_raw` took a valid tensor, and only `drop` frees it.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Managed {
    fn drop(&mut self) {
        if let Some(deleter) = self.get().deleter {
            // SAFETY: this value owns the tensor, and this is its last use.
            unsafe { deleter(self.0.as_ptr()) }
        }
    }
}

/// The checked fields of a tensor.
struct CheckedTensor {
    tensor: NonNull<ManagedTensor>,
    element_type: ElementType,
    sizes: Vec<u64>,
    /// `None` if the array is row-major.
    strides: Option<Vec<i64>>,
}

impl CheckedTensor {
    /// Reads and checks a tensor, which still belongs to the caller afterwards.
    ///
    /// # Safety
    /// As for [`Tensor::from_raw`].
    unsafe fn new(tensor: *mut ManagedTensor) -> Result<Self, DlpackError> {
        let tensor = NonNull::new(tensor).ok_or(DlpackError::Null)?;
        // SAFETY: not null, so by the contract of `from_raw` a tensor of some version; `version` is the first field in all versions.
        let version = unsafe { (*tensor.as_ptr()).version };
        if version.major != VERSION.major {
            return Err(DlpackError::Version(version));
        }
        // SAFETY: a valid tensor of this major version, so the struct has the standard's fields.
        let managed = unsafe { tensor.as_ref() };
        let array = &managed.dl_tensor;
        if !array.device.is_host() {
            return Err(DlpackError::Device(array.device));
        }
        let element_type = array.dtype.element_type().ok_or(DlpackError::ElementType(array.dtype))?;
        let is_whole = u64::from(array.dtype.bits) == element_type.storage_bits();
        if !is_whole && managed.flags & ManagedTensor::SUBBYTE_PADDED == 0 {
            return Err(DlpackError::Packed(element_type));
        }
        let rank = usize::try_from(array.ndim).map_err(|_| DlpackError::Sizes)?;
        // SAFETY: the standard says that `shape` has `ndim` numbers.
        let sizes = unsafe { list(array.shape, rank) }?.ok_or(DlpackError::Null)?;
        let sizes = sizes.iter().map(|&size| u64::try_from(size)).collect::<Result<Vec<_>, _>>();
        let sizes = sizes.map_err(|_| DlpackError::Sizes)?;
        // SAFETY: the standard says that `strides` is null or has `ndim` numbers.
        let strides = unsafe { list(array.strides, rank) }?.map(<[i64]>::to_vec);
        Ok(Self { tensor, element_type, sizes, strides })
    }

    /// The row-major array of these sizes.
    fn row_major(&self) -> Result<ArrayShape, DlpackError> {
        Ok(ArrayShape::with_default_layout(self.element_type, &self.sizes).map_err(StridesError::Invalid)?)
    }

    /// The address of the first element of an array that takes `len` bytes.
    fn first(&self, len: usize) -> Result<NonNull<u8>, DlpackError> {
        // SAFETY: `new` found a valid tensor, which the caller still owns.
        let array = unsafe { &self.tensor.as_ref().dl_tensor };
        match NonNull::new(array.data.cast::<u8>()) {
            _ if len == 0 => Ok(NonNull::dangling()),
            None => Err(DlpackError::Null),
            Some(data) => {
                let offset = usize::try_from(array.byte_offset).map_err(|_| DlpackError::Sizes)?;
                // SAFETY: the standard says that the first element is `byte_offset` bytes after `data`, in the same memory.
                Ok(unsafe { data.add(offset) })
            }
        }
    }
}

impl Tensor {
    /// Takes a tensor from another library.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::dlpack::{self, Tensor};
    ///
    /// let tensor = dlpack::export(DynBuffer::zeroed_with("f32[2,3]".parse()?)?)?;
    /// // SAFETY: `export` made the tensor, and nothing else uses it.
    /// let tensor = unsafe { Tensor::from_raw(tensor) }?;
    /// assert_eq!(tensor.shape().to_string(), "f32[2,3]{1,0}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the tensor has another major version, its memory is a device's, or it is not an array of XLA whose elements are contiguous. After an error,
    /// the tensor still belongs to the caller.
    ///
    /// # Safety
    /// `tensor` is null or points to a valid `DLManagedTensorVersioned` that nothing else uses. Until it is freed, its memory is
    /// initialised and nothing writes it. If it is not marked as read-only, nothing else reads it either while it is written through
    /// [`TensorMut`].
    pub unsafe fn from_raw(tensor: *mut ManagedTensor) -> Result<Self, DlpackError> {
        // SAFETY: the caller guarantees what `new` requires.
        let parts = unsafe { CheckedTensor::new(tensor) }?;
        let shape = match &parts.strides {
            Some(strides) => ArrayShape::from_strides(parts.element_type, &parts.sizes, strides)?,
            None => parts.row_major()?,
        };
        // Where strides leave gaps, the memory after the last element may not exist.
        if !shape.layout().tiles().is_empty() {
            return Err(DlpackError::Gaps(Box::new(shape)));
        }
        let len = byte_count(&shape).ok_or(DlpackError::Sizes)?;
        let first = parts.first(len)?;
        Ok(Self { managed: Managed(parts.tensor), shape, first, len })
    }

    /// The shape of the array.
    ///
    /// ```
    /// # use xla_shape::DynBuffer;
    /// # use xla_shape::dlpack::{self, Tensor};
    /// # let tensor = dlpack::export(DynBuffer::zeroed_with("f32[2,3]{0,1}".parse()?)?)?;
    /// # // SAFETY: `export` made the tensor, and nothing else uses it.
    /// let tensor = unsafe { Tensor::from_raw(tensor) }?;
    /// assert_eq!(tensor.shape().to_string(), "f32[2,3]{0,1}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn shape(&self) -> &ArrayShape {
        &self.shape
    }

    /// The device that has the memory.
    ///
    /// ```
    /// # use xla_shape::DynBuffer;
    /// # use xla_shape::dlpack::{self, Device, Tensor};
    /// # let tensor = dlpack::export(DynBuffer::zeroed_with("f32[2,3]".parse()?)?)?;
    /// # // SAFETY: `export` made the tensor, and nothing else uses it.
    /// # let tensor = unsafe { Tensor::from_raw(tensor) }?;
    /// assert_eq!(tensor.device(), Device::CPU);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn device(&self) -> Device {
        self.managed.get().dl_tensor.device
    }

    /// Whether the tensor is marked as read-only.
    ///
    /// ```
    /// # use xla_shape::DynBuffer;
    /// # use xla_shape::dlpack::{self, Tensor};
    /// let tensor = dlpack::export_read_only(DynBuffer::zeroed_with("f32[2,3]".parse()?)?)?;
    /// // SAFETY: `export_read_only` made the tensor, and nothing else uses it.
    /// let tensor = unsafe { Tensor::from_raw(tensor) }?;
    /// assert!(tensor.is_read_only() && tensor.into_mut().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.managed.get().flags & ManagedTensor::READ_ONLY != 0
    }

    /// The same tensor, to read and to write.
    ///
    /// ```
    /// # use xla_shape::DynBuffer;
    /// # use xla_shape::dlpack::{self, Tensor};
    /// use xla_shape::element::F32;
    ///
    /// # let tensor = dlpack::export(DynBuffer::zeroed_with("f32[2,3]".parse()?)?)?;
    /// # // SAFETY: `export` made the tensor, and nothing else uses it.
    /// # let tensor = unsafe { Tensor::from_raw(tensor) }?;
    /// let mut x = tensor.into_mut()?.into_buffer()?;
    /// x.set::<F32>(&[1, 2], 1.5)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If it is read-only.
    pub fn into_mut(self) -> Result<TensorMut, DlpackError> {
        if self.is_read_only() { Err(DlpackError::ReadOnly) } else { Ok(TensorMut(self)) }
    }

    /// A buffer in the tensor's memory. See the [module](super) for an example.
    ///
    /// # Errors
    /// If a buffer cannot hold the array.
    pub fn into_buffer(self) -> Result<Buffer<DynShape, Self>, DlpackError> {
        Ok(Buffer::<DynShape, Self>::from_parts(self.shape.clone(), self)?)
    }
}

impl StridedTensor {
    /// Takes a tensor from another library.
    ///
    /// # Errors
    /// If the tensor has another major version, its memory is a device's, or it is not an array of XLA.
    /// After an error, the tensor still belongs to the caller.
    ///
    /// # Safety
    /// As for [`Tensor::from_raw`].
    pub unsafe fn from_raw(tensor: *mut ManagedTensor) -> Result<Self, DlpackError> {
        // SAFETY: the caller guarantees what `new` requires.
        let mut parts = unsafe { CheckedTensor::new(tensor) }?;
        let shape = parts.row_major()?;
        let first = parts.first(byte_count(&shape).ok_or(DlpackError::Sizes)?)?;
        let strides = match parts.strides.take() {
            Some(strides) => strides,
            None => signed(shape.strides()?)?,
        };
        Ok(Self { managed: Managed(parts.tensor), shape, strides, first })
    }

    /// The element type and sizes of the array, as the shape of a row-major array.
    #[must_use]
    pub fn shape(&self) -> &ArrayShape {
        &self.shape
    }

    /// The distance between neighbours along each dimension, in elements; 0 and negative numbers are possible.
    #[must_use]
    pub fn strides(&self) -> &[i64] {
        &self.strides
    }

    /// The address of the first element. The strides lead to the others.
    #[must_use]
    pub fn as_ptr(&self) -> *const u8 {
        self.first.as_ptr()
    }

    /// The device that has the memory.
    #[must_use]
    pub fn device(&self) -> Device {
        self.managed.get().dl_tensor.device
    }
}

impl TensorMut {
    /// A buffer in the tensor's memory, to read and to write.
    ///
    /// # Errors
    /// If a buffer cannot hold the array.
    pub fn into_buffer(self) -> Result<Buffer<DynShape, Self>, DlpackError> {
        Ok(Buffer::<DynShape, Self>::from_parts(self.0.shape.clone(), self)?)
    }
}

/// The `len` numbers at a pointer; `None` if it is null and `len` is not 0.
///
/// # Safety
/// The pointer is null or has `len` numbers that are valid for `'a`, or `len` is 0.
unsafe fn list<'a>(numbers: *const i64, len: usize) -> Result<Option<&'a [i64]>, DlpackError> {
    if len == 0 {
        return Ok(Some(&[]));
    }
    if numbers.is_null() {
        return Ok(None);
    }
    if !numbers.is_aligned() || len > isize::MAX as usize / size_of::<i64>() {
        return Err(DlpackError::Sizes);
    }
    // SAFETY: `len > 0`, the pointer is not null and aligned, so the caller guarantees `len` numbers.
    Ok(Some(unsafe { std::slice::from_raw_parts(numbers, len) }))
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor({})", self.shape)
    }
}

impl fmt::Debug for StridedTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StridedTensor({}, {:?})", self.shape, self.strides)
    }
}

impl fmt::Debug for TensorMut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TensorMut({})", self.0.shape)
    }
}

impl AsRef<[u8]> for Tensor {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: `from_raw` checked that the array takes `len` bytes from `first` on; its caller guarantees that they are initialised and
        // not written until the tensor is freed.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.len) }
    }
}

impl AsRef<[u8]> for TensorMut {
    fn as_ref(&self) -> &[u8] {
        self.0.as_ref()
    }
}

impl AsMut<[u8]> for TensorMut {
    fn as_mut(&mut self) -> &mut [u8] {
        // SAFETY: the same bytes as in `as_ref`. The tensor is not read-only (`into_mut`), so `from_raw`'s caller guarantees that nothing
        // else uses them while they are written.
        unsafe { std::slice::from_raw_parts_mut(self.0.first.as_ptr(), self.0.len) }
    }
}

// SAFETY: the memory stays where it is until the tensor is freed, which is when this value is dropped; nothing else writes it (`from_raw`).
unsafe impl Storage for Tensor {}
// SAFETY: as for `Tensor`; moving a `TensorMut` does not move the memory.
unsafe impl Storage for TensorMut {}
// SAFETY: `as_mut` gives the bytes of `as_ref`; nothing else reads or writes them (`from_raw`).
unsafe impl StorageMut for TensorMut {}
