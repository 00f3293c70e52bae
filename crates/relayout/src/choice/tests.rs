//! What is chosen, for machines that need not be this one.

use super::Target;
use super::matrix::{self, without_tables};
use crate::caches::Caches;
use crate::elements::Widths;
use crate::kernels::{BoundedStep, Matrix, StoreMode, Transpose};
use crate::loops::Axis;
use crate::options::Stores;
use crate::regions::Regions;
use crate::schedule::Scheduler;
use crate::vector::Vectors;
use std::fmt::Write as _;
use xla_shape_core::ArrayShape;

/// The machines of `docs/relayout.md`, with the letters of `tuning`, and one without vectors.
const TARGETS: [(&str, Target); 4] = [
    ("I", target(Vectors::Avx512, 2 << 20, 260 << 20, false)),
    ("Z", target(Vectors::Avx512, 1 << 20, 32 << 20, true)),
    ("M", target(Vectors::Avx2, 512 << 10, 32 << 20, true)),
    ("none", target(Vectors::None, 1 << 20, 32 << 20, false)),
];

const fn target(vectors: Vectors, l2: usize, last_level: usize, last_level_is_local: bool) -> Target {
    Target { vectors, stores: Stores::Auto, caches: Caches { l2, last_level, last_level_is_local } }
}

/// Arrays in row-major order, and the layout that they get. Each kernel has cases in which it is chosen, and cases of
/// other sizes in which it no longer is.
const CASES: &[(&str, &str)] = &[
    // The same bytes, runs, and runs that are joined.
    ("f32[8,128]", "{1,0:T(8,128)}"),
    ("f32[1000,1000]", "{1,0:T(8,128)}"),
    ("f32[33,1955,2,12]", "{3,1,2,0}"),
    ("u8[7,100,5]", "{2,0,1}"),
    ("u8[7,100,5000]", "{2,0,1}"),
    // Few rows or columns.
    ("u8[8,224,224,3]", "{2,1,3,0}"),
    ("u8[8,3,224,224]", "{1,3,2,0}"),
    ("f32[7,5001]", "{0,1}"),
    ("f64[50,2,6]", "{1,2,0}"),
    ("f64[3,100000]", "{0,1}"),
    ("f64[3,1000]", "{0,1}"),
    ("u8[13,60000]", "{0,1}"),
    ("bf16[4096,4096]", "{1,0:T(8,128)(2,1)}"),
    ("u8[512,512]", "{1,0:T(32,128)(4,1)}"),
    // Transposes, in the caches and in memory.
    ("f32[4096,4096]", "{0,1}"),
    ("u8[512,512]", "{0,1}"),
    ("f32[64,64]", "{0,1}"),
    ("f32[32,32]", "{0,1}"),
    ("f32[4095,4097]", "{0,1}"),
    // Columns shorter than a line, of rows that share few sets of the L1 cache.
    ("bf16[24,2048]", "{0,1}"),
    ("u8[48,2048]", "{0,1}"),
    ("u8[48,4096]", "{0,1}"),
    ("bf16[24,1000]", "{0,1}"),
    ("f64[300001,10]", "{0,1}"),
    ("f64[12,300000]", "{0,1}"),
    ("f64[600,4001]", "{0,1}"),
    ("f32[512,7,7,64]", "{0,3,2,1:T(8,128)}"),
    ("bf16[37,34,813]", "{0,1,2}"),
    // Elements of 16 bytes.
    ("c128[19,4]", "{0,1}"),
    ("c128[3,725]", "{0,1}"),
    ("c128[255,257]", "{0,1}"),
    ("c128[256,256]", "{0,1}"),
    ("c128[300,300]", "{0,1}"),
    ("c128[1024,64]", "{0,1}"),
    ("c128[2048,2048]", "{0,1}"),
    ("c128[2,15,19,5,11]", "{0,3,1,4,2}"),
    // Loops that are all short.
    ("f32[3,5]", "{0,1}"),
    ("f32[16,16]", "{0,1}"),
    ("u8[9,10,11,12]", "{0,2,3,1}"),
    ("f32[1,18,5,18,28]", "{2,4,1,3,0}"),
    ("u8[100,3,2,3,2]", "{1,3,2,4,0}"),
    // Packed elements.
    ("s4[70,140]", "{1,0:T(64,128)(8,1)E(4)}"),
];

/// The steps of a relayout for a target.
fn steps(from: &ArrayShape, to: &ArrayShape, target: Target) -> String {
    let bits = |shape: &ArrayShape| shape.element_bits() as usize;
    let widths = Widths::new(from.element_type(), bits(from), bits(to)).unwrap();
    let bytes = [from, to].map(|shape| shape.byte_size().unwrap() as usize).iter().sum();
    let scheduler = Scheduler::new(widths, target, target.footprint(bytes));
    let dimensions = (0..from.num_dimensions()).collect::<Vec<_>>();
    let (mut regions, mut steps) = (Regions::default(), Vec::new());
    regions.find(&from.stride_table().unwrap(), &to.stride_table().unwrap(), &dimensions, false).unwrap();
    regions.copy.iter_mut().for_each(|region| scheduler.add_region(&mut steps, region));
    let text = |step: &BoundedStep| {
        let instructions = step.instructions();
        let is_narrower = instructions.vectors() == Vectors::Sse2 && target.vectors > Vectors::Sse2;
        let vectors = if is_narrower { ", vectors of 16 bytes" } else { "" };
        format!("    {step}, {:?} stores{vectors}\n", instructions.stores())
    };
    steps.iter().map(text).collect()
}

