//! The signature of a program: parameters, result, shardings, and numbers of devices.

use super::causes::Reason;
use super::devices::device_count;
use super::show::push_arrays;
use std::borrow::Cow;
use std::collections::BTreeSet;
use xla_shape_core::compare::ShapeEqual;
use xla_shape_core::shard::{Sharding, ShardingKind, Subgroup};
use xla_shape_core::sorting::{map_of, set_of, sort};
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
    /// The names of the parameters in the user's program, where they are known.
    pub(crate) names: Vec<Option<String>>,
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
        let sources = module.sources();
        let names = parameters.iter().map(|(_, parameter)| sources.get(*parameter).op_name.map(Cow::into_owned));
        Self {
            names: names.collect(),
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
        let mut common = self.common_arguments(other).into_iter();
        let is_same = |[number, other_number]: [usize; 2]| {
            let [(one, shape), (other, other_shape)] = [self.argument(number), other.argument(other_number)];
            same_sharding(one, other) || !may_be_same_argument([shape, other_shape], [one, other])
        };
        self.devices == other.devices
            && ((self.is_for_one_device() && other.is_for_one_device()) || common.all(is_same))
    }

    /// Whether the program runs on one device, where a sharding divides nothing. A sharding for more devices shows that the numbers of devices are
    /// missing.
    fn is_for_one_device(&self) -> bool {
        let devices = |text: &String| text.parse::<Sharding>().ok().and_then(|sharding| devices_of(&sharding));
        self.devices.iter().all(|count| count == "1")
            && self.in_collectives == 1
            && self.shardings.iter().flatten().all(|text| devices(text) == Some(1))
    }

    /// The sharding and the shape of a parameter.
    fn argument(&self, number: usize) -> (Option<&str>, Option<&Shape>) {
        (self.shardings.get(number).and_then(Option::as_deref), self.shapes.get(number))
    }

    /// The numbers of the arguments that both programs have. If one program has more, only names can show which these are.
    fn common_arguments(&self, other: &Self) -> Vec<[usize; 2]> {
        if self.shardings.len() == other.shardings.len() {
            return (0..self.shardings.len()).map(|number| [number, number]).collect();
        }
        let named = |of: &Self| {
            let named = of.names.iter().enumerate().filter_map(|(number, name)| Some((name.clone()?, number)));
            map_of(named.filter(|(name, _)| !name.is_empty() && !says_place(name)))
        };
        let others = named(other);
        named(self).into_iter().filter_map(|(name, number)| Some([number, *others.get(&name)?])).collect()
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

/// Whether a name has the number of an argument, such as `a[0]`: with one argument more, the name may be another argument's.
fn says_place(name: &str) -> bool {
    name.split('[').skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Whether two texts are the same sharding: some versions of XLA write it with names of axes, others as tiles. After the partitioner, some do not
/// write it at all; then only the shapes of one partition can show a difference. All shardings are the same if they divide nothing, whatever the
/// number of dimensions.
pub(crate) fn same_sharding(one: Option<&str>, other: Option<&str>) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return true };
    let meaning = |text: &str| text.parse::<Sharding>().ok().map(|sharding| normal(&sharding));
    one == other || meaning(one).is_some_and(|one| Some(one) == meaning(other))
}

/// The number of devices that a sharding names; `None` if it does not say it.
fn devices_of(sharding: &Sharding) -> Option<u64> {
    match sharding.kind() {
        ShardingKind::Named(named) => Some(named.mesh().devices().count()),
        ShardingKind::Tiled(tiled) => Some(tiled.assignment().devices().count()),
        ShardingKind::Replicated | ShardingKind::Maximal { .. } | ShardingKind::SingleDevice { .. } => Some(1),
        ShardingKind::Tuple(leaves) => leaves.iter().map(devices_of).try_fold(1, |most, count| Some(count?.max(most))),
        _ => None,
    }
}

