//! Cuts a step into parts. Several threads run them, or one thread runs them one after the other.

use super::kernels::{Kernel, Runs, Side, Step, Work};
use super::loops::Axis;
use super::tuning::MIN_STRETCH_BYTES;

impl Step {
    /// Splits a step into up to `count` parts along the loop with the largest stride in the destination: each part writes bytes after those
    /// of the part before it. Returns a single part if there is no such loop.
    pub(super) fn parts(&self, count: usize) -> Vec<Self> {
        let mut whole = self.clone();
        if let Work::Kernel(Kernel::Transpose(kernel)) = &mut whole.work
            && let Some(cut) = (0..kernel.a.len()).max_by_key(|&i| kernel.a[i].to)
        {
            // The kernel's loops outside of the one that is split would have to begin where that one ends. They do not once it is shorter,
            // so they move out of the kernel.
            let outer = kernel.a[cut + 1..].iter_mut().filter(|axis| axis.len > 1);
            whole.outer.extend(outer.map(|axis| std::mem::replace(axis, Axis { len: 1, from: 0, to: 0 })));
        }
        if whole.outer.is_empty()
            && let Some(parts) = whole.parts_of_a_run(count)
        {
            return parts;
        }
        let Some(&mut axis) = whole.outermost() else { return vec![whole] };
        // The fewest iterations of a part.
        let least = match &whole.work {
            // Fewer columns would not fill a vector.
            Work::Kernel(Kernel::Matrix(kernel)) if kernel.columns == axis => 16_usize.div_ceil(kernel.bytes),
            // Transposes read a part of each row at a time in any case.
            Work::Kernel(Kernel::Matrix(_) | Kernel::Transpose(_)) => 1,
            // The part reads a stretch of the source in each iteration of another loop. Short stretches are not prefetched.
            _ if whole.outer.iter().any(|other| other.from > axis.from) => MIN_STRETCH_BYTES.div_ceil(axis.from.max(1)),
            _ => 1,
        };
        let part_len = axis.len.div_ceil(count).max(least);
        let mut parts = Vec::new();
        let mut start = 0;
        while start < axis.len {
            let rest = axis.len - start;
            let len = if rest < part_len + least { rest } else { part_len };
            let mut part = whole.clone();
            part.outermost().into_iter().for_each(|axis| axis.len = len);
            parts.push(Self { from: part.from + start * axis.from, to: part.to + start * axis.to, ..part });
            start += len;
        }
        parts
    }

    /// Splits a step into up to `count` steps that together do the same, run one after the other. If the step has an outer loop, its order
    /// stays.
    pub(super) fn stretches(&self, count: usize) -> Vec<Self> {
        let Some(&Axis { len, from, to }) = self.outer.first().filter(|axis| axis.len > 1) else {
            return self.parts(count);
        };
        let part_len = len.div_ceil(count.max(1));
        let part = |start: usize| {
            let mut part = Self { from: self.from + start * from, to: self.to + start * to, ..self.clone() };
            part.outer[0].len = part_len.min(len - start);
            part
        };
        (0..len).step_by(part_len).map(part).collect()
    }

    /// The parts of a step that writes a single contiguous run; each part but the last writes whole lines of 64 bytes.
    fn parts_of_a_run(&self, count: usize) -> Option<Vec<Self>> {
        // The bytes that one iteration of the loop moves on both sides, and how many iterations there are.
        let (from, to, len) = match &self.work {
            Work::Kernel(Kernel::Copy(bytes)) => (1, 1, *bytes),
            Work::Kernel(Kernel::Runs(Runs { bytes, len, stride })) => (*stride, *bytes, *len),
            Work::Kernel(Kernel::Interleave(kernel)) => (kernel.bytes, kernel.bytes * kernel.factor, kernel.len),
            _ => return None,
        };
        let part_len = len.div_ceil(count).next_multiple_of(64);
        let part = |start: usize| {
            let mut part = Self { from: self.from + start * from, to: self.to + start * to, ..self.clone() };
            match &mut part.work {
                Work::Kernel(Kernel::Copy(bytes)) => *bytes = part_len.min(len - start),
                Work::Kernel(Kernel::Runs(kernel)) => kernel.len = part_len.min(len - start),
                Work::Kernel(Kernel::Interleave(kernel)) => kernel.len = part_len.min(len - start),
                _ => {}
            }
            part
        };
        Some((0..len).step_by(part_len).map(part).collect())
    }

    /// The loop with the largest stride in the destination, if it can be split.
    fn outermost(&mut self) -> Option<&mut Axis> {
        let outer = self.outer.iter_mut().max_by_key(|axis| axis.to);
        let stride = outer.as_ref().map_or(0, |axis| axis.to);
        let largest = |side: &Side| side.iter().map(|axis| axis.to).max();
        match &mut self.work {
            // Single elements may share a byte with those of another part.
            Work::Element => None,
            Work::Kernel(Kernel::Transpose(kernel)) if largest(&kernel.b) > largest(&kernel.a).max(Some(stride)) => {
                None
            }
            Work::Kernel(Kernel::Transpose(kernel)) if kernel.a.iter().any(|axis| axis.to > stride) => {
                kernel.a.iter_mut().max_by_key(|axis| axis.to)
            }
            Work::Kernel(Kernel::Matrix(kernel)) if kernel.columns.to > stride => Some(&mut kernel.columns),
            Work::Kernel(Kernel::Deinterleave(kernel)) if kernel.row_stride > stride => None,
            Work::Kernel(Kernel::Unpack(kernel)) if kernel.distance.max(kernel.rows.row_stride) > stride => None,
            Work::Kernel(Kernel::UnpackUnits(kernel)) if kernel.distance > stride => None,
            Work::Kernel(_) | Work::Gather(_) => outer,
        }
    }
}
