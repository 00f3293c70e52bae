//! Devices as an array with named axes, and shardings that name these axes.

use super::devices::{Devices, TileAssignment, product};
use super::error::ShardingError;
use super::tiled::{Reduction, Subgroup};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// The most axes of a mesh. Those of more than one device are at most 63, as their product fits in 63 bits.
pub const MAX_AXES: usize = 256;

/// An axis of a mesh.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Axis {
    /// Its name.
    pub name: Box<str>,
    /// How many devices lie along it.
    pub size: u64,
}

/// Devices as an array with named axes: `mesh['data'=4,'model'=2]`.
///
/// Equality looks at the devices and the axes with their names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mesh {
    axes: Vec<Axis>,
    devices: Devices,
}

impl Mesh {
    /// A mesh of these axes; its devices are in order, or as given.
    ///
    /// # Errors
    /// If two axes have the same name, a size is 0, the devices are not 0, 1, … each once, or devices in order are given as a
    /// list.
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
    #[must_use]
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The devices, in row-major order of the axes.
    #[must_use]
    pub const fn devices(&self) -> &Devices {
        &self.devices
    }

    /// The number of the axis that a text names: by its name, or by its number.
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

/// A part of an axis: `'b':(2)4` has size 4, after parts whose sizes multiply to 2.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct SubAxis {
    /// The product of the sizes of the parts before it.
    pub pre_size: u64,
    /// Its size.
    pub size: u64,
}

/// An axis of a mesh, or a part of one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AxisRef {
    /// The number of the axis in the mesh.
    pub axis: usize,
    /// Which part of it; `None` for the whole.
    pub part: Option<SubAxis>,
}

impl AxisRef {
    /// The whole axis.
    #[must_use]
    pub const fn whole(axis: usize) -> Self {
        Self { axis, part: None }
    }

    /// How many devices lie along it.
    #[must_use]
    pub fn size(self, mesh: &Mesh) -> u64 {
        self.part.map_or_else(|| mesh.size(self.axis), |part| part.size)
    }

    /// The product of the sizes of the parts before it.
    fn pre_size(self) -> u64 {
        self.part.map_or(1, |part| part.pre_size)
    }

    /// As a text names it.
    fn name(self, mesh: &Mesh) -> String {
        format!("{}", AxisName { axis: self, mesh })
    }

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

    /// Whether both can be in one sharding: they share no part, and both are parts of one way to cut the axis.
    fn fits_beside(self, other: Self) -> bool {
        if self.axis != other.axis {
            return true;
        }
        let (Some(a), Some(b)) = (self.part, other.part) else { return false };
        let (first, second) = if a.pre_size <= b.pre_size { (a, b) } else { (b, a) };
        let end = first.pre_size.saturating_mul(first.size);
        end <= second.pre_size && second.pre_size.checked_rem(end) == Some(0)
    }

    /// Whether this and the next one are one part.
    fn merges_with(self, next: Self) -> bool {
        let (Some(a), Some(b)) = (self.part, next.part) else { return false };
        self.axis == next.axis && a.pre_size.checked_mul(a.size) == Some(b.pre_size)
    }
}

/// An axis as a text names it: `'data'`, `'data':(2)4`.
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

/// By which axes a dimension is divided.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct DimensionSharding {
    /// The axes, from major to minor.
    pub axes: Vec<AxisRef>,
    /// Whether a compiler may divide it further: `?`.
    pub is_open: bool,
}

/// A sharding that names the axes of a mesh: `{mesh['a'=2,'b'=4], [{'a'}, {'b':(1)2, ?}], unreduced={'b':(2)2}}`.
#[derive(Clone, Debug)]
pub struct NamedSharding {
    mesh: Mesh,
    dimensions: Vec<DimensionSharding>,
    replicated: Vec<AxisRef>,
    unreduced: Vec<AxisRef>,
    manual: Vec<AxisRef>,
    reduction: Reduction,
}

/// The axes that a [`NamedSharding`] names beside those of its dimensions.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct OtherAxes {
    /// Along these, devices have copies, and no compiler may change that.
    pub replicated: Vec<AxisRef>,
    /// Along these, each device has a part of a sum, a maximum or a minimum.
    pub unreduced: Vec<AxisRef>,
    /// How the parts along `unreduced` make the whole.
    pub reduction: Reduction,
    /// Along these, the program divides by hand.
    pub manual: Vec<AxisRef>,
}

/// An axis of a sharding by its place: first those of the dimensions, then `replicated`, `unreduced` and `manual`.
pub(crate) type AxisPlace = usize;

impl NamedSharding {
    /// A sharding of arrays of as many dimensions.
    ///
    /// # Errors
    /// If an axis or a part of one does not exist, is used twice, does not fit beside another, should be merged with its
    /// neighbour, or is not in the order of the mesh in one of the other lists.
    pub fn new(mesh: Mesh, dimensions: Vec<DimensionSharding>, other: OtherAxes) -> Result<Self, ShardingError> {
        Self::checked(mesh, dimensions, other).map_err(|(error, _)| error)
    }

