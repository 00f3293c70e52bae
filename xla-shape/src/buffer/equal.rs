//! Equality of arrays, exact and approximate.

use super::bytes::Bytes;
use super::display::with_element;
use super::dynamic::DynShape;
use super::error::AccessError;
use super::storage::Buffer;
use crate::element::Stored;
use crate::types::{ArrayType, ValueOf, sizes_of};

/// Arrays are equal if they have the same sizes and equal elements. Layouts, memory spaces and padding do not count.
///
/// ```
/// use xla_shape::{Buffer, shape};
///
/// let x = Buffer::<shape!(f32[10,200])>::from_fn(|[i, j]| (i * j) as f32);
/// let mut y = x.relayout::<shape!(f32[10,200]{1,0:T(8,128)})>();
/// assert_eq!(x, y);
/// y[[9, 199]] += 0.001;
/// assert_ne!(x, y);
/// assert!(x.all_with(&y, |x, y| (x - y).abs() < 0.01));
/// ```
impl<S, B, T, C> PartialEq<Buffer<T, C>> for Buffer<S, B>
where
    S: ArrayType<Element: Stored>,
    T: ArrayType<Element = S::Element, Dimensions = S::Dimensions>,
    B: Bytes,
    C: Bytes,
{
    fn eq(&self, other: &Buffer<T, C>) -> bool {
        self.all_with(other, |a, b| a == b)
    }
}

impl<S: ArrayType<Element: Stored>, B: Bytes> Buffer<S, B> {
    /// Whether the sizes are equal and `f` holds for all pairs of elements with the same index, for example approximate equality.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(f32[2,3])>::filled(1.0);
    /// let y = Buffer::<shape!(f64[2,3]{0,1})>::filled(1.0);
    /// assert!(x.all_with(&y, |x, y| f64::from(x) == y));
    /// ```
    #[must_use]
    pub fn all_with<T, C>(&self, other: &Buffer<T, C>, mut f: impl FnMut(ValueOf<S>, ValueOf<T>) -> bool) -> bool
    where
        T: ArrayType<Element: Stored, Dimensions = S::Dimensions>,
        C: Bytes,
    {
        self.sizes() == sizes_of(other.shape()) && self.iter().zip(other.iter()).all(|(a, b)| f(a, b))
    }

    /// Whether the sizes are equal and all pairs of elements with the same index differ by at most `absolute + relative · |other|`. Equal
    /// infinities are close, NaN is close to nothing.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(f32[8,128]{1,0:T(8,128)})>::filled(100.0);
    /// let y = Buffer::<shape!(f32[8,128])>::filled(100.001);
    /// assert!(x.is_close(&y, 1e-4, 0.0));
    /// assert!(!x.is_close(&y, 0.0, 1e-4));
    /// ```
    #[must_use]
    pub fn is_close<T, C>(&self, other: &Buffer<T, C>, relative: f64, absolute: f64) -> bool
    where
        S: ArrayType<Element: Stored<Value: Into<f64>>>,
        T: ArrayType<Element: Stored<Value: Into<f64>>, Dimensions = S::Dimensions>,
        C: Bytes,
    {
        self.all_with(other, |a, b| are_close(a.into(), b.into(), relative, absolute))
    }
}

/// Whether two numbers differ by at most `absolute + relative · |b|`.
fn are_close(a: f64, b: f64, relative: f64, absolute: f64) -> bool {
    a == b || (a - b).abs() <= absolute + relative * b.abs() && b.is_finite()
}

/// Arrays are equal if they have the same element type, the same sizes and equal elements. Layouts, memory spaces and padding do not count.
/// If the elements have no Rust type (`f16` without the feature `half`), arrays of the same shape are equal if their bytes are.
///
/// ```
/// use xla_shape::DynBuffer;
/// use xla_shape::element::F32;
///
/// let x = DynBuffer::from_fn_with::<F32>("f32[10,200]".parse()?, |i| (i[0] * i[1]) as f32)?;
/// let mut y = x.relayout("{1,0:T(8,128)}".parse()?)?;
/// assert_eq!(x, y);
/// y.set::<F32>(&[9, 199], 0.0)?;
/// assert_ne!(x, y);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl<B: Bytes, C: Bytes> PartialEq<Buffer<DynShape, C>> for Buffer<DynShape, B> {
    fn eq(&self, other: &Buffer<DynShape, C>) -> bool {
        let equal = with_element!(self.shape().element_type(), E => {
            self.all_with::<E, E, C>(other, |a, b| a == b)
        }, _ => Ok(self.shape() == other.shape() && self.view().as_bytes() == other.view().as_bytes()));
        equal == Ok(true)
    }
}

impl<B: Bytes> Buffer<DynShape, B> {
    /// Whether the sizes are equal and `f` holds for all pairs of elements with the same index.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::{F32, S32};
    ///
    /// let x = DynBuffer::filled_with::<F32>("f32[2,3]".parse()?, 2.0)?;
    /// let y = DynBuffer::filled_with::<S32>("s32[2,3]{0,1}".parse()?, 2)?;
    /// assert!(x.all_with::<F32, S32, _>(&y, |x, y| x == y as f32)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the elements of this array are not of type `E`, or those of the other are not of type `F`.
    pub fn all_with<E: Stored, F: Stored, C: Bytes>(
        &self,
        other: &Buffer<DynShape, C>,
        mut f: impl FnMut(E::Value, F::Value) -> bool,
    ) -> Result<bool, AccessError> {
        let (these, those) = (self.iter::<E>()?, other.iter::<F>()?);
        Ok(self.sizes() == other.sizes() && these.zip(those).all(|(a, b)| f(a, b)))
    }

    /// Whether the sizes are equal and all pairs of elements with the same index differ by at most `absolute + relative · |other|`. Equal
    /// infinities are close, NaN is close to nothing.
    ///
    /// ```
    /// use xla_shape::DynBuffer;
    /// use xla_shape::element::F32;
    ///
    /// let x = DynBuffer::filled_with::<F32>("f32[2,3]".parse()?, 100.0)?;
    /// let y = DynBuffer::filled_with::<F32>("f32[2,3]{0,1}".parse()?, 100.001)?;
    /// assert!(x.is_close::<F32, _>(&y, 1e-4, 0.0)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the elements of the arrays are not of type `E`.
    pub fn is_close<E, C>(&self, other: &Buffer<DynShape, C>, relative: f64, absolute: f64) -> Result<bool, AccessError>
    where
        E: Stored<Value: Into<f64>>,
        C: Bytes,
    {
        self.all_with::<E, E, C>(other, |a, b| are_close(a.into(), b.into(), relative, absolute))
    }
}
