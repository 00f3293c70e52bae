use xla_shape::{Buffer, index, shape};

fn main() {
    let mut buffer = Buffer::<shape!(f32[8,128])>::zeroed();
    let _ = buffer.at(index![7]);
    let _ = buffer.at(index![7, 0, 0]);
    buffer.set_at(index![], 1.0);
    let _ = buffer.get([7]);
    let _ = buffer[[7, 0, 0]];
}
