//! Devices as an array with named axes, and shardings that name these axes.

use super::devices::{Devices, TileAssignment, product};
use super::error::ShardingError;
use super::tiled::{Reduction, Subgroup};
use crate::sorting::sort;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// The largest number of axes of a mesh. At most 63 of them have more than one device, because the product of the sizes
/// fits in 63 bits.
pub const MAX_AXES: usize = 256;

/// An axis of a mesh.
///
/// ```
/// use xla_shape_core::shard::{Axis, Mesh};
///
/// let mesh = Mesh::new(vec![Axis { name: "data".into(), size: 4 }, Axis { name: "model".into(), size: 2 }], None)?;
/// assert_eq!((mesh.axes()[0].size, mesh.devices().count()), (4, 8));
/// # Ok::<(), xla_shape_core::shard::ShardingError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Axis {
    /// Its name.
    pub name: Box<str>,
    /// The number of devices along it.
    pub size: u64,
}

/// Devices as an array with named axes: `mesh['data'=4,'model'=2]`. XLA's `Mesh` in `xla/hlo/ir/mesh_and_axis.h`.
///
/// Two meshes are equal if their devices, axis sizes and axis names are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mesh {
    axes: Vec<Axis>,
    devices: Devices,
}

impl Mesh {
    /// A mesh with these axes. The devices are 0, 1, … in order unless given. The rules are those of `Mesh::Validate`
    /// in `xla/hlo/ir/mesh_and_axis.cc`.
    ///
    /// ```
    /// use xla_shape_core::shard::{Axis, Mesh};
    ///
    /// let axes = vec![Axis { name: "x".into(), size: 2 }, Axis { name: "y".into(), size: 4 }];
    /// let mesh = Mesh::new(axes, None)?;
    /// assert_eq!(mesh.devices().count(), 8);
    /// # Ok::<(), xla_shape_core::shard::ShardingError>(())
    /// ```
    ///
    /// # Errors
    /// If two axes have the same name, a size is 0, the devices are not a permutation of 0, 1, …, or devices that are
    /// in order are given as a list.
    pub fn new(axes: Vec<Axis>, devices: Option<Devices>) -> Result<Self, ShardingError> {
        if axes.len() > MAX_AXES {
            return Err(ShardingError::TooManyAxes { limit: MAX_AXES, found: axes.len() });
        }
        for (i, axis) in axes.iter().enumerate() {
            if axes.iter().take(i).any(|other| other.name == axis.name) {
                return Err(ShardingError::AxisNamedTwice { name: axis.name.clone() });
            }
        }
        let sizes = axes.iter().map(|axis| axis.size).collect::<Vec<_>>();
        let count = product(&sizes)?;
        let Some(devices) = devices else {
            return Ok(Self { axes, devices: Devices::Iota(super::Iota::in_order(count)) });
        };
        if let Devices::List(list) = &devices {
            if list.len() as u64 != count {
                return Err(ShardingError::DeviceCount { expected: count, found: list.len() as u64 });
            }
            let mut seen = vec![false; list.len()];
            for &device in list {
                match usize::try_from(device).ok().and_then(|device| seen.get_mut(device)) {
                    Some(seen) if !*seen => *seen = true,
                    _ => return Err(ShardingError::MeshDevices { device }),
                }
            }
            if list.is_sorted() {
                return Err(ShardingError::MeshDevicesInOrder);
            }
        } else if devices.count() != count {
            return Err(ShardingError::IotaSize { expected: count, found: devices.count() });
        }
        Ok(Self { axes, devices })
    }

