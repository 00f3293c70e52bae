//! From a region to steps: selects the kernel for the innermost loops, and the order of the others.

use super::elements::{Unit, Widths};
use super::kernels::{
    BoundedStep, Gather, Interleave, Kernel, LEAST_ODD_ROW, Machine, Matrix, NotPermuted, Packing, Runs, Side, Step,
    Transpose, Units, Work, permutes_odd_rows,
};
use super::loops::{Axes, Axis, Region};
#[cfg(feature = "threads")]
use super::tuning::MIN_STRETCH_BYTES;
use super::tuning::{
    GATHER_BLOCKS, LONG_RUN, MAX_NEAR_STRIDE, MAX_PERMUTES_OF_TINY, MAX_PERMUTES_PER_VECTOR, MAX_RUN,
    MAX_TINY_ELEMENTS, MIN_GATHER_ELEMENTS, MIN_JOINED_ITERATION, MIN_ODD_ROW, MIN_PAIRED_ROW, MIN_UNMERGED_ITERATION,
    PERMUTES_INSTEAD_OF_RUNS, RUNS_PER_BATCH, TINY_REGION,
};
use std::cmp::Reverse;
use std::fmt;

/// The widest element that kernels other than [`Kernel::Copy`] move, in bytes.
const MAX_BYTES: usize = 16;

impl Step {
    /// Adds the steps of a region: one, or two if the last packed elements of its rows do not fill a byte.
    pub(super) fn add_all(steps: &mut Vec<BoundedStep>, region: &mut Region, widths: Widths, machine: Machine) {
        if let Some(bytes) = widths.bytes() {
            region.count_bytes(bytes);
            region.normalize();
            return Self::add_bytes(steps, region, bytes, machine);
        }
        region.normalize();
        let Some(unit) = widths.unit() else { return steps.push(Self::element_by_element(region.clone()).into()) };
        let (whole, rest) = split(region.clone(), widths, unit);
        if let Some(mut region) = whole_bytes(&whole, widths, unit) {
            region.normalize();
            Self::add_bytes(steps, &region, 1, machine);
        } else {
            steps.push(packing(&whole, widths, unit).unwrap_or_else(|| Self::element_by_element(whole)).into());
        }
        steps.extend(rest.map(|rest| Self::element_by_element(rest).into()));
    }

    /// Copies elements of any width, one by one.
    fn element_by_element(region: Region) -> Self {
        let Region { from, to, axes } = region;
        Self { from, to, outer: axes, work: Work::Element }
    }

