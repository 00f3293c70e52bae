//! Advice about modules that are compiled already: no compiler runs, so nothing is tried.

use super::candidates::candidates;
use super::search::{Found, rules, today_choice};
use super::{ArrayLayout, Cost, Measured, Options, Program, SharedArray, Today, Tuning, Write};
use crate::cost::{CopyCost, Place, ProgramCost};
use serde::Serialize;
use std::collections::HashMap;
use xla_shape_core::tpu::Generation;
use xla_shape_core::{Layout, Shape};
use xla_shape_hlo::Module;
use xla_shape_hlo::cost::{Change, CostError, Fixed};

/// A module that is compiled already: its figures, and the copies of its parameters and results.
#[derive(Clone, Debug)]
pub struct Compiled {
    measured: Measured,
    /// The copies that do more than change the memory space, each with the parameters and results that it copies.
    copies: Vec<(Vec<Place>, CopyCost)>,
}

impl Compiled {
    /// What an optimized module says about its copies.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    /// use xla_shape_render::cost::Place;
    /// use xla_shape_render::tune::Compiled;
    ///
    /// let module = Module::parse("HloModule m, is_scheduled=true\nENTRY main { ROOT a = f32[8,128]{1,0} parameter(0) }")?;
    /// let compiled = Compiled::new(&module)?;
    /// assert_eq!(compiled.measured().array(&Place::Parameter(0, vec![])), Some("f32[8,128]{1,0}".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Module::costs`].
    pub fn new(module: &Module<'_>) -> Result<Self, CostError> {
        let cost = ProgramCost::new(module)?;
        let costs = module.costs()?;
        let found = costs.copies();
        let copied = found.iter().filter(|copy| copy.change != Change::MemorySpace);
        let copied: HashMap<u32, Vec<Place>> = copied
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
        let measured = Measured::new(&cost, &inputs, &outputs, 0);
        let copies = cost.copies.into_iter().filter_map(|copy| Some((copied.get(&copy.number)?.clone(), copy)));
        Ok(Self { measured, copies: copies.collect() })
    }

    /// The figures of the module, for [`SharedArray::new`]. They have no bytes of HBM.
    #[must_use]
    pub const fn measured(&self) -> &Measured {
        &self.measured
    }
}

/// What compiled modules say about a shared array.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Advice {
    pub(super) array: String,
    pub(super) places: Vec<PlaceNow>,
    /// The layout in the device's tiles that takes the fewest bytes; null if the modules have no tiles.
    pub(super) smallest: Option<Smallest>,
    /// The layouts with which copies would not have to change the layout, the one of the most cycles first.
    pub(super) layouts: Vec<Wanted>,
    pub(super) copies: Vec<Copied>,
}

/// A place of an array, and its layout there.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PlaceNow {
    pub(super) program: String,
    pub(super) place: String,
    pub(super) layout: String,
    /// Padding included.
    pub(super) bytes: Option<u64>,
    pub(super) padding: Option<u64>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Smallest {
    #[serde(flatten)]
    pub(super) layout: ArrayLayout,
    pub(super) bytes: u64,
}

/// A layout with which copies would not have to change the layout. They go, unless their remedy says that a copy stays.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Wanted {
    #[serde(flatten)]
    pub(super) layout: ArrayLayout,
    /// How many copies would not have to change the layout.
    pub(super) copies: usize,
    /// The cycles that these copies take today, with the weights of their programs; null if one has no figure.
    pub(super) cycles: Option<u64>,
    /// The bytes of the array in this layout.
    pub(super) bytes: Option<u64>,
    pub(super) write: Option<Write>,
}

/// A copy of a shared array.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Copied {
    pub(super) program: String,
    pub(super) instruction: String,
    pub(super) from: String,
    pub(super) to: String,
    /// Of all runs.
    pub(super) cycles: Option<u64>,
    pub(super) cause: String,
    pub(super) remedy: Option<String>,
}

