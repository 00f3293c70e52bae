use xla_shape::{Buffer, shape};

fn kernel(_: &Buffer<shape!(bf16[8,128]{1,0:T(8,128)(2,1)})>) {}

fn main() {
    kernel(&Buffer::<shape!(bf16[8,256]{1,0:T(8,128)(2,1)})>::zeroed()); // another size
    kernel(&Buffer::<shape!(f32[8,128]{1,0:T(8,128)(2,1)})>::zeroed()); // another element type
    kernel(&Buffer::<shape!(bf16[8,128]{0,1:T(8,128)(2,1)})>::zeroed()); // another order
    kernel(&Buffer::<shape!(bf16[8,128]{1,0:T(8,128)})>::zeroed()); // other tiles
    kernel(&Buffer::<shape!(bf16[8,128])>::zeroed()); // no tiles
    kernel(&Buffer::<shape!(bf16[8,128]{1,0:T(8,128)(2,1)S(1)})>::zeroed()); // another memory space
    kernel(&Buffer::<shape!(bf16[1,8,128]{2,1,0:T(8,128)(2,1)})>::zeroed()); // another number of dimensions
    kernel(&Buffer::<shape!(bf16[8,128]{1,0:T(8,128)(2,1)L(64)})>::zeroed()); // another attribute
}
