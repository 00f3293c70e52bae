//! Arguments and results that a program keeps in another form than its record says.

use super::record::Recorded;
use crate::hlo::{Signature, same_sharding};
use crate::place::{Place, argument};
use schemars::JsonSchema;
use serde::Serialize;
use xla_shape_core::{ArrayShape, Shape};

/// An argument or a result whose layout, memory space or sharding is not the one of the record: what was written for the program of the
/// record is not what the program expects now.
///
/// ```
/// use xla_shape_answers::guard::{ChangedArray, Check, Record, Recorded};
/// use xla_shape_hlo::Module;
///
/// let program = |layout: &str| {
///     Module::parse(&format!("HloModule m\nENTRY e {{ ROOT p = s8[64,256]{{{layout}}} parameter(0), metadata={{op_name=\"cache\"}} }}"))
/// };
/// let record = Record::new(vec![Recorded::new(&program("1,0:T(8,128)(4,1)")?, Some(16384), None, None)?]);
/// let now = Recorded::new(&program("1,0:T(32,128)(4,1)")?, Some(16384), None, None)?;
/// let check = Check::new(&record, &now, &[], false, "accept")?;
/// let cache: &ChangedArray = &check.arrays[0];
/// assert_eq!((cache.array.as_str(), cache.same_bytes), ("argument `cache` (parameter 0)", false));
/// assert!(check.passed && !check.keeping_arrays().passed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct ChangedArray {
    /// Which array, such as "argument `cache` (parameter 0)" or "result 1".
    pub array: String,
    /// The shape of the record, on one device, with its layout.
    pub before: String,
    /// The shape now.
    pub after: String,
    /// The sharding of the record; null if the module says none.
    pub sharding_before: Option<String>,
    /// The sharding now; null if the module says none.
    pub sharding: Option<String>,
    /// Whether every byte on every device is where it was: only the memory space or the way to write the layout differs.
    pub same_bytes: bool,
    #[serde(skip)]
    is_resharded: bool,
}

/// What one of the two programs says of an array.
#[derive(Clone, Copy)]
struct Side<'a> {
    array: &'a ArrayShape,
    sharding: Option<&'a str>,
}

impl ChangedArray {
    /// Whether the array is divided among devices in another way.
    #[must_use]
    pub const fn is_resharded(&self) -> bool {
        self.is_resharded
    }

    /// The arrays of two programs that are kept in another form. None if the programs have other numbers of arguments or results: then no
    /// argument is known to be one of the record.
    pub(super) fn between(programs: [&Recorded; 2], signatures: [&Signature; 2]) -> Vec<Self> {
        let [before, now] = programs;
        let [first, second] = signatures.map(|signature| &signature.shapes);
        if before.parameters.len() != now.parameters.len() || first.len() != second.len() {
            return Vec::new();
        }
        let mut changed = Vec::new();
        for (number, shapes) in first.iter().zip(second).enumerate() {
            let is_parameter = number < now.parameters.len();
            let sharding = |program: &'_ Recorded| match is_parameter {
                true => program.shardings.get(number).cloned().flatten(),
                false => program.result_sharding.clone(),
            };
            let shardings = programs.map(sharding);
            let name = |index: Vec<usize>| match is_parameter {
                true if index.is_empty() => argument(number, now.names.get(number).and_then(Option::as_deref)),
                true => Place::Parameter(number, index).to_string(),
                false => Place::Result(index).to_string(),
            };
            for ((index, before), (_, now)) in leaves(shapes.0).zip(leaves(shapes.1)) {
                let [before, now] = [(before, &shardings[0]), (now, &shardings[1])]
                    .map(|(array, sharding)| Side { array, sharding: sharding.as_deref() });
                if let Some(found) = Self::new(before, now, || name(index)) {
                    changed.push(found);
                }
            }
        }
        changed
    }

    /// `None` if the array is kept as it was, or if it is another array.
    fn new(before: Side<'_>, now: Side<'_>, name: impl FnOnce() -> String) -> Option<Self> {
        let is_resharded = !same_sharding(before.sharding, now.sharding);
        let is_same_array = before.array.same_dimensions(now.array) && before.array.same_element_type(now.array);
        if !is_resharded && (!is_same_array || before.array.layout() == now.array.layout()) {
            return None;
        }
        let stays = || before.array.layout_change_is_bitcast(now.array).is_ok_and(|answer| answer.is_yes());
        let same_bytes = !is_resharded && is_same_array && before.array.byte_size() == now.array.byte_size() && stays();
        Some(Self {
            array: name(),
            before: before.array.to_string(),
            after: now.array.to_string(),
            sharding_before: before.sharding.map(str::to_owned),
            sharding: now.sharding.map(str::to_owned),
            same_bytes,
            is_resharded,
        })
    }
}

/// The arrays of a shape, each with its place.
fn leaves(shape: &Shape) -> impl Iterator<Item = (Vec<usize>, &ArrayShape)> {
    let leaves = shape.get_leaf_shapes();
    leaves.filter_map(|(index, leaf)| Some((index.iter().copied().collect(), leaf.array()?)))
}
