//! In generic code, the error shows the line that accesses the element.

use xla_shape::types::{At, StaticIndex, StaticArray};
use xla_shape::shape;

fn last<S: StaticArray>() -> usize
where
    (At<7>, At<127>): StaticIndex<S::Dimensions>,
{
    S::linear_index_at((At::<7>, At::<127>))
}

fn main() {
    last::<shape!(f32[8,128])>();
    last::<shape!(f32[8,100])>();
}
