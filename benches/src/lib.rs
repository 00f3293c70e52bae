//! What the measurements share.

use std::time::{Duration, Instant};

/// How long each measurement goes on.
const PATIENCE: Duration = Duration::from_millis(500);

/// The shortest time of one run, in seconds: what disturbs a run only makes it longer.
pub fn time(mut run: impl FnMut()) -> f64 {
    let begin = Instant::now();
    let mut best = f64::INFINITY;
    while begin.elapsed() < PATIENCE {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}
