//! Reading and writing a few bits in a list of bytes; bit 0 is the lowest bit of the first byte.

/// Reads `bits` bits, 1 to 8, from bit `first` on. They may lie in two bytes.
///
/// ```
/// use xla_shape_relayout::bits::read_bits;
///
/// // Element 1 of 6-bit elements.
/// assert_eq!(read_bits(&[0b11_000000, 0b0000_0001], 6, 6), 0b0111);
/// ```
///
/// # Panics
/// If a bit lies after the end of `bytes`.
pub fn read_bits(bytes: &[u8], first: usize, bits: usize) -> u8 {
    let (index, shift) = (first / 8, first % 8);
    let mut pair = u16::from(bytes[index]);
    if shift + bits > 8 {
        pair |= u16::from(bytes[index + 1]) << 8;
    }
    (pair >> shift) as u8 & mask(bits)
}

/// Writes the low `bits` bits of `value`, 1 to 8, from bit `first` on. The other bits of `bytes` do not change.
///
/// ```
/// use xla_shape_relayout::bits::write_bits;
///
/// let mut bytes = [0xff; 2];
/// write_bits(&mut bytes, 4, 4, 0x2); // element 1 of 4-bit elements
/// assert_eq!(bytes, [0x2f, 0xff]);
/// ```
///
/// # Panics
/// If a bit lies after the end of `bytes`.
pub fn write_bits(bytes: &mut [u8], first: usize, bits: usize, value: u8) {
    let (index, shift) = (first / 8, first % 8);
    let (value, mask) = (u16::from(value & mask(bits)) << shift, u16::from(mask(bits)) << shift);
    bytes[index] = bytes[index] & !(mask as u8) | value as u8;
    if shift + bits > 8 {
        bytes[index + 1] = bytes[index + 1] & !((mask >> 8) as u8) | (value >> 8) as u8;
    }
}

/// A mask of the low `bits` bits, 1 to 8.
const fn mask(bits: usize) -> u8 {
    0xFF >> (8 - bits)
}

#[cfg(test)]
mod tests {
    use super::{read_bits, write_bits};

    #[test]
    fn bits_are_read_as_written_and_others_stay() {
        for bits in 1..=8 {
            for first in 0..=24 - bits {
                let value = 0b1010_0110 & (0xff >> (8 - bits));
                let mut bytes = [0xff; 3];
                write_bits(&mut bytes, first, bits, value);
                assert_eq!(read_bits(&bytes, first, bits), value, "{bits} bits from {first} on");
                let written = bytes.iter().map(|byte| byte.count_zeros()).sum::<u32>();
                assert_eq!(written, bits as u32 - value.count_ones());
            }
        }
    }
}
