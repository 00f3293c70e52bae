use xla_shape::{Buffer, View, shape};

fn main() {
    let x = Buffer::<shape!(bf16[64,256]{1,0:T(8,128)(2,1)})>::zeroed();
    let _: View<'_, shape!(bf16[64,256]{1,0:T(8,128)})> = x.view().retile();
}
