//! Arrays from and to values in row-major order: the order of the indices, without padding.

use crate::buffer::{AccessError, Buffer, BufferError, Bytes, BytesMut, DynShape};
use crate::element::Stored;
use crate::relayout::{Options, Plan};
use crate::sealed::named_in_errors;
use crate::types::{ArrayType, StaticArray, ValueOf, WholeArray, count};
use crate::{ArrayShape, Dimension};
use xla_shape_core::map::{Run, StrideTableRef, increment};
use xla_shape_relayout::wide::{byte_count, local, wide};

/// The most elements of an array that is copied run by run, without a plan. If runs are contiguous, this is faster than finding the plan among the
/// plans that the thread keeps; otherwise it takes 0.5 to 1 µs longer (Intel Emerald Rapids).
const SMALL: u64 = 2048;

/// The same limit if values are stored differently than the elements in memory, so that elements are converted one by
/// one.
const FEW: u64 = 512;

/// The most bytes of an array type that is copied run by run, if runs are contiguous and take at least [`LONG_RUN`]: the vector kernels of a plan
/// then gain little (f32[100,200] in tiles takes 2.5 µs with them and 4 µs without, on the same machine).
const MOST_BYTES: u64 = 128 << 10;

/// The shortest runs, in bytes, for which [`MOST_BYTES`] holds.
const LONG_RUN: u64 = 256;

/// The most elements of an array that is copied without a plan: [`SMALL`] or [`FEW`].
const fn most<E: Stored>() -> u64 {
    if E::HAS_MEMORY { SMALL } else { FEW }
}

/// Whether arrays of a type are copied without a plan. It is a constant, so a program that copies no other arrays is linked without the
/// vector kernels, which take more than a megabyte.
const fn is_small<S: ArrayType<Element: Stored>>() -> bool {
    let (dimensions, mut i, mut elements) = (S::DIMENSIONS, 0, 1_u64);
    while i < dimensions.len() {
        elements = match dimensions[i] {
            Dimension::Static(size) => elements.saturating_mul(size),
            Dimension::Bounded(_) | Dimension::Unbounded => return false,
        };
        i += 1;
    }
    if elements <= most::<S::Element>() {
        return true;
    }
    let ([.., Dimension::Static(size)], bytes) = (dimensions, S::SHAPE.element_bits() / 8) else { return false };
    // A larger array is small enough if its runs along the last dimension are contiguous and long.
    let Run { len, stride } = S::STRIDE_TABLE.with_extents(&[]).run(dimensions.len() - 1);
    let run = if len < *size { len } else { *size };
    let has_long_runs = matches!(stride, Some(1)) && run * bytes >= LONG_RUN;
    <S::Element as Stored>::HAS_MEMORY && has_long_runs && elements.saturating_mul(bytes) <= MOST_BYTES
}

/// Calls `visit` with each run of elements along the last dimension, in row-major order: its first position, its stride, and its length.
fn for_each_run(table: StrideTableRef<'_>, mut visit: impl FnMut(usize, usize, usize)) {
    let extents = table.extents();
    let Some((&size, outer)) = extents.split_last() else { return visit(0, 1, 1) };
    if extents.contains(&0) {
        return;
    }
    let run = table.run(outer.len());
    let (len, stride) = match run {
        Run { len, stride: Some(stride) } => (len.min(size), stride),
        // Without a common stride, each element is a run of its own.
        Run { stride: None, .. } => (1, 1),
    };
    let mut index = vec![0; extents.len()];
    loop {
        let mut start = 0;
        while start < size {
            index[outer.len()] = start;
            visit(table.linear_index(&index) as usize, stride as usize, len.min(size - start) as usize);
            start += len;
        }
        if !increment(&mut index[..outer.len()], outer) {
            return;
        }
    }
}

