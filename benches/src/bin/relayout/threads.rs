//! Measures the gain of several threads.

use crate::bytes;
use crate::cases::Case;
use serde::Serialize;
use std::fmt;
use std::hint::black_box;
use std::thread::available_parallelism;
use std::time::Instant;
use xla_shape::buffer::AlignedBytes;
use xla_shape::relayout::{Caches, Plan};

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

/// Several threads may take at most this many times as long as one.
const SLOWER: f64 = 1.05;

/// The destinations into which the arrays of a case are copied.
const DESTINATIONS: [&str; 2] = ["given memory", "new memory"];

/// The shortest times of a case, in seconds: for each destination, that of one thread and that of all.
#[derive(Clone, Copy)]
struct Times([[f64; 2]; 2]);

impl Times {
    /// The shorter time of two measurements, for each: disturbances only make a run longer.
    fn shortest(self, other: Self) -> Self {
        let mut times = self;
        let all = times.0.as_flattened_mut().iter_mut().zip(other.0.as_flattened());
        all.for_each(|(time, other)| *time = time.min(*other));
        times
    }

    /// The time of all threads relative to that of one, for each destination.
    fn ratios(self) -> [f64; 2] {
        self.0.map(|[one, all]| all / one)
    }

    /// Whether several threads take longer than allowed, for some destination.
    fn are_slower(self) -> bool {
        self.ratios().iter().any(|ratio| *ratio > SLOWER)
    }
}

/// Compares one thread with as many threads as there are processors. For each case, prints the ratio of the times, into given memory and into
/// new memory. If several threads take over 5 % longer, the case is measured twice more. Then prints the cases that are still slower.
/// Returns whether there are none.
pub(crate) fn compare<'a>(cases: impl Iterator<Item = &'a Case>, rounds: usize) -> bool {
    let processors = available_parallelism().map_or(1, |threads| threads.get());
    let helpers = processors - 1;
    println!("{processors} processors, {:?}; all threads relative to one", Caches::get());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(helpers.max(1)).build().expect("threads can be had");
    let (mut count, mut slower, mut gains) = (0, Vec::new(), [0.0, 0.0]);
    for case in cases {
        let mut times = measure(case, rounds, helpers, &pool);
        for _ in 0..2 {
            if times.are_slower() {
                times = times.shortest(measure(case, 2 * rounds, helpers, &pool));
            }
        }
        count += 1;
        let ratios = times.ratios();
        gains.iter_mut().zip(ratios).for_each(|(gain, ratio)| *gain -= ratio.ln());
        for (name, ([one, _], ratio)) in DESTINATIONS.iter().zip(times.0.into_iter().zip(ratios)) {
            print!("{name} {ratio:.2} of {:6.2} ms  ", one * 1e3);
            if ratio > SLOWER {
                slower.push((*name, ratio, &case.name));
            }
        }
        println!("{}", case.name);
    }
    for (name, gain) in DESTINATIONS.iter().zip(gains) {
        println!(
            "{name}: all threads are {:.2} times as fast as one, in the geometric mean",
            (gain / count.max(1) as f64).exp()
        );
    }
    let may = (SLOWER - 1.0) * 100.0;
    if slower.is_empty() {
        println!("holds: in none of {count} cases do all threads take more than {may:.0} % longer than one");
    } else {
        println!(
            "does not hold: in {} of {} measurements, all threads take more than {may:.0} % longer",
            slower.len(),
            2 * count
        );
        slower.iter().for_each(|(name, ratio, case)| println!("  {ratio:.2} into {name}  {case}"));
    }
    slower.is_empty()
}

fn measure(case: &Case, rounds: usize, helpers: usize, pool: &rayon::ThreadPool) -> Times {
    let plan = Plan::new(&case.from, &case.to, &case.options).expect("the cases go together");
    let [from_bytes, to_bytes] =
        [&case.from, &case.to].map(|shape| shape.byte_size().expect("sizes are static") as usize);
    let (source, mut destination) = (bytes(from_bytes), bytes(to_bytes));
    let (source, spawn) = (source.as_ref(), |help| pool.spawn(help));
    let given = alternating(rounds, |with_helpers| match with_helpers {
        false => plan.run(source, destination.as_mut()).expect("sizes are right"),
        true => plan.run_helped(source, destination.as_mut(), helpers, spawn).expect("sizes are right"),
    });
    let new = alternating(rounds, |with_helpers| {
        let made: AlignedBytes = match with_helpers {
            false => plan.run_new(source, |_| {}).expect("there is memory"),
            true => plan.run_new_helped(source, |_| {}, helpers, spawn).expect("there is memory"),
        };
        black_box(made);
    });
    Times([given, new])
}

/// The shortest time with one thread, and with all. The two take turns.
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
