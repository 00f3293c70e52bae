//! Work divided among the threads on which XLA runs the program.

use crate::abi;
use crate::call::{Call, drop_payload};
use crate::error::Error;
use crate::frame::Frame;
use crate::kernel::ExpectedParameter;
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

/// XLA's thread pool, as a parameter of a kernel that divides its work among threads (`XLA_FFI_ThreadPool_Schedule`).
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

// SAFETY: of the frame's pointers, a `ThreadPool` uses only `api` and `context`. The frame is valid during `'a` and not written
// (guarantees in `frame.rs`), and the two functions that are called, `XLA_FFI_ThreadPool_Schedule` and `…_NumThreads`, may be
// called from any thread.
unsafe impl Send for ThreadPool<'_> {}
// SAFETY: as above: shared access from several threads only reads the frame and calls these functions.
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

    fn take(call: &mut Call<'a>, _: &'static ExpectedParameter) -> Result<Self, Error> {
        Ok(Self(call.frame()))
    }
}

/// The work that the threads share; lives on the stack of [`ThreadPool::for_each`].
struct Job<'j> {
    work: &'j (dyn Fn(usize) + Sync),
    count: usize,
    next: AtomicUsize,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Job<'_> {
    /// Calls `work` until no numbers are left. Never unwinds, because other threads may still use this job.
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
            // No more numbers are handed out, so the other threads return after their current one.
            self.next.store(self.count, Ordering::Relaxed);
            let another = lock(&self.panic).replace(panic);
            another.into_iter().for_each(drop_payload);
        }
    }
}

/// Guards the access of helper threads to a job on another thread's stack.
///
/// A helper enters before it uses the job, and leaves afterwards. [`close`](Self::close) lets no more helpers in, and waits until
/// all have left; then the job may be dropped. Helpers that XLA starts later find the gate closed.
struct Gate {
    state: Mutex<GateState>,
    helper_left: Condvar,
}

struct GateState {
    /// The job; `None` once the gate is closed.
    job: Option<JobPointer>,
    /// The number of helpers that have entered and not left.
    helpers: usize,
}

