//! Intermediate shardings, for changes that XLA's partitioner cannot make directly.
//!
//! The partitioner tries the collective operations one after another (`PartitionedHlo::Reshard` in `xla/service/spmd/spmd_partitioner.cc`). If none
//! makes the change, it gathers the whole array on each device, and warns of an "Involuntary full rematerialization". Often one operation leads to a
//! sharding between the two, and one more operation leads from there to the new sharding.
//!
//! A sharding assigns axes of the devices to the dimensions of the array. Before anything else, both are written with the same axes: `[4,2]<=[8]` and
//! `[1,2,4]<=[4,2]T(1,0)` have `a` of size 4 and `b` of size 2, and are `[a][b]` and `[][b]`. One operation drops axes from the ends of dimensions,
//! moves them to the end of another, exchanges two, or adds some. The search tries the shardings that one such step reaches from either end: each
//! alone as the only sharding between the two, and pairs with one sharding from each end.

use super::{Collective, Division, collective, needs_several};
use schemars::JsonSchema;
use serde::Serialize;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use xla_shape_core::shard::{
    Axis, AxisRef, Devices, DimensionSharding, Mesh, NamedSharding, OtherAxes, ReshardKind, Sharding, ShardingKind,
    SubAxis, Subgroup, TileAssignment, TiledSharding,
};
use xla_shape_core::{ArrayShape, ElementType};

/// A way from one sharding to another through one or two intermediate shardings.
///
/// ```
/// use xla_shape_answers::reshard::{Collective, Through};
///
/// let (from, to) = ("{devices=[4,1]<=[4]}".parse()?, "{devices=[1,2,2]<=[4] last_tile_dim_replicate}".parse()?);
/// let through = Through::new(&"f32[96,8]".parse()?, &from, &to).unwrap();
/// let between = &through.shardings[0];
/// assert_eq!((between.sharding.as_str(), between.shard.as_str()), ("{devices=[1,4]<=[4]}", "f32[96,2]{1,0}"));
/// assert_eq!(through.collectives, [Collective::AllToAll, Collective::AllGather]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Through {
    /// The shardings in between, in this order, each in the notation of the two.
    pub shardings: Vec<Division>,
    /// The collective operations of the steps, in this order: to each of these shardings, and from the last one to the new sharding. A step in which
    /// devices only drop elements needs no operation, and is left out.
    pub collectives: Vec<Collective>,
    /// The bytes that all devices together receive; null if the bits do not fit in 64 bits.
    pub bytes_moved: Option<u64>,
    /// The shardings as values.
    #[serde(skip)]
    pub values: Vec<Sharding>,
}

/// If more axes than this move, no sharding is searched for.
const MAX_MOVING: usize = 8;
/// A bound on the work, so that a log with many changes does not take long. A sharding that is tried costs one tile index for each device and
/// dimension, and all of these shardings together may cost at most this many.
const MAX_LOOKED_AT: u64 = 1 << 15;
/// At most this many lists of axes are examined to find shardings to try.
const MAX_LISTS: usize = 1 << 12;

/// An axis of the devices: the number of a device is `… + index * stride`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Digit {
    stride: u64,
    size: u64,
}

/// For each dimension of the array the axes that divide it, from major to minor.
type Axes<T> = Vec<Vec<T>>;

impl Through {
    /// Finds a sharding that one operation reaches from `from`, and from which one operation reaches `to`. If there is none, or if a way through two
    /// shardings moves less than half as many bytes, it finds two shardings, with one operation between them. Of several candidates, it takes the
    /// one that moves the fewest bytes.
    ///
    /// `None` if one operation makes the whole change, or if no such sharding is found. None is found if its shards would be as large as the
    /// array, if the array is not divided evenly, or if the two shardings do not divide it by axes of the same devices.
    #[must_use]
    pub fn new(array: &ArrayShape, from: &Sharding, to: &Sharding) -> Option<Self> {
        if !needs_several(&from.reshard(to, array).ok()?) {
            return None;
        }
        let (mut shardings, mut collectives, mut bytes_moved) = (Vec::new(), Vec::new(), Some(0_u64));
        let between = between(array, from, to).or_else(|| between_numbered(array, from, to))?;
        let sides = std::iter::once(from).chain(&between);
        for (from, to) in sides.zip(between.iter().chain([to])) {
            let step = from.reshard(to, array).ok()?;
            if needs_several(&step) {
                return None;
            }
            collectives.extend(collective(step.kind()));
            bytes_moved = bytes_moved.zip(step.bytes()).and_then(|(sum, bytes)| sum.checked_add(bytes));
        }
        for sharding in &between {
            let division = Division::new(sharding, sharding.partition(array).ok()?.shard());
            // Padding may make a shard as large as the array.
            if division.shard_bytes >= array.byte_size() {
                return None;
            }
            shardings.push(division);
        }
        Some(Self { shardings, collectives, bytes_moved, values: between })
    }
}

