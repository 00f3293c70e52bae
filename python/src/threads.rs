//! The threads of this process that help with large copies.

use crate::error::shape_error;
use crate::memory::prefer_large_pages;
use crate::number::Number;
use crate::reuse;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::num::NonZero;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::available_parallelism;
use xla_shape::buffer::AlignedBytes;
use xla_shape::relayout::{Plan, RelayoutError};

/// The argument `threads`; without it, the size of the array decides.
pub(crate) fn counted(threads: Option<Number<usize>>) -> PyResult<Option<usize>> {
    match threads.map(|threads| threads.0) {
        Some(0) => Err(shape_error("expected one thread or more, found 0")),
        threads => Ok(threads),
    }
}

/// The threads that may help to fill a number of bytes.
pub(crate) struct Helpers {
    count: usize,
    /// `None` if none helps.
    pool: Option<Arc<ThreadPool>>,
}

impl Helpers {
    /// Helpers for a copy of this many bytes: with the calling thread, at most `threads` threads.
    pub(crate) fn for_bytes(bytes: usize, threads: Option<usize>) -> PyResult<Self> {
        let alone = Self { count: 0, pool: None };
        // Asking for the number of processors takes longer than copying a small array.
        if bytes < Plan::BYTES_PER_HELPER {
            return Ok(alone);
        }
        // More threads than processors would only take memory.
        let most = available_parallelism().map_or(1, NonZero::get);
        let count = threads.map_or(most, |threads| threads.min(most)) - 1;
        if count == 0 {
            return Ok(alone);
        }
        let pool = pool(most - 1).map_err(shape_error)?;
        Ok(Self { count, pool: Some(pool) })
    }

    /// A copy in new memory; `None` if there is not enough memory.
    pub(crate) fn run_new(&self, plan: &Plan, source: &[u8]) -> PyResult<Option<AlignedBytes>> {
        if plan.overwrites()
            && let Some(mut memory) = plan.to().byte_size().and_then(|bytes| reuse::take(usize::try_from(bytes).ok()?))
        {
            return self.run(plan, source, memory.as_mut()).map(|()| Some(memory));
        }
        let signals = Signals::default();
        let make = || {
            if Self::is_short(plan.to().byte_size().map_or(0, |bytes| bytes as usize)) {
                return plan.run_new(source, prefer_large_pages);
            }
            let (spawn, goes_on) = (|help| self.spawn(help), || signals.check());
            plan.run_new_helped_while(source, prefer_large_pages, self.count, spawn, goes_on)
        };
        let made = match make() {
            Err(RelayoutError::OutOfMemory(_)) if reuse::free() => make(),
            made => made,
        };
        match made {
            Err(RelayoutError::OutOfMemory(_)) => Ok(None),
            made => made.map(Some).map_err(|error| signals.error(&error)),
        }
    }

    pub(crate) fn run(&self, plan: &Plan, source: &[u8], result: &mut [u8]) -> PyResult<()> {
        let signals = Signals::default();
        let copied = if Self::is_short(result.len()) {
            plan.run(source, result)
        } else {
            plan.run_helped_while(source, result, self.count, |help| self.spawn(help), || signals.check())
        };
        copied.map_err(|error| signals.error(&error))
    }

    fn spawn(&self, help: Box<dyn FnOnce() + Send>) {
        if let Some(pool) = &self.pool {
            pool.spawn(help);
        }
    }

    /// Whether a copy is too small for other threads, and takes too little time for a user to notice.
    fn is_short(bytes: usize) -> bool {
        bytes < Plan::BYTES_PER_HELPER
    }
}

/// What a signal, such as Ctrl-C, has raised during work without the GIL.
#[derive(Default)]
pub(crate) struct Signals(Mutex<Option<PyErr>>);

impl Signals {
    /// Runs the handlers of signals that have arrived. Returns whether none has raised an exception.
    pub(crate) fn check(&self) -> bool {
        let raised = Python::attach(|py| py.check_signals()).err();
        let is_none = raised.is_none();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = raised;
        is_none
    }

    /// The exception that ended a copy, or one for an error of the copy itself.
    pub(crate) fn error(&self, error: &RelayoutError) -> PyErr {
        self.raised().unwrap_or_else(|| shape_error(error))
    }

    /// The exception that a signal has raised. A second call returns `None`.
    pub(crate) fn raised(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The process that made the threads, their number, and their pool.
type Made = Option<(u32, usize, Arc<ThreadPool>)>;

static POOL: Mutex<Made> = Mutex::new(None);

/// The thread pool of this process; a forked process makes its own, because its parent's threads do not exist in it.
fn pool(threads: usize) -> Result<Arc<ThreadPool>, String> {
    let process = std::process::id();
    if let Some(made) = try_pool()
        && let Some((owner, count, pool)) = &*made
        && (*owner, *count) == (process, threads)
    {
        return Ok(pool.clone());
    }
    // Making threads takes long, and another thread may fork meanwhile, so the pool is not locked here.
    let pool = Arc::new(ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| error.to_string())?);
    let before = try_pool().and_then(|mut made| made.replace((process, threads, pool.clone())));
    if before.as_ref().is_some_and(|&(owner, ..)| owner != process) {
        // After a fork, the pool's threads do not exist in this process. Dropping the pool would wait for them forever.
        std::mem::forget(before);
    }
    Ok(pool)
}

/// The pool that is kept; `None` if its lock stays taken, as in a process that was forked while another thread held it.
fn try_pool() -> Option<MutexGuard<'static, Made>> {
    for _ in 0..100 {
        match POOL.try_lock() {
            Ok(made) => return Some(made),
            Err(TryLockError::Poisoned(made)) => return Some(made.into_inner()),
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    }
    None
}