    /// The axes, from major to minor.
    ///
    /// ```
    /// use xla_shape_core::shard::Mesh;
    ///
    /// let mesh = Mesh::from_mlir(r#"mesh<["x"=2, "y"=4]>"#)?;
    /// assert_eq!((&*mesh.axes()[1].name, mesh.axes()[1].size), ("y", 4));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The devices, in row-major order of the axes.
    ///
    /// ```
    /// use xla_shape_core::shard::Mesh;
    ///
    /// let mesh = Mesh::from_mlir(r#"mesh<["x"=2, "y"=4]>"#)?;
    /// assert_eq!(mesh.devices().count(), 8);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn devices(&self) -> &Devices {
        &self.devices
    }

    /// The number of the axis that a text refers to by its name or by its number.
    ///
    /// ```
    /// use xla_shape_core::shard::Mesh;
    ///
    /// let mesh = Mesh::from_mlir(r#"mesh<["x"=2, "y"=4]>"#)?;
    /// assert_eq!((mesh.axis("y")?, mesh.axis("0")?), (1, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the mesh has no such axis.
    pub fn axis(&self, name: &str) -> Result<usize, ShardingError> {
        if let Some(axis) = self.axes.iter().position(|axis| &*axis.name == name) {
            return Ok(axis);
        }
        let number = name.trim_ascii();
        let digits = number.strip_prefix('+').unwrap_or(number);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = if is_number { digits.parse().ok() } else { None };
        number.filter(|&axis| axis < self.axes.len()).ok_or_else(|| ShardingError::UnknownAxis { name: name.into() })
    }

    fn size(&self, axis: usize) -> u64 {
        self.axes.get(axis).map_or(1, |axis| axis.size)
    }
}

/// A part of an axis (XLA's sub-axis): `'b':(2)4` has size 4 and follows parts whose sizes multiply to 2.
///
/// ```
/// use xla_shape_core::shard::{AxisRef, Sharding, ShardingKind, SubAxis};
///
/// let sharding: Sharding = "{mesh['x'=8], [{'x':(2)4}, {}]}".parse()?;
/// let ShardingKind::Named(named) = sharding.kind() else { unreachable!() };
/// // The minor part of 'x', after a part of size 2.
/// assert_eq!(named.dimensions()[0].axes, [AxisRef { axis: 0, part: Some(SubAxis { pre_size: 2, size: 4 }) }]);
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct SubAxis {
    /// The product of the sizes of the parts that are more major.
    pub pre_size: u64,
    /// Its size.
    pub size: u64,
}

/// An axis of a mesh, or a part of one: `AxisRef` in `xla/hlo/ir/mesh_and_axis.h`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AxisRef {
    /// The number of the axis in the mesh.
    pub axis: usize,
    /// The part; `None` for the whole axis.
    pub part: Option<SubAxis>,
}

impl AxisRef {
    /// The whole axis with this number.
    ///
    /// ```
    /// use xla_shape_core::shard::AxisRef;
    ///
    /// assert_eq!(AxisRef::whole(1), AxisRef { axis: 1, part: None });
    /// ```
    #[must_use]
    pub const fn whole(axis: usize) -> Self {
        Self { axis, part: None }
    }

