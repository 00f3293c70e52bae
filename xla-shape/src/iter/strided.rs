//! A run: elements at equal distances in memory.

use super::zip::{together_1, together_2};
use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};
use std::ptr::NonNull;

/// A borrow of a run's elements: `&[V]` or `&mut [V]`.
///
/// ```
/// use xla_shape::iter::{Elements, Strided, runs};
/// use xla_shape::{Buffer, shape};
///
/// fn first<T: Elements<Value = f32>>(run: &Strided<T>) -> f32 {
///     run[0]
/// }
///
/// let x = Buffer::<shape!(f32[8,200])>::filled(2.0);
/// let mut y = Buffer::<shape!(f32[8,200]{0,1})>::zeroed();
/// assert!(runs((&mut y, &x)).all(|(y, x)| (first(&y), first(&x)) == (0.0, 2.0)));
/// ```
pub trait Elements: sealed::Sealed {
    /// The Rust type of an element.
    type Value: 'static;
}

mod sealed {
    pub trait Sealed {}
    impl<V> Sealed for &[V] {}
    impl<V> Sealed for &mut [V] {}
}

impl<V: 'static> Elements for &[V] {
    type Value = V;
}

impl<V: 'static> Elements for &mut [V] {
    type Value = V;
}

/// A run: elements at equal distances in memory. `T` is `&[V]`, or `&mut [V]` to write. Made by [`runs`](super::runs), and by
/// [`Line::for_each_run`](super::Line::for_each_run).
///
/// `run[i]` is element `i`. A loop over `0..run.len()` that uses runs of the same walk is compiled like one over slices.
///
/// ```
/// use xla_shape::{Buffer, shape};
///
/// let mut x = Buffer::<shape!(f32[8,200])>::zeroed();
/// // Elements of a column are 200 apart.
/// x.line_mut::<0>([0, 5]).unwrap().for_each_run_mut(|start, mut column| {
///     for i in 0..column.len() {
///         column[i] = (start + i) as f32;
///     }
/// });
/// assert_eq!((x[[7, 5]], x[[7, 6]]), (7.0, 0.0));
/// ```
pub struct Strided<T: Elements> {
    /// Invariants: `len` values are at `first`, each `stride` values after the one before, aligned, initialised and borrowed like `T`: for
    /// `&[V]`, nothing writes them; for `&mut [V]`, nothing else reads or writes them. The values are parts of one allocation, but the memory between
    /// them may belong to other borrows. `len` and `stride` are at least 1.
    first: NonNull<T::Value>,
    len: usize,
    stride: usize,
    values: PhantomData<T>,
}

// SAFETY: a run is a borrow of its elements, like `T`.
unsafe impl<T: Elements + Send> Send for Strided<T> {}
// SAFETY: as above.
unsafe impl<T: Elements + Sync> Sync for Strided<T> {}

impl<V: 'static> Clone for Strided<&[V]> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<V: 'static> Copy for Strided<&[V]> {}

impl<T: Elements<Value: fmt::Debug>> fmt::Debug for Strided<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn no_such_element(number: usize, len: usize) -> ! {
    panic!("element {number} is out of bounds for a run of {len}")
}

impl<T: Elements> Strided<T> {
    /// The run of `len` values from `first` on.
    ///
    /// # Safety
    /// The invariants of the type.
    #[inline(always)]
    pub(super) unsafe fn new(first: NonNull<T::Value>, len: usize, stride: usize) -> Self {
        debug_assert!(len > 0 && stride > 0);
        Self { first, len, stride, values: PhantomData }
    }

    /// The distance between neighbours, in elements.
    ///
    /// ```
    /// # use xla_shape::{Buffer, shape};
    /// let x = Buffer::<shape!(f32[8,200])>::zeroed();
    /// x.line::<0>([0, 5]).unwrap().for_each_run(|_, column| assert_eq!(column.stride(), 200));
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The number of elements.
    ///
    /// ```
    /// # use xla_shape::{Buffer, shape};
    /// let x = Buffer::<shape!(f32[8,200])>::zeroed();
    /// x.line::<0>([0, 5]).unwrap().for_each_run(|_, column| assert_eq!(column.len(), 8));
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Always `false`: a run has at least one element.
    #[must_use]
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The elements as a slice, if they are contiguous.
    ///
    /// ```
    /// # use xla_shape::{Buffer, shape};
    /// let x = Buffer::<shape!(f32[8,200])>::zeroed();
    /// x.line::<-1>([3, 0]).unwrap().for_each_run(|_, row| assert_eq!(row.as_slice(), Some(&[0.0; 200][..])));
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn as_slice(&self) -> Option<&[T::Value]> {
        // SAFETY: the invariants: with a stride of 1, the values are those of a slice, which is borrowed with `self`.
        (self.stride == 1).then(|| unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.len) })
    }

    /// The elements, in order.
    ///
    /// ```
    /// # use xla_shape::{Buffer, shape};
    /// let x = Buffer::<shape!(f32[8,200])>::filled(0.5);
    /// x.line::<0>([0, 5]).unwrap().for_each_run(|_, column| assert_eq!(column.iter().sum::<f32>(), 4.0));
    /// ```
    #[inline(always)]
    pub fn iter(&self) -> StridedIter<&[T::Value]> {
        let Self { first, len, stride, .. } = *self;
        StridedIter { run: Strided { first, len, stride, values: PhantomData }, next: 0 }
    }
}

