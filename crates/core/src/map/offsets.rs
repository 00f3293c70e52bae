//! Look-up tables for positions: one for each dimension.

#![expect(clippy::indexing_slicing, reason = "the dimension is below the length of the index")]

use super::{Intermediate, StrideTableRef};
use alloc::vec;
use alloc::vec::Vec;

/// Look-up tables for positions: for each dimension, what each index adds to the position. Once they are built, a
/// position costs one look-up and one addition for each dimension.
///
/// Unless `*` combines dimensions, the position of an element is a sum of one function of each index. The tables take 8
/// bytes for each index of each dimension: 40 KiB for `f32[4096,1024]`.
///
/// ```
/// use xla_shape_core::ArrayShape;
/// use xla_shape_core::map::OffsetTables;
///
/// let table = "bf16[64,256]{1,0:T(8,128)(2,1)}".parse::<ArrayShape>()?.stride_table()?;
/// let offsets = OffsetTables::new(table.as_ref()).unwrap();
/// assert_eq!(offsets.position(&[13, 200]), Some(table.as_ref().linear_index(&[13, 200])));
/// assert_eq!(offsets.position(&[13, 256]), None);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct OffsetTables(Vec<Vec<u64>>);

impl OffsetTables {
    /// The most entries that the tables of an array can have in total: 8 MiB.
    pub const MAX_ENTRIES: u64 = 1 << 20;

    /// The tables of a map; `None` if `*` combines dimensions, a dimension is unbounded, or there would be more than
    /// [`MAX_ENTRIES`](Self::MAX_ENTRIES).
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, map::OffsetTables};
    ///
    /// let table = |text: &str| text.parse::<ArrayShape>().unwrap().stride_table().unwrap();
    /// assert!(OffsetTables::new(table("f32[64,256]{1,0:T(8,128)}").as_ref()).is_some());
    /// assert!(OffsetTables::new(table("f32[3,5]{1,0:T(*,4)}").as_ref()).is_none());
    /// ```
    #[must_use]
    pub fn new(table: StrideTableRef<'_>) -> Option<Self> {
        let entries = table.extents.iter().fold(0_u64, |sum, extent| sum.saturating_add(*extent));
        if entries > Self::MAX_ENTRIES || !table.is_sum_over_dimensions() {
            return None;
        }
        let mut index = vec![0; table.extents.len()];
        let mut values = vec![0; table.intermediates.len()];
        let mut tables = Vec::with_capacity(index.len());
        for (dimension, &extent) in table.extents.iter().enumerate() {
            let mut offset = |number| {
                index[dimension] = number;
                table.linear_index_with(&index, &mut values)
            };
            tables.push((0..extent).map(&mut offset).collect());
            index[dimension] = 0;
        }
        Some(Self(tables))
    }

    /// The position of an element, in elements; `None` if the index is out of bounds.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, map::OffsetTables};
    ///
    /// let table = "f32[3,5]{0,1}".parse::<ArrayShape>()?.stride_table()?;
    /// let offsets = OffsetTables::new(table.as_ref()).unwrap();
    /// assert_eq!((offsets.position(&[1, 2]), offsets.position(&[3, 0])), (Some(7), None));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn position(&self, index: &[u64]) -> Option<u64> {
        if index.len() != self.0.len() {
            return None;
        }
        let mut position = 0_u64;
        for (&number, table) in index.iter().zip(&self.0) {
            position = position.wrapping_add(*table.get(usize::try_from(number).ok()?)?);
        }
        Some(position)
    }
}

impl StrideTableRef<'_> {
    /// Whether the position of an element is a sum of one function of each index: `*` combines no dimensions, and every
    /// size is known.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let table = |text: &str| text.parse::<ArrayShape>().unwrap().stride_table().unwrap();
    /// assert!(table("f32[64,256]{1,0:T(8,128)}").as_ref().is_sum_over_dimensions());
    /// assert!(!table("f32[3,5]{1,0:T(*,4)}").as_ref().is_sum_over_dimensions());
    /// ```
    #[must_use]
    pub fn is_sum_over_dimensions(self) -> bool {
        !combines(self.intermediates) && !self.digits.iter().any(|digit| digit.is_unbounded())
    }
}

/// Whether one of the intermediate values combines dimensions, as `*` does.
pub(super) fn combines(intermediates: &[Intermediate]) -> bool {
    intermediates.iter().any(|intermediate| matches!(intermediate, Intermediate::Combine { .. }))
}
