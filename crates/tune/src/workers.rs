//! Where compilers run: in processes of this machine, or where the caller's workers are.

use crate::protocol::answer_until;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use xla_shape_program::Host;

/// The memory that one compiler may need, in bytes: libtpu took up to 2 GB for the measured programs.
const COMPILER_BYTES: u64 = 3 << 30;

/// Runs compilers for a search.
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// use xla_shape_program::Host;
/// use xla_shape_tune::{Given, Question, TuneError, Workers};
///
/// struct Nowhere;
///
/// impl Workers for Nowhere {
///     fn run(&self, _: &[(&[u8], Vec<u8>)], _: &mut dyn FnMut(usize, &[u8]) -> bool) -> Result<(), String> {
///         Err("no machine is free".into())
///     }
/// }
///
/// let code = b"module { func.func public @main(%x: tensor<8xf32>) -> tensor<8xf32> { return %x : tensor<8xf32> } }";
/// let program = Given { name: "p".into(), file: "p.mlir".into(), code: code.to_vec() };
/// let question = Question::new(vec![program], vec!["x=arg0".parse()?], "v5e".parse()?);
/// let host = Host { command: vec![], python: None, notes: |_| {} };
/// let error = question.answer(&host, Some(&Nowhere), &AtomicBool::new(false), &()).unwrap_err();
/// assert_eq!(error, TuneError::NoCompiler("no machine is free".into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Workers {
    /// Calls [`answer_as_worker`](crate::answer_as_worker) with each text of a program and its request, on any machine and in any order. Passes each
    /// answer to `done` as soon as it arrives, with the number of its request, until `done` returns false.
    ///
    /// `requests`: the text of a program, and the request.
    ///
    /// # Errors
    /// If no worker can answer. Then the search ends.
    fn run(&self, requests: &[(&[u8], Vec<u8>)], done: &mut dyn FnMut(usize, &[u8]) -> bool) -> Result<(), String>;
}

/// Threads of this process, each of which waits for one compiler at a time.
pub(crate) struct Threads<'a> {
    host: &'a Host,
    number: usize,
    stop: &'a AtomicBool,
}

impl<'a> Threads<'a> {
    /// `stop`: once it is set, no more compilers are started, and running ones are ended.
    pub(crate) const fn new(host: &'a Host, number: usize, stop: &'a AtomicBool) -> Self {
        Self { host, number, stop }
    }
}

impl Workers for Threads<'_> {
    fn run(&self, requests: &[(&[u8], Vec<u8>)], done: &mut dyn FnMut(usize, &[u8]) -> bool) -> Result<(), String> {
        let queue = Mutex::new(requests.iter().enumerate());
        let is_on = |_: &_| !self.stop.load(Ordering::Relaxed);
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next().filter(is_on);
        thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            for _ in 0..self.number.min(requests.len()) {
                let (sender, next) = (sender.clone(), &next);
                scope.spawn(move || {
                    while let Some((number, (program, request))) = next() {
                        let answer = answer_until(self.stop, self.host, program, request);
                        // Sending fails if the receiver is gone, because no more answers are wanted.
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
