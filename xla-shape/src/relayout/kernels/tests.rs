//! Every kernel against its scalar twin, on every kind of vectors that this machine has.

use super::{Axis, Fence, Interleave, Kernel, Machine, Packing, Transpose, Turns, Unit, Units, scalar};

/// Bytes around the destination that must stay what they are.
const GUARD: usize = 64;

/// Compares all ways to run a kernel, with the destination at `shift` behind a multiple of 64.
fn check(kernel: Kernel, turns: &[Axis], shift: usize) {
    let ends = kernel.ends().unwrap();
    let (from, to) = Turns(turns).ends(ends).unwrap();
    let source = (0..from).map(|i| (i * 151 + i / 256 * 7 + 13) as u8).collect::<Vec<_>>();
    let mut expected = vec![0x5a; to + 3 * GUARD];
    let start = expected.as_ptr().align_offset(GUARD) + shift;
    Turns(turns).for_each(0, 0, |from_turn, to_turn| {
        scalar::run(&kernel, &source[from_turn..], &mut expected[start + to_turn..]);
    });
    for machine in Machine::all() {
        let mut found = vec![0x5a; to + 4 * GUARD];
        let found_start = found.as_ptr().align_offset(GUARD) + shift;
        {
            let fence = Fence::new(machine);
            kernel.run(fence.machine(), Turns(turns), &source, &mut found[found_start..][..to]);
        }
        let surplus =
            |bytes: &[u8], start: usize| bytes[..start].iter().chain(&bytes[start + to..]).all(|&byte| byte == 0x5a);
        assert!(surplus(&found, found_start), "{kernel:?} {turns:?} {shift} {machine:?}: writes outside");
        assert!(
            found[found_start..][..to] == expected[start..][..to],
            "{kernel:?} {turns:?} {shift} {machine:?}: another result"
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

fn interleave_and_back(bytes: usize, ways: usize, lens: impl Iterator<Item = usize>) {
    for (len, shift) in lens.flat_map(|len| [0, 1, 32].map(|shift| (len, shift))) {
        let kernel = Interleave { ways, bytes, len, row: len * bytes + 3 };
        let turn = Axis { len: 2, from: 5, to: ways * bytes * len };
        check(Kernel::Interleave(kernel), &[turn], shift);
        let turn = Axis { len: 2, from: ways * bytes * len, to: ways * kernel.row };
        check(Kernel::Deinterleave(kernel), &[turn], shift);
        // Rows that begin with a line, and rows that begin within one.
        for unit in [64, bytes] {
            let kernel = Interleave { row: (len * bytes).next_multiple_of(unit), ..kernel };
            let turn = Axis { len: 2, from: ways * bytes * len, to: ways * kernel.row };
            check(Kernel::Interleave(kernel), &[], shift);
            check(Kernel::Deinterleave(kernel), &[turn], shift);
        }
    }
}

#[test]
fn interleaves_and_back() {
    for (bytes, ways) in
        [(1, 2), (1, 4), (1, 8), (2, 2), (2, 4), (2, 8), (4, 2), (4, 4), (4, 8), (8, 2), (8, 4), (8, 8)]
    {
        interleave_and_back(bytes, ways, (1..=40).chain([63, 64, 65, 128, 200, 1029]));
    }
}

#[test]
fn weaves_and_back() {
    for (bytes, ways) in [1, 2, 4, 8].into_iter().flat_map(|bytes| (3..16_usize).map(move |ways| (bytes, ways))) {
        if !ways.is_power_of_two() {
            let vector = 64 / bytes;
            let lens = [1, 2, vector / 4, vector - 1, vector, vector + 1, 2 * vector + 3, 4 * vector, 1100 / bytes];
            interleave_and_back(bytes, ways, lens.into_iter());
        }
    }
}

#[test]
fn transposes() {
    let shuffle = |bytes: usize| std::array::from_fn(|i| (i / bytes * bytes + (bytes - 1 - i % bytes)) as u8);
    for bytes in [1, 2, 4, 8, 16] {
        for (a_len, b_len) in
            (1..=20).flat_map(|a| (1..=20).map(move |b| (a, b))).filter(|(a, b)| (a + 2 * b) % 5 < 2).chain([
                (16, 64),
                (64, 128),
                (17, 65),
                (33, 35),
                (3, 200),
                (200, 3),
                (70, 130),
                (300 / bytes, 1030 / bytes),
                // More rows than a stage holds.
                (17, 600),
            ])
        {
            let b = Axis { len: b_len, from: a_len * bytes + 1, to: bytes };
            let a = Axis { len: a_len, from: bytes, to: b_len * bytes + 2 };
            let one = Axis { len: 1, from: 0, to: 0 };
            let kernel = Transpose { bytes, shuffle: None, a: [a, one], b: [b, one] };
            check(Kernel::Transpose(kernel), &[], a_len % 3);
            // Rows that begin with a line.
            let lines = Axis { to: (b_len * bytes).next_multiple_of(64), ..a };
            check(Kernel::Transpose(Transpose { a: [lines, one], ..kernel }), &[], 0);
            check(Kernel::Transpose(Transpose { shuffle: Some(shuffle(bytes)), ..kernel }), &[], 0);
            // Rows without gaps.
            let dense = Axis { to: b_len * bytes, ..a };
            check(Kernel::Transpose(Transpose { a: [dense, one], ..kernel }), &[], a_len % 3);
            // The same with both pairs of loops.
            let b_outer = Axis { len: 3, from: b.from * b_len + 7, to: b_len * bytes };
            let a = Axis { to: 3 * b_len * bytes, ..a };
            let a_outer = Axis { len: 2, from: a_len * bytes, to: a.to * a_len + 5 };
            let kernel = Transpose { a: [a, a_outer], b: [b, b_outer], ..kernel };
            check(Kernel::Transpose(kernel), &[], b_len % 5);
            // The same where the outer loop's strides are the smaller ones.
            let b = Axis { from: 3 * (2 * a_len * bytes + 7), ..b };
            let (b_outer, a_outer) = (Axis { from: b.from / 3, ..b_outer }, Axis { to: a.to, ..a_outer });
            let a = Axis { to: 2 * a.to + 5, ..a };
            let kernel = Transpose { a: [a, a_outer], b: [b, b_outer], ..kernel };
            check(Kernel::Transpose(kernel), &[], b_len % 5);
        }
    }
}

#[test]
fn packs_and_unpacks() {
    for bits in [1, 2, 4] {
        for ways in [1, 2, 4, 8] {
            for len in (1..=40).chain([128, 300, 2500]) {
                let parts = 8 / bits;
                let rows = Interleave { ways, bytes: 1, len, row: parts * (len + 1) };
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
                let kernel = Units { bits, unit: Unit::of(bits), distance, len };
                check(Kernel::PackUnits(kernel), &[], 0);
                check(Kernel::UnpackUnits(kernel), &[], 1);
            }
        }
    }
}

#[test]
fn transposes_of_elements_that_lie_apart_are_none() {
    let (a, b) = (Axis { len: 5, from: 4, to: 12 }, Axis { len: 3, from: 20, to: 4 });
    let kernel = |a, b| Transpose { bytes: 4, shuffle: None, a, b };
    let once = Axis { len: 1, from: 0, to: 0 };
    assert_eq!(kernel([a, once], [b, once]).ends(), Some((60, 60)));
    for (a, b) in [
        ([Axis { from: 8, ..a }, once], [b, once]),
        ([a, Axis { len: 2, from: 24, to: 60 }], [b, once]),
        ([a, once], [Axis { to: 1, ..b }, once]),
        ([a, once], [b, Axis { len: 2, from: 60, to: 4 }]),
    ] {
        assert_eq!(kernel(a, b).ends(), None, "{a:?} {b:?}");
    }
}
