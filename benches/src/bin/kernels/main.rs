//! How fast kernels and single accesses are: `cargo run --release --manifest-path benches/Cargo.toml --bin kernels -- [--json] [--rounds N] [FILTER]`.
//!
//! The contenders of a case take turns, so that disturbances affect all of them; figures are medians over the rounds. A line gives the
//! library's time relative to another contender, and the goal: below 1, the library is faster. First, the results of all contenders of a
//! case are compared.

mod access;
mod arrays;
mod copies;
mod nests;
mod numbers;
mod turn;
mod walk;

use serde::Serialize;
use std::time::Duration;
use turn::{Contender, Turn};

/// Contenders with the same task.
struct Case {
    name: String,
    /// The elements that one call processes.
    elements: usize,
    contenders: Vec<(&'static str, Contender)>,
    ratios: Vec<Ratio>,
}

/// The time of the first contender relative to the second, and the goal.
#[derive(Clone, Copy)]
struct Ratio(&'static str, &'static str, f64);

/// A measured [`Ratio`].
#[derive(Serialize)]
struct Line<'a> {
    case: &'a str,
    of: &'a str,
    to: &'a str,
    ratio: f64,
    goal: f64,
    /// The time of each contender.
    ns_per_element: [f64; 2],
}

fn main() {
    let (mut json, mut rounds, mut filter) = (false, 25, String::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => json = true,
            "--rounds" => rounds = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(rounds),
            _ => filter = argument,
        }
    }
    for mut case in arrays::cases()
        .into_iter()
        .chain(access::cases())
        .chain(nests::cases())
        .chain(copies::cases())
        .filter(|case| case.name.contains(&filter))
    {
        for line in case.measure(rounds) {
            if json {
                println!("{}", serde_json::to_string(&line).expect("figures have no maps with odd keys"));
            } else {
                let Line { case, of, to, ratio, goal, ns_per_element: [ours, theirs] } = line;
                let missed = if ratio > goal { "  missed" } else { "" };
                println!(
                    "{ratio:6.3} (goal {goal:<5})  {of} / {to}: {case}  {ours:.3} / {theirs:.3} ns per element{missed}"
                );
            }
        }
    }
}

/// The length of a contender's turn.
const TURN: Duration = Duration::from_millis(2);

impl Case {
    fn measure(&mut self, rounds: usize) -> Vec<Line<'_>> {
        let mut expected: Option<Vec<f32>> = None;
        let mut repeats = Vec::new();
        for (name, contender) in &mut self.contenders {
            let mut turn = Turn { repeat: 1, check: true, time: Duration::ZERO };
            let result = contender(&mut turn);
            let expected = expected.get_or_insert_with(|| result.clone());
            let close = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-3 * (a.abs() + b.abs());
            assert!(
                result.len() == expected.len() && result.iter().zip(&*expected).all(close),
                "{}: {name} has another result",
                self.name
            );
            // Warms up the caches and calibrates the number of calls.
            turn.check = false;
            let times = (0..20).map(|_| {
                contender(&mut turn);
                turn.time
            });
            let time = times.min().unwrap_or_default();
            repeats.push(1 + (TURN.as_nanos() / time.as_nanos().max(1)) as usize);
        }
        let mut times = vec![Vec::new(); self.contenders.len()];
        for _ in 0..rounds {
            for (((_, contender), times), &repeat) in self.contenders.iter_mut().zip(&mut times).zip(&repeats) {
                let mut turn = Turn { repeat, check: false, time: Duration::ZERO };
                contender(&mut turn);
                times.push(turn.time.as_secs_f64() * 1e9 / (repeat * self.elements) as f64);
            }
        }
        let medians = times.into_iter().map(|mut times| {
            times.sort_unstable_by(f64::total_cmp);
            times[times.len() / 2]
        });
        let medians = self.contenders.iter().map(|(name, _)| *name).zip(medians).collect::<Vec<_>>();
        let of = |wanted: &str| medians.iter().find(|(name, _)| *name == wanted).expect("ratios name contenders").1;
        let line = |&Ratio(name, other, goal): &Ratio| {
            let ns_per_element = [of(name), of(other)];
            let ratio = ns_per_element[0] / ns_per_element[1];
            Line { case: &self.name, of: name, to: other, ratio, goal, ns_per_element }
        };
        self.ratios.iter().map(line).collect()
    }
}