/// Copies the elements of an array, `BYTES` bytes each, from values in row-major order.
fn set_runs<const BYTES: usize>(table: StrideTableRef<'_>, values: &[u8], memory: &mut [u8]) {
    let (mut rest, memory) = (values.as_chunks::<BYTES>().0, memory.as_chunks_mut::<BYTES>().0);
    for_each_run(table, |first, stride, len| {
        let (run, after) = rest.split_at(len);
        rest = after;
        match stride {
            1 => memory[first..first + len].copy_from_slice(run),
            _ => memory[first..].iter_mut().step_by(stride).zip(run).for_each(|(to, from)| *to = *from),
        }
    });
}

/// Copies the elements of an array to values in row-major order.
fn get_runs<const BYTES: usize>(table: StrideTableRef<'_>, memory: &[u8], values: &mut [u8]) {
    let (mut rest, memory) = (values.as_chunks_mut::<BYTES>().0, memory.as_chunks::<BYTES>().0);
    for_each_run(table, |first, stride, len| {
        let (run, after) = std::mem::take(&mut rest).split_at_mut(len);
        rest = after;
        match stride {
            1 => run.copy_from_slice(&memory[first..first + len]),
            _ => memory[first..].iter().step_by(stride).zip(run).for_each(|(from, to)| *to = *from),
        }
    });
}

/// Calls `$f::<BYTES>`, where `BYTES` is the size of a value of `$element`, if an element takes as many bytes in memory. Returns whether it did.
macro_rules! with_bytes {
    ($element:ty, $shape:expr, $f:ident($($argument:expr),*)) => {
        match size_of::<<$element as Stored>::Bytes>() {
            bytes if $shape.element_bits() != 8 * bytes as u64 => false,
            1 => { $f::<1>($($argument),*); true }
            2 => { $f::<2>($($argument),*); true }
            4 => { $f::<4>($($argument),*); true }
            8 => { $f::<8>($($argument),*); true }
            16 => { $f::<16>($($argument),*); true }
            _ => false,
        }
    };
}

/// The number of the elements' first byte, which comes after the prefix.
fn first_byte(shape: &ArrayShape) -> usize {
    shape.layout().dynamic_shape_metadata_prefix_bytes() as usize
}

/// Copies values from memory, run by run; `None` if elements in memory are not contiguous values.
fn get_small<E: Stored>(shape: &ArrayShape, table: StrideTableRef<'_>, memory: &[u8]) -> Option<Vec<E::Value>> {
    let mut values = vec![E::Value::default(); count(local(table.extents()))];
    let (bytes, memory) = (E::memory_of_mut(&mut values)?, memory.get(first_byte(shape)..)?);
    with_bytes!(E, shape, get_runs(table, memory, bytes)).then_some(values)
}

/// Copies values to memory, run by run. Returns whether it did.
fn set_small<E: Stored>(shape: &ArrayShape, table: StrideTableRef<'_>, values: &[E::Value], memory: &mut [u8]) -> bool {
    let (Some(bytes), Some(memory)) = (E::memory_of(values), memory.get_mut(first_byte(shape)..)) else { return false };
    with_bytes!(E, shape, set_runs(table, bytes, memory))
}

/// The sizes, and whether the array is copied without a plan; `None` if a dimension is bounded.
fn sizes<E: Stored>(shape: &ArrayShape) -> Option<(Vec<u64>, bool)> {
    let mut sizes = Vec::new();
    for dimension in shape.dimensions() {
        let Dimension::Static(size) = *dimension else { return None };
        sizes.push(size);
    }
    let count = sizes.iter().try_fold(1_u64, |product, &size| product.checked_mul(size))?;
    Some((sizes, count <= most::<E>()))
}

