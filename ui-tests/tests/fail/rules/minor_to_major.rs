use xla_shape::shape;

type TooFew = shape!(f32[2,3]{0});
type TooMany = shape!(f32[2,3]{2,1,0});
type Twice = shape!(f32[2,3]{1,1});
type OutOfRange = shape!(f32[2,3]{1,2});
type OfScalar = shape!(f32[]{0});
type None = shape!(f32[2,3]{:T(8,128)});

fn main() {}