impl Tuning {
    /// Advice from modules that are compiled already, one for each program: the copies of shared arrays, the layouts that would make them
    /// unnecessary, and how much padding the layouts have. No compiler confirms it.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    /// use xla_shape_hlo::Module;
    /// use xla_shape_render::Answer;
    /// use xla_shape_render::cost::Place;
    /// use xla_shape_render::tune::{Compiled, Program, SharedArray, Tuning};
    ///
    /// let module = Module::parse("HloModule m, is_scheduled=true
    /// ENTRY main { a = f32[256,128]{1,0:T(8,128)} parameter(0)
    ///   ROOT b = f32[256,128]{0,1:T(8,128)} copy(a) }")?;
    /// let compiled = [Compiled::new(&module)?];
    /// let programs = [Program { name: "a".into(), weight: 1 }];
    /// let places = vec![(0, Place::Parameter(0, vec![]))];
    /// let arrays = [SharedArray::new("x", places, &programs, &[compiled[0].measured().clone()])?];
    /// let tuning = Tuning::advise(&arrays, &programs, Generation::V5e, &compiled);
    /// assert!(tuning.is_advice() && !tuning.has_best());
    /// assert!(tuning.text(200).to_string().contains("with {0,1:T(8,128)}, major to minor (1,0), 1 copy"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn advise(arrays: &[SharedArray], programs: &[Program], generation: Generation, compiled: &[Compiled]) -> Self {
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
        let own = Self::new(arrays, programs, &options, &found);
        // A module does not say how much HBM its program takes.
        let cost = Cost { bytes: None, programs: Vec::new(), ..own.today.cost };
        let advice = arrays.iter().map(|array| {
            let smallest = candidates(&array.array, generation, false).0.into_iter().next();
            let smallest = smallest.filter(|_| has_tiles(array));
            Advice {
                smallest: smallest.map(|one| Smallest { layout: ArrayLayout::new(&one.layout), bytes: one.bytes }),
                ..Advice::new(array, programs, generation, compiled)
            }
        });
        Self { today: Today { cost, ..own.today }, advice: Some(advice.collect()), ..own }
    }

    /// Whether this is advice that no compiler confirmed.
    #[must_use]
    pub const fn is_advice(&self) -> bool {
        self.advice.is_some()
    }
}

impl Advice {
    fn new(array: &SharedArray, programs: &[Program], generation: Generation, compiled: &[Compiled]) -> Self {
        let mut wanted: Vec<(Layout, usize, Option<u64>)> = Vec::new();
        let mut copies = Vec::new();
        for (number, (program, module)) in programs.iter().zip(compiled).enumerate() {
            let is_here =
                |place: &Place| array.places.iter().any(|(owner, other)| *owner == number && other.is_same(place));
            for (_, copy) in module.copies.iter().filter(|(places, _)| places.iter().any(is_here)) {
                if let Some((_, layout)) = copy.ask.as_ref().filter(|(place, _)| is_here(place)) {
                    let cycles = copy.total.and_then(|cycles| cycles.checked_mul(u64::from(program.weight)));
                    match wanted.iter_mut().find(|(other, ..)| other == layout) {
                        Some((_, copies, sum)) => {
                            *copies += 1;
                            *sum = sum.zip(cycles).and_then(|(sum, cycles)| sum.checked_add(cycles));
                        }
                        None => wanted.push((layout.clone(), 1, cycles)),
                    }
                }
                copies.push(Copied {
                    program: program.name.clone(),
                    instruction: copy.instruction.clone(),
                    from: copy.from.clone(),
                    to: copy.to.clone(),
                    cycles: copy.total,
                    cause: copy.cause.clone(),
                    remedy: copy.remedy.clone(),
                });
            }
        }
        wanted.sort_by_key(|(_, copies, cycles)| std::cmp::Reverse((*cycles, *copies)));
        let layouts = wanted.into_iter().map(|(layout, copies, cycles)| Wanted {
            write: Write::new(array, &layout, generation),
            bytes: super::candidates::bytes(&array.array, &layout),
            layout: ArrayLayout::new(&layout),
            copies,
            cycles,
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
        Self { array: array.name.clone(), places: places.collect(), smallest: None, layouts: layouts.collect(), copies }
    }
}
