//! What Mosaic's operations say: the vectors, their layouts, and relayouts.

use super::Kernel;
use super::function::{is_main, plain, symbol};
use crate::operands::{Operand, Operands, is_relayout, last_types, layout_texts};
use crate::values::Instructions;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use xla_shape_core::sorting::set_of;
use xla_shape_core::tpu::vector::{Offset, RelayoutStep, VectorLayout};
use xla_shape_core::{ArrayShape, Dimension};
use xla_shape_mlir::{Module, Source};

/// A change of a vector's layout that the compiler inserted.
///
/// ```
/// use xla_shape_core::tpu::vector::RelayoutStep;
/// use xla_shape_mosaic::{Kernel, Texts};
///
/// let text = r#"%y = xir_tc.relayout %x {in_layout = [#xir_tc.vpad<"32,{3,0},(8,128)">],
///     out_layout = [#xir_tc.vpad<"32,{0,0},(8,128)">]} : vector<64x256xf32> -> vector<64x256xf32>"#;
/// let kernel = Kernel::read(Texts { relayout: Some(text), ..Texts::default() })?;
/// let relayout = &kernel.relayouts.unwrap()[0];
/// assert_eq!((relayout.from.as_str(), relayout.to.as_str()), ("32,{3,0},(8,128)", "32,{0,0},(8,128)"));
/// assert!(matches!(relayout.steps.as_deref(), Some([RelayoutStep::Rows { .. }])), "it moves all rows by 3");
/// assert_eq!((relayout.free, relayout.registers), (Some(false), Some([18, 16])));
/// # Ok::<(), xla_shape_mlir::MlirError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Relayout<'a> {
    /// The layout before, as the compiler wrote it.
    pub from: String,
    /// The layout after.
    pub to: String,
    /// The vector's element type and sizes, as an array without a layout.
    pub shape: String,
    /// The Python line that needs the relayout; `None` if the dump has no locations.
    pub source: Option<Source<'a>>,
    /// The steps of the relayout; empty if a vector in the first layout can be used in the second as it is. `None` if a layout or the vector was
    /// not understood.
    pub steps: Option<Vec<RelayoutStep>>,
    /// Whether it needs no instruction. The text of the compiler's next stage shows this, if the dump has it. Otherwise it follows from the
    /// layouts, or from an equal vector that has been changed to the same layout before. `None` if a layout or the vector was not understood.
    pub free: Option<bool>,
    /// How many instructions of each name it became in the compiler's next stage. `None` if the dump does not have that stage.
    pub instructions: Option<BTreeMap<&'a str, u64>>,
    /// The number of registers before and after.
    pub registers: Option<[u64; 2]>,
}

/// A vector that an operation computes.
///
/// ```
/// use xla_shape_mosaic::{Kernel, Texts};
///
/// let text = r#"%x = k.make {out_layout = [#xir_tc.vpad<"32,{0,0},(8,128)">]} : vector<64x256xf32>"#;
/// let kernel = Kernel::read(Texts { relayout: Some(text), ..Texts::default() })?;
/// let value = &kernel.values[0];
/// assert_eq!((value.operation, value.shape.as_str()), ("k.make", "f32[64,256]"));
/// assert_eq!(value.registers, Some(8 * 2), "one for 8 rows of 128");
/// # Ok::<(), xla_shape_mlir::MlirError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct VectorValue<'a> {
    /// The operation, such as `arith.addf`.
    pub operation: &'a str,
    /// Its element type and sizes, as an array without a layout.
    pub shape: String,
    /// The vector layout.
    pub layout: VectorLayout,
    /// The number of its registers; `None` if the vector cannot have this layout.
    pub registers: Option<u64>,
    /// The Python line.
    pub source: Option<Source<'a>>,
}

