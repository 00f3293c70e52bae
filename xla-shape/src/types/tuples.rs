//! The traits of tuples: lists of dimensions, tiles, shapes and so on, with up to 12 entries.

use super::constants::{Constant, Constants};
use super::dim::{BoundedDim, Dim, StaticDim};
use super::dimensions::{BoundedDimensions, Dimensions, StaticDimensions};
use super::index::{At, StaticIndex};
use super::layout::{Minor, Order};
use super::permutation::{Nth, StaticPermutation};
use super::shape_type::{ShapeType, TupleShapes};
use crate::sealed::for_each_arity;
use xla_shape_core as model;
use xla_shape_core::shard::Subgroup;

/// Implements the traits for tuples of types that each stand for a value.
macro_rules! constants {
    (@ [$($C:ident)*] $value:ty) => {
        impl<$($C: Constant<$value>),*> Constants<$value> for ($($C,)*) {
            const VALUES: &'static [$value] = &[$($C::VALUE),*];
        }
    };
    ($list:tt $($value:ty),*) => { $(constants!(@ $list $value);)* };
}

macro_rules! tuples {
    ($(($i:tt $T:ident $N:ident $t:ident))*) => {
        impl<$($T: Dim,)*> Dimensions for ($($T,)*) {
            type Index = [usize; tuples!(@count $($T)*)];
            const DIMENSIONS: &'static [model::Dimension] = &[$($T::DIMENSION,)*];
            const NAMES: &'static [Option<&'static str>] = &[$($T::NAME,)*];

            #[inline(always)]
            fn sizes(self) -> Self::Index {
                [$(self.$i.size(),)*]
            }

            #[inline(always)]
            fn with_sizes(sizes: Self::Index) -> Result<Self, usize> {
                let [$($t,)*] = sizes;
                Ok(($(<$T>::with_size($t).ok_or::<usize>($i)?,)*))
            }
        }

        impl<$($T: BoundedDim,)*> BoundedDimensions for ($($T,)*) {
            const EXTENTS: &'static [usize] = &[$($T::EXTENT,)*];
        }

        impl<$($T: StaticDim,)*> StaticDimensions for ($($T,)*) {}

        #[diagnostic::do_not_recommend]
        impl<$($T: Dim, const $N: usize,)*> StaticIndex<($($T,)*)> for ($(At<$N>,)*) {
            const INDEX: &'static [usize] = &[$($N,)*];
        }

        #[diagnostic::do_not_recommend]
        impl<$($T: Dim, const $N: i64,)*> StaticPermutation<($($T,)*)> for ($(Nth<$N>,)*) {
            const NUMBERS: &'static [i64] = &[$($N,)*];
        }

        #[diagnostic::do_not_recommend]
        impl<$(const $N: usize,)*> Order for ($(Minor<$N>,)*) {
            const MINOR_TO_MAJOR: &'static [usize] = &[$($N,)*];
        }

        impl<$($T: ShapeType,)*> TupleShapes for ($($T,)*) {
            const SHAPES: &'static [model::Shape] = &[$($T::VALUE,)*];
        }

        impl<$($T: ShapeType,)*> ShapeType for ($($T,)*) {
            const VALUE: model::Shape = model::Shape::Tuple(model::TupleShape::from_static(<Self as TupleShapes>::SHAPES));
        }

        constants!([$($T)*] model::TileDimension, model::Tile, model::SplitConfig, usize, (Subgroup, usize));
    };
    (@count) => { 0 };
    (@count $first:ident $($rest:ident)*) => { 1 + tuples!(@count $($rest)*) };
}

for_each_arity!(tuples);
