//! Work in pieces that several threads take one by one.

use std::any::Any;
use std::hint;
use std::mem::transmute;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use super::tuning::WAITING_SPINS;

/// The function that a helping thread calls. It returns when there is nothing left to do.
pub(super) type Help = Box<dyn FnOnce() + Send>;

/// Threads that may help the calling one.
#[derive(Clone, Copy)]
pub(super) struct Helpers<'a> {
    /// How many may help.
    pub(super) most: usize,
    /// Passes a function to a thread, which may call it at any time, or never.
    pub(super) spawn: &'a dyn Fn(Help),
    /// Whether the caller wants to go on.
    pub(super) caller: &'a Caller<'a>,
}

/// The thread that asked for the work. Before each part, it is asked whether to go on, so it can end the work early.
pub(super) struct Caller<'a> {
    thread: ThreadId,
    goes_on: &'a (dyn Fn() -> bool + Sync),
    stopped: AtomicBool,
}

impl<'a> Caller<'a> {
    /// The current thread, which goes on as long as `goes_on` returns `true`.
    pub(super) fn new(goes_on: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self { thread: thread::current().id(), goes_on, stopped: AtomicBool::new(false) }
    }

    /// Whether to begin another part. Only the thread itself calls the function.
    pub(super) fn goes_on(&self) -> bool {
        if !self.has_stopped() && thread::current().id() == self.thread && !(self.goes_on)() {
            self.stopped.store(true, Ordering::Relaxed);
        }
        !self.has_stopped()
    }

