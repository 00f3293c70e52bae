//! Every kernel against its scalar definition, with every kind of vector that this machine has.

use super::{
    Axis, BoundedStep, Gather, Instructions, Interleave, Kernel, LoopNest, Matrix, NO_LOOP, NotPermuted, Packing,
    PermuteCount, Runs, Side, Step, StoreMode, Transpose, Unit, Units, Vectors, Work, scalar,
};
use crate::elements::Widths;
use crate::tuning::MAX_RUN;
use std::sync::{Mutex, PoisonError};
use xla_shape_core::ElementType;

/// Bytes around the destination that must not change.
const GUARD: usize = 64;

/// Kernels do not use the widths of elements.
fn bytes_of_u8() -> Widths {
    Widths::new(ElementType::U8, 8, 8).unwrap()
}

/// `len` bytes in an allocation of their own, so that a sanitizer finds reads beyond them. Neighbours differ, and so do lines.
fn source(len: usize) -> Vec<u8> {
    // Made once: without optimisations, this takes longer than what is tested.
    static BYTES: Mutex<Vec<u8>> = Mutex::new(Vec::new());
    let mut bytes = BYTES.lock().unwrap_or_else(PoisonError::into_inner);
    let missing = bytes.len()..len;
    bytes.extend(missing.map(|i| (i * 151 + i / 256 * 7 + 13) as u8));
    bytes[..len].to_vec()
}

/// Compares all ways to run a kernel, with the destination `shift` bytes after a multiple of 64.
fn check(kernel: Kernel, nest: &[Axis], shift: usize) {
    let ends = kernel.span().unwrap();
    let (from, to) = LoopNest(nest).span(ends).unwrap();
    let source = source(from);
    let mut expected = vec![0x5a; to + 3 * GUARD];
    let start = expected.as_ptr().align_offset(GUARD) + shift;
    LoopNest(nest).for_each(0, 0, |from_offset, to_offset| {
        scalar::run(&kernel, &source[from_offset..], &mut expected[start + to_offset..]);
    });
    for instructions in Instructions::all() {
        let mut found = vec![0x5a; to + 4 * GUARD];
        let found_start = found.as_ptr().align_offset(GUARD) + shift;
        let step = Step { from: 0, to: found_start, outer: nest.into(), work: Work::Kernel(kernel) };
        BoundedStep::new(step, instructions).run(&bytes_of_u8(), &source, &mut found[..found_start + to]);
        let surplus = [&found[..found_start], &found[found_start + to..]].concat();
        assert!(surplus == [0x5a; 4 * GUARD], "{kernel:?} {nest:?} {shift} {instructions:?}: writes outside");
        assert!(
            found[found_start..][..to] == expected[start..][..to],
            "{kernel:?} {nest:?} {shift} {instructions:?}: another result"
        );
    }
}

#[test]
fn copies() {
    for len in (0..200).chain([511, 512, 513, 1000, 1024, 1029, 1100]) {
        for shift in [0, 1, 16, 63] {
            check(Kernel::Copy(len), &[], shift);
            check(Kernel::Copy(len), &[Axis { len: 3, from: len, to: len.next_multiple_of(64) }], shift);
            check(Kernel::Copy(len), &[Axis { len: 3, from: len + 5, to: len + 64 }], shift);
        }
    }
}

