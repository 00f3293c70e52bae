//! The bundles of a kernel and the vectors of its lines, as texts that a page lists.

use std::collections::BTreeMap;
use xla_shape_core::sorting::map_of;
use xla_shape_mosaic::{Kernel, Slot};

/// At most this many bundles, and vectors of a line, are kept: a page lists no more.
const MOST_BUNDLES: usize = 2000;
const MOST_VECTORS: usize = 40;

/// A final bundle.
///
/// ```
/// use xla_shape_answers::kernel::Kernels;
/// use xla_shape_mosaic::kernels;
///
/// let bundles = "0 : { %v1_v0 = vadd.f32 %v0_v0, 1.0 /* loc(\"k.py\":4:1 to :9) */ } /* exit bundle: %k = custom-call(%x) */\n";
/// let mut answer = Kernels::default();
/// answer.add(None, None, &kernels(&[("llo.k.final_bundles.txt", bundles)]));
/// let slot = &answer.kernels[0].listing[0].slots[0];
/// assert_eq!((slot.text.as_str(), slot.line), ("%v1_v0 = vadd.f32 %v0_v0, 1.0", Some(0)));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BundleText {
    /// Its number.
    pub address: u64,
    /// The label before it; empty if there is none.
    pub label: String,
    /// The number of loops around it.
    pub depth: usize,
    /// Its slots.
    pub slots: Vec<SlotText>,
}

/// A slot of a bundle.
///
/// ```
/// use xla_shape_answers::kernel::Kernels;
/// use xla_shape_mosaic::kernels;
///
/// let text = "0 : { %v1_v0 = vadd.f32 %v0_v0, 1.0 /* loc(\"k.py\":4:1 to :9) */ } /* exit bundle: %k = custom-call(%x) */\n";
/// let mut answer = Kernels::default();
/// answer.add(None, None, &kernels(&[("llo.k.final_bundles.txt", text)]));
/// assert_eq!(answer.kernels[0].listing[0].slots[0].line, Some(0));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SlotText {
    /// The instruction, without comments.
    pub text: String,
    /// The number of its line among those of the kernel.
    pub line: Option<usize>,
}

/// A vector that a line computes.
///
/// ```
/// use xla_shape_answers::kernel::Kernels;
/// use xla_shape_mosaic::kernels;
///
/// let text = r#"%x = k.make {out_layout = [#xir_tc.vpad<"32,{0,0},(8,128)">]} : vector<64x256xf32> loc("k.py":4:1)"#;
/// let mut answer = Kernels::default();
/// answer.add(None, None, &kernels(&[("mosaic.k.post-relayout-insertion.txt", text)]));
/// assert_eq!(answer.kernels[0].vectors["k.py:4"][0].registers, Some(16));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VectorText {
    /// The operation that computes it.
    pub operation: String,
    /// The vector.
    pub shape: String,
    /// Its vector layout.
    pub layout: String,
    /// Its registers, if they are known.
    pub registers: Option<u64>,
}

/// The first bundles of a kernel.
pub(super) fn bundles(kernel: &Kernel<'_>) -> Vec<BundleText> {
    let numbers = kernel.lines.keys().enumerate().map(|(number, source)| (*source, number));
    let numbers = map_of(numbers);
    let bundles = kernel.scheduled.iter().flat_map(|bundles| bundles.bundles()).take(MOST_BUNDLES);
    let bundles = bundles.map(|bundle| {
        let slots = bundle.slots().iter().filter(|slot| !slot.is_pseudo());
        let slots = slots.map(|slot| SlotText {
            text: slot_text(slot),
            line: slot.source().and_then(|source| numbers.get(&source).copied()),
        });
        BundleText {
            address: bundle.address(),
            label: bundle.label().unwrap_or_default().to_owned(),
            depth: bundle.depth(),
            slots: slots.collect(),
        }
    });
    bundles.collect()
}

/// The first vectors that each line computes.
pub(super) fn vectors(kernel: &Kernel<'_>) -> BTreeMap<String, Vec<VectorText>> {
    let mut vectors: BTreeMap<String, Vec<VectorText>> = BTreeMap::new();
    for value in &kernel.values {
        let Some(source) = value.source else { continue };
        let list = vectors.entry(source.to_string()).or_default();
        if list.len() < MOST_VECTORS {
            list.push(VectorText {
                operation: value.operation.to_owned(),
                shape: value.shape.clone(),
                layout: value.layout.to_string(),
                registers: value.registers,
            });
        }
    }
    vectors
}

/// The text of a slot without comments.
fn slot_text(slot: &Slot<'_>) -> String {
    let mut parts = slot.operands().split("/*");
    let mut operands = parts.next().unwrap_or("").to_owned();
    parts.filter_map(|part| part.split_once("*/")).for_each(|(_, rest)| operands.push_str(rest));
    let register = slot.register().filter(|register| register.contains('_'));
    let register = register.map(|register| format!("{register} = ")).unwrap_or_default();
    let words = format!("{register}{} {operands}", slot.opcode());
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}
