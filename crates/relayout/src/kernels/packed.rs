//! Packing and unpacking of small elements: unit by unit, or through a row of packed bytes that stays in the L1 cache.

use super::{Instructions, Interleave, Kernel, LoopNest, Packing, Units};

/// A staging buffer of packed bytes.
pub(super) type Stage = [u8; 2048];

/// Packs elements of a byte each.
pub(super) fn pack(
    kernel: &Packing,
    instructions: Instructions,
    stage: &mut Stage,
    source: &[u8],
    destination: &mut [u8],
) {
    let Interleave { factor, row_stride, .. } = kernel.rows;
    parts(kernel, |start, rows| {
        let len = rows.len;
        for row in 0..factor {
            pack_row(kernel, &source[row * row_stride + start..], &mut stage[row * len..][..len]);
        }
        let run = &mut destination[start * factor..][..len * factor];
        // If there are several rows, `factor` adjacent packed bytes come from as many rows.
        match factor {
            1 => run.copy_from_slice(&stage[..len]),
            _ => Kernel::Interleave(rows).run(instructions, LoopNest(&[]), stage, run),
        }
    });
}

/// Unpacks elements to a byte each.
pub(super) fn unpack(
    kernel: &Packing,
    instructions: Instructions,
    stage: &mut Stage,
    source: &[u8],
    destination: &mut [u8],
) {
    let Interleave { factor, row_stride, .. } = kernel.rows;
    parts(kernel, |start, rows| {
        let len = rows.len;
        let run = &source[start * factor..][..len * factor];
        match factor {
            1 => stage[..len].copy_from_slice(run),
            _ => Kernel::Deinterleave(rows).run(instructions, LoopNest(&[]), run, stage),
        }
        for row in 0..factor {
            unpack_row(kernel, &stage[row * len..][..len], &mut destination[row * row_stride + start..]);
        }
    });
}

/// Calls `part` for each part of the rows that fits in the stage, with the offset of the part within each row and the layout of the rows on the
/// stage.
fn parts(kernel: &Packing, mut part: impl FnMut(usize, Interleave)) {
    let Interleave { factor, bytes, len, .. } = kernel.rows;
    let room = size_of::<Stage>() / factor;
    for start in (0..len).step_by(room) {
        let len = room.min(len - start);
        part(start, Interleave { factor, bytes, len, row_stride: len });
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
    // Byte `i` of a packed row takes element `i` of `PARTS` rows that are `distance` apart. With 4 bits, byte `i` holds element `i` of the first row in
    // its low half and element `i` of the second row in its high half. So a row at a time is masked, shifted and merged, which is vectorized.
    let rows: [&[u8]; PARTS] = std::array::from_fn(|part| &source[part * kernel.distance..][..row.len()]);
    row.copy_from_slice(rows[0]);
    row.iter_mut().for_each(|byte| *byte &= mask);
    for (part, elements) in rows.iter().enumerate().skip(1) {
        row.iter_mut().zip(*elements).for_each(|(byte, element)| *byte |= (element & mask) << (part * BITS));
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
    for part in 0..PARTS {
        let elements = &mut destination[part * kernel.distance..][..row.len()];
        elements.iter_mut().zip(row).for_each(|(element, byte)| *element = byte >> (part * BITS) & mask);
    }
}

/// Calls `$f::<BITS, ELEMENTS, BYTES>` with a unit's sizes as constants.
macro_rules! with_unit {
    ($bits:expr, $f:ident($($argument:expr),*)) => {
        match $bits {
            1 => $f::<1, 8, 1>($($argument),*),
            2 => $f::<2, 4, 1>($($argument),*),
            3 => $f::<3, 8, 3>($($argument),*),
            4 => $f::<4, 2, 1>($($argument),*),
            5 => $f::<5, 8, 5>($($argument),*),
            6 => $f::<6, 4, 3>($($argument),*),
            _ => $f::<7, 8, 7>($($argument),*),
        }
    };
}

/// Packs evenly spaced elements of a byte each to contiguous units.
pub(super) fn pack_units(kernel: &Units, source: &[u8], destination: &mut [u8]) {
    with_unit!(kernel.bits, pack_each_unit(kernel, source, destination));
}

fn pack_each_unit<const BITS: usize, const ELEMENTS: usize, const BYTES: usize>(
    kernel: &Units,
    source: &[u8],
    destination: &mut [u8],
) {
    let Units { distance, len, .. } = *kernel;
    let units = &mut destination.as_chunks_mut::<BYTES>().0[..len];
    // Contiguous elements are read as arrays whose size is known, which needs no check of bounds for each element.
    if distance == 1 {
        let elements = source.as_chunks::<ELEMENTS>().0;
        units.iter_mut().zip(elements).for_each(|(unit, elements)| *unit = packed::<BITS, _, _>(*elements));
    } else {
        for (i, unit) in units.iter_mut().enumerate() {
            let elements = &source[i * ELEMENTS * distance..];
            *unit = packed::<BITS, ELEMENTS, _>(std::array::from_fn(|k| elements[k * distance]));
        }
    }
}

/// Unpacks contiguous units to evenly spaced elements of a byte each.
pub(super) fn unpack_units(kernel: &Units, source: &[u8], destination: &mut [u8]) {
    with_unit!(kernel.bits, unpack_each_unit(kernel, source, destination));
}

fn unpack_each_unit<const BITS: usize, const ELEMENTS: usize, const BYTES: usize>(
    kernel: &Units,
    source: &[u8],
    destination: &mut [u8],
) {
    let Units { distance, len, .. } = *kernel;
    let units = &source.as_chunks::<BYTES>().0[..len];
    if distance == 1 {
        let elements = destination.as_chunks_mut::<ELEMENTS>().0;
        elements.iter_mut().zip(units).for_each(|(elements, unit)| *elements = unpacked::<BITS, _, _>(*unit));
    } else {
        for (i, unit) in units.iter().enumerate() {
            let elements = &mut destination[i * ELEMENTS * distance..];
            for (k, element) in unpacked::<BITS, ELEMENTS, _>(*unit).into_iter().enumerate() {
                elements[k * distance] = element;
            }
        }
    }
}

/// A unit: the low bits of its elements, the first element lowest.
#[inline]
fn packed<const BITS: usize, const ELEMENTS: usize, const BYTES: usize>(elements: [u8; ELEMENTS]) -> [u8; BYTES] {
    let mask = u8::MAX >> (8 - BITS);
    let bits = (0..ELEMENTS).fold(0, |bits, i| bits | u64::from(elements[i] & mask) << (i * BITS));
    let bytes = bits.to_le_bytes();
    std::array::from_fn(|i| bytes[i])
}

/// The inverse of [`packed`].
#[inline]
fn unpacked<const BITS: usize, const ELEMENTS: usize, const BYTES: usize>(unit: [u8; BYTES]) -> [u8; ELEMENTS] {
    let mask = u8::MAX >> (8 - BITS);
    let mut bytes = [0; 8];
    bytes[..BYTES].copy_from_slice(&unit);
    let bits = u64::from_le_bytes(bytes);
    std::array::from_fn(|i| (bits >> (i * BITS)) as u8 & mask)
}