/// The shardings to go through, if one side lists its devices in an order that no iota gives. This first renumbers the devices in the order of that
/// list.
fn between_numbered(array: &ArrayShape, from: &Sharding, to: &Sharding) -> Option<Vec<Sharding>> {
    let [from, to] = [from.to_tiled().ok()?, to.to_tiled().ok()?];
    let is_iota = |sharding: &Sharding| match sharding.kind() {
        ShardingKind::Tiled(tiled) => tiled.assignment().devices().to_iota().is_some(),
        _ => true,
    };
    if is_iota(&from) && is_iota(&to) {
        return None;
    }
    let listed = |sharding: &Sharding| match sharding.kind() {
        ShardingKind::Tiled(tiled) => tiled.assignment().devices().to_list().ok(),
        _ => None,
    };
    let devices = listed(&from).or_else(|| listed(&to))?;
    let numbers = devices.iter().copied().zip(0..).collect::<BTreeMap<_, _>>();
    let [from, to] = [from, to].map(|sharding| renumbered(&sharding, |device| numbers.get(&device).copied()));
    let between = between(array, &from?, &to?)?;
    let device = |number: i64| devices.get(usize::try_from(number).ok()?).copied();
    between.iter().map(|sharding| renumbered(sharding, device)).collect()
}

/// The sharding with its devices replaced by others.
fn renumbered(sharding: &Sharding, number: impl Fn(i64) -> Option<i64>) -> Option<Sharding> {
    let ShardingKind::Tiled(tiled) = sharding.kind() else { return Some(sharding.clone()) };
    let devices = tiled.assignment().devices().iter().map(number).collect::<Option<_>>()?;
    let dimensions = tiled.assignment().dimensions().to_vec();
    let assignment = TileAssignment::new(dimensions, Devices::List(devices)).ok()?;
    Sharding::tiled(assignment, tiled.subgroups()).ok()
}

/// The shardings to go through, if devices are numbered along the axes that divide the array.
fn between(array: &ArrayShape, from: &Sharding, to: &Sharding) -> Option<Vec<Sharding>> {
    let (mesh, sides) = with_one_mesh(from, to, array.num_dimensions())?;
    let cuts = cuts(&mesh, &sides)?;
    let [before, after] = sides.map(|side| cut(&side, &cuts));
    let sizes = array.dimensions().iter().map(|dimension| dimension.extent()).collect::<Option<Vec<_>>>()?;

    // If both shardings have the same axes at the beginning of a dimension, these stay there. Axes that neither sharding uses stay unused.
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
    // A dimension of one element cannot be divided.
    if sizes.iter().zip(start.iter().zip(&end)).any(|(&size, (a, b))| size == 1 && !(a.is_empty() && b.is_empty())) {
        return None;
    }
    let wide = (0..sizes.len()).filter(|&dimension| sizes[dimension] != 1).collect::<Vec<_>>();
    let of_wide = |axes: &Axes<usize>| wide.iter().map(|&dimension| axes[dimension].clone()).collect::<Axes<_>>();
    let in_mesh = |best: &Axes<usize>| {
        let mut all = before.iter().zip(&kept).map(|(axes, &kept)| axes[..kept].to_vec()).collect::<Axes<_>>();
        for (&dimension, axes) in wide.iter().zip(best) {
            all[dimension].extend(axes.iter().map(|&axis| digits[axis]));
        }
        let sharding = named(&mesh, &all)?;
        let tiled = sharding.to_tiled().ok()?;
        // Otherwise, the mesh is one that we made up, and users do not know its axes, so write tiles.
        match (from.kind(), to.kind()) {
            (ShardingKind::Named(a), ShardingKind::Named(b)) if a.mesh() == b.mesh() => Some(sharding.clone()),
            _ => Some(tiled.into_owned()),
        }
    };
    // Avoid the sharding with the whole array on each device.
    let replicated = vec![Vec::new(); wide.len()];
    let avoided = kept.iter().all(|&kept| kept == 0).then_some(&replicated);
    let sizes = wide.iter().map(|&dimension| sizes[dimension]).collect::<Vec<_>>();
    best(&sizes, &digits, [&of_wide(&start), &of_wide(&end)], avoided, &Cell::new(0))?.iter().map(in_mesh).collect()
}

