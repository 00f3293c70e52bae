//! Reading, copying and writing at the same time.

use crate::access::{Anywhere, CALL, InOrder, Sink, reading_effort};
use crate::error::Error;
use std::iter::{Enumerate, successors};
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, available_parallelism, panicking, scope};
use xla_shape::ArrayShape;
use xla_shape::buffer::AlignedBytes;
use xla_shape::relayout::{Options, Plan, RelayoutError, Slab, Slabs};

/// The size of slabs, in bytes, where a slab has long pieces in both files. The source and the result of a slab fit in the L2 cache
/// together, so the copy does not wait for main memory, and neither does the write to the file.
const NEAR: usize = 1 << 20;

/// The system lets one thread write to a file at a time. Writing is a quarter of the work or more, so further threads would wait.
const MAX_THREADS: usize = 4;

/// The memory of slabs, kept from one array to the next: the system clears new memory, which takes almost as long as a copy.
#[derive(Default)]
pub(crate) struct Memory(Mutex<Vec<Buffers>>);

/// The buffers that a thread fills for one slab after another. They still contain the bytes of earlier slabs.
#[derive(Default)]
struct Buffers {
    source: Option<AlignedBytes>,
    result: Option<AlignedBytes>,
    /// For `gather`, which reads more than it needs if that saves system calls.
    scratch: Vec<u8>,
}

impl Memory {
    /// The most bytes of a buffer that is kept. With this limit, all threads together keep less than one large slab takes.
    const KEPT: usize = 2 * NEAR;

    fn take(&self) -> Buffers {
        lock(&self.0).pop().unwrap_or_default()
    }

    fn keep(&self, mut buffers: Buffers) {
        for buffer in [&mut buffers.source, &mut buffers.result] {
            _ = buffer.take_if(|bytes| bytes.as_ref().len() > Self::KEPT);
        }
        lock(&self.0).push(buffers);
    }
}

/// The memory for an array, in a buffer that is replaced if it is too small.
fn room<'b>(buffer: &'b mut Option<AlignedBytes>, array: &ArrayShape) -> Result<&'b mut [u8], Error> {
    let out_of_memory = || Error::OutOfMemory { array: array.clone().into() };
    let bytes = usize::try_from(array.byte_size().unwrap_or_default()).map_err(|_| out_of_memory())?;
    let known = buffer.take().filter(|known| known.as_ref().len() >= bytes);
    // The buffer has at least `NEAR` bytes, because the next array may be larger. Pages that nothing writes cost nothing.
    let new = || AlignedBytes::zeroed(bytes.max(NEAR)).map_err(|_| out_of_memory());
    Ok(&mut buffer.insert(known.map_or_else(new, Ok)?).as_mut()[..bytes])
}

/// Copies an array in slabs. Each of several threads takes the next slab, gathers its source, copies it, and writes the result
/// where it belongs. If the sink takes bytes in order, the thread first waits until all slabs before it are written. The options must fill padding.
/// Together, the threads hold about `most` bytes of the source and as many of the result, or one slab if that is larger. `gather` fills
/// its slice with the slab's source, and may use its vector as scratch space.
///
/// # Errors
/// One of the errors. If the result is written in order, it is the error of the first slab that failed, and nothing is written after
/// it.
pub(crate) fn run(
    (from, to): (&ArrayShape, &ArrayShape),
    options: &Options,
    (most, memory): (usize, &Memory),
    gather: impl Fn(&Slab, &mut [u8], &mut Vec<u8>) -> Result<(), Error> + Sync,
    sink: Sink<'_>,
) -> Result<(), Error> {
    let threads = available_parallelism().map_or(1, NonZeroUsize::get).min(MAX_THREADS);
    let is_in_order = matches!(sink, Sink::InOrder(_));
    let slabs = sized(from, to, options, (most / threads).max(1), is_in_order).map_err(Error::Relayout)?;
    let size = slabs.clone().next().map_or(0, |slab| size_of(&slab));
    // Where an array cannot be cut, slabs are larger than requested.
    let threads = slabs.clone().take(threads.min(most / size.max(1))).count();
    let output = match sink {
        Sink::InOrder(write) => Output::InOrder(Mutex::new(Turn { next: 0, write }), Condvar::new()),
        Sink::Anywhere(write) => Output::Anywhere(write),
    };
    let is_copy = from == to && *options == Options::new().zero_padding() && has_only_elements(from);
    let work = Work { slabs: Mutex::new(Some(slabs.enumerate())), is_copy, memory, output, gather };
    scope(|scope| {
        // If the system refuses to start a thread, the others do the work.
        let others = (1..threads).map_while(|_| Builder::new().spawn_scoped(scope, || work.run()).ok());
        let others = others.collect::<Vec<_>>();
        let own = work.run();
        others.into_iter().fold(own, |done, other| done.and(other.join().unwrap_or_else(|panic| resume_unwind(panic))))
    })
}

