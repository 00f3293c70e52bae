//! Advice about modules that are compiled already: no compiler runs, so nothing is tried.

use super::answer::{answer, plain, write};
use super::candidates::{bytes, candidates};
use super::search::{Found, rules, today_choice};
use super::{Figures, Measured, Options, Place, Program, SharedArray};
use std::collections::HashMap;
use xla_shape_answers::cost::{Amount, Cause, ProgramCost, Remedy};
use xla_shape_answers::tune::{Advice, Copied, Cost, PlaceNow, Smallest, Today, Tuning, Wanted};
use xla_shape_core::tpu::Generation;
use xla_shape_core::{Layout, Shape};
use xla_shape_hlo::Module;
use xla_shape_hlo::cost::{CostError, Fixed};

/// A module that is compiled already: its figures, and the copies of its parameters and results.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Its figures, for [`SharedArray::new`]. The bytes of HBM in them are 0, because advice does not use that number.
    pub measured: Measured,
    /// The copies that do more than change the memory space.
    pub copies: Vec<CompiledCopy>,
}

impl Compiled {
    /// What an optimized module says about its copies, for advice without a compiler.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    /// use xla_shape_tune::{Compiled, Place};
    ///
    /// let module = Module::parse("HloModule m, is_scheduled=true\nENTRY main { ROOT a = f32[8,128]{1,0} parameter(0) }")?;
    /// let compiled = Compiled::new(&module)?;
    /// assert_eq!(compiled.measured.array(&Place::Parameter(0, vec![])), Some("f32[8,128]{1,0}".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Module::costs`].
    pub fn new(module: &Module) -> Result<Self, CostError> {
        let cost = ProgramCost::new(module)?;
        let costs = module.costs()?;
        let found = costs.copies();
        let copied = found.iter().filter(|copy| copy.change.is_copy());
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
                // The position in `inputs` is the number of the parameter. So if a parameter is missing, because it could not be read, the later ones
                // are left out.
                if number != inputs.len() {
                    break;
                }
                inputs.push(parameter.shape().clone());
            }
            let result = entry.root().shape();
            outputs = result.tuple_shapes().map_or_else(|| vec![result.clone()], <[Shape]>::to_vec);
        }
        let measured = Measured::new(Figures::new(&cost, 0), &inputs, &outputs);
        let copies = cost.copies.into_iter().filter_map(|copy| {
            Some(CompiledCopy {
                places: copied.remove(&copy.number)?,
                instruction: copy.instruction,
                from: copy.from,
                to: copy.to,
                cost: copy.total,
                cause: copy.cause,
                remedy: copy.remedy,
            })
        });
        Ok(Self { measured, copies: copies.collect() })
    }
}

/// A copy in a module that is compiled already.
#[derive(Clone, Debug)]
pub struct CompiledCopy {
    /// The parameters and results that it copies.
    pub places: Vec<Place>,
    /// The name of the instruction.
    pub instruction: String,
    /// The array before.
    pub from: String,
    /// The array after.
    pub to: String,
    /// What all runs cost.
    pub cost: Option<Amount>,
    /// Why it is there.
    pub cause: Cause,
    /// What would remove it.
    pub remedy: Option<Remedy>,
}

