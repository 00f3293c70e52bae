//! How fast relayout is:
//! `cargo run --release -p benches --bin relayout -- [--json] [--rounds N] [--vectors none|sse2|avx2] [FILTER]`.
//!
//! Each case takes turns with libc's `memcpy` and a streaming copy of as many bytes, and with what other crates offer
//! for the same; the figures are medians over the rounds. One line per case; a ratio above 1 is faster than the copy.

use bytemuck::Pod;
use ndarray::{ArrayView, ArrayViewMut, IxDyn, ShapeBuilder};
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
use std::collections::BTreeMap;
use std::hint::black_box;
use xla_shape::ArrayShape;
use xla_shape::buffer::AlignedBytes;
use xla_shape::relayout::{Options, Plan, Stores, Vectors};
use xla_shape::stride_table::Source;

/// Two shapes and how to get from one to the other.
struct Case {
    name: String,
    from: ArrayShape,
    to: ArrayShape,
    permutation: Option<Vec<usize>>,
    options: Options,
    /// Also with two threads.
    threads: bool,
    /// A batch of plain matrix transposes: how many, rows, columns.
    matrices: Option<[usize; 3]>,
}

/// The figures of one case.
#[derive(Serialize)]
struct Line<'a> {
    case: &'a str,
    payload_bytes: usize,
    gb_per_s: f64,
    ratio_to_memcpy: f64,
    ratio_to_streaming_copy: f64,
    plan_us: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    two_threads_to_one: Option<f64>,
    /// Of everything that took part.
    all_gb_per_s: BTreeMap<&'static str, f64>,
}

fn main() {
    let (mut json, mut rounds, mut vectors, mut filter) = (false, 11, Vectors::default(), String::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => json = true,
            "--rounds" => rounds = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(rounds),
            "--vectors" => {
                vectors = match arguments.next().as_deref() {
                    Some("none") => Vectors::None,
                    Some("sse2") => Vectors::Sse2,
                    Some("avx2") => Vectors::Avx2,
                    _ => vectors,
                }
            }
            _ => filter = argument,
        }
    }
    for case in cases().iter().filter(|case| case.name.contains(&filter)) {
        let line = measure(case, &case.options.clone().vectors(vectors), rounds);
        if json {
            println!("{}", serde_json::to_string(&line).expect("figures have no maps with odd keys"));
        } else {
            let Line { case, ratio_to_memcpy, ratio_to_streaming_copy, plan_us, two_threads_to_one, .. } = line;
            print!("{ratio_to_memcpy:6.2} x memcpy {ratio_to_streaming_copy:6.2} x streaming {plan_us:6.1} us  {case}");
            two_threads_to_one.iter().for_each(|ratio| print!("  2 threads {ratio:.2} x"));
            line.all_gb_per_s.iter().for_each(|(name, rate)| print!("  {name} {rate:.1}"));
            println!();
        }
    }
}

fn shape(text: &str) -> ArrayShape {
    text.parse().expect("the shapes of the cases are valid")
}

impl Case {
    fn new(group: char, from: &str, to: &str) -> Self {
        Self {
            name: format!("{group} {from} -> {to}"),
            from: shape(from),
            to: shape(to),
            permutation: None,
            options: Options::new(),
            threads: false,
            matrices: None,
        }
    }

    fn matrices(self, matrices: [usize; 3]) -> Self {
        Self { matrices: Some(matrices), ..self }
    }

    fn transposed(self, permutation: &[usize]) -> Self {
        let options = self.options.transposed(permutation);
        let name = format!("{} {permutation:?}", self.name);
        Self { name, options, permutation: Some(permutation.to_vec()), ..self }
    }

    fn with_zero_padding(self) -> Self {
        Self { options: self.options.zero_padding(), ..self }
    }
}

/// The cases of size `n` by `n`, which are measured large and small.
fn square([transposes, rows, pairs, packed]: [char; 4], n: usize) -> Vec<Case> {
    let mut cases = Vec::new();
    for element in ["f32", "bf16", "u8"] {
        let plain = format!("{element}[{n},{n}]{{1,0}}");
        cases.push(Case::new(transposes, &plain, &plain).transposed(&[1, 0]).matrices([1, n, n]));
    }
    let tiles = [
        (rows, "f32", "T(8,128)"),
        (pairs, "bf16", "T(8,128)(2,1)"),
        (packed, "u8", "T(32,128)(4,1)"),
        (packed, "u8", "T(8,128)(4,1)"),
        (packed, "s4", "T(64,128)(8,1)E(4)"),
    ];
    for (group, element, tiles) in tiles {
        let (plain, tiled) = (format!("{element}[{n},{n}]{{1,0}}"), format!("{element}[{n},{n}]{{1,0:{tiles}}}"));
        cases.extend([Case::new(group, &plain, &tiled), Case::new(group, &tiled, &plain)]);
    }
    cases
}

