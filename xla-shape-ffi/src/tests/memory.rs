//! However many calls there are, and however they end, none leaves memory behind.

use super::{Array, F32, call, double};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

crate::kernel! {
    /// Panics, without a line on the screen for each.
    fn throws_text() {
        std::panic::resume_unwind(Box::new(String::from("text")));
    }
}

thread_local! {
    /// How many bytes this thread has allocated and not freed.
    static HELD: Cell<isize> = const { Cell::new(0) };
}

pub(super) fn held() -> isize {
    HELD.get()
}

struct Counting;

// SAFETY: the system's allocator does the work; to count allocates nothing, and does not unwind.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.set(HELD.get().wrapping_add_unsigned(layout.size()));
        // SAFETY: the caller promises what it asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, data: *mut u8, layout: Layout) {
        HELD.set(HELD.get().wrapping_sub_unsigned(layout.size()));
        // SAFETY: as above.
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
    // Miri takes ten thousand times as long.
    for _ in 0..if cfg!(miri) { 10 } else { 10_000 } {
        round();
    }
    assert_eq!(held(), before);
}