/// Slabs of at most `most` bytes. The size with the least effort is taken, but a larger size is preferred only if it saves 5 %.
fn sized(
    from: &ArrayShape,
    to: &ArrayShape,
    options: &Options,
    most: usize,
    is_in_order: bool,
) -> Result<Slabs, RelayoutError> {
    let in_order = Slabs::new(from, to, options, most)?;
    let whole = from.byte_size().max(to.byte_size()).unwrap_or_default();
    let whole = usize::try_from(whole).unwrap_or(usize::MAX);
    // Each size is twice the one before.
    let sizes =
        |first, end| successors(Some(first), |size: &usize| size.checked_mul(2)).take_while(move |&size| size < end);
    let mut best: Option<(f64, Slabs)> = None;
    for bytes in sizes(NEAR, most.min(whole)).chain([most]) {
        // `cuts` goes from slabs that are cut only along the destination to slabs that are cut only along the source.
        let on_source = if is_in_order { 0..0 } else { bytes..whole };
        let cuts = [usize::MAX].into_iter().chain(sizes(on_source.start, on_source.end));
        let slabs = cuts.map(|source| in_order.in_any_order(source, bytes));
        let efforts = slabs.filter_map(|slabs| Some((effort(&slabs.clone().next()?, bytes), slabs)));
        let Some(least) = efforts.min_by(|(a, _), (b, _)| a.total_cmp(b)) else { continue };
        if best.as_ref().is_none_or(|(effort, _)| least.0 < effort * 0.95) {
            best = Some(least);
        }
    }
    Ok(best.map_or(in_order, |(_, slabs)| slabs))
}

/// The effort of a slab, divided by its bytes. The unit is the effort to read one byte.
fn effort(slab: &Slab, most: usize) -> f64 {
    // A call that writes counts twice as much as one that reads: only one thread writes at a time.
    const WRITE: u64 = 2 * CALL;
    let bytes = size_of(slab);
    let writes = WRITE.saturating_mul(slab.destination().len() as u64);
    let more = reading_effort(slab.source()).saturating_add(writes);
    // Slabs that are larger than requested are taken only where there are no smaller ones.
    let excess = (bytes as f64 / most as f64).max(1.0);
    (2.0 + more as f64 / bytes as f64) * excess
}

/// The bytes of the larger side.
fn size_of(slab: &Slab) -> usize {
    let (from, to) = slab.shapes();
    let bytes = [from, to].map(|shape| shape.byte_size().unwrap_or_default());
    usize::try_from(bytes[0].max(bytes[1])).unwrap_or(usize::MAX)
}

/// Whether every bit of an array belongs to an element.
fn has_only_elements(array: &ArrayShape) -> bool {
    let bits = |count: Option<u64>, each| count.and_then(|count| count.checked_mul(each));
    bits(array.elements(), array.element_type().bits()) == bits(array.byte_size(), 8)
}

/// What the threads share.
struct Work<'a, Gather> {
    /// The slabs that no thread has taken; `None` after an error.
    slabs: Mutex<Option<Enumerate<Slabs>>>,
    /// Whether the result has the bytes of the source.
    is_copy: bool,
    memory: &'a Memory,
    output: Output<'a>,
    gather: Gather,
}

