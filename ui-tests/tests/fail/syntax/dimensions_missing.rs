//! Brackets are required, even if there are no dimensions.

use xla_shape::shape;

type Bare = shape!(f32);
type OnlyLayout = shape!(f32{0});
type Parentheses = shape!(f32(2,3));
type Joined = shape!(f32::<2,3>);

fn main() {}
