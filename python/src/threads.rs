//! The threads of this process that help with large copies.

use crate::error::shape_error;
use crate::memory::prefer_large_pages;
use crate::number::Number;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::num::NonZero;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::thread::available_parallelism;
use xla_shape::buffer::AlignedBytes;
use xla_shape::relayout::{Plan, RelayoutError};

/// The argument `threads`: as many as asked for, or as the size of the array suggests.
pub(crate) fn counted(threads: Option<Number<usize>>) -> PyResult<Option<usize>> {
    match threads.map(|threads| threads.0) {
        Some(0) => Err(shape_error("expected one thread or more, found 0")),
        threads => Ok(threads),
    }
}

/// The threads that may help to fill a number of bytes.
pub(crate) struct Helpers(Option<(usize, Arc<ThreadPool>)>);

impl Helpers {
    /// With the calling thread, at most `threads`.
    pub(crate) fn for_bytes(bytes: usize, threads: Option<usize>) -> Result<Self, String> {
        if threads == Some(1) || bytes < Plan::BYTES_PER_HELPER {
            return Ok(Self(None));
        }
        // More than there are processors would only take memory.
        let most = available_parallelism().map_or(1, NonZero::get);
        let helpers = threads.map_or(most, |threads| threads.min(most)) - 1;
        Ok(Self(if helpers == 0 { None } else { Some((helpers, pool(most - 1)?)) }))
    }

    /// A copy in new memory.
    pub(crate) fn run_new(&self, plan: &Plan, source: &[u8]) -> Result<AlignedBytes, RelayoutError> {
        match &self.0 {
            None => plan.run_new(source, prefer_large_pages),
            Some((helpers, pool)) => plan.run_new_helped(source, prefer_large_pages, *helpers, |help| pool.spawn(help)),
        }
    }

    pub(crate) fn run(&self, plan: &Plan, source: &[u8], result: &mut [u8]) -> Result<(), RelayoutError> {
        match &self.0 {
            None => plan.run(source, result),
            Some((helpers, pool)) => plan.run_helped(source, result, *helpers, |help| pool.spawn(help)),
        }
    }
}

/// The process that made the threads, and how many they are.
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
    // Nothing is locked while threads are made, which takes long enough for another one to fork.
    let pool = Arc::new(ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| error.to_string())?);
    let before = try_pool().and_then(|mut made| made.replace((process, threads, pool.clone())));
    if before.as_ref().is_some_and(|&(owner, ..)| owner != process) {
        // Waiting for threads that are not there would take for ever.
        std::mem::forget(before);
    }
    Ok(pool)
}

/// The threads that are kept; `None` if they stay locked, as in a process that was forked at just that moment.
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