    /// Adds the steps of a normalized region of elements of `bytes` bytes. Offsets are in bytes.
    fn add_bytes(steps: &mut Vec<BoundedStep>, region: &Region, bytes: usize, machine: Machine) {
        let (from, to, mut axes) = (region.from, region.to, Axes::new());
        axes.extend_from_slice(&region.axes);
        let narrow = bytes;
        let region_bytes = axes.iter().fold(bytes, |all, axis| all * axis.len);
        let (bytes, shuffle) = widen(&mut axes, bytes);
        let kernel = if axes.last().is_some_and(|axis| (axis.from, axis.to) == (bytes, bytes)) && shuffle.is_none() {
            let run = axes.pop().map_or(1, |axis| axis.len);
            runs(&mut axes, run * bytes, machine).unwrap_or(Kernel::Copy(run * bytes))
        } else if bytes <= MAX_BYTES && bytes.is_power_of_two() {
            let is_tiny = region_bytes <= TINY_REGION;
            let interleaved = interleaved(&mut axes, bytes, shuffle, machine, is_tiny);
            interleaved.unwrap_or_else(|| transposed(&mut axes, bytes, shuffle))
        } else {
            runs(&mut axes, bytes, machine).unwrap_or(Kernel::Copy(bytes))
        };
        let matrix = match kernel {
            Kernel::Transpose(kernel) => {
                let starts_lines = axes.iter().chain(&kernel.a).all(|axis| axis.to.is_multiple_of(64));
                kernel.as_matrix(machine.is_large(starts_lines), starts_lines)
            }
            _ => None,
        };
        // How many permutes for a vector are still faster than this kernel, and whether this kernel has no vectors at all.
        let (max_permutes, is_scalar) = match kernel {
            Kernel::Copy(bytes) if bytes < MAX_BYTES => (MAX_PERMUTES_PER_VECTOR, true),
            Kernel::Runs(kernel) => (PERMUTES_INSTEAD_OF_RUNS / kernel.bytes, false),
            Kernel::Transpose(kernel) if kernel.is_scalar(machine) => (MAX_PERMUTES_PER_VECTOR, true),
            Kernel::Transpose(_) if matrix.is_some() => (0, false),
            // Preparing a transpose would take longer than copying the elements.
            Kernel::Transpose(_) if region_bytes <= TINY_REGION => {
                (MAX_PERMUTES_OF_TINY, region_bytes / narrow <= MAX_TINY_ELEMENTS)
            }
            Kernel::Transpose(kernel) => (kernel.useful_permutes(), false),
            _ => (0, false),
        };
        if max_permutes > 0
            && let Some(gathered) = gathered(region, narrow, machine, max_permutes, is_scalar)
        {
            return steps.extend(gathered);
        }
        let kernel = match matrix {
            Some((matrix, outer)) => {
                axes.extend(outer);
                Kernel::Matrix(matrix)
            }
            None => kernel,
        };
        let merges_iterations = matches!(kernel, Kernel::Runs(Runs { bytes, len, .. }) if machine.is_streaming() && bytes * len < MIN_UNMERGED_ITERATION);
        match kernel {
            // With non-temporal stores, short iterations run in the order of the destination and share a staging buffer.
            Kernel::Runs(_) if merges_iterations => axes.sort_by_key(|axis| Reverse(axis.to)),
            // With ordinary stores, write the destination from front to back; several rows are read at once anyway.
            Kernel::Interleave(_) if !machine.is_streaming() => axes.sort_by_key(|axis| Reverse(axis.to)),
            // The blocks of a transpose have their own order.
            Kernel::Transpose(_) | Kernel::Matrix(_) => {}
            // Otherwise, read the source from front to back.
            _ => axes.sort_by_key(|axis| Reverse(axis.from)),
        }
        let mut step = Self { from, to, outer: axes, work: Work::Kernel(kernel) };
        let rest = match kernel {
            Kernel::Runs(kernel) if kernel.len > 2 * RUNS_PER_BATCH && !merges_iterations => step.split_runs(kernel),
            _ => None,
        };
        steps.push(step.into());
        steps.extend(rest.map(BoundedStep::from));
    }

    /// Splits the loop over runs into batches of [`RUNS_PER_BATCH`]. Returns a step for the remaining runs, if there are any.
    fn split_runs(&mut self, kernel: Runs) -> Option<Self> {
        let (parts, left) = (kernel.len / RUNS_PER_BATCH, kernel.len % RUNS_PER_BATCH);
        let part = Axis { len: parts, from: RUNS_PER_BATCH * kernel.stride, to: RUNS_PER_BATCH * kernel.bytes };
        let work = |len| Work::Kernel(Kernel::Runs(Runs { len, ..kernel }));
        let (from, to) = (self.from + parts * part.from, self.to + parts * part.to);
        let rest = (left > 0).then(|| Self { from, to, outer: self.outer.clone(), work: work(left) });
        self.outer.push(part);
        self.outer.sort_by_key(|axis| Reverse(axis.from));
        self.work = work(RUNS_PER_BATCH);
        rest
    }
}

