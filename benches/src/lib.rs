//! The timer of the benchmarks.

use std::time::{Duration, Instant};

/// The duration of each measurement.
const DURATION: Duration = Duration::from_millis(500);

/// The shortest time of one run, in seconds. Disturbances only make a run longer.
pub fn time(mut run: impl FnMut()) -> f64 {
    let begin = Instant::now();
    let mut best = f64::INFINITY;
    while begin.elapsed() < DURATION {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}
