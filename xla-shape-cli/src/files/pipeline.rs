//! Reading, moving and writing at the same time.

use crate::failure::Failure;
use crate::io::tensor::TensorFile;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use xla_shape::ArrayShape;
use xla_shape::buffer::AlignedBytes;
use xla_shape::relayout::{Plan, Slabs};

/// A part of the result. Its memory goes back to where it came from when it is dropped.
pub(super) struct Part {
    bytes: AlignedBytes,
    back: Sender<AlignedBytes>,
}

/// Where memory for parts comes from: what has come back, or new.
struct Rooms {
    back: Sender<AlignedBytes>,
    returned: Receiver<AlignedBytes>,
}

/// Makes the slabs of an array, and lets `write` have them in order: while one is written, the next is moved and the one after that is
/// read. At no time is there more memory than for two of each.
///
/// # Errors
/// The first failure of any of the three; then `write` does not get all slabs, and gets the failure in their place.
pub(super) fn run(
    file: &mut TensorFile<'_>,
    slabs: Slabs,
    write: impl FnOnce(&mut dyn Iterator<Item = Result<Part, Failure>>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    // Without room for anything on the way: whoever is done waits for who comes next.
    let (to_mover, read) = sync_channel(0);
    let (to_writer, moved) = sync_channel(0);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let rooms = Rooms::new();
            for slab in slabs {
                let part = rooms.room(slab.shapes().0).and_then(|mut source| {
                    file.gather(slab.source(), source.bytes.as_mut())?;
                    Ok((slab, source))
                });
                let failed = part.is_err();
                if to_mover.send(part).is_err() || failed {
                    return;
                }
            }
        });
        scope.spawn(move || {
            let rooms = Rooms::new();
            // All slabs but the last ones are alike.
            let mut plan: Option<Plan> = None;
            for part in read {
                let part = part.and_then(|(slab, source)| {
                    let (from, to) = slab.shapes();
                    let ready = plan.take().filter(|plan| (plan.from(), plan.to()) == (from, to));
                    let plan = plan.insert(ready.map_or_else(|| slab.plan().map_err(Failure::said), Ok)?);
                    let mut data = rooms.room(to)?;
                    plan.run(source.bytes.as_ref(), data.bytes.as_mut()).map_err(Failure::said)?;
                    Ok(data)
                });
                let failed = part.is_err();
                if to_writer.send(part).is_err() || failed {
                    return;
                }
            }
        });
        write(&mut moved.into_iter())
    })
}

impl Rooms {
    fn new() -> Self {
        let (back, returned) = channel();
        Self { back, returned }
    }

    /// Memory for an array. What has come back holds the array of its size that was there before: padding is written with
    /// every part, and only whole arrays have more than elements and padding.
    fn room(&self, array: &ArrayShape) -> Result<Part, Failure> {
        let returned = self.returned.try_iter().find(|bytes| Some(bytes.as_ref().len() as u64) == array.byte_size());
        let bytes = returned.map_or_else(|| super::room(array), Ok)?;
        Ok(Part { bytes, back: self.back.clone() })
    }
}

impl AsRef<[u8]> for Part {
    fn as_ref(&self) -> &[u8] {
        self.bytes.as_ref()
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let nothing = AlignedBytes::zeroed(0);
        if let Ok(nothing) = nothing {
            // Where nobody needs it any more, it is freed.
            drop(self.back.send(std::mem::replace(&mut self.bytes, nothing)));
        }
    }
}
