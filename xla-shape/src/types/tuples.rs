//! The traits of tuples: lists of dimensions, tiles, shapes and so on, with up to 12 entries.

use super::constants::{Constant, Constants};
use super::dim::{BoundedDim, Dim, StaticDim};
use super::dimensions::{BoundedDimensions, Dimensions, StaticDimensions};
use super::index::{At, StaticIndex};
use super::layout::{Minor, Order};
use super::permutation::{Nth, StaticPermutation};
use super::shape_type::{ShapeType, TupleShapes};
use crate::sealed::for_each_arity;
use paste::paste;
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
    ($($i:literal)*) => { paste! {
        impl<$([<D $i>]: Dim,)*> Dimensions for ($([<D $i>],)*) {
            type Index = [usize; tuples!(@count $($i)*)];
            const DIMENSIONS: &'static [model::Dimension] = &[$([<D $i>]::DIMENSION,)*];
            const NAMES: &'static [Option<&'static str>] = &[$([<D $i>]::NAME,)*];

            #[inline(always)]
            fn sizes(self) -> Self::Index {
                [$(self.$i.size(),)*]
            }

            #[inline(always)]
            fn with_sizes(sizes: Self::Index) -> Result<Self, usize> {
                let [$([<size $i>],)*] = sizes;
                Ok(($(<[<D $i>]>::with_size([<size $i>]).ok_or::<usize>($i)?,)*))
            }
        }

        impl<$([<D $i>]: BoundedDim,)*> BoundedDimensions for ($([<D $i>],)*) {
            const EXTENTS: &'static [usize] = &[$([<D $i>]::EXTENT,)*];
        }

        impl<$([<D $i>]: StaticDim,)*> StaticDimensions for ($([<D $i>],)*) {}

        #[diagnostic::do_not_recommend]
        impl<$([<D $i>]: Dim, const [<I $i>]: usize,)*> StaticIndex<($([<D $i>],)*)> for ($(At<[<I $i>]>,)*) {
            const INDEX: &'static [usize] = &[$([<I $i>],)*];
        }

        #[diagnostic::do_not_recommend]
        impl<$([<D $i>]: Dim, const [<N $i>]: i64,)*> StaticPermutation<($([<D $i>],)*)> for ($(Nth<[<N $i>]>,)*) {
            const NUMBERS: &'static [i64] = &[$([<N $i>],)*];
        }

        #[diagnostic::do_not_recommend]
        impl<$(const [<N $i>]: usize,)*> Order for ($(Minor<[<N $i>]>,)*) {
            const MINOR_TO_MAJOR: &'static [usize] = &[$([<N $i>],)*];
        }

        impl<$([<S $i>]: ShapeType,)*> TupleShapes for ($([<S $i>],)*) {
            const SHAPES: &'static [model::Shape] = &[$([<S $i>]::VALUE,)*];
        }

        impl<$([<S $i>]: ShapeType,)*> ShapeType for ($([<S $i>],)*) {
            const VALUE: model::Shape = model::Shape::Tuple(model::TupleShape::from_static(<Self as TupleShapes>::SHAPES));
        }

        constants!([$([<C $i>])*] model::TileDimension, model::Tile, model::SplitConfig, usize, (Subgroup, usize));
    } };
    (@count) => { 0 };
    (@count $first:literal $($rest:literal)*) => { 1 + tuples!(@count $($rest)*) };
}

for_each_arity!(tuples);
