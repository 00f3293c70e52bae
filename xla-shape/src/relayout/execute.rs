//! Walking the loops.

use super::elements::Widths;
use super::regions::{Axis, Region};
use super::schedule::{Kernel, Step};

/// Copies what a step copies.
pub(super) fn run(step: &Step, widths: Widths, source: &[u8], destination: &mut [u8]) {
    match step.kernel {
        Kernel::Element => nest(&step.outer, step.from, step.to, &mut |from, to| {
            widths.copy(source, from, destination, to);
        }),
        Kernel::Rows { bytes } => nest(&step.outer, step.from, step.to, &mut |from, to| {
            destination[to..][..bytes].copy_from_slice(&source[from..][..bytes]);
        }),
    }
}

/// Sets every place of a region, which is in elements, to the same element.
pub(super) fn fill(region: &Region, widths: Widths, destination: &mut [u8], element: &[u8]) {
    let (outer, run) = match region.axes.as_slice() {
        [outer @ .., Axis { len, to: 1, .. }] => (outer, *len),
        axes => (axes, 1),
    };
    nest(outer, 0, region.to, &mut |_, to| {
        if widths.to.is_multiple_of(8) {
            let bytes = element.len();
            for place in destination[to * bytes..][..run * bytes].chunks_exact_mut(bytes) {
                place.copy_from_slice(element);
            }
        } else {
            (to..to + run).for_each(|to| widths.fill(destination, to, element));
        }
    });
}

/// Calls `inner` with both places for every turn of the loops. They are at most 63, since each has at least two turns
/// and all turns together fit in an i64.
fn nest(axes: &[Axis], from: usize, to: usize, inner: &mut impl FnMut(usize, usize)) {
    match axes {
        [] => inner(from, to),
        [axis, rest @ ..] => {
            (0..axis.len).for_each(|i| nest(rest, from + i * axis.from, to + i * axis.to, inner));
        }
    }
}
