//! The methods of shardings.

use crate::answer::Answer;
use crate::buffer::Buffer;
use crate::error::{out_of_bounds, shape_error};
use crate::host;
use crate::memory::ReadableBuffer;
use crate::number::Number;
use crate::room::Text;
use crate::shape::{Shape, ShapeArgument, quoted};
use crate::sharding_value::{Sharding, ShardingArgument};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySlice, PyTuple};
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use xla_shape::buffer::AlignedBytes;
use xla_shape::shard::{Hosts, MAX_LISTED_DEVICES, Partition, Region, ShardingKind};
use xla_shape::{ArrayShape, ElementType};
use xla_shape_answers::draw::DeviceDrawing;
use xla_shape_answers::reshard::{Change, Resharding};
use xla_shape_program::Compiler;
use xla_shape_render::{Html as _, Svg as _};
use xla_shape_tune::Devices;

/// The axes of a mesh with their sizes, its devices, and for each dimension of an array, the names of the axes that divide it.
type Named = (Vec<(String, u64)>, Vec<i64>, Vec<Vec<String>>);

impl Sharding {
    /// The change of this sharding to `to`, for all devices.
    fn change(
        &self,
        to: ShardingArgument,
        shape: &ShapeArgument<'_>,
        layout: Option<&str>,
        rearrange: Option<&str>,
    ) -> PyResult<Change> {
        Ok(Change {
            array: shape.0.get().array()?.clone(),
            from: self.0.clone(),
            to: to.0,
            rearrangement: rearrange.map(str::parse).transpose().map_err(shape_error)?,
            layout: layout.map(str::parse).transpose().map_err(shape_error)?,
            hosts: None,
            devices: Vec::new(),
        })
    }
}

/// Which devices are on one host: a number, lists of devices, or a text.
struct HostsArgument(Hosts);

impl<'py> FromPyObject<'_, 'py> for HostsArgument {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = value.extract::<&str>() {
            return text.parse().map(Self).map_err(shape_error);
        }
        if let Ok(groups) = value.extract::<Vec<Vec<Number<i64>>>>() {
            let groups = groups.iter().map(|group| group.iter().map(|device| device.0).collect());
            return Hosts::listed(groups.collect()).map(Self).map_err(shape_error);
        }
        let devices = NonZeroU64::new(value.extract::<Number<u64>>()?.0);
        let zero = || shape_error("expected at least 1 device of a host, found 0");
        devices.map(|devices| Self(Hosts::of_size(devices))).ok_or_else(zero)
    }
}

#[pymethods]
impl Sharding {
    #[new]
    #[pyo3(signature = (text, /))]
    fn new(text: ShardingArgument) -> Self {
        Self(text.0)
    }

