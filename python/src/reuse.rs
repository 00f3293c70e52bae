//! Keeps the memory of results that nobody uses any more, for the next results: the system takes as long to provide new memory as a copy
//! takes.

use std::sync::{Mutex, MutexGuard, TryLockError};
use xla_shape::buffer::AlignedBytes;

/// The bytes of the smallest result whose memory is kept: the allocator itself keeps smaller pieces of memory.
const LEAST: usize = 1 << 20;

/// The most bytes that are kept, of all results together.
const MOST: usize = 128 << 20;

/// The most results whose memory is kept.
const MOST_RESULTS: usize = 4;

/// The oldest first.
static KEPT: Mutex<Vec<AlignedBytes>> = Mutex::new(Vec::new());

/// The bytes of a result. When they are dropped, their memory is kept.
pub(crate) struct Reusable(Option<AlignedBytes>);

impl Reusable {
    pub(crate) fn new(bytes: AlignedBytes) -> Self {
        Self(Some(bytes))
    }
}

impl AsRef<[u8]> for Reusable {
    fn as_ref(&self) -> &[u8] {
        // `None` only during `drop`.
        self.0.as_ref().map_or(&[], |bytes| bytes.as_ref())
    }
}

impl Drop for Reusable {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(keep);
    }
}

/// Kept memory of exactly this many bytes, if there is any. Its values are unspecified.
pub(crate) fn take(len: usize) -> Option<AlignedBytes> {
    if len < LEAST {
        return None;
    }
    let mut kept = kept()?;
    let found = kept.iter().rposition(|bytes| bytes.as_ref().len() == len)?;
    Some(kept.remove(found))
}

fn keep(bytes: AlignedBytes) {
    if !(LEAST..=MOST).contains(&bytes.as_ref().len()) {
        return;
    }
    let Some(mut kept) = kept() else { return };
    kept.push(bytes);
    let mut freed = Vec::new();
    while kept.len() > MOST_RESULTS || kept.iter().map(|bytes| bytes.as_ref().len()).sum::<usize>() > MOST {
        freed.push(kept.remove(0));
    }
    // Unlock before `freed` is dropped, so that other threads need not wait while memory is freed.
    drop(kept);
}

/// Frees all memory that is kept. Returns whether there was any.
pub(crate) fn free() -> bool {
    kept().is_some_and(|mut kept| !std::mem::take(&mut *kept).is_empty())
}

/// The memory that is kept; `None` while another thread uses it, or did when this process was forked.
fn kept() -> Option<MutexGuard<'static, Vec<AlignedBytes>>> {
    match KEPT.try_lock() {
        Ok(kept) => Some(kept),
        Err(TryLockError::Poisoned(kept)) => Some(kept.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
