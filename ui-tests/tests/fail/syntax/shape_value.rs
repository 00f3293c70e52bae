//! A value is checked as a type is.

use xla_shape::{Shape, shape_value};

const DUPLICATE: Shape = shape_value!((f32[2,3]{1,1}, s32[]));
const UNKNOWN: Shape = shape_value!(f33[2]);

fn main() {}