/// Copies values from memory; `None` if elements must be converted one by one.
fn get<E: Stored>(shape: &ArrayShape, memory: &[u8]) -> Option<Vec<E::Value>> {
    let (sizes, is_small) = sizes::<E>(shape)?;
    if is_small {
        return get_small::<E>(shape, shape.stride_table().ok()?.as_ref(), memory);
    }
    let row_major = ArrayShape::with_default_layout(E::TYPE, &sizes).ok()?;
    let plan = Plan::new(shape, &row_major, &Options::new()).ok()?;
    let len = byte_count(&row_major)?;
    // The plan can write straight into values that are stored like the elements in memory.
    if E::memory_of(&[]).is_some() {
        let mut values = vec![E::Value::default(); len / size_of::<E::Value>()];
        plan.run(memory, E::memory_of_mut(&mut values)?).ok()?;
        return Some(values);
    }
    let mut bytes = vec![0; len];
    plan.run(memory, &mut bytes).ok()?;
    let value = |chunk: &[u8]| {
        let mut bytes = E::Bytes::default();
        bytes.as_mut().copy_from_slice(chunk);
        E::from_le_bytes(bytes)
    };
    Some(bytes.chunks_exact(size_of::<E::Bytes>()).map(value).collect())
}

/// Copies values to memory; `None` if elements must be converted one by one.
fn set<E: Stored>(shape: &ArrayShape, values: &[E::Value], memory: &mut [u8]) -> Option<()> {
    let (sizes, is_small) = sizes::<E>(shape)?;
    if is_small {
        return set_small::<E>(shape, shape.stride_table().ok()?.as_ref(), values, memory).then_some(());
    }
    let row_major = ArrayShape::with_default_layout(E::TYPE, &sizes).ok()?;
    let plan = Plan::new(&row_major, shape, &Options::new()).ok()?;
    if let Some(bytes) = E::memory_of(values) {
        return plan.run(bytes, memory).ok();
    }
    let mut bytes = Vec::with_capacity(size_of_val(values));
    values.iter().for_each(|&value| bytes.extend_from_slice(E::to_le_bytes(value).as_ref()));
    plan.run(&bytes, memory).ok()
}

impl<S: ArrayType<Element: Stored>, B: Bytes> Buffer<S, B> {
    /// The elements in row-major order of their indices, without padding.
    ///
    /// ```
    /// use xla_shape::{View, shape};
    ///
    /// let x = View::<shape!(s32[2,3]{0,1})>::from_slice(&[1, 4, 2, 5, 3, 6])?;
    /// assert_eq!(x.to_row_major(), [1, 2, 3, 4, 5, 6]);
    /// # Ok::<(), xla_shape::BufferError>(())
    /// ```
    #[must_use]
    pub fn to_row_major(&self) -> Vec<ValueOf<S>> {
        let values = self.bytes_of_whole_array().and_then(|memory| {
            if const { is_small::<S>() } {
                let sizes = self.shape().sizes();
                get_small::<S::Element>(S::SHAPE, S::STRIDE_TABLE.with_extents(wide(sizes.as_ref())), memory)
            } else {
                get::<S::Element>(&self.shape().array_shape(), memory)
            }
        });
        values.unwrap_or_else(|| self.iter().collect())
    }
}

impl<S: WholeArray<Element: Stored>, B: BytesMut> Buffer<S, B> {
    /// Writes all elements from values in row-major order of the indices; padding stays as it is.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let mut x = Buffer::<shape!(s32[2,3]{0,1})>::zeroed();
    /// x.set_row_major(&[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(x.as_slice(), [1, 4, 2, 5, 3, 6]);
    /// # Ok::<(), xla_shape::BufferError>(())
    /// ```
    ///
    /// # Errors
    /// If the number of values is not the number of elements.
    pub fn set_row_major(&mut self, values: &[ValueOf<S>]) -> Result<(), BufferError> {
        let sizes = self.shape().sizes();
        let (expected, found) = (count(sizes.as_ref()), values.len());
        if found != expected {
            return Err(BufferError::WrongNumberOfElements { expected, found });
        }
        let is_done = if const { is_small::<S>() } {
            let table = S::STRIDE_TABLE.with_extents(wide(sizes.as_ref()));
            set_small::<S::Element>(S::SHAPE, table, values, self.as_bytes_mut())
        } else {
            set::<S::Element>(&self.shape().array_shape(), values, self.as_bytes_mut()).is_some()
        };
        if !is_done {
            let mut values = values.iter().copied();
            self.fill_with(|_| values.next().unwrap_or_default());
        }
        Ok(())
    }
}

