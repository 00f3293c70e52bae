//! Errors of buffers.

use crate::types::SizesError;
use std::error::Error;
use std::fmt;
use xla_shape_core::bitcast::{Answer, BitcastError};
use xla_shape_core::text::ConstText;
use xla_shape_core::{ArrayShape, ElementType, StrideTableError, StridesError, TransformError, ValidationError};
use xla_shape_relayout::OutOfMemory;

/// Why memory cannot be used as an array, or an array as another array.
///
/// ```
/// use xla_shape::{Buffer, BufferError, shape};
///
/// let error = Buffer::<shape!(u8[2,2]), Vec<u8>>::from_bytes(vec![1, 2, 3]).unwrap_err();
/// assert_eq!(error, BufferError::WrongLength { expected: 4, found: 3 });
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BufferError {
    /// The memory does not have the length of the array.
    WrongLength {
        /// The bytes that the array takes.
        expected: usize,
        /// The bytes of the memory.
        found: usize,
    },
    /// The first element does not have the alignment of its Rust type.
    Misaligned {
        /// The alignment, in bytes.
        alignment: usize,
    },
    /// The pointer to the array's bytes is null.
    NullPointer,
    /// There is not enough memory.
    OutOfMemory {
        /// The bytes that were requested.
        bytes: usize,
    },
    /// The number of values is not the number of the array's elements.
    WrongNumberOfElements {
        /// The elements of the array.
        expected: usize,
        /// The values that were given.
        found: usize,
    },
    /// The layout gives an element fewer bits than its type has.
    ElementTooNarrow {
        /// The type of the elements.
        element_type: ElementType,
        /// The bits of an element in the layout.
        element_size_in_bits: u64,
    },
    /// The array has splits, so it lies in several memories.
    Split,
    /// The type stands for any shape, so sizes alone are not enough: element type and layout are missing.
    AnyShape,
    /// The element type does not have the padding value.
    NoSuchPaddingValue {
        /// The type of the elements.
        element_type: ElementType,
        /// The name of the value.
        padding_value: &'static str,
    },
    /// The elements are packed bits, or not aligned for their Rust type, so they cannot be borrowed.
    NotBorrowable(Box<ArrayShape>),
    /// The array has tiles, which an `ndarray` cannot have.
    Tiled(Box<ArrayShape>),
    /// The array is empty, and its other sizes multiply to more than `isize::MAX`, which an `ndarray` cannot have.
    TooLargeForNdarray(Box<ArrayShape>),
    /// The strides of the `ndarray` and the array differ, or the `ndarray` has gaps.
    WrongStrides {
        /// The strides of the array, in elements, dimension 0 first; a dimension of size 1 may have any stride.
        expected: Vec<usize>,
        /// The strides of the `ndarray`.
        found: Vec<isize>,
    },
    /// In the requested shape, an element would move, or the memory would have another size.
    Moves(Box<Answer>),
    /// It is not known whether elements would move.
    Bitcast(Box<BitcastError>),
    /// The array cannot be transformed like this.
    Transform(Box<TransformError>),
    /// A slice is not one stretch of memory; the text says why.
    NoSlice(Box<str>),
    /// No layout has these strides, or the array has no strides.
    Strides(Box<StridesError>),
    /// The array's type cannot have these sizes.
    Sizes(SizesError),
    /// The shape is not valid.
    Invalid(ValidationError),
    /// The array has no stride table.
    StrideTable(StrideTableError),
    /// The array has another shape.
    Shape(ShapeMismatch),
    /// An element cannot be accessed.
    Access(AccessError),
}

/// The error of an array with splits.
pub(crate) const SPLIT: &str = "expected an array in one memory, found one with splits";

/// The error of elements with fewer bits than their type has.
pub(super) const fn too_narrow(element_type: ElementType, element_size_in_bits: u64) -> ConstText<256> {
    let text =
        ConstText::new().push_str("expected an element_size_in_bits of at least ").push_number(element_type.bits());
    text.push_str(" for ").push_str(element_type.name()).push_str(", found ").push_number(element_size_in_bits)
}

impl fmt::Display for BufferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongLength { expected, found } => write!(f, "expected {expected} bytes, found {found}"),
            Self::Misaligned { alignment } => {
                write!(f, "the memory must begin at a multiple of {alignment} bytes")
            }
            Self::NullPointer => f.write_str("expected a pointer to the bytes of an array, found a null pointer"),
            Self::OutOfMemory { bytes } => OutOfMemory { bytes: *bytes }.fmt(f),
            Self::WrongNumberOfElements { expected, found } => {
                write!(f, "expected {expected} elements, found {found}")
            }
            Self::ElementTooNarrow { element_type, element_size_in_bits } => {
                f.write_str(too_narrow(*element_type, *element_size_in_bits).as_str())
            }
            Self::AnyShape => f.write_str("sizes alone are not a shape: give element type and layout"),
            Self::Split => f.write_str(SPLIT),
            Self::NoSuchPaddingValue { element_type, padding_value } => {
                write!(f, "expected a padding value that {element_type} has, found `{padding_value}`")
            }
            Self::NotBorrowable(shape) => {
                write!(f, "expected whole, aligned elements to borrow, found {shape}; use `get` and `set`")
            }
            Self::Tiled(shape) => write!(f, "expected an array without tiles, found {shape}"),
            Self::TooLargeForNdarray(shape) => {
                write!(
                    f,
                    "expected sizes whose product without zeros fits in an isize, as an `ndarray` has, found {shape}"
                )
            }
            Self::WrongStrides { expected, found } => write!(f, "expected strides {expected:?}, found {found:?}"),
            Self::Moves(answer) => answer.fmt(f),
            Self::Bitcast(error) => error.fmt(f),
            Self::Transform(error) => error.fmt(f),
            Self::NoSlice(reason) => f.write_str(reason),
            Self::Strides(error) => error.fmt(f),
            Self::Sizes(error) => error.fmt(f),
            Self::Invalid(error) => error.fmt(f),
            Self::StrideTable(error) => error.fmt(f),
            Self::Shape(error) => error.fmt(f),
            Self::Access(error) => error.fmt(f),
        }
    }
}

