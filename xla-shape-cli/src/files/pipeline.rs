//! Reading, moving and writing at the same time.

use crate::failure::Failure;
use crate::io::tensor::Write;
use std::iter::Enumerate;
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, available_parallelism, panicking, scope};
use xla_shape::ArrayShape;
use xla_shape::buffer::AlignedBytes;
use xla_shape::relayout::{Options, Plan, RelayoutError, Slab, Slabs};

/// The size of slabs where the file is read in long pieces, in bytes. Both sides of one fit in the second-level cache together:
/// what was read is moved from there, and what was moved is written from there.
const NEAR: usize = 1 << 20;

/// Pieces of a file that are this long are read at more than half of the speed of longer ones, in bytes.
const LONG: usize = 16 << 10;

/// One thread writes at a time, and that is a quarter of the work or more: further threads would wait.
const MAX_THREADS: usize = 4;

/// Copies an array in slabs. Each of several threads takes the next slab, gathers its source, moves it, and writes the result
/// as soon as all before it are written. The options must fill padding. Together they hold about `most` bytes of the source, and as many of the result, or
/// one slab if that is larger.
///
/// # Errors
/// The first failure in the order of the slabs; nothing is written after it.
pub(super) fn run(
    (from, to): (&ArrayShape, &ArrayShape),
    options: &Options,
    most: usize,
    gather: impl Fn(&Slab, &mut [u8]) -> Result<(), Failure> + Sync,
    write: &mut Write<'_>,
) -> Result<(), Failure> {
    let threads = available_parallelism().map_or(1, NonZeroUsize::get).min(MAX_THREADS);
    let slabs = sized(from, to, options, (most / threads).max(1)).map_err(Failure::said)?;
    let size = slabs.clone().next().map_or(0, |slab| size_of(&slab));
    // Where no cut is possible, slabs are larger than was asked.
    let threads = slabs.clone().take(threads.min(most / size.max(1))).count();
    let output = Mutex::new(Output { next: 0, write });
    let work = Work { slabs: Mutex::new(slabs.enumerate()), output, written: Condvar::new(), gather };
    scope(|scope| {
        // Where the system has no more threads, fewer do it.
        let others = (1..threads).map_while(|_| Builder::new().spawn_scoped(scope, || work.run()).ok());
        let others = others.collect::<Vec<_>>();
        let own = work.run();
        others.into_iter().fold(own, |done, other| done.and(other.join().unwrap_or_else(|panic| resume_unwind(panic))))
    })
}

/// Slabs as small as possible, of those that have the longest pieces to read.
fn sized(from: &ArrayShape, to: &ArrayShape, options: &Options, most: usize) -> Result<Slabs, RelayoutError> {
    let piece =
        |slabs: &Slabs| slabs.clone().next().and_then(|slab| slab.source().next()).map_or(0, |piece| piece.len());
    let largest = Slabs::new(from, to, options, most)?;
    let enough = piece(&largest).min(LONG);
    let mut bytes = NEAR;
    while bytes < most {
        let slabs = Slabs::new(from, to, options, bytes)?;
        if piece(&slabs) >= enough {
            return Ok(slabs);
        }
        bytes *= 2;
    }
    Ok(largest)
}

/// The bytes of the larger side.
fn size_of(slab: &Slab) -> usize {
    let (from, to) = slab.shapes();
    let bytes = [from, to].map(|shape| shape.byte_size().unwrap_or_default());
    usize::try_from(bytes[0].max(bytes[1])).unwrap_or(usize::MAX)
}

/// What the threads share.
struct Work<'a, 'b, Gather> {
    slabs: Mutex<Enumerate<Slabs>>,
    output: Mutex<Output<'a, 'b>>,
    /// A slab has been written, or nothing more will be.
    written: Condvar,
    gather: Gather,
}

struct Output<'a, 'b> {
    /// The number of the slab that is written next; [`ENDED`] after a failure.
    next: usize,
    write: &'a mut Write<'b>,
}

const ENDED: usize = usize::MAX;

/// What a thread keeps for further slabs of the same shapes: all but the last ones are alike.
struct Prepared {
    plan: Plan,
    source: AlignedBytes,
    result: AlignedBytes,
}

impl<Gather: Fn(&Slab, &mut [u8]) -> Result<(), Failure> + Sync> Work<'_, '_, Gather> {
    /// Makes slabs until there are no more.
    fn run(&self) -> Result<(), Failure> {
        let _guard = Ending(self);
        let mut prepared = None;
        loop {
            let next = lock(&self.slabs).next();
            let Some((number, slab)) = next else { return Ok(()) };
            let made = self.make(&slab, &mut prepared);
            if !self.write(number, made)? {
                return Ok(());
            }
        }
    }

