//! The order of blocks, compared with a slow, independent count of the bundles and the copies. For the candidates of 28 kernels,
//! `scripts/data/block_ranking.py` executed libtpu's bundles step by step, and evaluated JAX's index maps.

use serde::Deserialize;
use xla_shape_answers::rank::{Figures, Ranking, Row, Tried};
use xla_shape_answers::search::Axis;
use xla_shape_core::tpu::Generation;
use xla_shape_mosaic::kernels;
use xla_shape_tests::{corpus, is_thorough};

#[derive(Deserialize)]
struct Recorded {
    kernel: String,
    #[serde(rename = "for")]
    device: String,
    candidates: Vec<Candidate>,
}

#[derive(Deserialize)]
struct Candidate {
    /// The compiled candidate; `None` if the compiler refused it.
    #[serde(flatten)]
    compiled: Option<Compiled>,
}

#[derive(Deserialize)]
struct Compiled {
    bundles: String,
    mosaic: String,
    /// The number of bundles that execute.
    executed: u64,
    /// The bytes that the grid copies.
    copied: u64,
    /// The bytes copied before its first step, and those after its last one.
    first: u64,
    last: u64,
}

impl Compiled {
    /// The figures that this project reads from the compiler's files.
    fn read(&self, generation: Generation) -> Figures {
        let bundles = whole(&self.bundles);
        let files = [("llo.k.final_bundles.txt", &*bundles), ("mosaic.k.post-relayout-insertion.txt", &*self.mosaic)];
        Figures::new(&kernels(&files), generation)
    }

    /// The least time, computed from the independent counts.
    fn seconds(&self, generation: Generation) -> f64 {
        let speed = generation.speed().unwrap();
        let bandwidth = (speed.hbm_bandwidth * generation.cores_per_device()) as f64;
        let bundles = self.executed as f64 / speed.clock as f64;
        (self.copied as f64 / bandwidth).max((self.first + self.last) as f64 / bandwidth + bundles)
    }
}

/// Expands a shortened file of bundles: `12 >` stands for twelve non-empty bundles in a loop, `12 -` for twelve non-empty ones outside loops, and
/// `12` for twelve empty ones.
fn whole(reduced: &str) -> String {
    let (mut text, mut address) = (String::new(), 0_u64);
    let mut add = |bundle: &str| {
        text.push_str(&format!("{address:#x} {bundle}\n"));
        address += 1;
    };
    for line in reduced.lines() {
        let words: Vec<_> = line.split(' ').filter(|word| !word.is_empty()).collect();
        match words[..] {
            [count] if !line.contains('{') => (0..count.parse().unwrap()).for_each(|_| add(":  {}")),
            [count, marks] if !line.contains('{') => {
                let bundle = format!(": {} {{ %1 = vother }}", marks.trim_matches('-'));
                (0..count.parse().unwrap()).for_each(|_| add(&bundle));
            }
            _ => add(line),
        }
    }
    text
}

/// Compares our counts with the independent ones. `cargo test` reads only one candidate of each kernel, the one with the fewest bundles, because
/// reading all takes minutes without optimization. `scripts/laws.sh` reads all, and also checks that our first candidate is the best by the
/// independent count.
#[test]
fn bundles_copies_and_the_best_candidate_are_those_of_an_independent_count() {
    let recorded: Vec<Recorded> = corpus("block_ranking.jsonl.zst");
    assert_eq!(recorded.len(), 28);
    for case in &recorded {
        let name = &case.kernel;
        let generation: Generation = case.device.parse().unwrap();
        let mut compiled: Vec<_> = case.candidates.iter().filter_map(|candidate| candidate.compiled.as_ref()).collect();
        if !is_thorough() {
            compiled.sort_by_key(|made| made.executed);
            compiled.truncate(1);
        }
        let tried = compiled.iter().enumerate().map(|(at, made)| {
            let figures = made.read(generation);
            assert_eq!(figures.copied_bytes, Some(made.copied), "{name}");
            // The four or six bundles after a taken branch also execute, but our bound does not count them.
            let (bundles, executed) = (figures.bundles.unwrap(), made.executed);
            assert!(bundles <= executed && bundles * 100 >= executed * 93, "{name}: {bundles} of {executed}");
            Tried { at: vec![at], made: Ok(figures) }
        });
        let axis = Axis::new("candidate", (0..compiled.len()).map(|at| at.to_string()));
        let ranking = Ranking::new(&case.device, vec![axis], tried.collect());
        let seconds = |row: &Row| compiled[row.setting["candidate"].parse::<usize>().unwrap()].seconds(generation);
        let times: Vec<_> = ranking.ranked().map(seconds).collect();
        assert_eq!(times.len(), compiled.len(), "{name}");
        assert!(times.iter().all(|time| *time >= times[0]), "{name}: {times:?}");
    }
}
