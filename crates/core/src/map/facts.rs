//! The properties of mdspan's layout mappings: is a map exhaustive, is it strided? It is always unique: no two elements
//! share a position.

use super::canonical::{Comparison, compare_in_const, first_moved};
use super::terms::View;
use super::{Digit, Source, StaticStrideTable, StrideTableError, StrideTableRef, Term};
use crate::list::Blank;
use alloc::vec;
use alloc::vec::Vec;

impl<'a> StrideTableRef<'a> {
    /// Whether every position holds an element: there is no padding, except that of
    /// [`tail_padding_alignment_in_elements`](crate::Layout::tail_padding_alignment_in_elements).
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// assert!("f32[16,128]{1,0:T(8,128)}".parse::<ArrayShape>()?.stride_table()?.as_ref().is_exhaustive());
    /// assert!(!"f32[15,128]{1,0:T(8,128)}".parse::<ArrayShape>()?.stride_table()?.as_ref().is_exhaustive());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; the index is below the length")]
    pub const fn is_exhaustive(self) -> bool {
        let mut elements = 1_u64;
        let mut i = 0;
        while i < self.extents.len() {
            elements = elements.saturating_mul(self.extents[i]);
            i += 1;
        }
        elements == self.positions || elements == 0
    }

    /// Whether each position is a sum of `index · stride` over the dimensions.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// assert!("f32[2,3]{0,1}".parse::<ArrayShape>()?.stride_table()?.as_ref().is_strided());
    /// assert!(!"f32[30,200]{1,0:T(8,128)}".parse::<ArrayShape>()?.stride_table()?.as_ref().is_strided());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_strided(self) -> bool {
        self.strides().is_some()
    }

    /// [`is_strided`](Self::is_strided) for a `const`. `false` also for a table that is too large to decide in a `const`.
    ///
    /// ```
    /// use xla_shape_core::{Layout, LayoutAttributes, map::StaticStrideTable};
    ///
    /// static LAYOUT: Layout = Layout::from_static(&[0, 1], &[], LayoutAttributes::DEFAULT);
    /// const IS_STRIDED: bool = match StaticStrideTable::new(&[2, 3], &LAYOUT) {
    ///     Ok(table) => table.with_extents(&[2, 3]).is_strided_in_const(),
    ///     Err(error) => error.panic(),
    /// };
    /// assert!(IS_STRIDED);
    /// ```
    #[must_use]
    #[expect(
        clippy::indexing_slicing,
        reason = "`const fn` has no iterators; both lists have an entry for each dimension"
    )]
    pub const fn is_strided_in_const(self) -> bool {
        let mut digits = [Digit::BLANK; StaticStrideTable::MAX_DIGITS];
        let mut unit = [0; StaticStrideTable::MAX_DIGITS];
        let mut values = [0; StaticStrideTable::MAX_INTERMEDIATES];
        let num_dimensions = self.extents.len();
        if num_dimensions > digits.len() || self.intermediates.len() > values.len() {
            return false;
        }
        let digits = digits.split_at_mut(num_dimensions).0;
        let index = unit.split_at_mut(num_dimensions).0;
        let maps = self.beside_strides(index, &mut values, digits);
        // A comparison of normal forms takes the compiler milliseconds for each type, so the last element is compared first. In most layouts that
        // are not strided, such as `f32[30,200]{1,0:T(8,128)}`, its position is not the one that strides would give.
        let mut i = 0;
        while i < num_dimensions {
            index[i] = self.extents[i].saturating_sub(1);
            i += 1;
        }
        if maps[0].table.linear_index_with(index, &mut values) != maps[1].table.linear_index_with(index, &mut values) {
            return false;
        }
        matches!(compare_in_const(maps, self.extents, &mut [0; StaticStrideTable::MAX_DIGITS]), Ok(Comparison::Equal))
    }

    /// The stride of each dimension, in elements, if the layout is strided. A dimension of size 1 has stride 0.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let strides = |text: &str| text.parse::<ArrayShape>().unwrap().stride_table().unwrap().as_ref().strides();
    /// assert_eq!(strides("f32[2,3]{0,1}"), Some(vec![1, 2]));
    /// assert_eq!(strides("f32[30,100]{1,0:T(8,128)}"), Some(vec![128, 1])); // one tile wide: rows of 128
    /// assert_eq!(strides("f32[30,200]{1,0:T(8,128)}"), None);
    /// ```
    #[must_use]
    pub fn strides(self) -> Option<Vec<u64>> {
        let mut unit = vec![0; self.extents.len()];
        let mut values = vec![0; self.intermediates.len()];
        let mut digits = vec![Digit::BLANK; self.extents.len()];
        let maps = self.beside_strides(&mut unit, &mut values, &mut digits);
        let is_strided = matches!(first_moved(maps, self.extents), Ok(None));
        is_strided.then(|| digits.iter().map(|digit| digit.stride).collect())
    }

    /// The index of the first element, in row-major order, whose position is not `Σ index · stride`; `None` if the layout is strided. The stride
    /// of a dimension is the distance between its elements 0 and 1.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let table = "f32[30,200]{1,0:T(8,128)}".parse::<ArrayShape>()?.stride_table()?;
    /// assert_eq!(table.as_ref().first_unstrided()?, Some(vec![0, 128])); // in the next tile
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the comparison reaches its step limit.
    pub fn first_unstrided(self) -> Result<Option<Vec<u64>>, StrideTableError> {
        let mut unit = vec![0; self.extents.len()];
        let mut values = vec![0; self.intermediates.len()];
        let mut digits = vec![Digit::BLANK; self.extents.len()];
        first_moved(self.beside_strides(&mut unit, &mut values, &mut digits), self.extents)
    }

    /// This map, and the strided map that agrees with it at each unit index: one digit for each dimension.
    #[expect(
        clippy::indexing_slicing,
        reason = "`const fn` has no iterators; every list has an entry for each dimension"
    )]
    const fn beside_strides<'b>(self, unit: &mut [u64], values: &mut [u64], digits: &'b mut [Digit]) -> [View<'b>; 2]
    where
        'a: 'b,
    {
        let mut i = 0;
        while i < self.extents.len() {
            let size = self.extents[i];
            let mut stride = 0;
            // A table without positions has no digits.
            if size > 1 && !self.digits.is_empty() {
                unit[i] = 1;
                stride = self.linear_index_with(unit, values);
                unit[i] = 0;
            }
            digits[i] = Digit { term: Term::whole(Source::Dimension(i as u32)), size, stride };
            i += 1;
        }
        let strided = StrideTableRef { digits, intermediates: &[], ..self };
        [View { table: self, dimensions: &[] }, View { table: strided, dimensions: &[] }]
    }

    /// Whether the layout is strided and has no padding: some order of the dimensions enumerates all positions one by
    /// one.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// assert!("f32[2,3]{0,1}".parse::<ArrayShape>()?.stride_table()?.as_ref().is_contiguous());
    /// assert!(!"f32[2,3]{1,0:T(4)}".parse::<ArrayShape>()?.stride_table()?.as_ref().is_contiguous()); // rows of 4
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_contiguous(self) -> bool {
        self.is_exhaustive() && self.is_strided()
    }
}
