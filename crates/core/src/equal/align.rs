//! The layout that makes a reshape free.

use crate::layout::Layout;
use crate::map::common_factors;
use crate::shape::array::ArrayShape;
use alloc::vec::Vec;

impl ArrayShape {
    /// `output` in a layout that makes the reshape a bitcast, so that no element moves in memory. `None` if no untiled
    /// layout does, this array has tiles, or a dimension is unbounded.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let input: ArrayShape = "f32[2,15,7]{0,2,1}".parse()?;
    /// let output = input.align_layouts(&"f32[2,3,5,7]".parse()?).unwrap();
    /// assert_eq!(output.to_string(), "f32[2,3,5,7]{0,3,2,1}");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn align_layouts(&self, output: &Self) -> Option<Self> {
        let with_order = |order: &[usize]| output.clone().with_layout(Layout::new(order).ok()?).ok();
        let (input_sizes, output_sizes) = (extents(self)?, extents(output)?);
        if self.is_zero_element_array() && output.is_zero_element_array() {
            return with_order(Layout::descending(output_sizes.len()).minor_to_major());
        }
        if !self.layout().is_untiled() {
            return None;
        }
        // The place of a dimension of size 1 in the order does not change positions.
        let long = |sizes: &[u64]| (0..sizes.len()).filter(|&i| sizes.get(i) != Some(&1)).collect::<Vec<_>>();
        let (input_long, output_long) = (long(&input_sizes), long(&output_sizes));
        let sizes = |long: &[usize], all: &[u64]| long.iter().filter_map(|&i| all.get(i).copied()).collect::<Vec<_>>();
        let bounds = common_factors(&sizes(&input_long, &input_sizes), &sizes(&output_long, &output_sizes))?;
        let mut order = Vec::new();
        let mut rest = self.layout().minor_to_major().iter().filter(|dimension| input_long.contains(dimension));
        while let Some(most_minor) = rest.next() {
            // The dimensions of a factor must be consecutive in memory, the last one the most minor.
            let position = input_long.iter().position(|dimension| dimension == most_minor)?;
            let (start, end) = bounds.iter().zip(bounds.iter().skip(1)).find(|(_, end)| end.0 == position + 1)?;
            let others = input_long.get(start.0..position)?;
            if !others.iter().rev().all(|dimension| rest.next() == Some(dimension)) {
                return None;
            }
            order.extend(output_long.get(start.1..end.1)?.iter().rev());
        }
        order.extend((0..output_sizes.len()).rev().filter(|dimension| !output_long.contains(dimension)));
        with_order(&order)
    }
}

fn extents(array: &ArrayShape) -> Option<Vec<u64>> {
    array.dimensions().iter().map(|dimension| dimension.extent()).collect()
}

#[cfg(test)]
mod tests {
    use crate::shape::array::ArrayShape;

    fn array(text: &str) -> ArrayShape {
        text.parse().unwrap()
    }

    #[test]
    fn a_layout_is_found_if_factors_are_consecutive() {
        let align = |a: &str, b: &str| array(a).align_layouts(&array(b)).map(|shape| shape.layout().clone());
        assert_eq!(align("f32[6,5]{0,1}", "f32[2,3,5]"), Some("{1,0,2}".parse().unwrap()));
        assert_eq!(align("f32[2,3,5]{1,0,2}", "f32[6,5]"), Some("{0,1}".parse().unwrap()));
        assert_eq!(align("f32[2,3,5]{0,1,2}", "f32[6,5]"), None);
        assert_eq!(align("f32[2,1,3]{1,0,2}", "f32[1,2,3,1]"), Some("{1,2,3,0}".parse().unwrap()));
        assert_eq!(align("f32[2,3]{1,0:T(2)}", "f32[6]"), None);
        assert_eq!(align("f32[2,3]", "f32[5]"), None);
    }
}
