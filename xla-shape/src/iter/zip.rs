//! Several arrays at once, whatever their layouts.

use super::memory::{Memory, Value, for_each_run};
use crate::buffer::{BufferBase, Bytes, BytesMut};
use crate::element::Plain;
use crate::types::{ArrayType, MultiIndex};
use xla_shape_core::stride_table::Run;

/// How two arrays of the same dimensions are walked over together.
struct Together<S, T>(S, T);

impl<S: ArrayType, T: ArrayType> Together<S, T> {
    /// Whether every element has the same position in both.
    const SAME_PLACES: bool = S::TABLE.is_same_map(T::TABLE);
    /// How the elements of `T` lie along the most minor dimension of `S`.
    const RUN: Run = match S::SHAPE.layout().minor_to_major() {
        [] => Run { len: 1, stride: Some(1) },
        [minor, ..] => T::TABLE.run(*minor),
    };
    /// The stride of a run; where that is not known, runs are taken as one element long.
    const STRIDE: usize = match Self::RUN.stride {
        Some(stride) => stride as usize,
        None => 1,
    };
    const LEN: usize = if Self::RUN.stride.is_some() { Self::RUN.len as usize } else { 1 };
}

/// The longest runs that begin where runs of both lengths do. A length of `usize::MAX` is that of the whole dimension.
const fn common(a: usize, b: usize) -> usize {
    match (a, b) {
        (usize::MAX, len) | (len, usize::MAX) => len,
        (mut a, mut b) => {
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a
        }
    }
}

/// Panics if sizes that are known only at run time differ; the others are the same by type.
#[inline(always)]
#[track_caller]
fn assert_same_sizes<S: ArrayType, T: ArrayType<Index = S::Index>>(expected: S, found: T) {
    if const { !S::IS_STATIC } {
        let (expected, found) = (expected.sizes(), found.sizes());
        assert!(expected == found, "expected operands with sizes {expected:?}, found {found:?}");
    }
}

/// Calls `f` with the index of the first element of every line along the most minor dimension, in the order of the physical
/// dimensions, and with that dimension.
#[inline(always)]
fn for_each_minor_line<S: ArrayType>(shape: S, mut f: impl FnMut(S::Index, usize)) {
    let sizes = shape.sizes();
    if sizes.as_ref().contains(&0) {
        return;
    }
    let mut index = S::Index::ORIGIN;
    let order = const { S::ORDER };
    'lines: loop {
        f(index, order.first().copied().unwrap_or(0));
        for &dimension in order.iter().skip(1) {
            let entry = &mut index.as_mut()[dimension];
            *entry += 1;
            if *entry < sizes.as_ref()[dimension] {
                continue 'lines;
            }
            *entry = 0;
        }
        return;
    }
}

macro_rules! apply_with {
    ($(#[$doc:meta])* $name:ident($($T:ident $C:ident $operand:ident),*)) => {
        $(#[$doc])*
        #[inline(always)]
        #[track_caller]
        pub fn $name<$($T, $C),*>(
            &mut self,
            $($operand: &BufferBase<$T, $C>,)*
            mut f: impl FnMut(Value<S>, $(Value<$T>),*) -> Value<S>,
        ) where
            $($T: ArrayType<Element: Plain, Dimensions = S::Dimensions, Index = S::Index>, $C: Bytes,)*
        {
            let shape = self.shape();
            $(assert_same_sizes(shape, $operand.shape());)*
            $(let $operand = ($operand.shape(), $operand.as_slice());)*
            let values = self.as_mut_slice();
            if const { true $(&& Together::<S, $T>::SAME_PLACES)* } {
                return shape.for_each_segment_range(|range| {
                    let len = range.len();
                    let values = &mut values[range.clone()][..len];
                    $(let $operand = &$operand.1[range.clone()][..len];)*
                    for i in 0..len {
                        values[i] = f(values[i], $($operand[i]),*);
                    }
                });
            }
            for_each_minor_line(shape, |mut index, minor| {
                let size = shape.sizes().as_ref().get(minor).copied().unwrap_or(1);
                let len = const { let len = Together::<S, S>::LEN; $(let len = common(len, Together::<S, $T>::LEN);)* len };
                for_each_run(size, len, |start, len| {
                    index.as_mut().iter_mut().skip(minor).take(1).for_each(|entry| *entry = start);
                    // From the first element of each run to the last one.
                    let values = &mut values[shape.linear_index_of(index)..][..(len - 1) * Together::<S, S>::STRIDE + 1];
                    $(let $operand =
                        &$operand.1[$operand.0.linear_index_of(index)..][..(len - 1) * Together::<S, $T>::STRIDE + 1];)*
                    for i in 0..len {
                        let value = &mut values[i * Together::<S, S>::STRIDE];
                        *value = f(*value, $($operand[i * Together::<S, $T>::STRIDE]),*);
                    }
                });
            });
        }
    };
}

impl<S: ArrayType<Element: Plain>, B: BytesMut> BufferBase<S, B> {
    apply_with! {
        /// Replaces every element by what `f` makes of it and of the element with the same index in an array of the same
        /// dimensions, whose layout and elements may be others.
        ///
        /// Elements are taken in runs along the most minor dimension, as long as all layouts allow; in the order of memory,
        /// if the layouts are alike.
        ///
        /// ```
        /// use xla_shape::{Buffer, shape};
        ///
        /// let x = Buffer::<shape!(f32[10,200])>::from_fn(|[i, j]| (i + j) as f32);
        /// let mut y = Buffer::<shape!(f32[10,200]{1,0:T(8,128)})>::from_fn(|[i, _]| i as f32);
        /// y.apply_with(&x, |y, x| 2.0 * x + y);
        /// assert_eq!(y[[9, 150]], 2.0 * 159.0 + 9.0);
        /// ```
        ///
        /// # Panics
        /// If sizes that are known only at run time are not the same.
        apply_with(T C operand)
    }

    apply_with! {
        /// Replaces every element by what `f` makes of it and of the elements with the same index in two arrays of the same
        /// dimensions; see [`apply_with`](Self::apply_with).
        ///
        /// ```
        /// use half::bf16;
        /// use xla_shape::{Buffer, shape};
        ///
        /// let x = Buffer::<shape!(bf16[10,200]{1,0:T(8,128)(2,1)})>::from_fn(|[i, _]| bf16::from_f32(i as f32));
        /// let y = Buffer::<shape!(s32[10,200]{0,1})>::from_fn(|[_, j]| j as i32);
        /// let mut sum = Buffer::<shape!(f32[10,200]{1,0:T(8,128)})>::zeroed();
        /// sum.apply_with_2(&x, &y, |_, x, y| x.to_f32() + y as f32);
        /// assert_eq!(sum[[9, 150]], 159.0);
        /// ```
        ///
        /// # Panics
        /// If sizes that are known only at run time are not the same.
        apply_with_2(T C first, U D second)
    }
}
