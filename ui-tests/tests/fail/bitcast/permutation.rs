use xla_shape::{Buffer, View, permutation, shape};

fn main() {
    let x = Buffer::<shape!(f32[31,57])>::zeroed();
    let _: View<'_, shape!(f32[57,31])> = x.view().transpose(permutation![1, 1]);
}
