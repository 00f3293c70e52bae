//! What JavaScript calls. Pointers and lengths are those of this module's memory; `usize` has 32 bits here.
//!
//! The page calls `allocate`, writes a question there, and calls `reply`, which frees the question and returns where the reply is.
//! After it has read the reply, it calls `release`. If the module traps, the page uses another instance of it.
#![allow(unsafe_code, reason = "a border: JavaScript passes pointers and lengths")]

use crate::capacity;
use std::alloc::{GlobalAlloc, Layout, System, alloc, dealloc};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};

/// The system's memory. If an allocation fails, that is noted: the program then ends, and the page asks why.
struct Noting;

static IS_OUT_OF_MEMORY: AtomicBool = AtomicBool::new(false);

#[global_allocator]
static MEMORY: Noting = Noting;

fn noted(place: *mut u8) -> *mut u8 {
    if place.is_null() {
        IS_OUT_OF_MEMORY.store(true, Ordering::Relaxed);
    }
    place
}

// SAFETY: all blocks are the system's, which gets the same layouts and addresses; the results are returned as they are.
unsafe impl GlobalAlloc for Noting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those of `System::alloc`.
        noted(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those of `System::alloc_zeroed`.
        noted(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promises are those of `System::realloc`, and `place` is the system's.
        noted(unsafe { System.realloc(place, layout, size) })
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are those of `System::dealloc`, and `place` is the system's.
        unsafe { System.dealloc(place, layout) };
    }
}

/// Whether there was a block of memory that this instance could not get. It tells why the module trapped.
#[unsafe(no_mangle)]
extern "C" fn is_out_of_memory() -> bool {
    IS_OUT_OF_MEMORY.load(Ordering::Relaxed) || capacity::was_exceeded()
}

/// The layout of a block of bytes; `None` for an empty block, and one that no memory can hold.
fn block(length: usize) -> Option<Layout> {
    Layout::array::<u8>(length).ok().filter(|layout| layout.size() > 0)
}

/// Memory for a question of `length` bytes; null if `length` is 0, or there is not enough memory.
#[unsafe(no_mangle)]
extern "C" fn allocate(length: usize) -> *mut u8 {
    // SAFETY: the layout has a size that is not 0.
    block(length).map_or(null_mut(), |layout| unsafe { alloc(layout) })
}

/// The reply to a question, as its address in the low half and its length in the high half.
///
/// # Safety
/// `length` is not 0; `question` is from `allocate(length)`, is not null, all its bytes have been written, and it is not used again.
#[unsafe(no_mangle)]
unsafe extern "C" fn reply(question: *mut u8, length: usize) -> u64 {
    // SAFETY: by the contract, the address is not null, and these bytes are initialized, of one allocation, and nothing else uses them during the
    // call.
    let bytes = unsafe { std::slice::from_raw_parts(question, length) };
    capacity::note();
    let reply = crate::reply(bytes).into_bytes().into_boxed_slice();
    // SAFETY: as above, it is from `allocate(length)`; `bytes` is not used again.
    unsafe { release(question, length) };
    let length = reply.len() as u64;
    let address = Box::into_raw(reply).cast::<u8>() as usize as u64;
    length << 32 | address
}

/// Frees a question or a reply.
///
/// # Safety
/// `place` is from `allocate(length)`, or the address of a reply of this length, and is not used again.
#[unsafe(no_mangle)]
unsafe extern "C" fn release(place: *mut u8, length: usize) {
    if let Some(layout) = block(length) {
        // SAFETY: `allocate` uses this layout, and a boxed slice of bytes has it, too; by the contract, the block is still allocated.
        unsafe { dealloc(place, layout) };
    }
}
