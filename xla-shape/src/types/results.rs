//! The dimensions of results that can be computed as types.

use super::array::Array;
use super::array_type::{ArrayType, StaticArray};
use super::dim::{Dim, StaticDim};
use super::dimensions::Dimensions;
use super::layout::{LayoutParts, LayoutType, Space};
use super::permutation::Nth;
use crate::element::Element;
use core::ops::Add;
use typenum::Sum;

/// Lists of dimensions that have a dimension with number `N`, an [`Nth`]; -1 is the last.
///
/// The bound of [`Reduced`] and [`WithDimension`] in code that is generic over the dimensions:
///
/// ```
/// use xla_shape::buffer::{Buffer, View};
/// use xla_shape::element::F32;
/// use xla_shape::types::{ArrayType, DimensionAt, LayoutType, Nth, Reduced, StaticArray, StaticDimensions};
/// use xla_shape::{layout, shape};
///
/// fn sums_of_rows<X, L: LayoutType>(x: View<'_, X>) -> Buffer<Reduced<X, -1, L>>
/// where
///     X: StaticArray<Element = F32, Index = [usize; 2]>,
///     X::Dimensions: DimensionAt<Nth<-1>, Others: StaticDimensions<Index = [usize; 1]>>,
/// {
///     Buffer::<Reduced<X, -1, L>>::from_fn(|[i]| (0..X::SIZES[1]).map(|j| x[[i, j]]).sum())
/// }
///
/// let x = Buffer::<shape!(f32[3,200]{1,0:T(8,128)})>::filled(0.5);
/// assert_eq!(sums_of_rows::<_, layout!({0})>(x.view()).as_slice(), [100.0; 3]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no dimension `{N}`",
    label = "expected a dimension number that the array has"
)]
pub trait DimensionAt<N>: Dimensions {
    /// The dimension with number `N`.
    type Dim: Dim;
    /// The other dimensions, as after a reduction along this one.
    type Others: Dimensions;
    /// All dimensions, with `D` in place of this one.
    type With<D: Dim>: Dimensions;
}

/// Dimensions into which another one, `D`, can be inserted as number `N`, an [`Nth`]; -1 is the last. The bound of [`Broadcast`] in generic
/// code.
///
/// ```
/// use xla_shape::types::{Insert, Nth, Size, StaticDimensions};
///
/// type Batched = <(Size<2>, Size<3>) as Insert<Nth<0>, Size<7>>>::Inserted;
/// assert_eq!(<Batched as StaticDimensions>::SIZES, [7, 2, 3]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{D}` cannot be dimension `{N}` beside the dimensions `{Self}`",
    label = "expected a dimension number that the result has, and a size"
)]
pub trait Insert<N, D>: Dimensions {
    /// All dimensions of the result.
    type Inserted: Dimensions;
}

/// Dimensions of a vector or a matrix that can be multiplied by a vector or matrix with the dimensions `Other`. The bound of [`Product`] in
/// generic code; for matrices whose sizes the compiler knows, [`MatrixTimes`] is shorter.
///
/// ```
/// use xla_shape::types::{Multiply, Size};
///
/// type Rows = (Size<8>, Size<64>);
/// fn same(x: <Rows as Multiply<(Size<64>,)>>::Product) -> (Size<8>,) { x }
/// ```
#[diagnostic::on_unimplemented(
    message = "an array of the dimensions `{Self}` cannot be multiplied by one of the dimensions `{Other}`",
    label = "expected `(K,)` and `(K,)`, `(M, K)` and `(K,)`, or `(M, K)` and `(K, N)`"
)]
pub trait Multiply<Other>: Dimensions {
    /// The dimensions of the product.
    type Product: Dimensions;
}

impl<K: Dim> Multiply<(K,)> for (K,) {
    type Product = ();
}

impl<M: Dim, K: Dim> Multiply<(K,)> for (M, K) {
    type Product = (M,);
}

