//! In the tiles of a type, `*` combines dimensions at most 16 times.

use xla_shape::shape;

type Combined = shape!(u8[2,2,2,2]{3,2,1,0:T(*,3,*,3)(*,3,*,3)(*,3,*,3)(*,3,*,3)(*,3,*,3)(*,3,*,3)(*,3,*,3)(*,3,*,3)(*,3,*,3)});

fn main() {}