impl<S: WholeArray<Element: Stored>> Buffer<S> {
    /// An array of this shape with these elements, in row-major order of their indices; padding is 0.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// type Rows = shape!(s32[?,3]{0,1});
    /// let x = Buffer::<Rows>::from_row_major_with(Rows::with_sizes([2, 3])?, &[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(x[[1, 0]], 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the number of values is not the number of elements, or there is not enough memory.
    pub fn from_row_major_with(shape: S, values: &[ValueOf<S>]) -> Result<Self, BufferError> {
        named_in_errors!(Self);
        const { Self::ASSERT_HOLDS }
        let mut buffer = Self::zeroed_with(shape)?;
        buffer.set_row_major(values)?;
        Ok(buffer)
    }
}

impl<S: WholeArray> Buffer<S> {
    /// An array with these elements, in row-major order of their indices; padding is 0.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(s32[2,3]{0,1})>::from_row_major(&[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(x[[1, 0]], 4);
    /// # Ok::<(), xla_shape::BufferError>(())
    /// ```
    ///
    /// # Errors
    /// If the number of values is not the number of elements, or there is not enough memory.
    pub fn from_row_major(values: &[ValueOf<S>]) -> Result<Self, BufferError>
    where
        S: StaticArray<Element: Stored>,
    {
        named_in_errors!(Self);
        const { Self::ASSERT_HOLDS }
        Self::from_row_major_with(S::default(), values)
    }
}

impl<B: Bytes> Buffer<DynShape, B> {
    /// The elements in row-major order of their indices, without padding.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::S32;
    ///
    /// let x = DynBuffer::from_row_major_with::<S32>("s32[2,3]{0,1:T(2,4)}".parse()?, &[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(x.to_row_major::<S32>()?, [1, 2, 3, 4, 5, 6]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the elements are of another type.
    pub fn to_row_major<E: Stored>(&self) -> Result<Vec<E::Value>, AccessError> {
        self.check_type::<E>()?;
        let view = self.view();
        if let Some(values) = get::<E>(self.shape(), view.as_bytes()) {
            return Ok(values);
        }
        Ok(self.iter::<E>()?.collect())
    }
}

impl<B: BytesMut> Buffer<DynShape, B> {
    /// Writes all elements from values in row-major order of the indices; padding stays as it is.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::S32;
    ///
    /// let mut x = DynBuffer::zeroed_with("s32[2,3]{0,1}".parse()?)?;
    /// x.set_row_major::<S32>(&[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(x.get::<S32>(&[1, 0])?, 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the elements are of another type, or the number of values is not the number of elements.
    pub fn set_row_major<E: Stored>(&mut self, values: &[E::Value]) -> Result<(), BufferError> {
        self.check_type::<E>()?;
        let (expected, found) = (count(self.sizes()), values.len());
        if found != expected {
            return Err(BufferError::WrongNumberOfElements { expected, found });
        }
        let shape = self.prepared_shape();
        if set::<E>(shape.shape(), values, self.as_bytes_mut()).is_none() {
            let mut values = values.iter().copied();
            self.fill_with::<E>(|_| values.next().unwrap_or_default())?;
        }
        Ok(())
    }
}