enum Output<'a> {
    /// Which slab is next, and the condition variable that signals a change of it.
    InOrder(Mutex<Turn<'a>>, Condvar),
    Anywhere(&'a Anywhere<'a>),
}

struct Turn<'a> {
    /// The number of the slab that is written next; [`ENDED`] after an error.
    next: usize,
    write: &'a mut InOrder<'a>,
}

const ENDED: usize = usize::MAX;

impl<Gather: Fn(&Slab, &mut [u8], &mut Vec<u8>) -> Result<(), Error> + Sync> Work<'_, Gather> {
    /// Copies slabs until there are no more.
    fn run(&self) -> Result<(), Error> {
        let _guard = Ending(self);
        let mut buffers = self.memory.take();
        // All slabs except the last ones have the same plan.
        let mut plan = None;
        loop {
            let next = lock(&self.slabs).as_mut().and_then(Iterator::next);
            let Some((number, slab)) = next else { break };
            let made = self.make(&slab, &mut plan, &mut buffers);
            let done = match &self.output {
                Output::InOrder(turn, others) => write_in_turn(turn, others, number, made),
                Output::Anywhere(write) => made.and_then(|bytes| scatter(&slab, bytes, write)),
            };
            if done.is_err() {
                self.end();
                return done;
            }
        }
        self.memory.keep(buffers);
        Ok(())
    }

    /// Gathers a slab and copies it; gives the bytes of the result.
    fn make<'b>(&self, slab: &Slab, plan: &mut Option<Plan>, buffers: &'b mut Buffers) -> Result<&'b [u8], Error> {
        let (from, to) = slab.shapes();
        let Buffers { source, result, scratch } = buffers;
        let source = room(source, from)?;
        (self.gather)(slab, source, scratch)?;
        if self.is_copy {
            return Ok(source);
        }
        let known = plan.take().filter(|plan| (plan.from(), plan.to()) == (from, to));
        let plan = plan.insert(known.map_or_else(|| slab.plan(), Ok).map_err(Error::Relayout)?);
        // It writes the padding, too, so nothing remains of the slab before.
        let result = room(result, to)?;
        plan.run(source, result).map_err(Error::Relayout)?;
        Ok(result)
    }
}

impl<Gather> Work<'_, Gather> {
    /// Ends the work: no thread takes another slab or waits for its turn.
    fn end(&self) {
        *lock(&self.slabs) = None;
        if let Output::InOrder(turn, others) = &self.output {
            lock(turn).next = ENDED;
            others.notify_all();
        }
    }
}

/// Waits until the slabs before this one are written, then writes it; does nothing if one of them failed.
fn write_in_turn(
    turn: &Mutex<Turn<'_>>,
    others: &Condvar,
    number: usize,
    made: Result<&[u8], Error>,
) -> Result<(), Error> {
    let is_early = |turn: &mut Turn<'_>| turn.next < number;
    let mut turn = others.wait_while(lock(turn), is_early).unwrap_or_else(PoisonError::into_inner);
    if turn.next != number {
        return Ok(());
    }
    // If this slab fails, the other threads must find the work ended as soon as the lock is released.
    turn.next = ENDED;
    (turn.write)(made?)?;
    turn.next = number + 1;
    others.notify_all();
    Ok(())
}

/// Writes the pieces of a slab where they belong.
fn scatter(slab: &Slab, mut bytes: &[u8], write: &Anywhere<'_>) -> Result<(), Error> {
    for place in slab.destination() {
        let (piece, rest) = bytes.split_at(place.len());
        write(place.start, piece)?;
        bytes = rest;
    }
    Ok(())
}

/// Ends the work if its thread panics, so that no other thread waits for it.
struct Ending<'w, 'a, Gather>(&'w Work<'a, Gather>);

impl<Gather> Drop for Ending<'_, '_, Gather> {
    fn drop(&mut self) {
        if panicking() {
            self.0.end();
        }
    }
}

