use xla_shape::{Buffer, View, shape};

fn main() {
    let x = Buffer::<shape!(f32[64,256]{1,0:T(8,128)})>::zeroed();
    let _: View<'_, shape!(f32[4,4,8,128])> = x.view().zipped_divide();
}