impl<M: Dim, K: Dim, N: Dim> Multiply<(K, N)> for (M, K) {
    type Product = (M, N);
}

/// A matrix that can be multiplied by the matrix `W`: the bound of [`Product`] in a function that is generic over the shapes.
///
/// It implies everything that a kernel needs: the product is a matrix whose sizes the compiler knows. Every pair of matrices whose sizes fit
/// implements it. If they do not, the call does not compile, in `cargo check` too, and the error is at the second matrix.
///
/// ```
/// use xla_shape::element::F32;
/// use xla_shape::types::{Array, LayoutType, MatrixTimes, Product, StaticArray};
/// use xla_shape::{Buffer, View, layout, shape};
///
/// fn product<X, W, L>(x: View<'_, X>, w: View<'_, W>) -> Buffer<Product<X, W, L>>
/// where
///     X: MatrixTimes<W, Element = F32>,
///     W: StaticArray<Element = F32, Index = [usize; 2]>,
///     L: LayoutType,
/// {
///     Buffer::<Product<X, W, L>>::from_fn(|[i, j]| (0..W::SIZES[0]).map(|k| x[[i, k]] * w[[k, j]]).sum())
/// }
///
/// /// A chain: the product in the middle is an array like others, and has a bound of its own.
/// fn chain<X, W, V, L>(x: View<'_, X>, w: View<'_, W>, v: View<'_, V>) -> Buffer<Product<Product<X, W, L>, V, L>>
/// where
///     X: MatrixTimes<W, Element = F32>,
///     W: StaticArray<Element = F32, Index = [usize; 2]>,
///     Array<F32, (X::Rows, X::Columns), L>: MatrixTimes<V, Element = F32>,
///     V: StaticArray<Element = F32, Index = [usize; 2]>,
///     L: LayoutType,
/// {
///     product(product::<_, _, L>(x, w).view(), v)
/// }
///
/// let x = Buffer::<shape!(f32[3,20]{1,0:T(8,128)})>::filled(2.0);
/// let w = Buffer::<shape!(f32[20,5]{0,1})>::filled(0.5);
/// let v = Buffer::<shape!(f32[5,2])>::filled(3.0);
/// let y: Buffer<shape!(f32[3,5])> = product(x.view(), w.view());
/// assert_eq!(y.as_slice(), [20.0; 15]);
/// let z: Buffer<shape!(f32[3,2])> = chain(x.view(), w.view(), v.view());
/// assert_eq!(z.as_slice(), [300.0; 6]);
/// ```
///
/// The bound of a chain names the product in the middle by its rows and columns: the compiler does not use a bound on a type that it has to
/// compute first, such as `Product<X, W, L>: MatrixTimes<V>`. A longer chain has shorter bounds if it is generic over dimensions, with operands
/// such as `View<Array<F32, (M, K), L>>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be multiplied by the matrix `{W}`",
    label = "expected matrices of static sizes, with dimensions `(M, K)` and `(K, N)`"
)]
pub trait MatrixTimes<W: ArrayType>:
    StaticArray<
        Index = [usize; 2],
        Dimensions: Multiply<
            W::Dimensions,
            Product = (<Self as MatrixTimes<W>>::Rows, <Self as MatrixTimes<W>>::Columns),
        >,
    >
{
    /// The rows of this matrix, which are those of the product.
    type Rows: StaticDim;
    /// The columns of `W`, which are those of the product.
    type Columns: StaticDim;
}

impl<E, F, M, K, N, L, R> MatrixTimes<Array<F, (K, N), R>> for Array<E, (M, K), L>
where
    E: Element,
    F: Element,
    M: StaticDim,
    K: StaticDim,
    N: StaticDim,
    L: LayoutType,
    R: LayoutType,
{
    type Rows = M;
    type Columns = N;
}

