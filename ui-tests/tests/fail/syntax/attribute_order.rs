//! Attributes must be in order.

use xla_shape::shape;

type SpaceBeforeTiles = shape!(f32[8]{0:S(1)T(8)});
type SizeBeforeAlignment = shape!(s4[8]{0:E(4)L(2)});
type PrefixBeforeSpace = shape!(f32[8]{0:M(8)S(1)});
type SplitsBeforeSpace = shape!(f32[8]{0:SC(0:4)S(1)});

fn main() {}
