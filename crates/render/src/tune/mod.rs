//! The words, text and page of an answer of `xla-shape-tune`: the best layouts of arrays that several programs share.

mod page;
#[cfg(test)]
mod tests;
mod text;

use crate::cost::ProgramCost;
pub use page::page;
use std::collections::HashMap;
use xla_shape_core::Shape;
use xla_shape_hlo::Module;
use xla_shape_hlo::cost::{Change, CostError, Fixed};
use xla_shape_tune::{Compiled, CompiledCopy, Measured, Place};

/// What an optimized module says about its copies, for advice without a compiler.
///
/// ```
/// use xla_shape_hlo::Module;
/// use xla_shape_tune::Place;
///
/// let module = Module::parse("HloModule m, is_scheduled=true\nENTRY main { ROOT a = f32[8,128]{1,0} parameter(0) }")?;
/// let compiled = xla_shape_render::tune::compiled(&module)?;
/// assert_eq!(compiled.measured.array(&Place::Parameter(0, vec![])), Some("f32[8,128]{1,0}".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`Module::costs`].
pub fn compiled(module: &Module) -> Result<Compiled, CostError> {
    let cost = ProgramCost::new(module)?;
    let costs = module.costs()?;
    let found = costs.copies();
    let copied = found.iter().filter(|copy| copy.change != Change::MemorySpace);
    let mut copied: HashMap<u32, Vec<Place>> = copied
        .map(|copy| {
            let from = match &copy.producer {
                Fixed::Parameter { number, index, .. } => Some(Place::Parameter(*number, index.clone())),
                _ => None,
            };
            let to = match &copy.consumer {
                Fixed::Result { index } => Some(Place::Result(index.clone())),
                _ => None,
            };
            (copy.cost.instruction.number(), from.into_iter().chain(to).collect())
        })
        .collect();
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    if let Some(entry) = module.entry() {
        for (number, parameter) in entry.parameters_by_number() {
            // Parameters after one that could not be read are not numbered by their position.
            if number != inputs.len() {
                break;
            }
            inputs.push(parameter.shape().clone());
        }
        let result = entry.root().shape();
        outputs = result.tuple_shapes().map_or_else(|| vec![result.clone()], <[Shape]>::to_vec);
    }
    let measured = Measured::new(cost.figures(0), &inputs, &outputs);
    let copies = cost.copies.into_iter().filter_map(|copy| {
        Some(CompiledCopy {
            places: copied.remove(&copy.number)?,
            instruction: copy.instruction,
            from: copy.from,
            to: copy.to,
            cycles: copy.total,
            cause: copy.cause,
            remedy: copy.remedy,
            ask: copy.ask,
        })
    });
    Ok(Compiled { measured, copies: copies.collect() })
}