/// Dimensions in the order of a permutation `P`, a tuple of [`Nth`]. The bound of [`Transposed`] in generic code.
///
/// ```
/// use xla_shape::types::{Nth, Permute, Size, StaticDimensions};
///
/// type Turned = <(Size<2>, Size<3>) as Permute<(Nth<1>, Nth<0>)>>::Permuted;
/// assert_eq!(<Turned as StaticDimensions>::SIZES, [3, 2]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{P}` is not a permutation of the dimensions `{Self}`",
    label = "expected one dimension number for each dimension"
)]
pub trait Permute<P>: Dimensions {
    /// These dimensions in the order `P`: dimension `i` is dimension `P[i]` of `Self`.
    type Permuted: Dimensions;
}

/// Dimensions that equal those of `Other`, except dimension `N`, which is a number of `typenum` in both, because sizes that are const generics cannot
/// be added. The bound of [`Concatenated`] in generic code.
///
/// ```
/// use typenum::{U3, U5};
/// use xla_shape::types::{Join, Nth, Size, StaticDimensions};
///
/// type Both = <(U3, Size<128>) as Join<Nth<0>, (U5, Size<128>)>>::Joined;
/// assert_eq!(<Both as StaticDimensions>::SIZES, [8, 128]);
/// ```
#[diagnostic::on_unimplemented(
    message = "arrays of the dimensions `{Self}` and `{Other}` cannot be joined along dimension `{N}`",
    label = "expected the same dimensions except this one, which must be a `typenum` number in both"
)]
pub trait Join<N, Other>: Dimensions {
    /// The dimensions with the sum of both sizes as dimension `N`.
    type Joined: Dimensions;
}

/// The result of a conversion of `S` to elements `E`, or of a comparison: same dimensions, same layout.
///
/// ```
/// use xla_shape::types::WithElement;
/// use xla_shape::{element, shape};
///
/// fn same(x: WithElement<shape!(f32[8,128]), element::Pred>) -> shape!(pred[8,128]) { x }
/// ```
pub type WithElement<S, E> = Array<E, <S as ArrayType>::Dimensions, <S as ArrayType>::Layout>;

/// The same array in the layout `L`; [`relayout`](crate::Buffer::relayout) makes a copy in it.
///
/// ```
/// use xla_shape::types::WithLayout;
/// use xla_shape::{layout, shape};
///
/// fn same(x: WithLayout<shape!(f32[8,128]), layout!({0,1})>) -> shape!(f32[8,128]{0,1}) { x }
/// ```
pub type WithLayout<S, L> = Array<<S as ArrayType>::Element, <S as ArrayType>::Dimensions, L>;

/// The same array in the same layout, in memory space `N`.
///
/// ```
/// use xla_shape::types::InSpace;
/// use xla_shape::shape;
///
/// fn same(x: InSpace<shape!(f32[8,128]{1,0:T(8,128)}), 1>) -> shape!(f32[8,128]{1,0:T(8,128)S(1)}) { x }
/// ```
pub type InSpace<S, const N: u8> = Array<
    <S as ArrayType>::Element,
    <S as ArrayType>::Dimensions,
    <<S as ArrayType>::Layout as LayoutParts>::In<Space<N>>,
>;

/// The result of a transpose of `S` in the layout `L`. Dimension `i` is dimension `P[i]` of `S`.
///
/// `P` is a tuple of [`Nth`]. [`infer::assert_result`](crate::infer::assert_result) refuses a repeated number.
///
/// ```
/// use xla_shape::types::{Nth, Transposed};
/// use xla_shape::{layout, shape};
///
/// type X = Transposed<shape!(f32[8,128]), (Nth<-1>, Nth<0>), layout!({0,1})>;
/// fn same(x: X) -> shape!(f32[128,8]{0,1}) { x }
/// ```
pub type Transposed<S, P, L> =
    Array<<S as ArrayType>::Element, <<S as ArrayType>::Dimensions as Permute<P>>::Permuted, L>;