/// A mesh for both shardings, and the axes of each.
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

/// The axes that a tiled sharding assigns to each dimension. `None` if the devices are not an iota, if subgroups have anything but copies, or if
/// the number of tiles of a dimension cuts an axis unevenly.
fn tiled_axes(tiled: &TiledSharding, rank: usize) -> Option<Axes<Digit>> {
    let iota = tiled.assignment().devices().to_iota()?;
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
            // The dimension takes the whole axis, or its major part.
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

/// The strides at which axes begin and end. After cutting all axes at all of these strides, both sides have the same axes. `None` if axes overlap so
/// that cutting is impossible.
fn cuts(mesh: &Mesh, sides: &[Axes<Digit>; 2]) -> Option<Vec<u64>> {
    let of_mesh = (0..mesh.axes().len()).map(|axis| digit(mesh, AxisRef::whole(axis)));
    let digits = sides.iter().flatten().flatten().copied().chain(of_mesh);
    let mut cuts = digits.flat_map(|Digit { stride, size }| [stride, stride * size]).collect::<Vec<_>>();
    cuts.sort_unstable();
    cuts.dedup();
    cuts.windows(2).all(|pair| pair[1] % pair[0] == 0).then_some(cuts)
}

/// The same axes, cut at these strides.
fn cut(side: &Axes<Digit>, cuts: &[u64]) -> Axes<Digit> {
    let parts = |digit: &Digit| {
        let (first, last) = (digit.stride, digit.stride * digit.size);
        let inside = cuts.windows(2).rev().filter(move |pair| first <= pair[0] && pair[1] <= last);
        inside.map(|pair| Digit { stride: pair[0], size: pair[1] / pair[0] }).collect::<Vec<_>>()
    };
    side.iter().map(|axes| axes.iter().flat_map(parts).collect()).collect()
}

/// The sharding with these axes, written with a mesh. None of them extends over two axes of the mesh.
fn named(mesh: &Mesh, axes: &Axes<Digit>) -> Option<Sharding> {
    let whole = (0..mesh.axes().len()).map(|axis| digit(mesh, AxisRef::whole(axis))).collect::<Vec<_>>();
    let of_mesh =
        |digit: Digit| whole.iter().position(|axis| (axis.stride..axis.stride * axis.size).contains(&digit.stride));
    let dimension = |axes: &Vec<Digit>| {
        // Merge adjacent parts of an axis.
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

/// The shardings to go through: one; or two if no single one is found, or if two move less than half the bytes. Each step, including the last one,
/// is one operation. Of several ways, the one with the fewest bytes is chosen; shardings in `avoided` are not tried. `sizes` are the sizes of the
/// array, and `digits` are all the axes that divide it. `looked_at` counts the tile indices that are examined.
fn best(
    sizes: &[u64],
    digits: &[Digit],
    [start, end]: [&Axes<usize>; 2],
    avoided: Option<&Axes<usize>>,
    looked_at: &Cell<u64>,
) -> Option<Vec<Axes<usize>>> {
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
    let used = |axes: &Axes<usize>| axes.iter().flatten().copied().collect::<BTreeSet<_>>();
    let indices = indices(digits, sizes.len());
    // The bytes of a step; `None` if the step is not one operation.
    let step = |from: &Between, to: &Between| {
        looked_at.set(looked_at.get().saturating_add(indices));
        let step = from.sharding.reshard(&to.sharding, &array).ok()?;
        // XLA's all-to-all divides a dimension of the shards only by axes that it takes from another dimension.
        let has_other_axes = step.kind() == ReshardKind::AllToAll && used(&from.axes) != used(&to.axes);
        if has_other_axes || needs_several(&step) { None } else { step.bytes() }
    };
    let between = |axes: Axes<usize>| Some(Between { sharding: sharding(&axes)?, axes });
    let (from, to) = (between(start.clone())?, between(end.clone())?);
    let many = most_tried(digits, sizes.len());
    let candidates = lists(start, end, digits, avoided).filter_map(between).take(many);
    let candidates = candidates
        .map(|between| {
            let ends = [step(&from, &between), step(&between, &to)];
            (between, ends)
        })
        .collect::<Vec<_>>();
    // If several move equally many bytes, take the one that needs the least memory.
    let whole = |between: &Between| between.axes.iter().flatten().map(|&axis| digits[axis].size).product::<u64>();
    let one = candidates.iter().filter_map(|(between, ends)| {
        let [Some(first), Some(last)] = ends else { return None };
        Some(((first.saturating_add(*last), std::cmp::Reverse(whole(between))), between))
    });
    let one = one.min_by_key(|(cost, _)| *cost);
    let firsts = candidates.iter().filter_map(|(between, [first, _])| Some((between, (*first)?)));
    let lasts = candidates.iter().filter_map(|(between, [_, last])| Some((between, (*last)?))).collect::<Vec<_>>();
    let mut pairs = Vec::new();
    for (one, first) in firsts {
        for &(other, last) in lasts.iter().filter(|(other, _)| are_near(&one.axes, &other.axes, digits)) {
            pairs.push((first.saturating_add(last), std::cmp::Reverse(whole(one).min(whole(other))), one, other));
        }
        pairs.sort_by_key(|(bytes, least, ..)| (*bytes, *least));
        pairs.truncate(many);
    }
    let pairs = pairs
        .into_iter()
        .filter_map(|(bytes, least, one, other)| Some(((bytes.saturating_add(step(one, other)?), least), one, other)));
    let two = pairs.min_by_key(|(cost, ..)| *cost);
    // A second sharding is worth it if less than half as many bytes move.
    let two = two.filter(|((bytes, _), ..)| one.as_ref().is_none_or(|((single, _), _)| *bytes < *single / 2));
    let axes = |between: &Between| between.axes.clone();
    two.map(|(_, first, second)| vec![axes(first), axes(second)])
        .or_else(|| one.map(|(_, between)| vec![axes(between)]))
}

/// At most this many shardings are tried, and at most as many pairs of them. The limit is lower for more devices and for more dimensions (`rank`).
fn most_tried(digits: &[Digit], rank: usize) -> usize {
    usize::try_from(MAX_LOOKED_AT / indices(digits, rank)).unwrap_or(usize::MAX)
}

/// The number of tile indices of a sharding: one for each device and dimension.
fn indices(digits: &[Digit], rank: usize) -> u64 {
    let devices = digits.iter().map(|digit| digit.size).fold(1, u64::saturating_mul);
    devices.saturating_mul(rank as u64).max(1)
}

/// The lists of axes after one step from `start` and after one step from `end`, alternately. Each is returned once; `start`, `end` and `avoided` are
/// left out.
fn lists<'a>(
    start: &'a Axes<usize>,
    end: &'a Axes<usize>,
    digits: &'a [Digit],
    avoided: Option<&'a Axes<usize>>,
) -> impl Iterator<Item = Axes<usize>> + 'a {
    let mut known = avoided.into_iter().chain([start, end]).cloned().collect::<BTreeSet<_>>();
    let (mut near_start, mut near_end) = (steps(start, digits).fuse(), steps(end, digits).fuse());
    let turn = move || Some([near_start.next(), near_end.next()]).filter(|turn| turn.iter().any(Option::is_some));
    let both = std::iter::from_fn(turn).flatten().flatten().take(MAX_LISTS);
    both.filter(move |axes| known.insert(axes.clone()))
}

/// A sharding to try.
struct Between {
    axes: Axes<usize>,
    sharding: Sharding,
}

/// Whether one operation may lead from some axes to others: dimensions only lose or only gain axes at their ends, one dimension gains what another
/// loses, or each keeps its number of tiles.
fn are_near(one: &Axes<usize>, other: &Axes<usize>, digits: &[Digit]) -> bool {
    let tiles = |axes: &Vec<usize>| axes.iter().map(|&axis| digits[axis].size).product::<u64>();
    let mut pairs = one.iter().zip(other);
    let all =
        |holds: &dyn Fn(&Vec<usize>, &Vec<usize>) -> bool| one.iter().zip(other).all(|(one, other)| holds(one, other));
    if all(&|one, other| tiles(one) == tiles(other))
        || all(&|one, other| one.starts_with(other))
        || all(&|one, other| other.starts_with(one))
    {
        return true;
    }
    let changed = pairs.by_ref().filter(|(one, other)| one != other).collect::<Vec<_>>();
    let [(a, b), (c, d)] = changed[..] else { return false };
    let moves = |(longer, shorter): (&[usize], &[usize]), (before, after): (&[usize], &[usize])| {
        longer.strip_prefix(shorter).is_some_and(|tail| after.strip_prefix(before) == Some(tail))
    };
    moves((a, b), (c, d)) || moves((c, d), (a, b))
}

/// The results of one step from these axes: it drops some at the ends of dimensions, moves some from the end of one dimension to the end of
/// another, exchanges two, or adds one or two. There may be very many results, so they are made one at a time.
fn steps<'a>(axes: &'a Axes<usize>, digits: &'a [Digit]) -> impl Iterator<Item = Axes<usize>> + 'a {
    let mut fewer = vec![axes.clone()];
    for (dimension, list) in axes.iter().enumerate().filter(|(_, list)| !list.is_empty()) {
        let shorter = fewer.iter().flat_map(|axes| {
            (0..list.len()).map(|len| {
                let mut shorter = axes.clone();
                shorter[dimension].truncate(len);
                shorter
            })
        });
        let shorter = shorter.collect::<Vec<_>>();
        fewer.extend(shorter);
    }
    let ends = (0..axes.len()).flat_map(move |from| (0..axes.len()).map(move |to| (from, to)));
    let ends = ends.filter(|(from, to)| from != to);
    let ends = ends.flat_map(move |(from, to)| (0..axes[from].len()).map(move |len| (from, to, len)));
    let moved = ends.map(move |(from, to, len)| {
        let mut moved = axes.clone();
        let tail = moved[from].split_off(len);
        moved[to].extend(tail);
        moved
    });
    let equal = (0..digits.len()).flat_map(move |a| (0..a).map(move |b| (a, b)));
    let equal = equal.filter(move |&(a, b)| digits[a].size == digits[b].size);
    let exchanged = equal.map(move |(a, b)| {
        let exchange = |&axis: &usize| match axis {
            axis if axis == a => b,
            axis if axis == b => a,
            axis => axis,
        };
        axes.iter().map(|axes| axes.iter().map(exchange).collect()).collect()
    });
    let two = with_another(axes.clone(), digits).flat_map(move |more| with_another(more, digits));
    let more = with_another(axes.clone(), digits).chain(two);
    fewer.into_iter().chain(moved).chain(exchanged).chain(more)
}

/// The axes with one unused axis added at the end of a dimension.
fn with_another(axes: Axes<usize>, digits: &[Digit]) -> impl Iterator<Item = Axes<usize>> + use<> {
    let unused = (0..digits.len()).filter(|axis| !axes.iter().flatten().any(|used| used == axis)).collect::<Vec<_>>();
    let rank = axes.len();
    let places = unused.into_iter().flat_map(move |axis| (0..rank).map(move |dimension| (axis, dimension)));
    places.map(move |(axis, dimension)| {
        let mut more = axes.clone();
        more[dimension].push(axis);
        more
    })
}

#[cfg(test)]
mod tests {
    use super::{Axes, Digit, MAX_LISTS, MAX_LOOKED_AT, best, lists};
    use std::cell::Cell;

    /// The amount of work stays small for any number of dimensions and devices. Each sharding is tried from both sides, and each pair once.
    #[test]
    fn what_is_looked_at_is_bounded() {
        for (rank, sizes) in [(2, &[2; 8][..]), (8, &[2; 8]), (60, &[2; 8]), (60, &[2, 2])] {
            let mut stride = 1;
            let digit = |&size: &u64| {
                stride *= size;
                Digit { stride: stride / size, size }
            };
            let digits = sizes.iter().map(digit).collect::<Vec<_>>();
            let side = |dimension: &dyn Fn(usize) -> usize| {
                let mut axes: Axes<usize> = vec![Vec::new(); rank];
                (0..digits.len()).for_each(|axis| axes[dimension(axis) % rank].push(axis));
                axes
            };
            let (start, end) = (side(&|axis| axis), side(&|axis| axis / 2 + 1));
            assert!(lists(&start, &end, &digits, None).count() <= MAX_LISTS, "{rank} {sizes:?}");
            let tiles = |axes: &Vec<usize>| axes.iter().map(|&axis| digits[axis].size).product::<u64>();
            let elements = start.iter().zip(&end).map(|(start, end)| 2 * tiles(start) * tiles(end));
            let looked_at = Cell::new(0);
            let found = best(&elements.collect::<Vec<_>>(), &digits, [&start, &end], None, &looked_at);
            assert!(looked_at.get() <= 3 * MAX_LOOKED_AT, "{rank} {sizes:?}: {}", looked_at.get());
            assert!(found.is_none_or(|found| found.iter().all(|axes| axes.len() == rank)), "{rank} {sizes:?}");
        }
    }
}
