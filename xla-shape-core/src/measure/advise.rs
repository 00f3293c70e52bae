//! Other layouts for the same array, and what they take.

use crate::shape::ArrayShape;
use crate::shape::tile::Tile;
use alloc::collections::BTreeSet;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

/// The most dimensions of an array whose orders are all tried.
const MAX_ORDERED: usize = 6;

/// The lanes of a TPU's vector registers, and the sublanes, each of 32 bits.
const LANES: usize = 128;
const SUBLANES: usize = 8;
const SUBLANE_BITS: usize = 32;

/// The tilings that XLA:TPU uses for arrays with elements of this many bits, most common first.
///
/// Rows of a tile are as many as a register has sublanes, or fewer for short arrays; elements of less than 32 bits are
/// packed by neighbouring rows, which the last tile says. Found in programs compiled for TPU v2 to v6e.
///
/// ```
/// use xla_shape_core::tpu_tilings;
///
/// let tilings: Vec<String> =
///     tpu_tilings(16, 2).iter().map(|tiles| tiles.iter().map(ToString::to_string).collect()).collect();
/// assert_eq!(tilings, ["(8,128)(2,1)", "(4,128)(2,1)", "(2,128)(2,1)"]);
/// ```
#[must_use]
pub fn tpu_tilings(element_bits: usize, num_dimensions: usize) -> Vec<Vec<Tile>> {
    let packed = SUBLANE_BITS.checked_div(element_bits).unwrap_or(1).clamp(1, SUBLANE_BITS);
    let packing = |mut tiles: Vec<Tile>| {
        if packed > 1 && num_dimensions > 0 {
            tiles.push(Tile::of_sizes([packed, 1]));
        }
        tiles
    };
    let down_from = |most: usize, least: usize| {
        core::iter::successors(Some(most), |size| size.checked_div(2)).take_while(move |size| *size >= least)
    };
    let row = LANES.saturating_mul(packed);
    match num_dimensions {
        0 => vec![vec![Tile::of_sizes([row])]],
        1 => {
            let tiles = |size| match packed {
                1 => vec![Tile::of_sizes([size])],
                _ => vec![Tile::of_sizes([size]), Tile::of_sizes([LANES])],
            };
            down_from(row.max(LANES.saturating_mul(SUBLANES)), row).map(|size| packing(tiles(size))).collect()
        }
        _ => {
            let tall = SUBLANES.saturating_mul(packed);
            let tall = (packed >= 4).then_some(tall);
            let rows = down_from(SUBLANES.max(packed), packed).chain(tall);
            rows.map(|rows| packing(vec![Tile::of_sizes([rows, LANES])])).collect()
        }
    }
}

impl ArrayShape {
    /// The same array in every order of its dimensions, in its own tiling and in those that XLA:TPU uses for such
    /// elements; the smallest in bytes first, and this array itself first among equals.
    ///
    /// Empty if a dimension is unbounded or if the layout has splits, which name dimensions by their place in the order.
    /// Of more than six dimensions only the given order is tried.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[100,1]{1,0:T(8,128)}".parse()?;
    /// assert_eq!(shape.alternatives()[0].to_string(), "f32[100,1]{0,1:T(1,128)}");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn alternatives(&self) -> Vec<Self> {
        if !self.layout().split_configs().is_empty() {
            return Vec::new();
        }
        let tilings = tpu_tilings(self.element_bits(), self.num_dimensions());
        let tilings = core::iter::once(self.layout().tiles().to_vec()).chain(tilings).collect::<Vec<_>>();
        let (mut seen, mut alternatives) = (BTreeSet::new(), Vec::new());
        let mut order = self.layout().minor_to_major().to_vec();
        let all_orders = order.len() <= MAX_ORDERED;
        let mut consider = |order: &[usize]| {
            for tiles in &tilings {
                let layout = self.layout().clone().with_minor_to_major(order);
                let layout = layout.and_then(|layout| layout.with_tiles(tiles));
                let Ok(Ok(other)) = layout.map(|layout| self.clone().with_layout(layout)) else { continue };
                if let Some(bytes) = other.byte_size()
                    && seen.insert(other.layout().to_string())
                {
                    alternatives.push((bytes, other));
                }
            }
        };
        consider(&order);
        if all_orders {
            order.sort_unstable();
            consider(&order);
            while next_permutation(&mut order) {
                consider(&order);
            }
        }
        alternatives.sort_by_key(|(bytes, _)| *bytes);
        alternatives.into_iter().map(|(_, alternative)| alternative).collect()
    }
}

/// Makes the next permutation in alphabetical order; `false` behind the last.
fn next_permutation(order: &mut [usize]) -> bool {
    let Some(rise) = order.windows(2).rposition(|pair| pair.first() < pair.last()) else { return false };
    let (head, tail) = order.split_at_mut(rise.saturating_add(1));
    if let Some(pivot) = head.last_mut()
        && let Some(next) = tail.iter_mut().rev().find(|next| **next > *pivot)
    {
        core::mem::swap(pivot, next);
    }
    tail.reverse();
    true
}

impl ArrayShape {
    /// The same array, in its own tiling, in the order of dimensions that takes the fewest bytes: this one, if no other
    /// takes fewer.
    ///
    /// `None` if a dimension is unbounded, if the layout has splits, or if there are more than six dimensions.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[100,1]{1,0:T(8,128)}".parse()?;
    /// assert_eq!(shape.smallest_order().unwrap().to_string(), "f32[100,1]{0,1:T(8,128)}");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn smallest_order(&self) -> Option<Self> {
        if self.num_dimensions() > MAX_ORDERED {
            return None;
        }
        let tiles = self.layout().tiles();
        self.alternatives().into_iter().find(|alternative| alternative.layout().tiles() == tiles)
    }
}

#[cfg(test)]
mod tests {
    use super::{next_permutation, tpu_tilings};
    use alloc::string::{String, ToString};
    use alloc::vec;
    use alloc::vec::Vec;

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

    #[test]
    fn tilings_are_those_of_the_compiler() {
        let text = |bits, dimensions| {
            let tilings = tpu_tilings(bits, dimensions).into_iter();
            let text = tilings.map(|tiles| tiles.iter().map(ToString::to_string).collect::<String>());
            text.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(text(32, 0), "(128)");
        assert_eq!(text(16, 0), "(256)");
        assert_eq!(text(64, 1), "(1024) (512) (256) (128)");
        assert_eq!(text(16, 1), "(1024)(128)(2,1) (512)(128)(2,1) (256)(128)(2,1)");
        assert_eq!(text(2, 1), "(2048)(128)(16,1)");
        assert_eq!(text(32, 2), "(8,128) (4,128) (2,128) (1,128)");
        assert_eq!(text(8, 3), "(8,128)(4,1) (4,128)(4,1) (32,128)(4,1)");
        assert_eq!(text(4, 2), "(8,128)(8,1) (64,128)(8,1)");
        assert_eq!(text(2, 2), "(16,128)(16,1) (128,128)(16,1)");
        // Whatever an element's size, there is an answer.
        for bits in [0, 1, 3, 33, usize::MAX] {
            assert!((0..4).all(|dimensions| !tpu_tilings(bits, dimensions).is_empty()));
        }
    }
}