impl<T: Elements<Value: Copy>> Strided<T> {
    /// Calls `f` with each element, in order.
    ///
    /// ```
    /// # use xla_shape::{Buffer, shape};
    /// let x = Buffer::<shape!(f32[8,200])>::filled(0.5);
    /// let mut sum = 0.0;
    /// x.line::<0>([0, 5]).unwrap().for_each_run(|_, column| column.for_each(|x| sum += x));
    /// assert_eq!(sum, 4.0);
    /// ```
    #[inline(always)]
    pub fn for_each(&self, mut f: impl FnMut(T::Value)) {
        match self.as_slice() {
            Some(values) => values.iter().for_each(|&value| f(value)),
            None => self.iter().for_each(|&value| f(value)),
        }
    }
}

impl<T: Elements> Index<usize> for Strided<T> {
    type Output = T::Value;

    /// # Panics
    /// If the run has no such element.
    #[inline(always)]
    #[track_caller]
    fn index(&self, number: usize) -> &T::Value {
        if number >= self.len {
            no_such_element(number, self.len);
        }
        // SAFETY: the invariants: this is one of the values.
        let value = unsafe { self.first.add(number * self.stride) };
        // SAFETY: the invariants; the value is borrowed with `self`.
        unsafe { value.as_ref() }
    }
}

impl<V: 'static> IndexMut<usize> for Strided<&mut [V]> {
    /// # Panics
    /// If the run has no such element.
    #[inline(always)]
    #[track_caller]
    fn index_mut(&mut self, number: usize) -> &mut V {
        if number >= self.len {
            no_such_element(number, self.len);
        }
        // SAFETY: the invariants: this is one of the values.
        let mut value = unsafe { self.first.add(number * self.stride) };
        // SAFETY: the invariants; the value is borrowed mutably with `self`.
        unsafe { value.as_mut() }
    }
}

impl<V: 'static> Strided<&mut [V]> {
    /// The elements as a slice, to write, if they are contiguous.
    ///
    /// ```
    /// # use xla_shape::{Buffer, shape};
    /// let mut x = Buffer::<shape!(f32[8,200])>::zeroed();
    /// x.line_mut::<-1>([3, 0]).unwrap().for_each_run_mut(|_, mut row| row.as_mut_slice().unwrap().fill(1.0));
    /// assert_eq!(x[[3, 199]], 1.0);
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn as_mut_slice(&mut self) -> Option<&mut [V]> {
        // SAFETY: as in `as_slice`; the values are borrowed mutably with `self`.
        (self.stride == 1).then(|| unsafe { std::slice::from_raw_parts_mut(self.first.as_ptr(), self.len) })
    }

    /// The elements, in order, to write.
    ///
    /// ```
    /// # use xla_shape::{Buffer, shape};
    /// let mut x = Buffer::<shape!(f32[8,200])>::zeroed();
    /// x.line_mut::<0>([0, 5]).unwrap().for_each_run_mut(|_, mut column| column.iter_mut().for_each(|x| *x = 1.0));
    /// assert_eq!(x[[7, 5]], 1.0);
    /// ```
    #[inline(always)]
    pub fn iter_mut(&mut self) -> StridedIter<&mut [V]> {
        let Self { first, len, stride, .. } = *self;
        StridedIter { run: Strided { first, len, stride, values: PhantomData }, next: 0 }
    }
}

impl<V: Copy + 'static> Strided<&mut [V]> {
    /// Replaces each element by the result of `f`, in order.
    ///
    /// ```
    /// # use xla_shape::{Buffer, shape};
    /// let mut x = Buffer::<shape!(f32[8,200])>::filled(1.0);
    /// x.line_mut::<0>([0, 5]).unwrap().for_each_run_mut(|_, mut column| column.apply(|x| 2.0 * x));
    /// assert_eq!(x[[7, 5]], 2.0);
    /// ```
    #[inline(always)]
    pub fn apply(&mut self, mut f: impl FnMut(V) -> V) {
        match self.as_mut_slice() {
            Some(values) => values.iter_mut().for_each(|value| *value = f(*value)),
            None => self.iter_mut().for_each(|value| *value = f(*value)),
        }
    }
}

