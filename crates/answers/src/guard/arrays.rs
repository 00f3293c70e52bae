//! Arguments and results whose shape, layout or sharding differs from the record.

use super::check::{Side, Warning};
use super::record::Recorded;
use crate::hlo::{Signature, same_sharding};
use crate::place::{Place, argument};
use schemars::JsonSchema;
use serde::Serialize;
use xla_shape_core::shard::Sharding;
use xla_shape_core::{ArrayShape, Shape};

/// An argument or a result that the program does not keep as the record says. Data that were written for the program of the record may no longer fit.
///
/// ```
/// use xla_shape_answers::guard::{ArrayChange, ChangedArray, Check, Record, Recorded};
/// use xla_shape_hlo::Module;
///
/// let program = |layout: &str| {
///     Module::parse(&format!("HloModule m\nENTRY e {{ ROOT p = s8[64,256]{{{layout}}} parameter(0), metadata={{op_name=\"cache\"}} }}"))
/// };
/// let record = Record::new(vec![Recorded::new(&program("1,0:T(8,128)(4,1)")?, Some(16384), None, None)?]);
/// let now = Recorded::new(&program("1,0:T(32,128)(4,1)")?, Some(16384), None, None)?;
/// let check = Check::new(&record, &now, &[], false, "accept")?;
/// let cache: &ChangedArray = &check.arrays[0];
/// assert_eq!((cache.array.as_str(), cache.argument.as_deref()), ("argument `cache` (parameter 0)", Some("cache")));
/// assert_eq!((cache.change, cache.same_bytes), (ArrayChange::Layout, false));
/// assert!(check.passed && !check.keeping_layouts().passed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct ChangedArray {
    /// Which array, such as "argument `cache` (parameter 0)" or "result 1".
    pub array: String,
    /// The name of an argument in the user's program; if it has none, the number of its parameter, such as "parameter 0"; null for a result.
    pub argument: Option<String>,
    /// What changed.
    pub change: ArrayChange,
    /// The shape of the record, on one device, with its layout.
    pub before: String,
    /// The shape now.
    pub after: String,
    /// The sharding of the record; null if the module gives none.
    pub sharding_before: Option<String>,
    /// The sharding now; null if the module gives none. Shardings are compared if both modules have one.
    pub sharding: Option<String>,
    /// If the sharding differs, and both shardings belong to the same whole array: that array, with the padding of its parts if they divide it
    /// unevenly. `xla-shape reshard` says what moves between devices. Null if it is not known, and for any other change.
    pub whole: Option<String>,
    /// Whether every byte on every device is where it was, so that a file of the array can be used as it is.
    pub same_bytes: bool,
}

words! {
    /// What changed. If several things did, the first of these: sharding, array, memory_space, layout.
    pub enum ArrayChange {
        /// Another element type, or other sizes on one device.
        Array = "array",
        /// Another division among devices.
        Sharding = "sharding",
        /// Another memory, such as that of the host.
        MemorySpace = "memory_space",
        /// Another layout in the same memory.
        Layout = "layout",
    }
}

/// An array in one of the two programs.
struct Form<'a> {
    array: &'a ArrayShape,
    sharding: Option<String>,
}

impl Form<'_> {
    /// The whole array, if each device has a part of it.
    fn whole(&self) -> Option<String> {
        let sharding: Sharding = self.sharding.as_ref()?.parse().ok()?;
        let partition = sharding.partition(self.array).ok()?;
        let sizes = self.array.dimensions().iter().zip(partition.tiles());
        let sizes = sizes.map(|(size, tiles)| Some(size.extent()?.checked_mul(*tiles)?.to_string()));
        Some(format!("{}[{}]", self.array.element_type(), sizes.collect::<Option<Vec<_>>>()?.join(",")))
    }
}

impl ChangedArray {
    /// The arrays that differ between two programs, and warnings if arguments or results cannot be compared.
    pub(super) fn between(programs: [&Recorded; 2], signatures: [&Signature; 2]) -> (Vec<Self>, Vec<Warning>) {
        let (mut changed, mut warnings) = (Vec::new(), Vec::new());
        for side in [Side::Arguments, Side::Results] {
            let [before, now] = [0, 1].map(|number| forms(programs[number], signatures[number], side));
            if !before.iter().map(|(place, _)| place).eq(now.iter().map(|(place, _)| place)) {
                warnings.push(Warning::OtherArrays { side, before: before.len(), now: now.len() });
                continue;
            }
            let both = before.into_iter().zip(now);
            changed.extend(both.filter_map(|((_, before), (place, now))| Self::new(before, now, &place, programs[1])));
        }
        (changed, warnings)
    }