/// The result of a reduction of `S` along dimension `N` (-1 is the last), in the layout `L`.
///
/// ```
/// use xla_shape::types::Reduced;
/// use xla_shape::{layout, shape};
///
/// fn same(x: Reduced<shape!(f32[8,128]), -1, layout!({0})>) -> shape!(f32[8]) { x }
/// ```
pub type Reduced<S, const N: i64, L> =
    Array<<S as ArrayType>::Element, <<S as ArrayType>::Dimensions as DimensionAt<Nth<N>>>::Others, L>;

/// The result of a broadcast of `S` in the layout `L`, with a new dimension `D` that has number `N` (-1 is the last).
///
/// ```
/// use xla_shape::types::{Broadcast, Size};
/// use xla_shape::{layout, shape};
///
/// fn same(x: Broadcast<shape!(f32[8]), -1, Size<128>, layout!({1,0})>) -> shape!(f32[8,128]) { x }
/// ```
pub type Broadcast<S, const N: i64, D, L> =
    Array<<S as ArrayType>::Element, <<S as ArrayType>::Dimensions as Insert<Nth<N>, D>>::Inserted, L>;

/// The result of a slice, pad or reduce-window of `S` in the layout `L`, whose dimension `N` (-1 is the last) becomes `D`.
///
/// `D` is what the code knows about the result: a [`Size`](super::Size), a const parameter, or arithmetic of `typenum` on the previous
/// size. Use [`infer::assert_result`](crate::infer::assert_result) to check that the operation yields it.
///
/// ```
/// use core::ops::Add;
/// use typenum::{Sum, U2, U100};
/// use xla_shape::infer::{Operation, PaddingDimension, assert_result};
/// use xla_shape::types::{Array, ArrayType, Dim, Size, StaticDim, WithDimension};
/// use xla_shape::{element::F32, layout, shape};
///
/// type Left = WithDimension<shape!(f32[8,128]), -1, Size<64>, layout!({1,0})>;
/// fn same(x: Left) -> shape!(f32[8,64]) { x }
///
/// type Rows<N> = Array<F32, (N, Size<128>), layout!({1,0})>;
/// type Padded<N> = WithDimension<Rows<N>, 0, Sum<N, U2>, layout!({1,0})>;
/// fn padded<N: StaticDim + Add<U2, Output: StaticDim>>() -> &'static str {
///     const EDGES: PaddingDimension = PaddingDimension { low: 1, high: 1, interior: 0 };
///     const { assert_result::<(Rows<N>, shape!(f32[])), Padded<N>>(Operation::Pad(&[EDGES, PaddingDimension::NONE])) };
///     <Padded<N> as ArrayType>::TEXT
/// }
/// assert_eq!(padded::<U100>(), "f32[102,128]{1,0}");
/// ```
pub type WithDimension<S, const N: i64, D, L> =
    Array<<S as ArrayType>::Element, <<S as ArrayType>::Dimensions as DimensionAt<Nth<N>>>::With<D>, L>;

/// The result of a dot of `A` and `B` without batch dimensions in the layout `L`: of two vectors, a matrix and a vector, or two matrices.
/// The contracted size must be the same type in both.
///
/// ```
/// use xla_shape::types::Product;
/// use xla_shape::{layout, shape};
///
/// type L = layout!({1,0:T(8,128)});
/// fn same(x: Product<shape!(f32[8,64]), shape!(f32[64,256]), L>) -> shape!(f32[8,256]{1,0:T(8,128)}) { x }
/// ```
///
/// It has the element type of `A`; [`WithElement`] changes it. For two vectors, the result is a scalar in the layout `{:}`. In a function
/// that is generic over the shapes, the bound is [`MatrixTimes`].
///
/// ```compile_fail,E0277
/// # use xla_shape::types::Product;
/// # use xla_shape::{layout, shape};
/// type Y = Product<shape!(f32[8,64]), shape!(f32[32,256]), layout!({1,0})>; // 64 columns, 32 rows
/// let _ = Y::TEXT;
/// ```
pub type Product<A, B, L> = Array<
    <A as ArrayType>::Element,
    <<A as ArrayType>::Dimensions as Multiply<<B as ArrayType>::Dimensions>>::Product,
    L,
