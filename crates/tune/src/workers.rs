//! Where compilers run: in processes of this machine, or where the caller's workers are.

use crate::protocol::answer_until;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use xla_shape_pjrt::Program;
use xla_shape_program::Host;

/// The memory that one compiler may need, in bytes: libtpu took up to 2 GB for the programs that were measured.
const COMPILER_BYTES: u64 = 3 << 30;

/// Runs compilers for a search.
pub trait Workers {
    /// Calls [`answer_as_worker`](crate::answer_as_worker) with each request and the text of its program, on any machine and in any order. Passes each answer to `done` as
    /// soon as it is there, with the number of its request, until `done` returns false.
    ///
    /// requests: the number of a program, and the request.
    ///
    /// # Errors
    /// If no worker can answer. Then the search ends.
    fn run(&self, requests: &[(usize, Vec<u8>)], done: &mut dyn FnMut(usize, &[u8]) -> bool) -> Result<(), String>;
}

/// Threads of this process, each of which waits for one compiler at a time.
pub(crate) struct Threads<'a> {
    host: &'a Host,
    programs: &'a [Program],
    number: usize,
    stop: &'a AtomicBool,
}

impl<'a> Threads<'a> {
    /// stop: once it is set, no further compiler is started, and those that run are ended.
    pub(crate) const fn new(host: &'a Host, programs: &'a [Program], number: usize, stop: &'a AtomicBool) -> Self {
        Self { host, programs, number, stop }
    }
}

impl Workers for Threads<'_> {
    fn run(&self, requests: &[(usize, Vec<u8>)], done: &mut dyn FnMut(usize, &[u8]) -> bool) -> Result<(), String> {
        let queue = Mutex::new(requests.iter().enumerate());
        let is_on = |_: &_| !self.stop.load(Ordering::Relaxed);
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next().filter(is_on);
        thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            for _ in 0..self.number.min(requests.len()) {
                let (sender, next) = (sender.clone(), &next);
                scope.spawn(move || {
                    while let Some((number, (program, request))) = next() {
                        let answer = answer_until(self.stop, self.host, self.programs[*program].code(), request);
                        // Fails if the receiver has ended, because no more answers are wanted.
                        if sender.send((number, answer)).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            for (number, answer) in receiver {
                if !done(number, &answer) {
                    break;
                }
            }
        });
        Ok(())
    }
}

/// How many compilers should run at a time on this machine: at most one per core, and only as many as fit into the free memory.
///
/// ```
/// assert!(xla_shape_tune::jobs() >= 1);
/// ```
#[must_use]
pub fn jobs() -> usize {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    // The free memory is known on Linux only.
    let free = fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
    });
    let room = free.map_or(1, |free| usize::try_from(free / COMPILER_BYTES).unwrap_or(1));
    cores.min(room).max(1)
}
