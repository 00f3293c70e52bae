//! Which order of an array's dimensions takes the fewest bytes.

use crate::limits::MAX_ORDERED;
use crate::shape::array::ArrayShape;
use alloc::vec::Vec;

impl ArrayShape {
    /// The same array with the order of dimensions that takes the fewest bytes, and the same tiles. The array itself if
    /// no other order takes fewer.
    ///
    /// `None` if a dimension is unbounded, if the layout has splits (they name physical dimensions, so another order
    /// would split other dimensions), or if there are more than six dimensions.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[100,1]{1,0:T(8,128)}".parse()?;
    /// assert_eq!(shape.smallest_order().unwrap().to_string(), "f32[100,1]{0,1:T(8,128)}");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn smallest_order(&self) -> Option<Self> {
        if self.num_dimensions() > MAX_ORDERED || !self.layout().split_configs().is_empty() {
            return None;
        }
        let mut best = (self.byte_size()?, self.clone());
        for order in orders(self.num_dimensions()) {
            let layout = self.layout().clone().with_minor_to_major(&order);
            if let Ok(Ok(other)) = layout.map(|layout| self.clone().with_layout(layout))
                && let Some(bytes) = other.byte_size()
                && bytes < best.0
            {
                best = (bytes, other);
            }
        }
        Some(best.1)
    }
}

/// Every order of this many dimensions, as lists from minor to major; the default (row-major) order comes first.
pub(crate) fn orders(num_dimensions: usize) -> impl Iterator<Item = Vec<usize>> {
    let backwards = move |order: &[usize]| {
        let last = num_dimensions.saturating_sub(1);
        order.iter().map(|dimension| last.saturating_sub(*dimension)).collect::<Vec<_>>()
    };
    let mut order = (0..num_dimensions).collect::<Vec<_>>();
    let mut next = Some(backwards(&order));
    core::iter::from_fn(move || {
        let now = next.take()?;
        next = next_permutation(&mut order).then(|| backwards(&order));
        Some(now)
    })
}

/// Changes `order` to the next permutation in lexicographic order; `false` after the last one.
fn next_permutation(order: &mut [usize]) -> bool {
    let Some(rise) = order.windows(2).rposition(|pair| pair.first() < pair.last()) else { return false };
    let (head, tail) = order.split_at_mut(rise + 1);
    if let Some(pivot) = head.last_mut()
        && let Some(next) = tail.iter_mut().rev().find(|next| **next > *pivot)
    {
        core::mem::swap(pivot, next);
    }
    tail.reverse();
    true
}

#[cfg(test)]
mod tests {
    use super::next_permutation;
    use alloc::vec;

    #[test]
    fn every_order_is_tried_once() {
        let mut order = vec![0, 1, 2, 3];
        let mut seen = vec![order.clone()];
        while next_permutation(&mut order) {
            seen.push(order.clone());
        }
        assert_eq!(seen.len(), 24);
        assert!(seen.is_sorted_by(|a, b| a < b));
    }
}