/// `BLESS=1` writes what is chosen now.
#[test]
fn choices_are_those_of_the_list() {
    // Other architectures have no permutes, and Miri has no vectors. A step has no wider vectors than this machine.
    if cfg!(any(miri, not(target_arch = "x86_64"))) || Vectors::detect() < Vectors::Avx2 {
        return;
    }
    let mut found = String::new();
    for (array, layout) in CASES {
        let row_major = (0..=array.matches(',').count()).rev().map(|i| i.to_string()).collect::<Vec<_>>().join(",");
        let [from, to] =
            [format!("{array}{{{row_major}}}"), format!("{array}{layout}")].map(|text| text.parse().unwrap());
        writeln!(found, "{from} -> {to}").unwrap();
        // Machines with the same steps share an entry.
        let mut entries: Vec<(String, String)> = Vec::new();
        for (name, target) in TARGETS {
            let steps = steps(&from, &to, target);
            match entries.iter_mut().find(|(_, others)| *others == steps) {
                Some((names, _)) => *names += &format!(", {name}"),
                None => entries.push((name.to_owned(), steps)),
            }
        }
        entries.iter().for_each(|(names, steps)| writeln!(found, "  {names}\n{}", steps.trim_end()).unwrap());
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/choice/choices.txt"), &found).unwrap();
    } else {
        assert!(
            found == include_str!("choices.txt"),
            "other choices than in choices.txt; `BLESS=1` writes these:\n{found}"
        );
    }
}

/// Where a vector of 32 bytes would take more rows than the L1 cache holds, or write parts of columns of a few wide elements.
#[test]
fn short_columns_have_narrow_vectors() {
    let axis = |len, from, to| Axis { len, from, to };
    let no_loop = axis(1, 0, 0);
    let chosen = |vectors, columns, bytes: usize, rows: usize, stride: usize| {
        let (a, b) = (axis(columns, bytes, rows * bytes), axis(rows, stride, bytes));
        let (a, b) = ([a, no_loop, no_loop, no_loop], [b, no_loop, no_loop, no_loop]);
        matrix::vectors(&Transpose { bytes, shuffle: None, a, b }, &[], &target(vectors, 512 << 10, 32 << 20, true))
    };
    let with_avx2 = |bytes, rows, stride| chosen(Vectors::Avx2, 2048, bytes, rows, stride);
    assert_eq!([with_avx2(2, 24, 4096), with_avx2(1, 48, 2048)], [Vectors::Sse2; 2]);
    // All rows stay in the cache; not even half of them do; columns of a line.
    let others = [(2, 24, 2048), (2, 24, 4000), (1, 48, 4096), (2, 32, 4096), (1, 64, 2048), (4, 15, 4096)];
    assert_eq!(others.map(|(bytes, rows, stride)| with_avx2(bytes, rows, stride)), [Vectors::Avx2; 6]);
    assert_eq!(chosen(Vectors::Avx2, 50_000, 2, 24, 100_000 / 4096 * 4096), Vectors::Avx2, "a large array");
    assert_eq!(
        [Vectors::None, Vectors::Neon].map(|vectors| chosen(vectors, 2048, 2, 24, 4096)),
        [Vectors::None, Vectors::Neon]
    );
    // Only vectors of 64 bytes have masks for rows that are shorter than 16 bytes.
    assert_eq!([6, 8].map(|columns| chosen(Vectors::Avx512, columns, 2, 24, 4096)), [Vectors::Avx512, Vectors::Sse2]);

    let of_matrix = |vectors, bytes, rows, columns, outer: &[Axis]| {
        let kernel =
            Matrix { bytes, columns: axis(columns, bytes, rows * bytes), rows: axis(rows, columns * bytes, bytes) };
        matrix::matrix_vectors(&kernel, outer, &target(vectors, 512 << 10, 32 << 20, true))
    };
    let wide = [(3, 20), (3, 4000), (4, 20), (5, 725), (6, 725)]
        .map(|(rows, columns)| of_matrix(Vectors::Avx2, 16, rows, columns, &[]));
    assert_eq!(wide, [Vectors::Sse2, Vectors::Sse2, Vectors::Avx2, Vectors::Sse2, Vectors::Avx2]);
    assert_eq!(of_matrix(Vectors::Avx2, 8, 3, 725, &[]), Vectors::Avx2);
    let many = [axis(19, 880, 26400)];
    assert_eq!(of_matrix(Vectors::Avx2, 16, 2, 11, &many), Vectors::Avx2);
    assert_eq!(of_matrix(Vectors::Avx2, 16, 5, 725, &many), Vectors::Sse2);
    assert_eq!(of_matrix(Vectors::None, 16, 3, 725, &[]), Vectors::None);
}

