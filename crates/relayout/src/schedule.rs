//! Turns a region into steps: chooses the order of the loops around the chosen kernel.

use super::choice::{Choice, Footprint, Target, choose};
use super::elements::{Unit, Widths};
use super::kernels::{
    BoundedStep, Instructions, Interleave, Kernel, Matrix, Packing, Runs, Step, Transpose, Units, Work,
};
use super::loops::{Axes, Axis, Region};
use super::tuning::{MIN_UNMERGED_ITERATION, RUNS_PER_BATCH};
use std::cmp::Reverse;
use std::fmt;

/// Makes the steps of a plan.
pub(super) struct Scheduler {
    pub(super) widths: Widths,
    pub(super) target: Target,
    pub(super) footprint: Footprint,
    pub(super) instructions: Instructions,
}

impl Scheduler {
    /// A scheduler for arrays with elements of these widths.
    pub(super) fn new(widths: Widths, target: Target, footprint: Footprint) -> Self {
        Self { widths, target, footprint, instructions: Instructions::new(target.vectors, footprint.stores) }
    }

    /// Adds the steps of a region: one, or more if a loop is cut because not all of its iterations suit the same kernel.
    pub(super) fn add_region(&self, steps: &mut Vec<BoundedStep>, region: &mut Region) {
        let widths = self.widths;
        if let Some(bytes) = widths.bytes() {
            region.count_bytes(bytes);
            region.normalize();
            return self.add_bytes(steps, region, bytes);
        }
        region.normalize();
        let add = |steps: &mut Vec<BoundedStep>, step| steps.push(BoundedStep::new(step, self.instructions));
        let Some(unit) = widths.unit() else { return add(steps, Step::element_by_element(region.clone())) };
        // The last packed elements of a row may not fill a byte.
        let (whole, rest) = split(region.clone(), widths, unit);
        if let Some(mut region) = whole_bytes(&whole, widths, unit) {
            region.normalize();
            self.add_bytes(steps, &region, 1);
        } else {
            add(steps, packing(&whole, widths, unit).unwrap_or_else(|| Step::element_by_element(whole)));
        }
        rest.into_iter().for_each(|rest| add(steps, Step::element_by_element(rest)));
    }

    /// Adds the steps of a normalized region of elements of `bytes` bytes. Offsets are in bytes.
    fn add_bytes(&self, steps: &mut Vec<BoundedStep>, region: &Region, bytes: usize) {
        let Choice { work, mut outer, vectors, stores, rest } = choose(region, bytes, &self.target, self.footprint);
        let streams = stores.is_streaming();
        let shares_stage = matches!(work, Work::Kernel(Kernel::Runs(Runs { bytes, len, .. })) if streams && bytes * len < MIN_UNMERGED_ITERATION);
        match work {
            // With non-temporal stores, short iterations run in the order of the destination and share a staging buffer.
            Work::Kernel(Kernel::Runs(_)) if shares_stage => write_in_order(&mut outer),
            // With ordinary stores, write the destination from front to back: an interleaving reads several rows at once anyway.
            Work::Kernel(Kernel::Interleave(_)) if !streams => write_in_order(&mut outer),
            // The blocks of a transpose have their own order.
            Work::Kernel(Kernel::Transpose(_) | Kernel::Matrix(_)) => {}
            // Otherwise, read the source from front to back. A gather reads a line completely while it is in the L1 cache.
            _ => read_in_order(&mut outer),
        }
        let mut step = Step { from: region.from, to: region.to, outer, work };
        let left = match step.work {
            Work::Kernel(Kernel::Runs(kernel)) if kernel.len > 2 * RUNS_PER_BATCH && !shares_stage => {
                step.split_runs(kernel)
            }
            _ => None,
        };
        let instructions = Instructions::new(vectors, stores);
        steps.push(BoundedStep::new(step, instructions));
        steps.extend(left.map(|left| BoundedStep::new(left, instructions)));
        if let Some(rest) = rest {
            self.add_bytes(steps, &rest, bytes);
        }
    }
}

impl Step {
    /// Copies elements of any width, one by one.
    fn element_by_element(region: Region) -> Self {
        let Region { from, to, axes } = region;
        Self { from, to, outer: axes, work: Work::Element }
    }

