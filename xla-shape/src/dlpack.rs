//! Arrays from and to other libraries in one process, without a copy: [DLPack](https://dmlc.github.io/dlpack/latest/), version 1.
//!
//! [`export`] makes a `DLManagedTensorVersioned` of a buffer, which the other library frees; [`Tensor::from_raw`] takes one from
//! another library, which is freed with the buffer that holds it.
//!
//! ```
//! use xla_shape::dlpack::{self, Tensor};
//! use xla_shape::element::F32;
//! use xla_shape::DynBuffer;
//!
//! let x = DynBuffer::from_fn_with::<F32>("f32[2,3]{0,1}".parse()?, |i| (10 * i[0] + i[1]) as f32)?;
//! let tensor = dlpack::export(x)?; // what a Python capsule named "dltensor_versioned" holds
//!
//! // SAFETY: `export` made it, and nobody else has it.
//! let tensor = unsafe { Tensor::from_raw(tensor) }?;
//! let y = tensor.into_buffer()?;
//! assert_eq!(y.shape().to_string(), "f32[2,3]{0,1}");
//! assert_eq!(y.get::<F32>(&[1, 2])?, 12.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An array with tiles has no strides in its own dimensions: [`export_memory`] exports it as the array of more dimensions that it
//! is in memory.

use crate::ArrayShape;
use crate::buffer::{Buffer, BufferError, DynShape, Storage, StorageMut, WholeShape};
use crate::wide::byte_count;
use std::ffi::c_void;
use std::fmt;
use std::ptr::NonNull;
use xla_shape_core::{ElementType, StridesError};

/// The version of DLPack that tensors here have. Others of the same major version are read.
pub const VERSION: Version = Version { major: 1, minor: 1 };

/// `DLPackVersion`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Version {
    /// The major version. If it differs, only the deleter of the tensor may be used.
    pub major: u32,
    /// The minor version. Later ones only add types and flags.
    pub minor: u32,
}

/// `DLDevice`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Device {
    /// The kind of device, as DLPack numbers it; 1 is the CPU.
    pub device_type: i32,
    /// Which device of that kind.
    pub device_id: i32,
}

impl Device {
    /// The memory of this machine.
    pub const CPU: Self = Self { device_type: 1, device_id: 0 };

    /// Whether the CPU can read the memory: its own, or pinned for another device.
    #[must_use]
    pub const fn is_host(self) -> bool {
        // kDLCPU, kDLCUDAHost, kDLROCMHost.
        matches!(self.device_type, 1 | 3 | 11)
    }
}

/// `DLDataType`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct DataType {
    /// The kind of number.
    pub code: u8,
    /// The bits of an element.
    pub bits: u8,
    /// How many values make one element; 1 for arrays of XLA.
    pub lanes: u16,
}

/// `DLTensor`: an array, borrowed.
#[derive(Debug)]
#[repr(C)]
pub struct RawTensor {
    /// The memory.
    pub data: *mut c_void,
    /// Where it is.
    pub device: Device,
    /// The number of dimensions.
    pub ndim: i32,
    /// The type of the elements.
    pub dtype: DataType,
    /// The sizes, in elements.
    pub shape: *mut i64,
    /// The strides, in elements; null if the array is row-major.
    pub strides: *mut i64,
    /// Where the first element is, in bytes from `data` on.
    pub byte_offset: u64,
}

/// `DLManagedTensorVersioned`: an array, and how it is freed.
#[derive(Debug)]
#[repr(C)]
pub struct ManagedTensor {
    /// What the rest means.
    pub version: Version,
    /// The owner's own data.
    pub manager_ctx: *mut c_void,
    /// Frees the tensor, if it needs that.
    pub deleter: Option<unsafe extern "C" fn(*mut Self)>,
    /// See the constants.
    pub flags: u64,
    /// The array.
    pub dl_tensor: RawTensor,
}

impl ManagedTensor {
    /// Nobody may write the memory.
    pub const READ_ONLY: u64 = 1;
    /// The memory is a copy, made for the reader.
    pub const IS_COPIED: u64 = 1 << 1;
    /// Elements of fewer than 8 bits take a byte each.
    pub const SUBBYTE_PADDED: u64 = 1 << 2;
}

