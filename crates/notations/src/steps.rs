//! Turns a plain array into the positions of a layout, with operations that every array library has: pad, reshape, transpose.

use alloc::vec;
use alloc::vec::Vec;
use xla_shape_core::sorting::sort_by_key;
use xla_shape_core::{ArrayShape, StrideTableError, StridedDimensions, TileDimension};

/// An operation on a row-major array.
///
/// ```
/// use xla_shape_notations::{Step, tile_steps};
///
/// let steps = tile_steps(&"f32[6,200]{1,0:T(8,128)}".parse()?)?;
/// assert_eq!(steps[0], Step::Pad { from: vec![6, 200], to: vec![8, 256] });
/// assert_eq!(steps[2], Step::Transpose { permutation: vec![1, 0, 2] }, "tiles before the rows in them");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Step {
    /// Adds elements of 0 after the last index of each dimension. A slice undoes it.
    Pad {
        /// The sizes before.
        from: Vec<u64>,
        /// The sizes after; none is smaller.
        to: Vec<u64>,
    },
    /// Other dimensions for the same elements in row-major order.
    Reshape {
        /// The sizes before.
        from: Vec<u64>,
        /// The sizes after.
        to: Vec<u64>,
    },
    /// Another order of the dimensions: dimension `i` of the result is dimension `permutation[i]`.
    Transpose {
        /// For each dimension of the result, the dimension of the operand.
        permutation: Vec<usize>,
    },
}

/// The steps so far, and the sizes of their result.
struct Steps {
    steps: Vec<Step>,
    sizes: Vec<u64>,
}

impl Steps {
    fn pad(&mut self, to: Vec<u64>) {
        if to != self.sizes {
            self.steps.push(Step::Pad { from: core::mem::replace(&mut self.sizes, to.clone()), to });
        }
    }

    fn reshape(&mut self, to: Vec<u64>) {
        if to == self.sizes {
            return;
        }
        let mut from = core::mem::replace(&mut self.sizes, to.clone());
        // Of two reshapes in a row, only the second is needed.
        if let Some(Step::Reshape { from: first, .. }) = self.steps.last() {
            from.clone_from(first);
            self.steps.pop();
        }
        if from != to {
            self.steps.push(Step::Reshape { from, to });
        }
    }

    fn transpose(&mut self, permutation: Vec<usize>) {
        let sizes = permutation.iter().filter_map(|&dimension| self.sizes.get(dimension).copied()).collect::<Vec<_>>();
        let long = permutation.iter().filter(|&&dimension| self.sizes.get(dimension).is_none_or(|&size| size > 1));
        // If only dimensions of one element move, no data moves, so a reshape is enough.
        if long.is_sorted() {
            self.reshape(sizes);
        } else {
            self.sizes = sizes;
            self.steps.push(Step::Transpose { permutation });
        }
    }
}

/// The steps that turn a row-major array with the shape's dimensions into a one-dimensional array of all positions, padding included. To go back,
/// undo them in reverse order.
///
/// If tiles divide each other, as on TPUs, the steps are a pad, a reshape, a transpose and a reshape; steps that change nothing are left out.
/// Otherwise, each tile is applied by itself, as XLA's documentation of tiled layouts defines it.
///
/// ```
/// use xla_shape_notations::{Step, tile_steps};
///
/// let steps = tile_steps(&"f32[6,200]{1,0:T(8,128)}".parse()?)?;
/// assert_eq!(
///     steps,
///     [
///         Step::Pad { from: vec![6, 200], to: vec![8, 256] },
///         Step::Reshape { from: vec![8, 256], to: vec![8, 2, 128] },
///         Step::Transpose { permutation: vec![1, 0, 2] },
///         Step::Reshape { from: vec![2, 8, 128], to: vec![2048] },
///     ]
/// );
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// If a dimension is unbounded, or there are more positions than fit in an i64.
pub fn tile_steps(array: &ArrayShape) -> Result<Vec<Step>, StrideTableError> {
    let placement = array.placement()?;
    let extents = placement.table().extents().to_vec();
    let positions = placement.table().positions();
    let is_empty = extents.contains(&0);
    let mut steps = Steps { steps: Vec::new(), sizes: extents };
    if !is_empty {
        match array.strided_dimensions().ok().filter(|strided| divide(strided, &steps.sizes)) {
            Some(strided) => at_once(&mut steps, &strided),
            None => one_by_one(&mut steps, array),
        }
    }
    steps.reshape(vec![positions]);
    steps.pad(vec![placement.padded_positions()]);
    Ok(steps.steps)
}

