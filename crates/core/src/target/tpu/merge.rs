//! Merging neighbouring dimensions, so that an array takes less padding.

use super::{DefaultLayoutError, Generation};
use crate::layout::Layout;
use crate::layout::dimension::Dimension;
use crate::limits::MAX_MERGED_DIMENSIONS;
use crate::shape::array::ArrayShape;
use crate::sorting::sort_by_key;
use alloc::vec::Vec;
use core::ops::Range;

/// An array with neighbouring dimensions merged, as a reshape does.
///
/// ```
/// use xla_shape_core::ArrayShape;
/// use xla_shape_core::tpu::Generation;
///
/// let array: ArrayShape = "bf16[1,3072]".parse()?;
/// let merge = array.best_merge(Generation::V5e)?.unwrap();
/// assert_eq!(merge.groups, [0..2], "both dimensions become one");
/// assert_eq!(merge.array.dimensions().len(), 1);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Merge {
    /// The ranges of dimensions that each become one dimension, in order.
    pub groups: Vec<Range<usize>>,
    /// The array of merged dimensions, in the device's default layout.
    pub array: ArrayShape,
}

impl ArrayShape {
    /// The merge of neighbouring dimensions that takes the fewest bytes on a TPU; among equals, one that merges the
    /// fewest dimensions. `None` if no merge takes fewer bytes than the array itself, a size is dynamic, or there are
    /// more than ten dimensions.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    /// use xla_shape_core::tpu::Generation;
    ///
    /// let array: ArrayShape = "bf16[1,3072]".parse()?;
    /// let merge = array.best_merge(Generation::V5e)?.unwrap();
    /// assert_eq!(merge.array.to_string(), "bf16[3072]{0:T(1024)(128)(2,1)}");
    /// assert_eq!(merge.array.byte_size(), Some(6144)); // and not 12,288
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`default_layout`](super::default_layout).
    pub fn best_merge(&self, generation: Generation) -> Result<Option<Merge>, DefaultLayoutError> {
        let mut least = self.clone().with_tpu_layout(generation)?.byte_size();
        let mut best = None;
        let borders = self.num_dimensions().saturating_sub(1);
        if !self.is_static() || self.num_dimensions() > MAX_MERGED_DIMENSIONS {
            return Ok(None);
        }
        // Each bit of a mask is a border between neighbours that stays. Masks with more bits merge less and come first.
        let mut masks = (0..1_u32 << borders).collect::<Vec<_>>();
        sort_by_key(&mut masks, |mask| core::cmp::Reverse(mask.count_ones()));
        for mask in masks {
            let groups = groups(self.num_dimensions(), mask);
            let sizes = groups.iter().map(|group| {
                let sizes = self.dimensions().get(group.clone()).unwrap_or_default();
                // This cannot saturate for a valid array, whose number of elements fits in a `u64`.
                sizes.iter().filter_map(|size| size.extent()).fold(1, |product, size| size.saturating_mul(product))
            });
            let sizes = sizes.map(Dimension::Static).collect::<Vec<_>>();
            let Ok(array) = Self::new(self.element_type(), &sizes, Layout::descending(sizes.len())) else { continue };
            let Ok(array) = array.with_tpu_layout(generation) else { continue };
            if array.byte_size() < least {
                least = array.byte_size();
                best = Some(Merge { groups, array });
            }
        }
        Ok(best)
    }
}

/// The groups of neighbouring dimensions between the borders that a mask keeps.
fn groups(num_dimensions: usize, mask: u32) -> Vec<Range<usize>> {
    let (mut groups, mut start) = (Vec::new(), 0);
    for end in 1..=num_dimensions {
        if end == num_dimensions || mask & 1_u32.checked_shl(end.saturating_sub(1) as u32).unwrap_or(0) != 0 {
            groups.push(start..end);
            start = end;
        }
    }
    groups
}
