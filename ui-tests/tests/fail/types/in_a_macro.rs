//! If a macro makes a shape of its input, errors point at this input.

use xla_shape_ui_downstream::{shape_of_parts, tiled};

type Negative = tiled!(8, -128);
type TooLarge = tiled!(9223372036854775808, 128);
type NotALiteral = tiled!(8, "128");
type Unknown = shape_of_parts!(float, [8], {0});
type Twice = shape_of_parts!(f32, [8, 128], {1, 1});
type NoLayout = shape_of_parts!(f32, [8, 128], (1, 0));

fn main() {}
