use xla_shape::{Buffer, View, shape};

fn main() {
    let x = Buffer::<shape!(f32[32,2,192]{2,1,0:T(2,128)})>::zeroed();
    let _: View<'_, shape!(f32[64,192]{1,0:T(8,128)})> = x.view().reshape();
}
