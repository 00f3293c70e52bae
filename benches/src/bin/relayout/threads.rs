//! The gain of two threads.

use serde::Serialize;
use std::fmt;
use std::hint::black_box;
use std::time::Instant;
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