#[test]
fn joins_runs() {
    for bytes in (1..=130).chain([200, 255, 1000, MAX_RUN]) {
        for (number, (len, shift)) in
            [(1, 0), (2, 5), (3, 0), (7, 63), (40, 16), (9000 / bytes, 1)].into_iter().enumerate()
        {
            // Each length with every fourth number of bytes. Miri is a thousand times slower.
            if len == 0 || (bytes + number) % 4 != 0 || cfg!(miri) && len > 7 {
                continue;
            }
            for stride in [bytes, bytes + 3] {
                let kernel = Kernel::Runs(Runs { bytes, len, stride });
                let (from, to) = kernel.span().unwrap();
                // A single iteration; then several: adjacent in the destination, with gaps there, and in another order than there.
                check(kernel, &[], shift);
                check(kernel, &[Axis { len: 5, from: from + 2, to }], shift);
                check(kernel, &[Axis { len: 3, from: 1, to: to + 7 }, Axis { len: 1, from: 0, to: 0 }], shift);
                let nest = [Axis { len: 2, from: 3, to }, Axis { len: 3, from: from + 5, to: 2 * to }];
                check(kernel, &nest, shift);
            }
        }
    }
}

fn interleave_and_back(bytes: usize, factor: usize, lens: impl Iterator<Item = usize>) {
    // Each length with two shifts: 0, and 1 for even or 32 for odd lengths.
    for (len, shift) in lens.flat_map(|len| [0, 1 + len % 2 * 31].map(|shift| (len, shift))) {
        let kernel = Interleave { factor, bytes, len, row_stride: len * bytes + 3 };
        let iteration = Axis { len: 2, from: 5, to: factor * bytes * len };
        check(Kernel::Interleave(kernel), &[iteration], shift);
        let iteration = Axis { len: 2, from: factor * bytes * len, to: factor * kernel.row_stride };
        check(Kernel::Deinterleave(kernel), &[iteration], shift);
        // Rows that begin at a cache line, and rows that begin within one.
        for unit in [64, bytes] {
            let kernel = Interleave { row_stride: (len * bytes).next_multiple_of(unit), ..kernel };
            let iteration = Axis { len: 2, from: factor * bytes * len, to: factor * kernel.row_stride };
            check(Kernel::Interleave(kernel), &[], shift);
            check(Kernel::Deinterleave(kernel), &[iteration], shift);
        }
    }
}

#[test]
fn interleaves_and_back() {
    for (bytes, factor) in
        [(1, 2), (1, 4), (1, 8), (2, 2), (2, 4), (2, 8), (4, 2), (4, 4), (4, 8), (8, 2), (8, 4), (8, 8)]
    {
        interleave_and_back(bytes, factor, (1..=40).chain([63, 64, 65, 128, 200, 1029]));
    }
}

#[test]
fn weaves_and_back() {
    for (bytes, factor) in [1, 2, 4, 8].into_iter().flat_map(|bytes| (3..16_usize).map(move |factor| (bytes, factor))) {
        if !factor.is_power_of_two() {
            let vector = 64 / bytes;
            let lens = [1, vector - 1, vector, 2 * vector + 3, 1100 / bytes];
            interleave_and_back(bytes, factor, lens.into_iter());
        }
    }
}

/// A side with these loops.
fn side(loops: &[Axis]) -> Side {
    std::array::from_fn(|i| loops.get(i).copied().unwrap_or(Axis { len: 1, from: 0, to: 0 }))
}