    pub(super) fn has_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

impl Helpers<'_> {
    /// Calls `work` once for each number below `count`, on this thread and on at most `most` others.
    ///
    /// Each thread takes the next piece when it has finished one. At the end, this thread waits for the pieces that others have begun, but
    /// not for threads that have not started: on a busy machine, starting one may take longer than all of the work.
    ///
    /// # Panics
    /// If `work` or `spawn` panics. The panic is passed on after all pieces have ended.
    pub(super) fn share(self, count: usize, most: usize, work: &(dyn Fn(usize) + Sync)) {
        let work: *const (dyn Fn(usize) + Sync + '_) = work;
        // SAFETY: both are pointers to the same trait object; only the lifetime differs, and `Job::work` says when it may be used.
        let work = unsafe { transmute::<*const (dyn Fn(usize) + Sync + '_), *const (dyn Fn(usize) + Sync)>(work) };
        let job = Job {
            work,
            count,
            next: AtomicUsize::new(0),
            left: AtomicUsize::new(count),
            panic: Mutex::new(None),
            ended: Condvar::new(),
        };
        let job = Arc::new(job);
        let others = most.min(self.most).min(count.saturating_sub(1));
        // `spawn` panics if the system has no more threads. Threads that have begun still use `work`, so the panic is passed on only after
        // they have finished.
        let spawned = catch_unwind(AssertUnwindSafe(|| {
            for _ in 0..others {
                let job = job.clone();
                (self.spawn)(Box::new(move || job.help()));
            }
        }));
        job.help();
        job.wait();
        let panic = job.panic().take();
        if let Some(panic) = panic.or(spawned.err()) {
            resume_unwind(panic);
        }
    }
}

/// The pieces of a call of [`Helpers::share`].
struct Job {
    /// It may be called while a piece is left: [`Helpers::share`] borrows the function, and returns only when all pieces have ended.
    work: *const (dyn Fn(usize) + Sync),
    count: usize,
    /// The first piece that no thread has taken; `count` or more when all are taken.
    next: AtomicUsize,
    /// How many pieces have not ended.
    left: AtomicUsize,
    /// The payload of the first panic of a piece. The thread that ends the last piece locks it, so that the waiting thread does not miss
    /// the signal.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    ended: Condvar,
}

// SAFETY: all fields are `Send` and `Sync` except `work`, which is called through a shared reference only, and is `Sync`.
unsafe impl Send for Job {}
// SAFETY: as above.
unsafe impl Sync for Job {}

impl Job {
    /// Takes pieces until there are no more.
    fn help(&self) {
        loop {
            // The counter cannot overflow: after the last piece, each thread adds 1 only once, and there are far fewer threads than values
            // of a `usize`.
            let piece = self.next.fetch_add(1, Ordering::Relaxed);
            if piece >= self.count {
                return;
            }
            // SAFETY: only this thread has taken `piece`, which ends when `end` is called below. Until then a piece is left, so `work` is
            // still borrowed.
            let work = unsafe { &*self.work };
            let done = catch_unwind(AssertUnwindSafe(|| work(piece)));
            self.end(done.err());
        }
    }

    /// Counts a piece that has ended. `work` may be gone afterwards.
    fn end(&self, panic: Option<Box<dyn Any + Send>>) {
        if let Some(panic) = panic {
            self.panic().get_or_insert(panic);
        }
        // `Release`, so that the waiting thread sees what this piece has written.
        if self.left.fetch_sub(1, Ordering::Release) == 1 {
            drop(self.panic());
            self.ended.notify_one();
        }
    }

    /// Waits until no piece is left.
    fn wait(&self) {
        let is_left = || self.left.load(Ordering::Acquire) > 0;
        for _ in 0..WAITING_SPINS {
            if !is_left() {
                return;
            }
            hint::spin_loop();
        }
        let guard = self.panic();
        drop(self.ended.wait_while(guard, |_| is_left()));
    }

    fn panic(&self) -> MutexGuard<'_, Option<Box<dyn Any + Send>>> {
        self.panic.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::{Caller, Help, Helpers};
    use std::cell::RefCell;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    fn counts(pieces: usize, spawn: &dyn Fn(Help)) {
        let counts = (0..pieces).map(|_| AtomicUsize::new(0)).collect::<Vec<_>>();
        Helpers { most: 3, spawn, caller: &Caller::new(&|| true) }.share(pieces, 3, &|piece| {
            counts[piece].fetch_add(1, Ordering::Relaxed);
        });
        assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == 1));
    }

    #[test]
    fn each_piece_is_done_once() {
        for pieces in [0, 1, 2, 3, 100] {
            counts(pieces, &|help| drop(thread::spawn(help)));
            // At once, before the caller does anything.
            counts(pieces, &|help| help());
        }
    }

    /// Helpers may start after the call has returned.
    #[test]
    fn a_helper_that_comes_late_or_never_does_nothing() {
        let late = RefCell::new(Vec::new());
        counts(100, &|help| late.borrow_mut().push(help));
        let late = late.take();
        assert_eq!(late.len(), 3);
        let mut late = late.into_iter();
        drop(late.next());
        late.map(thread::spawn).for_each(|thread| thread.join().unwrap());
    }

    #[test]
    fn a_panic_ends_the_call_after_all_pieces() {
        let done = AtomicUsize::new(0);
        let spawn: &dyn Fn(Help) = &|help| drop(thread::spawn(help));
        let call = || {
            Helpers { most: 3, spawn, caller: &Caller::new(&|| true) }.share(20, 3, &|piece| {
                assert_ne!(piece, 7, "the seventh");
                done.fetch_add(1, Ordering::Relaxed);
            });
        };
        let panic = catch_unwind(AssertUnwindSafe(call)).unwrap_err();
        assert!(panic.downcast_ref::<String>().unwrap().contains("the seventh"));
        assert_eq!(done.load(Ordering::Relaxed), 19);
    }

    #[test]
    fn a_spawn_that_panics_ends_the_call_after_all_pieces() {
        let (done, spawned) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let spawn: &dyn Fn(Help) = &|help| {
            assert_eq!(spawned.fetch_add(1, Ordering::Relaxed), 0, "no more threads");
            drop(thread::spawn(help));
        };
        let call = || {
            Helpers { most: 3, spawn, caller: &Caller::new(&|| true) }.share(20, 3, &|_| {
                done.fetch_add(1, Ordering::Relaxed);
            });
        };
        assert!(catch_unwind(AssertUnwindSafe(call)).is_err());
        assert_eq!(done.load(Ordering::Relaxed), 20);
    }
}
