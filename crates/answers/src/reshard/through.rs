//! A sharding to go through, where XLA's partitioner knows no direct way from one sharding to another.
//!
//! The partitioner tries the collective operations one after another (`PartitionedHlo::Reshard` in
//! `xla/service/spmd/spmd_partitioner.cc`). If none makes the change, it gathers the whole array on each device, and warns of an
//! "Involuntary full rematerialization". Often there is a sharding between the two, so that one operation leads to it, and one from it.
//!
//! A sharding assigns axes of the devices to the dimensions of the array. Before anything else, both are written with the same axes:
//! `[4,2]<=[8]` and `[1,2,4]<=[4,2]T(1,0)` have `a` of size 4 and `b` of size 2, and are `[a][b]` and `[][b]`. One operation drops axes from the ends of
//! dimensions, moves them to the end of another, exchanges two, or adds one. The shardings that one such step reaches from either side
//! are tried.

use super::{Collective, collective, needs_several};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use xla_shape_core::shard::{
    Axis, AxisRef, Devices, DimensionSharding, Mesh, NamedSharding, OtherAxes, ReshardKind, Sharding, ShardingKind,
    SubAxis, Subgroup, TiledSharding,
};
use xla_shape_core::{ArrayShape, ElementType};

/// A sharding between two others.
///
/// ```
/// use xla_shape_answers::reshard::{Collective, Through};
///
/// let (from, to) = ("{devices=[4,1]<=[4]}".parse()?, "{devices=[1,2,2]<=[4] last_tile_dim_replicate}".parse()?);
/// let through = Through::new(&"f32[96,8]".parse()?, &from, &to).unwrap();
/// assert_eq!((through.sharding.as_str(), through.shard.as_str()), ("{devices=[1,4]<=[4]}", "f32[96,2]{1,0}"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Through {
    /// Its canonical text, in the notation of the two.
    pub sharding: String,
    /// The shape of a shard, with its layout.
    pub shard: String,
    /// The bytes of a shard, with padding; null if they do not fit in 64 bits.
    pub shard_bytes: Option<u64>,
    /// The collective operations that lead to it and from it, in this order. A step in which devices only drop elements needs none, and is left out.
    pub collectives: Vec<Collective>,
    /// The bytes that all devices together receive; null if the bits do not fit in 64 bits.
    pub bytes_moved: Option<u64>,
}

/// The most axes that may move. With more, no sharding is looked for.
const MAX_MOVING: usize = 8;
/// The most devices, summed over the shardings that are tried. It bounds the time of a log with many changes.
const MAX_LOOKED_AT: u64 = 1 << 13;

/// An axis of the devices: their number is `… + index * stride`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Digit {
    stride: u64,
    size: u64,
}

/// For each dimension of the array the axes that divide it, from major to minor.
type Axes<T> = Vec<Vec<T>>;

impl Through {
    /// A sharding that one operation reaches from `from`, and from which one operation reaches `to`. Of several, it is the one that moves the
    /// fewest bytes.
    ///
    /// `None` if one operation makes the whole change, or if no such sharding is found. None is found if its shards would be as large as the
    /// array, if the array is not divided evenly, or if the two shardings do not divide it by axes of the same devices.
    #[must_use]
    pub fn new(array: &ArrayShape, from: &Sharding, to: &Sharding) -> Option<Self> {
        if !needs_several(&from.reshard(to, array).ok()?) {
            return None;
        }
        let sharding = between(array, from, to)?;
        let partition = sharding.partition(array).ok()?;
        // Padding may make a shard as large as the array.
        if partition.shard().byte_size() >= array.byte_size() {
            return None;
        }
        let (first, second) = (from.reshard(&sharding, array).ok()?, sharding.reshard(to, array).ok()?);
        Some(Self {
            sharding: sharding.to_string(),
            shard: partition.shard().to_string(),
            shard_bytes: partition.shard().byte_size(),
            collectives: [&first, &second].into_iter().filter_map(|step| collective(step.kind())).collect(),
            bytes_moved: first.bytes().zip(second.bytes()).and_then(|(first, second)| first.checked_add(second)),
        })
    }
}