#[test]
fn transposes() {
    let shuffle = |bytes: usize| std::array::from_fn(|i| (i / bytes * bytes + (bytes - 1 - i % bytes)) as u8);
    for bytes in [1, 2, 4, 8, 16] {
        for (a_len, b_len) in
            (1..=20).flat_map(|a| (1..=20).map(move |b| (a, b))).filter(|(a, b)| (a + 2 * b) % 9 == 0).chain([
                (16, 64),
                (64, 128),
                (17, 65),
                (33, 35),
                (3, 200),
                (200, 3),
                (70, 130),
                (140 / bytes, 1030 / bytes),
                // In blocks of four, eight and 64 rows or columns.
                (24, 4),
                (5, 12),
                (130, 12),
                // More rows than the staging buffer holds.
                (17, 600),
            ])
        {
            let b = Axis { len: b_len, from: a_len * bytes + 1, to: bytes };
            let a = Axis { len: a_len, from: bytes, to: b_len * bytes + 2 };
            let kernel = Transpose { bytes, shuffle: None, a: side(&[a]), b: side(&[b]) };
            check(Kernel::Transpose(kernel), &[], a_len % 3);
            // Columns that begin at a cache line.
            let lines = Axis { to: (b_len * bytes).next_multiple_of(64), ..a };
            check(Kernel::Transpose(Transpose { a: side(&[lines]), ..kernel }), &[], 0);
            check(Kernel::Transpose(Transpose { shuffle: Some(shuffle(bytes)), ..kernel }), &[], 0);
            // Columns without gaps.
            let dense = Axis { to: b_len * bytes, ..a };
            check(Kernel::Transpose(Transpose { a: side(&[dense]), ..kernel }), &[], a_len % 3);
            // Two loops on each side.
            let b_outer = Axis { len: 3, from: b.from * b_len + 7, to: b_len * bytes };
            let a = Axis { to: 3 * b_len * bytes, ..a };
            let a_outer = Axis { len: 2, from: a_len * bytes, to: a.to * a_len + 5 };
            let kernel = Transpose { a: side(&[a, a_outer]), b: side(&[b, b_outer]), ..kernel };
            check(Kernel::Transpose(kernel), &[], b_len % 5);
            // Two loops on each side, where the outer ones have the smaller strides on the other side.
            let b = Axis { from: 3 * (2 * a_len * bytes + 7), ..b };
            let (b_outer, a_outer) = (Axis { from: b.from / 3, ..b_outer }, Axis { to: a.to, ..a_outer });
            let a = Axis { to: 2 * a.to + 5, ..a };
            let kernel = Transpose { a: side(&[a, a_outer]), b: side(&[b, b_outer]), ..kernel };
            check(Kernel::Transpose(kernel), &[], b_len % 5);
        }
    }
}

/// All remainders of rows and columns that blocks of whole vectors leave, and more columns than one pass takes.
#[test]
fn transposes_matrices() {
    let most = if cfg!(miri) { 6 } else { 19 };
    let sizes = (1..=most).flat_map(|columns| (1..=most).map(move |rows| (columns, rows)));
    let large = [(70, 5), (5, 70), (37, 35), (133, 9), (3, 200), (2, 64), (17, 530), (33, 67), (16, 64)]
        .into_iter()
        .filter(|_| !cfg!(miri));
    for (columns, rows) in sizes.chain(large) {
        for bytes in [1, 2, 4, 8, 16] {
            for (gap, shift) in [(0, 0), (3, 1)] {
                let matrix = Matrix {
                    bytes,
                    columns: Axis { len: columns, from: bytes, to: rows * bytes + gap },
                    rows: Axis { len: rows, from: columns * bytes + gap, to: bytes },
                };
                let kernel = Kernel::Matrix(matrix);
                let (from, to) = kernel.span().unwrap();
                check(kernel, &[], shift);
                check(kernel, &[Axis { len: 2, from: from + 2, to: to + 5 }, Axis { len: 1, from: 0, to: 0 }], shift);
            }
        }
    }
    // Rows that share few sets of the L1 cache.
    let (columns, rows) = (Axis { len: 20, from: 16, to: 70 * 16 }, Axis { len: 70, from: 4096, to: 16 });
    check(Kernel::Matrix(Matrix { bytes: 16, columns, rows }), &[], 0);
    // Elements that lie apart.
    let apart = Matrix { bytes: 4, columns: Axis { len: 9, from: 8, to: 80 }, rows: Axis { len: 9, from: 72, to: 8 } };
    check(Kernel::Matrix(apart), &[], 0);
}

