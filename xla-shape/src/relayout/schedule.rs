//! From a region to a step: which kernel does the innermost loops, and in which order the others run.

use super::elements::Widths;
use super::kernels::{Interleave, Kernel, Packing, Transpose};
use super::regions::{Axis, Region};
use std::cmp::Reverse;
use std::fmt;

/// Loops around a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Step {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The outermost first.
    pub(super) outer: Vec<Axis>,
    pub(super) work: Work,
}

/// What is done in each turn of the loops.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Work {
    /// An element of any width is copied; places are in elements.
    Element,
    /// Places are in bytes.
    Kernel(Kernel),
}

/// The widest element that kernels other than [`Kernel::Copy`] move, in bytes.
const MAX_BYTES: usize = 16;

impl Step {
    pub(super) fn of(region: Region, widths: Widths) -> Self {
        let Some(bytes) = widths.bytes() else {
            let region = region.normalized();
            if let Some(region) = whole_bytes(&region, widths) {
                return Self::of(region, Widths { from: 8, to: 8, value: 8 });
            }
            return packing(&region, widths).unwrap_or_else(|| {
                let Region { from, to, axes } = region;
                Self { from, to, outer: axes, work: Work::Element }
            });
        };
        let Region { from, to, mut axes } = region.in_bytes(bytes).normalized();
        let (bytes, shuffle) = widen(&mut axes, bytes);
        let kernel = if axes.last().is_some_and(|axis| (axis.from, axis.to) == (bytes, bytes)) && shuffle.is_none() {
            let run = axes.pop().map_or(1, |axis| axis.len);
            Kernel::Copy(run * bytes)
        } else if bytes <= MAX_BYTES && bytes.is_power_of_two() {
            interleaved(&mut axes, bytes, shuffle).unwrap_or_else(|| transposed(&mut axes, bytes, shuffle))
        } else {
            Kernel::Copy(bytes)
        };
        match kernel {
            // Several rows are read at once anyway, so the destination is written from front to back.
            Kernel::Interleave(_) => axes.sort_by_key(|axis| Reverse(axis.to)),
            // Blocks have an order of their own.
            Kernel::Transpose(_) => {}
            // The source is read from front to back.
            _ => axes.sort_by_key(|axis| Reverse(axis.from)),
        }
        Self { from, to, outer: axes, work: Work::Kernel(kernel) }
    }
}

impl Step {
    /// The same work in up to `count` parts along the loop with the largest stride in the destination: each part
    /// writes behind the part before it. One part if there is no such loop.
    #[cfg(feature = "threads")]
    pub(super) fn parts(&self, count: usize) -> Vec<Self> {
        let mut whole = self.clone();
        let Some(&mut axis) = whole.outermost() else { return vec![whole] };
        let part_len = axis.len.div_ceil(count);
        let part = |start| {
            let mut part = self.clone();
            part.outermost()?.len = part_len.min(axis.len - start);
            Some(Self { from: part.from + start * axis.from, to: part.to + start * axis.to, ..part })
        };
        (0..axis.len).step_by(part_len).filter_map(part).collect()
    }

    /// The loop with the largest stride in the destination, if it can be split.
    #[cfg(feature = "threads")]
    fn outermost(&mut self) -> Option<&mut Axis> {
        let outer = self.outer.iter_mut().max_by_key(|axis| axis.to);
        let stride = outer.as_ref().map_or(0, |axis| axis.to);
        match &mut self.work {
            // Places of single elements may share a byte.
            Work::Element => None,
            Work::Kernel(Kernel::Transpose(kernel)) if kernel.a.iter().any(|axis| axis.to > stride) => {
                kernel.a.iter_mut().max_by_key(|axis| axis.to)
            }
            Work::Kernel(Kernel::Deinterleave(kernel)) if kernel.row > stride => None,
            Work::Kernel(Kernel::Unpack(kernel)) if kernel.distance.max(kernel.rows.row) > stride => None,
            Work::Kernel(_) => outer,
        }
    }
}

