//! From a region to a step: which kernel does the innermost loops, and in which order the others run.

use super::elements::Widths;
use super::regions::{Axis, Region};
use std::fmt;

/// Loops around a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Step {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) outer: Vec<Axis>,
    pub(super) kernel: Kernel,
}

/// What the innermost loops do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Kernel {
    /// One element of any width; places are in elements.
    Element,
    /// This many bytes that lie together on both sides; places are in bytes, as in all that follow.
    Rows { bytes: usize },
}

impl Step {
    pub(super) fn of(region: Region, widths: Widths) -> Self {
        let Some(bytes) = widths.bytes() else {
            let Region { from, to, axes } = region.normalized();
            return Self { from, to, outer: axes, kernel: Kernel::Element };
        };
        let Region { from, to, mut axes } = region.in_bytes(bytes).normalized();
        let kernel = match axes.last() {
            Some(&Axis { len, from, to }) if from == bytes && to == bytes => {
                axes.pop();
                Kernel::Rows { bytes: len * bytes }
            }
            _ => Kernel::Rows { bytes },
        };
        Self { from, to, outer: axes, kernel }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Axis { len, from, to } in &self.outer {
            write!(f, "for {len} (+{from} -> +{to}) ")?;
        }
        match &self.kernel {
            Kernel::Element => write!(f, "copy an element")?,
            Kernel::Rows { bytes } => write!(f, "copy {bytes} bytes")?,
        }
        write!(f, " from {} to {}", self.from, self.to)
    }
}
