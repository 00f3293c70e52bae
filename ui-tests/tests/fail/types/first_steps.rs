//! What is tried first: `Buffer::new`, and a `DynBuffer` where the shape must be a type.

use xla_shape::{Buffer, DynBuffer, shape};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut x = Buffer::<shape!(f32[3,128])>::new();
    let table = DynBuffer::zeroed_with("f32[8,128]".parse()?)?;
    let first = table[[0, 0]];
    let mut rows = Buffer::<shape!(f32[3,128])>::zeroed();
    rows.gather_rows(&table, [7, 0, 7]);
    Ok(())
}
