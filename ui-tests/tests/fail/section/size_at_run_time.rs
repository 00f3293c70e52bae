//! A range whose size is known only at run time.

use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(f32[4,64,256])>::zeroed();
    let _ = x.section::<shape!(f32[<=32,256]), _>((1, 8..20, ..));
}
