//! The order of a layout's dimensions: asking about it and changing it.

use crate::layout::error::ValidationError;
use crate::layout::number::{DimensionError, DimensionNumber, resolve_distinct};
use crate::layout::{Layout, SplitConfig};
use crate::list::List;
use alloc::vec;
use alloc::vec::Vec;

impl Layout {
    /// An untiled layout with this order of dimensions, the slowest varying one first.
    ///
    /// # Errors
    /// If `major_to_minor` is not a permutation of 0, 1, ….
    pub fn make_layout_from_major_to_minor(major_to_minor: &[usize]) -> Result<Self, ValidationError> {
        let mut minor_to_major = major_to_minor.to_vec();
        minor_to_major.reverse();
        Self::new(&minor_to_major).map_err(|error| error.with_position_from_back(major_to_minor.len()))
    }

    /// Whether the dimensions lie in their order, the last one the most minor: row-major, the default ("dim 0 is major").
    ///
    /// Tiles do not matter. A layout of at most one dimension is in both orders.
    #[must_use]
    pub fn is_monotonic_with_dim0_major(&self) -> bool {
        self.minor_to_major().is_sorted_by(|a, b| a > b)
    }

    /// Whether the dimensions lie in reverse order, dimension 0 the most minor: column-major ("dim 0 is minor").
    #[must_use]
    pub fn is_monotonic_with_dim0_minor(&self) -> bool {
        self.minor_to_major().is_sorted()
    }

    /// Whether there are no tiles.
    #[must_use]
    pub const fn is_untiled(&self) -> bool {
        self.tiles().is_empty()
    }

    /// The dimension at this place from major to minor; 0 gives the most major one.
    #[must_use]
    pub fn major(&self, physical_dimension: usize) -> Option<usize> {
        self.minor_to_major().iter().rev().nth(physical_dimension).copied()
    }

    /// The dimension at this place from minor to major; 0 gives the most minor one.
    #[must_use]
    pub fn minor(&self, place: usize) -> Option<usize> {
        self.minor_to_major().get(place).copied()
    }

    /// For each dimension, its place from major to minor: the inverse of [`major`](Self::major).
    ///
    /// ```
    /// let layout: xla_shape_core::Layout = "{2,0,1}".parse()?;
    /// assert_eq!(layout.make_logical_to_physical(), [1, 0, 2]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn make_logical_to_physical(&self) -> Vec<usize> {
        let mut places = vec![0; self.num_dimensions()];
        for (place, &dimension) in self.minor_to_major().iter().rev().enumerate() {
            if let Some(entry) = places.get_mut(dimension) {
                *entry = place;
            }
        }
        places
    }

    /// Whether these dimensions are neighbours in the layout's order. Their order among themselves does not matter.
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

    /// The same layout with this dimension the most major. Splits stay with their dimensions.
    ///
    /// # Errors
    /// If there is no such dimension.
    pub fn move_dim_to_major(&self, dimension: impl Into<DimensionNumber>) -> Result<Self, DimensionError> {
        let dimension = dimension.into().resolve(self.num_dimensions())?;
        let others = self.minor_to_major().iter().copied().filter(|&other| other != dimension);
        Ok(self.reordered(others.chain([dimension]), Some))
    }

    /// The same layout with this dimension the most minor. Splits stay with their dimensions.
    ///
    /// # Errors
    /// If there is no such dimension.
    pub fn move_dim_to_minor(&self, dimension: impl Into<DimensionNumber>) -> Result<Self, DimensionError> {
        let dimension = dimension.into().resolve(self.num_dimensions())?;
        let others = self.minor_to_major().iter().copied().filter(|&other| other != dimension);
        Ok(self.reordered([dimension].into_iter().chain(others), Some))
    }

    /// The same layout without this dimension; those after it move up by one number. Tiles stay as they are.
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

    /// The same layout without the dimensions that are not kept.
    pub(crate) fn with_kept_dimensions(&self, kept: &[bool]) -> Self {
        let mut following = 0..;
        let numbers = kept.iter().map(|&kept| if kept { following.next() } else { None }).collect::<Vec<_>>();
        let number = |dimension: usize| numbers.get(dimension).copied().flatten();
        self.reordered(self.minor_to_major().iter().filter_map(|&dimension| number(dimension)), number)
    }

    /// The layout with another order, in which `renumber` gives each of the present dimensions its new number, or
    /// takes it away. Splits go with their dimensions.
    ///
    /// The caller sees to it that the order is a permutation and the numbers are those in it.
    pub(crate) fn reordered(
        &self,
        minor_to_major: impl IntoIterator<Item = usize>,
        renumber: impl Fn(usize) -> Option<usize>,
    ) -> Self {
        let mut order = List::EMPTY;
        for dimension in minor_to_major {
            order.push(dimension);
        }
        let mut layout = Self { minor_to_major: order, split_configs: List::EMPTY, ..self.clone() };
        for split in self.split_configs() {
            let dimension = self.major(split.dimension()).and_then(&renumber);
            let place = layout.minor_to_major().iter().rev().position(|&other| Some(other) == dimension);
            if let Some(dimension) = place {
                layout.split_configs.push(SplitConfig { dimension, split_indices: split.split_indices.clone() });
            }
        }
        layout
    }
}

impl ValidationError {
    /// The same error of a list of dimension numbers that was read from its other end.
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
    use alloc::string::ToString;

    fn layout(text: &str) -> Layout {
        text.parse().unwrap()
    }

    #[test]
    fn both_orders_are_told_apart() {
        assert!(layout("{2,1,0:T(8,128)}").is_monotonic_with_dim0_major());
        assert!(!layout("{2,1,0}").is_monotonic_with_dim0_minor());
        assert!(layout("{0,1,2}").is_monotonic_with_dim0_minor());
        assert!(!layout("{0,2,1}").is_monotonic_with_dim0_major());
        assert!(layout("{0}").is_monotonic_with_dim0_major() && layout("{0}").is_monotonic_with_dim0_minor());
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

    #[test]
    fn splits_stay_with_their_dimensions() {
        // Dimension 0 is physical dimension 1 of {0,2,1}… and dimension 1 is the most major.
        let layout = layout("{0,2,1:T(8,128)S(1)SC(0:5)(2:3,4)}");
        assert_eq!(layout.move_dim_to_major(0).unwrap().to_string(), "{2,1,0:T(8,128)S(1)SC(1:5)(0:3,4)}");
        assert_eq!(layout.move_dim_to_minor(1).unwrap().to_string(), "{1,0,2:T(8,128)S(1)SC(2:5)(1:3,4)}");
        assert_eq!(layout.delete_dimension(-3).unwrap().to_string(), "{1,0:T(8,128)S(1)SC(0:5)}");
        assert_eq!(layout.delete_dimension(1).unwrap().to_string(), "{0,1:T(8,128)S(1)SC(1:3,4)}");
        assert!(layout.move_dim_to_major(3).is_err());
    }

    #[test]
    fn the_inverse_of_major_is_the_place() {
        let layout = layout("{3,0,2,1}");
        for (dimension, place) in layout.make_logical_to_physical().into_iter().enumerate() {
            assert_eq!(layout.major(place), Some(dimension));
            assert_eq!(layout.minor(3 - place), Some(dimension));
        }
        assert_eq!((layout.major(4), layout.minor(4)), (None, None));
    }
}