    /// `replicated`, `tiled`, `named`, `maximal`, `single_device`, `manual`, `unreduced`, `unknown` or `tuple`.
    #[getter]
    fn kind(&self) -> &'static str {
        self.0.kind().name()
    }

    /// The shardings of a tuple's elements; for any other sharding, a tuple with only this sharding.
    #[getter]
    fn elements<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let leaves = self.0.leaves().iter().map(|leaf| Bound::new(py, Self(leaf.clone())));
        PyTuple::new(py, leaves.collect::<PyResult<Vec<_>>>()?)
    }

    /// The same sharding without named axes.
    fn to_tiled(&self) -> PyResult<Self> {
        self.0.to_tiled().map(|tiled| Self(tiled.into_owned())).map_err(shape_error)
    }

    /// The same sharding for an array of this many dimensions. As in JAX, a sharding that names axes may have fewer dimensions. The dimensions
    /// left out are not divided.
    #[pyo3(signature = (dimensions, /))]
    fn for_dimensions(&self, dimensions: Number<usize>) -> Self {
        // No array has 65,536 dimensions or more.
        Self(self.0.for_dimensions(dimensions.0.min(1 << 16)).into_owned())
    }

    /// The shape of a shard. Sizes are rounded up.
    #[pyo3(signature = (shape, /))]
    fn shard_shape(&self, shape: ShapeArgument<'_>) -> PyResult<Shape> {
        Ok(Shape::of_value(self.partition(&shape)?.shard().clone()))
    }

    /// The number of devices that hold a part of the array; `None` if every device holds the whole array, because the sharding then does not say
    /// how many there are.
    #[pyo3(signature = (shape, /))]
    fn device_count(&self, shape: ShapeArgument<'_>) -> PyResult<Option<u64>> {
        Ok(self.partition(&shape)?.device_count())
    }

    /// The part of a device as slices for NumPy: `array[sharding.region(shape, 3)]`.
    #[pyo3(signature = (shape, device, /))]
    fn region<'py>(
        &self,
        py: Python<'py>,
        shape: ShapeArgument<'py>,
        device: Number<i64>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let partition = self.partition(&shape)?;
        slices(py, &partition.region(device.0).map_err(shape_error)?)
    }

    /// The part of each device, as slices.
    #[pyo3(signature = (shape, /))]
    fn regions<'py>(&self, py: Python<'py>, shape: ShapeArgument<'py>) -> PyResult<Bound<'py, PyDict>> {
        let partition = self.partition(&shape)?;
        if partition.device_count().is_some_and(|count| count > MAX_LISTED_DEVICES) {
            return Err(shape_error(format_args!("expected at most {MAX_LISTED_DEVICES} devices, found more")));
        }
        let regions = PyDict::new(py);
        for (device, region) in partition.regions() {
            regions.set_item(device, slices(py, &region)?)?;
        }
        Ok(regions)
    }

    /// The devices that hold an element.
    #[pyo3(signature = (shape, index, /))]
    fn holders(&self, shape: ShapeArgument<'_>, index: Vec<Number<i64>>) -> PyResult<Vec<i64>> {
        let partition = self.partition(&shape)?;
        // Cast to unsigned, a negative index is larger than any dimension.
        let index = index.iter().map(|number| number.0.cast_unsigned()).collect::<Vec<_>>();
        let is_inside =
            index.len() == partition.sizes().len() && index.iter().zip(partition.sizes()).all(|(i, size)| i < size);
        if !is_inside {
            return Err(out_of_bounds(format_args!(
                "index {:?} is out of bounds for {}",
                index.iter().map(|number| number.cast_signed()).collect::<Vec<_>>(),
                shape.0.get().value
            )));
        }
        Ok(partition.holders(&index).take(MAX_LISTED_DEVICES as usize).collect())
    }

    /// What must move between devices when the sharding changes to `to`: the bytes, who sends what to whom, and the collective that does it.
    ///
    /// With `layout`, the shards have another layout afterwards. `hosts` says which devices are on the same host: the number of devices per host, or
    /// a list of devices for each host. With `rearrange`, the array is reshaped and transposed first: '(page part=4) token d -> page (part token) d'.
    /// With `for_`, such as 'v5e:2x4', XLA compiles the change for these devices: `xla` in the answer says what XLA moves.
    #[pyo3(signature = (to, shape, /, *, layout = None, hosts = None, devices = Vec::new(), rearrange = None, for_ = None))]
    #[expect(clippy::too_many_arguments, reason = "Python has names for them")]
    fn reshard(
        &self,
        py: Python<'_>,
        to: ShardingArgument,
        shape: ShapeArgument<'_>,
        layout: Option<&str>,
        hosts: Option<HostsArgument>,
        devices: Vec<Number<i64>>,
        rearrange: Option<&str>,
        for_: Option<&str>,
    ) -> PyResult<Answer> {
        let change = Change {
            hosts: hosts.map(|hosts| hosts.0),
            devices: devices.iter().map(|device| device.0).collect(),
            ..self.change(to, &shape, layout, rearrange)?
        };
        let answer = match for_ {
            None => Resharding::new(&change),
            Some(devices) => {
                let devices: Devices = devices.parse().map_err(shape_error)?;
                let host = host(&py.import("xla_shape._native")?)?;
                py.detach(|| devices.reshard(&change, &Compiler::default(), &host))
            }
        };
        Ok(Answer::new(answer.map_err(shape_error)?))
    }

    /// For `xla_shape.reshard`: raises the error that `reshard` and `receive` raise for this change on every device.
    #[pyo3(signature = (to, shape, /, *, layout = None, rearrange = None))]
    fn _check_reshard(
        &self,
        to: ShardingArgument,
        shape: ShapeArgument<'_>,
        layout: Option<&str>,
        rearrange: Option<&str>,
    ) -> PyResult<()> {
        self.change(to, &shape, layout, rearrange)?.plan().map(drop).map_err(shape_error)
    }

    /// The new shard of a device when the sharding changes to `to`, made from the old shards.
    ///
    /// `shards` has the old shard of each device that holds a part of the new one: a row-major array, or bytes in the layout of `shape`. With
    /// `rearrange`, the array is reshaped and transposed first.
    #[pyo3(signature = (to, shape, shards, device, /, *, layout = None, rearrange = None))]
    fn receive(
        &self,
        to: ShardingArgument,
        shape: ShapeArgument<'_>,
        shards: &Bound<'_, PyDict>,
        device: Number<i64>,
        layout: Option<&str>,
        rearrange: Option<&str>,
    ) -> PyResult<Buffer> {
        let (reshard, shard) = self.change(to, &shape, layout, rearrange)?.plan().map_err(shape_error)?;
        let mut lent = Vec::new();
        for (device, shard) in shards {
            lent.push((device.extract::<Number<i64>>()?.0, ReadableBuffer::of(&shard)?));
        }
        let mut bytes = BTreeMap::new();
        for (device, shard) in &lent {
            bytes.insert(*device, shard.bytes()?);
        }
        let size = shard.byte_size().and_then(|size| usize::try_from(size).ok());
        let size = size.ok_or_else(|| shape_error(format_args!("{shard} does not fit into memory")))?;
        let mut memory = AlignedBytes::zeroed(size).map_err(shape_error)?;
        reshard.receive(device.0, |device| bytes.get(&device).copied(), memory.as_mut()).map_err(shape_error)?;
        Ok(Buffer::owned(shard, memory))
    }

    /// A picture of the parts that the devices hold, in colours.
    #[pyo3(signature = (shape, /))]
    fn draw(&self, shape: ShapeArgument<'_>) -> PyResult<Answer> {
        let drawing = DeviceDrawing::new(shape.0.get().array()?, self.0.clone()).map_err(shape_error)?;
        let (picture, page) = (drawing.clone(), drawing.clone());
        Ok(Answer::new(drawing).with_svg(move || picture.svg()).with_html(move || page.html()))
    }

    /// The same sharding for `xla_shape.jax`, which needs a mesh with named axes: axes without a name get one.
    fn _named(&self) -> PyResult<Named> {
        if let ShardingKind::Named(named) = self.0.kind() {
            let axes = named.mesh().axes();
            let is_plain = named.unreduced().is_empty() && named.manual().is_empty();
            // A `NamedSharding` of JAX uses whole axes. Parts of axes become axes of their own in the tiled form below.
            let is_whole = named.dimensions().iter().flat_map(|along| &along.axes).all(|axis| axis.part.is_none());
            if is_plain && is_whole {
                let name = |axis: usize| axes.get(axis).map_or_else(String::new, |axis| axis.name.to_string());
                let along =
                    named.dimensions().iter().map(|along| along.axes.iter().map(|axis| name(axis.axis)).collect());
                let sizes = axes.iter().map(|axis| (axis.name.to_string(), axis.size)).collect();
                return Ok((sizes, named.mesh().devices().to_list().map_err(shape_error)?, along.collect()));
            }
        }
        let tiled = self.0.to_tiled().map_err(shape_error)?;
        match tiled.kind() {
            ShardingKind::Replicated => Ok((Vec::new(), Vec::new(), Vec::new())),
            ShardingKind::Maximal { device } => Ok((vec![("d".to_owned(), 1)], vec![*device], Vec::new())),
            ShardingKind::Tiled(tiled) if tiled.subgroups().is_empty() || tiled.replicates_last() => {
                let assignment = tiled.assignment();
                let sizes = assignment.dimensions().iter().zip(0..);
                let axes = sizes.map(|(&size, number)| (format!("d{number}"), size)).collect::<Vec<_>>();
                let along = tiled.tiles().iter().zip(&axes);
                let along = along.map(|(&tiles, (name, _))| if tiles > 1 { vec![name.clone()] } else { Vec::new() });
                let along = along.collect();
                Ok((axes, assignment.devices().to_list().map_err(shape_error)?, along))
            }
            _ => Err(shape_error(format_args!("expected a sharding that gives elements to devices, found {}", self.0))),
        }
    }

    fn _repr_svg_(&self) -> Option<String> {
        self.pieces().map(|drawing| drawing.svg())
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<Option<Text<String>>> {
        self.pieces().map(|drawing| crate::answer::framed(py, &drawing.html())).transpose()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Sharding({})", quoted(py, &self.0.to_string())?))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, (String,)) {
        (py.get_type::<Self>().into_any(), (self.0.to_string(),))
    }
}

impl Sharding {
    /// A drawing of an array with one element in each shard; `None` if the number of shards is unknown.
    fn pieces(&self) -> Option<DeviceDrawing> {
        let tiled = self.0.to_tiled().ok()?;
        let ShardingKind::Tiled(tiles) = tiled.kind() else { return None };
        let array = ArrayShape::with_default_layout(ElementType::U8, tiles.tiles()).ok()?;
        DeviceDrawing::new(&array, self.0.clone()).ok()
    }

    fn partition(&self, shape: &ShapeArgument<'_>) -> PyResult<Partition> {
        self.0.partition(shape.0.get().array()?).map_err(shape_error)
    }
}

fn slices<'py>(py: Python<'py>, region: &Region) -> PyResult<Bound<'py, PyTuple>> {
    let class = py.get_type::<PySlice>();
    let slices = region.start.iter().zip(&region.limit).map(|bounds| class.call1(bounds));
    PyTuple::new(py, slices.collect::<PyResult<Vec<_>>>()?)
}
