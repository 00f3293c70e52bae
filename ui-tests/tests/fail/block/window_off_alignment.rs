//! Windows copied from, and into, an array whose elements are not aligned because of its prefix.

use xla_shape::block::{Border, WindowError};
use xla_shape::{Buffer, shape};

fn main() -> Result<(), WindowError> {
    let x = Buffer::<shape!(f32[64,128]{1,0:M(2)})>::zeroed();
    let _ = x.windows::<shape!(f32[8,128]), shape!(f32[10,128])>(Border::Clamp)?;
    let y = Buffer::<shape!(f32[64,128])>::zeroed();
    y.copy_window_to(&mut Buffer::<shape!(f32[10,128]{1,0:M(2)})>::zeroed(), [0, 0], [1, 0], Border::Clamp)
}
