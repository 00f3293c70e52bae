//! Constructors of arrays whose shape is a type.

use super::AlignedBytes;
use super::bytes::{Bytes, Mut, Ref};
use super::cells::Width;
use super::error::BufferError;
use super::storage::{Buffer, View, ViewMut};
use super::typed::{Access, checked_width};
use crate::element::{Plain, Stored};
use crate::element::{bytes_of, bytes_of_mut};
use crate::sealed::named_in_errors;
use crate::types::{StaticArray, ValueOf, WholeArray};

/// **New arrays** of a shape whose sizes are all in the type.
///
/// The bounds that require this are on each function, not on the `impl`: then the compiler's error says which size is not known, or which values
/// have no Rust type, and what to do.
impl<S: WholeArray> Buffer<S> {
    /// An array whose bytes, padding included, are all 0.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// assert_eq!(Buffer::<shape!(f32[8,128]{1,0:T(8,128)})>::zeroed()[[7, 127]], 0.0);
    /// ```
    ///
    /// # Panics
    /// If there is not enough memory; see [`try_zeroed`](Self::try_zeroed).
    #[must_use]
    #[track_caller]
    pub fn zeroed() -> Self
    where
        S: StaticArray<Element: Stored>,
    {
        named_in_errors!(Self);
        Self::allocated(const { checked_width::<S>() })
    }

    /// Like [`zeroed`](Self::zeroed), but returns an error instead of panicking.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// assert!(Buffer::<shape!(f32[8,128])>::try_zeroed().is_ok());
    /// assert!(Buffer::<shape!(u8[4611686018427387904])>::try_zeroed().is_err()); // 4 EiB
    /// ```
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn try_zeroed() -> Result<Self, BufferError>
    where
        S: StaticArray<Element: Stored>,
    {
        named_in_errors!(Self);
        Self::try_allocated(const { checked_width::<S>() })
    }

    #[track_caller]
    fn allocated(width: Width) -> Self
    where
        S: StaticArray<Element: Stored>,
    {
        Self::try_allocated(width).unwrap_or_else(|error| panic!("{}: {error}", S::TEXT))
    }

    fn try_allocated(width: Width) -> Result<Self, BufferError>
    where
        S: StaticArray<Element: Stored>,
    {
        Self::of_bytes(S::default(), AlignedBytes::zeroed(S::BYTES)?, width)
    }

    /// An array with this value in every element; padding is 0.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(f32[2,3]{1,0:T(2,4)})>::filled(1.5);
    /// assert_eq!(x.as_slice(), [1.5, 1.5, 1.5, 0.0, 1.5, 1.5, 1.5, 0.0]);
    /// ```
    ///
    /// # Panics
    /// If there is not enough memory.
    #[must_use]
    #[track_caller]
    pub fn filled(value: ValueOf<S>) -> Self
    where
        S: StaticArray<Element: Stored>,
    {
        named_in_errors!(Self);
        let mut buffer = Self::allocated(const { checked_width::<S>() });
        buffer.fill_with(|_| value);
        buffer
    }

    /// An array with the value of a function at each index; padding is 0.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(s32[2,3]{0,1})>::from_fn(|[i, j]| (10 * i + j) as i32);
    /// assert_eq!(x.as_slice(), [0, 10, 1, 11, 2, 12]);
    /// ```
    ///
    /// Name the array before `from_fn`, as here: from the type of a variable or a result, the compiler learns too late how many numbers an index has.
    /// If you cannot name the array's type there, name the type of the index:
    ///
    /// ```
    /// use xla_shape::element::F32;
    /// use xla_shape::types::StaticArray;
    /// use xla_shape::Buffer;
    ///
    /// fn identity<S: StaticArray<Element = F32, Index = [usize; 2]>>() -> Buffer<S> {
    ///     Buffer::from_fn(|[i, j]: [usize; 2]| if i == j { 1.0 } else { 0.0 })
    /// }
    /// # assert_eq!(identity::<xla_shape::shape!(f32[2,2])>().as_slice(), [1.0, 0.0, 0.0, 1.0]);
    /// ```
    ///
    /// # Panics
    /// If there is not enough memory.
    #[must_use]
    #[track_caller]
    pub fn from_fn(value: impl FnMut(S::Index) -> ValueOf<S>) -> Self
    where
        S: StaticArray<Element: Stored>,
    {
        named_in_errors!(Self);
        let mut buffer = Self::allocated(const { checked_width::<S>() });
        buffer.fill_with(value);
        buffer
    }
}

