use xla_shape::{Buffer, View, shape};

fn main() {
    let x = Buffer::<shape!(f32[60,256])>::zeroed();
    let _: View<'_, shape!(f32[7,2,8,128])> = x.view().zipped_divide();
}