/// The region in bytes, if elements are packed alike on both sides and only move by whole bytes.
fn whole_bytes(region: &Region, widths: Widths) -> Option<Region> {
    if widths.from != widths.to || !matches!(widths.from, 1 | 2 | 4) {
        return None;
    }
    let parts = 8 / widths.from;
    let mut axes = region.axes.clone();
    let unit = axes.iter_mut().find(|axis| (axis.from, axis.to) == (1, 1) && axis.len.is_multiple_of(parts))?;
    *unit = Axis { len: unit.len / parts, from: parts, to: parts };
    let from = in_bytes(parts, region.from, &mut axes, |axis| &mut axis.from)?;
    let to = in_bytes(parts, region.to, &mut axes, |axis| &mut axis.to)?;
    Some(Region { from, to, axes })
}

/// Divides places of one side by the number of elements in a byte; `None` if one is within a byte.
fn in_bytes(parts: usize, start: usize, axes: &mut [Axis], side: fn(&mut Axis) -> &mut usize) -> Option<usize> {
    for axis in axes {
        let stride = side(axis);
        *stride = stride.is_multiple_of(parts).then_some(*stride / parts)?;
    }
    start.is_multiple_of(parts).then_some(start / parts)
}

/// The step that packs elements of a byte each, or unpacks them, if whole bytes are packed.
fn packing(region: &Region, widths: Widths) -> Option<Step> {
    let bits = widths.from.min(widths.to);
    if widths.from.max(widths.to) != 8 || !matches!(bits, 1 | 2 | 4) || bits != widths.value {
        return None;
    }
    // As if elements were packed: `from` is in bytes, `to` in packed elements.
    let packs = widths.to == bits;
    let turned = |axis: &Axis| if packs { *axis } else { Axis { from: axis.to, to: axis.from, ..*axis } };
    let mut axes = region.axes.iter().map(turned).collect::<Vec<_>>();
    let (from, to) = if packs { (region.from, region.to) } else { (region.to, region.from) };
    let parts = 8 / bits;
    let unit = axes.iter().position(|axis| axis.to == 1 && axis.len.is_multiple_of(parts))?;
    let Axis { len, from: distance, .. } = axes.remove(unit);
    let way = Axis { len: len / parts, from: distance * parts, to: 1 };
    let to = in_bytes(parts, to, &mut axes, |axis| &mut axis.to)?;
    let (step, rows) = if distance == 1 {
        (parts, Interleave { ways: 1, bytes: 1, len: way.len, row: 0 })
    } else {
        let along = axes.iter().position(|axis| axis.from == 1 && axis.to == way.len)?;
        let along = axes.remove(along);
        let few = matches!(way.len, 1 | 2 | 4 | 8);
        (1, few.then_some(Interleave { ways: way.len, bytes: 1, len: along.len, row: way.from })?)
    };
    let kernel = Packing { bits, distance, step, rows };
    axes.sort_by_key(|axis| Reverse(axis.from));
    let outer = axes.iter().map(turned).collect();
    let (kernel, from, to) = if packs { (Kernel::Pack(kernel), from, to) } else { (Kernel::Unpack(kernel), to, from) };
    Some(Step { from, to, outer, work: Work::Kernel(kernel) })
}

/// Takes innermost loops that cover the same few bytes on both sides as one wider element. If the order within is
/// another, the answer says how the bytes are shuffled.
fn widen(axes: &mut Vec<Axis>, bytes: usize) -> (usize, Option<[u8; 16]>) {
    let (mut taken, mut wide) = (0, bytes);
    for count in 1..=axes.len() {
        let inner = &axes[axes.len() - count..];
        let end = inner.iter().try_fold(bytes, |end, axis| end.checked_mul(axis.len).filter(|&end| end <= MAX_BYTES));
        let Some(end) = end else { break };
        let last = |side: fn(&Axis) -> usize| inner.iter().map(|axis| (axis.len - 1) * side(axis)).sum::<usize>();
        if end.is_power_of_two() && last(|axis| axis.from) == end - bytes && last(|axis| axis.to) == end - bytes {
            (taken, wide) = (count, end);
        }
    }
    let inner = axes.split_off(axes.len() - taken);
    let mut shuffle = std::array::from_fn(|i| i as u8);
    for element in (0..wide).step_by(bytes) {
        // Where in the source the element lies that lies here in the destination.
        let from = inner.iter().map(|axis| element / axis.to % axis.len * axis.from).sum::<usize>();
        for byte in 0..bytes {
            shuffle[element + byte] = (from + byte) as u8;
        }
    }
    for i in wide..MAX_BYTES {
        shuffle[i] = shuffle[i - wide] + wide as u8;
    }
    (wide, (!shuffle.is_sorted()).then_some(shuffle))
}