/// Why a tensor cannot be an array here, or an array cannot be a tensor.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum DlpackError {
    /// The pointer, or one in it, is null.
    Null,
    /// A major version that is not known.
    Version(Version),
    /// The CPU cannot read the memory.
    Device(Device),
    /// XLA has no such element type, or DLPack has none.
    ElementType(DataType),
    /// DLPack has no such element type.
    NoDataType(ElementType),
    /// A size or number of dimensions that is negative or too large.
    Sizes,
    /// No layout has the strides, or the array has none.
    Strides(StridesError),
    /// Between the elements is memory that is not the array's.
    Gaps(Box<ArrayShape>),
    /// The tensor may not be written.
    ReadOnly,
    /// A buffer cannot hold the array.
    Buffer(BufferError),
}

impl fmt::Display for DlpackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("expected a tensor, found a null pointer"),
            Self::Version(Version { major, minor }) => write!(f, "expected version 1 of DLPack, found {major}.{minor}"),
            Self::Device(device) => {
                write!(f, "expected memory that the CPU can read, found that of device type {}", device.device_type)
            }
            Self::ElementType(DataType { code, bits, lanes }) => {
                write!(f, "expected an element type of XLA, found code {code} of {bits} bits with {lanes} lanes")
            }
            Self::NoDataType(element_type) => write!(f, "expected an element type of DLPack, found {element_type}"),
            Self::Sizes => f.write_str("expected sizes of at least 0 that fit in memory, found others"),
            Self::Strides(error) => error.fmt(f),
            Self::Gaps(shape) => write!(f, "expected elements side by side, found strides with gaps, as in {shape}"),
            Self::ReadOnly => f.write_str("expected a tensor to write, found one that is read-only"),
            Self::Buffer(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for DlpackError {}

impl From<StridesError> for DlpackError {
    fn from(error: StridesError) -> Self {
        Self::Strides(error)
    }
}

impl From<BufferError> for DlpackError {
    fn from(error: BufferError) -> Self {
        Self::Buffer(error)
    }
}

/// Codes of DLPack and what XLA calls them.
const TYPES: &[(u8, ElementType)] = &[
    (0, ElementType::S2),
    (0, ElementType::S4),
    (0, ElementType::S8),
    (0, ElementType::S16),
    (0, ElementType::S32),
    (0, ElementType::S64),
    (1, ElementType::U2),
    (1, ElementType::U4),
    (1, ElementType::U8),
    (1, ElementType::U16),
    (1, ElementType::U32),
    (1, ElementType::U64),
    (2, ElementType::F16),
    (2, ElementType::F32),
    (2, ElementType::F64),
    (4, ElementType::Bf16),
    (5, ElementType::C64),
    (5, ElementType::C128),
    (6, ElementType::Pred),
    (7, ElementType::F8E3M4),
    (8, ElementType::F8E4M3),
    (9, ElementType::F8E4M3B11Fnuz),
    (10, ElementType::F8E4M3Fn),
    (11, ElementType::F8E4M3Fnuz),
    (12, ElementType::F8E5M2),
    (13, ElementType::F8E5M2Fnuz),
    (14, ElementType::F8E8M0Fnu),
    (15, ElementType::F6E2M3Fn),
    (16, ElementType::F6E3M2Fn),
    (17, ElementType::F4E2M1Fn),
];

/// The bits that DLPack counts.
fn bits(element_type: ElementType) -> u64 {
    // A bool takes a byte.
    if element_type == ElementType::Pred { 8 } else { element_type.bits() }
}

impl DataType {
    /// The type of these elements; `None` if DLPack has none.
    #[must_use]
    pub fn of(element_type: ElementType) -> Option<Self> {
        let (code, _) = TYPES.iter().find(|(_, known)| *known == element_type)?;
        Some(Self { code: *code, bits: u8::try_from(bits(element_type)).ok()?, lanes: 1 })
    }

    /// XLA's type of these elements; `None` if it has none.
    #[must_use]
    pub fn element_type(self) -> Option<ElementType> {
        let is_it = |(code, known): &&(u8, ElementType)| *code == self.code && bits(*known) == u64::from(self.bits);
        TYPES.iter().find(is_it).map(|(_, known)| *known).filter(|_| self.lanes == 1)
    }
}

/// A tensor of another library, which is freed when this value is: memory of a [`Buffer`].
///
/// It can be read; [`into_mut`](Self::into_mut) makes one to write, if its owner allows that.
pub struct Tensor {
    tensor: NonNull<ManagedTensor>,
    shape: ArrayShape,
    first: NonNull<u8>,
    len: usize,
}

/// A tensor of another library, to read and to write.
pub struct TensorMut(Tensor);

// SAFETY: DLPack has tensors passed between threads; the deleter may be called in any of them.
unsafe impl Send for Tensor {}
// SAFETY: a shared tensor is only read.
unsafe impl Sync for Tensor {}

impl Tensor {
    /// Takes a tensor from another library.
    ///
    /// # Errors
    /// If the tensor has another major version, its memory is that of a device, or it is not an array of XLA with its elements
    /// side by side. The tensor then still belongs to the caller.
    ///
    /// # Safety
    /// `tensor` is null, or a `DLManagedTensorVersioned` as the standard has it, which nobody else uses. Until it is freed, its memory
    /// is initialised, and nothing writes it; if it is not marked as read-only, nothing else reads it while it is written through
    /// [`TensorMut`].
    pub unsafe fn from_raw(tensor: *mut ManagedTensor) -> Result<Self, DlpackError> {
        let tensor = NonNull::new(tensor).ok_or(DlpackError::Null)?;
        // SAFETY: the caller promises that it is there. Of other versions, this field has the same place.
        let version = unsafe { (*tensor.as_ptr()).version };
        if version.major != VERSION.major {
            return Err(DlpackError::Version(version));
        }
        // SAFETY: as above; of this version, all fields have their places.
        let managed = unsafe { tensor.as_ref() };
        let array = &managed.dl_tensor;
        if !array.device.is_host() {
            return Err(DlpackError::Device(array.device));
        }
        let element_type = array.dtype.element_type().ok_or(DlpackError::ElementType(array.dtype))?;
        let is_whole = u64::from(array.dtype.bits) == element_type.storage_bits();
        if !is_whole && managed.flags & ManagedTensor::SUBBYTE_PADDED == 0 {
            return Err(DlpackError::ElementType(array.dtype));
        }
        let rank = usize::try_from(array.ndim).map_err(|_| DlpackError::Sizes)?;
        // SAFETY: the standard has as many sizes as dimensions.
        let sizes = unsafe { list(array.shape, rank) }?.ok_or(DlpackError::Null)?;
        let sizes = sizes.iter().map(|&size| u64::try_from(size)).collect::<Result<Vec<_>, _>>();
        let sizes = sizes.map_err(|_| DlpackError::Sizes)?;
        // SAFETY: the standard has as many strides, or none.
        let shape = match unsafe { list(array.strides, rank) }? {
            Some(strides) => ArrayShape::from_strides(element_type, &sizes, strides)?,
            None => ArrayShape::with_default_layout(element_type, &sizes).map_err(StridesError::Invalid)?,
        };
        // Where strides leave gaps, nothing says that the memory after the last element is there.
        if !shape.layout().tiles().is_empty() {
            return Err(DlpackError::Gaps(Box::new(shape)));
        }
        let len = byte_count(&shape).ok_or(DlpackError::Sizes)?;
        let first = match NonNull::new(array.data.cast::<u8>()) {
            _ if len == 0 => NonNull::dangling(),
            None => return Err(DlpackError::Null),
            Some(data) => {
                let offset = usize::try_from(array.byte_offset).map_err(|_| DlpackError::Sizes)?;
                // SAFETY: the standard has the first element there, in the same memory.
                unsafe { data.add(offset) }
            }
        };
        Ok(Self { tensor, shape, first, len })
    }

    /// The shape of the array.
    #[must_use]
    pub fn shape(&self) -> &ArrayShape {
        &self.shape
    }

    /// Where the memory is.
    #[must_use]
    pub fn device(&self) -> Device {
        self.managed().dl_tensor.device
    }

    /// Whether the memory is read-only.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.managed().flags & ManagedTensor::READ_ONLY != 0
    }

    /// The same to read and to write.
    ///
    /// # Errors
    /// If it is read-only.
    pub fn into_mut(self) -> Result<TensorMut, DlpackError> {
        if self.is_read_only() { Err(DlpackError::ReadOnly) } else { Ok(TensorMut(self)) }
    }

    /// The array in this memory.
    ///
    /// # Errors
    /// If a buffer cannot hold it.
    pub fn into_buffer(self) -> Result<Buffer<DynShape, Self>, DlpackError> {
        Ok(Buffer::<DynShape, Self>::from_parts(self.shape.clone(), self)?)
    }

    fn managed(&self) -> &ManagedTensor {
        // SAFETY: it is there until `drop`.
        unsafe { self.tensor.as_ref() }
    }
}