#[derive(Clone, Copy)]
struct JobPointer(*const Job<'static>);

// SAFETY: `Job` is `Sync`: its closure is `Sync`, and its other fields are a number, an atomic and a mutex. The pointer is
// dereferenced only in `Gate::help`, which proves there that the job is alive.
unsafe impl Send for JobPointer {}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code that may panic runs while one of these mutexes is locked, so they are never poisoned.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Gate {
    /// Enters, works on the job, and leaves; returns at once if the gate is closed.
    fn help(&self) {
        let job = {
            let mut state = lock(&self.state);
            let Some(job) = state.job else { return };
            state.helpers += 1;
            job
        };
        // SAFETY: the gate was open when `helpers` was increased, under the same lock. `for_each`, which owns the job, calls
        // `close` before it returns, and `close` waits until `helpers` is 0, so the job lives until the decrement below.
        unsafe { &*job.0 }.run();
        lock(&self.state).helpers -= 1;
        self.helper_left.notify_all();
    }

    /// Lets no more helpers in, and waits until all have left.
    fn close(&self) {
        let mut state = lock(&self.state);
        state.job = None;
        while state.helpers > 0 {
            state = self.helper_left.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The task that XLA's threads run.
///
/// # Safety
/// `gate` comes from `Arc::into_raw` of an `Arc<Gate>`, which this call takes over.
unsafe extern "C" fn help(gate: *mut c_void) {
    // SAFETY: the caller hands over an `Arc<Gate>`; XLA runs each task once, with the data of `ThreadPool::schedule_helper`.
    unsafe { Arc::from_raw(gate.cast::<Gate>().cast_const()) }.help();
}

impl ThreadPool<'_> {
    /// The number of threads; 1 if XLA does not report it.
    ///
    /// ```
    /// use xla_shape::{View, ViewMut, shape};
    /// use xla_shape_ffi::threads::ThreadPool;
    ///
    /// xla_shape_ffi::kernel! {
    ///     fn halve(pool: ThreadPool<'_>, x: View<'_, shape!(f32[n])>, mut y: ViewMut<'_, shape!(f32[n])>) {
    ///         let chunk = y.as_slice().len().div_ceil(4 * pool.num_threads()).max(1);     // four chunks for each thread
    ///         pool.for_each_chunk(y.as_mut_slice(), chunk, |i, part| {
    ///             for (y, x) in part.iter_mut().zip(&x.as_slice()[i * chunk..]) {
    ///                 *y = x / 2.0;
    ///             }
    ///         });
    ///     }
    /// }
    /// ```
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
        // SAFETY: `function` is `XLA_FFI_ThreadPool_NumThreads`. `arguments` has the struct size that it claims, `context` is the
        // frame's, and `num_threads` points to `found`; all live until the call returns.
        let error = unsafe { function(&mut arguments) };
        if self.take_error(error) { 1 } else { usize::try_from(found).unwrap_or(1).max(1) }
    }

    /// Calls `work` once with each number below `count`, on this thread and on the pool's idle threads.
    ///
    /// Returns when all calls have returned. Which thread makes which call, and in which order, is unspecified.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering};
    /// use xla_shape::{View, ViewMut, shape};
    /// use xla_shape_ffi::threads::ThreadPool;
    ///
    /// xla_shape_ffi::kernel! {
    ///     fn total(pool: ThreadPool<'_>, x: View<'_, shape!(u32[64,1024])>, mut y: ViewMut<'_, shape!(u64[])>) {
    ///         let total = AtomicU64::new(0);
    ///         pool.for_each(64, |row| {
    ///             let sum: u64 = (0..1024).map(|column| u64::from(x[[row, column]])).sum();
    ///             total.fetch_add(sum, Ordering::Relaxed);
    ///         });
    ///         y[[]] = total.into_inner();
    ///     }
    /// }
    /// ```
    ///
    /// # Panics
    /// If `work` panics. Calls that have begun are finished first; the others are not made.
    pub fn for_each(&self, count: usize, work: impl Fn(usize) + Sync) {
        let job = Job { work: &work, count, next: AtomicUsize::new(0), panic: Mutex::new(None) };
        let pointer = JobPointer(ptr::from_ref(&job).cast::<Job<'static>>());
        let state = Mutex::new(GateState { job: Some(pointer), helpers: 0 });
        let gate = Arc::new(Gate { state, helper_left: Condvar::new() });
        for _ in 1..self.num_threads().min(count) {
            if !self.schedule_helper(&gate) {
                break;
            }
        }
        // This thread takes numbers, too, so the work is finished even if XLA never starts a helper.
        job.run();
        gate.close();
        if let Some(panic) = lock(&job.panic).take() {
            resume_unwind(panic);
        }
    }

    /// Calls `work` with each chunk of `len` values and its number, as [`for_each`](Self::for_each) does. The last chunk may be
    /// shorter.
    ///
    /// ```
    /// use xla_shape::{ViewMut, shape};
    /// use xla_shape_ffi::threads::ThreadPool;
    ///
    /// xla_shape_ffi::kernel! {
    ///     fn iota(pool: ThreadPool<'_>, mut y: ViewMut<'_, shape!(u32[n])>) {
    ///         pool.for_each_chunk(y.as_mut_slice(), 4096, |number, chunk| {
    ///             for (i, y) in chunk.iter_mut().enumerate() {
    ///                 *y = (4096 * number + i) as u32;
    ///             }
    ///         });
    ///     }
    /// }
    /// ```
    ///
    /// # Panics
    /// If `len` is 0, or `work` panics.
    pub fn for_each_chunk<T: Send>(&self, values: &mut [T], len: usize, work: impl Fn(usize, &mut [T]) + Sync) {
        // The threads take chunks from an iterator: a list of all chunks could take more memory than the values.
        let chunks = values.chunks_mut(len).enumerate();
        let (count, chunks) = (chunks.len(), Mutex::new(chunks));
        self.for_each(count, |_| {
            let next = lock(&chunks).next();
            if let Some((number, chunk)) = next {
                work(number, chunk);
            }
        });
    }

    /// Calls `work` with `rows` rows of an array at a time and the number of the first of them, as [`for_each`](Self::for_each) does.
    /// The last call may get fewer rows.
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
        // At least 1, because rows may have no elements; a product that overflows means all rows at once.
        let len = rows.saturating_mul(row).max(1);
        self.for_each_chunk(array.as_mut_slice(), len, |number, chunk| work(number * rows, chunk));
    }

    /// Calls `work` with the number of a row, `rows` rows of `source` from there on, and the same rows of `target` to write, as
    /// [`for_each_rows`](Self::for_each_rows) does. Rows of the two arrays may have different lengths.
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
    /// If the arrays have different numbers of rows, or where `for_each_rows` panics.
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
        assert!(found == expected, "expected the same number of rows in both arrays, found {found} and {expected}");
        let source = source.as_slice();
        self.for_each_rows(target, rows, |first, target| {
            work(first, &source[row * first..row * found.min(first.saturating_add(rows))], target);
        });
    }

    /// Asks XLA to run a helper; returns whether XLA has accepted.
    fn schedule_helper(&self, gate: &Arc<Gate>) -> bool {
        let Some(function) = self.api().and_then(|api| api.thread_pool_schedule) else { return false };
        let data = Arc::into_raw(gate.clone());
        let mut arguments = abi::ThreadPoolScheduleArgs {
            struct_size: abi::ThreadPoolScheduleArgs::SIZE,
            extensions: ptr::null_mut(),
            context: self.0.abi().context,
            task: help,
            data: data.cast_mut().cast(),
        };
        // SAFETY: `function` is `XLA_FFI_ThreadPool_Schedule`. `arguments` has the struct size that it claims and lives until the
        // call returns, and `context` is the frame's. `data` is what `help` requires: an `Arc<Gate>`, which it takes over.
        let error = unsafe { function(&mut arguments) };
        let failed = self.take_error(error);
        if failed {
            // SAFETY: `data` comes from `into_raw` above, and XLA has refused the task, so `help` will not take the `Arc` over.
            drop(unsafe { Arc::from_raw(data) });
        }
        !failed
    }

    /// XLA's table of functions; `None` if it is too old to have the functions of the thread pool.
    fn api(&self) -> Option<&abi::Api> {
        let api = self.0.abi().api;
        // SAFETY: if not null, `api` points to XLA's table of functions, which begins with its size.
        let is_complete = !api.is_null() && unsafe { (*api).struct_size } >= abi::Api::SIZE;
        // SAFETY: the table has all fields of `abi::Api`, as its size says, and XLA never changes or frees it.
        is_complete.then(|| unsafe { &*api })
    }

    /// Whether this is an error object, which is destroyed.
    fn take_error(&self, error: *mut abi::XlaError) -> bool {
        if error.is_null() {
            return false;
        }
        let mut arguments =
            abi::ErrorDestroyArgs { struct_size: abi::ErrorDestroyArgs::SIZE, extensions: ptr::null_mut(), error };
        if let Some(destroy) = self.api().and_then(|api| api.error_destroy) {
            // SAFETY: `destroy` is `XLA_FFI_Error_Destroy`. XLA has returned `error` to its caller, who owns it, and nobody uses
            // it afterwards.
            unsafe { destroy(&mut arguments) };
        }
        true
    }
}

/// The number of rows of an array that has memory for `elements` elements, and the number of elements in each row.
///
/// # Panics
/// If rows are not contiguous: the array has no dimensions, is not row-major, or has tiles or padding.
fn rows_of<S: WholeArray>(sizes: &[usize], elements: usize) -> (usize, usize) {
    let Some((&rows, row)) = sizes.split_first() else { panic!("expected rows, found an array without dimensions") };
    let is_row_major = S::SHAPE.layout().is_monotonic_with_dim0_major();
    let row = row.iter().fold(1_usize, |row, &size| row.saturating_mul(size));
    let fill = S::SHAPE.layout().tiles().is_empty() && rows.saturating_mul(row) == elements;
    assert!(is_row_major && fill, "expected contiguous rows, found {}", S::TEXT);
    (rows, row)
}

#[cfg(test)]
mod tests {
    use super::{Gate, GateState, Job, JobPointer};
    use std::ptr;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Condvar, Mutex};
    use std::thread;

    #[test]
    fn each_number_is_passed_once_and_late_helpers_do_nothing() {
        let done: Vec<_> = (0..1000).map(|_| AtomicUsize::new(0)).collect();
        let work = |number: usize| {
            done[number].fetch_add(1, Ordering::Relaxed);
        };
        let job = Job { work: &work, count: done.len(), next: AtomicUsize::new(0), panic: Mutex::new(None) };
        let pointer = JobPointer(ptr::from_ref(&job).cast::<Job<'static>>());
        let gate =
            Gate { state: Mutex::new(GateState { job: Some(pointer), helpers: 0 }), helper_left: Condvar::new() };
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
