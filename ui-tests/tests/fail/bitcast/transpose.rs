use xla_shape::{Buffer, View, permutation, shape};

fn main() {
    let x = Buffer::<shape!(f32[31,57]{1,0:T(8,128)})>::zeroed();
    let _: View<'_, shape!(f32[57,31]{1,0:T(8,128)})> = x.view().transpose(permutation![1, 0]);
}
