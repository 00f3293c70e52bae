//! A generic product is called with matrices that cannot be multiplied.

use xla_shape::element::F32;
use xla_shape::types::{LayoutType, MatrixTimes, Product, StaticArray};
use xla_shape::{Buffer, View, layout, shape};

fn product<X, W, L>(_: View<'_, X>, _: View<'_, W>) -> Buffer<Product<X, W, L>>
where
    X: MatrixTimes<W, Element = F32>,
    W: StaticArray<Element = F32, Index = [usize; 2]>,
    L: LayoutType,
{
    Buffer::<Product<X, W, L>>::zeroed()
}

fn main() {
    let x = Buffer::<shape!(f32[8,128])>::zeroed();
    let _ = product::<_, _, layout!({1,0})>(x.view(), x.view());
}
