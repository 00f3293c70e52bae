//! Tests that count allocations. They need their own allocator, so they are a program of their own.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

mod dispatch;
mod memory;

/// Counts the bytes that a thread holds.
struct Counting;

thread_local! {
    /// For this thread, in bytes: what it holds, the most that it held, and the sum of all allocations.
    static HELD: Cell<(usize, usize, usize)> = const { Cell::new((0, 0, 0)) };
}

fn change(taken: usize, given_back: usize) {
    HELD.set({
        let (now, most, all) = HELD.get();
        // This thread may free memory that another thread allocated.
        let now = (now + taken).saturating_sub(given_back);
        (now, most.max(now), all + taken.saturating_sub(given_back))
    });
}

// SAFETY: every call is passed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        change(layout.size(), 0);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // A large block grows in place, so only the difference counts.
        change(size, layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        change(0, layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most bytes that `f` holds at one time.
fn most_held<R>(f: impl FnOnce() -> R) -> usize {
    HELD.set((0, 0, 0));
    drop(f());
    HELD.get().1
}

/// The sum of all bytes that `f` allocates, freed or not.
fn most_taken<R>(f: impl FnOnce() -> R) -> usize {
    HELD.set((0, 0, 0));
    drop(f());
    HELD.get().2
}