/// The sharding, as `{replicated}` if every device has the whole array.
fn normal(sharding: &Sharding) -> Sharding {
    if let ShardingKind::Tuple(leaves) = sharding.kind() {
        let leaves: Vec<_> = leaves.iter().map(normal).collect();
        if leaves.iter().all(|leaf| *leaf == Sharding::REPLICATED) {
            return Sharding::REPLICATED;
        }
        return Sharding::tuple(leaves).unwrap_or_else(|_| sharding.clone());
    }
    let is_whole = sharding.to_tiled().is_ok_and(|tiled| match tiled.kind() {
        ShardingKind::Replicated => true,
        ShardingKind::Tiled(tiled) => {
            tiled.tiles().iter().all(|tiles| *tiles == 1)
                && (tiled.assignment().devices().count() == 1
                    || tiled.subgroups().iter().all(|subgroup| *subgroup == Subgroup::Replicated))
        }
        _ => false,
    });
    if is_whole { Sharding::REPLICATED.with_shard_group(sharding.shard_group()) } else { sharding.clone() }
}

/// Whether two shapes can be of one argument: the arrays have the same sizes if either is whole, or if it is a part according to its sharding.
fn may_be_same_argument(shapes: [Option<&Shape>; 2], shardings: [Option<&str>; 2]) -> bool {
    let [Some(one), Some(other)] = shapes else { return false };
    let mut arrays = [Vec::new(), Vec::new()];
    push_arrays(one, &mut arrays[0]);
    push_arrays(other, &mut arrays[1]);
    let [first, second] = &arrays;
    let read = shardings.map(|text| text.and_then(|text| text.parse::<Sharding>().ok()));
    let tiles = |side: usize, leaf: usize, array: &ArrayShape| {
        let sharding = read[side].as_ref()?;
        let sharding = match sharding.kind() {
            ShardingKind::Tuple(leaves) => leaves.get(leaf)?,
            _ => sharding,
        };
        Some(sharding.partition(array).ok()?.tiles().to_vec())
    };
    first.len() == second.len()
        && first.iter().zip(second).enumerate().all(|(leaf, (one, other))| {
            let (sizes, others) = (one.dimensions(), other.dimensions());
            // A sharding that does not say into how many parts the array is divided leaves it open what the sizes are.
            let both = tiles(0, leaf, one).zip(tiles(1, leaf, other));
            let is_same_size = |dimension: usize| {
                let size = |of: &[xla_shape_core::Dimension]| of.get(dimension).and_then(|size| size.extent());
                let (Some(size), Some(other)) = (size(sizes), size(others)) else { return true };
                let Some((tiles, other_tiles)) = &both else { return true };
                let tiles = [tiles, other_tiles].map(|tiles| tiles.get(dimension).copied().unwrap_or(1));
                size == other || may_be_same_size([size, other], tiles)
            };
            one.same_element_type(other) && sizes.len() == others.len() && (0..sizes.len()).all(is_same_size)
        })
}

