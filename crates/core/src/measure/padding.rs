//! How much padding an array has: in bytes, and by dimension.

use crate::layout::dimension::Dimension;
use crate::list::Blank;
use crate::map::{Digit, Extents, Intermediate, Source, Term, Workspace, build, capacity};
use crate::shape::Shape;
use crate::shape::array::ArrayShape;
use crate::sorting::sort_by_key;
use alloc::vec;
use alloc::vec::Vec;

/// One dimension, or several that `*` combines, with its size before and after padding.
///
/// The product of the padded sizes of all dimensions is the number of positions that the array's tiles span.
///
/// ```
/// use xla_shape_core::ArrayShape;
///
/// let shape: ArrayShape = "f32[100,1]{1,0:T(8,128)}".parse()?;
/// let padded = shape.padded_dimensions().unwrap();
/// assert_eq!((padded[0].size, padded[0].padded_size), (100, 104));
/// assert_eq!((padded[1].size, padded[1].padded_size), (1, 128), "this dimension wastes the memory");
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PaddedDimension {
    /// The logical dimensions, major to minor. Empty for the padding of a tile that has more dimensions than the array.
    pub dimensions: Vec<usize>,
    /// The product of their sizes or bounds, in elements. A split dimension counts with its largest piece.
    pub size: u64,
    /// The padded size, in elements.
    pub padded_size: u64,
}

impl ArrayShape {
    /// The bytes of the elements alone, without padding and without the prefix for bounded dimensions. A split
    /// dimension counts with its largest piece. `None` if a dimension is unbounded.
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

    /// The bytes of padding: those that are neither elements nor the prefix for bounded dimensions. `None` if a
    /// dimension is unbounded.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[100,1]{1,0:T(8,128)}".parse()?;
    /// assert_eq!(shape.padding_byte_size(), Some(53_248 - 400));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn padding_byte_size(&self) -> Option<u64> {
        self.array_size()?.checked_sub(self.unpadded_byte_size()?)
    }

    /// The bytes of the elements with padding, divided by their bytes without: 1 for an array without padding or
    /// elements. `None` if a dimension is unbounded.
    ///
    /// XLA's out-of-memory reports call this factor the expansion.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[4,128]{1,0:T(8,128)}".parse()?;
    /// assert_eq!(shape.expansion(), Some(2.0)); // half of the rows are padding
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn expansion(&self) -> Option<f64> {
        Some(expansion(self.unpadded_byte_size()?, self.padding_byte_size()?))
    }

    /// The size of each dimension before and after padding, without the padding for
    /// [`tail_padding_alignment_in_elements`](crate::Layout::tail_padding_alignment_in_elements). `None` if a dimension
    /// is unbounded.
    ///
    /// Entries are ordered by their first logical dimension; an entry without dimensions comes last.
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
                Intermediate::Term { term, .. } => groups.find(term),
                Intermediate::Combine { major, minor, .. } => groups.join(major, minor),
            };
            groups.intermediate_groups.push(group);
        }
        let mut padded =
            vec![PaddedDimension { dimensions: Vec::new(), size: 1, padded_size: 1 }; groups.parents.len()];
        for digit in digits.iter().take(built.digits) {
            let group = groups.find(digit.term);
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
            // An array without positions has no padding.
            padded.iter_mut().for_each(|group| group.padded_size = group.size);
        }
        padded.retain(|group| !group.dimensions.is_empty() || group.padded_size > 1);
        sort_by_key(&mut padded, |group| group.dimensions.iter().min().copied().unwrap_or(usize::MAX));
        Some(padded)
    }
}

fn expansion(unpadded: u64, padding: u64) -> f64 {
    if unpadded == 0 { 1.0 } else { 1.0 + padding as f64 / unpadded as f64 }
}

impl ArrayShape {
    /// The largest size that a dimension can grow to without the array taking more bytes, all else unchanged. `None` if
    /// there is no such dimension, if the layout has splits, or if a dimension is unbounded.
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
        // Bytes never decrease when a dimension grows, so a binary search finds the largest size that fits. An element
        // takes at least one bit: `bytes * 8 + 1` elements do not fit.
        let (mut good, mut bad) = (size, bytes.saturating_mul(8).max(size).saturating_add(1));
        while bad.saturating_sub(good) > 1 {
            let middle = good.midpoint(bad);
            *if fits(middle).is_some() { &mut good } else { &mut bad } = middle;
        }
        Some(good)
    }
}

/// Sets of dimensions that tiles combine, as a union-find structure over the dimension numbers and one more number, for
/// padding that belongs to no dimension.
struct Groups {
    parents: Vec<usize>,
    intermediate_groups: Vec<usize>,
}

impl Groups {
    fn new(num_dimensions: usize) -> Self {
        Self { parents: (0..=num_dimensions).collect(), intermediate_groups: Vec::new() }
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

    fn find(&mut self, term: Term) -> usize {
        let member = match term.source {
            Source::Zero => self.parents.len().saturating_sub(1),
            Source::Dimension(dimension) => dimension as usize,
            Source::Intermediate(number) => self.intermediate_groups.get(number as usize).copied().unwrap_or_default(),
        };
        self.root(member)
    }

    fn join(&mut self, a: Term, b: Term) -> usize {
        let (a, b) = (self.find(a), self.find(b));
        if let Some(parent) = self.parents.get_mut(a) {
            *parent = b;
        }
        b
    }
}

impl Shape {
    /// The bytes of all elements with padding, divided by their bytes without: 1 for a value without padding or
    /// elements. `None` if [`byte_size`](Self::byte_size) is `None`.
    ///
    /// ```
    /// let shape: xla_shape_core::Shape = "(f32[4,128]{1,0:T(8,128)}, token[])".parse()?;
    /// assert_eq!(shape.expansion(), Some(2.0));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn expansion(&self) -> Option<f64> {
        Some(expansion(self.unpadded_byte_size()?, self.padding_byte_size()?))
    }

    /// The bytes of padding; for a tuple, the sum over its leaves. `None` if [`byte_size`](Self::byte_size) is `None`.
    ///
    /// ```
    /// let shape: xla_shape_core::Shape = "(f32[4,128]{1,0:T(8,128)}, f32[2])".parse()?;
    /// assert_eq!((shape.byte_size(), shape.padding_byte_size()), (Some(4104), Some(2048)));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn padding_byte_size(&self) -> Option<u64> {
        self.sum_over_arrays(ArrayShape::padding_byte_size)
    }

    /// The bytes of the elements without padding; for a tuple, the sum over its leaves. `None` if
    /// [`byte_size`](Self::byte_size) is `None`.
    ///
    /// ```
    /// let shape: xla_shape_core::Shape = "(f32[4,128]{1,0:T(8,128)}, f32[2])".parse()?;
    /// assert_eq!(shape.unpadded_byte_size(), Some(2056));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
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
    fn a_tile_with_more_dimensions_than_the_array_pads_too() {
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
        // 1000 elements take 2 blocks of 512, and the last tile doubles each block.
        let uneven = shape("s4[1000]{0:T(512)(128)(8,1)E(4)}");
        assert_eq!((uneven.physical_elements(), uneven.largest_free_size(0)), (Some(2048), Some(1024)));
    }

    #[test]
    fn an_array_without_elements_has_expansion_1() {
        let empty = shape("f32[0,3]{1,0:T(8,128)}");
        assert_eq!((empty.padding_byte_size(), empty.expansion()), (Some(0), Some(1.0)));
        assert_eq!(shape("f32[?]").expansion(), None);
    }
}