/// Transposes whose innermost loops are short look up offsets, unless these loops are all there is.
#[test]
fn short_innermost_loops_have_tables() {
    let no_loop = Axis { len: 1, from: 0, to: 0 };
    let is_chosen_for =
        |vectors, stores: StoreMode, gap: usize, bytes: usize, columns: [usize; 2], rows: [usize; 2]| {
            let side = |[inner, outer]: [usize; 2], near: usize, far: usize, is_source: bool| {
                let axis = |len, near, far| {
                    let (from, to) = if is_source { (near, far) } else { (far, near) };
                    Axis { len, from, to }
                };
                [axis(inner, near, far), axis(outer, near * inner, 1000 * far), no_loop, no_loop]
            };
            let (a, b) = (side(columns, bytes, 4096 + gap, true), side(rows, bytes, 4096, false));
            without_tables(&Transpose { bytes, shuffle: None, a, b }, &[], stores, vectors).is_some()
        };
    let is_chosen =
        |stores, gap, bytes, columns, rows| is_chosen_for(Vectors::Avx512, stores, gap, bytes, columns, rows);
    let is_matrix = |bytes, columns, rows| is_chosen(StoreMode::Ordinary, 16, bytes, columns, rows);
    let is_streamed_matrix = |gap, columns, rows| is_chosen(StoreMode::Staged, gap, 16, columns, rows);
    assert!(is_matrix(8, [9, 1], [5, 1]) && is_matrix(16, [4, 1], [19, 1]));
    assert!(is_matrix(8, [14, 1], [5, 3]) && !is_matrix(8, [3, 5], [2, 5]) && !is_matrix(4, [12, 1], [5, 25]));
    assert!(is_matrix(16, [6, 5], [6, 1]) && !is_matrix(16, [2, 12], [3, 4]) && is_matrix(16, [2, 8], [48, 3]));
    // Elements of 16 bytes in large arrays, with columns that begin at lines or do not.
    assert!(!is_streamed_matrix(0, [16, 1], [8, 1]) && is_streamed_matrix(16, [16, 1], [8, 1]));
    assert!(is_streamed_matrix(0, [15, 1], [8, 1]) && is_streamed_matrix(0, [16, 1], [7, 1]));
    // Rows that do not fill a vector, and an iteration of more than `MAX_BYTES`.
    assert!(!is_matrix(4, [3, 1], [5, 1]) && !is_matrix(4, [512, 1], [512, 1]));
    // With AVX2, iterations of any size, unless more lines are 4 KiB apart than a set of the L1 cache holds. Here rows are 4 KiB apart, and without a
    // gap columns are, too.
    let is_large_matrix =
        |gap, bytes| is_chosen_for(Vectors::Avx2, StoreMode::Ordinary, gap, bytes, [512, 1], [512, 1]);
    assert!(is_large_matrix(16, 8) && !is_large_matrix(0, 8) && !is_large_matrix(16, 4));
    assert!(!is_chosen_for(Vectors::Avx2, StoreMode::Staged, 16, 8, [512, 1], [512, 1]));
    // The innermost loops must have two lines each, or one if a side has no other loop.
    let has_long_loops = |columns, rows| is_chosen_for(Vectors::Avx2, StoreMode::Ordinary, 16, 8, columns, rows);
    assert!(has_long_loops([16, 9], [16, 9]) && !has_long_loops([16, 9], [15, 9]));
    assert!(has_long_loops([8, 1], [8, 90]) && !has_long_loops([20, 1], [7, 90]));
}

/// A last level that belongs to a few cores is used up to three eighths of its size; one that many cores share is hardly faster than memory.
#[test]
fn large_arrays_are_streamed() {
    let [intel, zen, _, none] = TARGETS.map(|(_, target)| target);
    let stores = |target: Target, mib: usize| target.footprint(mib << 20).stores;
    assert_eq!([2, 3, 25, 26].map(|mib| stores(intel, mib)), {
        use StoreMode::{Ordinary, Staged, WholeLines};
        [Ordinary, WholeLines, WholeLines, Staged]
    });
    assert_eq!([11, 12].map(|mib| stores(zen, mib)), [StoreMode::Ordinary, StoreMode::Staged]);
    assert_eq!(stores(none, 1000), StoreMode::Ordinary, "there are no vectors to store");
    let asked = |asked| Target { stores: asked, ..intel };
    assert_eq!(stores(asked(Stores::Streaming), 0), StoreMode::Staged);
    assert_eq!(stores(asked(Stores::Regular), 1000), StoreMode::Ordinary);
    assert!(asked(Stores::Regular).footprint(1000 << 20).exceeds_caches);
}
