//! Literals that are not numbers.

use xla_shape::shape;

type Text = shape!(f32["8"]);
type Character = shape!(f32['8']);
type Lifetime = shape!(f32['a]);

fn main() {}
