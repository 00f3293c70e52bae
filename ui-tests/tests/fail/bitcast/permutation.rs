use xla_shape::{Buffer, View, index, shape};

fn main() {
    let x = Buffer::<shape!(f32[31,57])>::zeroed();
    let _: View<'_, shape!(f32[57,31])> = x.view().transpose(index![1, 1]);
}
