//! Copying one element of any size, and the definition of a relayout: element by element.

use super::pulse::Pulse;
use crate::bits::{read_bits, write_bits};
use xla_shape_core::ElementType;
use xla_shape_core::map::{StrideTable, increment};

/// The bits of elements on both sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Widths {
    /// The bits that one element takes in the source.
    pub(super) from: usize,
    /// The bits that one element takes in the destination.
    pub(super) to: usize,
    /// The low bits that are copied: all of them, unless elements are packed on one side only.
    pub(super) value: usize,
}

/// Whether elements that take `from` bits in the source and `to` bits in the destination can be copied: the numbers are the same, or one
/// side is packed (`E(4)`) and the other takes a byte for each element.
///
/// ```
/// use xla_shape_core::ElementType;
/// use xla_shape_relayout::widths_match;
///
/// assert!(widths_match(ElementType::S4, 4, 8));
/// assert!(!widths_match(ElementType::F32, 32, 16));
/// ```
#[must_use]
pub const fn widths_match(element_type: ElementType, from: u64, to: u64) -> bool {
    Widths::new(element_type, from as usize, to as usize).is_some()
}

/// The fewest packed elements that fill whole bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Unit {
    pub(super) elements: usize,
    pub(super) bytes: usize,
}

impl Unit {
    /// The unit of elements that take `bits` bits.
    pub(super) const fn for_bits(bits: usize) -> Self {
        // The largest power of two that divides both the bits of an element and those of a byte.
        let common = 1 << (bits | 8).trailing_zeros();
        Self { elements: 8 / common, bytes: bits / common }
    }
}

impl Widths {
    /// The widths of elements that take `from` and `to` bits; `None` if such elements cannot be copied. See [`widths_match`].
    pub(super) const fn new(element_type: ElementType, from: usize, to: usize) -> Option<Self> {
        if from == to {
            return Some(Self { from, to, value: from });
        }
        let value = element_type.bits() as usize;
        let (narrow, wide) = if from < to { (from, to) } else { (to, from) };
        if wide <= 8 && value <= narrow { Some(Self { from, to, value }) } else { None }
    }

    /// The bytes of one element, if it takes the same whole number of bytes on both sides.
    pub(super) fn bytes(self) -> Option<usize> {
        (self.from == self.to && self.from.is_multiple_of(8)).then_some(self.from / 8)
    }

    /// The unit of the packed elements; `None` if the two sides are packed differently.
    pub(super) fn unit(self) -> Option<Unit> {
        (self.from == self.to || self.from.max(self.to) == 8).then(|| Unit::for_bits(self.from.min(self.to)))
    }

    /// Copies the element at position `from` of the source to position `to` of the destination.
    pub(super) fn copy(self, source: &[u8], from: usize, destination: &mut [u8], to: usize) {
        if let Some(bytes) = self.bytes() {
            destination[to * bytes..][..bytes].copy_from_slice(&source[from * bytes..][..bytes]);
            return;
        }
        // One byte at a time. If the destination is wider, the bits above the value become 0.
        let mut done = 0;
        while done < self.to {
            let count = (self.to - done).min(8);
            let known = self.value.saturating_sub(done).min(count);
            let value = if known == 0 { 0 } else { read_bits(source, from * self.from + done, known) };
            write_bits(destination, to * self.to + done, count, value);
            done += count;
        }
    }

    /// Sets the element at position `to` of the destination to the low bits of `element`, whose bytes repeat.
    pub(super) fn fill(self, destination: &mut [u8], to: usize, element: &[u8]) {
        for (start, &byte) in (0..self.to).step_by(8).zip(element.iter().cycle()) {
            let count = (self.to - start).min(8);
            write_bits(destination, to * self.to + start, count, byte);
        }
    }
}

/// A relayout by its definition: the positions of each element are looked up on both sides. Always possible, never fast.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ElementByElement {
    pub(super) from: StrideTable,
    pub(super) to: StrideTable,
    /// For each dimension of the destination, which dimension of the source it is.
    pub(super) to_dimension: Vec<usize>,
}

impl ElementByElement {
    /// Calls `copy` with both positions of every element.
    pub(super) fn for_each(&self, mut pulse: Pulse<'_>, mut copy: impl FnMut(usize, usize)) {
        let (from, to) = (self.from.as_ref(), self.to.as_ref());
        if from.extents().contains(&0) {
            return;
        }
        let mut index = vec![0; from.extents().len()];
        let mut to_index = index.clone();
        loop {
            copy(from.linear_index(&index) as usize, to.linear_index(&to_index) as usize);
            // In row-major order of the destination.
            if !pulse.after(1) || !increment(&mut to_index, to.extents()) {
                return;
            }
            self.to_dimension.iter().zip(&to_index).for_each(|(&dimension, &entry)| index[dimension] = entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Widths;

    #[test]
    fn only_the_bits_of_the_element_change() {
        for bits in [1, 2, 3, 4, 5, 6, 7, 9, 12, 20] {
            for index in 0..9 {
                for background in [0, 0xff] {
                    let mut bytes = [background; 32];
                    let widths = Widths { from: bits, to: bits, value: bits };
                    widths.copy(&[!background; 32], 3, &mut bytes, index);
                    for bit in 0..256 {
                        let changed = bytes[bit / 8] >> (bit % 8) & 1 != background & 1;
                        assert_eq!(changed, (index * bits..(index + 1) * bits).contains(&bit), "{bits} {index} {bit}");
                    }
                }
            }
        }
    }

    #[test]
    fn unpacking_clears_the_high_bits() {
        let mut bytes = [0xff; 2];
        Widths { from: 4, to: 8, value: 4 }.copy(&[0x9a], 1, &mut bytes, 0);
        assert_eq!(bytes, [0x09, 0xff]);
    }
}
