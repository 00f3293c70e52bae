//! Steps of a plan: loop nests around kernels. The bounds of a step are computed once, so that a run only compares them with the lengths of
//! the arrays.

use super::super::elements::Widths;
use super::super::loops::Axes;
use super::{Fence, Gather, Instructions, Kernel, LoopNest};

/// A loop nest around a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in super::super) struct Step {
    /// Where the first iteration begins in the source.
    pub(in super::super) from: usize,
    /// Where it begins in the destination.
    pub(in super::super) to: usize,
    /// The outermost first.
    pub(in super::super) outer: Axes,
    pub(in super::super) work: Work,
}

/// The work of each iteration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in super::super) enum Work {
    /// Copies an element of any width; positions are in elements.
    Element,
    /// Offsets are in bytes.
    Kernel(Kernel),
    /// Offsets are in bytes.
    Gather(Gather),
}

/// A step with the bounds of all of its iterations, and the instructions for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in super::super) struct BoundedStep {
    step: Step,
    /// Where the iterations end in the source and in the destination, in bytes. Not used for [`Work::Element`], which checks each element.
    ends: (usize, usize),
    instructions: Instructions,
}

impl BoundedStep {
    /// # Panics
    /// If the bounds overflow or the kernel is not valid.
    pub(in super::super) fn new(step: Step, instructions: Instructions) -> Self {
        let Step { from, to, outer, work } = &step;
        let span = match work {
            Work::Element => Some((0, 0)),
            Work::Kernel(kernel) => kernel.span().and_then(|ends| LoopNest(outer).span(ends)),
            Work::Gather(gather) => LoopNest(outer).span(gather.span()),
        };
        let ends = span.and_then(|span| Some((from.checked_add(span.0)?, to.checked_add(span.1)?)));
        let ends = ends.expect("plans have valid kernels, and the places of an array fit in an i64");
        Self { step, ends, instructions }
    }

    pub(in super::super) fn step(&self) -> &Step {
        &self.step
    }

    pub(in super::super) fn instructions(&self) -> Instructions {
        self.instructions
    }

    /// A part of this step, or a step of the same kind, with the same instructions.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    #[cfg(feature = "threads")]
    pub(in super::super) fn with(&self, part: Step) -> Self {
        Self::new(part, self.instructions)
    }

    /// Runs all iterations.
    ///
    /// # Panics
    /// If an iteration would exceed the source or the destination.
    #[inline]
    pub(in super::super) fn run(&self, widths: &Widths, source: &[u8], destination: &mut [u8]) {
        let Self { step: Step { from, to, outer, work }, ends, instructions } = self;
        let (nest, instructions) = (LoopNest(outer), *instructions);
        if matches!(work, Work::Element) {
            return copy_elements(nest, (*from, *to), widths, source, destination);
        }
        let (source, destination) = (&source[*from..ends.0], &mut destination[*to..ends.1]);
        let _fence = Fence::new(instructions.stores());
        match work {
            // Both sides have the same bytes, which the C library copies fastest.
            Work::Kernel(Kernel::Copy(_)) if outer.is_empty() && !instructions.stores().is_streaming() => {
                destination.copy_from_slice(source);
            }
            // SAFETY: `new`, the only constructor, computed `ends` for this kernel and this nest, and nothing changes them later. Both slices were
            // cut to them.
            Work::Kernel(kernel) => unsafe { kernel.run_within(instructions, nest, source, destination) },
            // SAFETY: as for kernels.
            Work::Gather(gather) => unsafe { gather.run_within(instructions, nest, source, destination) },
            Work::Element => {}
        }
    }
}

/// Copies an element in each iteration. Not inlined, so that small kernels start sooner.
#[inline(never)]
fn copy_elements(
    nest: LoopNest<'_>,
    (from, to): (usize, usize),
    widths: &Widths,
    source: &[u8],
    destination: &mut [u8],
) {
    nest.for_each(from, to, |from, to| widths.copy(source, from, destination, to));
}