/// Takes the loops of an interleaving of few rows, or of the way back, if there is one.
fn interleaved(axes: &mut Vec<Axis>, bytes: usize, shuffle: Option<[u8; 16]>) -> Option<Kernel> {
    if shuffle.is_some() {
        return None;
    }
    let find = |from: Option<usize>, to: Option<usize>| {
        let fits = |axis: &Axis| from.is_none_or(|from| axis.from == from) && to.is_none_or(|to| axis.to == to);
        axes.iter().position(fits)
    };
    let few = |ways: usize| matches!(ways, 2 | 4 | 8) && ways * bytes <= MAX_BYTES;
    if let Some(way) = find(None, Some(bytes))
        && few(axes[way].len)
        && let Some(along) = find(Some(bytes), Some(bytes * axes[way].len))
    {
        let (way, along) = (axes[way], axes[along]);
        axes.retain(|&axis| axis != way && axis != along);
        return Some(Kernel::Interleave(Interleave { ways: way.len, bytes, len: along.len, row: way.from }));
    }
    if let Some(way) = find(Some(bytes), None)
        && few(axes[way].len)
        && let Some(along) = find(Some(bytes * axes[way].len), Some(bytes))
    {
        let (way, along) = (axes[way], axes[along]);
        axes.retain(|&axis| axis != way && axis != along);
        return Some(Kernel::Deinterleave(Interleave { ways: way.len, bytes, len: along.len, row: way.to }));
    }
    None
}

/// Takes the loops of a transpose: two that continue each other in the source, and two that do in the destination.
fn transposed(axes: &mut Vec<Axis>, bytes: usize, shuffle: Option<[u8; 16]>) -> Kernel {
    let mut take = |fits: &dyn Fn(&Axis) -> bool| {
        let found = axes.iter().position(fits);
        found.map_or(Axis { len: 1, from: 0, to: 0 }, |i| axes.remove(i))
    };
    let a = take(&|axis| axis.from == bytes);
    let b = take(&|axis| axis.to == bytes);
    // Without a loop to continue there is nothing to look for.
    let a_next = take(&|axis| a.len > 1 && axis.from == a.from * a.len);
    let b_next = take(&|axis| b.len > 1 && axis.to == b.to * b.len);
    Kernel::Transpose(Transpose { bytes, shuffle, a: [a, a_next], b: [b, b_next] })
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
            Work::Kernel(Kernel::Copy(bytes)) => write!(f, "copy {bytes} bytes"),
            Work::Kernel(Kernel::Interleave(Interleave { ways, bytes, len, row })) => {
                write!(f, "interleave {ways} rows (+{row}) of {len} elements of {bytes} bytes")
            }
            Work::Kernel(Kernel::Deinterleave(Interleave { ways, bytes, len, row })) => {
                write!(f, "take apart {ways} rows (+{row}) of {len} elements of {bytes} bytes")
            }
            Work::Kernel(Kernel::Pack(Packing { bits, rows, .. })) => {
                write!(f, "pack {} rows of {} bytes with elements of {bits} bits", rows.ways, rows.len)
            }
            Work::Kernel(Kernel::Unpack(Packing { bits, rows, .. })) => {
                write!(f, "unpack {} rows of {} bytes with elements of {bits} bits", rows.ways, rows.len)
            }
            Work::Kernel(Kernel::Transpose(Transpose { bytes, shuffle, a, b })) => {
                let order = if shuffle.is_some() { ", reordered within" } else { "" };
                write!(
                    f,
                    "transpose {} x {} elements of {bytes} bytes{order}",
                    a[0].len * a[1].len,
                    b[0].len * b[1].len
                )
            }
        }
    }
}