impl TensorMut {
    /// The array in this memory.
    ///
    /// # Errors
    /// If a buffer cannot hold it.
    pub fn into_buffer(self) -> Result<Buffer<DynShape, Self>, DlpackError> {
        Ok(Buffer::<DynShape, Self>::from_parts(self.0.shape.clone(), self)?)
    }
}

/// The numbers at a pointer; `None` if it is null. No numbers may have any pointer.
///
/// # Safety
/// The pointer must be null, or have as many numbers for `'a`.
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
    // SAFETY: as the caller promises.
    Ok(Some(unsafe { std::slice::from_raw_parts(numbers, len) }))
}

impl Drop for Tensor {
    fn drop(&mut self) {
        if let Some(deleter) = self.managed().deleter {
            // SAFETY: the tensor is this value's, and nobody uses it from here on.
            unsafe { deleter(self.tensor.as_ptr()) }
        }
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor({})", self.shape)
    }
}

impl fmt::Debug for TensorMut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TensorMut({})", self.0.shape)
    }
}

impl AsRef<[u8]> for Tensor {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: `from_raw` found as many bytes there, which its caller promises to stay.
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
        // SAFETY: as in `as_ref`; the tensor may be written, and nobody else reads it meanwhile.
        unsafe { std::slice::from_raw_parts_mut(self.0.first.as_ptr(), self.0.len) }
    }
}