/// **Arrays in given bytes**, of a shape whose sizes are all in the type.
impl<S: WholeArray, B: Bytes> Buffer<S, B> {
    /// An array in these bytes: the elements and the padding, in the order of memory.
    ///
    /// ```
    /// use xla_shape::{View, shape};
    ///
    /// let file = [1, 0, 2, 0]; // little-endian
    /// let x = View::<shape!(u8[2,2]{0,1})>::from_bytes(&file)?;
    /// assert_eq!(x[[0, 1]], 2);
    /// # Ok::<(), xla_shape::BufferError>(())
    /// ```
    ///
    /// # Errors
    /// If there are not exactly `S::BYTES` bytes, or the first element does not have the alignment of its Rust type.
    pub fn from_bytes(bytes: B::Parts) -> Result<Self, BufferError>
    where
        S: StaticArray<Element: Stored>,
    {
        named_in_errors!(Self);
        Self::of_bytes(S::default(), B::from_parts(bytes), const { checked_width::<S>() })
    }
}

/// **Borrowed values as arrays**, of a shape whose sizes are all in the type.
impl<'a, S: WholeArray> View<'a, S> {
    /// Borrows values as an array: the elements and the padding, in the order of memory.
    ///
    /// ```
    /// use xla_shape::{View, shape};
    ///
    /// let x = View::<shape!(s32[2,3]{0,1})>::from_slice(&[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(x[[1, 0]], 2);
    /// # Ok::<(), xla_shape::BufferError>(())
    /// ```
    ///
    /// # Errors
    /// If the number of values is not the number of the array's physical elements.
    pub fn from_slice(values: &'a [ValueOf<S>]) -> Result<Self, BufferError>
    where
        S: StaticArray<Element: Plain>,
    {
        const { checked_width::<S>() };
        Self::from_slice_with(S::default(), values)
    }
}

/// **Borrowed values as arrays to write**, of a shape whose sizes are all in the type.
impl<'a, S: WholeArray> ViewMut<'a, S> {
    /// Borrows values as an array to write: the elements and the padding, in the order of memory.
    ///
    /// ```
    /// use xla_shape::{ViewMut, shape};
    ///
    /// let mut values = [1, 2, 3, 4, 5, 6];
    /// ViewMut::<shape!(s32[2,3]{0,1})>::from_slice(&mut values)?[[1, 0]] = 20;
    /// assert_eq!(values, [1, 20, 3, 4, 5, 6]);
    /// # Ok::<(), xla_shape::BufferError>(())
    /// ```
    ///
    /// # Errors
    /// If the number of values is not the number of the array's physical elements.
    pub fn from_slice(values: &'a mut [ValueOf<S>]) -> Result<Self, BufferError>
    where
        S: StaticArray<Element: Plain>,
    {
        const { checked_width::<S>() };
        Self::from_slice_with(S::default(), values)
    }
}

impl<S: WholeArray<Element: Stored>> Buffer<S> {
    /// Fails the compilation if a buffer cannot hold the array.
    pub(crate) const ASSERT_HOLDS: () = {
        checked_width::<S>();
    };
}

/// **New arrays** of a shape with sizes that are known at run time: the shape comes first.
impl<S: WholeArray> Buffer<S> {
    /// An array of this shape whose bytes, padding included, are all 0.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// type Rows = shape!(f32[?,128]{1,0:T(8,128)});
    /// let x = Buffer::<Rows>::zeroed_with(Rows::with_sizes([20, 128])?)?;
    /// assert_eq!(x.as_bytes().len(), 24 * 128 * 4);
    /// assert_eq!((x.get([19, 0]), x.get([20, 0]).is_err()), (Ok(0.0), true));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn zeroed_with(shape: S) -> Result<Self, BufferError>
    where
        S: WholeArray<Element: Stored>,
    {
        Self::of_bytes(shape, AlignedBytes::zeroed(shape.byte_size())?, const { checked_width::<S>() })
    }

    /// An array of this shape with this value in every element; padding is 0.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// type Rows = shape!(f32[?,128]);
    /// let x = Buffer::<Rows>::filled_with(Rows::with_sizes([20, 128])?, 1.0)?;
    /// assert_eq!(x[[19, 127]], 1.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn filled_with(shape: S, value: ValueOf<S>) -> Result<Self, BufferError>
    where
        S: WholeArray<Element: Stored>,
    {
        const { checked_width::<S>() };
        Self::from_fn_with(shape, |_| value)
    }

