//! `layout!` takes a layout, and nothing else.

use xla_shape::layout;

type Missing = layout!();
type Shape = layout!(f32[8]{0});
type Bare = layout!(1,0);
type After = layout!({1,0} S(1));
type Twice = layout!({1,1});
type Empty = layout!({1,0:T()});

fn main() {}
