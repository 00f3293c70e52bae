//! The signature of a program: parameters, result, shardings, and numbers of devices.

use super::causes::Reason;
use super::devices::device_count;
use super::show::push_arrays;
use std::collections::BTreeSet;
use xla_shape_core::compare::ShapeEqual;
use xla_shape_core::shard::Sharding;
use xla_shape_core::sorting::{set_of, sort};
use xla_shape_core::{ArrayShape, Shape};
use xla_shape_hlo::{Module, Opcode, Sources};

/// The largest factor of the number of partitions that is tried.
const MOST_PARTITIONS: u64 = 1 << 16;

/// The inputs of a compilation other than the operations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Signature {
    /// The shapes of the parameters, then that of the result. Empty without an entry.
    pub(crate) shapes: Vec<Shape>,
    /// The shardings of the parameters, as the module has them.
    pub(crate) shardings: Vec<Option<String>>,
    /// Which results are in the memory of an argument: `input_output_alias`, empty for none; `None` if that is not known.
    pub(crate) aliases: Option<String>,
    /// The numbers of partitions and of replicas.
    pub(crate) devices: [String; 2],
    /// The number of devices in the groups of collectives; 1 if there are none. A module can lack `num_partitions` and have collectives.
    pub(crate) in_collectives: u64,
}

impl Signature {
    /// The attributes of a module with its numbers of devices.
    pub(crate) const DEVICES: [&'static str; 2] = ["num_partitions", "replica_count"];

    pub(crate) fn new(module: &Module) -> Self {
        let parameters = module.entry().map(|entry| entry.parameters_by_number()).unwrap_or_default();
        let sharding = |text: xla_shape_hlo::Value<'_>| text.text().to_owned();
        let shardings = parameters.iter().map(|(_, parameter)| parameter.attribute("sharding").map(sharding));
        let shapes = parameters.iter().map(|(_, parameter)| parameter.shape().clone());
        let result = module.entry().map(|entry| entry.root().shape().clone());
        Self {
            shapes: shapes.chain(result).collect(),
            shardings: shardings.collect(),
            aliases: Some(
                module.attribute("input_output_alias").map_or_else(String::new, |value| value.text().to_owned()),
            ),
            devices: Self::DEVICES.map(|what| device_count(module, what)),
            in_collectives: devices_in_collectives(module),
        }
    }

    fn same_devices(&self, other: &Self) -> bool {
        self.devices == other.devices
            && self.shardings.len() == other.shardings.len()
            && self
                .shardings
                .iter()
                .zip(&other.shardings)
                .all(|(one, other)| same_sharding(one.as_deref(), other.as_deref()))
    }

    /// Whether parameters and results are the same arrays, apart from layouts.
    pub(crate) fn same_arrays(&self, other: &Self) -> bool {
        let equal = ShapeEqual::new().ignore_layout();
        self.shapes.len() == other.shapes.len()
            && self.shapes.iter().zip(&other.shapes).all(|(one, other)| equal.compare(one, other))
    }

    /// Whether parameters and results may be the same arrays, divided among devices in another way: sizes differ only by factors of
    /// the number of partitions.
    fn differs_in_division(&self, other: &Self) -> bool {
        let partitions = self.devices.first().and_then(|count| count.parse::<u64>().ok()).unwrap_or(1);
        let partitions = partitions.max(self.in_collectives).max(other.in_collectives);
        let factors: Vec<u64> =
            (2..=partitions.min(MOST_PARTITIONS)).filter(|factor| partitions.is_multiple_of(*factor)).collect();
        let divided = |one: u64, other: u64| {
            let (less, more) = (one.min(other), one.max(other));
            less == more || factors.iter().any(|&factor| more.div_ceil(factor) == less)
        };
        let same = |one: &ArrayShape, other: &ArrayShape| {
            let sizes = |array: &ArrayShape| array.dimensions().iter().map(|size| size.extent()).collect::<Vec<_>>();
            let (sizes, others) = (sizes(one), sizes(other));
            one.same_element_type(other)
                && sizes.len() == others.len()
                && sizes
                    .into_iter()
                    .zip(others)
                    .all(|pair| matches!(pair, (Some(one), Some(other)) if divided(one, other)))
        };
        let mut arrays = [Vec::new(), Vec::new()];
        for (found, shapes) in arrays.iter_mut().zip([&self.shapes, &other.shapes]) {
            shapes.iter().for_each(|shape| push_arrays(shape, found));
        }
        let [first, second] = arrays;
        // If only the result differs and has the same sizes in another order, it is a transpose.
        let sorted = |shape: &Shape| {
            shape.array().map(|array| {
                let mut sizes: Vec<_> = array.dimensions().iter().map(|size| size.extent()).collect();
                sort(&mut sizes);
                sizes
            })
        };
        if let (Some((result, parameters)), Some((other, others))) =
            (self.shapes.split_last(), other.shapes.split_last())
            && parameters == others
            && sorted(result).is_some_and(|sizes| Some(sizes) == sorted(other))
        {
            return false;
        }
        first.len() == second.len() && first.into_iter().zip(second).all(|(one, other)| same(one, other))
    }

    /// The cause of a difference between two signatures. `same_computing` says whether the operations that compute have the same names in both
    /// programs; `same_operations`, whether all operations do.
    pub(crate) fn reason(&self, other: &Self, same_computing: bool, same_operations: bool) -> Reason {
        if !self.same_devices(other) {
            return Reason::Sharding;
        }
        if !self.same_arrays(other) {
            // After the partitioner, only the sizes on each device show a sharding. Operations are not compared, because a program with another
            // sharding also has other collectives.
            return if self.differs_in_division(other) { Reason::Sharding } else { Reason::Source };
        }
        if !same_computing {
            return Reason::Source;
        }
        if !self.same_layouts(other) {
            return Reason::Layout;
        }
        match (&self.aliases, &other.aliases) {
            (Some(aliases), Some(others)) if aliases != others => Reason::Donation,
            _ if !same_operations => Reason::Source,
            _ => Reason::Compiler,
        }
    }

    fn same_layouts(&self, other: &Self) -> bool {
        self.shapes == other.shapes
    }
}

/// The number of devices in the largest collective of a module: one more than the largest number in its groups.
fn devices_in_collectives(module: &Module) -> u64 {
    let devices = module.collectives().into_iter().filter_map(|found| {
        let groups = found.instruction.attribute("replica_groups").and_then(|value| value.replica_groups().ok());
        let groups = groups.and_then(|groups| groups.expand().ok().flatten());
        groups?.into_iter().flatten().max().map(|last| last as u64 + 1)
    });
    devices.max().unwrap_or(1)
}

/// Whether two texts are the same sharding: some versions of XLA write it with names of axes, others as tiles. After the partitioner, some do not
/// write it at all; then only the shapes of one partition can show a difference.
pub(crate) fn same_sharding(one: Option<&str>, other: Option<&str>) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return true };
    let meaning = |text: &str| text.parse::<Sharding>().ok();
    one == other || meaning(one).is_some_and(|one| Some(one) == meaning(other))
}