/// Advice from modules that are compiled already, one for each program: the copies of shared arrays, the layouts that would make them unnecessary,
/// and how much padding the layouts have. No compiler checks the advice.
///
/// ```
/// use xla_shape_answers::cost::{Amount, Cause, Remedy, Stays};
/// use xla_shape_core::tpu::Generation;
/// use xla_shape_tune::{Compiled, CompiledCopy, Figures, Measured, Place, Program, SharedArray, advise};
///
/// let place = Place::Parameter(0, vec![]);
/// let (from, to) = ("f32[256,128]{1,0:T(8,128)}", "f32[256,128]{0,1:T(8,128)}");
/// let copy = CompiledCopy {
///     places: vec![place.clone()], instruction: "copy.1".into(), from: from.into(), to: to.into(), cost: Some(Amount::Cycles(70)),
///     cause: Cause::Overwritten,
///     remedy: Some(Remedy::Ask { place: place.clone(), layout: "{0,1:T(8,128)}".parse()?, tiles: false, stays: Stays::Nothing, order: None }),
/// };
/// let compiled = [Compiled { measured: Measured::new(Figures::default(), &[from.parse()?], &[]), copies: vec![copy] }];
/// let programs = [Program { name: "a".into(), weight: 1 }];
/// let arrays = [SharedArray::new("x", vec![(0, place)], &programs, &[compiled[0].measured.clone()])?];
/// let tuning = advise(&arrays, &programs, Some(Generation::V5e), &compiled);
/// assert!(tuning.is_advice() && !tuning.has_best());
/// assert_eq!(tuning.advice.unwrap()[0].layouts[0].layout.layout, "{0,1:T(8,128)}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn advise(
    arrays: &[SharedArray],
    programs: &[Program],
    generation: Option<Generation>,
    compiled: &[Compiled],
) -> Tuning {
    let today: Vec<Measured> = compiled.iter().map(|one| one.measured.clone()).collect();
    let has_tiles = |array: &SharedArray| !array.array.layout().tiles().is_empty();
    let rules = |array: &SharedArray| {
        let (all, repeated) = candidates(&array.array, generation, false);
        if has_tiles(array) { rules(&all, repeated) } else { [0; 3] }
    };
    let preferred = |array: &SharedArray| {
        let of_program = |(program, measured): (usize, &Measured)| {
            let places = array.places.iter().filter(|(owner, _)| *owner == program);
            let places: Vec<Place> = places.map(|(_, place)| place.clone()).collect();
            let mut layouts: Vec<Layout> = Vec::new();
            for layout in measured.remedies(&places) {
                if !layouts.contains(&layout) {
                    layouts.push(layout);
                }
            }
            layouts
        };
        today.iter().enumerate().map(of_program).collect::<Vec<_>>()
    };
    let found = Found {
        today_choice: today_choice(arrays, &today),
        best: None,
        tried: Vec::new(),
        compiles: 0,
        rules: arrays.iter().map(rules).collect(),
        is_cut: false,
        is_ended: false,
        preferred: arrays.iter().map(preferred).collect(),
        auto_errors: Vec::new(),
        today,
    };
    let options = Options { generation, all: false, tilings: false, at_most_bytes: None, most: None };
    let own = answer(arrays, programs, &options, &found);
    // A module does not say how much HBM its program takes.
    let cost = Cost { bytes: None, programs: Vec::new(), ..own.today.cost };
    let advice = arrays.iter().map(|array| {
        let smallest = candidates(&array.array, generation, false).0.into_iter().next();
        let smallest = smallest.filter(|_| has_tiles(array));
        Advice {
            smallest: smallest.map(|one| Smallest { layout: plain(&one.layout), bytes: one.bytes }),
            ..about(array, programs, generation, compiled)
        }
    });
    Tuning { today: Today { cost, ..own.today }, advice: Some(advice.collect()), ..own }
}

/// What compiled modules say about an array. The caller adds the smallest layout.
fn about(array: &SharedArray, programs: &[Program], generation: Option<Generation>, compiled: &[Compiled]) -> Advice {
    let mut wanted: Vec<(Layout, usize, Option<Amount>)> = Vec::new();
    let mut copies = Vec::new();
    for (number, (program, module)) in programs.iter().zip(compiled).enumerate() {
        let is_here =
            |place: &Place| array.places.iter().any(|(owner, other)| *owner == number && other.is_same(place));
        for copy in module.copies.iter().filter(|copy| copy.places.iter().any(is_here)) {
            if let Some((_, layout)) = copy.remedy.as_ref().and_then(Remedy::asked).filter(|(place, _)| is_here(place))
            {
                let weighted = |cost: Amount| Some(cost.with_number(cost.number().checked_mul(program.weight.into())?));
                let cost = copy.cost.and_then(weighted);
                match wanted.iter_mut().find(|(other, ..)| other == layout) {
                    // If one figure is missing, the sum is unknown.
                    Some((_, copies, sum)) => {
                        *copies += 1;
                        let added = |(sum, cost): (Amount, Amount)| {
                            Some(sum.with_number(sum.number().checked_add(cost.number())?))
                        };
                        *sum = sum.zip(cost).and_then(added);
                    }
                    None => wanted.push((layout.clone(), 1, cost)),
                }
            }
            copies.push(Copied {
                program: program.name.clone(),
                instruction: copy.instruction.clone(),
                from: copy.from.clone(),
                to: copy.to.clone(),
                amount: copy.cost,
                cause: copy.cause.clone(),
                remedy: copy.remedy.clone(),
            });
        }
    }
    wanted.sort_by_key(|(_, copies, cost)| std::cmp::Reverse((*cost, *copies)));
    let layouts = wanted.into_iter().map(|(layout, copies, amount)| Wanted {
        write: write(array, &layout, generation),
        bytes: bytes(&array.array, &layout),
        layout: plain(&layout),
        copies,
        amount,
    });
    let places = array.places.iter().filter_map(|(number, place)| {
        let here = compiled.get(*number)?.measured.array(place)?;
        Some(PlaceNow {
            program: programs.get(*number)?.name.clone(),
            place: place.to_string(),
            layout: here.layout().to_string(),
            bytes: here.byte_size(),
            padding: here.padding_byte_size(),
        })
    });
    Advice { array: array.name.clone(), places: places.collect(), smallest: None, layouts: layouts.collect(), copies }
}