/// Implements [`Debug`](fmt::Debug) as [`Display`](fmt::Display), because Rust prints an error that `main` returns with `Debug`.
macro_rules! debug_is_text {
    ($error:ident) => {
        impl fmt::Debug for $error {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

debug_is_text!(BufferError);

impl Error for BufferError {
    /// The source of the inner error. The inner error itself is skipped, because `Display` already shows its text.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Bitcast(error) => error.source(),
            Self::Transform(error) => error.source(),
            Self::Strides(error) => error.source(),
            Self::Sizes(error) => error.source(),
            Self::Invalid(error) => error.source(),
            Self::StrideTable(error) => error.source(),
            Self::Shape(error) => error.source(),
            Self::Access(error) => error.source(),
            _ => None,
        }
    }
}

impl From<StrideTableError> for BufferError {
    fn from(error: StrideTableError) -> Self {
        Self::StrideTable(error)
    }
}

impl From<OutOfMemory> for BufferError {
    fn from(OutOfMemory { bytes }: OutOfMemory) -> Self {
        Self::OutOfMemory { bytes }
    }
}

impl From<StridesError> for BufferError {
    fn from(error: StridesError) -> Self {
        Self::Strides(Box::new(error))
    }
}

impl From<SizesError> for BufferError {
    fn from(error: SizesError) -> Self {
        Self::Sizes(error)
    }
}

impl From<ValidationError> for BufferError {
    fn from(error: ValidationError) -> Self {
        Self::Invalid(error)
    }
}

impl From<ShapeMismatch> for BufferError {
    fn from(error: ShapeMismatch) -> Self {
        Self::Shape(error)
    }
}

impl From<AccessError> for BufferError {
    fn from(error: AccessError) -> Self {
        Self::Access(error)
    }
}

/// Why an element cannot be accessed.
///
/// ```
/// use xla_shape::element::{F32, S32};
/// use xla_shape::{DynBuffer, ElementType, buffer::AccessError};
///
/// let x = DynBuffer::filled_with::<F32>("f32[2,3]".parse()?, 1.5)?;
/// assert_eq!(x.get::<F32>(&[1, 2]), Ok(1.5));
/// let error = x.get::<S32>(&[1, 2]).unwrap_err();
/// assert_eq!(error, AccessError::WrongElementType { expected: ElementType::S32, found: ElementType::F32 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum AccessError {
    /// The elements are of another type.
    WrongElementType {
        /// The type that was requested.
        expected: ElementType,
        /// The type of the array's elements.
        found: ElementType,
    },
    /// The index does not have one entry for each dimension.
    WrongNumDimensions {
        /// The number of dimensions.
        expected: usize,
        /// The number of entries of the index.
        found: usize,
    },
    /// The index is out of bounds.
    OutOfBounds {
        /// The first dimension in which the index is out of bounds.
        dimension: usize,
        /// The index in that dimension.
        index: usize,
        /// The size of that dimension, in elements.
        size: usize,
    },
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongElementType { expected, found } => write!(f, "expected elements of {expected}, found {found}"),
            Self::WrongNumDimensions { expected, found } => {
                write!(f, "expected an index with {expected} entries, found {found}")
            }
            Self::OutOfBounds { dimension, index, size } => {
                write!(f, "expected an index less than {size} in dimension {dimension}, found {index}")
            }
        }
    }
}

impl Error for AccessError {}

/// Why there is no element with this index.
#[cold]
pub(super) fn out_of_bounds(index: &[usize], sizes: &[usize]) -> AccessError {
    let number = index.len();
    let wrong = index.iter().zip(sizes).enumerate().find(|(_, (index, size))| index >= size);
    match wrong {
        Some((dimension, (&index, &size))) if number == sizes.len() => {
            AccessError::OutOfBounds { dimension, index, size }
        }
        _ => AccessError::WrongNumDimensions { expected: sizes.len(), found: number },
    }
}

/// An array does not have the expected shape.
#[derive(Clone, PartialEq, Eq)]
pub struct ShapeMismatch(Box<[ArrayShape; 2]>);

impl ShapeMismatch {
    pub(crate) fn new(expected: ArrayShape, found: ArrayShape) -> Self {
        Self(Box::new([expected, found]))
    }

    /// The expected shape.
    ///
    /// ```
    /// use xla_shape::{BufferError, DynBuffer, shape};
    ///
    /// let x = DynBuffer::zeroed_with("f32[2,3]".parse()?)?;
    /// if let Err(BufferError::Shape(error)) = x.into_typed::<shape!(f32[2,4])>() {
    ///     assert_eq!(error.expected().to_string(), "f32[2,4]{1,0}");
    ///     assert_eq!(error.found().to_string(), "f32[2,3]{1,0}");
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn expected(&self) -> &ArrayShape {
        &self.0[0]
    }

    /// The shape that the array has. See [`expected`](Self::expected) for an example.
    #[must_use]
    pub fn found(&self) -> &ArrayShape {
        &self.0[1]
    }
}

impl fmt::Display for ShapeMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected an array of shape {}, found {}", self.expected(), self.found())
    }
}

debug_is_text!(ShapeMismatch);

impl Error for ShapeMismatch {}
