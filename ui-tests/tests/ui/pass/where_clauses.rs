//! A shape in a where clause, on either side.

use xla_shape::types::{LayoutType, Space, StaticArray};
use xla_shape::{Buffer, element, shape};

fn into_bytes<T>(x: T) -> usize
where
    Buffer<shape!(f32[2,3])>: From<T>,
    shape!(f32[2,3]): StaticArray<Index = [usize; 2]>,
{
    Buffer::<shape!(f32[2,3])>::from(x).as_bytes().len()
}

fn in_vmem<S>(_: S) -> &'static str
where
    S: StaticArray<Element = element::F32, Layout: LayoutType<Space = Space<1>>>,
{
    S::TEXT
}

#[test]
fn passes() {
    assert_eq!(into_bytes(Buffer::<shape!(f32[2,3])>::zeroed()), 24);
    assert_eq!(in_vmem(<shape!(f32[2]{0:S(1)})>::default()), "f32[2]{0:S(1)}");
}
