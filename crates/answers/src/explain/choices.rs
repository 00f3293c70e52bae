//! The layouts that TPUs choose for a shape by default.

use crate::{DEFAULT_GENERATION, Given};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use xla_shape_core::sorting::sort_by_key;
use xla_shape_core::tpu::Generation;
use xla_shape_core::{ArrayShape, ShapeIndex};

/// Generations that choose the same layout, and that layout.
///
/// ```
/// use xla_shape_answers::{Given, explain::Explanation};
/// use xla_shape_core::tpu::Generation;
///
/// let stored = Explanation::new("f32[8,64]".parse::<Given>()?).for_tpus(&[Generation::V6e]).stored();
/// assert_eq!((stored[0].bytes, stored[0].expansion), (Some(4096), Some(2.0)));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SharedChoice {
    /// Their names, such as "v5e".
    #[serde(serialize_with = "names")]
    #[schemars(with = "Vec<String>")]
    pub generations: Vec<Generation>,
    /// The shape with the chosen layout.
    pub shape: String,
    /// The bytes of the array in that layout; null if they do not fit in 64 bits.
    pub bytes: Option<u64>,
    /// The bytes of the array divided by the bytes of its elements alone; `None` if it has no elements, or if the bytes do not fit in 64 bits.
    #[serde(skip)]
    pub expansion: Option<f64>,
}

fn names<S: Serializer>(generations: &[Generation], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(generations.iter().map(|generation| generation.name()))
}

/// The layouts that these generations choose for an array; if no generation is named, the layouts that all generations choose.
pub(super) fn choices_by_generation(array: &ArrayShape, named: &[Generation]) -> Vec<SharedChoice> {
    let mut all = Vec::<SharedChoice>::new();
    for &generation in if named.is_empty() { Generation::ALL } else { named } {
        let Ok(array) = array.clone().with_tpu_layout(generation) else { continue };
        let shape = array.to_string();
        match all.iter_mut().find(|choice| choice.shape == shape) {
            Some(choice) if choice.generations.contains(&generation) => {}
            Some(choice) => choice.generations.push(generation),
            None => all.push(SharedChoice {
                generations: vec![generation],
                shape,
                bytes: array.byte_size(),
                expansion: array.expansion().filter(|expansion| expansion.is_finite()),
            }),
        }
    }
    if named.is_empty() {
        // Put the default generation first.
        sort_by_key(&mut all, |choice| !choice.generations.contains(&DEFAULT_GENERATION));
    }
    all
}

/// See [`Explanation::choices`](super::Explanation::choices).
pub(super) fn choices_by_leaf(given: &Given, named: &[Generation]) -> Vec<(ShapeIndex, Vec<SharedChoice>)> {
    let leaves = given.shape().get_leaf_shapes().zip(given.layouts());
    let asked = leaves.filter(|(_, has_layout)| !has_layout || !named.is_empty());
    let choices = asked.filter_map(|((index, leaf), _)| Some((index, choices_by_generation(leaf.array()?, named))));
    choices.filter(|(_, choices)| !choices.is_empty()).collect()
}

/// See [`Explanation::stored`](super::Explanation::stored).
pub(super) fn stored(given: &Given, named: &[Generation]) -> Vec<SharedChoice> {
    let asked = given.array().filter(|array| !array.has_layout || !named.is_empty());
    let Some(array) = asked else { return Vec::new() };
    choices_by_generation(&array.array, if named.is_empty() { &[DEFAULT_GENERATION] } else { named })
}