/// Whether parts with these sizes can be of arrays with the same size. The size of a part is rounded up.
fn may_be_same_size(sizes: [u64; 2], tiles: [u64; 2]) -> bool {
    let least = |side: usize| sizes[side].saturating_sub(1).saturating_mul(tiles[side]);
    let most = |side: usize| sizes[side].saturating_mul(tiles[side]);
    least(0) < most(1) && least(1) < most(0)
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
    use super::{Signature, same_sharding};
    use xla_shape_hlo::Module;

    /// Whether two programs divide the arguments in the same way. Each argument is a shape, a sharding and a name.
    fn same_devices(head: &str, before: &[[&str; 3]], after: &[[&str; 3]]) -> bool {
        let [before, after] = [before, after].map(|arguments| {
            let line = |(number, [shape, sharding, name]): (usize, &[&str; 3])| {
                format!("  p{number} = {shape} parameter({number}), sharding={{{sharding}}}, metadata={{op_name=\"{name}\"}}\n")
            };
            let lines: String = arguments.iter().enumerate().map(line).collect();
            Signature::new(&Module::parse(&format!("HloModule m{head}\nENTRY e {{\n{lines}  ROOT c = f32[] constant(0)\n}}")).unwrap())
        });
        assert_eq!(before.same_devices(&after), after.same_devices(&before));
        before.same_devices(&after)
    }

    #[test]
    fn only_arguments_that_both_programs_have_can_have_another_sharding() {
        let one = |shape, name| [shape, "mesh['x'=1,'y'=1], [{}, {}]", name];
        let bias = ["f32[8]{0}", "mesh['x'=1,'y'=1], [{}]", "b"];
        let (x, w) = (one("f32[8,16]{1,0}", "x"), one("f32[16,8]{1,0}", "w"));
        assert!(same_devices("", &[x, w], &[x, w, bias]));
        assert!(same_devices("", &[x, w], &[bias, one("s8[4,4]{1,0}", "z")]), "other arguments");
        assert!(same_devices("", &[x, w], &[["f32[8,16]{1,0}", "maximal device=0", "x"], w]), "there is one device");
        let four = ", num_partitions=4";
        let whole = |shape, name| [shape, "mesh['x'=4], [{}, {}]", name];
        let rows = |shape, name| [shape, "devices=[4,1]<=[4]", name];
        let columns = |shape, name| [shape, "mesh['x'=4], [{}, {'x'}]", name];
        let changed = |before: &[[&str; 3]], after: &[[&str; 3]]| !same_devices(four, before, after);
        // The sizes are those of the whole array before the partitioner, and those of a part after it.
        assert!(changed(&[rows("f32[8,16]{1,0}", "x")], &[columns("f32[8,16]{1,0}", "y")]));
        assert!(changed(&[rows("f32[2,16]{1,0}", "x")], &[columns("f32[8,4]{1,0}", "x")]));
        assert!(changed(&[rows("f32[3,16]{1,0}", "x")], &[whole("f32[10,16]{1,0}", "x")]), "parts of 10 rows have 3");
        // One argument more: names show which arguments are in both programs.
        assert!(changed(&[rows("f32[8,16]{1,0}", "x")], &[whole("f32[8,16]{1,0}", "b"), whole("f32[8,16]{1,0}", "x")]));
        assert!(!changed(&[rows("f32[8,16]{1,0}", "x")], &[whole("f32[8,16]{1,0}", "b"), rows("f32[8,16]{1,0}", "x")]));
        let places = [whole("f32[8,16]{1,0}", "a[0]"), rows("f32[8,16]{1,0}", "a[1]")];
        assert!(!changed(&[rows("f32[8,16]{1,0}", "a[0]")], &places), "these names are only places");
        // Other arguments are no other shardings.
        assert!(!changed(&[rows("f32[8,16]{1,0}", "x")], &[whole("bf16[8,16]{1,0}", "x")]));
        assert!(!changed(&[rows("f32[8,16]{1,0}", "x")], &[whole("f32[50,16]{1,0}", "x")]));
    }

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
        // Nothing is divided, whatever the number of dimensions and the notation.
        assert!(same("{mesh['x'=1,'y'=1], [{}, {}]}", "{mesh['x'=1,'y'=1], [{}]}"));
        assert!(same("{replicated}", "{devices=[1,1]<=[1]}"));
        assert!(same("{mesh['x'=1], [{'x'}, {}]}", "{devices=[1,1]<=[1]}"));
        assert!(same("{{replicated}, {mesh['x'=4], [{}]}}", "{replicated}"));
        assert!(!same("{maximal device=1}", "{replicated}"), "the other devices do not have the array");
        // Texts that are not understood are compared as texts.
        assert!(same("{new}", "{new}") && !same("{new}", "{newer}"));
        assert!(same_sharding(None, None) && same_sharding(None, Some("{devices=[4,1]<=[4]}")));
    }
}