    /// The number of devices along it.
    ///
    /// ```
    /// use xla_shape_core::shard::{AxisRef, Mesh, SubAxis};
    ///
    /// let mesh = Mesh::from_mlir(r#"mesh<["x"=2, "y"=4]>"#)?;
    /// assert_eq!(AxisRef::whole(1).size(&mesh), 4);
    /// assert_eq!(AxisRef { axis: 1, part: Some(SubAxis { pre_size: 2, size: 2 }) }.size(&mesh), 2);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn size(self, mesh: &Mesh) -> u64 {
        self.part.map_or_else(|| mesh.size(self.axis), |part| part.size)
    }

    /// The product of the sizes of the parts that are more major.
    fn pre_size(self) -> u64 {
        self.part.map_or(1, |part| part.pre_size)
    }

    /// The axis as text: `'data'`, `'data':(2)4`.
    fn name(self, mesh: &Mesh) -> String {
        format!("{}", AxisName { axis: self, mesh })
    }

    /// `AxisRef::Validate` in `xla/hlo/ir/mesh_and_axis.cc`.
    fn check(self, mesh: &Mesh) -> Result<(), ShardingError> {
        if self.axis >= mesh.axes.len() {
            return Err(ShardingError::UnknownAxis { name: format!("{}", self.axis).into() });
        }
        let Some(SubAxis { pre_size, size }) = self.part else { return Ok(()) };
        let axis_size = mesh.size(self.axis);
        let fits = pre_size.checked_mul(size).and_then(|end| axis_size.checked_rem(end)) == Some(0);
        if fits && size > 1 && size < axis_size {
            Ok(())
        } else {
            Err(ShardingError::SubAxis { pre_size, size, axis_size })
        }
    }

    /// Whether both can be in one sharding: they do not overlap, and the axis can be cut so that both are parts of it
    /// (`AxisRef::CanCoexistWithoutOverlap`).
    fn coexists_with(self, other: Self) -> bool {
        if self.axis != other.axis {
            return true;
        }
        let (Some(a), Some(b)) = (self.part, other.part) else { return false };
        let (first, second) = if a.pre_size <= b.pre_size { (a, b) } else { (b, a) };
        let end = first.pre_size.saturating_mul(first.size);
        end <= second.pre_size && second.pre_size.checked_rem(end) == Some(0)
    }

    /// Whether `next` directly follows this part of the same axis, so that both should be one part
    /// (`AxisRef::CanMerge`).
    fn merges_with(self, next: Self) -> bool {
        let (Some(a), Some(b)) = (self.part, next.part) else { return false };
        self.axis == next.axis && a.pre_size.checked_mul(a.size) == Some(b.pre_size)
    }
}

/// Prints an axis: `'data'`, `'data':(2)4`.
pub(crate) struct AxisName<'a> {
    pub(crate) axis: AxisRef,
    pub(crate) mesh: &'a Mesh,
}

impl fmt::Display for AxisName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.mesh.axes.get(self.axis.axis).map_or("", |axis| &axis.name);
        write!(f, "'{name}'")?;
        match self.axis.part {
            Some(SubAxis { pre_size, size }) => write!(f, ":({pre_size}){size}"),
            None => Ok(()),
        }
    }
}

/// The axes that divide one dimension of an array.
///
/// ```
/// use xla_shape_core::shard::{AxisRef, DimensionSharding};
///
/// let rows = DimensionSharding { axes: vec![AxisRef::whole(0)], is_open: false }; // {'x'}, if axis 0 is 'x'
/// assert_ne!(rows, DimensionSharding::default()); // {}
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct DimensionSharding {
    /// The axes, from major to minor.
    pub axes: Vec<AxisRef>,
    /// Whether a compiler may divide it further: `?`.
    pub is_open: bool,
}

/// A sharding that names the axes of a mesh: `{mesh['a'=2,'b'=4], [{'a'}, {'b':(1)2, ?}], unreduced={'b':(2)2}}`. XLA's
/// `NamedSharding` in `xla/hlo/ir/named_sharding.h`.
#[derive(Clone, Debug)]
pub struct NamedSharding {
    mesh: Mesh,
    dimensions: Vec<DimensionSharding>,
    replicated: Vec<AxisRef>,
    unreduced: Vec<AxisRef>,
    manual: Vec<AxisRef>,
    reduction: Reduction,
}

/// The axes of a [`NamedSharding`] that do not divide dimensions.
///
/// ```
/// use xla_shape_core::shard::{AxisRef, DimensionSharding, Mesh, NamedSharding, OtherAxes, Sharding};
///
/// let mesh = Mesh::from_mlir(r#"mesh<["x"=2, "y"=4]>"#)?;
/// let rows = DimensionSharding { axes: vec![AxisRef::whole(0)], is_open: false };
/// let other = OtherAxes { unreduced: vec![AxisRef::whole(1)], ..OtherAxes::default() };
/// let sums = NamedSharding::new(mesh, vec![rows], other)?;
/// assert_eq!(Sharding::named(sums).to_string(), "{mesh['x'=2,'y'=4], [{'x'}], unreduced={'y'}}");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct OtherAxes {
    /// The axes along which devices have copies, and along which no compiler may divide the array.
    pub replicated: Vec<AxisRef>,
    /// The axes along which each device has a partial sum, maximum or minimum.
    pub unreduced: Vec<AxisRef>,
    /// How the partial results along `unreduced` are combined.
    pub reduction: Reduction,
    /// The axes along which the program divides the work itself.
    pub manual: Vec<AxisRef>,
}

