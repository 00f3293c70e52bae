//! The usual methods of array libraries: results in new arrays, folds, vectors along a dimension.

use super::memory::{for_each_run, own_run};
use super::zip::for_each_minor_line;
use crate::buffer::{Buffer, Bytes, BytesMut, assert_whole};
use crate::element::Plain;
use crate::sealed::named_in_errors;
use crate::types::{ArrayType, MultiIndex, StaticArray, ValueOf, resolve, sizes_of};
use xla_shape_core::text::ConstText;

/// Panics if sizes differ: sizes that are known only at run time, or those of a last block.
#[track_caller]
fn assert_same_sizes<I: MultiIndex>(expected: I, found: I) {
    assert!(expected == found, "expected operands with sizes {expected:?}, found {found:?}");
}

impl<S: ArrayType<Element: Plain>, B: Bytes> Buffer<S, B> {
    /// An array of shape `R`, with the same dimensions, that holds the result of `f` for each element.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(s32[2,3]{1,0:T(2,4)})>::from_fn(|[i, j]| (10 * i + j) as i32);
    /// let y: Buffer<shape!(f32[2,3])> = x.map(|x| x as f32 / 2.0);
    /// assert_eq!(y[[1, 2]], 6.0);
    /// ```
    ///
    /// # Panics
    /// If there is not enough memory.
    #[must_use]
    pub fn map<R>(&self, mut f: impl FnMut(ValueOf<S>) -> ValueOf<R>) -> Buffer<R>
    where
        R: StaticArray<Element: Plain, Dimensions = S::Dimensions>,
    {
        let mut result = Buffer::<R>::zeroed();
        assert_same_sizes(sizes_of(result.shape()), self.sizes());
        result.apply_with(self, |_, value| f(value));
        result
    }

    /// An array of shape `R`, with the same dimensions, that holds the result of `f` for each pair of elements with the same index; the
    /// other array may have any layout.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(f32[2,3])>::filled(2.0);
    /// let y = Buffer::<shape!(s32[2,3]{0,1})>::filled(3);
    /// let product: Buffer<shape!(f32[2,3])> = x.zip_with(&y, |x, y| x * y as f32);
    /// assert_eq!(product.as_slice(), [6.0; 6]);
    /// ```
    ///
    /// # Panics
    /// If there is not enough memory, or sizes that are known only at run time differ.
    #[must_use]
    #[track_caller]
    pub fn zip_with<R, T, C>(
        &self,
        other: &Buffer<T, C>,
        mut f: impl FnMut(ValueOf<S>, ValueOf<T>) -> ValueOf<R>,
    ) -> Buffer<R>
    where
        R: StaticArray<Element: Plain, Dimensions = S::Dimensions>,
        T: ArrayType<Element: Plain, Dimensions = S::Dimensions>,
        C: Bytes,
    {
        let mut result = Buffer::<R>::zeroed();
        assert_same_sizes(sizes_of(result.shape()), self.sizes());
        assert_same_sizes(self.sizes(), sizes_of(other.shape()));
        result.apply_with_2(self, other, |_, a, b| f(a, b));
        result
    }

    /// Folds all elements into one value, in the order of memory. For sums of floating-point numbers, [`fold_lanes`](Self::fold_lanes) is
    /// faster.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(s32[3,5]{1,0:T(2,4)})>::from_fn(|[i, j]| (i * j) as i32);
    /// assert_eq!(x.fold(0, |sum, x| sum + x), 30);
    /// ```
    #[inline(always)]
    pub fn fold<A>(&self, init: A, mut f: impl FnMut(A, ValueOf<S>) -> A) -> A {
        let mut folded = Some(init);
        self.for_each_segment(|segment| {
            folded = folded.take().map(|folded| segment.iter().fold(folded, |folded, &value| f(folded, value)));
        });
        match folded {
            Some(folded) => folded,
            None => unreachable!("each segment leaves a value"),
        }
    }
}

/// The elements of a vector, in order, in any layout.
///
/// ```
/// use xla_shape::{Buffer, shape};
///
/// let x = Buffer::<shape!(s32[3]{0:T(128)})>::from_fn(|[i]| 10 + i as i32);
/// assert!((&x).into_iter().eq([10, 11, 12]));
/// ```
impl<S: ArrayType<Element: Plain, Index = [usize; 1]>, B: Bytes> IntoIterator for &Buffer<S, B> {
    type Item = ValueOf<S>;
    type IntoIter = std::vec::IntoIter<ValueOf<S>>;

