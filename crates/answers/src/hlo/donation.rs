//! The memory that donating arguments would save.

use crate::cost::Remedy;
use crate::numbers::InUnits;
use crate::place::whole_argument;
use std::collections::{BTreeSet, HashMap};
use xla_shape_core::{ArrayShape, memory_space};
use xla_shape_hlo::{Alias, Module};

/// The most arguments that a note names.
const NAMED: usize = 4;

/// An array of an argument whose memory a result could take.
pub(super) struct Donatable {
    /// The number of the parameter's instruction.
    pub(super) instruction: u32,
    /// Which array of the parameter, from 0.
    pub(super) leaf: usize,
    /// The number of the parameter.
    parameter: usize,
    /// The user's name of it, such as `params['w']`.
    name: Option<String>,
    bytes: u64,
}

impl Donatable {
    pub(super) fn remedy(&self) -> Remedy {
        Remedy::Donate { parameter: self.parameter, name: self.name.clone() }
    }

    /// The argument in words: `params['w']` is a part of the argument `params`.
    fn argument(&self) -> String {
        let name = self.name.as_deref().map(whole_argument).filter(|name| !name.is_empty());
        name.map_or_else(|| format!("parameter {}", self.parameter), |name| format!("`{name}`"))
    }
}

/// The results that are in the memory of arguments (`input_output_alias`); none if the module lacks that attribute or it cannot be read.
pub(super) fn aliases(module: &Module) -> Vec<Alias> {
    module.attribute("input_output_alias").and_then(|value| value.aliases().ok()).unwrap_or_default()
}

/// The arrays of arguments that are not donated, and whose memory a result could take.
///
/// As in JAX, an argument can be donated to a result of the same shape. Here, the result must also have the same layout, so that nothing is copied.
pub(super) fn donatable(module: &Module) -> Vec<Donatable> {
    let Some(entry) = module.entry() else { return Vec::new() };
    let aliases = aliases(module);
    let sources = module.sources();
    let in_memory = |array: &ArrayShape| array.layout().memory_space() == memory_space::DEFAULT;
    // The arguments that are not donated, by shape; the first argument is last in each list, because `pop` takes it first.
    let mut free: HashMap<&ArrayShape, Vec<Donatable>> = HashMap::new();
    for (number, parameter) in entry.parameters_by_number().into_iter().rev() {
        let arrays = parameter.shape().get_leaf_shapes().filter_map(|(index, leaf)| Some((index, leaf.array()?)));
        for (leaf, (index, array)) in arrays.enumerate() {
            let is_donated =
                || aliases.iter().any(|alias| alias.parameter == number && alias.parameter_index == *index);
            if in_memory(array) && !is_donated() {
                let name = sources.get(parameter).op_name.map(std::borrow::Cow::into_owned);
                let bytes = array.byte_size().unwrap_or(0);
                let found = Donatable { instruction: parameter.number(), leaf, parameter: number, name, bytes };
                free.entry(array).or_default().push(found);
            }
        }
    }
    let results = entry.result().get_leaf_shapes();
    let results = results.filter(|(index, _)| aliases.iter().all(|alias| alias.result_index != **index));
    results.filter_map(|(_, leaf)| free.get_mut(leaf.array()?)?.pop()).collect()
}

/// The arguments whose memory results could take, and the bytes that this would save: a note for people. `None` if it saves nothing. No compiler has
/// checked the sum, so it is an upper bound.
pub(super) fn note(module: &Module) -> Option<String> {
    let (mut names, mut seen, mut bytes) = (Vec::new(), BTreeSet::new(), 0_u64);
    for found in donatable(module) {
        bytes = bytes.saturating_add(found.bytes);
        let name = found.argument();
        if seen.insert(name.clone()) {
            names.push(name);
        }
    }
    let left = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    let more = if left > 0 { format!(" and {left} more") } else { String::new() };
    (bytes > 0).then(|| {
        format!(
            "donating {}{more} would save up to {}: results of the same shapes could take their memory; in JAX `donate_argnums`",
            names.join(", "),
            InUnits(bytes)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::note;
    use xla_shape_hlo::Module;

    #[test]
    fn what_is_not_donated_could_be() {
        let of = |aliases: &str| {
            let text = format!(
                "HloModule m{aliases}\nENTRY e {{\n  a = f32[8,128]{{1,0}} parameter(0), metadata={{op_name=\"state['w']\"}}\n  \
                 b = f32[8,128]{{1,0}} parameter(1), metadata={{op_name=\"state['m']\"}}\n  c = f32[4]{{0}} parameter(2)\n  \
                 d = f32[8,128]{{0,1}} parameter(3)\n  x = f32[8,128]{{1,0}} add(a, b)\n  y = f32[8,128]{{1,0}} multiply(a, b)\n  \
                 z = f32[4]{{0}} negate(c)\n  w = f32[8,128]{{1,0}} copy(d)\n  \
                 ROOT t = (f32[8,128]{{1,0}}, f32[8,128]{{1,0}}, f32[4]{{0}}, f32[8,128]{{1,0}}) tuple(x, y, z, w)\n}}\n"
            );
            note(&Module::parse(&text).unwrap())
        };
        assert_eq!(
            of("").as_deref(),
            Some(
                "donating `state`, parameter 2 would save up to 8.02 KiB: results of the same shapes could take their memory; in JAX \
                 `donate_argnums`"
            )
        );
        let found = of(", input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }").unwrap();
        assert!(found.starts_with("donating parameter 2 would save up to 16 B: "), "{found}");
        let all = ", input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias), {2}: (2, {}, may-alias) }";
        assert_eq!(of(all), None);
    }
}
