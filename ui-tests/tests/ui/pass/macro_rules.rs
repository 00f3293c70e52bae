//! A macro passes literals, identifiers, token trees and repetitions on.

use xla_shape::{Buffer, index, shape};

macro_rules! matrix {
    ($element:ident, $rows:literal, $columns:literal $(, $space:tt)?) => {
        shape!($element[$rows, $columns]{1,0:T(8,128) $(S $space)?})
    };
}

macro_rules! vector {
    ($($token:tt)*) => { shape!(f32[$($token)*]) };
}

macro_rules! kernels {
    ($($name:ident: $($shape:tt)*);*) => { $(type $name = shape!($($shape)*);)* };
}

kernels! { Weights: bf16[8,128]<1,0:T(8,128)(2,1)> }

macro_rules! corner {
    ($buffer:ident, $row:literal, $column:expr) => {
        $buffer.at(index![$row, $column])
    };
}

#[test]
fn passes() {
    assert_eq!(<matrix!(f32, 100, 200)>::TEXT, "f32[100,200]{1,0:T(8,128)}");
    assert_eq!(<matrix!(f32, 100, 200, (1))>::MEMORY_SPACE, 1);
    assert_eq!(<vector!(2, 3, 4)>::ELEMENTS, 24);
    assert_eq!(Weights::BYTES, 2048);
    let buffer = Buffer::<shape!(s32[2,3])>::from_fn(|[i, j]| (10 * i + j) as i32);
    assert_eq!(corner!(buffer, 1, 1 + 1), 12);
}
