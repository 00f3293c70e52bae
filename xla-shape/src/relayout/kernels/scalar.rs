//! The kernels in plain safe Rust: what each of them means.

use super::{Axis, Interleave, Kernel, ONCE, Packing, Runs, Side, Transpose, Turns};
use crate::buffer::bits::{read_bits, write_bits};

/// Calls `$f::<BYTES>` with the element's size as a constant.
macro_rules! with_size {
    ($bytes:expr, $f:ident($($argument:expr),*)) => {
        match $bytes {
            1 => $f::<1>($($argument),*),
            2 => $f::<2>($($argument),*),
            4 => $f::<4>($($argument),*),
            8 => $f::<8>($($argument),*),
            _ => $f::<16>($($argument),*),
        }
    };
}

/// One turn of a kernel.
pub(super) fn run(kernel: &Kernel, source: &[u8], destination: &mut [u8]) {
    match kernel {
        Kernel::Copy(bytes) => destination[..*bytes].copy_from_slice(&source[..*bytes]),
        Kernel::Runs(Runs { bytes, len, row }) => {
            let runs = destination.chunks_exact_mut(*bytes).take(*len).enumerate();
            runs.for_each(|(i, run)| run.copy_from_slice(&source[i * row..][..*bytes]));
        }
        Kernel::Interleave(kernel) => with_size!(kernel.bytes, interleave(kernel, source, destination)),
        Kernel::Deinterleave(kernel) => with_size!(kernel.bytes, deinterleave(kernel, source, destination)),
        Kernel::Transpose(kernel) => with_size!(kernel.bytes, transpose(kernel, source, destination)),
        Kernel::Pack(kernel) => each_packed(kernel, |element, byte, shift| {
            let mask = u8::MAX >> (8 - kernel.bits);
            destination[byte] = destination[byte] & !(mask << shift) | (source[element] & mask) << shift;
        }),
        Kernel::Unpack(kernel) => each_packed(kernel, |element, byte, shift| {
            destination[element] = source[byte] >> shift & (u8::MAX >> (8 - kernel.bits));
        }),
        Kernel::PackUnits(kernel) => {
            for i in 0..kernel.len * kernel.unit.elements {
                write_bits(destination, i * kernel.bits, kernel.bits, source[i * kernel.distance]);
            }
        }
        Kernel::UnpackUnits(kernel) => {
            for i in 0..kernel.len * kernel.unit.elements {
                destination[i * kernel.distance] = read_bits(source, i * kernel.bits, kernel.bits);
            }
        }
    }
}

fn interleave<const BYTES: usize>(kernel: &Interleave, source: &[u8], destination: &mut [u8]) {
    let run = &mut destination.as_chunks_mut::<BYTES>().0[..kernel.len * kernel.ways];
    for way in 0..kernel.ways {
        let row = &source[way * kernel.row..].as_chunks::<BYTES>().0[..kernel.len];
        run.iter_mut().skip(way).step_by(kernel.ways).zip(row).for_each(|(to, from)| *to = *from);
    }
}

fn deinterleave<const BYTES: usize>(kernel: &Interleave, source: &[u8], destination: &mut [u8]) {
    let run = &source.as_chunks::<BYTES>().0[..kernel.len * kernel.ways];
    for way in 0..kernel.ways {
        let row = &mut destination[way * kernel.row..].as_chunks_mut::<BYTES>().0[..kernel.len];
        row.iter_mut().zip(run.iter().skip(way).step_by(kernel.ways)).for_each(|(to, from)| *to = *from);
    }
}

/// Calls `copy` for each element with its place, and the byte and the bit where it is packed.
fn each_packed(kernel: &Packing, mut copy: impl FnMut(usize, usize, usize)) {
    let Interleave { ways, len, row, .. } = kernel.rows;
    for (way, i) in (0..ways).flat_map(|way| (0..len).map(move |i| (way, i))) {
        for part in 0..8 / kernel.bits {
            let element = way * row + i + part * kernel.distance;
            copy(element, i * ways + way, part * kernel.bits);
        }
    }
}

/// How many rows of the destination are written in turn, so that their lines stay in the cache.
const BLOCK: usize = 32;

/// The loops of a side that are there, the outermost first.
fn loops<'a>(side: &[Axis], room: &'a mut Side) -> Turns<'a> {
    let mut count = 0;
    for axis in side.iter().rev().filter(|axis| axis.len != 1) {
        room[count] = *axis;
        count += 1;
    }
    Turns(&room[..count])
}

fn transpose<const BYTES: usize>(kernel: &Transpose, source: &[u8], destination: &mut [u8]) {
    let [inner, outer @ ..] = &kernel.a;
    // A loop of one turn may have no stride.
    let (apart_from, apart_to) = (inner.from.max(BYTES), inner.to.max(BYTES));
    let mut rooms = [[ONCE; 4]; 2];
    let [outer_room, row_room] = &mut rooms;
    let (outer, rows) = (loops(outer, outer_room), loops(&kernel.b, row_room));
    outer.for_each(0, 0, |from, to| {
        let at_once = if rows.0.is_empty() { inner.len } else { BLOCK };
        for block in (0..inner.len).step_by(at_once) {
            rows.for_each(from, to, |row, column| {
                let from = source[row + block * inner.from..].chunks(apart_from);
                let to = destination[column + block * inner.to..].chunks_mut(apart_to);
                for (to, from) in to.zip(from).take(at_once.min(inner.len - block)) {
                    let (to, from) = (&mut to[..BYTES], &from[..BYTES]);
                    match &kernel.shuffle {
                        None => to.copy_from_slice(from),
                        Some(shuffle) => {
                            to.iter_mut().zip(shuffle).for_each(|(to, &i)| *to = from[usize::from(i)]);
                        }
                    }
                }
            });
        }
    });
}
