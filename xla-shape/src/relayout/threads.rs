//! Splitting a step among threads: each writes a part of the destination of its own.

use super::elements::Widths;
use super::execute;
use super::kernels::{Fence, Machine};
use super::schedule::Step;

/// More parts than threads, so that a thread that is held up does not hold up all.
const PARTS_PER_THREAD: usize = 4;

/// A step that writes less than this is not worth a second thread, in bytes.
const MIN_BYTES: usize = 256 << 10;

/// As [`execute::run`], with the threads of the current pool.
pub(super) fn run(step: &Step, widths: Widths, machine: Machine, source: &[u8], destination: &mut [u8]) {
    let serial = |step: &Step, destination: &mut [u8]| {
        execute::run(step, widths, &Fence::new(machine), source, destination);
    };
    if destination.len() < MIN_BYTES {
        return serial(step, destination);
    }
    let parts = step.parts(PARTS_PER_THREAD * rayon::current_num_threads());
    rayon::scope(|scope| {
        let (mut rest, mut start) = (destination, 0);
        for (i, part) in parts.iter().enumerate() {
            // A part ends where the next one begins; what comes before the first goes to it, too.
            let end = parts.get(i + 1).map_or(start + rest.len(), |next| next.to);
            let (own, behind) = rest.split_at_mut(end - start);
            let part = Step { to: part.to - start, ..part.clone() };
            scope.spawn(move |_| serial(&part, own));
            (rest, start) = (behind, end);
        }
    });
}