    /// An array of this shape with the value of a function at each index; padding is 0.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// type Rows = shape!(f32[?,128]);
    /// let x = Buffer::<Rows>::from_fn_with(Rows::with_sizes([20, 128])?, |[i, _]| i as f32)?;
    /// assert_eq!(x[[19, 0]], 19.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn from_fn_with(shape: S, value: impl FnMut(S::Index) -> ValueOf<S>) -> Result<Self, BufferError>
    where
        S: WholeArray<Element: Stored>,
    {
        let bytes = AlignedBytes::zeroed(shape.byte_size())?;
        let mut buffer = Self::of_bytes(shape, bytes, const { checked_width::<S>() })?;
        buffer.fill_with(value);
        Ok(buffer)
    }
}

/// **Arrays in given bytes**, and back: the shape and the bytes.
impl<S: WholeArray<Element: Stored>, B: Bytes> Buffer<S, B> {
    /// An array of this shape in these bytes: the elements and the padding, in the order of memory.
    ///
    /// ```
    /// use xla_shape::{View, shape};
    ///
    /// type Rows = shape!(u8[?,2]);
    /// let x = View::<Rows>::from_parts(Rows::with_sizes([3, 2])?, &[0, 1, 10, 11, 20, 21])?;
    /// assert_eq!(x[[2, 1]], 21);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there are not exactly as many bytes as the shape takes, or the first element does not have the alignment of its Rust type.
    #[inline]
    pub fn from_parts(shape: S, bytes: B::Parts) -> Result<Self, BufferError> {
        Self::of_bytes(shape, B::from_parts(bytes), const { checked_width::<S>() })
    }

    /// The shape and the bytes: the inverse of [`from_parts`](Self::from_parts).
    ///
    /// ```
    /// use xla_shape::{View, shape};
    ///
    /// let x = View::<shape!(u8[2])>::from_slice(&[1, 2])?;
    /// assert_eq!(x.into_parts().1, [1, 2]);
    /// # Ok::<(), xla_shape::BufferError>(())
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn into_parts(self) -> (S, B::Parts) {
        // SAFETY: `WholeArray`: the buffer is a whole array, not a block.
        (self.shape, unsafe { self.bytes.into_parts() })
    }

    /// The array in these bytes, if their number and their alignment are right.
    // Not called `new`: for `Buffer::new()`, the compiler then lists the functions that make buffers, and does not say that one is private.
    #[inline]
    fn of_bytes(shape: S, bytes: B, width: Width) -> Result<Self, BufferError> {
        let (expected, found) = (shape.byte_size(), bytes.len());
        if found != expected {
            return Err(BufferError::WrongLength { expected, found });
        }
        let alignment = align_of::<ValueOf<S>>();
        // Elements are borrowed as values only if they are whole and the prefix leaves them aligned.
        let is_borrowed = width == Width::Whole && S::PREFIX.is_multiple_of(alignment) && found > S::PREFIX;
        if is_borrowed && !bytes.start().addr().is_multiple_of(alignment) {
            return Err(BufferError::Misaligned { alignment });
        }
        Ok(Self { bytes, shape })
    }
}

/// **Borrowed values as arrays**: the shape comes first.
impl<'a, S: WholeArray<Element: Plain>> View<'a, S> {
    /// Borrows values as an array of this shape: the elements and the padding, in the order of memory.
    ///
    /// ```
    /// use xla_shape::{View, shape};
    ///
    /// type Rows = shape!(s32[?,2]);
    /// let x = View::<Rows>::from_slice_with(Rows::with_sizes([3, 2])?, &[0, 1, 10, 11, 20, 21])?;
    /// assert_eq!(x[[2, 1]], 21);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the number of values is not the number of the array's physical elements.
    pub fn from_slice_with(shape: S, values: &'a [ValueOf<S>]) -> Result<Self, BufferError> {
        Self::of_bytes(shape, Ref::from(bytes_of::<S::Element>(values)), const { checked_width::<S>() })
    }
}

/// **Borrowed values as arrays to write**: the shape comes first.
impl<'a, S: WholeArray<Element: Plain>> ViewMut<'a, S> {
    /// Borrows values as an array of this shape, to write: the elements and the padding, in the order of memory.
    ///
    /// ```
    /// use xla_shape::{ViewMut, shape};
    ///
    /// type Rows = shape!(s32[?,2]);
    /// let mut values = [0; 6];
    /// ViewMut::<Rows>::from_slice_with(Rows::with_sizes([3, 2])?, &mut values)?.fill(7);
    /// assert_eq!(values, [7; 6]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the number of values is not the number of the array's physical elements.
    pub fn from_slice_with(shape: S, values: &'a mut [ValueOf<S>]) -> Result<Self, BufferError> {
        Self::of_bytes(shape, Mut::from(bytes_of_mut::<S::Element>(values)), const { checked_width::<S>() })
    }
}