macro_rules! apply_with {
    ($(#[$doc:meta])* $name:ident by $together:ident($($T:ident $operand:ident),*)) => {
        impl<V: Copy + 'static> Strided<&mut [V]> {
            $(#[$doc])*
            #[inline(always)]
            #[track_caller]
            pub fn $name<$($T: Elements<Value: Copy>),*>(
                &mut self,
                $($operand: &Strided<$T>,)*
                mut f: impl FnMut(V, $($T::Value),*) -> V,
            ) {
                let len = self.len;
                $(assert!(len == $operand.len, "expected a run of {len} elements, found one of {}", $operand.len);)*
                if let (Some(values), $(Some($operand)),*) = (self.as_mut_slice(), $($operand.as_slice()),*) {
                    return $together(values, $($operand,)* len, [1; _], &mut f);
                }
                for i in 0..len {
                    self[i] = f(self[i], $($operand[i]),*);
                }
            }
        }
    };
}

apply_with! {
    /// Replaces each element by the result of `f` for it and the element with the same number in another run.
    ///
    /// ```
    /// use xla_shape::iter::runs;
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(f32[8,200])>::filled(0.5);
    /// let mut y = Buffer::<shape!(f32[8,200]{1,0:T(8,128)})>::filled(1.0);
    /// for (mut y, x) in runs((&mut y, &x)) {
    ///     y.apply_with(&x, |y, x| y + x);
    /// }
    /// assert_eq!(y[[7, 199]], 1.5);
    /// ```
    ///
    /// # Panics
    /// If the runs have different lengths.
    apply_with by together_1(T operand)
}

apply_with! {
    /// Replaces each element by the result of `f` for it and the elements with the same number in two other runs.
    ///
    /// ```
    /// use xla_shape::iter::runs;
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(f32[8,200])>::filled(0.5);
    /// let mut y = Buffer::<shape!(f32[8,200]{1,0:T(8,128)})>::filled(1.0);
    /// for (mut y, x) in runs((&mut y, &x)) {
    ///     y.apply_with_2(&x, &x, |y, a, b| y + a * b);
    /// }
    /// assert_eq!(y[[7, 199]], 1.25);
    /// ```
    ///
    /// # Panics
    /// If the runs have different lengths.
    apply_with_2 by together_2(T first, U second)
}

/// The elements of a run: an iterator. Made by [`Strided::iter`] and [`Strided::iter_mut`]. `T` is `&[V]` or `&mut [V]`.
pub struct StridedIter<T: Elements> {
    run: Strided<T>,
    /// The number of the next element, at most `run.len`.
    next: usize,
}

impl<T: Elements> fmt::Debug for StridedIter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StridedIter").field("next", &self.next).field("len", &self.run.len).finish_non_exhaustive()
    }
}

impl<T: Elements> StridedIter<T> {
    #[inline(always)]
    fn next_value(&mut self) -> Option<NonNull<T::Value>> {
        let number = self.next;
        if number == self.run.len {
            return None;
        }
        self.next += 1;
        // SAFETY: the invariants of `Strided`: this is one of the values.
        Some(unsafe { self.run.first.add(number * self.run.stride) })
    }
}

impl<'a, V: 'static> Iterator for StridedIter<&'a [V]> {
    type Item = &'a V;

    #[inline(always)]
    fn next(&mut self) -> Option<&'a V> {
        // SAFETY: the invariants of `Strided`: the value is borrowed for `'a`.
        self.next_value().map(|value| unsafe { value.as_ref() })
    }

    #[inline(always)]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.run.len - self.next;
        (left, Some(left))
    }
}

impl<'a, V: 'static> Iterator for StridedIter<&'a mut [V]> {
    type Item = &'a mut V;

    #[inline(always)]
    fn next(&mut self) -> Option<&'a mut V> {
        // SAFETY: the invariants of `Strided`: the value is borrowed mutably for `'a`, and `next_value` returns each once.
        self.next_value().map(|mut value| unsafe { value.as_mut() })
    }

    #[inline(always)]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.run.len - self.next;
        (left, Some(left))
    }
}

impl<T: Elements> ExactSizeIterator for StridedIter<T> where Self: Iterator {}
impl<T: Elements> FusedIterator for StridedIter<T> where Self: Iterator {}

impl<T: Elements> IntoIterator for Strided<T>
where
    StridedIter<T>: Iterator,
{
    type Item = <StridedIter<T> as Iterator>::Item;
    type IntoIter = StridedIter<T>;

    #[inline(always)]
    fn into_iter(self) -> StridedIter<T> {
        StridedIter { run: self, next: 0 }
    }
}

impl<'r, T: Elements> IntoIterator for &'r Strided<T> {
    type Item = &'r T::Value;
    type IntoIter = StridedIter<&'r [T::Value]>;

    #[inline(always)]
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'r, V: 'static> IntoIterator for &'r mut Strided<&mut [V]> {
    type Item = &'r mut V;
    type IntoIter = StridedIter<&'r mut [V]>;

    #[inline(always)]
    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}
