//! Arrays from and to other libraries in one process, without a copy: [DLPack](https://dmlc.github.io/dlpack/latest/), version 1.
//!
//! [`export`] makes a `DLManagedTensorVersioned` of a buffer, which the other library frees. [`Tensor::from_raw`] takes one from another
//! library and frees it with the buffer that holds it.
//!
//! ```
//! use xla_shape::dlpack::{self, Tensor};
//! use xla_shape::element::F32;
//! use xla_shape::DynBuffer;
//!
//! let x = DynBuffer::from_fn_with::<F32>("f32[2,3]{0,1}".parse()?, |i| (10 * i[0] + i[1]) as f32)?;
//! let tensor = dlpack::export(x)?; // what a Python capsule named "dltensor_versioned" holds
//!
//! // SAFETY: `export` made the tensor, and nothing else uses it.
//! let tensor = unsafe { Tensor::from_raw(tensor) }?;
//! let y = tensor.into_buffer()?;
//! assert_eq!(y.shape().to_string(), "f32[2,3]{0,1}");
//! assert_eq!(y.get::<F32>(&[1, 2])?, 12.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`StridedTensor::from_raw`] takes a tensor whose elements are not contiguous, to read it.
//!
//! An array with tiles has no strides in its own dimensions: [`export_memory`] exports it with the dimensions that it has in memory.

mod export;
mod import;
#[cfg(test)]
mod tests;

use crate::ArrayShape;
use crate::buffer::BufferError;
pub use export::{export, export_memory, export_read_only};
pub use import::{StridedTensor, Tensor, TensorMut};
use std::ffi::c_void;
use std::fmt;
use xla_shape_core::{ElementType, StridesError};

/// The version of exported tensors. Other minor versions of the same major version can be read.
pub const VERSION: Version = Version { major: 1, minor: 1 };

/// `DLPackVersion`.
///
/// ```
/// use xla_shape::dlpack::{self, DlpackError, Tensor, Version};
/// use xla_shape::{Buffer, shape};
///
/// let tensor = dlpack::export(Buffer::<shape!(f32[2,3])>::zeroed())?;
/// // SAFETY: `export` made the tensor, and nothing else uses it. It stays the caller's, who frees it.
/// unsafe {
///     (*tensor).version.major = 2;
///     assert_eq!(Tensor::from_raw(tensor).err(), Some(DlpackError::Version(Version { major: 2, minor: 1 })));
///     (*tensor).deleter.unwrap()(tensor);
/// }
/// # Ok::<(), DlpackError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Version {
    /// The major version. If it differs, only the deleter of the tensor may be used.
    pub major: u32,
    /// The minor version. Later minor versions only add types and flags.
    pub minor: u32,
}

/// `DLDevice`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Device {
    /// The kind of device, by DLPack's numbers; 1 is the CPU.
    pub device_type: i32,
    /// Which device of that kind.
    pub device_id: i32,
}

impl Device {
    /// This machine's memory.
    pub const CPU: Self = Self { device_type: 1, device_id: 0 };

    /// Whether the CPU can read the memory: it is the CPU's own memory, or host memory pinned for another device.
    ///
    /// ```
    /// use xla_shape::dlpack::Device;
    ///
    /// assert!(Device::CPU.is_host());
    /// assert!(!Device { device_type: 2, device_id: 0 }.is_host()); // CUDA
    /// ```
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
    /// The kind of number, by DLPack's codes.
    pub code: u8,
    /// The bits of an element.
    pub bits: u8,
    /// The values in one element; 1 for arrays of XLA.
    pub lanes: u16,
}

/// `DLTensor`: a borrowed array.
///
/// ```
/// use std::slice;
/// use xla_shape::dlpack::{self, RawTensor};
/// use xla_shape::{Buffer, shape};
///
/// let tensor = dlpack::export(Buffer::<shape!(f32[2,3]{0,1})>::filled(1.5))?;
/// // SAFETY: `export` made the tensor, its lists have `ndim` numbers, its memory 6 values, and it is freed after the last use of them.
/// unsafe {
///     let RawTensor { data, ndim, shape, strides, .. } = (*tensor).dl_tensor;
///     let [sizes, strides] = [shape, strides].map(|list| slice::from_raw_parts(list, ndim as usize));
///     assert_eq!((sizes, strides), (&[2, 3][..], &[1, 2][..]));
///     assert_eq!(slice::from_raw_parts(data.cast::<f32>(), 6), [1.5; 6]);
///     (*tensor).deleter.unwrap()(tensor);
/// }
/// # Ok::<(), dlpack::DlpackError>(())
/// ```
#[derive(Debug)]
#[repr(C)]
pub struct RawTensor {
    /// The memory.
    pub data: *mut c_void,
    /// The device that has the memory.
    pub device: Device,
    /// The number of dimensions.
    pub ndim: i32,
    /// The type of the elements.
    pub dtype: DataType,
    /// The sizes, in elements.
    pub shape: *mut i64,
    /// The strides, in elements; null if the array is row-major.
    pub strides: *mut i64,
    /// The offset of the first element from `data`, in bytes.
    pub byte_offset: u64,
}

