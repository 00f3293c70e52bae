//! How fast relayout is:
//! `cargo run --release --manifest-path benches/Cargo.toml --bin relayout -- [--json] [--rounds N] [--vectors none|neon|sse2|avx2] [--peers] [--choices] [--threads] [--plans] [--random N
//! --seed S [--max-bytes B]] [--caches L2,LAST_LEVEL,local|shared] [FILTER]`.
//!
//! Each case takes turns with libc's `memcpy` and a copy with non-temporal stores, of the same number of bytes, and with others: the loops of XLA's
//! transpose (`registers`), the crates `ndarray` and `transpose`, and with `--peers` oneDNN, if `libdnnl.so.2` can be loaded. The figures are those
//! of the best round, because disturbances only make a run longer. There is one line per case; a ratio above 1 is faster than `memcpy`. All results
//! are compared. If two threads are measured, two threads that only copy are measured, too: their gain is the upper limit.
//!
//! - `--random`: cases are drawn at random (`random`). At the end, it lists the ten worst cases, and the cases in which another library was
//!   more than a tenth faster, if a second measurement confirms it.
//! - `--choices`: plans compete with plans in which the vectors or the stores are prescribed (`choices`).
//! - `--threads`: for 60 large arrays, several threads compete with one (`threads`). The program fails if several threads are slower for an array.
//! - `--plans`: only the plans are printed.
//! - `--caches`: plans are those of a machine with these caches; sizes are in bytes.

mod cases;
mod choices;
mod onednn;
mod peers;
mod random;
mod registers;
mod threads;

use cases::{Case, cases};
use peers::Contender;
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;
use threads::TwoThreads;
use xla_shape::buffer::AlignedBytes;
use xla_shape::relayout::{Caches, Options, Plan, Stores, Vectors};

/// The figures of one case.
#[derive(Serialize)]
struct Line {
    case: String,
    payload_bytes: usize,
    gb_per_s: f64,
    ratio_to_memcpy: f64,
    ratio_to_streaming_copy: f64,
    plan_us: f64,
    /// The time to find the plan in the thread's cache.
    plan_again_us: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    two_threads: Option<TwoThreads>,
    /// The speed of each contender.
    all_gb_per_s: BTreeMap<&'static str, f64>,
    /// The contenders with another result, and why it may differ.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    not_comparable: BTreeMap<&'static str, &'static str>,
}

/// The options of the command line.
struct Arguments {
    json: bool,
    rounds: usize,
    vectors: Vectors,
    peers: bool,
    choices: bool,
    threads: bool,
    plans: bool,
    random: Option<usize>,
    seed: u64,
    /// The largest payload of random cases, in bytes.
    max_bytes: usize,
    caches: Option<Caches>,
    filter: String,
}