>;

/// The result of a concatenation of `A` and `B` along dimension `N` (-1 is the last), in the layout `L`.
///
/// The sizes along `N` are numbers of `typenum`, and so is their sum.
///
/// ```
/// use typenum::{U3, U5};
/// use xla_shape::types::{Array, Concatenated, Size};
/// use xla_shape::{element::F32, layout};
///
/// type L = layout!({1,0});
/// type Both = Concatenated<Array<F32, (U3, Size<128>), L>, Array<F32, (U5, Size<128>), L>, 0, L>;
/// assert_eq!(Both::TEXT, "f32[8,128]{1,0}");
/// ```
pub type Concatenated<A, B, const N: i64, L> = Array<
    <A as ArrayType>::Element,
    <<A as ArrayType>::Dimensions as Join<Nth<N>, <B as ArrayType>::Dimensions>>::Joined,
    L,
>;

macro_rules! count {
    () => { 0 };
    ($first:ident $($rest:ident)*) => { 1 + count!($($rest)*) };
}

/// Implements the traits that name one dimension, for each dimension in turn: by its number, and by its number from the back. The numbers are
/// literals, because editors do not evaluate expressions in types.
macro_rules! numbered {
    ([$($before:ident)*] [] [$($number:literal)*] []) => {};
    (
        [$($before:ident)*] [$at:ident $($after:ident)*]
        [$number:literal $($numbers:literal)*] [$negative:literal $($negatives:literal)*]
    ) => {
        numbered!(@ $number [$($before)*] $at [$($after)*]);
        numbered!(@ $negative [$($before)*] $at [$($after)*]);
        numbered!([$($before)* $at] [$($after)*] [$($numbers)*] [$($negatives)*]);
    };
    (@ $number:literal [$($before:ident)*] $at:ident [$($after:ident)*]) => {
        #[diagnostic::do_not_recommend]
        impl<$($before: Dim,)* $at: Dim, $($after: Dim,)*> DimensionAt<Nth<$number>>
            for ($($before,)* $at, $($after,)*)
        {
            type Dim = $at;
            type Others = ($($before,)* $($after,)*);
            type With<New: Dim> = ($($before,)* New, $($after,)*);
        }

        #[diagnostic::do_not_recommend]
        impl<$($before: Dim,)* $at: Dim, $($after: Dim,)*> Insert<Nth<$number>, $at> for ($($before,)* $($after,)*) {
            type Inserted = ($($before,)* $at, $($after,)*);
        }

        #[diagnostic::do_not_recommend]
        impl<$($before: Dim,)* $at: Dim + Add<Other, Output: StaticDim>, $($after: Dim,)* Other: Dim>
            Join<Nth<$number>, ($($before,)* Other, $($after,)*)> for ($($before,)* $at, $($after,)*)
        {
            type Joined = ($($before,)* Sum<$at, Other>, $($after,)*);
        }
    };
}

macro_rules! permuted {
    ($($N:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<D: Dimensions<Index = [usize; count!($($N)*)]> $(+ DimensionAt<$N>)*, $($N),*> Permute<($($N,)*)> for D {
            type Permuted = ($(<D as DimensionAt<$N>>::Dim,)*);
        }
    };
}

macro_rules! results {
    ([] []) => { permuted!(); };
    ([$first:ident $($rest:ident)*] [$negative:literal $($negatives:literal)*]) => {
        numbered!([] [$first $($rest)*] [0 1 2 3 4 5 6 7 8 9 10 11] [$negative $($negatives)*]);
        permuted!($first $($rest)*);
        results!([$($rest)*] [$($negatives)*]);
    };
}

results!([A B C E F G H I J K M P] [-12 -11 -10 -9 -8 -7 -6 -5 -4 -3 -2 -1]);
