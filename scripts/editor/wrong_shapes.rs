//! Shapes that are wrong: each must be underlined where it is.

use xla_shape::{shape, shape_type};

type Twice = shape!(f32[8,128]{1,1});

shape_type! {
    type Unknown = f99[8];
}
