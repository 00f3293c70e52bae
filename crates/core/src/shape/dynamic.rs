//! Dynamic dimensions: whether a size is unbounded, and shapes with actual sizes in place of unbounded ones.

use crate::layout::dimension::Dimension;
use crate::layout::number::DimensionError;
use crate::limits::MAX_SIZE;
use crate::map::size;
use crate::shape::array::ArrayShape;
use crate::shape::transform::TransformError;

type Result<T> = core::result::Result<T, TransformError>;

impl ArrayShape {
    /// Whether a dimension is unbounded.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[<=8,128]".parse()?;
    /// assert!(!shape.is_unbounded_dynamic());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_unbounded_dynamic(&self) -> bool {
        self.dimensions().contains(&Dimension::Unbounded)
    }

    /// The bytes of an array that has these sizes, computed without an allocation. The caller ensures that the sizes
    /// fit their dimensions. `None` if the layout needs a stride table or the result might overflow; then use
    /// [`with_dimensions`](Self::with_dimensions).
    #[doc(hidden)]
    #[must_use]
    pub fn quick_byte_size(&self, sizes: &[u64]) -> Option<u64> {
        /// Few arrays have more dimensions.
        const MOST: usize = 8;
        let (dimensions, layout) = (self.dimensions(), self.layout());
        let is_plain = layout.tiles().is_empty() && layout.split_configs().is_empty();
        if !is_plain || dimensions.len() != sizes.len() || sizes.len() > MOST {
            return None;
        }
        if let Some(bytes) = self.plain_element_bytes().and_then(|bytes| Self::plain_byte_size(bytes, sizes)) {
            return Some(bytes);
        }
        // Bounds, padding or packed bits: compute the size as for any array, but without an allocation.
        let mut found = [Dimension::Static(0); MOST];
        for ((found, &dimension), &size) in found.iter_mut().zip(dimensions).zip(sizes) {
            *found = if dimension == Dimension::Unbounded { Dimension::Static(size) } else { dimension };
        }
        let found = found.get(..sizes.len())?;
        if !size::surely_fits(self.element_type(), found, layout) {
            return None;
        }
        size::with_scratch(layout, |scratch| size::bytes(self.element_type(), found, layout, scratch)).ok()
    }

    /// The bytes of an element, if an array of any sizes takes the product of its sizes and this number of bytes. `None` if
    /// there are tiles, padding, splits, bounds or packed bits.
    #[doc(hidden)]
    #[must_use]
    pub const fn plain_element_bytes(&self) -> Option<u64> {
        let layout = self.layout();
        let is_plain = layout.tiles().is_empty() && layout.split_configs().is_empty() && layout.has_only_positions();
        let mut dimensions = self.dimensions();
        while let [dimension, rest @ ..] = dimensions {
            if matches!(dimension, Dimension::Bounded(_)) {
                return None;
            }
            dimensions = rest;
        }
        let bits = size::element_bits(self.element_type(), layout);
        if is_plain && bits.is_multiple_of(8) { Some(bits >> 3) } else { None }
    }

    /// The bytes of an array that has these sizes and [`plain_element_bytes`](Self::plain_element_bytes); `None` if
    /// they might overflow.
    #[doc(hidden)]
    #[must_use]
    #[inline(always)]
    pub fn plain_byte_size(element_bytes: u64, sizes: &[u64]) -> Option<u64> {
        let (mut bytes, mut is_empty) = (element_bytes, false);
        for &size in sizes {
            is_empty |= size == 0;
            bytes = bytes.checked_mul(size.max(1))?;
        }
        (bytes < MAX_SIZE).then_some(if is_empty { 0 } else { bytes })
    }

    /// The shape of an array with these actual sizes: unbounded dimensions become static. A static size must be equal,
    /// and a bound at least as large; bounded dimensions stay bounded, since the layout depends on the bound.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[?,<=8,128]{2,1,0:T(8,128)}".parse()?;
    /// assert_eq!(shape.with_dimensions(&[6, 5, 128])?.to_string(), "f32[6,<=8,128]{2,1,0:T(8,128)}");
    /// let error = shape.with_dimensions(&[6, 9, 128]).unwrap_err();
    /// assert_eq!(error.to_string(), "expected a size of <=8 for dimension 1, found 9");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is not one size for each dimension, a size does not fit its dimension, or the result is too large.
    pub fn with_dimensions(&self, sizes: &[u64]) -> Result<Self> {
        if sizes.len() != self.num_dimensions() {
            let num_dimensions = self.num_dimensions();
            return Err(DimensionError::CountMismatch { num_dimensions, entries: sizes.len() }.into());
        }
        for (dimension, (&expected, &found)) in self.dimensions().iter().zip(sizes).enumerate() {
            let fits = match expected {
                Dimension::Static(size) => found == size,
                Dimension::Bounded(bound) => found <= bound,
                Dimension::Unbounded => true,
            };
            if !fits {
                return Err(TransformError::SizeMismatch { dimension, expected, found });
            }
        }
        let bound = self.dimensions().iter().zip(sizes).map(|(&dimension, &size)| match dimension {
            Dimension::Unbounded => Dimension::Static(size),
            other => other,
        });
        self.with_parts(bound, self.layout().clone())
    }
}

#[cfg(test)]
mod tests {
    use crate::shape::array::ArrayShape;
    use alloc::string::ToString;

    fn array(text: &str) -> ArrayShape {
        text.parse().unwrap()
    }

    #[test]
    fn sizes_must_fit_their_dimensions() {
        let shape = array("f32[4,<=8,?]");
        assert_eq!(shape.with_dimensions(&[4, 0, 9]), Ok(array("f32[4,<=8,9]")));
        let message = |sizes: &[u64]| shape.with_dimensions(sizes).unwrap_err().to_string();
        assert_eq!(message(&[4, 8]), "expected one entry for each of 3 dimensions, found 2");
        assert_eq!(message(&[3, 8, 1]), "expected a size of 4 for dimension 0, found 3");
        assert_eq!(
            message(&[4, 8, u64::MAX]),
            "expected a dimension's size that fits in an i64, found 18446744073709551615"
        );
    }

    #[test]
    fn bytes_without_a_shape_are_those_of_the_shape() {
        let sizes = [0, 1, 3, 1 << 20, 1 << 40, 1 << 62, u64::MAX];
        let mut quick = 0;
        for text in [
            "f32[?,3]{0,1}",
            "s4[?,?]{1,0:E(4)}",
            "pred[?,<=7]{1,0:M(8)}",
            "c128[?,?]{1,0:L(128)}",
            "f32[?,?]{1,0:T(8,128)}",
        ] {
            let shape = array(text);
            for sizes in sizes.iter().flat_map(|&m| sizes.map(|n| [m, n])) {
                let Some(found) = shape.quick_byte_size(&sizes) else { continue };
                let Ok(exact) = shape.with_dimensions(&sizes) else {
                    // The caller of `quick_byte_size` ensures that sizes fit their dimensions.
                    assert!(sizes[1] != 3 || !text.contains(",3]"), "{text} {sizes:?}");
                    continue;
                };
                assert_eq!(Some(found), exact.byte_size(), "{text} {sizes:?}");
                quick += 1;
            }
        }
        assert!(quick > 40, "{quick}");
        assert_eq!(array("f32[?]").quick_byte_size(&[1, 2]), None);
        assert_eq!(array("f32[?]").quick_byte_size(&[u64::MAX / 4]), None);
    }
}
