//! Memory between two guard pages: any instruction that reads or writes before or after it ends the program.

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
use std::ffi::c_void;
use std::ptr;
use std::slice;

/// A multiple of every machine's pages.
const PAGE: usize = 64 << 10;

/// The side on which the guard page directly follows the bytes. On the other side, it begins at the next page boundary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    /// The guard page ends directly before the first byte.
    Before,
    /// The guard page begins directly after the last byte.
    Behind,
}

/// Bytes between two guard pages, which cannot be accessed.
#[derive(Debug)]
pub(super) struct Guarded {
    pages: *mut c_void,
    room: usize,
    start: usize,
    len: usize,
}

impl Guarded {
    /// This many bytes, all 0.
    ///
    /// # Panics
    /// If the system has no memory.
    pub(super) fn new(len: usize, side: Side) -> Self {
        let room = len.next_multiple_of(PAGE);
        let all = room + 2 * PAGE;
        // SAFETY: the system chooses the address of the new mapping, so it replaces no other memory.
        let pages =
            unsafe { mmap_anonymous(ptr::null_mut(), all, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE) };
        let pages = pages.expect("memory");
        for guard in [pages, pages.wrapping_byte_add(PAGE + room)] {
            // SAFETY: this is a page of the new memory, and no reference points to it.
            unsafe { mprotect(guard, PAGE, MprotectFlags::empty()) }.expect("a page can be guarded");
        }
        let start = if side == Side::Before { 0 } else { room - len };
        Self { pages, room, start, len }
    }

    /// The bytes.
    pub(super) fn bytes(&mut self) -> &mut [u8] {
        let first = self.pages.wrapping_byte_add(PAGE + self.start).cast();
        // SAFETY: these are `len` bytes between the guards. They are initialized, because the system gives zeros, and they are borrowed as `self` is.
        unsafe { slice::from_raw_parts_mut(first, self.len) }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: `new` mapped this memory, and nothing borrows it any more.
        unsafe { munmap(self.pages, self.room + 2 * PAGE) }.expect("what was mapped");
    }
}