impl Step {
    /// Splits a step into up to `count` parts along the loop with the largest stride in the destination: each part writes after the part
    /// before it. A single part if there is no such loop.
    #[cfg(feature = "threads")]
    pub(super) fn parts(&self, count: usize) -> Vec<Self> {
        let mut whole = self.clone();
        if let Work::Kernel(Kernel::Transpose(kernel)) = &mut whole.work
            && let Some(cut) = (0..kernel.a.len()).max_by_key(|&i| kernel.a[i].to)
        {
            // Loops outside of the one that is split would not continue its parts, so they move out of the kernel.
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
            Work::Kernel(Kernel::Matrix(kernel)) if kernel.columns == axis => MAX_BYTES.div_ceil(kernel.bytes),
            // Transposes read blocks of rows in any case.
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

    /// Splits a step into up to `count` steps that do the same one after the other, in the same order where it has a loop.
    #[cfg(feature = "threads")]
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
    #[cfg(feature = "threads")]
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
    #[cfg(feature = "threads")]
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

/// The step that packs elements of a byte each, or unpacks them, if whole units are packed.
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
    axes.sort_by_key(|axis| Reverse(axis.from));
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

/// Merges the innermost loops that cover the same few bytes on both sides into one wider element. If the order of the bytes differs,
/// returns the shuffle.
fn widen(axes: &mut Axes, bytes: usize) -> (usize, Option<[u8; MAX_BYTES]>) {
    if bytes > MAX_BYTES {
        return (bytes, None);
    }
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
    if taken == 0 {
        return (bytes, None);
    }
    let inner = axes.drain(axes.len() - taken..).collect::<Axes>();
    let mut shuffle = std::array::from_fn(|i| i as u8);
    for element in (0..wide).step_by(bytes) {
        // Where the element at this offset of the destination lies in the source.
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

/// The steps that gather a region block by block: one, and others for the iterations that are left over. `None` if another kernel would be
/// faster or, if that `is_scalar`, copying element by element.
fn gathered(
    region: &Region,
    bytes: usize,
    machine: Machine,
    max_permutes: usize,
    is_scalar: bool,
) -> Option<Vec<BoundedStep>> {
    if bytes > MAX_BYTES || !bytes.is_power_of_two() {
        return None;
    }
    // Without 64-byte vectors, permutes are only faster than scalar code.
    let size = Gather::permuted_size(machine).filter(|_| is_scalar || Gather::can_permute(machine));
    for (size, most) in size.into_iter().flat_map(|size| GATHER_BLOCKS.map(|most| (size, most))) {
        let block = GatherBlock::new(region, bytes, most, true)?;
        match Gather::permuted(size, bytes, &block.places, max_permutes) {
            Ok(gather) => return Some(block.steps(region, bytes, gather, machine)),
            Err(NotPermuted::TryShorterBlock) => {}
            Err(NotPermuted::ElementWise) => break,
        }
    }
    let mut block = is_scalar.then(|| GatherBlock::new(region, bytes, GATHER_BLOCKS[0], false))??;
    // Without permutes, a line of the source should be read completely while it is in the caches.
    let is_near = block.reads_runs || !machine.exceeds_caches();
    is_near.then(|| {
        let gather = Gather::new(bytes, std::mem::take(&mut block.places));
        block.steps(region, bytes, gather, machine)
    })
}

/// The innermost loops over the destination of a region, which are gathered as a block.
struct GatherBlock {
    /// Where each element lies in both arrays, in elements from the start of the iteration.
    places: Vec<(u32, u32)>,
    /// Whether the block contains neighbours in the source.
    reads_runs: bool,
    /// The loops around the block.
    outer: Axes,
    /// The rest of a loop that was cut.
    rest: Option<Region>,
}

impl GatherBlock {
    /// A block of up to `most` bytes of the destination. Its outermost loop is cut if it is too long and `cuts` allows it.
    fn new(region: &Region, bytes: usize, most: usize, cuts: bool) -> Option<Self> {
        let mut block = Self { places: vec![(0, 0)], reads_runs: false, outer: region.axes.clone(), rest: None };
        let (mut from_end, mut to_end) = (bytes, bytes);
        while let Some(&axis) = block.outer.last() {
            // Gaps may take as much as the elements.
            let iterations = most / axis.to;
            if axis.to < to_end || axis.to > 2 * to_end || iterations < 2 || axis.len > iterations && !cuts {
                break;
            }
            block.outer.pop();
            let mut len = axis.len;
            if len > iterations {
                // Whole lines, if possible.
                let lines = 64 >> axis.to.trailing_zeros().min(6);
                len = if iterations < lines { iterations } else { iterations / lines * lines };
                block.cut(region, len);
            }
            from_end = from_end.checked_add((len - 1).checked_mul(axis.from)?)?;
            to_end += (len - 1) * axis.to;
            if from_end > i32::MAX as usize {
                return None;
            }
            block.reads_runs |= axis.from == bytes;
            let count = block.places.len();
            block.places.reserve_exact(count * (len - 1));
            for i in 1..len {
                let (from, to) = ((i * axis.from / bytes) as u32, (i * axis.to / bytes) as u32);
                block.places.extend_from_within(..count);
                block.places[i * count..].iter_mut().for_each(|place| *place = (place.0 + from, place.1 + to));
            }
            if len < axis.len {
                break;
            }
        }
        (block.outer.is_empty() || block.places.len() >= MIN_GATHER_ELEMENTS).then_some(block)
    }

    /// Cuts the loop that was the last outer one to `len` iterations at a time.
    fn cut(&mut self, region: &Region, len: usize) {
        let number = self.outer.len();
        let axis = region.axes[number];
        let (iterations, left) = (axis.len / len, axis.len % len);
        self.outer.push(Axis { len: iterations, from: axis.from * len, to: axis.to * len });
        if left > 0 {
            let mut rest = region.clone();
            rest.from += iterations * len * axis.from;
            rest.to += iterations * len * axis.to;
            rest.axes[number].len = left;
            rest.normalize();
            self.rest = Some(rest);
        }
    }

    fn steps(mut self, region: &Region, bytes: usize, gather: Gather, machine: Machine) -> Vec<BoundedStep> {
        // Read a line of the source completely while it is in the L1 cache.
        self.outer.sort_by_key(|axis| Reverse(axis.from));
        let step = Step { from: region.from, to: region.to, outer: self.outer, work: Work::Gather(gather) };
        let mut steps = vec![step.into()];
        if let Some(rest) = self.rest {
            Step::add_bytes(&mut steps, &rest, bytes, machine);
        }
        steps
    }
}

/// Takes the loop over runs that follow each other in the destination, if joining them is faster.
fn runs(axes: &mut Axes, bytes: usize, machine: Machine) -> Option<Kernel> {
    let gains = |axis: &Axis| {
        if machine.is_streaming() {
            // Whole lines are written at once anyway, if the destination begins at a line.
            !bytes.is_multiple_of(64)
        } else {
            bytes < LONG_RUN || axis.len * bytes >= MIN_JOINED_ITERATION
        }
    };
    let along = axes.iter().position(|axis| axis.to == bytes && bytes <= MAX_RUN && gains(axis))?;
    let Axis { len, from: stride, .. } = axes.remove(along);
    Some(Kernel::Runs(Runs { bytes, len, stride }))
}

/// Takes the loops of an interleaving with a small factor, or of the inverse, if there are any.
fn interleaved(
    axes: &mut Axes,
    bytes: usize,
    shuffle: Option<[u8; 16]>,
    machine: Machine,
    is_tiny: bool,
) -> Option<Kernel> {
    if shuffle.is_some() || bytes == MAX_BYTES {
        return None;
    }
    let can_permute = Gather::can_permute(machine);
    // The bytes of the shortest rows: shorter ones do not fill a vector, or are permuted in less time.
    let least = |factor: usize| match factor {
        5 | 7 if bytes == 4 => LEAST_ODD_ROW,
        3 if bytes == 4 && permutes_odd_rows(machine) && (is_tiny || can_permute) => LEAST_ODD_ROW,
        _ if !can_permute => MAX_BYTES,
        _ if is_tiny => 64,
        3 | 5 | 7 if bytes < 4 => MIN_ODD_ROW,
        4 => MAX_BYTES,
        2 if bytes == 8 => MAX_BYTES,
        2 | 8 => MIN_PAIRED_ROW,
        _ => 64,
    };
    let is_long = |along: &usize, rows: usize, axes: &[Axis]| axes[*along].len * bytes >= least(axes[rows].len);
    let find = |from: Option<usize>, to: Option<usize>| {
        let fits = |axis: &Axis| from.is_none_or(|from| axis.from == from) && to.is_none_or(|to| axis.to == to);
        axes.iter().position(fits)
    };
    // With a larger factor, a transpose fills whole lanes.
    let is_small_factor = |factor: usize| match factor {
        // A tiny array is a matrix.
        2 | 4 | 8 if is_tiny && factor * bytes >= MAX_BYTES => false,
        2 | 4 | 8 => factor * bytes <= 2 * MAX_BYTES,
        3 if bytes == 8 => can_permute && machine.is_streaming(),
        5 | 7 if bytes == 4 => permutes_odd_rows(machine),
        3..16 => factor * bytes < MAX_BYTES,
        _ => false,
    };
    if let Some(rows) = find(None, Some(bytes))
        && is_small_factor(axes[rows].len)
        && let Some(along) = find(Some(bytes), Some(bytes * axes[rows].len)).filter(|along| is_long(along, rows, axes))
    {
        let (rows, along) = (axes[rows], axes[along]);
        axes.retain(|axis| *axis != rows && *axis != along);
        return Some(Kernel::Interleave(Interleave { factor: rows.len, bytes, len: along.len, row_stride: rows.from }));
    }
    if let Some(rows) = find(Some(bytes), None)
        && is_small_factor(axes[rows].len)
        && let Some(along) = find(Some(bytes * axes[rows].len), Some(bytes)).filter(|along| is_long(along, rows, axes))
    {
        let (rows, along) = (axes[rows], axes[along]);
        axes.retain(|axis| *axis != rows && *axis != along);
        return Some(Kernel::Deinterleave(Interleave { factor: rows.len, bytes, len: along.len, row_stride: rows.to }));
    }
    None
}

/// Takes the loops of a transpose: those that continue each other in the source, and those that do in the destination.
fn transposed(axes: &mut Axes, bytes: usize, shuffle: Option<[u8; 16]>) -> Kernel {
    // Elements that are near each other but not contiguous are moved one by one, those of a line together.
    let nearest = |axes: &[Axis], side: fn(&Axis) -> usize| {
        let nearest = axes.iter().map(side).min().filter(|&stride| stride <= MAX_NEAR_STRIDE * bytes);
        if bytes < MAX_BYTES { nearest.unwrap_or(bytes) } else { bytes }
    };
    let mut a = Chain::new(nearest(axes, |axis| axis.from), |axis| axis.from);
    a.take(axes);
    let mut b = Chain::new(nearest(axes, |axis| axis.to), |axis| axis.to);
    b.take(axes);
    // A loop that continues both sides goes to the one that is too short without it, preferably the destination's, which is written in
    // whole lines.
    loop {
        let b_first = b.len * bytes < 64 && a.len * bytes >= MAX_BYTES;
        let taken = if b_first { [b.take(axes), a.take(axes)] } else { [a.take(axes), b.take(axes)] };
        if taken == [false; 2] {
            return Kernel::Transpose(Transpose { bytes, shuffle, a: a.loops, b: b.loops });
        }
    }
}

/// Loops that continue each other on one side.
struct Chain {
    side: fn(&Axis) -> usize,
    /// The stride that the next loop must have.
    end: usize,
    /// The number of loops.
    count: usize,
    /// The number of iterations of all loops together.
    len: usize,
    loops: Side,
}

impl Chain {
    /// A chain whose first loop has this stride.
    fn new(stride: usize, side: fn(&Axis) -> usize) -> Self {
        Self { side, end: stride, count: 0, len: 1, loops: [Axis { len: 1, from: 0, to: 0 }; 4] }
    }

    /// Takes the loop that continues the chain. Returns whether there was one, and room for it.
    fn take(&mut self, axes: &mut Axes) -> bool {
        let next = axes.iter().position(|axis| (self.side)(axis) == self.end);
        let (Some(next), true) = (next, self.count < self.loops.len()) else { return false };
        let axis = axes.remove(next);
        self.end = (self.side)(&axis) * axis.len;
        self.len *= axis.len;
        self.loops[self.count] = axis;
        self.count += 1;
        true
    }
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
