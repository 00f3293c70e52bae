//! The bytes that the grids of kernels copy, compared with a simulation of each grid in Python, with the program's index maps.

use serde::Deserialize;
use xla_shape_mosaic::Transfers;
use xla_shape_tests::corpus;

#[derive(Deserialize)]
struct Row {
    text: String,
    windows: Vec<(u64, u64, bool)>,
    steps: Vec<[u64; 2]>,
}

#[test]
fn copies_are_those_of_a_simulation_of_the_grid() {
    let rows: Vec<Row> = corpus("kernel_transfers.jsonl.zst");
    assert!(rows.len() >= 60);
    for Row { text, windows, steps } in rows {
        let transfers = Transfers::read(&text).unwrap().unwrap_or_else(|| panic!("not understood: {text}"));
        let found = transfers.windows.iter().map(|window| (window.bytes, window.times, window.is_written));
        assert_eq!(found.collect::<Vec<_>>(), windows, "{text}");
        assert_eq!(transfers.steps(), steps, "{text}");
        let sum = steps.iter().flatten().sum::<u64>();
        assert_eq!(transfers.bytes(), sum);
        assert!(!transfers.has_own && transfers.windows.iter().all(|window| !window.is_assumed));
        // The least time is at least the time of the copies alone, at least the time of the bundles alone, and at most the sum of both.
        let (bundles, clock, bandwidth) = (1_000_000, 1e9, 1e9);
        let (copies, body) = (sum as f64 / bandwidth, bundles as f64 / clock);
        let least = transfers.least_seconds(bundles, clock, bandwidth);
        assert!(least >= copies.max(body) * (1.0 - 1e-9) && least <= (copies + body) * (1.0 + 1e-9), "{least}");
    }
}
