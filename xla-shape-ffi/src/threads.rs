//! Work split over XLA's own threads.

use crate::abi;
use crate::call::{Call, discard};
use crate::error::Error;
use crate::frame::Frame;
use crate::kernel::Known;
use crate::parameter::Parameter;
use crate::signature::{Description, Role, Wants};
use std::any::Any;
use std::ffi::c_void;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use xla_shape::element::Plain;
use xla_shape::types::{ValueOf, WholeArray};
use xla_shape::{View, ViewMut};

/// The threads on which XLA runs the program; a parameter of kernels that want to share their work out.
///
/// ```
/// use xla_shape::{View, ViewMut, shape};
/// use xla_shape_ffi::threads::ThreadPool;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// xla_shape_ffi::kernel! {
///     fn count_zeros(pool: ThreadPool<'_>, x: View<'_, shape!(s32[64,1024])>, mut y: ViewMut<'_, shape!(u32[])>) {
///         let zeros = AtomicU32::new(0);
///         pool.for_each(64, |row| {
///             let count = (0..1024).filter(|&column| x[[row, column]] == 0).count();
///             zeros.fetch_add(count as u32, Ordering::Relaxed);
///         });
///         y[[]] = zeros.into_inner();
///     }
/// }
/// ```
#[derive(Clone, Copy)]
pub struct ThreadPool<'a>(Frame<'a>);

// SAFETY: the frame lives as long as `'a`, nobody changes it, and XLA's functions for its threads may be called from any thread.
unsafe impl Send for ThreadPool<'_> {}
// SAFETY: as above.
unsafe impl Sync for ThreadPool<'_> {}

impl fmt::Debug for ThreadPool<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool").finish_non_exhaustive()
    }
}

impl<'a> Parameter<'a> for ThreadPool<'a> {
    const ROLE: Role = Role::Context;

    fn describe() -> Description {
        Description::new(Self::ROLE, Wants::Nothing)
    }

    fn take(call: &mut Call<'a>, _: &'static Known) -> Result<Self, Error> {
        Ok(Self(call.frame()))
    }
}

/// What the threads work on; lives on the stack of [`ThreadPool::for_each`].
struct Job<'j> {
    work: &'j (dyn Fn(usize) + Sync),
    count: usize,
    next: AtomicUsize,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Job<'_> {
    /// Works until nothing is left. Never unwinds: others may be at work on this job.
    fn run(&self) {
        let work = || {
            loop {
                let number = self.next.fetch_add(1, Ordering::Relaxed);
                if number >= self.count {
                    return;
                }
                (self.work)(number);
            }
        };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
            // The others stop where they are.
            self.next.store(self.count, Ordering::Relaxed);
            let another = lock(&self.panic).replace(panic);
            another.into_iter().for_each(discard);
        }
    }
}

/// Who may still look at a job: helpers that came before it was closed. Those that come later find it closed.
struct Gate {
    state: Mutex<State>,
    left: Condvar,
}

struct State {
    /// The job, until it is closed.
    job: Option<JobPointer>,
    /// How many helpers are at work on it.
    helpers: usize,
}

