//! One turn of a contender.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// The number of calls of the contender's function, and their time.
pub(crate) struct Turn {
    pub(crate) repeat: usize,
    /// Whether the result is compared.
    pub(crate) check: bool,
    pub(crate) time: Duration,
}

/// Takes a turn; returns the result if it is compared.
pub(crate) type Contender = Box<dyn FnMut(&mut Turn) -> Vec<f32>>;

impl Turn {
    pub(crate) fn time(&mut self, mut f: impl FnMut()) {
        let start = now();
        (0..self.repeat).for_each(|_| f());
        self.time = now().saturating_sub(start);
    }

    pub(crate) fn result(&self, result: impl FnOnce() -> Vec<f32>) -> Vec<f32> {
        if self.check { result() } else { Vec::new() }
    }
}

/// The thread's CPU time, which other processes disturb less.
fn now() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32)
}