    fn into_iter(self) -> Self::IntoIter {
        self.to_row_major().into_iter()
    }
}

/// Fails the compilation if a vector does not have the length of a dimension and both are known.
#[track_caller]
const fn assert_length<S: ArrayType, T: ArrayType, const DIM: i64>() {
    let dimension = resolve(DIM, S::SHAPE);
    if let (Some(expected), Some(found)) =
        (S::SHAPE.dimensions()[dimension].extent(), T::SHAPE.dimensions()[0].extent())
        && S::IS_STATIC
        && T::IS_STATIC
        && expected != found
    {
        let text = ConstText::<1024>::new().push_str("expected a vector of ").push_number(expected);
        let text = text.push_str(", as long as dimension ").push_count(dimension).push_str(" of ").push_str(S::TEXT);
        panic!("{}", text.push_str(", found ").push_str(T::TEXT).as_str())
    }
}

impl<S: ArrayType<Element: Plain>, B: BytesMut> Buffer<S, B> {
    /// Replaces every element by the result of `f` for it and an element of a vector, which is broadcast along all dimensions except `DIM`
    /// (-1 is the last).
    ///
    /// A vector of another length does not compile; that shows in `cargo build`.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// // A bias for each column.
    /// let bias = Buffer::<shape!(f32[200])>::from_fn(|[j]| j as f32);
    /// let mut x = Buffer::<shape!(f32[10,200]{1,0:T(8,128)})>::filled(1.0);
    /// x.apply_along::<-1, _, _>(&bias, |x, bias| x + bias);
    /// assert_eq!(x[[9, 150]], 151.0);
    /// ```
    ///
    /// # Panics
    /// If lengths that are known only at run time differ.
    #[track_caller]
    pub fn apply_along<const DIM: i64, T, C>(
        &mut self,
        vector: &Buffer<T, C>,
        mut f: impl FnMut(ValueOf<S>, ValueOf<T>) -> ValueOf<S>,
    ) where
        T: ArrayType<Element: Plain, Index = [usize; 1]>,
        C: Bytes,
    {
        named_in_errors!(Self);
        const { assert_whole::<S>() };
        const { assert_length::<S, T, DIM>() };
        let dimension = const { resolve(DIM, S::SHAPE) };
        let shape = self.shape();
        let (expected, found) = (shape.sizes().as_ref()[dimension], vector.sizes()[0]);
        assert!(expected == found, "expected a vector of {expected} elements, found one of {found}");
        let vector = vector.to_row_major();
        // SAFETY: `assert_whole` has just been evaluated; the memory is borrowed mutably with `self`.
        let mut values = unsafe { self.values_mut_for() };
        for_each_minor_line::<S>(shape.sizes(), |mut index, minor| {
            let size = shape.sizes().as_ref().get(minor).copied().unwrap_or(1);
            let (len, stride) = const { run_of::<S>() };
            for_each_run(size, len, |start, len| {
                index.as_mut().iter_mut().skip(minor).take(1).for_each(|entry| *entry = start);
                let position = shape.linear_index_of(index);
                // SAFETY: the run begins and ends with an element of this array, and has nothing of another block between its elements
                // (`own_run`).
                let run = unsafe { values.range(position..position + (len - 1) * stride + 1) };
                let elements = run.iter_mut().step_by(stride);
                if minor == dimension {
                    elements.zip(&vector[start..start + len]).for_each(|(x, &v)| *x = f(*x, v));
                } else {
                    let v = vector[index.as_ref()[dimension]];
                    elements.for_each(|x| *x = f(*x, v));
                }
            });
        });
    }
}

/// The length and stride of runs along the most minor dimension.
const fn run_of<S: ArrayType>() -> (usize, usize) {
    match S::SHAPE.layout().minor_to_major() {
        [] => (1, 1),
        [minor, ..] => {
            let run = own_run::<S>(*minor);
            match run.stride {
                Some(stride) => (run.len as usize, stride as usize),
                None => (1, 1),
            }
        }
    }
}
