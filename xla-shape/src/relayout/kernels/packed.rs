//! Packing and unpacking of small elements, through a row of packed bytes that stays in the cache.

use super::{Interleave, Kernel, Machine, Packing, Turns};

/// The packed bytes that are at work at once.
const STAGE: usize = 2048;

/// Elements of a byte each to packed ones.
pub(super) fn pack(kernel: &Packing, machine: Machine, source: &[u8], destination: &mut [u8]) {
    let Interleave { ways, row, .. } = kernel.rows;
    let mut stage = [0; STAGE];
    parts(kernel, |start, rows| {
        let len = rows.len;
        for way in 0..ways {
            pack_row(kernel, &source[way * row + start * kernel.step..], &mut stage[way * len..][..len]);
        }
        let run = &mut destination[start * ways..][..len * ways];
        match ways {
            1 => run.copy_from_slice(&stage[..len]),
            _ => Kernel::Interleave(rows).run(machine, Turns(&[]), &stage, run),
        }
    });
}

/// Packed elements to a byte each.
pub(super) fn unpack(kernel: &Packing, machine: Machine, source: &[u8], destination: &mut [u8]) {
    let Interleave { ways, row, .. } = kernel.rows;
    let mut stage = [0; STAGE];
    parts(kernel, |start, rows| {
        let len = rows.len;
        let run = &source[start * ways..][..len * ways];
        match ways {
            1 => stage[..len].copy_from_slice(run),
            _ => Kernel::Deinterleave(rows).run(machine, Turns(&[]), run, &mut stage),
        }
        for way in 0..ways {
            unpack_row(kernel, &stage[way * len..][..len], &mut destination[way * row + start * kernel.step..]);
        }
    });
}

/// Calls `part` with the first of as many bytes of each row as fit on the stage, and how they lie there.
fn parts(kernel: &Packing, mut part: impl FnMut(usize, Interleave)) {
    let Interleave { ways, bytes, len, .. } = kernel.rows;
    let room = STAGE / ways;
    for start in (0..len).step_by(room) {
        let len = room.min(len - start);
        part(start, Interleave { ways, bytes, len, row: len });
    }
}

fn pack_row(kernel: &Packing, source: &[u8], row: &mut [u8]) {
    match kernel.bits {
        1 => pack_elements::<1, 8>(kernel, source, row),
        2 => pack_elements::<2, 4>(kernel, source, row),
        _ => pack_elements::<4, 2>(kernel, source, row),
    }
}

fn pack_elements<const BITS: usize, const PARTS: usize>(kernel: &Packing, source: &[u8], row: &mut [u8]) {
    let mask = u8::MAX >> (8 - BITS);
    if kernel.step == 1 {
        // Elements that share a byte lie in different rows.
        let rows: [&[u8]; PARTS] = std::array::from_fn(|part| &source[part * kernel.distance..][..row.len()]);
        for (i, byte) in row.iter_mut().enumerate() {
            *byte = (0..PARTS).fold(0, |byte, part| byte | (rows[part][i] & mask) << (part * BITS));
        }
    } else {
        // Elements that share a byte are neighbours.
        for (byte, elements) in row.iter_mut().zip(source.as_chunks::<PARTS>().0) {
            *byte = (0..PARTS).fold(0, |byte, part| byte | (elements[part] & mask) << (part * BITS));
        }
    }
}

fn unpack_row(kernel: &Packing, row: &[u8], destination: &mut [u8]) {
    match kernel.bits {
        1 => unpack_elements::<1, 8>(kernel, row, destination),
        2 => unpack_elements::<2, 4>(kernel, row, destination),
        _ => unpack_elements::<4, 2>(kernel, row, destination),
    }
}

fn unpack_elements<const BITS: usize, const PARTS: usize>(kernel: &Packing, row: &[u8], destination: &mut [u8]) {
    let mask = u8::MAX >> (8 - BITS);
    if kernel.step == 1 {
        for part in 0..PARTS {
            let elements = &mut destination[part * kernel.distance..][..row.len()];
            elements.iter_mut().zip(row).for_each(|(element, byte)| *element = byte >> (part * BITS) & mask);
        }
    } else {
        for (elements, byte) in destination.as_chunks_mut::<PARTS>().0.iter_mut().zip(row) {
            *elements = std::array::from_fn(|part| byte >> (part * BITS) & mask);
        }
    }
}
