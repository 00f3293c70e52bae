use xla_shape::{Buffer, shape};

fn main() {
    let mut x = Buffer::<shape!(f32[64,256]{1,0:T(8,128)})>::zeroed();
    let mut block = x.block_mut::<shape!(f32[16,128]{1,0:T(8,128)})>([0, 1]);
    let _ = block.as_array_mut();
}
