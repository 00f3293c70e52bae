//! All elements, in the order of memory, without their indices.

use super::lanes;
use super::memory::Memory;
use crate::buffer::{Buffer, BufferError, Bytes, BytesMut, DynShape, assert_whole};
use crate::element::Plain;
use crate::sealed::named_in_errors;
use crate::types::{ArrayType, ValueOf, WholeArray};

impl<S: ArrayType<Element: Plain>, B: Bytes> Buffer<S, B> {
    /// Calls `f` with slices of elements, without padding, in the order of memory: one slice if there is no padding, otherwise slices as
    /// long as the layout's blocks allow. Together they contain every element once.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(s32[3,5]{1,0:T(2,4)})>::from_fn(|[i, j]| (10 * i + j) as i32);
    /// let mut segments = Vec::new();
    /// x.for_each_segment(|segment| segments.push(segment.to_vec()));
    /// assert_eq!(segments[0], [0, 1, 2, 3, 10, 11, 12, 13]); // a tile without padding
    /// assert_eq!(segments[1..], [vec![4], vec![14], vec![20, 21, 22, 23], vec![24]]);
    /// ```
    #[inline(always)]
    pub fn for_each_segment(&self, mut f: impl FnMut(&[ValueOf<S>])) {
        named_in_errors!(Self);
        const { assert_whole::<S>() };
        // SAFETY: `assert_whole` has just been evaluated; the memory is borrowed with `self`.
        let values = unsafe { self.values_for() };
        // SAFETY: the ranges contain only positions of elements of this array.
        self.shape().for_each_segment_range(|range| f(unsafe { values.range(range) }));
    }

    /// Calls `f` with every element, in the order of memory.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(s32[3,5]{1,0:T(2,4)})>::filled(2);
    /// let mut sum = 0;
    /// x.for_each(|x| sum += x);
    /// assert_eq!(sum, 30); // without the padding
    /// ```
    #[inline(always)]
    pub fn for_each(&self, mut f: impl FnMut(ValueOf<S>)) {
        self.for_each_segment(|segment| segment.iter().for_each(|&value| f(value)));
    }

    /// Folds the elements into `N` separate lanes, so that the compiler can use vector instructions even where the order of operations
    /// matters, as in sums of floating-point numbers. Which lane an element goes to is unspecified; 16 or 32 lanes suit most machines.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(f32[100,200]{1,0:T(8,128)})>::from_fn(|[i, j]| (i + j) as f32);
    /// let sum = x.fold_lanes([0.0; 32], |sum, value| sum + value).iter().sum::<f32>();
    /// assert_eq!(sum, 2_980_000.0);
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn fold_lanes<A: Copy, const N: usize>(&self, init: [A; N], mut f: impl FnMut(A, ValueOf<S>) -> A) -> [A; N] {
        let mut accumulators = init;
        self.for_each_segment(|segment| accumulators = lanes::fold(accumulators, segment, &mut f));
        accumulators
    }
}

impl<S: ArrayType<Element: Plain>, B: BytesMut> Buffer<S, B> {
    /// Calls `f` with slices of elements, without padding, to write; see [`for_each_segment`](Self::for_each_segment).
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let mut x = Buffer::<shape!(s32[3,5]{1,0:T(2,4)})>::zeroed();
    /// x.for_each_segment_mut(|segment| segment.fill(1));
    /// assert_eq!(x.fold(0, |sum, x| sum + x), 15);
    /// ```
    #[inline(always)]
    pub fn for_each_segment_mut(&mut self, mut f: impl FnMut(&mut [ValueOf<S>])) {
        named_in_errors!(Self);
        const { assert_whole::<S>() };
        let shape = self.shape();
        // SAFETY: `assert_whole` has just been evaluated; the memory is borrowed mutably with `self`.
        let mut values = unsafe { self.values_mut_for() };
        // SAFETY: the ranges contain only positions of elements of this array.
        shape.for_each_segment_range(|range| f(unsafe { values.range(range) }));
    }

    /// Replaces every element by the result of `f`, in the order of memory; padding stays as it is.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let mut x = Buffer::<shape!(f32[3,5]{1,0:T(2,4)})>::from_fn(|[i, j]| (10 * i + j) as f32);
    /// x.apply(|value| 2.0 * value);
    /// assert_eq!(x[[2, 4]], 48.0);
    /// ```
    #[inline(always)]
    pub fn apply(&mut self, mut f: impl FnMut(ValueOf<S>) -> ValueOf<S>) {
        self.for_each_segment_mut(|segment| lanes::replace(segment, &mut f));
    }

    /// Writes this value to every element; padding stays as it is.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let mut x = Buffer::<shape!(s32[3]{0:T(4)})>::zeroed();
    /// x.fill(7);
    /// assert_eq!(x.as_slice(), [7, 7, 7, 0]);
    /// ```
    #[inline(always)]
    pub fn fill(&mut self, value: ValueOf<S>) {
        self.for_each_segment_mut(|segment| segment.fill(value));
    }
}

impl<S: WholeArray<Element: Plain>, B: BytesMut> Buffer<S, B> {
    /// Writes this value to all padding, also at the end of the array; elements stay as they are.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let mut x = Buffer::<shape!(s32[2,3]{1,0:T(2,4)})>::zeroed();
    /// x.fill_padding(-1);
    /// assert_eq!(x.as_slice(), [0, 0, 0, -1, 0, 0, 0, -1]);
    /// ```
    #[inline(always)]
    pub fn fill_padding(&mut self, value: ValueOf<S>) {
        let shape = self.shape();
        let values = self.as_mut_slice();
        let mut end = 0;
        shape.for_each_segment_range(|range| {
            values[end..range.start].fill(value);
            end = range.end;
        });
        values[end..].fill(value);
    }
}