/// Up to four loops on each side, in any order on the other side; from single elements to more rows and columns than a table of offsets
/// holds.
#[test]
fn transposes_of_many_loops() {
    let sides: [&[usize]; 9] = [&[1], &[2], &[3], &[7], &[3, 5], &[2, 3, 3], &[5, 2, 2, 4], &[9, 2, 7], &[4, 3, 5, 9]];
    for (bytes, a, b) in [1, 2, 4, 8, 16]
        .into_iter()
        .flat_map(|bytes| sides.map(|a| (bytes, a)))
        .flat_map(|(bytes, a)| sides.map(|b| (bytes, a, b)))
        // Miri is a thousand times slower.
        .filter(|(_, a, b)| a.iter().chain(*b).product::<usize>() < if cfg!(miri) { 30 } else { 2_500 })
    {
        // On one side, each loop continues the one before; on the other, the order of loops is reversed.
        let loops = |lens: &[usize], other: usize| {
            let (mut near, mut far) = (bytes, other);
            let mut loops = Vec::new();
            for &len in lens {
                loops.push((len, near, 0));
                near *= len;
            }
            for (len, _, stride) in loops.iter_mut().rev() {
                *stride = far;
                far *= *len;
            }
            loops
        };
        let bytes_of = |lens: &[usize]| lens.iter().product::<usize>() * bytes;
        for (gap, shift) in [(0, 0), (64, 0), (3, 1)] {
            let (row, column) = (bytes_of(a) + gap, (bytes_of(b) + gap).next_multiple_of(gap.max(1)));
            let a = loops(a, column).into_iter().map(|(len, from, to)| Axis { len, from, to }).collect::<Vec<_>>();
            let b = loops(b, row).into_iter().map(|(len, to, from)| Axis { len, from, to }).collect::<Vec<_>>();
            let ends = [a.as_slice(), &b].concat().iter().map(|axis| (axis.len - 1) * axis.to).sum::<usize>() + bytes;
            let nest = [Axis { len: 2, from: 5, to: ends.next_multiple_of(64) }];
            let shuffle = (bytes == 4).then_some([3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12]);
            for shuffle in [None, shuffle].into_iter().take(1 + usize::from(bytes == 4)) {
                check(Kernel::Transpose(Transpose { bytes, shuffle, a: side(&a), b: side(&b) }), &nest, shift);
            }
        }
    }
}

#[test]
fn packs_and_unpacks() {
    for bits in [1, 2, 4] {
        for factor in [1, 2, 4, 8] {
            for len in (1..=40).chain([128, 300, 2500]) {
                let parts = 8 / bits;
                let rows = Interleave { factor, bytes: 1, len, row_stride: parts * (len + 1) };
                let kernel = Packing { bits, distance: len + 1, rows };
                check(Kernel::Pack(kernel), &[], 0);
                check(Kernel::Unpack(kernel), &[], 1);
            }
        }
    }
}

#[test]
fn packs_and_unpacks_units() {
    for bits in 1..8 {
        for len in (1..=40).chain([128, 300, 2500]) {
            for distance in [1, 2, 5] {
                let kernel = Units { bits, unit: Unit::for_bits(bits), distance, len };
                check(Kernel::PackUnits(kernel), &[], 0);
                check(Kernel::UnpackUnits(kernel), &[], 1);
            }
        }
    }
}

#[test]
fn transposes_of_elements_that_lie_apart() {
    // Miri is a thousand times slower.
    let (rows, columns) = if cfg!(miri) { (3, 5) } else { (70, 90) };
    for bytes in [1, 2, 4, 8] {
        for (a_apart, b_apart) in [(2, 1), (1, 4), (2, 8)] {
            let a = Axis { len: rows, from: a_apart * bytes, to: columns * b_apart * bytes };
            let b = Axis { len: columns, from: rows * a_apart * bytes, to: b_apart * bytes };
            check(Kernel::Transpose(Transpose { bytes, shuffle: None, a: side(&[a]), b: side(&[b]) }), &[], 0);
            let (a_next, b_next) = (
                Axis { len: 3, from: b.from * columns, ..a },
                Axis { len: 2, from: b.from * columns * 3, to: a.to * rows },
            );
            let a_next = Axis { to: b_next.to * 2, ..a_next };
            check(
                Kernel::Transpose(Transpose { bytes, shuffle: None, a: side(&[a, a_next]), b: side(&[b, b_next]) }),
                &[],
                1,
            );
        }
    }
}