/// `DLManagedTensorVersioned`: an array, and how to free it.
#[derive(Debug)]
#[repr(C)]
pub struct ManagedTensor {
    /// The version, which says how to read the other fields.
    pub version: Version,
    /// The owner's own data.
    pub manager_ctx: *mut c_void,
    /// Frees the tensor; `None` if there is nothing to free.
    pub deleter: Option<unsafe extern "C" fn(*mut Self)>,
    /// A combination of the flags that are constants of this type, such as [`READ_ONLY`](Self::READ_ONLY).
    pub flags: u64,
    /// The array.
    pub dl_tensor: RawTensor,
}

impl ManagedTensor {
    /// The memory must not be written.
    pub const READ_ONLY: u64 = 1;
    /// The memory is a copy that was made for the reader.
    pub const IS_COPIED: u64 = 1 << 1;
    /// Elements of fewer than 8 bits take a byte each.
    pub const SUBBYTE_PADDED: u64 = 1 << 2;
}

/// Why a tensor cannot be taken as an array, or an array cannot be exported.
///
/// ```
/// use xla_shape::dlpack::{self, DlpackError};
/// use xla_shape::{Buffer, shape};
///
/// // An array of two dimensions in tiles has four dimensions in memory.
/// let error = dlpack::export(Buffer::<shape!(f32[30,200]{1,0:T(8,128)})>::zeroed()).unwrap_err();
/// assert!(matches!(error, DlpackError::Strides(_)), "{error}");
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DlpackError {
    /// The pointer, or one inside of the tensor, is null.
    Null,
    /// The major version is unknown.
    Version(Version),
    /// The CPU cannot read the memory.
    Device(Device),
    /// XLA has no such element type.
    ElementType(DataType),
    /// DLPack has no such element type.
    NoDataType(ElementType),
    /// Elements of fewer than 8 bits do not take a byte each.
    Packed(ElementType),
    /// A size or the number of dimensions is negative or too large.
    Sizes,
    /// No layout has the strides, or the array has no strides.
    Strides(StridesError),
    /// Between the elements is memory that does not belong to the array.
    Gaps(Box<ArrayShape>),
    /// The tensor must not be written.
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
            Self::Packed(element_type) => {
                write!(f, "expected a byte for each element of {element_type}, found packed elements")
            }
            Self::Sizes => f.write_str("expected sizes of at least 0 that fit in memory, found others"),
            Self::Strides(error) => error.fmt(f),
            Self::Gaps(shape) => write!(f, "expected elements side by side, found strides with gaps, as in {shape}"),
            Self::ReadOnly => f.write_str("expected a tensor to write, found one that is read-only"),
            Self::Buffer(error) => error.fmt(f),
        }
    }
}

/// Implements [`Debug`](fmt::Debug) as [`Display`](fmt::Display), because Rust prints an error that `main` returns with `Debug`.
impl fmt::Debug for DlpackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
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

impl DataType {
    /// DLPack's type for elements of XLA; `None` if it has none.
    ///
    /// ```
    /// use xla_shape::ElementType;
    /// use xla_shape::dlpack::DataType;
    ///
    /// assert_eq!(DataType::from_element_type(ElementType::Bf16), Some(DataType { code: 4, bits: 16, lanes: 1 }));
    /// ```
    #[must_use]
    pub fn from_element_type(element_type: ElementType) -> Option<Self> {
        let bits = u8::try_from(element_type.packed_bits()).ok()?;
        Some(Self { code: element_type.dlpack_code()?, bits, lanes: 1 })
    }

    /// XLA's element type for this type; `None` if it has none.
    ///
    /// ```
    /// use xla_shape::ElementType;
    /// use xla_shape::dlpack::DataType;
    ///
    /// assert_eq!(DataType { code: 2, bits: 32, lanes: 1 }.element_type(), Some(ElementType::F32));
    /// ```
    #[must_use]
    pub fn element_type(self) -> Option<ElementType> {
        ElementType::ALL.iter().copied().find(|known| Self::from_element_type(*known) == Some(self))
    }
}

/// Converts sizes or strides to DLPack's signed numbers.
fn signed(list: Vec<u64>) -> Result<Vec<i64>, DlpackError> {
    list.into_iter().map(i64::try_from).collect::<Result<_, _>>().map_err(|_| DlpackError::Sizes)
}
