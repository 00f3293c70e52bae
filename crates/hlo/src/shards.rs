//! The shards of the values of a module before XLA's partitioner runs.

use crate::module::{Instruction, Module};
use crate::schema::Key;
use crate::schema::opcode::Opcode;
use alloc::vec::Vec;
use xla_shape_core::shard::{Partition, Sharding};
use xla_shape_core::tpu::Generation;
use xla_shape_core::{ArrayShape, Shape};

/// An array with a sharding: the value of an instruction, or an array in it if the value is a tuple.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ShardedArray<'m> {
    /// The instruction that has the sharding.
    pub instruction: Instruction<'m>,
    /// Which leaf of the instruction's shape it is, from 0.
    pub leaf: usize,
    /// The whole array. Parameters and results have the layout of the module's `entry_computation_layout`.
    pub array: ArrayShape,
    /// Its sharding.
    pub sharding: Sharding,
    /// The index range that each device has.
    pub partition: Partition,
    /// The array of one device, with its layout.
    pub shard: ArrayShape,
    /// The number of devices that hold a copy of each element.
    pub replication: u64,
    /// Whether it is a parameter, a result or an intermediate value of the program.
    pub kind: ShardedArrayKind,
}

/// How the program uses a [`ShardedArray`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ShardedArrayKind {
    /// A parameter of the program.
    Parameter,
    /// The program's result, or a part of it.
    Result,
    /// An intermediate value.
    Intermediate,
}

impl ShardedArrayKind {
    /// The name in JSON: `parameter`, `result` or `inside`.
    ///
    /// ```
    /// assert_eq!(xla_shape_hlo::ShardedArrayKind::Intermediate.name(), "inside");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Parameter => "parameter",
            Self::Result => "result",
            Self::Intermediate => "inside",
        }
    }
}

impl ShardedArray<'_> {
    /// The bytes of the whole array on one device, with padding; 0 if a dimension is unbounded.
    ///
    /// ```
    /// let text = "HloModule m, num_partitions=4\nENTRY e { ROOT p = f32[8,128] parameter(0), sharding={devices=[4,1]<=[4]} }";
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// assert_eq!(module.sharded_arrays(None)[0].bytes(), 8 * 128 * 4);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.array.byte_size().unwrap_or(0)
    }

    /// The bytes of one shard, with the padding of its own tiles; 0 if a dimension is unbounded.
    ///
    /// ```
    /// let text = "HloModule m, num_partitions=4\nENTRY e { ROOT p = f32[6,128] parameter(0), sharding={devices=[4,1]<=[4]} }";
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// let array = &module.sharded_arrays(None)[0];
    /// assert_eq!((array.bytes(), array.bytes_per_device()), (3072, 1024), "each shard has two rows");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn bytes_per_device(&self) -> u64 {
        self.shard.byte_size().unwrap_or(0)
    }
}

