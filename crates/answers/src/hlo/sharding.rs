//! The arrays and their bytes on each device, for a program that is not partitioned yet.

use crate::device::Device;
use crate::names;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use xla_shape_core::sorting::sort_by_key;
use xla_shape_hlo::{Module, ShardedArray, ShardedArrayKind};

/// The shardings of a module, and what they mean for each device.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Shardings {
    /// How many devices there are.
    pub devices: u64,
    /// The parameters that have a sharding.
    pub parameters: Sum,
    /// The results that have a sharding.
    pub results: Sum,
    /// The bytes on each device of arrays that other devices have, too.
    pub replicated_bytes: u64,
    /// Each sharding, with the arrays that have it.
    pub shardings: Vec<Kind>,
    /// The arrays that take the most memory on each device.
    pub largest: Vec<Sharded>,
    /// The arrays whose copies take the most memory on all devices together.
    pub replicated: Vec<Sharded>,
}

/// The sum of several arrays.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Sum {
    /// How many arrays.
    pub arrays: usize,
    /// The bytes of the whole arrays.
    pub bytes: u64,
    /// The bytes of their parts on each device.
    pub bytes_per_device: u64,
}

/// A sharding, with the sums of the arrays that have it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Kind {
    /// XLA's text of the sharding.
    pub sharding: String,
    /// The sums of the arrays.
    #[serde(flatten)]
    pub sum: Sum,
}

/// An array that has a sharding.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Sharded {
    /// The name of the instruction.
    pub name: String,
    /// Which array of the instruction's value, from 0.
    pub leaf: usize,
    /// The opcode of the instruction.
    pub opcode: String,
    /// The role of the array in the program.
    #[serde(serialize_with = "names::place")]
    #[schemars(with = "String")]
    pub place: ShardedArrayKind,
    /// XLA's text of the shape, with its layout.
    pub shape: String,
    /// XLA's text of the sharding.
    pub sharding: String,
    /// The shape of a shard, with its layout.
    pub shard: String,
    /// Whether every dimension divides without a remainder.
    pub even: bool,
    /// The bytes of the whole array.
    pub bytes: u64,
    /// The bytes of a shard.
    pub bytes_per_device: u64,
    /// How many devices have each element.
    pub replication: u64,
    /// The bytes that would be saved on all devices together if only one device had each element.
    pub copies_bytes: u64,
}

impl Sum {
    fn add(&mut self, array: &ShardedArray<'_>) {
        self.arrays += 1;
        self.bytes = self.bytes.saturating_add(array.bytes());
        self.bytes_per_device = self.bytes_per_device.saturating_add(array.bytes_per_device());
    }
}

impl Shardings {
    /// The shardings of `module`, if it is for several devices and has some; lists have at most `top` entries.
    pub(crate) fn new(module: &Module, device: Option<Device>, top: usize) -> Option<Self> {
        let arrays = module.sharded_arrays(device.and_then(Device::generation));
        let devices = module.device_count(&arrays);
        // XLA does not print `num_partitions=1`.
        let devices = devices.filter(|&devices| devices > 1 && !arrays.is_empty())?;
        let (mut parameters, mut results, mut replicated_bytes) = (Sum::default(), Sum::default(), 0_u64);
        let mut kinds = BTreeMap::<String, Sum>::new();
        for array in &arrays {
            match array.kind {
                ShardedArrayKind::Parameter => parameters.add(array),
                ShardedArrayKind::Result => results.add(array),
                _ => {}
            }
            if array.replication > 1 {
                replicated_bytes = replicated_bytes.saturating_add(array.bytes_per_device());
            }
            kinds.entry(array.sharding.to_string()).or_default().add(array);
        }
        let kinds = kinds.into_iter().map(|(sharding, sum)| Kind { sharding, sum });
        let mut shardings = kinds.collect::<Vec<_>>();
        sort_by_key(&mut shardings, |kind| std::cmp::Reverse(kind.sum.bytes_per_device));
        let all = arrays.iter().map(Sharded::new).collect::<Vec<_>>();
        let ranked = |worth: fn(&Sharded) -> u64| {
            let mut found = all.iter().filter(|array| worth(array) > 0).collect::<Vec<_>>();
            sort_by_key(&mut found, |array| std::cmp::Reverse(worth(array)));
            found.into_iter().take(top).cloned().collect()
        };
        Some(Self {
            devices,
            parameters,
            results,
            replicated_bytes,
            shardings: shardings.into_iter().take(top).collect(),
            largest: ranked(|array| array.bytes_per_device),
            replicated: ranked(|array| array.copies_bytes),
        })
    }
}

impl Sharded {
    fn new(array: &ShardedArray<'_>) -> Self {
        let copies = array.replication.saturating_sub(1);
        Self {
            name: array.instruction.name().to_owned(),
            leaf: array.leaf,
            opcode: array.instruction.opcode().to_string(),
            place: array.kind,
            shape: array.array.to_string(),
            sharding: array.sharding.to_string(),
            shard: array.shard.to_string(),
            even: array.partition.is_even(),
            bytes: array.bytes(),
            bytes_per_device: array.bytes_per_device(),
            replication: array.replication,
            // Each shard is stored `copies` times more than needed.
            copies_bytes: array.bytes_per_device().saturating_mul(copies).saturating_mul(tiles(array)),
        }
    }
}

/// How many different shards an array has.
fn tiles(array: &ShardedArray<'_>) -> u64 {
    array.partition.tiles().iter().fold(1, |product, &tiles| product.saturating_mul(tiles))
}