    /// Splits the loop over runs into batches of [`RUNS_PER_BATCH`]. Returns a step for the remaining runs, if there are any.
    fn split_runs(&mut self, kernel: Runs) -> Option<Self> {
        let (parts, left) = (kernel.len / RUNS_PER_BATCH, kernel.len % RUNS_PER_BATCH);
        let part = Axis { len: parts, from: RUNS_PER_BATCH * kernel.stride, to: RUNS_PER_BATCH * kernel.bytes };
        let work = |len| Work::Kernel(Kernel::Runs(Runs { len, ..kernel }));
        let (from, to) = (self.from + parts * part.from, self.to + parts * part.to);
        let rest = (left > 0).then(|| Self { from, to, outer: self.outer.clone(), work: work(left) });
        self.outer.push(part);
        read_in_order(&mut self.outer);
        self.work = work(RUNS_PER_BATCH);
        rest
    }
}

/// Splits a region along its loop over elements that share bytes: into whole units, and the rest if there is one.
fn split(mut whole: Region, widths: Widths, unit: Unit) -> (Region, Option<Region>) {
    let shares = |axis: &Axis| (widths.from == 8 || axis.from == 1) && (widths.to == 8 || axis.to == 1);
    let cut = whole.axes.iter().position(|axis| shares(axis) && axis.len > unit.elements);
    let Some(cut) = cut.filter(|&cut| !whole.axes[cut].len.is_multiple_of(unit.elements)) else { return (whole, None) };
    let mut rest = whole.clone();
    let axis = &mut whole.axes[cut];
    rest.axes[cut].len = axis.len % unit.elements;
    axis.len -= rest.axes[cut].len;
    rest.from += axis.len * axis.from;
    rest.to += axis.len * axis.to;
    (whole, Some(rest))
}

/// The region in bytes, if elements are packed equally on both sides and only whole bytes move.
fn whole_bytes(region: &Region, widths: Widths, unit: Unit) -> Option<Region> {
    if widths.from != widths.to {
        return None;
    }
    let mut axes = region.axes.clone();
    let inner =
        axes.iter().position(|axis| (axis.from, axis.to) == (1, 1) && axis.len.is_multiple_of(unit.elements))?;
    let len = axes.remove(inner).len / unit.elements * unit.bytes;
    let from = in_bytes(unit, region.from, &mut axes, |axis| &mut axis.from)?;
    let to = in_bytes(unit, region.to, &mut axes, |axis| &mut axis.to)?;
    axes.push(Axis { len, from: 1, to: 1 });
    Some(Region { from, to, axes })
}

/// Converts offsets of one side from elements to bytes; `None` if one is not a whole byte.
fn in_bytes(unit: Unit, start: usize, axes: &mut [Axis], side: fn(&mut Axis) -> &mut usize) -> Option<usize> {
    let in_bytes = |place: usize| place.is_multiple_of(unit.elements).then_some(place / unit.elements * unit.bytes);
    for axis in axes {
        let stride = side(axis);
        *stride = in_bytes(*stride)?;
    }
    in_bytes(start)
}

/// Orders loops so that the source is read from front to back.
fn read_in_order(axes: &mut [Axis]) {
    axes.sort_by_key(|axis| Reverse(axis.from));
}

/// Orders loops so that the destination is written from front to back.
fn write_in_order(axes: &mut [Axis]) {
    axes.sort_by_key(|axis| Reverse(axis.to));
}