/// Rows that are a multiple of a large power of two apart, which are copied before they are transposed.
#[test]
fn transposes_of_crowded_rows() {
    let sizes: [(usize, usize); 10] = [
        (64, 64),
        (67, 150),
        (16, 128),
        (130, 191),
        (300, 70),
        (129, 1),
        (20, 700),
        // Columns shorter than a line, of elements of 1 and 2 bytes.
        (300, 40),
        (150, 24),
        (80, 20),
    ];
    for ((columns, rows), bytes) in sizes.into_iter().flat_map(|sizes| [1, 2, 4, 8_usize].map(|bytes| (sizes, bytes))) {
        // Miri is a thousand times slower.
        if cfg!(miri) && columns * rows > 100 {
            continue;
        }
        for (stride, gap, shift) in [(4096, 0, 0), (8192, 64, 0), (4096, 1, 3)] {
            let to = (rows * bytes).next_multiple_of(64) + gap;
            let [a, b] = [Axis { len: columns, from: bytes, to }, Axis { len: rows, from: stride, to: bytes }];
            // The bytes of each element in reverse.
            let reversed = std::array::from_fn(|i| (i / bytes * bytes + bytes - 1 - i % bytes) as u8);
            for shuffle in [None, Some(reversed).filter(|_| bytes > 1)] {
                let (a, b) = ([a, NO_LOOP, NO_LOOP, NO_LOOP], [b, NO_LOOP, NO_LOOP, NO_LOOP]);
                let kernel = Kernel::Transpose(Transpose { bytes, shuffle, a, b });
                check(kernel, &[], shift);
                let next = Axis { len: 2, from: stride * rows, to: (to * columns).next_multiple_of(64) };
                check(kernel, &[next], shift);
            }
        }
    }
}

/// Compares gathers with plain loops on every machine, with permutes and without.
#[test]
fn gathers() {
    // Each loop's length, and its strides in the source and in the destination, in elements; the innermost loop over the destination comes first.
    let blocks: [&[(usize, usize, usize)]; 10] = [
        &[(3, 50, 1), (40, 1, 3)],
        &[(9, 1, 1), (7, 9, 9), (3, 945, 63)],
        &[(4, 7, 1), (5, 28, 4), (7, 1, 20)],
        // With gaps.
        &[(3, 130, 1), (64, 2, 4)],
        &[(33, 2, 2)],
        &[(2, 1, 1), (2, 300, 3), (25, 2, 6)],
        // As long as a vector of the source, and shorter than one.
        &[(8, 1, 1), (8, 8, 8)],
        &[(4, 8, 1), (8, 1, 4)],
        &[(3, 5, 1), (5, 1, 3)],
        &[(2, 1, 1)],
    ];
    for (bytes, loops) in [1, 2, 4, 8, 16].into_iter().flat_map(|bytes| blocks.map(|block| (bytes, block))) {
        let mut places = vec![(0_u32, 0_u32)];
        for &(len, from, to) in loops {
            let nest = |i| places.iter().map(move |place| (place.0 + i * from as u32, place.1 + i * to as u32));
            places = (0..len as u32).flat_map(nest).collect();
        }
        let last = |side: fn(&(u32, u32)) -> u32| places.iter().map(side).max().unwrap() as usize;
        let ends = ((last(|place| place.0) + 1) * bytes, (last(|place| place.1) + 1) * bytes);
        // Three iterations, and a block that is all there is.
        let three = [Axis { len: 3, from: ends.0 + 5, to: ends.1.next_multiple_of(64) }];
        let permuted = |size| Gather::permuted(size, bytes, &places, |_| true).ok();
        let gathers = [Some(Gather::new(bytes, places.clone())), permuted(64), permuted(16)];
        let each = |gather| Instructions::all().into_iter().map(move |instructions| (gather, instructions));
        let nests: [&[Axis]; 2] = [&three, &[]];
        for (nest, (gather, instructions)) in
            nests.into_iter().flat_map(|nest| gathers.iter().flatten().flat_map(each).map(move |one| (nest, one)))
        {
            let (from, to) = LoopNest(nest).span(ends).unwrap();
            let source = source(from);
            for shift in [0, 1, 32] {
                let mut found = vec![0x5a; to + 4 * GUARD];
                let start = found.as_ptr().align_offset(GUARD) + shift;
                let mut expected = found.clone();
                LoopNest(nest).for_each(0, 0, |from_offset, to_offset| {
                    for &(from, to) in &places {
                        let (from, to) = (from_offset + from as usize * bytes, start + to_offset + to as usize * bytes);
                        expected[to..to + bytes].copy_from_slice(&source[from..from + bytes]);
                    }
                });
                let work = Work::Gather(gather.clone());
                let step = Step { from: 0, to: start, outer: nest.into(), work };
                BoundedStep::new(step, instructions).run(&bytes_of_u8(), &source, &mut found[..start + to]);
                assert!(found == expected, "{loops:?} {bytes} {shift} {instructions:?}");
            }
        }
    }
}

