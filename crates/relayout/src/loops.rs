//! Loops over both arrays.

use smallvec::SmallVec;
use std::borrow::Cow;

/// Nested loops. Six are stored in place, enough for a copy between two tiled layouts.
pub(super) type Axes = SmallVec<[Axis; 6]>;

/// The numbers `0..num_dimensions`.
pub(super) fn identity(num_dimensions: usize) -> Cow<'static, [usize]> {
    static FIRST: [usize; 8] = [0, 1, 2, 3, 4, 5, 6, 7];
    FIRST.get(..num_dimensions).map_or_else(|| (0..num_dimensions).collect(), Cow::Borrowed)
}

/// A loop over both arrays: its length, and its strides in the source and in the destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Axis {
    pub(super) len: usize,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// Nested loops, and the positions where they start in the source and in the destination.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Region {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) axes: Axes,
}

impl Region {
    /// Merges loops that continue each other, and sorts the rest by their stride in the destination, the largest first.
    pub(super) fn normalize(&mut self) {
        self.axes.retain(|axis| axis.len != 1);
        self.axes.sort_unstable_by_key(|axis| std::cmp::Reverse(axis.to));
        self.axes.dedup_by(|axis, outer| {
            let continues = outer.from == axis.from * axis.len && outer.to == axis.to * axis.len;
            if continues {
                *outer = Axis { len: outer.len * axis.len, ..*axis };
            }
            continues
        });
    }

    /// Converts positions to bytes. Nothing overflows: the bytes of both arrays fit in an `i64`.
    pub(super) fn count_bytes(&mut self, bytes: usize) {
        self.from *= bytes;
        self.to *= bytes;
        for axis in &mut self.axes {
            axis.from *= bytes;
            axis.to *= bytes;
        }
    }

    pub(super) fn shifted(mut self, from: usize, to: usize) -> Self {
        self.from += from;
        self.to += to;
        self
    }

    pub(super) fn within(mut self, axis: Axis) -> Self {
        self.axes.push(axis);
        self
    }
}
