//! An exported array may be freed on any thread, so memory that must stay on one thread is refused.

use std::rc::Rc;
use xla_shape::buffer::{DynShape, Storage, StorageMut};
use xla_shape::{Buffer, dlpack};

struct Memory(Vec<u8>, Rc<()>);

impl AsRef<[u8]> for Memory {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl AsMut<[u8]> for Memory {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

// SAFETY: the bytes are those of a `Vec`, which only its owner can reach.
unsafe impl Storage for Memory {}
// SAFETY: as above.
unsafe impl StorageMut for Memory {}

fn export(x: Buffer<DynShape, Memory>, y: Buffer<DynShape, Memory>, z: Buffer<DynShape, Memory>) {
    let _ = dlpack::export(x);
    let _ = dlpack::export_memory(y);
    let _ = dlpack::export_read_only(z);
}

fn main() {
    let _ = export;
}
