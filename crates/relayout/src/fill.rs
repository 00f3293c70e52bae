//! Padding, which is filled before elements are written.

use super::elements::Widths;
use super::kernels::LoopNest;
use super::loops::{Axis, Region};

/// Padding that is written before the elements.
#[derive(Clone, Debug)]
pub(super) struct Fill {
    /// The bytes that fill padding. If an element has more bytes, these are repeated.
    pub(super) element: Vec<u8>,
    pub(super) regions: Vec<Region>,
    /// A mask of the bits of the last byte that belong to an element or its padding.
    pub(super) last_byte: u8,
}

impl Fill {
    /// Calls `fill` for all regions, with the parameters of [`fill_region`]. Not inlined, because most plans have no padding.
    #[inline(never)]
    pub(super) fn run(&self, widths: Widths, destination: &mut [u8], fill: impl Fn(&Region, Widths, &mut [u8], &[u8])) {
        for region in &self.regions {
            fill(region, widths, destination, &self.element);
        }
        if let Some(last) = destination.last_mut() {
            *last &= self.last_byte;
        }
    }
}

/// Writes the same element to every position of a region. Positions are in elements. `element` has the bytes of the element, or fewer bytes that
/// repeat.
pub(super) fn fill_region(region: &Region, widths: Widths, destination: &mut [u8], element: &[u8]) {
    let (outer, run) = match region.axes.as_slice() {
        [outer @ .., Axis { len, to: 1, .. }] => (outer, *len),
        axes => (axes, 1),
    };
    LoopNest(outer).for_each(0, region.to, |_, to| {
        if widths.to.is_multiple_of(8) {
            let bytes = widths.to / 8;
            if element.iter().all(|byte| *byte == element[0]) {
                return destination[to * bytes..][..run * bytes].fill(element[0]);
            }
            for place in destination[to * bytes..][..run * bytes].chunks_exact_mut(bytes) {
                place.copy_from_slice(element);
            }
        } else {
            (to..to + run).for_each(|to| widths.fill(destination, to, element));
        }
    });
}
