//! What padding costs: in bytes, in all and by dimension.

use crate::layout::dimension::Dimension;
use crate::list::Blank;
use crate::map::{Digit, Extents, Intermediate, Source, Term, Workspace, build, capacity};
use crate::shape::Shape;
use crate::shape::array::ArrayShape;
use alloc::vec;
use alloc::vec::Vec;

/// One dimension, or several that `*` has combined, with its size before and after padding.
///
/// The padded sizes of all, multiplied, are the positions that the array's tiles span.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PaddedDimension {
    /// The logical dimensions, major to minor; none where a tile has more dimensions than the array.
    pub dimensions: Vec<usize>,
    /// The product of their sizes or bounds, in elements; for a split dimension, the size of the largest piece.
    pub size: u64,
    /// The room they take, in elements.
    pub padded_size: u64,
}

impl ArrayShape {
    /// The bytes that the elements would take side by side, without padding and without the prefix for bounded
    /// dimensions; for a split dimension, those of the largest piece. `None` if a dimension is unbounded.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[100,1]{1,0:T(8,128)}".parse()?;
    /// assert_eq!((shape.unpadded_byte_size(), shape.byte_size()), (Some(400), Some(53_248)));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn unpadded_byte_size(&self) -> Option<u64> {
        self.bytes_of(self.max_elements_in_per_split()?)
    }

    /// The bytes that are neither elements nor the prefix for bounded dimensions. `None` if a dimension is unbounded.
    #[must_use]
    pub fn padding_byte_size(&self) -> Option<u64> {
        self.array_size()?.checked_sub(self.unpadded_byte_size()?)
    }

    /// The bytes of the elements with padding, divided by those without: 1 for an array that has none.
    /// `None` if a dimension is unbounded.
    ///
    /// Out-of-memory reports of XLA call it the expansion.
    #[must_use]
    pub fn expansion(&self) -> Option<f64> {
        Some(expansion(self.unpadded_byte_size()?, self.padding_byte_size()?))
    }

    /// The size of each dimension before and after padding, without the padding for
    /// [`tail_padding_alignment_in_elements`](crate::Layout::tail_padding_alignment_in_elements). `None` if a dimension
    /// is unbounded.
    ///
    /// Ordered by the first dimension of each; what belongs to no dimension comes last.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[3,5]{1,0:T(2,2)}".parse()?;
    /// let padded: Vec<_> = shape.padded_dimensions().unwrap().iter().map(|d| (d.size, d.padded_size)).collect();
    /// assert_eq!(padded, [(3, 4), (5, 6)]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn padded_dimensions(&self) -> Option<Vec<PaddedDimension>> {
        let (num_digits, num_intermediates) = capacity(self.layout());
        let mut digits = vec![Digit::BLANK; num_digits];
        let mut intermediates = vec![Intermediate::BLANK; num_intermediates];
        let workspace = Workspace { digits: &mut digits, intermediates: Some(&mut intermediates) };
        let built = build(Extents::LargestPieces(self.dimensions()), self.layout(), workspace).ok()?;
        let mut groups = Groups::new(self.num_dimensions());
        for &intermediate in intermediates.iter().take(built.intermediates) {
            let group = match intermediate {
                Intermediate::Term { term, .. } => groups.of(term),
                Intermediate::Combine { major, minor, .. } => groups.join(major, minor),
            };
            groups.of_intermediates.push(group);
        }
        let mut padded =
            vec![PaddedDimension { dimensions: Vec::new(), size: 1, padded_size: 1 }; groups.parents.len()];
        for digit in digits.iter().take(built.digits) {
            let group = groups.of(digit.term);
            let padded_size = &mut padded.get_mut(group)?.padded_size;
            *padded_size = padded_size.saturating_mul(digit.size);
        }
        for &dimension in self.layout().minor_to_major().iter().rev() {
            let group = groups.root(dimension);
            let group = padded.get_mut(group)?;
            let size = self.max_split_size(dimension)?;
            group.dimensions.push(dimension);
            group.size = group.size.saturating_mul(size);
        }
        if built.positions == 0 {
            // Without positions there is no room to speak of.
            padded.iter_mut().for_each(|group| group.padded_size = group.size);
        }
        padded.retain(|group| !group.dimensions.is_empty() || group.padded_size > 1);
        padded.sort_by_key(|group| group.dimensions.iter().min().copied().unwrap_or(usize::MAX));
        Some(padded)
    }
}

fn expansion(unpadded: u64, padding: u64) -> f64 {
    if unpadded == 0 { 1.0 } else { 1.0 + padding as f64 / unpadded as f64 }
}

