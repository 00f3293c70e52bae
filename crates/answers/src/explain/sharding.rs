//! The part of a shape that each device has.

use super::choices::{SharedChoice, choices_by_generation, stored};
use crate::Given;
use schemars::JsonSchema;
use serde::Serialize;
use xla_shape_core::Shape;
use xla_shape_core::shard::{Partition, Sharding, ShardingError};
use xla_shape_core::tpu::Generation;

/// A value divided among devices.
///
/// ```
/// use xla_shape_answers::{Given, explain::Explanation};
///
/// let explanation = Explanation::new("f32[10,256]".parse::<Given>()?).with_sharding("{devices=[4,2]<=[8]}".parse()?)?;
/// let shards = explanation.shards().unwrap();
/// assert_eq!((shards.shard.as_str(), shards.bytes_per_device), ("f32[3,128]{1,0}", Some(1536)));
/// assert!(!shards.array().unwrap().is_even());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Shards {
    /// The canonical text of the sharding.
    pub text: String,
    /// The shape of a shard; of a tuple, the tuple of shards.
    pub shard: String,
    /// How many devices have a shard; null if every device has the whole value and nothing says how many there are.
    pub devices: Option<u64>,
    /// The bytes of a shard, with the padding of its own tiles.
    pub bytes_per_device: Option<u64>,
    /// The bytes on all devices together; null if `devices` is null.
    pub bytes_total: Option<u64>,
    #[serde(flatten)]
    array: Option<ArrayShards>,
    /// The bytes of the whole shape.
    #[serde(skip)]
    pub whole_bytes: Option<u64>,
    /// The partition of each leaf of the shape; `None` for leaves that are not arrays.
    #[serde(skip)]
    pub parts: Vec<Option<Partition>>,
}

/// Further facts about the shards of an array.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct ArrayShards {
    /// Only for an array: how many devices have each element; null if `devices` is null.
    replication: Option<u64>,
    /// Only for an array: whether every dimension divides without a remainder.
    even: bool,
    /// Only for an array: how many bytes of a shard are padding.
    padding_bytes: Option<u64>,
    /// Only for an array: the bytes of a shard divided by those of its elements alone.
    expansion: Option<f64>,
    /// Only for an array without a layout, or with --for: how TPUs store a shard by default.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tpu: Vec<SharedChoice>,
}

impl Shards {
    pub(super) fn new(shape: &Shape, sharding: &Sharding) -> Result<Self, ShardingError> {
        let parts = sharding.partitions(shape)?;
        let shard = shards(shape, &mut parts.iter())?.to_string();
        let arrays = || parts.iter().flatten();
        let array = match parts.as_slice() {
            [Some(part)] if shape.tuple_shapes().is_none() => Some(ArrayShards {
                replication: part.replication(),
                even: part.is_even(),
                padding_bytes: part.shard().padding_byte_size(),
                expansion: part.shard().expansion(),
                tpu: Vec::new(),
            }),
            _ => None,
        };
        Ok(Self {
            text: sharding.to_string(),
            shard,
            devices: arrays().filter_map(Partition::device_count).max(),
            bytes_per_device: arrays().try_fold(0_u64, |sum, part| sum.checked_add(part.bytes_per_device()?)),
            bytes_total: arrays().try_fold(0_u64, |sum, part| sum.checked_add(part.bytes_total()?)),
            array,
            whole_bytes: shape.byte_size(),
            parts,
        })
    }

    /// Adds how these generations store the shards of the divided shape `given`; if none is named, how all generations store them.
    pub(super) fn choose(&mut self, given: &Given, named: &[Generation]) {
        let shard = self.given_shard(given);
        if let (Some(array), Some(shard)) = (&mut self.array, shard.as_ref().and_then(Given::array)) {
            let asked = !shard.has_layout || !named.is_empty();
            array.tpu = if asked { choices_by_generation(&shard.array, named) } else { Vec::new() };
        }
    }

    /// How these generations store a shard; see [`Explanation::stored_shard`](super::Explanation::stored_shard).
    pub(super) fn stored(&self, given: &Given, named: &[Generation]) -> Vec<SharedChoice> {
        self.given_shard(given).map_or_else(Vec::new, |shard| stored(&shard, named))
    }

    /// The shard of the one array in `given`; it has a layout if the array was written with one.
    fn given_shard(&self, given: &Given) -> Option<Given> {
        let shard = self.array()?.shard().clone();
        Some(Given::from_parts(Shape::Array(shard), given.layouts().collect()))
    }

    /// The partition of the shape, if it is one array, or a buffer with one array.
    #[must_use]
    pub fn array(&self) -> Option<&Partition> {
        self.array.as_ref()?;
        self.parts.first()?.as_ref()
    }
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