impl Module {
    /// The number of devices that the program is partitioned for: the module's `num_partitions`. `None` if the module does not state it.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("HloModule m, num_partitions=4\nENTRY e { ROOT p = f32[] parameter(0) }")?;
    /// assert_eq!(module.partition_count(), Some(4));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn partition_count(&self) -> Option<u64> {
        let written = self.count(Key::NumPartitions);
        written.and_then(|count| u64::try_from(count).ok()).filter(|&count| count > 0)
    }

    /// Whether XLA has partitioned the program. Shapes are then those of shards, even if `sharding` attributes remain.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("HloModule m\nENTRY main_spmd { ROOT p = f32[] parameter(0) }")?;
    /// assert!(module.is_partitioned());
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn is_partitioned(&self) -> bool {
        // XLA's partitioner renames each computation that it rewrites (`xla/service/spmd/spmd_partitioner.cc`).
        self.entry().is_some_and(|entry| entry.name().ends_with("_spmd"))
    }

    /// The arrays with a sharding, in text order. Empty for a module that [is partitioned](Self::is_partitioned).
    ///
    /// With a TPU generation, each shard has that TPU's default layout for its sizes; otherwise it has the layout of the whole array.
    ///
    /// ```
    /// let text = "HloModule m, num_partitions=8
    /// ENTRY e { ROOT p = f32[64,256]{1,0:T(8,128)} parameter(0), sharding={devices=[4,1,2]<=[8] last_tile_dim_replicate} }";
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// let found = module.sharded_arrays(None);
    /// assert_eq!(found[0].shard.to_string(), "f32[16,256]{1,0:T(8,128)}");
    /// assert_eq!((found[0].bytes(), found[0].bytes_per_device(), found[0].replication), (65_536, 16_384, 2));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn sharded_arrays(&self, generation: Option<Generation>) -> Vec<ShardedArray<'_>> {
        let mut found = Vec::new();
        if self.is_partitioned() {
            return found;
        }
        let layouts = self.value_of(Key::EntryComputationLayout).and_then(|value| value.program_shape().ok());
        let entry = self.entry();
        for instruction in self.instructions() {
            let Some(Ok(sharding)) = instruction.value_of(Key::Sharding).map(|value| value.sharding()) else {
                continue;
            };
            let in_entry = entry.is_some_and(|entry| entry.name() == instruction.computation().name());
            let parameter = instruction.parameter_number().filter(|_| in_entry);
            let is_result = in_entry && entry.is_some_and(|entry| entry.root() == instruction);
            let kind = match parameter {
                Some(_) => ShardedArrayKind::Parameter,
                None if is_result => ShardedArrayKind::Result,
                None => ShardedArrayKind::Intermediate,
            };
            let written = layouts.as_ref().and_then(|layouts| match (parameter, is_result) {
                (Some(number), _) => layouts.parameters.get(number).map(|parameter| &parameter.shape),
                (None, true) => Some(&layouts.result),
                (None, false) => None,
            });
            let same = |written: &&Shape| written.compatible(instruction.shape());
            let shape = written.filter(same).unwrap_or(instruction.shape());
            // The elements of a tuple are listed where they are computed, if they have shardings. Any other value with a sharding is listed
            // whole, so its elements are not listed again.
            let is_listed = match instruction.opcode() {
                Opcode::Tuple => true,
                Opcode::GetTupleElement => {
                    let whole = instruction.operand(0).and_then(|operand| operand.instruction());
                    let whole = whole.filter(|whole| whole.opcode() != Opcode::Tuple);
                    whole.and_then(|whole| whole.value_of(Key::Sharding)).is_some_and(|value| value.sharding().is_ok())
                }
                _ => false,
            };
            if is_listed && !is_result {
                continue;
            }
            self.push_arrays(instruction, shape, &sharding, kind, generation, &mut found);
        }
        // Some shardings, such as `{replicated}`, do not state the number of devices. Their arrays are replicated on all devices.
        let all = self.device_count(&found).unwrap_or(1);
        for array in found.iter_mut().filter(|array| array.partition.replication().is_none()) {
            array.replication = all;
        }
        found
    }

    /// The number of devices of a program with these [sharded arrays](Self::sharded_arrays): the [stated number](Self::partition_count) or, if none
    /// is stated, as in messages, the largest number of devices of a sharding.
    ///
    /// ```
    /// let text = "HloModule m\nENTRY e { a = f32[8] parameter(0), sharding={replicated} ROOT b = f32[8] negate(a), sharding={devices=[4]<=[4]} }";
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// let found = module.sharded_arrays(None);
    /// assert_eq!((module.partition_count(), module.device_count(&found)), (None, Some(4)));
    /// assert_eq!(found[0].replication, 4);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn device_count(&self, arrays: &[ShardedArray<'_>]) -> Option<u64> {
        let named = || arrays.iter().filter_map(|array| array.partition.device_count()).max();
        self.partition_count().or_else(named)
    }

    fn push_arrays<'m>(
        &'m self,
        instruction: Instruction<'m>,
        shape: &Shape,
        sharding: &Sharding,
        kind: ShardedArrayKind,
        generation: Option<Generation>,
        found: &mut Vec<ShardedArray<'m>>,
    ) {
        let Ok(parts) = sharding.partitions(shape) else { return };
        for (leaf, ((_, shape), partition)) in shape.get_leaf_shapes().zip(parts).enumerate() {
            let Some((array, partition)) = shape.array().zip(partition) else { continue };
            let own = sharding.leaves().get(leaf).unwrap_or(sharding);
            let shard = partition.shard().clone();
            let chosen = generation.and_then(|generation| shard.clone().with_tpu_layout(generation).ok());
            found.push(ShardedArray {
                instruction,
                leaf,
                array: array.clone(),
                sharding: own.clone(),
                replication: partition.replication().unwrap_or(1),
                shard: chosen.unwrap_or(shard),
                partition,
                kind,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Module;
    use alloc::vec::Vec;

    #[test]
    fn an_element_of_a_value_with_a_sharding_is_no_other_array() {
        let text = "HloModule m, num_partitions=2
ENTRY e {
  p = (f32[8], f32[4]) parameter(0), sharding={{devices=[2]<=[2]}, {replicated}}
  a = f32[8] get-tuple-element(p), index=0, sharding={devices=[2]<=[2]}
  q = (f32[8], f32[4]) custom-call(a), custom_call_target=\"split\"
  b = f32[8] get-tuple-element(q), index=0, sharding={devices=[2]<=[2]}
  t = (f32[8], f32[8]) tuple(a, b), sharding={{devices=[2]<=[2]}, {devices=[2]<=[2]}}
  c = f32[8] get-tuple-element(t), index=1, sharding={devices=[2]<=[2]}
  ROOT r = f32[8] get-tuple-element(p), index=0, sharding={devices=[2]<=[2]}
}
";
        let module = Module::parse(text).unwrap();
        let found = module.sharded_arrays(None);
        let found: Vec<_> = found.iter().map(|array| (array.instruction.name(), array.leaf)).collect();
        assert_eq!(found, [("p", 0), ("p", 1), ("b", 0), ("c", 0), ("r", 0)]);
    }
}
