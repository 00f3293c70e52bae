//! What counts allocations, and so needs an allocator of its own.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

mod dispatch;
mod memory;

/// Counts the bytes that a thread holds.
struct Counting;

thread_local! {
    /// What is held, the most that was held, and all that was taken.
    static HELD: Cell<(usize, usize, usize)> = const { Cell::new((0, 0, 0)) };
}

fn change(taken: usize, given_back: usize) {
    HELD.set({
        let (now, most, all) = HELD.get();
        // What another thread took may be given back here.
        let now = (now + taken).saturating_sub(given_back);
        (now, most.max(now), all + taken.saturating_sub(given_back))
    });
}

// SAFETY: everything is handed to the system's allocator as it comes.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        change(layout.size(), 0);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Large blocks grow where they are.
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

/// How many bytes `f` holds at the most.
fn most_held<R>(f: impl FnOnce() -> R) -> usize {
    HELD.set((0, 0, 0));
    drop(f());
    HELD.get().1
}

/// How many bytes `f` takes in all, whether it gives them back or not.
fn most_taken<R>(f: impl FnOnce() -> R) -> usize {
    HELD.set((0, 0, 0));
    drop(f());
    HELD.get().2
}
