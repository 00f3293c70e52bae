use xla_shape::{Buffer, index, shape};

fn main() {
    let buffer = Buffer::<shape!(f32[8,128])>::zeroed();
    let n = 3;
    let _ = buffer.at(index![-1, 0]);
    let _ = buffer.at(index![0, -1]);
    let _ = buffer.at(index![0, 1.5]);
    let _ = buffer.at(index![0, "1"]);
    let _ = buffer.at(index![0, 340282366920938463463374607431768211456]);
    let _ = buffer.at(index![0, 18446744073709551616]);
    let _ = buffer.at(index![0, n]);
}
