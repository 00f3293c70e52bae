//! Calls free all memory that they allocate, whether they succeed, fail or panic.

use super::{Array, F32, call, double};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

crate::kernel! {
    /// Panics without the panic hook, which would print a line for each call.
    fn throws_text() {
        std::panic::resume_unwind(Box::new(String::from("text")));
    }
}

thread_local! {
    /// The bytes that this thread has allocated and not freed.
    static HELD: Cell<isize> = const { Cell::new(0) };
}

pub(super) fn held() -> isize {
    HELD.get()
}

struct Counting;

// SAFETY: both methods pass their arguments to `System` unchanged and return its result, so they keep its contract. Counting in a
// `const` thread-local neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.set(HELD.get().wrapping_add_unsigned(layout.size()));
        // SAFETY: the caller promises that `layout` has a size other than 0, which is what `System` requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, data: *mut u8, layout: Layout) {
        HELD.set(HELD.get().wrapping_sub_unsigned(layout.size()));
        // SAFETY: the caller promises that `alloc` has returned `data` for this `layout`; so `System` has.
        unsafe { System.dealloc(data, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn ten_thousand_calls_leave_nothing_behind() {
    let (mut x, mut y) = ([1.0_f32; 6], [0.0_f32; 6]);
    let mut round = || {
        let mut doubled = |sizes: &[i64], factor: f32| {
            let (operand, result) = (Array::new(F32, sizes, &mut x), Array::new(F32, &[2, 3], &mut y));
            call::<double>(&[operand], &[result], &[("factor", factor)]).is_ok()
        };
        assert!(doubled(&[2, 3], 2.0));
        assert!(!doubled(&[3, 2], 2.0));
        assert!(!doubled(&[2, 3], 0.0));
        assert!(call::<throws_text>(&[], &[], &[]).is_err());
    };
    round();
    let before = held();
    // Fewer under Miri, which is much slower.
    for _ in 0..if cfg!(miri) { 10 } else { 10_000 } {
        round();
    }
    assert_eq!(held(), before);
}