    /// The change of one array; `None` if it did not change.
    fn new(before: Form<'_>, now: Form<'_>, place: &Place, program: &Recorded) -> Option<Self> {
        let [old, new] = [before.array, now.array];
        let [old_layout, new_layout] = [old.layout(), new.layout()];
        // Another sharding often changes the sizes on one device as well, so it comes first.
        let change = if !same_sharding(before.sharding.as_deref(), now.sharding.as_deref()) {
            ArrayChange::Sharding
        } else if !old.same_dimensions(new) || !old.same_element_type(new) {
            ArrayChange::Array
        } else if old_layout.memory_space() != new_layout.memory_space() {
            ArrayChange::MemorySpace
        } else if old_layout != new_layout {
            ArrayChange::Layout
        } else {
            return None;
        };
        let stays = || old.layout_change_is_bitcast(new).is_ok_and(|answer| answer.is_yes());
        let same_bytes = matches!(change, ArrayChange::MemorySpace | ArrayChange::Layout)
            && old.byte_size() == new.byte_size()
            && stays();
        let is_moved = change == ArrayChange::Sharding && old.same_element_type(new);
        let whole = || before.whole().filter(|whole| now.whole().as_ref() == Some(whole));
        Some(Self {
            array: name(place, program),
            argument: argument_name(place, program),
            change,
            whole: is_moved.then(whole).flatten(),
            before: old.to_string(),
            after: new.to_string(),
            sharding_before: before.sharding,
            sharding: now.sharding,
            same_bytes,
        })
    }

    /// Whether data that were written for the record no longer fit. They still fit if the text of the layout differs, but every byte is where it was.
    #[must_use]
    pub fn needs_other_data(&self) -> bool {
        self.change != ArrayChange::Layout || !self.same_bytes
    }
}

/// The arrays of the arguments or of the results, each with its place.
fn forms<'a>(program: &'a Recorded, signature: &'a Signature, side: Side) -> Vec<(Place, Form<'a>)> {
    // The shapes are those of the parameters, and then that of the result.
    let (parameters, result) = signature.shapes.split_at(program.parameters.len().min(signature.shapes.len()));
    let mut all = Vec::new();
    match side {
        Side::Arguments => {
            for (number, shape) in parameters.iter().enumerate() {
                let sharding = program.shardings.get(number).and_then(Option::as_deref);
                all.extend(arrays(shape, sharding).map(|(index, form)| (Place::Parameter(number, index), form)));
            }
        }
        Side::Results => {
            let results = result.iter().flat_map(|shape| arrays(shape, program.result_sharding.as_deref()));
            all.extend(results.map(|(index, form)| (Place::Result(index), form)));
        }
    }
    all
}

/// The arrays of a shape, each with its index and its part of the sharding.
fn arrays<'a>(shape: &'a Shape, sharding: Option<&str>) -> impl Iterator<Item = (Vec<usize>, Form<'a>)> {
    let leaves: Vec<_> = shape.get_leaf_shapes().collect();
    let of_leaf = divided(sharding, leaves.len());
    leaves.into_iter().enumerate().filter_map(move |(number, (index, leaf))| {
        let sharding = of_leaf.get(number).cloned().flatten();
        Some((index.iter().copied().collect(), Form { array: leaf.array()?, sharding }))
    })
}

/// The sharding of each of `count` arrays; none if it is not known.
fn divided(sharding: Option<&str>, count: usize) -> Vec<Option<String>> {
    let Some(text) = sharding else { return Vec::new() };
    let read: Option<Sharding> = text.parse().ok();
    match read.as_ref().map(Sharding::leaves) {
        Some(leaves) if count != 1 && leaves.len() == count => {
            leaves.iter().map(|leaf| Some(leaf.to_string())).collect()
        }
        // One sharding applies to all arrays.
        Some([_]) => vec![Some(text.to_owned()); count],
        _ if count == 1 => vec![Some(text.to_owned())],
        _ => Vec::new(),
    }
}

/// The name of an argument in the user's program, or of its parameter; `None` for a result.
fn argument_name(place: &Place, program: &Recorded) -> Option<String> {
    let Place::Parameter(number, index) = place else { return None };
    let named = program.names.get(*number).cloned().flatten().filter(|name| index.is_empty() && !name.is_empty());
    Some(named.unwrap_or_else(|| place.to_string()))
}

/// An array in words.
fn name(place: &Place, program: &Recorded) -> String {
    match place {
        Place::Parameter(number, index) if index.is_empty() => {
            argument(*number, program.names.get(*number).and_then(Option::as_deref))
        }
        place => place.to_string(),
    }
}
