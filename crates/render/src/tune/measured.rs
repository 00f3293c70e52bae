//! The compiler's figures for one program with some layouts.

use crate::cost::{Place, ProgramCost};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use xla_shape_core::{ArrayShape, Layout, Shape};

/// The compiler's figures for a program that was compiled with some layouts: its cost, and the layouts that it really has.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct Measured {
    /// `None` if the compiler does not say enough for a total.
    pub(super) cycles: Option<u64>,
    /// Bytes of HBM.
    pub(super) bytes: u64,
    /// The copies that change a layout, such as `f32[8]{0} -> f32[8]{0:T(128)}`, each with its number of occurrences.
    pub(super) copies: BTreeMap<String, usize>,
    /// The cycles of each opcode.
    pub(super) opcodes: BTreeMap<String, u64>,
    /// The number of loops whose trip count is not known, so that their bodies count once.
    pub(super) unknown_loops: usize,
    /// The compiler's version, in its own words; `None` if it is not known.
    pub(super) compiler: Option<String>,
    inputs: Vec<String>,
    outputs: Vec<String>,
    /// The layouts that would remove a copy.
    remedies: Vec<(Place, String)>,
}

impl Measured {
    /// What a compiled program costs, the shapes of its parameters and results, and the bytes of HBM that it takes.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    /// use xla_shape_render::cost::{Place, ProgramCost};
    /// use xla_shape_render::tune::Measured;
    ///
    /// let module = Module::parse("HloModule m\nENTRY main { ROOT a = f32[8,128]{1,0} parameter(0) }")?;
    /// let shapes = ["f32[8,128]{1,0}".parse()?];
    /// let measured = Measured::new(&ProgramCost::new(&module)?, &shapes, &shapes, 4096);
    /// assert_eq!(measured.array(&Place::Parameter(0, vec![])), Some("f32[8,128]{1,0}".parse()?));
    /// assert_eq!(measured.array(&Place::Parameter(1, vec![])), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn new(cost: &ProgramCost, inputs: &[Shape], outputs: &[Shape], bytes: u64) -> Self {
        let mut copies = BTreeMap::<String, usize>::new();
        for copy in cost.copies.iter().filter(|copy| copy.changes_layout()) {
            *copies.entry(format!("{} -> {}", copy.from, copy.to)).or_default() += 1;
        }
        let texts = |shapes: &[Shape]| shapes.iter().map(ToString::to_string).collect();
        Self {
            cycles: cost.cycles.total,
            bytes,
            copies,
            opcodes: cost.cycles_by_opcode(),
            unknown_loops: cost.unknown_loops(),
            compiler: None,
            inputs: texts(inputs),
            outputs: texts(outputs),
            remedies: cost.remedies().into_iter().map(|(place, layout)| (place, layout.to_string())).collect(),
        }
    }

    /// The same figures, with the version of the compiler that made them.
    ///
    /// ```
    /// # use xla_shape_hlo::Module;
    /// # use xla_shape_render::cost::ProgramCost;
    /// # use xla_shape_render::tune::Measured;
    /// # let module = Module::parse("HloModule m\nENTRY main { ROOT a = f32[8,128]{1,0} parameter(0) }")?;
    /// let measured = Measured::new(&ProgramCost::new(&module)?, &[], &[], 0);
    /// assert_ne!(measured.clone().with_compiler("libtpu 1"), measured);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_compiler(self, version: &str) -> Self {
        Self { compiler: Some(version.to_owned()), ..self }
    }

    /// The version of the compiler, in its own words; `None` if it is not known.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.compiler.as_deref()
    }

    /// The array that is a parameter or a result of the compiled program; `None` if there is none.
    #[must_use]
    pub fn array(&self, place: &Place) -> Option<ArrayShape> {
        let text = match place {
            Place::Parameter(number, index) if index.is_empty() => self.inputs.get(*number),
            Place::Result(index) if index.len() <= 1 => self.outputs.get(index.first().copied().unwrap_or(0)),
            _ => None,
        };
        text?.parse().ok()
    }

    /// The layouts that would remove a copy at one of these places.
    pub(super) fn remedies<'a>(&'a self, places: &'a [Place]) -> impl Iterator<Item = Layout> + 'a {
        let at = move |place: &Place| places.iter().any(|other| other.is_same(place));
        self.remedies.iter().filter(move |(place, _)| at(place)).filter_map(|(_, layout)| layout.parse().ok())
    }

    pub(super) fn num_copies(&self) -> usize {
        self.copies.values().sum()
    }
}

impl Place {
    /// Whether both are one parameter or result. A module with one result has no number for it.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Result(one), Self::Result(other)) if one.len().max(other.len()) <= 1 => {
                one.first().copied().unwrap_or(0) == other.first().copied().unwrap_or(0)
            }
            _ => self == other,
        }
    }
}
