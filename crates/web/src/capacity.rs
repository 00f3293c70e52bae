//! Blocks that no memory can hold: more than half of the address space, 2 GiB in a page. A request for one does not reach the allocator, because the
//! program panics first.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static WAS_EXCEEDED: AtomicBool = AtomicBool::new(false);

/// Whether such a block was asked for since [`note`] was called.
pub(crate) fn was_exceeded() -> bool {
    WAS_EXCEEDED.load(Ordering::Relaxed)
}

/// Notes such panics from now on.
pub(crate) fn note() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let payload = panic.payload();
            let message = payload.downcast_ref::<&str>().copied();
            let message = message.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
            // "capacity overflow" of vectors and texts, "Hash table capacity overflow" of maps.
            if message.is_some_and(|message| message.ends_with("capacity overflow")) {
                WAS_EXCEEDED.store(true, Ordering::Relaxed);
            }
            before(panic);
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::{WAS_EXCEEDED, note, was_exceeded};
    use std::collections::HashSet;
    use std::panic::catch_unwind;
    use std::sync::atomic::Ordering;

    #[test]
    fn blocks_that_no_memory_can_hold_are_noted() {
        note();
        let noted = |f: fn()| {
            WAS_EXCEEDED.store(false, Ordering::Relaxed);
            assert!(catch_unwind(f).is_err());
            was_exceeded()
        };
        assert!(noted(|| drop(Vec::<u8>::with_capacity(usize::MAX))));
        assert!(noted(|| drop("ab".repeat(usize::MAX / 2))));
        assert!(noted(|| drop(HashSet::<u64>::with_capacity(usize::MAX))));
        assert!(!noted(|| panic!("another reason")));
    }
}
