//! What the mdspan concept of a layout mapping asks: is it exhaustive, strided? It is always unique: no two elements share a position.

use super::canonical::{Comparison, compare_in_const, first_moved};
use super::terms::View;
use super::{Digit, Source, StaticStrideTable, StrideTable, StrideTableRef, Term};
use crate::list::Blank;
use alloc::vec;
use alloc::vec::Vec;

impl StrideTableRef<'_> {
    /// Whether there is an element at every position: no padding, apart from that of
    /// [`tail_padding_alignment_in_elements`](crate::Layout::tail_padding_alignment_in_elements).
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; the index is below the length")]
    #[expect(clippy::arithmetic_side_effects, reason = "the counter is below the length")]
    pub const fn is_exhaustive(self) -> bool {
        let mut elements = 1_u64;
        let mut i = 0;
        while i < self.extents.len() {
            elements = elements.saturating_mul(self.extents[i]);
            i += 1;
        }
        elements == self.positions || elements == 0
    }

    /// Whether positions are a sum of `index · stride` over the dimensions; in a `const`. A table that is too intricate
    /// for a `const` counts as not strided.
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; the index is below the length")]
    #[expect(clippy::arithmetic_side_effects, reason = "the counter is below the length")]
    pub const fn is_strided(self) -> bool {
        let mut digits = [Digit::BLANK; StaticStrideTable::MAX_DIGITS];
        let mut unit = [0; StaticStrideTable::MAX_DIGITS];
        let mut values = [0; StaticStrideTable::MAX_VALUES];
        let num_dimensions = self.extents.len();
        if num_dimensions > digits.len() || self.values.len() > values.len() {
            return false;
        }
        let mut i = 0;
        while i < num_dimensions {
            unit[i] = 1;
            digits[i] = strided_digit(i, self.extents[i], self.linear_index_with(&unit, &mut values));
            unit[i] = 0;
            i += 1;
        }
        let strided = StrideTableRef { digits: digits.split_at(num_dimensions).0, values: &[], ..self };
        let maps = [View { table: self, dimensions: &[] }, View { table: strided, dimensions: &[] }];
        matches!(compare_in_const(maps, self.extents, &mut [0; StaticStrideTable::MAX_DIGITS]), Ok(Comparison::Alike))
    }

    /// Whether the layout is strided and has no padding: the elements of one dimension after the other, side by side.
    #[must_use]
    pub const fn is_contiguous(self) -> bool {
        self.is_exhaustive() && self.is_strided()
    }
}

const fn strided_digit(dimension: usize, size: u64, stride: u64) -> Digit {
    Digit { term: Term::whole(Source::Dimension(dimension as u32)), size, stride }
}

impl StrideTable {
    /// Whether there is an element at every position: no padding, apart from that of
    /// [`tail_padding_alignment_in_elements`](crate::Layout::tail_padding_alignment_in_elements).
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// assert!("f32[16,128]{1,0:T(8,128)}".parse::<ArrayShape>()?.stride_table()?.is_exhaustive());
    /// assert!(!"f32[15,128]{1,0:T(8,128)}".parse::<ArrayShape>()?.stride_table()?.is_exhaustive());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_exhaustive(&self) -> bool {
        self.as_ref().is_exhaustive()
    }

    /// Whether positions are a sum of `index · stride` over the dimensions.
    #[must_use]
    pub fn is_strided(&self) -> bool {
        self.strides().is_some()
    }

    /// The stride of each dimension, in elements, if the layout is strided. A dimension of size 1 has stride 0.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let strides = |text: &str| text.parse::<ArrayShape>().unwrap().stride_table().unwrap().strides();
    /// assert_eq!(strides("f32[2,3]{0,1}"), Some(vec![1, 2]));
    /// assert_eq!(strides("f32[30,100]{1,0:T(8,128)}"), Some(vec![128, 1])); // one tile wide: rows of 128
    /// assert_eq!(strides("f32[30,200]{1,0:T(8,128)}"), None);
    /// ```
    #[must_use]
    pub fn strides(&self) -> Option<Vec<u64>> {
        let mut unit = vec![0; self.extents.len()];
        let mut strides = Vec::with_capacity(unit.len());
        let mut values = vec![0; self.values.len()];
        // Where there are positions, no more than 63 dimensions are larger than 1; where there are none, there are no digits.
        for (dimension, &size) in self.extents.iter().enumerate() {
            let Some(entry) = unit.get_mut(dimension).filter(|_| size > 1 && !self.digits.is_empty()) else {
                strides.push(0);
                continue;
            };
            *entry = 1;
            strides.push(self.as_ref().linear_index_with(&unit, &mut values));
            if let Some(entry) = unit.get_mut(dimension) {
                *entry = 0;
            }
        }
        let digits = strides.iter().zip(&self.extents).enumerate();
        let digits = digits.map(|(i, (&stride, &size))| strided_digit(i, size, stride)).collect::<Vec<_>>();
        let strided = StrideTableRef { digits: &digits, values: &[], ..self.as_ref() };
        let maps = [self.as_ref(), strided].map(|table| View { table, dimensions: &[] });
        matches!(first_moved(maps, &self.extents), Ok(None)).then_some(strides)
    }

    /// Whether the layout is strided and has no padding: the elements of one dimension after the other, side by side.
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        self.is_exhaustive() && self.is_strided()
    }
}
