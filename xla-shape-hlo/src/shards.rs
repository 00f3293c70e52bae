//! What each device has of the values of a module that is not partitioned yet.

use crate::module::{Instruction, Module};
use crate::opcode::Opcode;
use alloc::vec::Vec;
use xla_shape_core::shard::{Partition, Sharding};
use xla_shape_core::tpu::Generation;
use xla_shape_core::{ArrayShape, Shape};

/// An array of a module, or one in a tuple, that has a sharding.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ShardedArray<'m, 'a> {
    /// The instruction that has the sharding.
    pub instruction: Instruction<'m, 'a>,
    /// Which array of the instruction's value it is.
    pub leaf: usize,
    /// The whole array; a parameter or result has the layout that the module says for it.
    pub array: ArrayShape,
    /// Its sharding.
    pub sharding: Sharding,
    /// What each device has.
    pub partition: Partition,
    /// What one device has, with its layout.
    pub shard: ArrayShape,
    /// How many devices have each element.
    pub replication: u64,
    /// Whether it is a parameter or a result of the program, or neither.
    pub place: Place,
}

/// What an array is to the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Place {
    /// A parameter.
    Parameter,
    /// A part of what the program returns.
    Result,
    /// A value in between.
    Inside,
}

impl Place {
    /// Its name: `parameter`, `result` or `inside`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Parameter => "parameter",
            Self::Result => "result",
            Self::Inside => "inside",
        }
    }
}

impl ShardedArray<'_, '_> {
    /// The bytes of the whole in one place, with padding.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.array.byte_size().unwrap_or(0)
    }

    /// The bytes on each device, with the padding of the shard's own tiles.
    #[must_use]
    pub fn bytes_per_device(&self) -> u64 {
        self.shard.byte_size().unwrap_or(0)
    }
}

impl<'a> Module<'a> {
    /// How many devices the program is for: `num_partitions`, or the most that a sharding names.
    #[must_use]
    pub fn partition_count(&self) -> Option<u64> {
        let written = self.attribute("num_partitions").and_then(|value| value.number().ok());
        written.and_then(|count| u64::try_from(count).ok()).filter(|&count| count > 0)
    }

    /// Whether XLA has partitioned the program: shapes are then those of shards, also where shardings are still written.
    #[must_use]
    pub fn is_partitioned(&self) -> bool {
        // XLA's partitioner renames each computation that it has gone through.
        self.entry().is_some_and(|entry| entry.name().ends_with("_spmd"))
    }

    /// The arrays whose sharding says what each device has, in the order of the text.
    ///
    /// With a generation of TPUs, a shard has the layout that it gives to arrays of these sizes; otherwise, that of the whole.
    /// A module that [is partitioned](Self::is_partitioned) has none.
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
    pub fn sharded_arrays(&self, generation: Option<Generation>) -> Vec<ShardedArray<'_, 'a>> {
        let mut found = Vec::new();
        if self.is_partitioned() {
            return found;
        }
        let layouts = self.attribute("entry_computation_layout").and_then(|value| value.program_shape().ok());
        let entry = self.entry();
        for instruction in self.instructions() {
            let Some(Ok(sharding)) = instruction.attribute("sharding").map(|value| value.sharding()) else { continue };
            let in_entry = entry.is_some_and(|entry| entry.name() == instruction.computation().name());
            let parameter = instruction.parameter_number().filter(|_| in_entry);
            let is_result = in_entry && entry.is_some_and(|entry| entry.root() == instruction);
            let place = match parameter {
                Some(_) => Place::Parameter,
                None if is_result => Place::Result,
                None => Place::Inside,
            };
            let written = layouts.as_ref().and_then(|layouts| match (parameter, is_result) {
                (Some(number), _) => layouts.parameters.get(number).map(|parameter| &parameter.shape),
                (None, true) => Some(&layouts.result),
                (None, false) => None,
            });
            let same = |written: &&Shape| written.compatible(instruction.shape());
            let shape = written.filter(same).unwrap_or(instruction.shape());
            if instruction.opcode() == Opcode::Tuple && !is_result {
                // Its arrays are there already.
                continue;
            }
            self.push_arrays(instruction, shape, &sharding, place, generation, &mut found);
        }
        found
    }

    fn push_arrays<'m>(
        &'m self,
        instruction: Instruction<'m, 'a>,
        shape: &Shape,
        sharding: &Sharding,
        place: Place,
        generation: Option<Generation>,
        found: &mut Vec<ShardedArray<'m, 'a>>,
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
                replication: partition.replication().or(self.partition_count()).unwrap_or(1),
                shard: chosen.unwrap_or(shard),
                partition,
                place,
            });
        }
    }
}
