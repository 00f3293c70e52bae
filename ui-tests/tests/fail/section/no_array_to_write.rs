use xla_shape::{Buffer, layout, shape};

fn main() {
    let mut x = Buffer::<shape!(f32[16,4,128]{2,1,0})>::zeroed();
    let mut head = x.index_axis_mut::<1, layout!({1,0})>(3);
    let _ = head.as_array_mut();
}