fn between(array: &ArrayShape, from: &Sharding, to: &Sharding) -> Option<Sharding> {
    let (mesh, sides) = with_one_mesh(from, to, array.num_dimensions())?;
    let cuts = cuts(&mesh, &sides)?;
    let [before, after] = sides.map(|side| cut(&side, &cuts));
    let sizes = array.dimensions().iter().map(|dimension| dimension.extent()).collect::<Option<Vec<_>>>()?;

    // What both keep at the beginning of a dimension stays. Axes that neither uses stay unused.
    let kept = before.iter().zip(&after).map(|(a, b)| a.iter().zip(b).take_while(|(a, b)| a == b).count());
    let kept = kept.collect::<Vec<_>>();
    let moving =
        |side: &Axes<Digit>| side.iter().zip(&kept).map(|(axes, &kept)| axes[kept..].to_vec()).collect::<Axes<_>>();
    let sides = [moving(&before), moving(&after)];
    let mut digits = sides.iter().flatten().flatten().copied().collect::<Vec<_>>();
    digits.sort_unstable_by_key(|digit| std::cmp::Reverse(digit.stride));
    digits.dedup();
    if digits.len() > MAX_MOVING {
        return None;
    }
    let number = |digit: &Digit| digits.iter().position(|other| other == digit);
    let numbered = |side: &Axes<Digit>| {
        side.iter().map(|axes| axes.iter().map(number).collect::<Option<Vec<_>>>()).collect::<Option<Axes<_>>>()
    };
    let [start, end] = [numbered(&sides[0])?, numbered(&sides[1])?];
    let sizes = sizes.iter().zip(&before).zip(&kept).map(|((&size, axes), &kept)| {
        let tiles = axes[..kept].iter().map(|digit| digit.size).product::<u64>();
        (tiles > 0 && size % tiles == 0).then(|| size / tiles)
    });
    let sizes = sizes.collect::<Option<Vec<_>>>()?;
    let best = best(&sizes, &digits, &start, &end)?;

    let all = before.iter().zip(&kept).zip(&best).map(|((before, &kept), best)| {
        before[..kept].iter().copied().chain(best.iter().map(|&axis| digits[axis])).collect()
    });
    let sharding = named(&mesh, &all.collect())?;
    // The whole array on each device is what is to be avoided.
    if matches!(sharding.to_tiled().ok()?.kind(), ShardingKind::Replicated) {
        return None;
    }
    // Other shardings have a mesh of ours, whose axis nobody else knows.
    match (from.kind(), to.kind()) {
        (ShardingKind::Named(a), ShardingKind::Named(b)) if a.mesh() == b.mesh() => Some(sharding),
        _ => Some(sharding.to_tiled().ok()?.into_owned()),
    }
}

/// The mesh of both shardings, and the axes of each.
fn with_one_mesh(from: &Sharding, to: &Sharding, rank: usize) -> Option<(Mesh, [Axes<Digit>; 2])> {
    if let (ShardingKind::Named(a), ShardingKind::Named(b)) = (from.kind(), to.kind())
        && a.mesh() == b.mesh()
    {
        let axes = |named: &NamedSharding| -> Option<Axes<Digit>> {
            let is_whole = named.manual().is_empty() && named.unreduced().is_empty();
            let digits =
                |dimension: &DimensionSharding| dimension.axes.iter().map(|&axis| digit(named.mesh(), axis)).collect();
            (is_whole && named.dimensions().len() == rank).then(|| named.dimensions().iter().map(digits).collect())
        };
        return Some((a.mesh().clone(), [axes(a)?, axes(b)?]));
    }
    let [a, b] = [from.to_tiled().ok()?, to.to_tiled().ok()?];
    let devices = match [a.kind(), b.kind()] {
        [ShardingKind::Tiled(a), ShardingKind::Tiled(b)] => {
            Some(a.assignment().devices().count()).filter(|&count| count == b.assignment().devices().count())?
        }
        [ShardingKind::Tiled(one), ShardingKind::Replicated] | [ShardingKind::Replicated, ShardingKind::Tiled(one)] => {
            one.assignment().devices().count()
        }
        _ => return None,
    };
    let mesh = Mesh::new(vec![Axis { name: "devices".into(), size: devices }], None).ok()?;
    let axes = |sharding: &Sharding| match sharding.kind() {
        ShardingKind::Tiled(tiled) => tiled_axes(tiled, rank),
        _ => Some(vec![Vec::new(); rank]),
    };
    Some((mesh, [axes(&a)?, axes(&b)?]))
}