/// Locks a mutex, poisoned or not: after a panic, the work ends and nothing of it is used.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::{InOrder, Memory, NEAR, Options, Sink, run, size_of, sized};
    use crate::error::Error;
    use std::io;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Mutex;
    use xla_shape::ArrayShape;
    use xla_shape::relayout::Slab;

    fn said(what: impl ToString) -> Error {
        Error::Read { path: "in".into(), error: io::Error::other(what.to_string()) }
    }

    fn message(error: &Error) -> String {
        error.io().unwrap().1.to_string()
    }

    /// Transposes a matrix of 64 rows and 100 columns, in slabs of 4 columns. Each element is the number of its column. `fails` is called
    /// with the first column of each slab; if it returns an error, the slab fails with it.
    fn transpose(fails: impl Fn(&str, usize) -> Result<(), Error> + Sync, sink: Sink<'_>) -> Result<(), Error> {
        let [from, to] = ["u8[64,100]", "u8[64,100]{0,1}"].map(|text| text.parse::<ArrayShape>().unwrap());
        let gather = |slab: &Slab, room: &mut [u8], _: &mut Vec<u8>| {
            room.iter_mut().zip(slab.source().flatten()).for_each(|(byte, place)| *byte = (place % 100) as u8);
            fails("read", slab.source().next().unwrap().start % 100)
        };
        run((&from, &to), &Options::new(), (4 * 64, &Memory::default()), gather, sink)
    }

    /// The same with an output that is written in order; also returns how many columns were written.
    fn in_order(fails: impl Fn(&str, usize) -> Result<(), Error> + Sync) -> (Result<(), Error>, usize) {
        let mut count = 0;
        let write: &mut InOrder<'_> = &mut |bytes| {
            fails("write", count)?;
            for column in bytes.chunks(64) {
                assert_eq!(column, [count as u8; 64]);
                count += 1;
            }
            Ok(())
        };
        (transpose(&fails, Sink::InOrder(write)), count)
    }

    #[test]
    fn slabs_are_written_in_order_until_the_first_failure() {
        for _ in 0..20 {
            let (done, count) = in_order(|_, _| Ok(()));
            assert!(done.is_ok() && count == 100);
            for fails in ["read", "write"] {
                let fail = |what: &str, number: usize| match number {
                    // The first error in time is not always the first in order.
                    32..40 if what == fails => Err(said(number)),
                    _ => Ok(()),
                };
                let (done, count) = in_order(fail);
                assert_eq!((message(&done.unwrap_err()), count), ("32".to_owned(), 32));
            }
        }
    }

    #[test]
    fn slabs_are_written_to_where_they_belong() {
        let result = Mutex::new(vec![0; 6400]);
        let write = |place: usize, bytes: &[u8]| {
            result.lock().unwrap()[place..place + bytes.len()].copy_from_slice(bytes);
            Ok(())
        };
        transpose(|_, _| Ok(()), Sink::Anywhere(&write)).unwrap();
        assert!(result.into_inner().unwrap().chunks(64).enumerate().all(|(column, found)| found == [column as u8; 64]));
        let fail = |what: &str, number: usize| match (what, number) {
            ("read", 32..) => Err(said("no more")),
            _ => Ok(()),
        };
        let done = transpose(fail, Sink::Anywhere(&|_, _| Ok(())));
        assert_eq!(message(&done.unwrap_err()), "no more");
        assert!(transpose(|_, _| Ok(()), Sink::Anywhere(&|_, _| Err(said("full")))).is_err());
    }

    /// The buffers are full of an earlier array's bytes, and none of them get into the next array: its padding is 0.
    #[test]
    fn memory_is_used_again_and_nothing_of_it_remains() {
        let memory = Memory::default();
        let made = |from: &str, to: &str, byte: u8| {
            let [from, to] = [from, to].map(|text| text.parse::<ArrayShape>().unwrap());
            let mut made = Vec::new();
            let gather = |_: &Slab, room: &mut [u8], _: &mut Vec<u8>| {
                room.fill(byte);
                Ok(())
            };
            let append: &mut InOrder<'_> = &mut |bytes| {
                made.extend_from_slice(bytes);
                Ok(())
            };
            run((&from, &to), &Options::new().zero_padding(), (NEAR, &memory), gather, Sink::InOrder(append)).unwrap();
            made
        };
        for (from, to) in [("u8[64,64]", "u8[64,64]{0,1}"), ("u8[5,3]", "u8[5,3]")] {
            assert!(made(from, to, 0xff).iter().all(|&byte| byte == 0xff));
        }
        let tiled = "u8[5,3]{1,0:T(4,4)}";
        for from in ["u8[5,3]", tiled] {
            let made = made(from, tiled, 7);
            assert_eq!((made.len(), made.iter().map(|&byte| usize::from(byte)).sum()), (32, 5 * 3 * 7), "{from}");
        }
        assert!(memory.0.lock().unwrap().iter().any(|buffers| buffers.source.is_some() && buffers.result.is_some()));
    }

    #[test]
    fn nobody_waits_for_a_thread_that_has_panicked() {
        for fails in ["read", "write"] {
            let panics = |what: &str, number: usize| {
                assert!((what, number) != (fails, 32));
                Ok(())
            };
            assert!(catch_unwind(AssertUnwindSafe(|| in_order(panics))).is_err());
        }
        let anywhere = || transpose(|_, _| Ok(()), Sink::Anywhere(&|place, _| panic!("at {place}")));
        assert!(catch_unwind(AssertUnwindSafe(anywhere)).is_err());
    }

    #[test]
    fn slabs_are_small_unless_that_cuts_either_side_into_short_pieces() {
        const MIB: usize = 1 << 20;
        // The bytes of a slab, and of its pieces in either file.
        for (from, to, is_in_order, expected) in [
            ("f32[16384,32768]", "{1,0:T(8,128)}", true, [NEAR, NEAR, NEAR]),
            ("f32[16384,32768]", "{1,0:T(8,128)}", false, [NEAR, NEAR, NEAR]),
            // Short pieces of rows, short pieces of columns, or neither.
            ("f32[16384,32768]", "{0,1}", true, [64 * MIB, 4 << 10, 64 * MIB]),
            ("f32[16384,32768]", "{0,1}", false, [64 * MIB, 16 << 10, 16 << 10]),
            ("f32[524288,1024]", "{0,1}", true, [64 * MIB, 128, 64 * MIB]),
            ("f32[524288,1024]", "{0,1}", false, [64 * MIB, 64 * MIB, 64 << 10]),
            ("f32[1024,524288]", "{0,1}", false, [32 * MIB, 32 << 10, 32 * MIB]),
            // A transpose of each of two matrices, and of each of many.
            ("f32[2,16384,16384]", "{1,2,0}", false, [64 * MIB, 16 << 10, 16 << 10]),
            ("bf16[4,32768,16384]", "{1,2,0}", false, [64 * MIB, 8 << 10, 16 << 10]),
            ("f32[4096,256,512]", "{1,2,0}", false, [NEAR, NEAR, NEAR]),
            // A few long pieces cost little.
            ("f32[100000000,4]", "{0,1}", false, [NEAR, NEAR, NEAR / 4]),
            // Short pieces that lie close together are read with one call, but each is written with a call of its own.
            ("u8[128,128,128,128,8]", "{0,1,2,3,4}", false, [4 * MIB, 1, 4 * MIB]),
            // The array cannot be cut.
            ("u8[8388608]", "{0:T(8388608)}", false, [8 * MIB, 8 * MIB, 8 * MIB]),
        ] {
            let from = from.parse::<ArrayShape>().unwrap();
            let to = from.clone().with_layout(to.parse().unwrap()).unwrap();
            let slabs = sized(&from, &to, &Options::new(), 64 * MIB, is_in_order).unwrap();
            let slab = slabs.clone().next().unwrap();
            let pieces = [slab.source().next(), slab.destination().next()].map(|piece| piece.unwrap().len());
            assert_eq!([size_of(&slab), pieces[0], pieces[1]], expected, "{from} to {to}");
        }
    }
}