    /// The bytes of a slab of the result.
    fn make<'p>(&self, slab: &Slab, prepared: &'p mut Option<Prepared>) -> Result<&'p [u8], Failure> {
        let (from, to) = slab.shapes();
        // Padding is written with every slab, so what was there before does not show.
        let ready = prepared.take().filter(|ready| (ready.plan.from(), ready.plan.to()) == (from, to));
        let new = || {
            let plan = slab.plan().map_err(Failure::said)?;
            Ok(Prepared { plan, source: super::room(from)?, result: super::room(to)? })
        };
        let Prepared { plan, source, result } = prepared.insert(ready.map_or_else(new, Ok)?);
        (self.gather)(slab, source.as_mut())?;
        plan.run(source.as_ref(), result.as_mut()).map_err(Failure::said)?;
        Ok(AsRef::<[u8]>::as_ref(&*result))
    }

    /// Waits until the slabs before this one are written, and writes it; `false` if one of them failed.
    fn write(&self, number: usize, made: Result<&[u8], Failure>) -> Result<bool, Failure> {
        let is_early = |output: &mut Output<'_, '_>| output.next < number;
        let output = self.written.wait_while(lock(&self.output), is_early);
        let mut output = output.unwrap_or_else(PoisonError::into_inner);
        if output.next != number {
            return Ok(false);
        }
        let done = made.and_then(|bytes| (output.write)(bytes));
        output.next = if done.is_ok() { number + 1 } else { ENDED };
        self.written.notify_all();
        done.map(|()| true)
    }
}

/// Lets nobody wait for a thread that has panicked.
struct Ending<'w, 'a, 'b, Gather>(&'w Work<'a, 'b, Gather>);

impl<Gather> Drop for Ending<'_, '_, '_, Gather> {
    fn drop(&mut self) {
        if panicking() {
            lock(&self.0.output).next = ENDED;
            self.0.written.notify_all();
        }
    }
}

/// Whoever panics ends the whole work, so what it leaves is not used.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::{LONG, NEAR, Options, run, size_of, sized};
    use crate::failure::Failure;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use xla_shape::ArrayShape;
    use xla_shape::relayout::Slab;

    /// How many columns are written of a matrix whose elements are the numbers of their columns, while `fails` may fail slabs that
    /// begin with these columns.
    fn written(fails: impl Fn(&str, usize) -> Result<(), Failure> + Sync) -> (Result<(), Failure>, usize) {
        let [from, to] = ["u8[64,100]", "u8[64,100]{0,1}"].map(|text| text.parse::<ArrayShape>().unwrap());
        let gather = |slab: &Slab, room: &mut [u8]| {
            room.iter_mut().zip(slab.source().flatten()).for_each(|(byte, place)| *byte = (place % 100) as u8);
            fails("read", slab.destination().start / 64)
        };
        let mut count = 0;
        let done = run((&from, &to), &Options::new(), 4 * 64, gather, &mut |bytes| {
            fails("write", count)?;
            for column in bytes.chunks(64) {
                assert_eq!(column, [count as u8; 64]);
                count += 1;
            }
            Ok(())
        });
        (done, count)
    }

    #[test]
    fn slabs_are_written_in_order_until_the_first_failure() {
        for _ in 0..20 {
            let (done, count) = written(|_, _| Ok(()));
            assert!(done.is_ok() && count == 100);
            for fails in ["read", "write"] {
                let fail = |what: &str, number: usize| match number {
                    // Whoever is first to fail is not always the first that fails.
                    32..40 if what == fails => Err(Failure::said(number)),
                    _ => Ok(()),
                };
                let (done, count) = written(fail);
                assert_eq!((done.unwrap_err().message(), count), ("32".to_owned(), 32));
            }
        }
    }

    #[test]
    fn nobody_waits_for_a_thread_that_has_panicked() {
        for fails in ["read", "write"] {
            let panics = |what: &str, number: usize| {
                assert!((what, number) != (fails, 32));
                Ok(())
            };
            assert!(catch_unwind(AssertUnwindSafe(|| written(panics))).is_err());
        }
    }

    #[test]
    fn slabs_are_small_unless_that_cuts_what_is_read_into_short_pieces() {
        for (to, expected) in [
            ("f32[16384,32768]{1,0:T(8,128)}", NEAR),
            ("f32[16384,32768]{1,0}", NEAR),
            // A piece of each row.
            ("f32[16384,32768]{0,1}", 64 << 20),
            ("f32[16384,32768]{0,1:T(8,128)}", 64 << 20),
        ] {
            let [from, to] = ["f32[16384,32768]", to].map(|text| text.parse::<ArrayShape>().unwrap());
            let slab = sized(&from, &to, &Options::new(), 64 << 20).unwrap().next().unwrap();
            assert_eq!(size_of(&slab), expected, "{to}");
        }
        // As long as is worth it, and no longer.
        let [from, to] = ["u8[640,1000000]", "u8[640,1000000]{0,1}"].map(|text| text.parse::<ArrayShape>().unwrap());
        let slab = sized(&from, &to, &Options::new(), 64 << 20).unwrap().next().unwrap();
        let piece = slab.source().next().unwrap().len();
        assert!((LONG..2 * LONG).contains(&piece), "{piece}");
    }
}
