//! The choice of a kernel for a region: everything that decides between kernels is in this folder.
//!
//! [`choose`] asks three questions, one after the other:
//!
//! 1. Which loops run inside the kernel? They decide which kernel is used (`loops`). Bytes that stay together become one wider element. If
//!    elements follow each other on both sides, runs are copied or joined. If a few rows are interleaved or separated, a kernel for that
//!    number of rows does it. Everything else is a transpose.
//! 2. Does the transpose need tables of offsets, or does it have so few loops that it is faster without? Which stores does it use
//!    (`matrix`)?
//! 3. Is a gather cheaper (`gather`)? What the kernel costs is compared with the permutes that a block would need (`cost`).
//!
//! The answer depends on the [`Target`], which describes the machine, and on the [`Footprint`], which says how both arrays together fit in its caches
//! (`target`). A target may be any machine, so the tests choose for machines that they do not run on.
//!
//! The numbers next to the rules were found by measuring; the letters of machines are those of `tuning`.

mod cost;
mod gather;
mod loops;
mod matrix;
mod target;
#[cfg(test)]
mod tests;

use crate::kernels::{Kernel, StoreMode, Work};
use crate::loops::{Axes, Region};
use crate::vector::Vectors;

use cost::{Cost, Elements, TINY_REGION};
pub(super) use target::{Footprint, Target};

/// The widest element that kernels other than [`Kernel::Copy`] move, in bytes.
const MAX_BYTES: usize = 16;

/// How to copy a region.
pub(super) struct Choice {
    pub(super) work: Work,
    /// The loops around the kernel, in no particular order, except around transposes: there, the outermost comes first.
    pub(super) outer: Axes,
    pub(super) vectors: Vectors,
    pub(super) stores: StoreMode,
    /// The iterations that remain of a loop that was cut: a region of its own.
    pub(super) rest: Option<Region>,
}

/// Chooses the kernel for a normalized region of elements of `bytes` bytes. Offsets are in bytes.
pub(super) fn choose(region: &Region, bytes: usize, target: &Target, footprint: Footprint) -> Choice {
    let count = region.axes.iter().map(|axis| axis.len).product::<usize>();
    let is_tiny = bytes * count <= TINY_REGION;
    let mut outer = Axes::new();
    outer.extend_from_slice(&region.axes);
    let mut kernel = loops::taken(&mut outer, bytes, is_tiny, target, footprint.stores);
    let (mut vectors, mut stores) = (target.vectors, footprint.stores);
    if let Kernel::Transpose(transpose) = &kernel {
        stores = matrix::stores(transpose, &outer, target, footprint);
        if let Some((matrix, around)) = matrix::without_tables(transpose, &outer, stores, target.vectors) {
            outer.extend(around);
            vectors = matrix::matrix_vectors(&matrix, &outer, target);
            kernel = Kernel::Matrix(matrix);
        } else {
            vectors = matrix::vectors(transpose, &outer, target);
        }
    }
    let cost = Cost::of(&kernel, Elements { bytes, count }, target.vectors);
    gather::cheaper(region, bytes, target, footprint, cost).unwrap_or(Choice {
        work: Work::Kernel(kernel),
        outer,
        vectors,
        stores,
        rest: None,
    })
}