// SAFETY: the memory stays where it is until the tensor is freed, and nothing else writes it (`from_raw`).
unsafe impl Storage for Tensor {}
// SAFETY: as above.
unsafe impl Storage for TensorMut {}
// SAFETY: `as_mut` gives the same bytes; nothing else reads or writes them (`from_raw`).
unsafe impl StorageMut for TensorMut {}

/// What an exported tensor owns.
struct Exported<B> {
    tensor: ManagedTensor,
    sizes: Vec<i64>,
    strides: Vec<i64>,
    memory: B,
}

/// Frees what [`export`] made.
///
/// # Safety
/// `tensor` must be that of an `Exported<B>` whose box its `manager_ctx` points to, and nobody may use it any more.
unsafe extern "C" fn delete<B>(tensor: *mut ManagedTensor) {
    // SAFETY: as the caller promises.
    let exported = unsafe { (*tensor).manager_ctx };
    // SAFETY: as the caller promises; `manager_ctx` is the box.
    drop(unsafe { Box::from_raw(exported.cast::<Exported<B>>()) });
}

/// A tensor that owns the buffer, for another library, which must call its deleter. It may be read and written.
///
/// # Errors
/// If DLPack has no such elements, or the array has no strides in its dimensions, as most arrays with tiles.
pub fn export<S: WholeShape, B: StorageMut + 'static>(buffer: Buffer<S, B>) -> Result<*mut ManagedTensor, DlpackError> {
    managed(buffer, strided, 0, |memory| memory.as_mut().as_mut_ptr())
}

/// Like [`export`], of memory that nobody may write: the tensor is marked as read-only.
///
/// # Errors
/// Same as [`export`].
pub fn export_read_only<S: WholeShape, B: Storage + 'static>(
    buffer: Buffer<S, B>,
) -> Result<*mut ManagedTensor, DlpackError> {
    managed(buffer, strided, ManagedTensor::READ_ONLY, |memory| memory.as_ref().as_ptr().cast_mut())
}

