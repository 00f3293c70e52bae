//! Each wrong shape is reported once, wherever it is, and code that depends on it causes no further errors.

use xla_shape::{Buffer, View, shape};

struct Weights {
    matrix: Buffer<shape!(bf16[8,128]{1,1})>,
}

trait Layer {
    type Input;
    const BYTES: usize = <shape!(f32[2]{0:T()})>::BYTES;
    fn run(&self, input: View<'_, shape!(f32[8;128])>) -> shape!(f32[8,128]{0});
}

impl Layer for Weights {
    type Input = shape!(f23[8]);
    fn run(&self, input: View<'_, shape!(f32[8,128]{1,0:S(500)})>) -> shape!(f32[8,128]) {
        let _ = self.matrix.get([0, 0]);
        let _ = input.to_row_major();
        Default::default()
    }
}

fn main() {
    let x = Buffer::<shape!(f32[2,3]{2,1})>::zeroed();
    let y = x.get([0, 0]).unwrap() + 1.0;
    println!("{}", y);
}
