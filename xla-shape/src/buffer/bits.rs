//! Packed elements: values of a few bits.
//!
//! Element `k` of width `E` takes bits `k·E` to `(k+1)·E`, low bits of a byte first.

use crate::element::Stored;
use xla_shape_relayout::bits::{read_bits, write_bits};

/// Reads the packed element at `position`.
///
/// # Panics
/// If it lies after the end of `bytes`.
pub(super) fn read<E: Stored>(bytes: &[u8], width: usize, position: usize) -> E::Value {
    let mut value = E::Bytes::default();
    let first = position * width;
    for (i, byte) in value.as_mut().iter_mut().enumerate() {
        let bits = (width - (8 * i).min(width)).min(8);
        if bits > 0 {
            *byte = read_bits(bytes, first + 8 * i, bits);
        }
    }
    E::from_le_bytes(value)
}

/// Writes the packed element at `position`; bits that the type does not have become 0.
///
/// # Panics
/// If it lies after the end of `bytes`.
pub(super) fn write<E: Stored>(bytes: &mut [u8], width: usize, position: usize, value: E::Value) {
    let value = E::to_le_bytes(value);
    let first = position * width;
    let mut i = 0;
    while 8 * i < width {
        let byte = value.as_ref().get(i).copied().unwrap_or(0);
        write_bits(bytes, first + 8 * i, (width - 8 * i).min(8), byte);
        i += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{read, write};
    use crate::element::{F6E3M2Fn, S4, S16, U2, U4};

    #[test]
    fn low_bits_of_a_byte_come_first() {
        assert_eq!((0..2).map(|k| read::<U4>(&[0x21], 4, k).get()).collect::<Vec<_>>(), [1, 2]);
        assert_eq!((0..4).map(|k| read::<U2>(&[0b11_10_01_00], 2, k).get()).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(read::<S4>(&[0xF0], 4, 1).get(), -1);
    }

    #[test]
    fn writing_changes_only_its_own_bits() {
        let mut bytes = [0xFF; 3];
        write::<F6E3M2Fn>(&mut bytes, 6, 1, F6E3M2Fn::from_bits(0));
        assert_eq!(bytes, [0b0011_1111, 0b1111_0000, 0xFF]);
        write::<F6E3M2Fn>(&mut bytes, 6, 1, F6E3M2Fn::from_bits(0b10_0110));
        assert_eq!(read::<F6E3M2Fn>(&bytes, 6, 1).to_bits(), 0b10_0110);
        assert_eq!(read::<F6E3M2Fn>(&bytes, 6, 0).to_bits(), 0x3F);
    }

    #[test]
    fn an_element_may_be_wider_than_its_type() {
        let mut bytes = [0xAA; 6];
        write::<S16>(&mut bytes, 24, 1, -2);
        assert_eq!(bytes, [0xAA, 0xAA, 0xAA, 0xFE, 0xFF, 0]);
        assert_eq!(read::<S16>(&bytes, 24, 1), -2);
    }
}
