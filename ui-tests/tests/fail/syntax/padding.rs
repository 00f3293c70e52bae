//! A layout of 2017 has `PAD` with one width for each dimension, and may have `V` after it.

use xla_shape::shape;

type Bare = shape!(f32[2]{0:PAD});
type Nothing = shape!(f32[2]{0:PAD()});
type Name = shape!(f32[2]{0:PAD(wide)});
type Star = shape!(f32[2,3]{1,0:PAD(*,3)});
type WithTiles = shape!(f32[2]{0:PAD(3)T(8)});
type WithoutWidths = shape!(f32[2]{0:V(zero)});
type Dynamic = shape!(f32[<=2]{0:PAD(3)});
type InTuple = shape!((f32[2]{0:PAD(3)}, s32[]));

fn main() {}
