//! The compiler's figures for one program with some layouts.

use super::Place;
use crate::cache::Kept;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use xla_shape_answers::cost::{Amount, ProgramCost};
use xla_shape_core::{ArrayShape, Layout, Shape};

/// The compiler's figures for a program, as far as a search needs them.
///
/// ```
/// use xla_shape_answers::cost::Amount;
/// use xla_shape_tune::{Figures, Measured};
///
/// let figures = Figures { cost: Some(Amount::Cycles(900)), bytes: 4096, ..Figures::default() };
/// assert_ne!(Measured::new(figures, &[], &[]), Measured::new(Figures::default(), &[], &[]));
/// ```
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Figures {
    /// The total cost; `None` if the compiler does not say enough for a total.
    pub cost: Option<Amount>,
    /// Bytes of HBM.
    pub bytes: u64,
    /// The copies that change a layout: the array before, and after.
    pub copies: Vec<(String, String)>,
    /// What each opcode costs.
    pub opcodes: BTreeMap<String, Amount>,
    /// The number of loops whose trip count is not known. Their bodies are counted once.
    pub unknown_loops: usize,
    /// The layouts that would remove a copy, and where to ask for them.
    pub remedies: Vec<(Place, Layout)>,
}

impl Figures {
    /// The figures of a program, from its cost and the bytes of HBM that it takes.
    ///
    /// ```
    /// use xla_shape_answers::cost::{Amount, ProgramCost};
    /// use xla_shape_hlo::Module;
    /// use xla_shape_tune::Figures;
    ///
    /// let module = Module::parse("HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }")?;
    /// let figures = Figures::new(&ProgramCost::new(&module)?, 4096);
    /// assert_eq!((figures.bytes, figures.copies.len()), (4096, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn new(cost: &ProgramCost, bytes: u64) -> Self {
        let copies = cost.copies.iter().filter(|copy| copy.changes_layout());
        Self {
            cost: cost.sums.total,
            bytes,
            copies: copies.map(|copy| (copy.from.clone(), copy.to.clone())).collect(),
            opcodes: cost.by_opcode(),
            unknown_loops: cost.unknown_loops(),
            remedies: cost.remedies(),
        }
    }
}

/// The compiler's figures for a program that was compiled with some layouts: its cost, and the layouts that it really has.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct Measured {
    /// The total cost; `None` if the compiler does not say enough for a total.
    pub(crate) cost: Option<Amount>,
    /// Bytes of HBM.
    pub(crate) bytes: u64,
    /// The copies that change a layout, such as `f32[8]{0} -> f32[8]{0:T(128)}`, each with its number of occurrences.
    pub(crate) copies: BTreeMap<String, usize>,
    /// What each opcode costs.
    pub(crate) opcodes: BTreeMap<String, Amount>,
    /// The number of loops whose trip count is not known. Their bodies are counted once.
    pub(crate) unknown_loops: usize,
    /// The compiler's version, as it reports it; `None` if it is not known.
    pub(crate) compiler: Option<String>,
    inputs: Vec<String>,
    outputs: Vec<String>,
    /// The layouts that would remove a copy.
    remedies: Vec<(Place, String)>,
}

impl Kept for Measured {
    const FOLDER: &'static str = "tune-5";

    fn version(&self) -> Option<&str> {
        self.version()
    }
}

impl Measured {
    /// The figures of a compiled program, and the shapes of its parameters and results.
    ///
    /// ```
    /// use xla_shape_tune::{Figures, Measured, Place};
    ///
    /// let shapes = ["f32[8,128]{1,0}".parse()?];
    /// let measured = Measured::new(Figures::default(), &shapes, &shapes);
    /// assert_eq!(measured.array(&Place::Parameter(0, vec![])), Some("f32[8,128]{1,0}".parse()?));
    /// assert_eq!(measured.array(&Place::Parameter(1, vec![])), None);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn new(figures: Figures, inputs: &[Shape], outputs: &[Shape]) -> Self {
        let mut copies = BTreeMap::<String, usize>::new();
        for (from, to) in &figures.copies {
            *copies.entry(format!("{from} -> {to}")).or_default() += 1;
        }
        let texts = |shapes: &[Shape]| shapes.iter().map(ToString::to_string).collect();
        Self {
            cost: figures.cost,
            bytes: figures.bytes,
            copies,
            opcodes: figures.opcodes,
            unknown_loops: figures.unknown_loops,
            compiler: None,
            inputs: texts(inputs),
            outputs: texts(outputs),
            remedies: figures.remedies.into_iter().map(|(place, layout)| (place, layout.to_string())).collect(),
        }
    }

    /// The same figures, with the version of the compiler that made them.
    ///
    /// ```
    /// use xla_shape_tune::{Figures, Measured};
    ///
    /// let measured = Measured::new(Figures::default(), &[], &[]);
    /// assert_ne!(measured.clone().with_compiler("libtpu 1"), measured);
    /// ```
    #[must_use]
    pub fn with_compiler(self, version: &str) -> Self {
        Self { compiler: Some(version.to_owned()), ..self }
    }

    /// The compiler's version, as it reports it; `None` if it is not known.
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
    pub(crate) fn remedies<'a>(&'a self, places: &'a [Place]) -> impl Iterator<Item = Layout> + 'a {
        let at = move |place: &Place| places.iter().any(|other| other.is_same(place));
        self.remedies.iter().filter(move |(place, _)| at(place)).filter_map(|(_, layout)| layout.parse().ok())
    }

    pub(crate) fn num_copies(&self) -> usize {
        self.copies.values().sum()
    }
}
