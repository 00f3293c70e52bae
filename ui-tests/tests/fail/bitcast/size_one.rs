use xla_shape::{Buffer, View, shape};

fn main() {
    let x = Buffer::<shape!(f32[1,16,256]{2,1,0:T(8,128)})>::zeroed();
    let _: View<'_, shape!(f32[1,16,256]{0,2,1:T(8,128)})> = x.view().retile();
}
