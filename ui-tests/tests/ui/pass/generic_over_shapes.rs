//! A function over every static shape.

use xla_shape::element::Stored;
use xla_shape::types::StaticArray;
use xla_shape::{Buffer, View, shape};

fn relayout<From, To>(x: View<'_, From>) -> Buffer<To>
where
    From: StaticArray<Element: Stored>,
    To: StaticArray<Element = From::Element, Index = From::Index>,
{
    Buffer::from_fn(|index| x.get(index).unwrap())
}

fn padding<S: StaticArray>() -> usize {
    S::PHYSICAL_ELEMENTS - S::ELEMENTS
}

#[test]
fn passes() {
    let x = Buffer::<shape!(bf16[100,200])>::from_fn(|[i, _]| (i as u8).into());
    let y: Buffer<shape!(bf16[100,200]{1,0:T(8,128)(2,1)})> = relayout(x.view());
    assert_eq!(x.to_row_major(), y.to_row_major());
    assert_eq!(padding::<shape!(f32[3,5]{1,0:T(2,2)})>(), 24 - 15);
}