#[derive(Clone, Copy)]
struct JobPointer(*const Job<'static>);

// SAFETY: a `Job` may be used from several threads at once (its work is `Sync`, the rest are atomics and locks), and is
// looked at only while it lives, as `Gate` sees to.
unsafe impl Send for JobPointer {}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No panic happens while one of these is locked.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Gate {
    /// What a helper does.
    fn help(&self) {
        let job = {
            let mut state = lock(&self.state);
            let Some(job) = state.job else { return };
            state.helpers += 1;
            job
        };
        // SAFETY: the job was open, and is not left by its owner before this helper says below that it is done.
        unsafe { &*job.0 }.run();
        lock(&self.state).helpers -= 1;
        self.left.notify_all();
    }

    /// Lets nobody in any more, and waits for those who are.
    fn close(&self) {
        let mut state = lock(&self.state);
        state.job = None;
        while state.helpers > 0 {
            state = self.left.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// What XLA's threads call.
unsafe extern "C" fn help(gate: *mut c_void) {
    // SAFETY: `ThreadPool::ask` made this pointer of an `Arc` that it gave away, for this call alone.
    unsafe { Arc::from_raw(gate.cast::<Gate>().cast_const()) }.help();
}

impl ThreadPool<'_> {
    /// How many threads there are; 1 if XLA does not say.
    #[must_use]
    pub fn num_threads(&self) -> usize {
        let mut found = 1;
        let mut arguments = abi::ThreadPoolNumThreadsArgs {
            struct_size: abi::ThreadPoolNumThreadsArgs::SIZE,
            extensions: ptr::null_mut(),
            context: self.0.abi().context,
            num_threads: &mut found,
        };
        let Some(function) = self.api().and_then(|api| api.thread_pool_num_threads) else { return 1 };
        // SAFETY: the arguments are what the interface wants.
        let error = unsafe { function(&mut arguments) };
        if self.is_error(error) { 1 } else { usize::try_from(found).unwrap_or(1).max(1) }
    }

    /// Calls `work` with every number less than `count`, once each, on as many threads as are free, this one among them.
    ///
    /// Returns when all is done. Which thread does what, and in which order, is open.
    ///
    /// # Panics
    /// If `work` does.
    pub fn for_each(&self, count: usize, work: impl Fn(usize) + Sync) {
        let job = Job { work: &work, count, next: AtomicUsize::new(0), panic: Mutex::new(None) };
        let pointer = JobPointer(ptr::from_ref(&job).cast::<Job<'static>>());
        let state = Mutex::new(State { job: Some(pointer), helpers: 0 });
        let gate = Arc::new(Gate { state, left: Condvar::new() });
        for _ in 1..self.num_threads().min(count) {
            if !self.ask(&gate) {
                break;
            }
        }
        // This thread can do everything alone, so that nothing waits for a helper that never comes.
        job.run();
        gate.close();
        if let Some(panic) = lock(&job.panic).take() {
            resume_unwind(panic);
        }
    }

    /// Calls `work` with every chunk of `len` values and its number, as [`for_each`](Self::for_each) does; the last chunk may
    /// be shorter.
    ///
    /// # Panics
    /// If `len` is 0, or `work` panics.
    pub fn for_each_chunk<T: Send>(&self, values: &mut [T], len: usize, work: impl Fn(usize, &mut [T]) + Sync) {
        // Nobody waits at these locks: each number is handed out once.
        let chunks: Vec<_> = values.chunks_mut(len).map(Mutex::new).collect();
        self.for_each(chunks.len(), |number| work(number, &mut lock(&chunks[number])));
    }

    /// Calls `work` with `rows` rows of an array at a time and the number of the first of them, as [`for_each`](Self::for_each) does;
    /// the last call may have fewer.
    ///
    /// ```
    /// use xla_shape::{View, ViewMut, shape};
    /// use xla_shape_ffi::threads::ThreadPool;
    ///
    /// xla_shape_ffi::kernel! {
    ///     fn double(pool: ThreadPool<'_>, x: View<'_, shape!(f32[b,d])>, mut y: ViewMut<'_, shape!(f32[b,d])>) {
    ///         pool.for_each_rows(&mut y, 16, |first, rows| {
    ///             for (y, x) in rows.iter_mut().zip(&x.as_slice()[first * x.sizes()[1]..]) {
    ///                 *y = 2.0 * x;
    ///             }
    ///         });
    ///     }
    /// }
    /// ```
    ///
    /// # Panics
    /// If `rows` is 0, the array has no dimensions, is not row-major or has tiles or padding, or `work` panics.
    pub fn for_each_rows<S>(
        &self,
        array: &mut ViewMut<'_, S>,
        rows: usize,
        work: impl Fn(usize, &mut [ValueOf<S>]) + Sync,
    ) where
        S: WholeArray<Element: Plain>,
        ValueOf<S>: Send,
    {
        let (_, row) = rows_of::<S>(array.sizes().as_ref(), array.as_slice().len());
        assert!(rows > 0, "expected at least one row at a time");
        // Rows of nothing are none; more rows than there are, are all of them.
        let len = rows.saturating_mul(row).max(1);
        self.for_each_chunk(array.as_mut_slice(), len, |number, chunk| work(number * rows, chunk));
    }

    /// Calls `work` with `rows` rows of an array at a time, the same rows of another one to write, and the number of the first row, as
    /// [`for_each_rows`](Self::for_each_rows) does. The rows of the two may have different lengths.
    ///
    /// ```
    /// use xla_shape::{View, ViewMut, shape};
    /// use xla_shape_ffi::threads::ThreadPool;
    ///
    /// xla_shape_ffi::kernel! {
    ///     fn sums(pool: ThreadPool<'_>, x: View<'_, shape!(f32[b,64])>, mut y: ViewMut<'_, shape!(f32[b])>) {
    ///         pool.zip_rows(&x, &mut y, 16, |_, rows, sums| {
    ///             for (row, sum) in rows.chunks(64).zip(sums) {
    ///                 *sum = row.iter().sum();
    ///             }
    ///         });
    ///     }
    /// }
    /// ```
    ///
    /// # Panics
    /// If the arrays have different numbers of rows, or as `for_each_rows` does.
    pub fn zip_rows<R, S>(
        &self,
        source: &View<'_, R>,
        target: &mut ViewMut<'_, S>,
        rows: usize,
        work: impl Fn(usize, &[ValueOf<R>], &mut [ValueOf<S>]) + Sync,
    ) where
        R: WholeArray<Element: Plain>,
        S: WholeArray<Element: Plain>,
        ValueOf<R>: Sync,
        ValueOf<S>: Send,
    {
        let (found, row) = rows_of::<R>(source.sizes().as_ref(), source.as_slice().len());
        let (expected, _) = rows_of::<S>(target.sizes().as_ref(), target.as_slice().len());
        assert!(found == expected, "expected as many rows in both arrays, found {found} and {expected}");
        let source = source.as_slice();
        self.for_each_rows(target, rows, |first, target| {
            work(first, &source[row * first..row * found.min(first.saturating_add(rows))], target);
        });
    }

    /// Asks XLA for a helper; whether there may come one.
    fn ask(&self, gate: &Arc<Gate>) -> bool {
        let Some(function) = self.api().and_then(|api| api.thread_pool_schedule) else { return false };
        let data = Arc::into_raw(gate.clone());
        let mut arguments = abi::ThreadPoolScheduleArgs {
            struct_size: abi::ThreadPoolScheduleArgs::SIZE,
            extensions: ptr::null_mut(),
            context: self.0.abi().context,
            task: help,
            data: data.cast_mut().cast(),
        };
        // SAFETY: the arguments are what the interface wants; `help` takes over the `Arc`.
        let error = unsafe { function(&mut arguments) };
        let failed = self.is_error(error);
        if failed {
            // SAFETY: XLA has refused the task, so nobody else has this `Arc`.
            drop(unsafe { Arc::from_raw(data) });
        }
        !failed
    }

    /// XLA's functions, if they reach as far as those of threads.
    fn api(&self) -> Option<&abi::Api> {
        let api = self.0.abi().api;
        // SAFETY: XLA passes its table of functions; its first field is its size.
        let reaches = !api.is_null() && unsafe { (*api).struct_size } >= abi::Api::SIZE;
        // SAFETY: it is as large as the table here.
        reaches.then(|| unsafe { &*api })
    }

    /// Whether this is an error, which is thrown away.
    fn is_error(&self, error: *mut abi::XlaError) -> bool {
        if error.is_null() {
            return false;
        }
        let mut arguments =
            abi::ErrorDestroyArgs { struct_size: abi::ErrorDestroyArgs::SIZE, extensions: ptr::null_mut(), error };
        if let Some(destroy) = self.api().and_then(|api| api.error_destroy) {
            // SAFETY: an error that XLA's functions return is the caller's to destroy.
            unsafe { destroy(&mut arguments) };
        }
        true
    }
}

/// How many rows an array with memory for so many elements has, and the elements of each.
///
/// # Panics
/// If the array has no dimensions, is not row-major, or has tiles, which cut rows, or padding.
fn rows_of<S: WholeArray>(sizes: &[usize], elements: usize) -> (usize, usize) {
    let Some((&rows, row)) = sizes.split_first() else { panic!("expected rows, found an array without dimensions") };
    let is_row_major = S::SHAPE.layout().is_monotonic_with_dim0_major();
    let row = row.iter().fold(1_usize, |row, &size| row.saturating_mul(size));
    let fill = S::SHAPE.layout().tiles().is_empty() && rows.saturating_mul(row) == elements;
    assert!(is_row_major && fill, "expected rows one behind the other, found {}", S::TEXT);
    (rows, row)
}

#[cfg(test)]
mod tests {
    use super::{Gate, Job, JobPointer, State};
    use std::ptr;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Condvar, Mutex};
    use std::thread;

    #[test]
    fn everything_is_done_once_and_late_helpers_find_nothing() {
        let done: Vec<_> = (0..1000).map(|_| AtomicUsize::new(0)).collect();
        let work = |number: usize| {
            done[number].fetch_add(1, Ordering::Relaxed);
        };
        let job = Job { work: &work, count: done.len(), next: AtomicUsize::new(0), panic: Mutex::new(None) };
        let pointer = JobPointer(ptr::from_ref(&job).cast::<Job<'static>>());
        let gate = Gate { state: Mutex::new(State { job: Some(pointer), helpers: 0 }), left: Condvar::new() };
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| gate.help());
            }
            job.run();
            gate.close();
            assert!(done.iter().all(|count| count.load(Ordering::Relaxed) == 1));
            gate.help();
        });
    }

    #[test]
    fn a_panic_stops_the_rest_and_is_kept() {
        let work = |number: usize| assert!(number != 3, "three");
        let job = Job { work: &work, count: 100, next: AtomicUsize::new(0), panic: Mutex::new(None) };
        job.run();
        assert!(job.next.load(Ordering::Relaxed) >= 100);
        assert!(job.panic.lock().unwrap().is_some());
    }
}
