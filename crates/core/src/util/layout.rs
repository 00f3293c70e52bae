//! Helpers for layouts, with the names of `LayoutUtil` (`xla/layout_util.h`).

use crate::layout::Layout;
use crate::layout::error::ValidationError;
use crate::layout::number::{DimensionError, DimensionNumber, resolve_distinct};
use alloc::vec;
use alloc::vec::Vec;

impl Layout {
    /// An untiled layout with this order of dimensions, the slowest varying one first.
    ///
    /// ```
    /// use xla_shape_core::Layout;
    ///
    /// assert_eq!(Layout::make_layout_from_major_to_minor(&[1, 2, 0])?.to_string(), "{0,2,1}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If `major_to_minor` is not a permutation of 0, 1, ….
    pub fn make_layout_from_major_to_minor(major_to_minor: &[usize]) -> Result<Self, ValidationError> {
        let mut minor_to_major = major_to_minor.to_vec();
        minor_to_major.reverse();
        Self::new(&minor_to_major).map_err(|error| error.with_position_from_back(major_to_minor.len()))
    }

    /// Whether these dimensions are consecutive in the layout's order. Their order among themselves does not matter.
    ///
    /// ```
    /// let layout: xla_shape_core::Layout = "{3,0,2,1}".parse()?;
    /// assert_eq!(layout.are_dimensions_consecutive([0, 3]), Ok(true));
    /// assert_eq!(layout.are_dimensions_consecutive([0, 1]), Ok(false));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such dimension, or one is named twice.
    pub fn are_dimensions_consecutive(
        &self,
        dimensions: impl IntoIterator<Item = impl Into<DimensionNumber>>,
    ) -> Result<bool, DimensionError> {
        let places = self.make_logical_to_physical();
        let dimensions = resolve_distinct(dimensions, self.num_dimensions())?;
        let mut places = dimensions.iter().filter_map(|&dimension| places.get(dimension)).collect::<Vec<_>>();
        places.sort_unstable();
        Ok(places.is_sorted_by(|a, b| a.abs_diff(**b) == 1))
    }

    /// The same layout without this dimension; the numbers of the dimensions after it decrease by 1. Tiles stay as they
    /// are.
    ///
    /// ```
    /// let layout: xla_shape_core::Layout = "{2,0,1}".parse()?;
    /// assert_eq!(layout.delete_dimension(0)?.to_string(), "{1,0}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such dimension.
    pub fn delete_dimension(&self, dimension: impl Into<DimensionNumber>) -> Result<Self, DimensionError> {
        let dimension = dimension.into().resolve(self.num_dimensions())?;
        let mut kept = vec![true; self.num_dimensions()];
        if let Some(kept) = kept.get_mut(dimension) {
            *kept = false;
        }
        Ok(self.with_kept_dimensions(&kept))
    }
}

impl ValidationError {
    /// The same error for the reversed list of `len` dimension numbers.
    fn with_position_from_back(self, len: usize) -> Self {
        let from_back = |position: usize| len.saturating_sub(position).saturating_sub(1);
        match self {
            Self::DimensionNumberOutOfRange { position, dimension, num_dimensions } => {
                Self::DimensionNumberOutOfRange { position: from_back(position), dimension, num_dimensions }
            }
            Self::DuplicateDimensionNumber { position, dimension } => {
                Self::DuplicateDimensionNumber { position: from_back(position), dimension }
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::layout::Layout;

    fn layout(text: &str) -> Layout {
        text.parse().unwrap()
    }

    #[test]
    fn from_major_to_minor_is_the_reverse() {
        assert_eq!(Layout::make_layout_from_major_to_minor(&[1, 2, 0]), Ok(layout("{0,2,1}")));
        let error = Layout::make_layout_from_major_to_minor(&[1, 0, 1]).unwrap_err();
        assert_eq!(error.part(), crate::layout::error::ShapePart::MinorToMajorEntry(0));
    }

    #[test]
    fn neighbours_in_the_order_are_consecutive() {
        let layout = layout("{3,0,2,1}");
        for (dimensions, expected) in
            [(&[3, 0][..], true), (&[2, 0, 1], true), (&[1, 0], false), (&[-1], true), (&[], true)]
        {
            assert_eq!(layout.are_dimensions_consecutive(dimensions.iter().copied()), Ok(expected), "{dimensions:?}");
        }
        assert!(layout.are_dimensions_consecutive([4]).is_err());
        assert!(layout.are_dimensions_consecutive([3, -1]).is_err());
    }
}