impl Buffer<DynShape> {
    /// An array with these elements, in row-major order of their indices; padding is 0.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::S32;
    ///
    /// let x = DynBuffer::from_row_major_with::<S32>("s32[2,3]{0,1}".parse()?, &[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(x.as_slice::<S32>()?, [1, 4, 2, 5, 3, 6]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`zeroed_with`](Self::zeroed_with), or if the elements are of another type, or the number of values is not the number of
    /// elements.
    pub fn from_row_major_with<E: Stored>(shape: ArrayShape, values: &[E::Value]) -> Result<Self, BufferError> {
        let mut buffer = Self::zeroed_with(shape)?;
        buffer.set_row_major::<E>(values)?;
        Ok(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::{SMALL, is_small};
    use crate::element::{F32, S4, U8};
    use crate::{ArrayShape, Buffer, DynBuffer, shape};

    /// On both sides of the limit, every element is at its index.
    #[test]
    fn runs_and_plans_agree_with_the_definition() {
        for (small, large) in [
            ("f32[5,7]", "f32[45,77]"),
            ("f32[5,7]{0,1}", "f32[45,77]{0,1}"),
            ("f32[]", "f32[45,77]{0,1:T(8,128)}"),
            ("f32[0,7]{0,1}", "f32[0,7000]{0,1}"),
            ("f32[1,7,1]{0,2,1}", "f32[1,7000,1]{0,2,1}"),
            ("f32[5,7,11]{0,2,1:T(2,4)}", "f32[15,17,11]{0,2,1:T(2,4)}"),
            ("f32[9,150]{1,0:T(8,128)(2,1)}", "f32[19,150]{1,0:T(8,128)(2,1)}"),
            ("f32[9,15]{1,0:T(3,4)(2,1)}", "f32[190,15]{1,0:T(3,4)(2,1)}"),
            ("f32[9,5,7]{2,1,0:T(*,4)}", "f32[9,50,7]{2,1,0:T(*,4)}"),
            ("f32[9,5]{1,0:T(8,128)M(64)}", "f32[90,50]{1,0:T(8,128)M(64)}"),
        ] {
            for (text, is_small) in [(small, true), (large, false)] {
                let shape: ArrayShape = text.parse().unwrap();
                let count = shape.elements().unwrap();
                assert!(count == 0 || (count <= SMALL) == is_small, "{text}");
                let values = (0..count).map(|i| i as f32).collect::<Vec<_>>();
                let x = DynBuffer::from_row_major_with::<F32>(shape.clone(), &values).unwrap();
                let mut next = values.iter().copied();
                let expected = DynBuffer::from_fn_with::<F32>(shape, |_| next.next().unwrap()).unwrap();
                assert_eq!(x.as_bytes(), expected.as_bytes(), "{text}");
                assert_eq!(x.to_row_major::<F32>().unwrap(), values, "{text}");
            }
        }
    }

    #[test]
    fn small_arrays_of_types_have_no_plan() {
        type Tiled = shape!(u8[9,150]{1,0:T(8,128)(4,1)});
        type Packed = shape!(s4[9,15]{0,1:E(4)});
        const { assert!(is_small::<Tiled>() && is_small::<Packed>() && !is_small::<shape!(u8[?,150])>()) };
        const { assert!(is_small::<shape!(u8[2,1024]{0,1})>() && !is_small::<shape!(u8[2,1025]{0,1})>()) };
        const { assert!(is_small::<shape!(u8[512,256])>() && !is_small::<shape!(u8[512,255])>()) };
        const { assert!(is_small::<shape!(pred[512])>() && !is_small::<shape!(pred[513])>()) };
        let values = (0..1350_u32).map(|i| i as u8).collect::<Vec<_>>();
        let x = Buffer::<Tiled>::from_row_major(&values).unwrap();
        assert!((0..9).all(|i| (0..150).all(|j| x[[i, j]] == values[i * 150 + j])));
        assert_eq!(x.to_row_major(), values);
        assert_eq!(x.into_dyn().to_row_major::<U8>().unwrap(), values);
        let values = (0..135_u32).map(|i| S4::from_bits(i as u8 & 15)).collect::<Vec<_>>();
        assert_eq!(Buffer::<Packed>::from_row_major(&values).unwrap().to_row_major(), values);
    }
}
