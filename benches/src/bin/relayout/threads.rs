//! The gain of threads.

use crate::bytes;
use crate::cases::Case;
use serde::Serialize;
use std::fmt;
use std::hint::black_box;
use std::thread::available_parallelism;
use std::time::Instant;
use xla_shape::buffer::AlignedBytes;
use xla_shape::relayout::Plan;

/// The speed of two threads relative to one. The gain of two threads that only copy is the upper limit.
#[derive(Serialize)]
pub(crate) struct TwoThreads {
    relayout: f64,
    memcpy: f64,
    streaming_copy: f64,
}

/// A source and its destination.
pub(crate) type Buffers<'a> = (&'a [u8], &'a mut [u8]);

impl TwoThreads {
    /// All take turns without pauses, because a processor that was idle is slow at first.
    pub(crate) fn measure(
        rounds: usize,
        (plan, own): (&Plan, Buffers<'_>),
        (copy, flat): (&Plan, Buffers<'_>),
    ) -> Self {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("two threads can be had");
        let one = |plan: &Plan, (from, to): (&[u8], &mut [u8])| plan.run(from, to).expect("sizes are right");
        let two = |plan: &Plan, (from, to): (&[u8], &mut [u8])| {
            pool.install(|| plan.run_in_parallel(from, to)).expect("sizes are right");
        };
        let halves = |(from, to): (&[u8], &mut [u8])| {
            let half = from.len() / 2;
            let (a, b) = to.split_at_mut(half);
            pool.join(|| a.copy_from_slice(&from[..half]), || b.copy_from_slice(&from[half..]));
        };
        let mut best = [f64::INFINITY; 6];
        for _ in 0..rounds {
            for (number, best) in best.iter_mut().enumerate() {
                let own = (black_box(own.0), black_box(&mut *own.1));
                let flat = (black_box(flat.0), black_box(&mut *flat.1));
                let start = Instant::now();
                match number {
                    0 => one(plan, own),
                    1 => two(plan, own),
                    2 => flat.1.copy_from_slice(flat.0),
                    3 => halves(flat),
                    4 => one(copy, flat),
                    _ => two(copy, flat),
                }
                *best = best.min(start.elapsed().as_secs_f64());
            }
        }
        let [relayout, memcpy, streaming_copy] = [0, 2, 4].map(|one| best[one] / best[one + 1]);
        Self { relayout, memcpy, streaming_copy }
    }
}

impl fmt::Display for TwoThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { relayout, memcpy, streaming_copy } = self;
        write!(f, "2 threads {relayout:.2} x (memcpy {memcpy:.2} x, streaming copy {streaming_copy:.2} x)")
    }
}

/// How much longer than one thread the threads of a process may take.
const SLOWER: f64 = 1.05;

/// Prints the time that as many threads as there are processors take for each case, relative to that of one: into given memory, and into new
/// memory. At the end, in how many cases they take more than a twentieth longer.
pub(crate) fn compare<'a>(cases: impl Iterator<Item = &'a Case>, rounds: usize) {
    let helpers = available_parallelism().map_or(1, |threads| threads.get()) - 1;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(helpers.max(1)).build().expect("threads can be had");
    let (mut count, mut slower) = (0, [0; 2]);
    for case in cases {
        let plan = Plan::new(&case.from, &case.to, &case.options).expect("the cases go together");
        let [from_bytes, to_bytes] =
            [&case.from, &case.to].map(|shape| shape.byte_size().expect("sizes are static") as usize);
        let (source, mut destination) = (bytes(from_bytes), bytes(to_bytes));
        let (source, spawn) = (source.as_ref(), |help| pool.spawn(help));
        let times = [
            alternating(rounds, |with_helpers| match with_helpers {
                false => plan.run(source, destination.as_mut()).expect("sizes are right"),
                true => plan.run_helped(source, destination.as_mut(), helpers, spawn).expect("sizes are right"),
            }),
            alternating(rounds, |with_helpers| {
                let made: AlignedBytes = match with_helpers {
                    false => plan.run_new(source, |_| {}).expect("there is memory"),
                    true => plan.run_new_helped(source, |_| {}, helpers, spawn).expect("there is memory"),
                };
                black_box(made);
            }),
        ];
        let ratios = times.map(|[one, all]| all / one);
        count += 1;
        slower.iter_mut().zip(ratios).for_each(|(slower, ratio)| *slower += usize::from(ratio > SLOWER));
        let [given, new] = ratios;
        let [[one, _], [one_new, _]] = times.map(|times| times.map(|seconds| seconds * 1e3));
        println!("given {given:.2} of {one:6.2} ms  new {new:.2} of {one_new:6.2} ms  {}", case.name);
    }
    let [given, new] = slower;
    println!("\nof {count} cases, {given} took longer into given memory, {new} into new memory");
}

/// The shortest time of one thread and of all, which take turns.
fn alternating(rounds: usize, mut run: impl FnMut(bool)) -> [f64; 2] {
    let mut best = [f64::INFINITY; 2];
    for _ in 0..rounds {
        for (with_helpers, best) in [false, true].into_iter().zip(&mut best) {
            let start = Instant::now();
            run(with_helpers);
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    best
}
