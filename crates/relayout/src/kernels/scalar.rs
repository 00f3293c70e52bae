//! The kernels in plain safe Rust, which define what each kernel does.

use super::{Axis, Interleave, Kernel, LoopNest, Matrix, NO_LOOP, Packing, Runs, Side, Transpose};
use crate::bits::{read_bits, write_bits};
use crate::tuning::SCALAR_BLOCK_ROWS;

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

/// One iteration of a kernel.
pub(super) fn run(kernel: &Kernel, source: &[u8], destination: &mut [u8]) {
    match kernel {
        Kernel::Copy(bytes) => destination[..*bytes].copy_from_slice(&source[..*bytes]),
        Kernel::Runs(Runs { bytes, len, stride }) => {
            let runs = destination.chunks_exact_mut(*bytes).take(*len).enumerate();
            runs.for_each(|(i, run)| run.copy_from_slice(&source[i * stride..][..*bytes]));
        }
        Kernel::Interleave(kernel) => with_size!(kernel.bytes, interleave(kernel, source, destination)),
        Kernel::Deinterleave(kernel) => with_size!(kernel.bytes, deinterleave(kernel, source, destination)),
        Kernel::Transpose(kernel) => with_size!(kernel.bytes, transpose(kernel, source, destination)),
        Kernel::Matrix(kernel) => with_size!(kernel.bytes, matrix(kernel, source, destination)),
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
    let run = &mut destination.as_chunks_mut::<BYTES>().0[..kernel.len * kernel.factor];
    for i in 0..kernel.factor {
        let row = &source[i * kernel.row_stride..].as_chunks::<BYTES>().0[..kernel.len];
        run.iter_mut().skip(i).step_by(kernel.factor).zip(row).for_each(|(to, from)| *to = *from);
    }
}

fn deinterleave<const BYTES: usize>(kernel: &Interleave, source: &[u8], destination: &mut [u8]) {
    let run = &source.as_chunks::<BYTES>().0[..kernel.len * kernel.factor];
    for i in 0..kernel.factor {
        let row = &mut destination[i * kernel.row_stride..].as_chunks_mut::<BYTES>().0[..kernel.len];
        row.iter_mut().zip(run.iter().skip(i).step_by(kernel.factor)).for_each(|(to, from)| *to = *from);
    }
}

/// Calls `copy` for each element, with its unpacked offset, and the byte and the bit where it is packed.
fn each_packed(kernel: &Packing, mut copy: impl FnMut(usize, usize, usize)) {
    let Interleave { factor, len, row_stride, .. } = kernel.rows;
    for (row, i) in (0..factor).flat_map(|row| (0..len).map(move |i| (row, i))) {
        for part in 0..8 / kernel.bits {
            let element = row * row_stride + i + part * kernel.distance;
            copy(element, i * factor + row, part * kernel.bits);
        }
    }
}

/// The loops of a side that have more than one iteration, the outermost first.
fn loops<'a>(side: &[Axis], room: &'a mut Side) -> LoopNest<'a> {
    let mut count = 0;
    for axis in side.iter().rev().filter(|axis| axis.len != 1) {
        room[count] = *axis;
        count += 1;
    }
    LoopNest(&room[..count])
}

fn matrix<const BYTES: usize>(kernel: &Matrix, source: &[u8], destination: &mut [u8]) {
    let Matrix { columns, rows, .. } = kernel;
    for (a, b) in (0..columns.len).flat_map(|a| (0..rows.len).map(move |b| (a, b))) {
        let (from, to) = (a * columns.from + b * rows.from, a * columns.to + b * rows.to);
        destination[to..][..BYTES].copy_from_slice(&source[from..][..BYTES]);
    }
}

fn transpose<const BYTES: usize>(kernel: &Transpose, source: &[u8], destination: &mut [u8]) {
    let [inner, outer @ ..] = &kernel.a;
    // A loop of one iteration may have stride 0.
    let (apart_from, apart_to) = (inner.from.max(BYTES), inner.to.max(BYTES));
    let mut rooms = [[NO_LOOP; 4]; 2];
    let [outer_room, row_room] = &mut rooms;
    let (outer, rows) = (loops(outer, outer_room), loops(&kernel.b, row_room));
    outer.for_each(0, 0, |from, to| {
        let at_once = if rows.0.is_empty() { inner.len } else { SCALAR_BLOCK_ROWS };
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
