//! A size may be an expression of Rust: the compiler says what is wrong with it.

use xla_shape::{Buffer, shape};

const COUNT: i32 = 3;

type Unknown = shape!(f32[ROWS]);
type OtherType = shape!(f32[8]{0:T(COUNT)});
type NoNumber = shape!(f32[<={ "8" }]);
type TwoNames = shape!(f32[COUNT COUNT]);
type NoLayout = shape!(f32[2]{COUNT});
type NoAttribute = shape!(f32[2]{0:E(COUNT)});
type NoPadding = shape!(f32[COUNT]{0:PAD(4)});
type Rest = shape!(f32[COUNT,]);

fn twice<const M: usize>(_: Buffer<shape!(f32[2 * M])>) {}

fn main() {}