/// The names (`op_name`) of the user's operations in a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Operations {
    /// Operations that compute. The compiler keeps these for all layouts and shardings.
    pub(crate) computing: BTreeSet<String>,
    /// All operations. Those that only move data, such as transposes, depend on the layouts.
    pub(crate) all: BTreeSet<String>,
}

impl Operations {
    pub(crate) fn new<'m>(module: &'m Module, sources: &Sources<'m>) -> Self {
        let (mut computing, mut all, mut parameters) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let collectives = module.collectives();
        let collectives = collectives.iter().flat_map(xla_shape_hlo::Collective::instructions);
        let collectives = set_of(collectives.map(|found| found.number()));
        for instruction in module.instructions() {
            let Some(name) = sources.get(instruction).op_name else { continue };
            if instruction.opcode() == Opcode::Parameter {
                parameters.insert(name.into_owned());
                continue;
            }
            if computes(instruction.opcode()) && !collectives.contains(&instruction.number()) {
                computing.insert(name.clone().into_owned());
            }
            all.insert(name.into_owned());
        }
        // The copy of a parameter has the parameter's name as its `op_name`, which is not an operation.
        let is_operation = |name: &String| !parameters.contains(name);
        computing.retain(is_operation);
        all.retain(is_operation);
        Self { computing, all }
    }
}

/// Whether an opcode computes, instead of moving data or calling other instructions.
fn computes(opcode: Opcode<'_>) -> bool {
    use Opcode as O;
    let moves = matches!(
        opcode,
        O::Bitcast | O::Broadcast | O::Constant | O::Copy | O::CopyStart | O::Reshape | O::Slice | O::Transpose
    );
    let stands_for_others =
        matches!(opcode, O::Call | O::Fusion | O::GetTupleElement | O::Parameter | O::Tuple | O::While);
    let is_asynchronous = ["-start", "-update", "-done"].iter().any(|end| opcode.text().ends_with(end));
    !(moves || stands_for_others || is_asynchronous)
}

#[cfg(test)]
mod tests {
    use super::same_sharding;

    #[test]
    fn shardings_are_compared_by_meaning() {
        let same = |one: &str, other: &str| same_sharding(Some(one), Some(other));
        assert!(same("{replicated}", "{mesh['x'=1], [{}, {}]}"));
        assert!(same("{replicated}", "{mesh['x'=4], [{}, {}]}"));
        assert!(same("{devices=[4,1]<=[4]}", "{mesh['x'=4], [{'x'}, {}]}"));
        assert!(same("{devices=[2,1,2]<=[4] last_tile_dim_replicate}", "{mesh['x'=2,'y'=2], [{'x'}, {}]}"));
        assert!(!same("{devices=[4,1]<=[4]}", "{mesh['x'=4], [{}, {'x'}]}"));
        assert!(!same("{replicated}", "{mesh['x'=4], [{'x'}, {}]}"));
        assert!(!same("{devices=[4,1]<=[4]}", "{devices=[4,1]3,2,1,0}"));
        // Texts that are not understood are compared as texts.
        assert!(same("{new}", "{new}") && !same("{new}", "{newer}"));
        assert!(same_sharding(None, None) && same_sharding(None, Some("{devices=[4,1]<=[4]}")));
    }
}