/// A load or store whose vector does not begin at the first row or column of a register.
///
/// ```
/// use xla_shape_mosaic::{Kernel, Texts};
///
/// let text = r#"%x = xir.vector_load %m {out_layout = [#xir_tc.vpad<"32,{3,0},(8,128)">]} : vector<64x256xf32>"#;
/// let kernel = Kernel::read(Texts { relayout: Some(text), ..Texts::default() })?;
/// let access = &kernel.unaligned[0];
/// assert_eq!((access.operation, access.shape.as_str()), ("xir.vector_load", "f32[64,256]"));
/// assert_eq!(access.layout.to_string(), "32,{3,0},(8,128)", "begins at the fourth row of a register");
/// # Ok::<(), xla_shape_mlir::MlirError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Access<'a> {
    /// The operation, such as `xir.vector_load`.
    pub operation: &'a str,
    /// The vector layout.
    pub layout: VectorLayout,
    /// The vector's element type and sizes, as an array without a layout.
    pub shape: String,
    /// The line.
    pub source: Option<Source<'a>>,
    /// How many of the kernel's relayouts move rows or columns, and begin or end at a layout with the offsets of this one.
    pub relayouts: u64,
}

/// The stage after which a text of Mosaic was written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// `infer-vector-layout`: each operation says in which layouts it needs its operands.
    Inferred,
    /// `relayout-insertion`: each operand has the layout that is needed.
    Relayout,
}

impl<'a> Kernel<'a> {
    pub(super) fn read_operations(
        &mut self,
        module: &Module<'a>,
        stage: Stage,
        mut became: Option<BTreeMap<usize, Instructions<'a>>>,
    ) {
        self.not_read("lines of Mosaic's text", module.unread().len() as u64);
        let has_main = module.operations().iter().any(is_main);
        let (mut operations, mut count, mut relayouts, mut accesses) = (0_usize, 0_usize, Vec::new(), Vec::new());
        let mut operands = Operands::default();
        for (number, operation) in module.operations().iter().enumerate() {
            match operation.name() {
                "module" | "builtin.module" => {
                    self.name = self.name.take().or_else(|| symbol(operation));
                }
                "func.func" if is_main(operation) || (!has_main && self.windows.is_empty()) => {
                    self.read_function(operation)
                }
                _ => {}
            }
            let results = operation.attribute("out_layout").map(|text| self.layouts(text));
            let source = module.source(operation);
            let vectors = || last_types(operation);
            if let Some(results) = &results {
                operations += 1;
                let vectors = vectors();
                // The types of the results are the last ones.
                let types = results.iter().rev().zip(vectors.iter().rev()).rev();
                let values = types.filter_map(|(layout, vector)| {
                    let layout = (*layout)?;
                    let registers = registers(&layout, vector);
                    Some(VectorValue { operation: operation.name(), shape: plain(vector), layout, registers, source })
                });
                let values = values.collect::<Vec<_>>();
                let registers = values.iter().filter_map(|value| value.registers).fold(0, u64::saturating_add);
                self.values.extend(values);
                if let Some(source) = source {
                    let line = self.lines.entry(source).or_default();
                    line.operations = line.operations.saturating_add(1);
                    line.registers = line.registers.saturating_add(registers);
                }
            }
            let used = operands.next(operation);
            self.not_read("operations whose operands are not clear", u64::from(used.is_none()));
            let used = used.unwrap_or_default();
            if is_relayout(operation) {
                let before = operation.attribute("in_layout").and_then(|text| layout_texts(text).next());
                let after = operation.attribute("out_layout").and_then(|text| layout_texts(text).next());
                let repeated = used.first().is_some_and(|operand| operand.repeated);
                let [before, after] = [before, after].map(Option::unwrap_or_default);
                let mut relayout = Relayout::new(before, after, vectors().last(), repeated, source);
                relayout.instructions = became.as_mut().and_then(|became| became.remove(&number));
                relayout.free = relayout.instructions.as_ref().map(BTreeMap::is_empty).or(relayout.free);
                self.add_relayout(relayout, &mut relayouts);
            } else {
                count += used.len();
                // The compiler inserts a relayout wherever the two layouts differ.
                for operand in used.iter().filter(|operand| stage == Stage::Inferred && operand.from != operand.to) {
                    let Operand { from, to, vector, repeated } = operand;
                    operations += 1;
                    self.add_relayout(Relayout::new(from, to, vector.as_ref(), *repeated, source), &mut relayouts);
                }
            }
            let (loads, stores) = (operation.name().ends_with("load"), operation.name().ends_with("store"));
            let layouts = if loads { results } else { operation.attribute("in_layout").map(|text| self.layouts(text)) };
            let layout = layouts.into_iter().flatten().next().flatten().filter(|_| loads || stores);
            if let (Some(layout), Some(vector)) = (layout, vectors().last())
                && layout.offsets().iter().any(|offset| !matches!(offset, Offset::Fixed(0) | Offset::Replicated))
            {
                let shape = plain(vector);
                accesses.push(Access { operation: operation.name(), layout, shape, source, relayouts: 0 });
            }
        }
        let mut with_offsets: BTreeMap<_, usize> = BTreeMap::new();
        for relayout in relayouts.iter().filter(|relayout| relayout.steps.iter().flatten().any(shifts)) {
            let layouts = [&relayout.from, &relayout.to].into_iter().filter_map(|text| text.parse().ok());
            for offsets in set_of(layouts.map(|layout| offsets(&layout))) {
                let times = with_offsets.entry(offsets).or_default();
                *times += 1;
            }
        }
        for access in &mut accesses {
            access.relayouts = with_offsets.get(&offsets(&access.layout)).copied().unwrap_or(0) as u64;
        }
        // The text of another stage or of another compiler has no layouts, so the counts are not known.
        if operations > 0 {
            (self.operations, self.operands) = (Some(operations as u64), Some(count as u64));
            self.relayouts = Some(relayouts);
        } else {
            self.not_read("texts without vector layouts", 1);
        }
        self.unaligned = accesses;
    }

