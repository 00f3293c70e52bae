use xla_shape::{Buffer, View, permutation, shape};

#[test]
fn passes() {
    let x = Buffer::<shape!(bf16[64,128]{1,0:T(8,128)(2,1)})>::zeroed();
    let _: View<'_, shape!(bf16[128,64]{0,1:T(8,128)(2,1)})> = x.view().transpose(permutation![-1, 0]);
    let _: View<'_, shape!(bf16[8,8,128]{2,1,0:T(8,128)(2,1)S(1)})> = x.view().reshape();
    let _: View<'_, shape!(bf16[64,128]{1,0:T(16,128)(8,128)(2,1)})> = x.view().retile();
    let _: Buffer<shape!(bf16[1,64,128]{2,1,0:T(8,128)(2,1)})> = x.reshape();
}
