//! Sizes may be constants, const parameters and arithmetic on constants.

use xla_shape::types::{ShapeType, StaticArray};
use xla_shape::{Buffer, View, layout, shape, shape_value};

const ROWS: usize = 16;
const N: usize = 3;

mod config {
    pub const LANES: usize = 128;
}

struct Model;

impl Model {
    const WIDTH: usize = 4;
}

type Named = shape!(f32[ROWS,128]{1,0:T(8,128)});
type Computed = shape!(f32[{ N + 13 }, 2 * 64]<1,0:T(8,128)>);
type Path = shape!(f32[4 * Model::WIDTH, config::LANES]{1,0:T({ N + 5 },config::LANES)});
type InTuple = shape!((f32[2], (bf16[ROWS,N], s32[<=ROWS]{0:T(config::LANES)}), b(f32[N])));

// Equal sizes are equal types, however they are written.
fn same(x: Named) -> Computed {
    x
}
fn same_again(x: Computed) -> Path {
    x
}
fn same_layout(x: layout!({1,0:T(8,config::LANES)})) -> layout!({1,0:T(8,128)}) {
    x
}

fn row_sum<const M: usize>(x: &View<'_, shape!(f32[M,128]{1,0:T(8,128)})>, row: usize) -> f32 {
    (0..128).map(|column| x[[row, column]]).sum()
}

fn zeroed<const M: usize, const K: usize>() -> Buffer<shape!(bf16[M,K]{1,0:T(8,128)(2,1)})> {
    Buffer::zeroed()
}

macro_rules! square {
    ($size:expr) => { shape!(f32[$size, $size]) };
}

#[test]
fn passes() {
    let mut x = Buffer::<Named>::zeroed();
    x[[3, 100]] = 2.5;
    assert_eq!(row_sum(&x.view(), 3), 2.5);
    assert_eq!(zeroed::<20, 100>().as_bytes().len(), 24 * 128 * 2);
    assert_eq!(<shape!(f32[ROWS - 1])>::TEXT, "f32[15]{0}");
    assert_eq!(InTuple::TEXT, "(f32[2]{0}, (bf16[16,3]{1,0}, s32[<=16]{0:T(128)}), b(f32[3]{0}))");
    assert_eq!(<square!(1 + 2)>::SIZES, [3, 3]);
    const VALUE: xla_shape::Shape = shape_value!(u8[N * N]);
    assert_eq!(VALUE.to_string(), "u8[9]{0}");
    let (_, _, _) = (same, same_again, same_layout);
}