impl<B: Bytes> Buffer<DynShape, B> {
    /// Calls `f` with slices of elements, without padding, in the order of memory. Together they contain every element once.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::S32;
    ///
    /// let x = DynBuffer::from_fn_with::<S32>("s32[3,5]{1,0:T(2,4)}".parse()?, |i| (10 * i[0] + i[1]) as i32)?;
    /// let mut segments = Vec::new();
    /// x.for_each_segment::<S32>(|segment| segments.push(segment.to_vec()))?;
    /// assert_eq!(segments[0], [0, 1, 2, 3, 10, 11, 12, 13]); // a tile without padding
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the elements are of another type, packed bits, or not aligned for their Rust type.
    pub fn for_each_segment<E: Plain>(&self, mut f: impl FnMut(&[E::Value])) -> Result<(), BufferError> {
        let view = self.view();
        let values = view.as_slice::<E>()?;
        self.stride_table().as_ref().for_each_segment(|range| f(&values[range.start as usize..range.end as usize]));
        Ok(())
    }

    /// Calls `f` with every element, in the order of memory.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::S32;
    ///
    /// let x = DynBuffer::filled_with::<S32>("s32[3,5]{1,0:T(2,4)}".parse()?, 2)?;
    /// let mut sum = 0;
    /// x.for_each::<S32>(|x| sum += x)?;
    /// assert_eq!(sum, 30);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`for_each_segment`](Self::for_each_segment).
    pub fn for_each<E: Plain>(&self, mut f: impl FnMut(E::Value)) -> Result<(), BufferError> {
        self.for_each_segment::<E>(|segment| segment.iter().for_each(|&value| f(value)))
    }

    /// Folds the elements into `N` separate lanes, so that the compiler can use vector instructions. Which lane an element goes to is
    /// unspecified.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::F32;
    ///
    /// let x = DynBuffer::filled_with::<F32>("f32[100,200]".parse()?, 0.5)?;
    /// let lanes = x.fold_lanes::<F32, _, 32>([0.0; 32], |sum, x| sum + x)?;
    /// assert_eq!(lanes.iter().sum::<f32>(), 10_000.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`for_each_segment`](Self::for_each_segment).
    pub fn fold_lanes<E: Plain, A: Copy, const N: usize>(
        &self,
        init: [A; N],
        mut f: impl FnMut(A, E::Value) -> A,
    ) -> Result<[A; N], BufferError> {
        let mut accumulators = init;
        self.for_each_segment::<E>(|segment| accumulators = lanes::fold(accumulators, segment, &mut f))?;
        Ok(accumulators)
    }
}

impl<B: BytesMut> Buffer<DynShape, B> {
    /// Calls `f` with slices of elements, without padding, to write; see [`for_each_segment`](Self::for_each_segment).
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::S32;
    ///
    /// let mut x = DynBuffer::zeroed_with("s32[3,5]{1,0:T(2,4)}".parse()?)?;
    /// x.for_each_segment_mut::<S32>(|segment| segment.fill(1))?;
    /// assert_eq!(x.get::<S32>(&[2, 4])?, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`for_each_segment`](Self::for_each_segment).
    pub fn for_each_segment_mut<E: Plain>(&mut self, mut f: impl FnMut(&mut [E::Value])) -> Result<(), BufferError> {
        let shape = self.prepared_shape();
        let values = self.as_mut_slice::<E>()?;
        shape
            .stride_table()
            .as_ref()
            .for_each_segment(|range| f(&mut values[range.start as usize..range.end as usize]));
        Ok(())
    }

    /// Replaces every element by the result of `f`, in the order of memory; padding stays as it is.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::F32;
    ///
    /// let mut x = DynBuffer::filled_with::<F32>("f32[3,5]{1,0:T(2,4)}".parse()?, 2.0)?;
    /// x.apply::<F32>(|value| 2.0 * value)?;
    /// assert_eq!(x.to_string(), "[[4, 4, 4, 4, 4],\n [4, 4, 4, 4, 4],\n [4, 4, 4, 4, 4]]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`for_each_segment`](Self::for_each_segment).
    pub fn apply<E: Plain>(&mut self, mut f: impl FnMut(E::Value) -> E::Value) -> Result<(), BufferError> {
        self.for_each_segment_mut::<E>(|segment| lanes::replace(segment, &mut f))
    }

    /// Writes this value to every element; padding stays as it is.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::S32;
    ///
    /// let mut x = DynBuffer::zeroed_with("s32[3]{0:T(4)}".parse()?)?;
    /// x.fill::<S32>(7)?;
    /// assert_eq!(x.as_slice::<S32>()?, [7, 7, 7, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`for_each_segment`](Self::for_each_segment).
    pub fn fill<E: Plain>(&mut self, value: E::Value) -> Result<(), BufferError> {
        self.for_each_segment_mut::<E>(|segment| segment.fill(value))
    }

    /// Writes this value to all padding, also at the end of the array; elements stay as they are.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::S32;
    ///
    /// let mut x = DynBuffer::zeroed_with("s32[3]{0:T(4)}".parse()?)?;
    /// x.fill_padding::<S32>(-1)?;
    /// assert_eq!(x.as_slice::<S32>()?, [0, 0, 0, -1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`for_each_segment`](Self::for_each_segment).
    pub fn fill_padding<E: Plain>(&mut self, value: E::Value) -> Result<(), BufferError> {
        let shape = self.prepared_shape();
        let values = self.as_mut_slice::<E>()?;
        let mut end = 0;
        shape.stride_table().as_ref().for_each_segment(|range| {
            values[end..range.start as usize].fill(value);
            end = range.end as usize;
        });
        values[end..].fill(value);
        Ok(())
    }
}
