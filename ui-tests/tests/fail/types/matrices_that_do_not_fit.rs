//! Generic products are called with matrices that cannot be multiplied, and with a result in another layout: one error for each call.

use xla_shape::element::F32;
use xla_shape::types::{Array, LayoutType, MatrixTimes, Product, StaticArray};
use xla_shape::{Buffer, View, layout, shape};

fn product<X, W, L>(_: View<'_, X>, _: View<'_, W>) -> Buffer<Product<X, W, L>>
where
    X: MatrixTimes<W, Element = F32>,
    W: StaticArray<Element = F32, Index = [usize; 2]>,
    L: LayoutType,
{
    Buffer::<Product<X, W, L>>::zeroed()
}

fn chain<X, W, V, L>(x: View<'_, X>, w: View<'_, W>, v: View<'_, V>) -> Buffer<Product<Product<X, W, L>, V, L>>
where
    X: MatrixTimes<W, Element = F32>,
    W: StaticArray<Element = F32, Index = [usize; 2]>,
    Array<F32, (X::Rows, X::Columns), L>: MatrixTimes<V, Element = F32>,
    V: StaticArray<Element = F32, Index = [usize; 2]>,
    L: LayoutType,
{
    product(product::<_, _, L>(x, w).view(), v)
}

fn main() {
    let x = Buffer::<shape!(f32[8,128])>::zeroed();
    let w = Buffer::<shape!(f32[128,2])>::zeroed();
    let row = Buffer::<shape!(f32[128])>::zeroed();
    let _ = product::<_, _, layout!({1,0})>(x.view(), x.view()).fold(0.0, |sum, x| sum + x);
    let _ = product::<_, _, layout!({1,0})>(x.view(), row.view());
    let _: Buffer<shape!(f32[8,4])> = product(x.view(), w.view());
    let _: Buffer<shape!(f32[8,2]{0,1})> = product::<_, _, layout!({1,0})>(x.view(), w.view());
    let _: Buffer<shape!(f32[8,128])> = chain(x.view(), w.view(), x.view());
}