/// The index of an axis among all that a sharding names: first those of the dimensions, then `replicated`, `unreduced`
/// and `manual`.
pub(crate) type AxisIndex = usize;

impl NamedSharding {
    /// A sharding of arrays that have as many dimensions as `dimensions` has entries. The rules are those of
    /// `VerifyNamedSharding` in `xla/hlo/ir/named_sharding.cc`.
    ///
    /// ```
    /// use xla_shape_core::shard::{AxisRef, DimensionSharding, Mesh, NamedSharding, OtherAxes, Sharding};
    ///
    /// let mesh = Mesh::from_mlir(r#"mesh<["x"=2, "y"=4]>"#)?;
    /// let rows = DimensionSharding { axes: vec![AxisRef::whole(0)], is_open: false };
    /// let named = NamedSharding::new(mesh, vec![rows, DimensionSharding::default()], OtherAxes::default())?;
    /// assert_eq!(Sharding::named(named).to_string(), "{mesh['x'=2,'y'=4], [{'x'}, {}]}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If an axis or a part of one does not exist, overlaps another, or should be merged with its neighbour, or if the
    /// axes of one of the lists in `other` are not in the order of the mesh.
    pub fn new(mesh: Mesh, dimensions: Vec<DimensionSharding>, other: OtherAxes) -> Result<Self, ShardingError> {
        Self::checked(mesh, dimensions, other).map_err(|(error, _)| error)
    }

    /// The same with more dimensions at the end, which no axis divides.
    pub(super) fn with_whole(mut self, dimensions: usize) -> Self {
        self.dimensions.resize(dimensions.max(self.dimensions.len()), DimensionSharding::default());
        self
    }

    /// Like [`new`](Self::new); the error says which axis is wrong.
    pub(crate) fn checked(
        mesh: Mesh,
        dimensions: Vec<DimensionSharding>,
        other: OtherAxes,
    ) -> Result<Self, (ShardingError, AxisIndex)> {
        let OtherAxes { replicated, unreduced, reduction, manual } = other;
        let mut index: AxisIndex = 0;
        // The parts of each axis so far. They do not overlap, so that an axis has at most 63 of them.
        let mut used = vec![Vec::<AxisRef>::new(); mesh.axes.len()];
        let lists = dimensions.iter().map(|dimension| (&dimension.axes, false));
        for (list, is_sorted) in lists.chain([&replicated, &unreduced, &manual].map(|list| (list, true))) {
            let mut before: Option<AxisRef> = None;
            for &axis in list {
                axis.check(&mesh).map_err(|error| (error, index))?;
                let key = |axis: AxisRef| (axis.axis, axis.pre_size(), axis.size(&mesh));
                if is_sorted && before.is_some_and(|before| key(before) > key(axis)) {
                    return Err((ShardingError::AxesOutOfOrder { axis: axis.name(&mesh).into() }, index));
                }
                if let Some(used) = used.get_mut(axis.axis) {
                    if used.iter().any(|&other| !axis.coexists_with(other)) {
                        return Err((ShardingError::AxisUsedTwice { axis: axis.name(&mesh).into() }, index));
                    }
                    used.push(axis);
                }
                if before.is_some_and(|before| before.merges_with(axis)) {
                    return Err((ShardingError::Mergeable { axis: axis.name(&mesh).into() }, index));
                }
                before = Some(axis);
                index += 1;
            }
        }
        Ok(Self { mesh, dimensions, replicated, unreduced, manual, reduction })
    }

