use xla_shape::shape;

type Separator = shape!(f32[1_000]);
type Hexadecimal = shape!(f32[8,0x10]);
type Suffix = shape!(f32[8usize]);
type Fraction = shape!(f32[1.5]);
type Text = shape!(f32["8"]);
type Character = shape!(f32['8']);
type Negative = shape!(f32[8,-128]);
type TooLarge = shape!(f32[9223372036854775808]);
type Word = shape!(f32[N]);
type Lifetime = shape!(f32['a]);

fn main() {}