/// An axis of a mesh, or a part of one.
fn digit(mesh: &Mesh, axis: AxisRef) -> Digit {
    let minor = mesh.axes().iter().skip(axis.axis + 1).map(|axis| axis.size).product::<u64>();
    let whole = mesh.axes().get(axis.axis).map_or(1, |axis| axis.size);
    match axis.part {
        Some(SubAxis { pre_size, size }) => Digit { stride: minor * (whole / (pre_size * size)), size },
        None => Digit { stride: minor, size: whole },
    }
}

/// The axes that a tiled sharding assigns to each dimension; `None` if it lists its devices, or if a dimension takes a part of an axis that
/// does not divide it.
fn tiled_axes(tiled: &TiledSharding, rank: usize) -> Option<Axes<Digit>> {
    let Devices::Iota(iota) = tiled.assignment().devices() else { return None };
    let is_whole = tiled.subgroups().iter().all(|&subgroup| subgroup == Subgroup::Replicated);
    if !is_whole || tiled.tiles().len() != rank {
        return None;
    }
    let stride = |dimension: usize| iota.dimensions()[dimension + 1..].iter().product::<u64>();
    let mut axes = iota
        .permutation()
        .iter()
        .map(|&dimension| Digit { stride: stride(dimension), size: iota.dimensions()[dimension] });
    let mut next = Digit { stride: 1, size: 1 };
    let of_tiles = tiled.tiles().iter().map(|&tiles| {
        let (mut rest, mut own) = (tiles, Vec::new());
        while rest > 1 {
            if next.size == 1 {
                next = axes.next()?;
            }
            // The dimension takes all of the axis, or its major part.
            let size = if rest % next.size == 0 { next.size } else { rest };
            if !next.size.is_multiple_of(size) {
                return None;
            }
            next.size /= size;
            own.push(Digit { stride: next.stride * next.size, size });
            rest /= size;
        }
        Some(own)
    });
    of_tiles.collect()
}

/// The strides at which axes begin and end. Cut at all of them, both sides have the same axes. `None` if axes overlap in another way.
fn cuts(mesh: &Mesh, sides: &[Axes<Digit>; 2]) -> Option<Vec<u64>> {
    let of_mesh = (0..mesh.axes().len()).map(|axis| digit(mesh, AxisRef::whole(axis)));
    let digits = sides.iter().flatten().flatten().copied().chain(of_mesh);
    let mut cuts = digits.flat_map(|Digit { stride, size }| [stride, stride * size]).collect::<Vec<_>>();
    cuts.sort_unstable();
    cuts.dedup();
    cuts.windows(2).all(|pair| pair[1] % pair[0] == 0).then_some(cuts)
}

/// The same axes, cut.
fn cut(side: &Axes<Digit>, cuts: &[u64]) -> Axes<Digit> {
    let parts = |digit: &Digit| {
        let (first, last) = (digit.stride, digit.stride * digit.size);
        let inside = cuts.windows(2).rev().filter(move |pair| first <= pair[0] && pair[1] <= last);
        inside.map(|pair| Digit { stride: pair[0], size: pair[1] / pair[0] }).collect::<Vec<_>>()
    };
    side.iter().map(|axes| axes.iter().flat_map(parts).collect()).collect()
}

/// The sharding of a mesh with these axes, which do not cross those of the mesh.
fn named(mesh: &Mesh, axes: &Axes<Digit>) -> Option<Sharding> {
    let whole = (0..mesh.axes().len()).map(|axis| digit(mesh, AxisRef::whole(axis))).collect::<Vec<_>>();
    let of_mesh =
        |digit: Digit| whole.iter().position(|axis| (axis.stride..axis.stride * axis.size).contains(&digit.stride));
    let dimension = |axes: &Vec<Digit>| {
        // Parts of an axis that follow each other are one.
        let mut merged = Vec::<(usize, Digit)>::new();
        for &digit in axes.iter().filter(|digit| digit.size > 1) {
            let axis = of_mesh(digit)?;
            match merged.last_mut() {
                Some((last, major)) if *last == axis && major.stride == digit.stride * digit.size => {
                    *major = Digit { stride: digit.stride, size: major.size * digit.size };
                }
                _ => merged.push((axis, digit)),
            }
        }
        let axis = |(axis, Digit { stride, size }): (usize, Digit)| {
            let whole = whole[axis];
            let pre_size = whole.stride * whole.size / (stride * size);
            AxisRef { axis, part: (size != whole.size).then_some(SubAxis { pre_size, size }) }
        };
        Some(DimensionSharding { axes: merged.into_iter().map(axis).collect(), is_open: false })
    };
    let dimensions = axes.iter().map(dimension).collect::<Option<Vec<_>>>()?;
    Some(Sharding::named(NamedSharding::new(mesh.clone(), dimensions, OtherAxes::default()).ok()?))
}

