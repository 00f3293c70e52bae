//! The axes of the devices' mesh along which a collective moves data.

use crate::schema::Key;
use crate::{Instruction, Module, ReplicaGroups};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use xla_shape_core::shard::{AxisRef, Mesh, NamedSharding, Sharding, ShardingKind};

/// The axes along which a collective moves data.
///
/// ```
/// use xla_shape_hlo::Module;
///
/// let module = Module::parse("HloModule m, num_partitions=4
/// ENTRY e { p = f32[8] parameter(0)
///   g = f32[16] all-gather(p), replica_groups=mesh['x'=2,'y'=2] {'x'}, dimensions={0}
///   s = f32[8] collective-permute(p), source_target_pairs={{0,1},{1,0},{2,3},{3,2}}
///   ROOT t = (f32[16], f32[8]) tuple(g, s) }")?;
/// let mesh = module.device_mesh().unwrap();
/// let along = |name: &str| module.instruction(name).unwrap().collective_axes(&mesh).unwrap();
/// assert_eq!(along("g").axes, ["x".into()]);
/// assert_eq!((along("s").axes, along("s").shift), (vec!["y".into()], Some(1)));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CollectiveAxes {
    /// Their names, from major to minor.
    pub axes: Vec<Box<str>>,
    /// For a collective-permute along a single axis: how far along the axis each device sends. 1 is the next device, -1 the one before. The axis
    /// counts as a ring, and the shorter way around is given. `None` if the devices do not all send equally far.
    pub shift: Option<i64>,
}

impl Module {
    /// The mesh of the devices that collectives name in their groups. `None` if no collective names a mesh, if they name different ones, or if
    /// the program has replicas, because numbers in groups may then mean replicas.
    #[must_use]
    pub fn device_mesh(&self) -> Option<Mesh> {
        let replicas = self.attribute("replica_count").map(|value| value.number());
        if replicas.is_some_and(|replicas| replicas != Ok(1)) {
            return None;
        }
        let groups = self.instructions().filter_map(|found| found.value_of(Key::ReplicaGroups));
        let mut named =
            groups.filter(|groups| groups.text().starts_with("mesh")).filter_map(|groups| groups.mesh_groups().ok());
        let first = named_of(&named.next()?)?.mesh().clone();
        named.all(|other| named_of(&other).is_some_and(|other| *other.mesh() == first)).then_some(first)
    }
}

fn named_of(sharding: &Sharding) -> Option<&NamedSharding> {
    match sharding.kind() {
        ShardingKind::Named(named) => Some(named),
        _ => None,
    }
}

impl Instruction<'_> {
    /// The axes of a mesh along which a collective moves data. A group of devices has all devices along these axes; the two devices of a pair
    /// differ only along these axes. `None` if no axes fit, or if the collective has neither groups nor pairs.
    #[must_use]
    pub fn collective_axes(self, mesh: &Mesh) -> Option<CollectiveAxes> {
        if let Some(pairs) = self.value_of(Key::SourceTargetPairs) {
            let ReplicaGroups::Lists(pairs) = pairs.replica_groups().ok()? else { return None };
            return along_pairs(mesh, &pairs);
        }
        let value = self.value_of(Key::ReplicaGroups)?;
        let groups = value.replica_groups().ok()?;
        if let ReplicaGroups::Mesh(_) = groups {
            let sharding = value.mesh_groups().ok()?;
            let named = named_of(&sharding)?;
            let axes = &named.dimensions().first()?.axes;
            let is_whole = *named.mesh() == *mesh && axes.iter().all(|axis| axis.part.is_none());
            return is_whole.then(|| axes_of(mesh, axes.iter().map(|axis| axis.axis)));
        }
        along_groups(mesh, &groups.expand().ok()??)
    }

    /// The sizes of a collective's groups in a program for `devices` devices: pairs of a number of groups and the devices in each. `None` if they
    /// cannot be read.
    pub(crate) fn group_sizes(self, devices: u64) -> Option<Vec<(u64, u64)>> {
        let Some(value) = self.value_of(Key::ReplicaGroups) else { return Some(vec![(1, devices)]) };
        let size = match value.replica_groups().ok()? {
            ReplicaGroups::Lists(groups) if groups.is_empty() => devices,
            ReplicaGroups::Lists(groups) => return Some(groups.iter().map(|group| (1, group.len() as u64)).collect()),
            ReplicaGroups::Iota { shape, .. } => *shape.last()? as u64,
            ReplicaGroups::Mesh(_) => {
                let sharding = value.mesh_groups().ok()?;
                let named = named_of(&sharding)?;
                let whole = |axis: &AxisRef| named.mesh().axes().get(axis.axis).map(|axis| axis.size);
                let size = |axis: &AxisRef| axis.part.map_or_else(|| whole(axis), |part| Some(part.size));
                let mut sizes = named.dimensions().first()?.axes.iter().map(size);
                sizes.try_fold(1_u64, |product, size| product.checked_mul(size?))?
            }
        };
        Some(vec![(devices.checked_div(size)?, size)])
    }
}

fn axes_of(mesh: &Mesh, numbers: impl Iterator<Item = usize>) -> CollectiveAxes {
    let names = numbers.filter_map(|number| mesh.axes().get(number)).map(|axis| axis.name.clone());
    CollectiveAxes { axes: names.collect(), shift: None }
}

/// The place of a device along each axis.
fn places(mesh: &Mesh, device: usize) -> Option<Vec<u64>> {
    let mut position = mesh.devices().position(i64::try_from(device).ok()?)?;
    let mut places = Vec::new();
    for axis in mesh.axes().iter().rev() {
        places.push(position.checked_rem(axis.size)?);
        position = position.checked_div(axis.size)?;
    }
    places.reverse();
    Some(places)
}