fn cases() -> Vec<Case> {
    let mut cases = square(['a', 'b', 'c', 'd'], 4096);
    cases.iter_mut().for_each(|case| case.threads = true);
    for element in ["f32", "bf16"] {
        let nhwc = format!("{element}[32,56,56,64]{{3,2,1,0}}");
        let nchw = format!("{element}[32,56,56,64]{{2,1,3,0}}");
        cases.push(Case::new('e', &nhwc, &nchw).matrices([32, 56 * 56, 64]));
        cases.push(Case::new('e', &nchw, &nhwc).matrices([32, 64, 56 * 56]));
    }
    let cube = "f32[64,512,512]{2,1,0}";
    cases.push(Case::new('f', cube, cube).transposed(&[0, 2, 1]).matrices([64, 512, 512]));
    let (plain, tiled) = ("f32[1000,1000]{1,0}", "f32[1000,1000]{1,0:T(8,128)}");
    cases.push(Case::new('g', plain, tiled).with_zero_padding());
    cases.push(Case::new('g', tiled, plain).with_zero_padding());
    cases.extend(square(['h'; 4], 512));
    cases.push(Case::new('i', "bf16[8,1,1280,16384]{3,2,1,0}", "bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}"));
    cases.push(Case::new('j', "bf16[4096,4096]{1,0:T(8,128)(2,1)}", "bf16[4096,4096]{0,1:T(8,128)(2,1)}"));
    cases
}

/// Bytes of no particular pattern.
fn bytes(len: usize) -> AlignedBytes {
    let mut bytes = AlignedBytes::zeroed(len).expect("there is memory for the cases");
    bytes.as_mut().iter_mut().enumerate().for_each(|(i, byte)| *byte = (i * 31 + i / 251) as u8);
    bytes
}

/// Seconds that one call takes; short ones are repeated. For one thread its own time counts, so that what else runs on
/// the machine disturbs less.
fn seconds(clock: ClockId, repeat: usize, mut call: impl FnMut()) -> f64 {
    let now = || {
        let now = clock_gettime(clock);
        now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
    };
    // What the one before has left in the caches is written back at the cost of this one, which is not timed.
    call();
    let start = now();
    (0..repeat).for_each(|_| call());
    (now() - start) / repeat as f64
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Whoever takes part: fills the destination from the source.
type Contender<'a> = Box<dyn Fn(&[u8], &mut [u8]) + 'a>;

fn measure<'a>(case: &'a Case, options: &Options, rounds: usize) -> Line<'a> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("two threads can be had");
    let plan = Plan::new(&case.from, &case.to, options).expect("the cases go together");
    let run = |plan: &Plan, source: &[u8], destination: &mut [u8]| {
        plan.run(source, destination).expect("the buffers have the right sizes");
    };
    let [from_bytes, to_bytes] =
        [&case.from, &case.to].map(|shape| shape.byte_size().expect("sizes are static") as usize);
    // Where the sides differ, by padding or by packing, half of what is read and written.
    let payload = (from_bytes + to_bytes) / 2;
    let flat = shape(&format!("u8[{payload}]"));
    let streaming = Plan::new(&flat, &flat, &Options::new().stores(Stores::Streaming)).expect("it goes with itself");
    let (source, mut destination) = (bytes(from_bytes), bytes(to_bytes));
    let (flat_source, mut flat_destination) = (bytes(payload), bytes(payload));

    let mut contenders: Vec<(&'static str, bool, Contender<'_>)> = vec![
        ("relayout", false, Box::new(|source, destination| run(&plan, source, destination))),
        ("memcpy", true, Box::new(|source, destination| destination.copy_from_slice(source))),
        ("streaming copy", true, Box::new(|source, destination| run(&streaming, source, destination))),
    ];
    if case.threads {
        // By the same clock as two.
        contenders.push(("one thread", false, Box::new(|source, destination| run(&plan, source, destination))));
        contenders.push((
            "two threads",
            false,
            Box::new(|source, destination| {
                let done = pool.install(|| plan.run_in_parallel(source, destination));
                done.expect("the buffers have the right sizes");
            }),
        ));
    }
    contenders.extend(peers(case).into_iter().map(|(name, peer)| (name, false, peer)));

    let repeat = (16_usize << 20).div_ceil(payload);
    let mut times = vec![Vec::new(); contenders.len()];
    for round in 0..=rounds {
        for ((name, is_copy, contender), times) in contenders.iter().zip(&mut times) {
            let (source, destination) = if *is_copy {
                (flat_source.as_ref(), flat_destination.as_mut())
            } else {
                (source.as_ref(), destination.as_mut())
            };
            let clock = if name.ends_with("thread") || name.ends_with("threads") {
                ClockId::Monotonic
            } else {
                ClockId::ThreadCPUTime
            };
            let time = seconds(clock, repeat, || contender(black_box(source), black_box(&mut *destination)));
            // The first round only warms up.
            times.extend((round > 0).then_some(time));
        }
    }
    let rates = contenders.iter().zip(times).map(|((name, ..), times)| (*name, payload as f64 / median(times) / 1e9));
    let rates = rates.collect::<BTreeMap<_, _>>();
    let plans = (0..rounds).map(|_| {
        seconds(ClockId::ThreadCPUTime, 50, || {
            black_box(Plan::new(black_box(&case.from), &case.to, options).expect("the cases go together"));
        })
    });
    let own = rates["relayout"];
    Line {
        case: &case.name,
        payload_bytes: payload,
        gb_per_s: own,
        ratio_to_memcpy: own / rates["memcpy"],
        ratio_to_streaming_copy: own / rates["streaming copy"],
        plan_us: median(plans.collect()) * 1e6,
        two_threads_to_one: rates.get("two threads").zip(rates.get("one thread")).map(|(two, one)| two / one),
        all_gb_per_s: rates,
    }
}