/// Of the shardings that one step reaches from either side, that of the fewest bytes. An array of these sizes has these axes alone.
fn best(sizes: &[u64], digits: &[Digit], start: &Axes<usize>, end: &Axes<usize>) -> Option<Axes<usize>> {
    let axes = digits.iter().enumerate().map(|(i, digit)| Axis { name: i.to_string().into(), size: digit.size });
    let mesh = Mesh::new(axes.collect(), None).ok()?;
    let array = ArrayShape::with_default_layout(ElementType::U8, sizes).ok()?;
    let sharding = |axes: &Axes<usize>| {
        let tiles = axes.iter().map(|axes| axes.iter().map(|&axis| digits[axis].size).product::<u64>());
        if !sizes.iter().zip(tiles).all(|(size, tiles)| size % tiles == 0) {
            return None;
        }
        let dimension = |axes: &Vec<usize>| DimensionSharding {
            axes: axes.iter().map(|&axis| AxisRef::whole(axis)).collect(),
            is_open: false,
        };
        let named = NamedSharding::new(mesh.clone(), axes.iter().map(dimension).collect(), OtherAxes::default());
        Some(Sharding::named(named.ok()?))
    };
    let (from, to) = (sharding(start)?, sharding(end)?);
    let mut tried = BTreeSet::from([start.clone(), end.clone()]);
    let many = usize::try_from(MAX_LOOKED_AT / mesh.devices().count().max(1)).unwrap_or(usize::MAX);
    let mut best = None;
    for axes in [start, end].into_iter().flat_map(|side| steps(side, digits)).take(many) {
        if !tried.insert(axes.clone()) {
            continue;
        }
        let Some(between) = sharding(&axes) else { continue };
        // XLA's all-to-all cuts a dimension of the shards by the axes that it takes from another.
        let used = |axes: &Axes<usize>| axes.iter().flatten().copied().collect::<BTreeSet<_>>();
        let step = |sides: [&Sharding; 2], axes: [&Axes<usize>; 2]| {
            let step = sides[0].reshard(sides[1], &array).ok()?;
            let has_other_axes = step.kind() == ReshardKind::AllToAll && used(axes[0]) != used(axes[1]);
            if has_other_axes || needs_several(&step) { None } else { step.bytes() }
        };
        let Some(bytes) = step([&from, &between], [start, &axes]).zip(step([&between, &to], [&axes, end])) else {
            continue;
        };
        let whole = axes.iter().flatten().map(|&axis| digits[axis].size).product::<u64>();
        // Of those with equally many bytes, the one that needs the least memory.
        let cost = (bytes.0.saturating_add(bytes.1), std::cmp::Reverse(whole));
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, axes));
        }
    }
    best.map(|(_, axes)| axes)
}

/// What one step makes of axes: it drops some at the ends of dimensions, moves some from the end of one to that of another, exchanges two,
/// or adds one.
fn steps(axes: &Axes<usize>, digits: &[Digit]) -> Vec<Axes<usize>> {
    let mut found = vec![axes.clone()];
    for dimension in 0..axes.len() {
        for shorter in found.clone() {
            for len in 0..axes[dimension].len() {
                let mut shorter = shorter.clone();
                shorter[dimension].truncate(len);
                found.push(shorter);
            }
        }
    }
    for (from, list) in axes.iter().enumerate() {
        for to in (0..axes.len()).filter(|&to| to != from) {
            for len in 0..list.len() {
                let mut moved = axes.clone();
                let tail = moved[from].split_off(len);
                moved[to].extend(tail);
                found.push(moved);
            }
        }
    }
    for a in 0..digits.len() {
        for b in (0..a).filter(|&b| digits[a].size == digits[b].size) {
            let exchange = |&axis: &usize| {
                if axis == a {
                    b
                } else if axis == b {
                    a
                } else {
                    axis
                }
            };
            found.push(axes.iter().map(|axes| axes.iter().map(exchange).collect()).collect());
        }
    }
    for axis in (0..digits.len()).filter(|axis| !axes.iter().flatten().any(|used| used == axis)) {
        for dimension in 0..axes.len() {
            let mut more = axes.clone();
            more[dimension].push(axis);
            found.push(more);
        }
    }
    found
}