fn main() -> ExitCode {
    let mut asked = Arguments {
        json: false,
        rounds: 11,
        vectors: Vectors::default(),
        peers: false,
        choices: false,
        threads: false,
        plans: false,
        random: None,
        seed: 0,
        max_bytes: 256 << 20,
        caches: None,
        filter: String::new(),
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().and_then(|n| n.parse().ok()).expect("a number after the option");
        match argument.as_str() {
            "--json" => asked.json = true,
            "--peers" => asked.peers = true,
            "--choices" => asked.choices = true,
            "--threads" => asked.threads = true,
            "--plans" => asked.plans = true,
            "--rounds" => asked.rounds = number(),
            "--random" => asked.random = Some(number()),
            "--seed" => asked.seed = number() as u64,
            "--max-bytes" => asked.max_bytes = number(),
            "--caches" => {
                asked.caches = Some(caches(&arguments.next().unwrap_or_default()).expect("L2,LAST_LEVEL,local|shared"))
            }
            "--vectors" => {
                asked.vectors = match arguments.next().as_deref() {
                    Some("none") => Vectors::None,
                    Some("neon") => Vectors::Neon,
                    Some("sse2") => Vectors::Sse2,
                    Some("avx2") => Vectors::Avx2,
                    _ => asked.vectors,
                }
            }
            _ => asked.filter = argument,
        }
    }
    let onednn = if asked.peers { onednn::Library::load() } else { None };
    if asked.peers && onednn.is_none() {
        eprintln!("oneDNN is not here: Debian has it as libdnnl-dev");
    }
    let mut cases = match asked.random {
        Some(count) => random::cases(count, asked.seed, asked.max_bytes),
        None if asked.threads => cases::shared(),
        None => cases(),
    };
    if let Some(caches) = asked.caches {
        cases.iter_mut().for_each(|case| case.options = case.options.clone().caches(caches));
    }
    let cases = cases.iter().filter(|case| case.name.contains(&asked.filter));
    if asked.plans {
        cases.for_each(|case| print!("{}", plan(case, asked.vectors)));
        return ExitCode::SUCCESS;
    }
    if asked.choices {
        choices::compare(cases, asked.rounds);
        return ExitCode::SUCCESS;
    }
    if asked.threads {
        return if threads::compare(cases, asked.rounds) { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let mut lines = Vec::new();
    for case in cases {
        let mut line = measure(case, &asked, onednn.as_ref());
        if asked.random.is_some() && line.is_behind() {
            line = measure(case, &asked, onednn.as_ref());
        }
        if asked.json {
            println!("{}", serde_json::to_string(&line).expect("figures have no maps with odd keys"));
        } else {
            print(&line);
        }
        lines.push(line);
    }
    if asked.random.is_some() && !asked.json {
        summary(lines);
    }
    ExitCode::SUCCESS
}

/// Parses two sizes in bytes, and whether the last level belongs to a few cores.
fn caches(text: &str) -> Option<Caches> {
    let [l2, last_level, kind] = text.split(',').collect::<Vec<_>>().try_into().ok()?;
    let last_level_is_local = match kind {
        "local" => true,
        "shared" => false,
        _ => return None,
    };
    Some(Caches { l2: l2.parse().ok()?, last_level: last_level.parse().ok()?, last_level_is_local })
}

fn print(line: &Line) {
    let Line { case, ratio_to_memcpy, ratio_to_streaming_copy, plan_us, plan_again_us, two_threads, .. } = line;
    print!(
        "{ratio_to_memcpy:6.2} x memcpy {ratio_to_streaming_copy:6.2} x streaming {plan_us:6.2} us, again {plan_again_us:4.2}  {case}"
    );
    two_threads.iter().for_each(|gain| print!("  {gain}"));
    line.all_gb_per_s.iter().for_each(|(name, rate)| print!("  {name} {rate:.1}"));
    line.not_comparable.iter().for_each(|(name, reason)| print!("  {name} is not comparable: {reason}"));
    println!();
}

/// Prints the worst cases, and those where another library was faster.
fn summary(mut lines: Vec<Line>) {
    lines.sort_unstable_by(|a, b| a.ratio_to_memcpy.total_cmp(&b.ratio_to_memcpy));
    println!("\nthe worst ten of {}:", lines.len());
    lines.iter().take(10).for_each(print);
    println!("\nwhere a peer was more than a tenth faster:");
    lines.iter().filter(|line| line.is_behind()).for_each(print);
}

impl Line {
    /// Whether another library was more than a tenth faster.
    fn is_behind(&self) -> bool {
        let own = self.all_gb_per_s["relayout"];
        let peers = ["blocks in registers", "ndarray", "transpose crate", "oneDNN"];
        peers.iter().any(|peer| self.all_gb_per_s.get(peer).is_some_and(|rate| *rate > 1.1 * own))
    }
}

/// Pseudorandom bytes.
fn bytes(len: usize) -> AlignedBytes {
    let mut bytes = AlignedBytes::zeroed(len).expect("there is memory for the cases");
    bytes.as_mut().iter_mut().enumerate().for_each(|(i, byte)| *byte = (i * 31 + i / 251) as u8);
    bytes
}

/// The seconds that one call takes; short calls are repeated. With one thread, this is its CPU time, which other processes disturb less.
fn seconds(clock: ClockId, repeat: usize, mut call: impl FnMut()) -> f64 {
    let now = || {
        let now = clock_gettime(clock);
        now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
    };
    // A first call, which is not timed, writes back the dirty cache lines of the previous contender.
    call();
    let start = now();
    (0..repeat).for_each(|_| call());
    (now() - start) / repeat as f64
}

/// The total time of a contender, in seconds, after which it takes part in fewer rounds.
const PATIENCE: f64 = 0.3;

/// The result of [`rates`].
struct Rates {
    /// The speed of each contender with the right result.
    gb_per_s: BTreeMap<&'static str, f64>,
    /// Why the results of the other contenders differ.
    not_comparable: BTreeMap<&'static str, &'static str>,
}

/// The speed of each contender: the best of the rounds. All results are compared with that of the first contender.
fn rates(case: &Case, rounds: usize, contenders: &[Contender<'_>]) -> Rates {
    let [from_bytes, to_bytes] =
        [&case.from, &case.to].map(|shape| shape.byte_size().expect("sizes are static") as usize);
    let payload = case.payload();
    let (source, mut destination) = (bytes(from_bytes), AlignedBytes::zeroed(to_bytes).expect("there is memory"));
    let (flat_source, mut flat_destination) = (bytes(payload), bytes(payload));
    let repeat = (4_usize << 20).div_ceil(payload);
    let mut best = vec![f64::INFINITY; contenders.len()];
    let (mut random, mut order) = (fastrand::Rng::with_seed(0), (0..contenders.len()).collect::<Vec<_>>());
    let mut expected = None;
    let mut not_comparable = BTreeMap::new();
    for round in 0..=rounds {
        // Each contender leaves the caches in another state for the next one, so their order changes.
        if round > 0 {
            random.shuffle(&mut order);
        }
        for &number in &order {
            let Contender { name, is_copy, may_differ, run } = &contenders[number];
            let best = &mut best[number];
            if not_comparable.contains_key(name) {
                continue;
            }
            let (source, destination) = if *is_copy {
                (flat_source.as_ref(), flat_destination.as_mut())
            } else {
                (source.as_ref(), destination.as_mut())
            };
            if round > 1 && *best * repeat as f64 > PATIENCE {
                continue;
            }
            let repeat = if round == 0 { 0 } else { repeat };
            let time = seconds(ClockId::ThreadCPUTime, repeat, || run(black_box(source), black_box(&mut *destination)));
            if round > 0 {
                *best = best.min(time);
            } else if !is_copy {
                // The first round only warms up and compares the results. Padding is 0 in all of them.
                let is_same = *expected.get_or_insert_with(|| destination.to_vec()) == destination;
                assert!(is_same || may_differ.is_some(), "{name} has another result for {}", case.name);
                if !is_same {
                    not_comparable.extend(may_differ.map(|reason| (*name, reason)));
                }
                destination.fill(0);
            }
        }
    }
    let comparable = contenders.iter().zip(best).filter(|(contender, _)| !not_comparable.contains_key(contender.name));
    let gb_per_s = comparable.map(|(contender, best)| (contender.name, payload as f64 / best / 1e9)).collect();
    Rates { gb_per_s, not_comparable }
}

/// The plan of a case, with at most these vectors.
fn plan(case: &Case, vectors: Vectors) -> Plan {
    Plan::new(&case.from, &case.to, &case.options.clone().vectors(vectors)).expect("the cases go together")
}

fn measure(case: &Case, asked: &Arguments, onednn: Option<&onednn::Library>) -> Line {
    let options = case.options.clone().vectors(asked.vectors);
    let plan = plan(case, asked.vectors);
    let run = |plan: &Plan, source: &[u8], destination: &mut [u8]| {
        plan.run(source, destination).expect("the buffers have the right sizes");
    };
    let [from_bytes, to_bytes] =
        [&case.from, &case.to].map(|shape| shape.byte_size().expect("sizes are static") as usize);
    let payload = case.payload();
    let flat = format!("u8[{payload}]").parse().expect("bytes are an array");
    let streaming = Plan::new(&flat, &flat, &Options::new().stores(Stores::Streaming)).expect("it goes with itself");
    let (source, mut destination) = (bytes(from_bytes), AlignedBytes::zeroed(to_bytes).expect("there is memory"));
    let (flat_source, mut flat_destination) = (bytes(payload), bytes(payload));

    let memcpy = |source: &[u8], destination: &mut [u8]| destination.copy_from_slice(source);
    let mut contenders = vec![
        Contender::new("relayout", |source, destination| run(&plan, source, destination)),
        Contender { is_copy: true, ..Contender::new("memcpy", memcpy) },
        Contender {
            is_copy: true,
            ..Contender::new("streaming copy", |source, destination| run(&streaming, source, destination))
        },
    ];
    contenders.extend(peers::peers(case, onednn));

    let Rates { gb_per_s: rates, not_comparable } = rates(case, asked.rounds, &contenders);
    drop(contenders);
    let two_threads = case.threads.then(|| {
        let own = (source.as_ref(), destination.as_mut());
        let flat = (flat_source.as_ref(), flat_destination.as_mut());
        TwoThreads::measure(4 * asked.rounds, (&plan, own), (&streaming, flat))
    });
    let plan = || black_box(Plan::new(black_box(&case.from), &case.to, &options).expect("the cases go together"));
    let plans = (0..10 * asked.rounds).map(|_| {
        // Makes other plans, to replace this one in the thread's cache.
        for bytes in 1..=16 {
            let other = format!("u8[{bytes}]").parse().expect("bytes are an array");
            Plan::new(&other, &other, &Options::new()).expect("it goes with itself");
        }
        let start = Instant::now();
        plan();
        start.elapsed().as_secs_f64()
    });
    let plan_us = plans.fold(f64::INFINITY, f64::min) * 1e6;
    let again = (0..asked.rounds).map(|_| seconds(ClockId::ThreadCPUTime, 50, || drop(plan())));
    let plan_again_us = again.fold(f64::INFINITY, f64::min) * 1e6;
    let own = rates["relayout"];
    Line {
        case: case.name.clone(),
        payload_bytes: payload,
        gb_per_s: own,
        ratio_to_memcpy: own / rates["memcpy"],
        ratio_to_streaming_copy: own / rates["streaming copy"],
        plan_us,
        plan_again_us,
        two_threads,
        all_gb_per_s: rates,
        not_comparable,
    }
}