    /// The mesh.
    ///
    /// ```
    /// use xla_shape_core::shard::{Sharding, ShardingKind};
    ///
    /// let sharding: Sharding = "{mesh['x'=2,'y'=4], [{'x'}, {}]}".parse()?;
    /// let ShardingKind::Named(named) = sharding.kind() else { unreachable!() };
    /// assert_eq!(named.mesh().axes().len(), 2);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// The axes that divide each dimension.
    ///
    /// ```
    /// use xla_shape_core::shard::{Sharding, ShardingKind};
    ///
    /// let sharding: Sharding = "{mesh['x'=2,'y'=4], [{'x'}, {}]}".parse()?;
    /// let ShardingKind::Named(named) = sharding.kind() else { unreachable!() };
    /// assert_eq!(named.dimensions()[0].axes.len(), 1);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn dimensions(&self) -> &[DimensionSharding] {
        &self.dimensions
    }

    /// The axes along which devices have copies, and along which no compiler may divide the array.
    ///
    /// ```
    /// use xla_shape_core::shard::{Sharding, ShardingKind};
    ///
    /// let sharding: Sharding = "{mesh['x'=2,'y'=4], [{'x'}, {}], replicated={'y'}}".parse()?;
    /// let ShardingKind::Named(named) = sharding.kind() else { unreachable!() };
    /// assert_eq!(named.replicated().len(), 1);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn replicated(&self) -> &[AxisRef] {
        &self.replicated
    }

    /// The axes along which each device has a partial sum, maximum or minimum.
    ///
    /// ```
    /// use xla_shape_core::shard::{Sharding, ShardingKind};
    ///
    /// let sharding: Sharding = "{mesh['x'=2,'y'=4], [{'x'}, {}], unreduced={'y'}}".parse()?;
    /// let ShardingKind::Named(named) = sharding.kind() else { unreachable!() };
    /// assert_eq!(named.unreduced().len(), 1);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn unreduced(&self) -> &[AxisRef] {
        &self.unreduced
    }

    /// The axes along which the program divides the work itself.
    ///
    /// ```
    /// use xla_shape_core::shard::{Sharding, ShardingKind};
    ///
    /// let sharding: Sharding = "{mesh['x'=2,'y'=4], [{'x'}, {}], manual={'y'}}".parse()?;
    /// let ShardingKind::Named(named) = sharding.kind() else { unreachable!() };
    /// assert_eq!(named.manual().len(), 1);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn manual(&self) -> &[AxisRef] {
        &self.manual
    }

    /// How the partial results along [`unreduced`](Self::unreduced) are combined.
    ///
    /// ```
    /// use xla_shape_core::shard::{Reduction, Sharding, ShardingKind};
    ///
    /// let sharding: Sharding = "{mesh['x'=2,'y'=4], [{'x'}, {}], unreduced={'y'}}".parse()?;
    /// let ShardingKind::Named(named) = sharding.kind() else { unreachable!() };
    /// assert_eq!(named.reduction(), Reduction::Sum);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn reduction(&self) -> Reduction {
        self.reduction
    }

    /// The number of tiles along a dimension.
    fn tiles(&self, dimension: &DimensionSharding) -> u64 {
        dimension.axes.iter().fold(1, |product, axis| product.saturating_mul(axis.size(&self.mesh)))
    }

    /// Whether every device has the whole array (`NamedSharding::IsReplicated`).
    ///
    /// ```
    /// use xla_shape_core::shard::{Sharding, ShardingKind};
    ///
    /// let sharding: Sharding = "{mesh['x'=2,'y'=4], [{}, {}]}".parse()?;
    /// let ShardingKind::Named(named) = sharding.kind() else { unreachable!() };
    /// assert!(named.is_replicated());
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn is_replicated(&self) -> bool {
        self.dimensions.iter().all(|dimension| self.tiles(dimension) == 1)
            && self.unreduced.is_empty()
            && self.manual.is_empty()
    }

    /// Whether these axes cover all devices of the mesh.
    pub(crate) fn are_all(&self, axes: &[AxisRef]) -> bool {
        let product = axes.iter().fold(1_u64, |product, axis| product.saturating_mul(axis.size(&self.mesh)));
        !axes.is_empty() && product == self.mesh.devices.count()
    }

    /// Whether these are all the axes of the mesh, each whole and in the mesh's order.
    pub(crate) fn are_mesh(&self, axes: &[AxisRef]) -> bool {
        axes.len() == self.mesh.axes.len() && axes.iter().enumerate().all(|(i, &axis)| axis == AxisRef::whole(i))
    }

    /// The tile assignment and its subgroups; `None` if every device has the whole array (`HloSharding::V3ToV2Sharding`
    /// in `xla/hlo/ir/hlo_sharding.cc`).
    pub(super) fn tile_assignment(&self) -> Result<Option<(TileAssignment, Vec<Subgroup>)>, ShardingError> {
        if self.is_replicated() {
            return Ok(None);
        }
        let mut tiles = self.dimensions.iter().map(|dimension| self.tiles(dimension)).collect::<Vec<_>>();
        // The axes in the order of the tiles.
        let mut ordered = self.dimensions.iter().flat_map(|dimension| &dimension.axes).copied().collect::<Vec<_>>();
        let mut subgroups = Vec::new();
        for (axes, subgroup) in [(&self.manual, Subgroup::Manual), (&self.unreduced, Subgroup::Unreduced)] {
            if !axes.is_empty() {
                tiles.push(axes.iter().fold(1, |product, axis| product.saturating_mul(axis.size(&self.mesh))));
                subgroups.push(subgroup);
                ordered.extend(axes);
            }
        }
        let parts = self.parts();
        let mut permutation = Vec::with_capacity(parts.len());
        permutation.extend(ordered.iter().filter_map(|axis| parts.iter().position(|part| part == axis)));
        let mut copies = 1_u64;
        for (i, part) in parts.iter().enumerate() {
            if !ordered.contains(part) {
                permutation.push(i);
                copies = copies.saturating_mul(part.size(&self.mesh));
            }
        }
        if copies > 1 {
            tiles.push(copies);
            subgroups.push(Subgroup::Replicated);
        }
        let sizes = parts.iter().map(|part| part.size(&self.mesh)).collect();
        let assignment = TileAssignment::new(sizes, self.mesh.devices.clone())?;
        Ok(Some((assignment.transpose(&permutation)?.reshape(tiles), subgroups)))
    }

    /// The axes of the mesh, each cut into the parts that the sharding names and the parts between those.
    fn parts(&self) -> Vec<AxisRef> {
        let mut parts = Vec::new();
        let named = || {
            let dimensions = self.dimensions.iter().flat_map(|dimension| &dimension.axes);
            dimensions.chain(&self.replicated).chain(&self.unreduced).chain(&self.manual)
        };
        // The cuts: each is an axis and the product of the sizes of the parts before the cut.
        let mut cuts = Vec::<(usize, u64)>::new();
        for axis in named() {
            if let Some(SubAxis { pre_size, size }) = axis.part {
                cuts.extend([(axis.axis, pre_size), (axis.axis, pre_size.saturating_mul(size))]);
            }
        }
        sort(&mut cuts);
        cuts.dedup();
        let mut cuts = cuts.into_iter().peekable();
        for (i, axis) in self.mesh.axes.iter().enumerate() {
            let mut pre_size = 1;
            let mut is_cut = false;
            while let Some((_, cut)) = cuts.next_if(|&(axis, _)| axis == i) {
                is_cut = true;
                if cut > pre_size
                    && let Some(size) = cut.checked_div(pre_size)
                {
                    parts.push(AxisRef { axis: i, part: Some(SubAxis { pre_size, size }) });
                    pre_size = cut;
                }
            }
            if !is_cut {
                parts.push(AxisRef::whole(i));
            } else if axis.size > pre_size
                && let Some(size) = axis.size.checked_div(pre_size)
            {
                parts.push(AxisRef { axis: i, part: Some(SubAxis { pre_size, size }) });
            }
        }
        parts
    }
}