/// Whether the parts of each dimension make up its whole index, with padding only at its end.
fn divide(strided: &StridedDimensions, extents: &[u64]) -> bool {
    extents.iter().enumerate().all(|(dimension, &extent)| {
        let mut next = 1_u64;
        for (_, step, size) in parts_of(strided, dimension).into_iter().rev() {
            if step != next {
                return false;
            }
            next = next.saturating_mul(size);
        }
        next >= extent
    })
}

/// The number, the step and the size of each part of one dimension, the largest step first.
fn parts_of(strided: &StridedDimensions, dimension: usize) -> Vec<(usize, u64, u64)> {
    let parts = strided.parts.iter().zip(&strided.sizes).enumerate();
    let mut parts = parts
        .filter_map(|(number, (part, &size))| match *part {
            Some((of, step)) if of == dimension => Some((number, step, size)),
            _ => None,
        })
        .collect::<Vec<_>>();
    sort_by_key(&mut parts, |&(_, step, _)| core::cmp::Reverse(step));
    parts
}

fn at_once(steps: &mut Steps, strided: &StridedDimensions) {
    let (mut padded, mut cut, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    for dimension in 0..steps.sizes.len() {
        let parts = parts_of(strided, dimension);
        padded.push(parts.iter().fold(1_u64, |product, &(.., size)| product.saturating_mul(size)));
        cut.extend(parts.iter().map(|&(.., size)| size));
        numbers.extend(parts.iter().map(|&(number, ..)| number));
    }
    // A part that only pads begins as a dimension of size 1.
    for (number, part) in strided.parts.iter().enumerate() {
        if part.is_none() {
            cut.push(1);
            numbers.push(number);
        }
    }
    steps.pad(padded);
    steps.reshape(cut);
    let place = |number| numbers.iter().position(|&other| other == number);
    steps.transpose((0..numbers.len()).filter_map(place).collect());
    steps.pad(strided.sizes.clone());
}

fn one_by_one(steps: &mut Steps, array: &ArrayShape) {
    let layout = array.layout();
    steps.transpose(layout.minor_to_major().iter().rev().copied().collect());
    for tile in layout.tiles() {
        let entries = tile.dimensions();
        let mut sizes = vec![1; entries.len().saturating_sub(steps.sizes.len())];
        sizes.extend(&steps.sizes);
        // `*` combines a dimension with the next more minor one.
        let outer = sizes.len().saturating_sub(entries.len());
        let mut combined = sizes.get(..outer).unwrap_or(&[]).to_vec();
        let (mut tile_sizes, mut open) = (Vec::new(), 1_u64);
        for (entry, &size) in entries.iter().zip(sizes.get(outer..).unwrap_or(&[])) {
            open = open.saturating_mul(size);
            if let TileDimension::Size(tile_size) = *entry {
                combined.push(open);
                tile_sizes.push(tile_size);
                open = 1;
            }
        }
        steps.reshape(combined.clone());
        let first = combined.len().saturating_sub(tile_sizes.len());
        let (mut padded, mut cut) = (combined.clone(), combined.get(..first).unwrap_or(&[]).to_vec());
        for (size, &tile_size) in padded.iter_mut().skip(first).zip(&tile_sizes) {
            let count = size.div_ceil(tile_size);
            *size = count.saturating_mul(tile_size);
            cut.extend([count, tile_size]);
        }
        steps.pad(padded);
        steps.reshape(cut);
        let cut_dimensions = 0..tile_sizes.len();
        let place = |number: usize| first + number * 2;
        let counts = cut_dimensions.clone().map(place);
        let within = cut_dimensions.map(|number| place(number) + 1);
        steps.transpose((0..first).chain(counts).chain(within).collect());
    }
}
