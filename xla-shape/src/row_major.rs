//! Arrays from and to values in row-major order: the order of the indices, without padding.

use crate::buffer::{AccessError, Buffer, BufferError, Bytes, BytesMut, DynShape};
use crate::element::{Element, Stored};
use crate::relayout::{Options, Plan};
use crate::types::{ArrayType, StaticArray, ValueOf, WholeArray};
use crate::wide::byte_count;
use crate::{ArrayShape, Dimension};

/// With fewer elements, an index computation for each of them takes less time than to make a plan.
const FEW: u64 = 512;

/// The plan between an array and its row-major copy; `None` if elements go one by one: there are few, or a dimension holds
/// fewer than its bound, or no plan copies elements of this width.
fn plan<E: Element>(shape: &ArrayShape, from_row_major: bool) -> Option<Plan> {
    let mut sizes = Vec::new();
    for dimension in shape.dimensions() {
        let Dimension::Static(size) = *dimension else { return None };
        sizes.push(size);
    }
    if sizes.iter().try_fold(1_u64, |product, &size| product.checked_mul(size))? < FEW {
        return None;
    }
    let row_major = ArrayShape::with_default_layout(E::TYPE, &sizes).ok()?;
    let (from, to) = if from_row_major { (&row_major, shape) } else { (shape, &row_major) };
    Plan::new(from, to, &Options::new()).ok()
}

/// Values from memory.
fn to_values<E: Stored>(plan: &Plan, bytes: &[u8]) -> Option<Vec<E::Value>> {
    let len = byte_count(plan.to())?;
    if E::memory_of(&[]).is_some() {
        let mut values = vec![E::Value::default(); len / size_of::<E::Value>()];
        plan.run(bytes, E::memory_of_mut(&mut values)?).ok()?;
        return Some(values);
    }
    let mut row_major = vec![0; len];
    plan.run(bytes, &mut row_major).ok()?;
    let value = |chunk: &[u8]| {
        let mut bytes = E::Bytes::default();
        bytes.as_mut().copy_from_slice(chunk);
        E::from_le_bytes(bytes)
    };
    Some(row_major.chunks_exact(size_of::<E::Bytes>()).map(value).collect())
}

/// Values into memory; whether that worked.
fn from_values<E: Stored>(plan: &Plan, values: &[E::Value], bytes: &mut [u8]) -> bool {
    if let Some(memory) = E::memory_of(values) {
        return plan.run(memory, bytes).is_ok();
    }
    let mut row_major = Vec::with_capacity(size_of_val(values));
    values.iter().for_each(|&value| row_major.extend_from_slice(E::to_le_bytes(value).as_ref()));
    plan.run(&row_major, bytes).is_ok()
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
        let by_plan = self.bytes_of_whole_array().and_then(|bytes| {
            let plan = plan::<S::Element>(&self.shape().array_shape(), false)?;
            to_values::<S::Element>(&plan, bytes)
        });
        by_plan.unwrap_or_else(|| self.iter().collect())
    }
}

impl<S: WholeArray<Element: Stored>, B: BytesMut> Buffer<S, B> {
    /// Writes every element from values in row-major order of the indices; padding stays as it is.
    ///
    /// # Errors
    /// If there are more or fewer values than elements.
    pub fn set_row_major(&mut self, values: &[ValueOf<S>]) -> Result<(), BufferError> {
        let (expected, found) = (self.shape().sizes().as_ref().iter().product(), values.len());
        if found != expected {
            return Err(BufferError::WrongNumberOfElements { expected, found });
        }
        let plan = plan::<S::Element>(&self.shape().array_shape(), true);
        if !plan.is_some_and(|plan| from_values::<S::Element>(&plan, values, self.as_bytes_mut())) {
            let mut values = values.iter().copied();
            self.fill_with(|_| values.next().unwrap_or_default());
        }
        Ok(())
    }
}

impl<S: WholeArray<Element: Stored>> Buffer<S> {
    /// An array of this shape with these elements, which come in row-major order of their indices; padding is 0.
    ///
    /// # Errors
    /// If there are more or fewer values than elements, or not enough memory.
    pub fn from_row_major_with(shape: S, values: &[ValueOf<S>]) -> Result<Self, BufferError> {
        const { Self::ASSERT_HOLDS }
        let mut buffer = Self::zeroed_with(shape)?;
        buffer.set_row_major(values)?;
        Ok(buffer)
    }
}

impl<S: StaticArray<Element: Stored>> Buffer<S> {
    /// An array with these elements, which come in row-major order of their indices; padding is 0.
    ///
    /// # Errors
    /// If there are more or fewer values than elements, or not enough memory.
    pub fn from_row_major(values: &[ValueOf<S>]) -> Result<Self, BufferError> {
        const { Self::ASSERT_HOLDS }
        Self::from_row_major_with(S::default(), values)
    }
}

impl<B: Bytes> Buffer<DynShape, B> {
    /// The elements in row-major order of their indices, without padding.
    ///
    /// # Errors
    /// If the elements are of another type.
    pub fn to_row_major<E: Stored>(&self) -> Result<Vec<E::Value>, AccessError> {
        self.check_type::<E>()?;
        let view = self.view();
        if let Some(values) = plan::<E>(self.shape(), false).and_then(|plan| to_values::<E>(&plan, view.as_bytes())) {
            return Ok(values);
        }
        Ok(self.iter::<E>()?.collect())
    }
}

impl<B: BytesMut> Buffer<DynShape, B> {
    /// Writes every element from values in row-major order of the indices; padding stays as it is.
    ///
    /// # Errors
    /// If the elements are of another type, or there are more or fewer values than elements.
    pub fn set_row_major<E: Stored>(&mut self, values: &[E::Value]) -> Result<(), BufferError> {
        self.check_type::<E>()?;
        let (expected, found) = (self.sizes().iter().product(), values.len());
        if found != expected {
            return Err(BufferError::WrongNumberOfElements { expected, found });
        }
        let plan = plan::<E>(self.shape(), true);
        if !plan.is_some_and(|plan| from_values::<E>(&plan, values, self.as_bytes_mut())) {
            let mut values = values.iter().copied();
            self.fill_with::<E>(|_| values.next().unwrap_or_default())?;
        }
        Ok(())
    }
}

impl Buffer<DynShape> {
    /// An array with these elements, which come in row-major order of their indices; padding is 0.
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
    /// Same as [`zeroed_with`](Self::zeroed_with), or if the elements are of another type, or there are more or fewer values
    /// than elements.
    pub fn from_row_major_with<E: Stored>(shape: ArrayShape, values: &[E::Value]) -> Result<Self, BufferError> {
        let mut buffer = Self::zeroed_with(shape)?;
        buffer.set_row_major::<E>(values)?;
        Ok(buffer)
    }
}
