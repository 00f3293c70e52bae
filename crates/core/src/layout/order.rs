//! The order of a layout's dimensions: reading it and changing it. Functions with XLA's names are those of `LayoutUtil`
//! (`xla/layout_util.cc`).

use crate::layout::number::{DimensionError, DimensionNumber};
use crate::layout::{Layout, SplitConfig};
use crate::list::List;
use alloc::vec;
use alloc::vec::Vec;

impl Layout {
    /// Whether the order is row-major, the default: the last dimension is the most minor.
    ///
    /// Tiles do not matter. A layout of at most one dimension is both row-major and column-major.
    ///
    /// ```
    /// use xla_shape_core::Layout;
    ///
    /// assert!("{1,0:T(8,128)}".parse::<Layout>()?.is_monotonic_with_dim0_major());
    /// assert!(!"{0,1}".parse::<Layout>()?.is_monotonic_with_dim0_major());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_monotonic_with_dim0_major(&self) -> bool {
        self.minor_to_major().is_sorted_by(|a, b| a > b)
    }

    /// Whether the order is column-major: dimension 0 is the most minor. Tiles do not matter.
    ///
    /// ```
    /// assert!("{0,1}".parse::<xla_shape_core::Layout>()?.is_monotonic_with_dim0_minor());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_monotonic_with_dim0_minor(&self) -> bool {
        self.minor_to_major().is_sorted()
    }

    /// Whether there are no tiles.
    ///
    /// ```
    /// assert!(!"{1,0:T(8,128)}".parse::<xla_shape_core::Layout>()?.is_untiled());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn is_untiled(&self) -> bool {
        self.tiles().is_empty()
    }

    /// The logical dimension of a physical dimension, counted from major to minor: 0 gives the most major one. `None`
    /// if there is no such dimension.
    ///
    /// ```
    /// let layout: xla_shape_core::Layout = "{0,2,1}".parse()?;
    /// assert_eq!((layout.major(0), layout.major(2), layout.major(3)), (Some(1), Some(0), None));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn major(&self, physical_dimension: usize) -> Option<usize> {
        self.minor_to_major().iter().rev().nth(physical_dimension).copied()
    }

    /// Entry `place` of [`minor_to_major`](Self::minor_to_major): 0 gives the most minor dimension. `None` if there is
    /// no such entry.
    ///
    /// ```
    /// let layout: xla_shape_core::Layout = "{0,2,1}".parse()?;
    /// assert_eq!((layout.minor(0), layout.minor(2), layout.minor(3)), (Some(0), Some(1), None));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn minor(&self, place: usize) -> Option<usize> {
        self.minor_to_major().get(place).copied()
    }

    /// For each logical dimension, its physical dimension, counted from major to minor: the inverse of
    /// [`major`](Self::major).
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

    /// The same layout with this dimension moved to the most major place. Splits stay with their dimensions.
    ///
    /// ```
    /// let layout: xla_shape_core::Layout = "{2,1,0:T(8,128)}".parse()?;
    /// assert_eq!(layout.move_dim_to_major(1)?.to_string(), "{2,0,1:T(8,128)}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such dimension.
    pub fn move_dim_to_major(&self, dimension: impl Into<DimensionNumber>) -> Result<Self, DimensionError> {
        let dimension = dimension.into().resolve(self.num_dimensions())?;
        let others = self.minor_to_major().iter().copied().filter(|&other| other != dimension);
        Ok(self.reordered(others.chain([dimension]), Some))
    }

    /// The same layout with this dimension moved to the most minor place. Splits stay with their dimensions.
    ///
    /// ```
    /// let layout: xla_shape_core::Layout = "{2,1,0:T(8,128)}".parse()?;
    /// assert_eq!(layout.move_dim_to_minor(0)?.to_string(), "{0,2,1:T(8,128)}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such dimension.
    pub fn move_dim_to_minor(&self, dimension: impl Into<DimensionNumber>) -> Result<Self, DimensionError> {
        let dimension = dimension.into().resolve(self.num_dimensions())?;
        let others = self.minor_to_major().iter().copied().filter(|&other| other != dimension);
        Ok(self.reordered([dimension].into_iter().chain(others), Some))
    }

    /// The same layout with only the dimensions whose entry in `kept` is true, renumbered from 0 on. Tiles stay as they are.
    ///
    /// ```
    /// let layout: xla_shape_core::Layout = "{2,0,1}".parse()?;
    /// assert_eq!(layout.with_kept_dimensions(&[false, true, true]).to_string(), "{1,0}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_kept_dimensions(&self, kept: &[bool]) -> Self {
        let mut following = 0..;
        let numbers = kept.iter().map(|&kept| if kept { following.next() } else { None }).collect::<Vec<_>>();
        let number = |dimension: usize| numbers.get(dimension).copied().flatten();
        self.reordered(self.minor_to_major().iter().filter_map(|&dimension| number(dimension)), number)
    }

    /// The same layout with the order `minor_to_major`, where `renumber` maps each old dimension number to its new one,
    /// or to `None` if the dimension is removed. Splits stay with their dimensions.
    ///
    /// The caller ensures that `minor_to_major` is a permutation of the new numbers.
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
        // A split names its dimension by its place in the order, counted from the most major one. It goes with the
        // dimension to the new place, or is dropped with it.
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

#[cfg(test)]
mod tests {
    use crate::layout::Layout;
    use alloc::string::ToString;

    fn layout(text: &str) -> Layout {
        text.parse().unwrap()
    }

    #[test]
    fn row_major_and_column_major_differ() {
        assert!(layout("{2,1,0:T(8,128)}").is_monotonic_with_dim0_major());
        assert!(!layout("{2,1,0}").is_monotonic_with_dim0_minor());
        assert!(layout("{0,1,2}").is_monotonic_with_dim0_minor());
        assert!(!layout("{0,2,1}").is_monotonic_with_dim0_major());
        assert!(layout("{0}").is_monotonic_with_dim0_major() && layout("{0}").is_monotonic_with_dim0_minor());
    }

    #[test]
    fn splits_stay_with_their_dimensions() {
        // Splits name physical dimensions, the most major first. In {0,2,1}, these are dimensions 1, 2 and 0.
        let layout = layout("{0,2,1:T(8,128)S(1)SC(0:5)(2:3,4)}");
        assert_eq!(layout.move_dim_to_major(0).unwrap().to_string(), "{2,1,0:T(8,128)S(1)SC(1:5)(0:3,4)}");
        assert_eq!(layout.move_dim_to_minor(1).unwrap().to_string(), "{1,0,2:T(8,128)S(1)SC(2:5)(1:3,4)}");
        assert_eq!(layout.with_kept_dimensions(&[false, true, true]).to_string(), "{1,0:T(8,128)S(1)SC(0:5)}");
        assert_eq!(layout.with_kept_dimensions(&[true, false, true]).to_string(), "{0,1:T(8,128)S(1)SC(1:3,4)}");
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