/// The step that packs elements of a byte each into whole units, or unpacks such units; `None` for other regions.
fn packing(region: &Region, widths: Widths, unit: Unit) -> Option<Step> {
    let bits = widths.from.min(widths.to);
    if widths.from == widths.to || bits != widths.value {
        return None;
    }
    // Treat both directions as packing: `from` is in bytes, `to` in packed elements.
    let packs = widths.to == bits;
    let turned = |axis: &Axis| if packs { *axis } else { Axis { from: axis.to, to: axis.from, ..*axis } };
    let mut axes = region.axes.iter().map(turned).collect::<Axes>();
    let (from, to) = if packs { (region.from, region.to) } else { (region.to, region.from) };
    let inner = axes.iter().position(|axis| axis.to == 1 && axis.len.is_multiple_of(unit.elements))?;
    let Axis { len, from: distance, .. } = axes.remove(inner);
    let to = in_bytes(unit, to, &mut axes, |axis| &mut axis.to)?;
    // If elements share bytes with those of other rows, `factor` packed bytes are interleaved.
    let factor = len / unit.elements;
    let along = axes.iter().position(|axis| axis.from == 1 && axis.to == factor);
    let along = along.filter(|_| unit.bytes == 1 && matches!(factor, 1 | 2 | 4 | 8)).map(|along| axes.remove(along));
    read_in_order(&mut axes);
    let outer = axes.iter().map(turned).collect();
    let kernel = if let Some(along) = along {
        let rows = Interleave { factor, bytes: 1, len: along.len, row_stride: distance * unit.elements };
        let kernel = Packing { bits, distance, rows };
        if packs { Kernel::Pack(kernel) } else { Kernel::Unpack(kernel) }
    } else {
        let kernel = Units { bits, unit, distance, len: factor };
        if packs { Kernel::PackUnits(kernel) } else { Kernel::UnpackUnits(kernel) }
    };
    let (from, to) = if packs { (from, to) } else { (to, from) };
    Some(Step { from, to, outer, work: Work::Kernel(kernel) })
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, outer, work } = self;
        write!(f, "from {from} to {to}: ")?;
        for Axis { len, from, to } in outer {
            write!(f, "{len} times (+{from} -> +{to}): ")?;
        }
        match work {
            Work::Element => write!(f, "copy an element"),
            Work::Gather(gather) => {
                let verb = if gather.is_permuted() { "permute" } else { "gather" };
                write!(f, "{verb} {} elements of {} bytes", gather.len(), gather.bytes())
            }
            Work::Kernel(Kernel::Copy(bytes)) => write!(f, "copy {bytes} bytes"),
            Work::Kernel(Kernel::Runs(Runs { bytes, len, stride })) => {
                write!(f, "join {len} runs (+{stride}) of {bytes} bytes")
            }
            Work::Kernel(Kernel::Interleave(Interleave { factor, bytes, len, row_stride })) => {
                write!(f, "interleave {factor} rows (+{row_stride}) of {len} elements of {bytes} bytes")
            }
            Work::Kernel(Kernel::Deinterleave(Interleave { factor, bytes, len, row_stride })) => {
                write!(f, "deinterleave {factor} rows (+{row_stride}) of {len} elements of {bytes} bytes")
            }
            Work::Kernel(Kernel::Pack(Packing { bits, rows, .. })) => {
                write!(f, "pack {} rows of {} bytes with elements of {bits} bits", rows.factor, rows.len)
            }
            Work::Kernel(Kernel::Unpack(Packing { bits, rows, .. })) => {
                write!(f, "unpack {} rows of {} bytes with elements of {bits} bits", rows.factor, rows.len)
            }
            Work::Kernel(Kernel::PackUnits(Units { bits, unit, len, .. })) => {
                write!(f, "pack {} elements of {bits} bits", len * unit.elements)
            }
            Work::Kernel(Kernel::UnpackUnits(Units { bits, unit, len, .. })) => {
                write!(f, "unpack {} elements of {bits} bits", len * unit.elements)
            }
            Work::Kernel(Kernel::Matrix(Matrix { bytes, columns, rows })) => {
                let (columns, rows) = (columns.len, rows.len);
                write!(f, "transpose {columns} x {rows} elements of {bytes} bytes without tables")
            }
            Work::Kernel(Kernel::Transpose(Transpose { bytes, shuffle, a, b })) => {
                let order = if shuffle.is_some() { ", reordered within" } else { "" };
                write!(
                    f,
                    "transpose {} x {} elements of {bytes} bytes{order}",
                    a.iter().map(|axis| axis.len).product::<usize>(),
                    b.iter().map(|axis| axis.len).product::<usize>()
                )
            }
        }
    }
}

impl fmt::Display for BoundedStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.step().fmt(f)
    }
}