/// The axes along which the places of two devices differ.
fn differing(one: &[u64], other: &[u64]) -> impl Iterator<Item = usize> {
    one.iter().zip(other).enumerate().filter(|(_, (one, other))| one != other).map(|(axis, _)| axis)
}

fn along_groups(mesh: &Mesh, groups: &[Vec<usize>]) -> Option<CollectiveAxes> {
    // An empty list means one group of all devices.
    if groups.is_empty() {
        return Some(axes_of(mesh, 0..mesh.axes().len()));
    }
    let mut found: Option<Vec<usize>> = None;
    for group in groups {
        let first = places(mesh, *group.first()?)?;
        let mut axes = Vec::new();
        for &device in group {
            axes.extend(differing(&first, &places(mesh, device)?));
        }
        axes.sort_unstable();
        axes.dedup();
        let size = axes.iter().filter_map(|&axis| mesh.axes().get(axis)).map(|axis| axis.size).product::<u64>();
        if size != group.len() as u64 || found.as_ref().is_some_and(|found| *found != axes) {
            return None;
        }
        found = Some(axes);
    }
    Some(axes_of(mesh, found?.into_iter()))
}

fn along_pairs(mesh: &Mesh, pairs: &[Vec<usize>]) -> Option<CollectiveAxes> {
    let (mut axes, mut shifts) = (Vec::new(), Vec::new());
    for pair in pairs {
        let &[source, target] = pair.as_slice() else { return None };
        let (source, target) = (places(mesh, source)?, places(mesh, target)?);
        axes.extend(differing(&source, &target));
        shifts.push((source, target));
    }
    axes.sort_unstable();
    axes.dedup();
    let shift = match axes.as_slice() {
        [axis] => {
            let size = mesh.axes().get(*axis)?.size;
            let shift = |(source, target): &(Vec<u64>, Vec<u64>)| {
                let (source, target) = (source.get(*axis)?, target.get(*axis)?);
                target.checked_add(size)?.checked_sub(*source)?.checked_rem(size)
            };
            let first = shifts.first().and_then(shift);
            let same = first.filter(|_| shifts.iter().all(|pair| shift(pair) == first));
            // The shorter way around.
            same.and_then(|shift| match shift > size / 2 {
                true => i64::try_from(size.checked_sub(shift)?).ok()?.checked_neg(),
                false => i64::try_from(shift).ok(),
            })
        }
        _ => None,
    };
    (!axes.is_empty()).then(|| CollectiveAxes { shift, ..axes_of(mesh, axes.into_iter()) })
}

#[cfg(test)]
mod tests {
    use crate::Module;
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;

    /// The axes of a collective on a mesh of 2 × 4 devices, and its shift.
    fn along(attribute: &str) -> Option<(Vec<String>, Option<i64>)> {
        let text = format!(
            "HloModule m\nENTRY e {{\n  p = f32[8] parameter(0)\n  a = f32[8] all-to-all(p), replica_groups=mesh['a'=2,'b'=4] {{'b'}}, dimensions={{0}}\n  \
             ROOT c = f32[8] custom-call(a), custom_call_target=\"t\", {attribute}\n}}\n"
        );
        let module = Module::parse(&text).unwrap();
        let found = module.instruction("c").unwrap().collective_axes(&module.device_mesh().unwrap())?;
        Some((found.axes.iter().map(|name| String::from(&**name)).collect(), found.shift))
    }

    #[test]
    fn pairs_along_an_axis_are_shifts() {
        let axes = |names: &[&str]| names.iter().map(|&name| String::from(name)).collect::<Vec<_>>();
        let ring = "source_target_pairs={{0,1},{1,2},{2,3},{3,0},{4,5},{5,6},{6,7},{7,4}}";
        assert_eq!(along(ring), Some((axes(&["b"]), Some(1))));
        let back = "source_target_pairs={{1,0},{2,1},{3,2},{0,3},{5,4},{6,5},{7,6},{4,7}}";
        assert_eq!(along(back), Some((axes(&["b"]), Some(-1))));
        // A line has no pair from the last to the first.
        assert_eq!(along("source_target_pairs={{0,1},{1,2},{2,3}}"), Some((axes(&["b"]), Some(1))));
        assert_eq!(along("source_target_pairs={{0,4},{4,0},{1,5},{5,1}}"), Some((axes(&["a"]), Some(1))));
        assert_eq!(along("source_target_pairs={{0,1},{1,0}}"), Some((axes(&["b"]), None)), "one goes back");
        assert_eq!(along("source_target_pairs={{0,5},{5,0}}"), Some((axes(&["a", "b"]), None)));
        assert_eq!(along("source_target_pairs={{0,0}}"), None);
        assert_eq!(along("source_target_pairs={{0,8}}"), None, "the mesh has devices 0 to 7");
    }

    #[test]
    fn groups_are_axes_if_they_have_all_devices_along_them() {
        let axes = |names: &[&str]| Some((names.iter().map(|&name| String::from(name)).collect::<Vec<_>>(), None));
        assert_eq!(along("replica_groups=mesh['a'=2,'b'=4] {'a'}"), axes(&["a"]));
        assert_eq!(along("replica_groups={{0,1,2,3},{4,5,6,7}}"), axes(&["b"]));
        assert_eq!(along("replica_groups=[4,2]<=[2,4]T(1,0)"), axes(&["a"]));
        assert_eq!(along("replica_groups={}"), axes(&["a", "b"]));
        assert_eq!(along("replica_groups={{0,1},{2,3},{4,5},{6,7}}"), None, "half of an axis");
        assert_eq!(along("replica_groups={{0,1,4,5},{2,3,6,7}}"), None);
        assert_eq!(along("replica_groups={{0,9}}"), None);
    }
}