    /// Like [`new`](Self::new); the error says which axis is wrong.
    pub(crate) fn checked(
        mesh: Mesh,
        dimensions: Vec<DimensionSharding>,
        other: OtherAxes,
    ) -> Result<Self, (ShardingError, AxisPlace)> {
        let OtherAxes { replicated, unreduced, reduction, manual } = other;
        let mut place: AxisPlace = 0;
        // The parts of each axis so far: as they share nothing, there are at most 63 of each.
        let mut used = vec![Vec::<AxisRef>::new(); mesh.axes.len()];
        let lists = dimensions.iter().map(|dimension| (&dimension.axes, false));
        for (list, is_sorted) in lists.chain([&replicated, &unreduced, &manual].map(|list| (list, true))) {
            let mut before: Option<AxisRef> = None;
            for &axis in list {
                axis.check(&mesh).map_err(|error| (error, place))?;
                let key = |axis: AxisRef| (axis.axis, axis.pre_size(), axis.size(&mesh));
                if is_sorted && before.is_some_and(|before| key(before) > key(axis)) {
                    return Err((ShardingError::AxesOutOfOrder { axis: axis.name(&mesh).into() }, place));
                }
                if let Some(used) = used.get_mut(axis.axis) {
                    if used.iter().any(|&other| !axis.fits_beside(other)) {
                        return Err((ShardingError::AxisUsedTwice { axis: axis.name(&mesh).into() }, place));
                    }
                    used.push(axis);
                }
                if before.is_some_and(|before| before.merges_with(axis)) {
                    return Err((ShardingError::Mergeable { axis: axis.name(&mesh).into() }, place));
                }
                before = Some(axis);
                place = place.saturating_add(1);
            }
        }
        Ok(Self { mesh, dimensions, replicated, unreduced, manual, reduction })
    }

    /// The mesh.
    #[must_use]
    pub const fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// By which axes each dimension is divided.
    #[must_use]
    pub fn dimensions(&self) -> &[DimensionSharding] {
        &self.dimensions
    }

    /// Along these axes, devices have copies, and no compiler may change that.
    #[must_use]
    pub fn replicated(&self) -> &[AxisRef] {
        &self.replicated
    }

    /// Along these axes, each device has a part of a sum, a maximum or a minimum.
    #[must_use]
    pub fn unreduced(&self) -> &[AxisRef] {
        &self.unreduced
    }

    /// Along these axes, the program divides by hand.
    #[must_use]
    pub fn manual(&self) -> &[AxisRef] {
        &self.manual
    }

    /// How the parts along [`unreduced`](Self::unreduced) make the whole.
    #[must_use]
    pub const fn reduction(&self) -> Reduction {
        self.reduction
    }

    /// Into how many pieces a dimension is cut.
    fn tiles(&self, dimension: &DimensionSharding) -> u64 {
        dimension.axes.iter().fold(1, |product, axis| product.saturating_mul(axis.size(&self.mesh)))
    }

    /// Whether every device has all of it.
    #[must_use]
    pub fn is_replicated(&self) -> bool {
        self.dimensions.iter().all(|dimension| self.tiles(dimension) == 1)
            && self.unreduced.is_empty()
            && self.manual.is_empty()
    }

    /// Whether these axes reach all devices of the mesh.
    pub(crate) fn are_all(&self, axes: &[AxisRef]) -> bool {
        let product = axes.iter().fold(1_u64, |product, axis| product.saturating_mul(axis.size(&self.mesh)));
        !axes.is_empty() && product == self.mesh.devices.count()
    }

    /// Whether these are the axes of the mesh, all of them in its order.
    pub(crate) fn are_mesh(&self, axes: &[AxisRef]) -> bool {
        axes.len() == self.mesh.axes.len() && axes.iter().enumerate().all(|(i, &axis)| axis == AxisRef::whole(i))
    }

    /// The tiles of the devices and their subgroups; `None` if every device has all of it.
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

    /// The axes of the mesh, each cut into the parts that the sharding names and what lies between them.
    fn parts(&self) -> Vec<AxisRef> {
        let mut parts = Vec::new();
        let named = || {
            let dimensions = self.dimensions.iter().flat_map(|dimension| &dimension.axes);
            dimensions.chain(&self.replicated).chain(&self.unreduced).chain(&self.manual)
        };
        // Where the axes are cut: the axis, and the product of the sizes before.
        let mut cuts = Vec::<(usize, u64)>::new();
        for axis in named() {
            if let Some(SubAxis { pre_size, size }) = axis.part {
                cuts.extend([(axis.axis, pre_size), (axis.axis, pre_size.saturating_mul(size))]);
            }
        }
        cuts.sort_unstable();
        cuts.dedup();
        let mut cuts = cuts.into_iter().peekable();
        for (i, axis) in self.mesh.axes.iter().enumerate() {
            let mut pre_size = 1;
            let mut is_cut = false;
            while let Some((_, cut)) = cuts.next_if(|&(of, _)| of == i) {
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