/// What other crates have for the case.
fn peers(case: &Case) -> Vec<(&'static str, Contender<'_>)> {
    match case.from.element_bits() {
        8 => peers_of::<u8>(case),
        16 => peers_of::<u16>(case),
        _ => peers_of::<u32>(case),
    }
}

fn peers_of<T: Pod>(case: &Case) -> Vec<(&'static str, Contender<'_>)> {
    let mut peers: Vec<(_, Contender<'_>)> = Vec::new();
    if let Some([count, rows, columns]) = case.matrices {
        peers.push((
            "transpose crate",
            Box::new(move |source, destination| {
                let len = rows * columns;
                let (source, destination) =
                    (bytemuck::cast_slice::<_, T>(source), bytemuck::cast_slice_mut::<_, T>(destination));
                for i in (0..count * len).step_by(len) {
                    transpose::transpose(&source[i..i + len], &mut destination[i..i + len], columns, rows);
                }
            }),
        ));
    }
    if let Some([sizes, from_strides, to_strides]) = as_strided(case) {
        peers.push((
            "ndarray",
            Box::new(move |source, destination| {
                let (from, to) =
                    (IxDyn(&sizes).strides(IxDyn(&from_strides)), IxDyn(&sizes).strides(IxDyn(&to_strides)));
                let from = ArrayView::from_shape(from, bytemuck::cast_slice::<_, T>(source));
                let to = ArrayViewMut::from_shape(to, bytemuck::cast_slice_mut::<_, T>(destination));
                to.expect("the strides fit").assign(&from.expect("the strides fit"));
            }),
        ));
    }
    peers
}

/// The case as an array of more dimensions that has strides on both sides: sizes, and both strides. Not for ragged
/// tiles, packed elements, or where both sides are tiled.
fn as_strided(case: &Case) -> Option<[Vec<usize>; 3]> {
    let (from, to) = (case.from.stride_table().ok()?, case.to.stride_table().ok()?);
    let plain = |shape: &ArrayShape| shape.layout().tiles().is_empty();
    let dense = |shape: &ArrayShape| shape.elements() == shape.physical_elements();
    let tiled = if plain(&case.to) { &from } else { &to };
    if !(plain(&case.from) || plain(&case.to)) || !dense(&case.from) || !dense(&case.to) {
        return None;
    }
    if case.from.element_bits() != case.to.element_bits() {
        return None;
    }
    let num_dimensions = case.from.num_dimensions();
    let permutation = case.permutation.clone().unwrap_or_else(|| (0..num_dimensions).collect());
    let mut result = [const { Vec::new() }; 3];
    for digit in tiled.digits() {
        let Source::Dimension(dimension) = digit.term.source else { return None };
        let mut index = vec![0; num_dimensions];
        index[dimension as usize] = digit.term.divisor.get();
        let permuted = permutation.iter().map(|&dimension| index[dimension]).collect::<Vec<_>>();
        result[0].push(digit.size as usize);
        result[1].push(from.linear_index(&index) as usize);
        result[2].push(to.linear_index(&permuted) as usize);
    }
    Some(result)
}
