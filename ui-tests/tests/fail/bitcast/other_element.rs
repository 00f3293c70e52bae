use xla_shape::{Buffer, View, shape};

fn main() {
    let x = Buffer::<shape!(f32[8])>::zeroed();
    let _: View<'_, shape!(s32[8])> = x.view().reshape();
}
