//! Which part of a shape each device has.

use crate::text::Text;
use crate::words::{Bytes, Factor, Grouped, count, slice};
use schemars::JsonSchema;
use serde::Serialize;
use xla_shape_core::Shape;
use xla_shape_core::shard::{Partition, Region, Sharding, ShardingError};

/// At most this many devices are listed.
const MAX_DEVICES: usize = 16;

/// At most this many arrays of a tuple are listed.
const MAX_ARRAYS: usize = 32;

/// A value divided among devices.
#[derive(Serialize, JsonSchema)]
pub(super) struct Shards<'a> {
    /// The canonical text of the sharding.
    text: String,
    /// The shape of a shard; of a tuple, the tuple of shards.
    shard: &'a str,
    /// How many devices have a shard; null if every device has the whole value and nothing says how many there are.
    devices: Option<u64>,
    /// The bytes of a shard, with the padding of its own tiles.
    bytes_per_device: Option<u64>,
    /// The bytes on all devices together; null where `devices` is.
    bytes_total: Option<u64>,
    #[serde(flatten)]
    array: Option<ArrayShards>,
}

/// What the shards of an array have besides.
#[derive(Serialize, JsonSchema)]
struct ArrayShards {
    /// Only of an array: how many devices have each element; null where `devices` is.
    replication: Option<u64>,
    /// Only of an array: whether every dimension divides without a remainder.
    even: bool,
    /// Only of an array: how many bytes of a shard are padding.
    padding_bytes: Option<u64>,
    /// Only of an array: the bytes of a shard divided by those of its elements alone.
    expansion: Option<f64>,
}

/// A shape divided among devices.
#[derive(Clone, Debug)]
pub(super) struct Divided {
    sharding: Sharding,
    /// The partition of each leaf of the shape; `None` for leaves that are not arrays.
    parts: Vec<Option<Partition>>,
    /// The shape with shards in place of arrays.
    shard: String,
    /// The bytes of the whole shape.
    whole: Option<u64>,
    is_tuple: bool,
}

impl Divided {
    pub(super) fn new(shape: &Shape, sharding: Sharding) -> Result<Self, ShardingError> {
        let parts = sharding.partitions(shape)?;
        let shard = shards(shape, &mut parts.iter())?.to_string();
        let whole = shape.byte_size();
        Ok(Self { sharding, parts, shard, whole, is_tuple: matches!(shape, Shape::Tuple(_)) })
    }

    fn arrays(&self) -> impl Iterator<Item = &Partition> {
        self.parts.iter().flatten()
    }

    /// How many devices there are; `None` if no sharding says it.
    fn devices(&self) -> Option<u64> {
        self.arrays().filter_map(Partition::device_count).max()
    }

    /// The bytes on each device that has a shard.
    fn bytes_per_device(&self) -> Option<u64> {
        self.arrays().try_fold(0_u64, |sum, part| sum.checked_add(part.bytes_per_device()?))
    }

    /// The bytes on all devices together.
    fn bytes_total(&self) -> Option<u64> {
        self.arrays().try_fold(0_u64, |sum, part| sum.checked_add(part.bytes_total()?))
    }

    pub(super) fn shards(&self) -> Shards<'_> {
        let array = match self.parts.as_slice() {
            [Some(part)] if !self.is_tuple => Some(ArrayShards {
                replication: part.replication(),
                even: part.is_even(),
                padding_bytes: part.shard().padding_byte_size(),
                expansion: part.shard().expansion(),
            }),
            _ => None,
        };
        Shards {
            text: self.sharding.to_string(),
            shard: &self.shard,
            devices: self.devices(),
            bytes_per_device: self.bytes_per_device(),
            bytes_total: self.bytes_total(),
            array,
        }
    }

    pub(super) fn explain(&self, page: &mut Text) {
        page.heading("On the devices");
        page.paragraph(format_args!("  {}", self.sharding));
        let Some(per_device) = self.bytes_per_device() else {
            page.paragraph("  The size of a shard is not known.");
            return;
        };
        let mut rows = vec![("memory of each".to_owned(), Bytes(per_device).to_string())];
        if let (Some(devices), Some(total)) = (self.devices(), self.bytes_total()) {
            rows.push(("devices".to_owned(), Grouped(devices).to_string()));
            let whole = self.whole.filter(|&whole| whole > 0 && whole != total);
            let times = whole.map_or_else(String::new, |whole| {
                format!(", {} what the whole takes in one place", Factor(total as f64 / whole as f64))
            });
            rows.push(("memory of all".to_owned(), format!("{}{times}", Bytes(total))));
        }
        match self.parts.as_slice() {
            [Some(part)] if !self.is_tuple => {
                rows.insert(0, ("shard".to_owned(), self.shard.clone()));
                self.one(page, part, rows);
            }
            _ => {
                page.columns(&rows);
                page.paragraph("  Each device has:");
                let arrays = self.parts.iter().enumerate().take(MAX_ARRAYS);
                let rows = arrays.filter_map(|(number, part)| {
                    let part = part.as_ref()?;
                    let bytes = part.bytes_per_device().map_or_else(String::new, |b| format!("\n  {}", Bytes(b)));
                    Some((number.to_string(), format!("{}{bytes}", part.shard())))
                });
                page.columns(&rows.collect::<Vec<_>>());
                if self.parts.len() > MAX_ARRAYS {
                    page.paragraph(format_args!("  … and {} more", Grouped((self.parts.len() - MAX_ARRAYS) as u64)));
                }
            }
        }
    }

    fn one(&self, page: &mut Text, part: &Partition, mut rows: Vec<(String, String)>) {
        if let (Some(padding), Some(expansion)) = (part.shard().padding_byte_size(), part.shard().expansion())
            && padding > 0
        {
            let text =
                format!("{} of a shard, which takes {} what its elements need", Bytes(padding), Factor(expansion));
            rows.push(("padding".to_owned(), text));
        }
        rows.push((
            "copies".to_owned(),
            match part.replication() {
                Some(1) => "one device has each element".to_owned(),
                Some(devices) => format!("{} have each element", count(devices, "device", "devices")),
                None => "every device has all of it".to_owned(),
            },
        ));
        page.columns(&rows);
        if let Err(error) = part.check_even() {
            page.paragraph(format_args!(
                "  It does not divide evenly: {error}. The last shards have fewer elements, or none."
            ));
        }
        let Some(devices) = part.device_count() else { return };
        let rows = part.regions().take(MAX_DEVICES).map(|(device, region)| (format!("device {device}"), held(&region)));
        page.columns(&rows.collect::<Vec<_>>());
        if devices > MAX_DEVICES as u64 {
            page.paragraph(format_args!("  … and {} more", Grouped(devices - MAX_DEVICES as u64)));
        }
    }
}

/// The part of an array that a device has.
fn held(region: &Region) -> String {
    if region.is_empty() { "nothing".to_owned() } else { slice(&region.start, &region.limit) }
}

/// The shape with shards in place of its arrays.
fn shards<'a>(shape: &Shape, parts: &mut impl Iterator<Item = &'a Option<Partition>>) -> Result<Shape, ShardingError> {
    if let Some(elements) = shape.tuple_shapes() {
        let elements = elements.iter().map(|element| shards(element, parts)).collect::<Result<_, _>>()?;
        return Shape::tuple(elements).map_err(ShardingError::Layout);
    }
    Ok(match (shape, parts.next()) {
        (Shape::Array(_), Some(Some(part))) => Shape::Array(part.shard().clone()),
        (Shape::Buffer(_), Some(Some(part))) => Shape::Buffer(part.shard().clone()),
        _ => shape.clone(),
    })
}
