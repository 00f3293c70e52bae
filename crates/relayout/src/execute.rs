//! Runs the loops of a step.

use super::elements::Widths;
use super::kernels::{Fence, Kernel, LoopNest};
use super::loops::{Axis, Region};
use super::schedule::{Step, Work};

/// Runs a step.
#[inline]
pub(super) fn run(step: &Step, widths: Widths, fence: &Fence, source: &[u8], destination: &mut [u8]) {
    let Step { from, to, outer, work } = step;
    match work {
        Work::Element => LoopNest(outer).for_each(*from, *to, |from, to| widths.copy(source, from, destination, to)),
        // The same bytes on both sides, where the C library's copy is fastest.
        Work::Kernel(Kernel::Copy(bytes)) if outer.is_empty() && !fence.machine().is_streaming() => {
            destination[*to..][..*bytes].copy_from_slice(&source[*from..][..*bytes]);
        }
        Work::Kernel(kernel) => {
            kernel.run(fence.machine(), LoopNest(outer), &source[*from..], &mut destination[*to..]);
        }
        Work::Gather(gather) => {
            gather.run(fence.machine(), LoopNest(outer), &source[*from..], &mut destination[*to..]);
        }
    }
}

/// Sets every position of a region, in elements, to the same element, whose bytes repeat.
pub(super) fn fill(region: &Region, widths: Widths, destination: &mut [u8], element: &[u8]) {
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
