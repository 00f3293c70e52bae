//! Iterating over tiles that are not those of the layout. The error shows the user's line.

use xla_shape::{Buffer, shape};

fn main() {
    let mut x = Buffer::<shape!(f32[16,256]{1,0:T(8,128)})>::zeroed();
    for tile in x.tiles_mut::<[[f32; 128]; 16]>() {
        tile.elements[0][0] = 1.0;
    }
}
