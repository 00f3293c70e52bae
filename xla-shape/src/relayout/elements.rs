//! Moving one element, whatever its size, and the definition of a relayout: every element by itself.

use crate::ElementType;
use crate::buffer::bits::{read_bits, write_bits};
use crate::map::StrideTable;

/// How wide elements are on both sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Widths {
    /// The bits that one element takes in the source.
    pub(super) from: usize,
    /// The bits that one element takes in the destination.
    pub(super) to: usize,
    /// The low bits that are moved: all of them, unless elements are packed on one side only.
    pub(super) value: usize,
}

/// The fewest packed elements that fill whole bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Unit {
    pub(super) elements: usize,
    pub(super) bytes: usize,
}

impl Unit {
    /// For elements that take so many bits.
    pub(super) const fn of(bits: usize) -> Self {
        // The largest power of two that divides both the bits of an element and those of a byte.
        let common = 1 << (bits | 8).trailing_zeros();
        Self { elements: 8 / common, bytes: bits / common }
    }
}

impl Widths {
    /// The widths of elements that take this many bits on the two sides; `None` if they do not go together.
    pub(super) const fn of(element_type: ElementType, from: usize, to: usize) -> Option<Self> {
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

    /// The unit of what is packed; `None` if both sides are, differently.
    pub(super) fn unit(self) -> Option<Unit> {
        (self.from == self.to || self.from.max(self.to) == 8).then(|| Unit::of(self.from.min(self.to)))
    }

    /// Copies the source's element number `from` to the destination's number `to`.
    pub(super) fn copy(self, source: &[u8], from: usize, destination: &mut [u8], to: usize) {
        if let Some(bytes) = self.bytes() {
            destination[to * bytes..][..bytes].copy_from_slice(&source[from * bytes..][..bytes]);
            return;
        }
        // A byte at a time; where the destination is wider, the bits above the value become 0.
        let mut done = 0;
        while done < self.to {
            let count = (self.to - done).min(8);
            let known = self.value.saturating_sub(done).min(count);
            let value = if known == 0 { 0 } else { read_bits(source, from * self.from + done, known) };
            write_bits(destination, to * self.to + done, count, value);
            done += count;
        }
    }

    /// Sets the destination's element number `to` to the low bits of `element`, whose bytes repeat.
    pub(super) fn fill(self, destination: &mut [u8], to: usize, element: &[u8]) {
        for (start, &byte) in (0..self.to).step_by(8).zip(element.iter().cycle()) {
            let count = (self.to - start).min(8);
            write_bits(destination, to * self.to + start, count, byte);
        }
    }
}

/// The relayout by its definition: each element is looked up on both sides. Always possible, never fast.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ElementByElement {
    pub(super) from: StrideTable,
    pub(super) to: StrideTable,
    /// Which of the source's dimensions each of the destination's is.
    pub(super) to_dimension: Vec<usize>,
}

impl ElementByElement {
    /// Calls `copy` with both places of every element.
    pub(super) fn for_each(&self, mut copy: impl FnMut(usize, usize)) {
        let (from, to) = (self.from.as_ref(), self.to.as_ref());
        if from.extents().contains(&0) {
            return;
        }
        let mut index = vec![0; from.extents().len()];
        let mut to_index = index.clone();
        'elements: loop {
            copy(from.linear_index(&index) as usize, to.linear_index(&to_index) as usize);
            // The next element in the row-major order of the destination.
            for (&dimension, entry) in self.to_dimension.iter().zip(&mut to_index).rev() {
                *entry = if *entry + 1 < from.extents()[dimension] { *entry + 1 } else { 0 };
                index[dimension] = *entry;
                if *entry > 0 {
                    continue 'elements;
                }
            }
            return;
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