/// A block is not assembled by permutes if another kernel costs no more, or if it needs too many permutes.
#[test]
fn scattered_elements_are_not_permuted() {
    let far = (0..512).map(|i| (i * 1000, i)).collect::<Vec<_>>();
    let few = |most| move |count: PermuteCount| count.permutes <= most * count.vectors;
    assert!(matches!(Gather::permuted(64, 1, &far, few(63)), Err(NotPermuted::TooExpensive)));
    let many = (0..4096).map(|i| (i % 16 * 5000 + i / 16, i)).collect::<Vec<_>>();
    assert!(matches!(Gather::permuted(64, 1, &many, few(8)), Err(NotPermuted::TooExpensive)));
    // Other architectures have no permutes.
    if cfg!(target_arch = "x86_64") {
        assert!(matches!(Gather::permuted(64, 1, &many, few(64)), Err(NotPermuted::TryShorterBlock)));
        assert!(Gather::permuted(64, 1, &many[..256], few(64)).is_ok());
    }
}

/// Steps check that their iterations are within both arrays.
#[test]
fn steps_check_their_bounds() {
    let gather = || Work::Gather(Gather::new(2, vec![(0, 0), (5, 1)]));
    let matrix = Matrix { bytes: 4, columns: Axis { len: 4, from: 4, to: 16 }, rows: Axis { len: 4, from: 16, to: 4 } };
    for (work, from, to) in
        [(gather(), 12, 4), (Work::Kernel(Kernel::Matrix(matrix)), 64, 64), (Work::Kernel(Kernel::Copy(9)), 9, 9)]
    {
        let two: &[Axis] = &[Axis { len: 2, from: 100, to: 200 }];
        for (outer, (more_from, more_to)) in [(two, (100, 200)), (&[], (0, 0))] {
            let step = Step { from: 3, to: 5, outer: outer.into(), work: work.clone() };
            let step = BoundedStep::new(step, Instructions::new(Vectors::Avx512, StoreMode::Ordinary));
            let run = |from_bytes, to_bytes| {
                let (source, mut destination) = (vec![1; from_bytes], vec![0; to_bytes]);
                let run = || step.run(&bytes_of_u8(), &source, &mut destination);
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_ok()
            };
            let (from, to) = (3 + more_from + from, 5 + more_to + to);
            assert_eq!([run(from, to), run(from - 1, to), run(from, to - 1), run(0, to)], [true, false, false, false]);
        }
    }
}