    #[expect(clippy::arithmetic_side_effects, reason = "each relayout of a text counts once")]
    fn add_relayout(&mut self, relayout: Relayout<'a>, relayouts: &mut Vec<Relayout<'a>>) {
        if relayout.steps.is_none() {
            self.not_read("relayouts", 1);
        }
        if let Some(source) = relayout.source {
            let line = self.lines.entry(source).or_default();
            line.relayouts += 1;
            let moves = relayout.free == Some(false);
            line.moving += u64::from(moves);
        }
        relayouts.push(relayout);
    }

    /// The layouts in an attribute; scalars have none. Counts the layouts that were not understood.
    fn layouts(&mut self, text: &str) -> Vec<Option<VectorLayout>> {
        let texts = layout_texts(text);
        let layouts =
            texts.map(|text| if text == "none" { Ok(None) } else { text.parse().map(Some).map_err(|_| text) });
        let mut found = Vec::new();
        for layout in layouts {
            match layout {
                Ok(layout) => found.push(layout),
                Err(text) => {
                    self.not_read(&alloc::format!("the vector layout {text}"), 1);
                    found.push(None);
                }
            }
        }
        found
    }
}

impl<'a> Relayout<'a> {
    /// `repeated`: an equal vector has been changed to the same layout before.
    fn new(from: &str, to: &str, vector: Option<&ArrayShape>, repeated: bool, source: Option<Source<'a>>) -> Self {
        let (from, to) = (from.to_owned(), to.to_owned());
        let layouts = from.parse::<VectorLayout>().ok().zip(to.parse::<VectorLayout>().ok());
        let known = layouts.zip(vector).zip(vector.and_then(sizes));
        let steps = known.as_ref().and_then(|(((from, to), _), sizes)| from.relayout(to, sizes).ok());
        let free = known.as_ref().and_then(|(((from, to), _), sizes)| from.relayout_is_free(to, sizes).ok());
        let free = free.map(|free| free || repeated);
        let registers =
            known.and_then(|(((from, to), vector), _)| Some([registers(&from, vector)?, registers(&to, vector)?]));
        let shape = vector.map(plain).unwrap_or_default();
        Self { from, to, shape, source, steps, free, instructions: None, registers }
    }
}

fn sizes(vector: &ArrayShape) -> Option<Vec<u64>> {
    let size = |dimension: &Dimension| match dimension {
        Dimension::Static(size) => Some(*size),
        _ => None,
    };
    vector.dimensions().iter().map(size).collect()
}

fn registers(layout: &VectorLayout, vector: &ArrayShape) -> Option<u64> {
    layout.registers(&sizes(vector)?).ok()
}

/// Whether a step moves elements because of an offset.
const fn shifts(step: &RelayoutStep) -> bool {
    matches!(step, RelayoutStep::Rows { .. } | RelayoutStep::Columns { .. })
}

/// The offsets of a layout, to be compared and sorted; those of replicated dimensions are `None`.
fn offsets(layout: &VectorLayout) -> [Option<u64>; 2] {
    layout.offsets().map(|offset| match offset {
        Offset::Fixed(offset) => Some(offset),
        Offset::Replicated => None,
    })
}