impl ArrayShape {
    /// The largest size that a dimension could have without the array taking more bytes, everything else staying as it
    /// is. `None` if there is no such dimension, if it has splits, or if a dimension is unbounded.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[100,1]{1,0:T(8,128)}".parse()?;
    /// assert_eq!((shape.largest_free_size(0), shape.largest_free_size(1)), (Some(104), Some(128)));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn largest_free_size(&self, dimension: usize) -> Option<u64> {
        let bytes = self.byte_size()?;
        let size = self.dimensions().get(dimension)?.extent()?;
        if !self.layout().split_configs().is_empty() {
            return None;
        }
        let fits = |size| {
            let mut dimensions = self.dimensions().to_vec();
            *dimensions.get_mut(dimension)? = Dimension::Static(size);
            let other = Self::new(self.element_type(), &dimensions, self.layout().clone()).ok()?;
            other.byte_size().filter(|&other| other <= bytes)
        };
        // Bytes never shrink when a dimension grows: between a size that fits and one that does not lies the largest. An
        // element takes one bit at least, and the last byte may have bits to spare.
        let (mut good, mut bad) = (size, bytes.saturating_mul(8).max(size).saturating_add(1));
        while bad.saturating_sub(good) > 1 {
            let middle = good.midpoint(bad);
            *if fits(middle).is_some() { &mut good } else { &mut bad } = middle;
        }
        Some(good)
    }
}

/// Which dimensions lie as one: sets of dimension numbers, and of one number more for what belongs to none.
struct Groups {
    parents: Vec<usize>,
    of_intermediates: Vec<usize>,
}

impl Groups {
    fn new(num_dimensions: usize) -> Self {
        Self { parents: (0..=num_dimensions).collect(), of_intermediates: Vec::new() }
    }

    fn root(&mut self, mut member: usize) -> usize {
        loop {
            let parent = self.parents.get(member).copied().unwrap_or(member);
            if parent == member {
                return member;
            }
            let grandparent = self.parents.get(parent).copied().unwrap_or(parent);
            if let Some(slot) = self.parents.get_mut(member) {
                *slot = grandparent;
            }
            member = grandparent;
        }
    }

    fn of(&mut self, term: Term) -> usize {
        let member = match term.source {
            Source::Zero => self.parents.len().saturating_sub(1),
            Source::Dimension(dimension) => dimension as usize,
            Source::Intermediate(number) => self.of_intermediates.get(number as usize).copied().unwrap_or_default(),
        };
        self.root(member)
    }

    fn join(&mut self, a: Term, b: Term) -> usize {
        let (a, b) = (self.of(a), self.of(b));
        if let Some(parent) = self.parents.get_mut(a) {
            *parent = b;
        }
        b
    }
}

impl Shape {
    /// The bytes of the value, divided by those of its elements without padding: 1 if there is none. `None` if
    /// [`byte_size`](Self::byte_size) is `None`.
    #[must_use]
    pub fn expansion(&self) -> Option<f64> {
        Some(expansion(self.unpadded_byte_size()?, self.padding_byte_size()?))
    }

    /// The bytes of padding: for a tuple, the sum over its leaves.
    /// `None` where [`byte_size`](Self::byte_size) is.
    #[must_use]
    pub fn padding_byte_size(&self) -> Option<u64> {
        self.sum_over_arrays(ArrayShape::padding_byte_size)
    }

    /// The bytes that the elements take without padding: for a tuple, the sum over its leaves.
    /// `None` where [`byte_size`](Self::byte_size) is.
    #[must_use]
    pub fn unpadded_byte_size(&self) -> Option<u64> {
        self.sum_over_arrays(ArrayShape::unpadded_byte_size)
    }
}

#[cfg(test)]
mod tests {
    use crate::shape::array::ArrayShape;
    use alloc::vec::Vec;

    fn shape(text: &str) -> ArrayShape {
        text.parse().unwrap()
    }

    #[test]
    fn combined_dimensions_are_padded_as_one() {
        let padded = shape("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}").padded_dimensions().unwrap();
        let padded = padded.iter().map(|p| (p.dimensions.as_slice(), p.size, p.padded_size)).collect::<Vec<_>>();
        assert_eq!(padded, [(&[0, 1, 2][..], 112, 112), (&[3, 4], 110, 111)]);
    }

    #[test]
    fn a_tile_with_more_dimensions_pads_what_is_none() {
        let padded = shape("f32[3]{0:T(8,128)}").padded_dimensions().unwrap();
        let padded = padded.iter().map(|p| (p.dimensions.as_slice(), p.size, p.padded_size)).collect::<Vec<_>>();
        assert_eq!(padded, [(&[0][..], 3, 128), (&[], 1, 8)]);
    }

    #[test]
    fn only_the_largest_piece_of_a_split_counts() {
        let split = shape("f32[64,128]{1,0:T(8,128)SC(1:32)}");
        assert_eq!(split.unpadded_byte_size(), Some(64 * 96 * 4));
        assert_eq!(split.padding_byte_size(), Some(64 * 32 * 4));
    }

    #[test]
    fn padding_inside_a_block_cannot_be_filled() {
        // 1000 lie in 2 blocks of 512, which the last tile spreads over twice the room.
        let uneven = shape("s4[1000]{0:T(512)(128)(8,1)E(4)}");
        assert_eq!((uneven.physical_elements(), uneven.largest_free_size(0)), (Some(2048), Some(1024)));
    }

    #[test]
    fn nothing_is_not_expanded() {
        let empty = shape("f32[0,3]{1,0:T(8,128)}");
        assert_eq!((empty.padding_byte_size(), empty.expansion()), (Some(0), Some(1.0)));
        assert_eq!(shape("f32[?]").expansion(), None);
    }
}
