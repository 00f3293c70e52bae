//! Packing and unpacking of small elements, through a row of packed bytes that stays in the cache.

use super::{Interleave, Kernel, Machine, Packing, Turns};

/// The packed bytes that are at work at once.
pub(super) type Stage = [u8; 2048];

/// Elements of a byte each to packed ones.
pub(super) fn pack(kernel: &Packing, machine: Machine, stage: &mut Stage, source: &[u8], destination: &mut [u8]) {
    let Interleave { ways, row, .. } = kernel.rows;
    parts(kernel, |start, rows| {
        let len = rows.len;
        for way in 0..ways {
            pack_row(kernel, &source[way * row + start * kernel.step..], &mut stage[way * len..][..len]);
        }
        let run = &mut destination[start * ways..][..len * ways];
        match ways {
            1 => run.copy_from_slice(&stage[..len]),
            _ => Kernel::Interleave(rows).run(machine, Turns(&[]), stage, run),
        }
    });
}

/// Packed elements to a byte each.
pub(super) fn unpack(kernel: &Packing, machine: Machine, stage: &mut Stage, source: &[u8], destination: &mut [u8]) {
    let Interleave { ways, row, .. } = kernel.rows;
    parts(kernel, |start, rows| {
        let len = rows.len;
        let run = &source[start * ways..][..len * ways];
        match ways {
            1 => stage[..len].copy_from_slice(run),
            _ => Kernel::Deinterleave(rows).run(machine, Turns(&[]), run, stage),
        }
        for way in 0..ways {
            unpack_row(kernel, &stage[way * len..][..len], &mut destination[way * row + start * kernel.step..]);
        }
    });
}

/// Calls `part` with the first of as many bytes of each row as fit on the stage, and how they lie there.
fn parts(kernel: &Packing, mut part: impl FnMut(usize, Interleave)) {
    let Interleave { ways, bytes, len, .. } = kernel.rows;
    let room = size_of::<Stage>() / ways;
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
        row.copy_from_slice(rows[0]);
        row.iter_mut().for_each(|byte| *byte &= mask);
        for (part, elements) in rows.iter().enumerate().skip(1) {
            row.iter_mut().zip(*elements).for_each(|(byte, element)| *byte |= (element & mask) << (part * BITS));
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