/// Like [`export`], of the array of more dimensions that an array with tiles is in memory, padding included:
/// `f32[30,200]{1,0:T(8,128)}` becomes an array of 4 by 2 by 8 by 128. [`ArrayShape::strided_dimensions`] says which is which.
///
/// # Errors
/// Same as [`export`], or if tiles combine dimensions.
pub fn export_memory<S: WholeShape, B: StorageMut + 'static>(
    buffer: Buffer<S, B>,
) -> Result<*mut ManagedTensor, DlpackError> {
    managed(buffer, strided_memory, 0, |memory| memory.as_mut().as_mut_ptr())
}

/// Sizes and strides, in elements.
type SizesAndStrides = (Vec<u64>, Vec<u64>);

/// Of the dimensions that the array has in memory.
fn strided_memory(shape: &ArrayShape) -> Result<SizesAndStrides, StridesError> {
    let strided = shape.strided_dimensions()?;
    Ok((strided.sizes, strided.strides))
}

/// Of the array's own dimensions.
fn strided(shape: &ArrayShape) -> Result<SizesAndStrides, StridesError> {
    let sizes = shape.dimensions().iter().map(|dimension| dimension.extent().unwrap_or_default());
    Ok((sizes.collect(), shape.strides()?))
}

fn managed<S: WholeShape, B: Storage + 'static>(
    buffer: Buffer<S, B>,
    dimensions: fn(&ArrayShape) -> Result<SizesAndStrides, StridesError>,
    flags: u64,
    first: fn(&mut B) -> *mut u8,
) -> Result<*mut ManagedTensor, DlpackError> {
    let shape = buffer.array_shape();
    let (sizes, strides) = dimensions(&shape)?;
    let element_type = shape.element_type();
    let dtype = DataType::of(element_type).ok_or(DlpackError::NoDataType(element_type))?;
    if shape.element_bits() != element_type.storage_bits() {
        // Packed elements.
        return Err(DlpackError::NoDataType(element_type));
    }
    let is_padded = u64::from(dtype.bits) != element_type.storage_bits();
    let signed = |list: Vec<u64>| list.into_iter().map(i64::try_from).collect::<Result<Vec<_>, _>>();
    let (sizes, strides) = (signed(sizes), signed(strides));
    let (sizes, strides) = (sizes.map_err(|_| DlpackError::Sizes)?, strides.map_err(|_| DlpackError::Sizes)?);
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
    // SAFETY: the box has just been made, and nobody else has it.
    let fields = unsafe { &mut *exported };
    fields.tensor.dl_tensor.data = first(&mut fields.memory).cast();
    fields.tensor.manager_ctx = exported.cast();
    fields.tensor.dl_tensor.shape = fields.sizes.as_mut_ptr();
    fields.tensor.dl_tensor.strides = fields.strides.as_mut_ptr();
    Ok(&raw mut fields.tensor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DynBuffer;
    use crate::element::{F32, S4, S32};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Memory that counts how often it is freed.
    struct Counted(Vec<u8>, Arc<AtomicUsize>);

    impl AsRef<[u8]> for Counted {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }

    impl Drop for Counted {
        fn drop(&mut self) {
            self.1.fetch_add(1, Ordering::Relaxed);
        }
    }

    // SAFETY: the bytes are on the heap, of a `Vec` that never changes.
    unsafe impl Storage for Counted {}

    #[test]
    fn a_tensor_is_freed_once_and_read_only_stays_so() {
        let freed = Arc::new(AtomicUsize::new(0));
        let memory = Counted(vec![7; 6], freed.clone());
        let x = Buffer::<DynShape, Counted>::from_parts("u8[2,3]".parse().unwrap(), memory).unwrap();
        let tensor = export_read_only(x).unwrap();
        // SAFETY: it has just been made.
        let tensor = unsafe { Tensor::from_raw(tensor) }.unwrap();
        assert!(tensor.is_read_only() && tensor.device().is_host());
        assert_eq!((tensor.shape().to_string().as_str(), tensor.as_ref()), ("u8[2,3]{1,0}", &[7; 6][..]));
        assert_eq!(freed.load(Ordering::Relaxed), 0);
        assert_eq!(tensor.into_mut().unwrap_err(), DlpackError::ReadOnly);
        assert_eq!(freed.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn what_is_written_is_there() {
        let x = DynBuffer::zeroed_with("s32[4]".parse().unwrap()).unwrap();
        // SAFETY: it has just been made.
        let tensor = unsafe { Tensor::from_raw(export(x).unwrap()) }.unwrap();
        let mut y = tensor.into_mut().unwrap().into_buffer().unwrap();
        y.set::<S32>(&[2], 5).unwrap();
        assert_eq!(y.get::<S32>(&[2]), Ok(5));
    }

    #[test]
    fn tiles_are_more_dimensions() {
        let x = DynBuffer::from_fn_with::<F32>("f32[30,200]{1,0:T(8,128)}".parse().unwrap(), |i| i[0] as f32).unwrap();
        let error = export(x.clone()).unwrap_err();
        assert_eq!(error.to_string(), "expected an array with strides, found tiles that cut dimension 1");
        // SAFETY: it has just been made.
        let tensor = unsafe { Tensor::from_raw(export_memory(x).unwrap()) }.unwrap();
        let y = tensor.into_buffer().unwrap();
        assert_eq!(y.shape().to_string(), "f32[4,2,8,128]{3,2,1,0}");
        assert_eq!(y.get::<F32>(&[2, 1, 3, 5]), Ok(19.0));
    }

    #[test]
    fn small_elements_take_a_byte_each() {
        let x = DynBuffer::from_fn_with::<S4>("s4[3]".parse().unwrap(), |i| S4::from_bits(i[0] as u8)).unwrap();
        let tensor = export(x).unwrap();
        // SAFETY: it has just been made.
        let dtype = unsafe { (*tensor).dl_tensor.dtype };
        assert_eq!(dtype, DataType { code: 0, bits: 4, lanes: 1 });
        // SAFETY: as above.
        let y = unsafe { Tensor::from_raw(tensor) }.unwrap().into_buffer().unwrap();
        assert_eq!(y.get::<S4>(&[2]), Ok(S4::from_bits(2)));
        let packed = DynBuffer::zeroed_with("s4[4]{0:E(4)}".parse().unwrap()).unwrap();
        assert_eq!(export(packed).unwrap_err(), DlpackError::NoDataType(ElementType::S4));
    }

    #[test]
    fn tensors_that_are_none_are_refused_and_stay_the_callers() {
        let x = DynBuffer::zeroed_with("f32[2,3]".parse().unwrap()).unwrap();
        let tensor = export(x).unwrap();
        let refused = |change: &dyn Fn(&mut ManagedTensor)| {
            // SAFETY: it has been made by `export`.
            let managed = unsafe { &mut *tensor };
            let before = (managed.version, managed.dl_tensor.device, managed.dl_tensor.dtype, managed.dl_tensor.ndim);
            let shape = managed.dl_tensor.shape;
            change(managed);
            // SAFETY: only fields that are checked are wrong.
            let error = unsafe { Tensor::from_raw(tensor) }.map(std::mem::forget).unwrap_err();
            // SAFETY: as above.
            let managed = unsafe { &mut *tensor };
            (managed.version, managed.dl_tensor.device, managed.dl_tensor.dtype, managed.dl_tensor.ndim) = before;
            managed.dl_tensor.shape = shape;
            error
        };
        let device = Device { device_type: 2, device_id: 0 };
        assert_eq!(refused(&|tensor| tensor.dl_tensor.device = device), DlpackError::Device(device));
        let version = Version { major: 2, minor: 0 };
        assert_eq!(refused(&|tensor| tensor.version = version), DlpackError::Version(version));
        assert!(matches!(refused(&|tensor| tensor.dl_tensor.dtype.lanes = 4), DlpackError::ElementType(_)));
        assert_eq!(refused(&|tensor| tensor.dl_tensor.ndim = -1), DlpackError::Sizes);
        assert_eq!(refused(&|tensor| tensor.dl_tensor.shape = std::ptr::null_mut()), DlpackError::Null);
        // SAFETY: null is not a tensor.
        assert_eq!(unsafe { Tensor::from_raw(std::ptr::null_mut()) }.unwrap_err(), DlpackError::Null);
        // SAFETY: it is whole again.
        drop(unsafe { Tensor::from_raw(tensor) }.unwrap());
    }
}
