//! What two arrays have in common: whether they are the same bytes, and what a reshape or a transpose between them moves.

use crate::words::{Bytes, space_name};
use crate::{GivenArray, Show, Text};
use schemars::JsonSchema;
use serde::Serialize;
use std::error::Error;
use std::fmt;
use xla_shape_answers::{Answer, DEFAULT_GENERATION};
use xla_shape_core::bitcast::{Answer as Rule, BitcastError, DecompositionKind};
use xla_shape_core::tpu::{DefaultLayoutError, Generation};
use xla_shape_core::{ArrayShape, LayoutAttributes, Movement};

/// Whether two arrays are the same bytes, which operation makes one from the other, and what differs.
///
/// The rules are those of `xla_shape_core::bitcast`, which follow `ShapeUtil::DecomposeBitcast`, `ReshapeIsBitcast` and
/// `TransposeIsBitcast` of `xla/shape_util.cc`.
///
/// ```
/// use xla_shape_answers::Answer;
/// use xla_shape_render::{Show, compare::Comparison};
/// use xla_shape_core::ArrayShape;
///
/// let (a, b): (ArrayShape, ArrayShape) = ("f32[2,3]{1,0}".parse()?, "f32[3,2]{0,1}".parse()?);
/// let comparison = Comparison::new(&a, &b, None)?;
/// assert!(comparison.is_bitcast());
/// assert!(comparison.json().contains("\"kind\":\"transpose\""));
/// assert!(comparison.text(80).to_string().contains("As a reshape: not free."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Comparison {
    /// The shape of the first array, with its layout.
    from: String,
    /// The shape of the second, with its layout.
    to: String,
    /// The bytes of the first, with padding; null if they do not fit in 64 bits.
    from_bytes: Option<u64>,
    /// The bytes of the second, with padding; null if they do not fit in 64 bits.
    to_bytes: Option<u64>,
    /// Whether both arrays take the same number of bytes.
    same_bytes: bool,
    /// Whether the first can be read as the second without moving a byte.
    bitcast: bool,
    /// Which operation the bitcast is.
    kind: Kind,
    /// Whether a plain reshape or transpose leaves every byte where it is; false for reshape+transpose.
    plain: bool,
    /// Why, as a sentence.
    reason: String,
    /// If only the layouts differ and elements move: what the bytes of the first are if they are read as the second; otherwise null.
    read_as: Option<String>,
    /// In what the two differ.
    differences: Vec<Difference>,
    /// What a reshape moves; null if there is none, because the element types or the numbers of elements differ.
    reshape: Option<Cost>,
    /// What the transpose moves; null if the sizes are not the same in another order.
    transpose: Option<Transpose>,
    /// The TPU (--for) that chose the layout of a shape without one; null if none did.
    generation: Option<&'static str>,
    /// The memory spaces of both, if they are not the same one.
    #[serde(skip)]
    spaces: Option<[u8; 2]>,
    /// The comparison of shapes without a layout on the default TPU, if no TPU was named.
    #[serde(skip)]
    on_tpu: Option<Box<Self>>,
}

/// Which operation a bitcast is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
enum Kind {
    #[serde(rename = "identity")]
    Identity,
    #[serde(rename = "reshape")]
    Reshape,
    #[serde(rename = "transpose")]
    Transpose,
    #[serde(rename = "reshape+transpose")]
    ReshapeTranspose,
    /// It is not a bitcast.
    #[serde(rename = "none")]
    None,
}

/// In what two arrays differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Difference {
    ElementType,
    Dimensions,
    MinorToMajor,
    Tiles,
    ElementBits,
    MemorySpace,
    Attributes,
}

impl Difference {
    const fn words(self) -> &'static str {
        match self {
            Self::ElementType => "the element type",
            Self::Dimensions => "the dimensions",
            Self::MinorToMajor => "the order of the dimensions in memory",
            Self::Tiles => "the tiles",
            Self::ElementBits => "the bits of an element",
            Self::MemorySpace => "the memory space",
            Self::Attributes => "other attributes of the layout",
        }
    }

    /// All differences of two arrays.
    pub(crate) fn between(a: &ArrayShape, b: &ArrayShape) -> Vec<Self> {
        let [one, other] = [a.layout(), b.layout()];
        // What has a difference of its own.
        let rest = |attributes| LayoutAttributes { element_size_in_bits: 0, memory_space: 0, ..attributes };
        let all = [
            (Self::ElementType, !a.same_element_type(b)),
            (Self::Dimensions, a.dimensions() != b.dimensions()),
            (Self::MinorToMajor, a.same_rank(b) && one.minor_to_major() != other.minor_to_major()),
            (Self::Tiles, one.tiles() != other.tiles()),
            (Self::ElementBits, a.element_bits() != b.element_bits()),
            (Self::MemorySpace, one.memory_space() != other.memory_space()),
            (Self::Attributes, rest(one.attributes()) != rest(other.attributes())),
        ];
        all.into_iter().filter_map(|(difference, differs)| differs.then_some(difference)).collect()
    }
}

/// What an operation moves.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
struct Cost {
    /// Whether every byte stays where it is.
    free: bool,
    /// The bytes that are read and written together; 0 if it is free.
    moved_bytes: u64,
    /// The result in a layout that would make it free; null if none was found.
    free_result: Option<String>,
    /// Why, as a sentence.
    reason: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
struct Transpose {
    /// Entry i is the dimension of the operand that becomes dimension i of the result.
    permutation: Vec<usize>,
    #[serde(flatten)]
    cost: Cost,
}

impl Cost {
    fn new(movement: &Movement) -> Self {
        Self {
            free: movement.answer.is_yes(),
            moved_bytes: movement.moved_bytes,
            free_result: movement.free_result.as_ref().map(ToString::to_string),
            reason: movement.answer.to_string(),
        }
    }

    fn say(&self, text: &mut Text, what: &str) {
        if self.free {
            text.paragraph(format_args!("{what}: free. Every byte stays where it is."));
            return;
        }
        text.paragraph(format_args!("{what}: not free. It reads and writes {} together.", Bytes(self.moved_bytes)));
        text.paragraph(format_args!("  Why: {}.", self.reason));
        match &self.free_result {
            Some(result) => text.verbatim(format_args!("  It would be free to {result}")),
            None => text.paragraph("  No layout of the result was found that would make it free."),
        }
    }
}

impl Comparison {
    /// Compares two arrays. A shape without a layout gets the one that a TPU of this generation chooses; without a generation it is
    /// row-major, and the text also says what a TPU of the default generation makes of it.
    ///
    /// # Errors
    /// If an array has no size, the answer cannot be computed, or the layout that the TPU chooses is not known.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    /// use xla_shape_answers::Answer;
    /// use xla_shape_render::{Given, compare::Comparison};
    ///
    /// let given = |text: &str| text.parse::<Given>().ok()?.array();
    /// let (a, b) = (given("f32[8,1024]").unwrap(), given("f32[8192]").unwrap());
    /// assert!(Comparison::new(a.clone(), b.clone(), None)?.json().contains("\"kind\":\"reshape\""));
    /// // On a TPU, the array of two dimensions has tiles of 8 rows.
    /// assert!(Comparison::new(a, b, Some(Generation::V5e))?.json().contains("\"kind\":\"reshape+transpose\""));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(
        from: impl Into<GivenArray>,
        to: impl Into<GivenArray>,
        generation: Option<Generation>,
    ) -> Result<Self, ComparisonError> {
        let (from, to) = (from.into(), to.into());
        let is_chosen = !from.has_layout || !to.has_layout;
        let on = |generation| -> Result<Self, ComparisonError> {
            let comparison = Self::of_arrays(&from.clone().on(generation)?, &to.clone().on(generation)?)?;
            Ok(Self { generation: is_chosen.then_some(generation.name()), ..comparison })
        };
        match generation {
            Some(generation) => on(generation),
            None => {
                let on_tpu = if is_chosen { on(DEFAULT_GENERATION).ok().map(Box::new) } else { None };
                Ok(Self { on_tpu, ..Self::of_arrays(&from.array, &to.array)? })
            }
        }
    }

    /// Why it is a bitcast or not, as a sentence.
    pub(crate) fn reason(&self) -> &str {
        &self.reason
    }

    /// Whether both take the same number of bytes.
    pub(crate) const fn is_same_size(&self) -> bool {
        self.same_bytes
    }

    /// Whether one can be read as the other without moving a byte.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    /// use xla_shape_render::compare::Comparison;
    ///
    /// let (a, b): (ArrayShape, ArrayShape) = ("f32[6,2]{1,0}".parse()?, "f32[6,2]{0,1}".parse()?);
    /// assert!(!Comparison::new(&a, &b, None)?.is_bitcast());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn is_bitcast(&self) -> bool {
        self.bitcast
    }

    fn of_arrays(from: &ArrayShape, to: &ArrayShape) -> Result<Self, ComparisonError> {
        let same_bytes = from.byte_size() == to.byte_size();
        let (kind, reason, read_as) = bitcast(from, to, same_bytes)?;
        let has_reshape = from.same_element_type(to) && from.elements() == to.elements();
        let (mut reshape, mut transpose) = (None, None);
        if has_reshape {
            reshape = Some(Cost::new(&from.reshape_movement(to)?));
            // The identity permutation is the reshape, so it is left out.
            let permutations = from.permutations_to(to).into_iter().rev().filter(|order| !order.is_sorted());
            for permutation in permutations {
                let cost = Cost::new(&from.transpose_movement(to, &permutation)?);
                let free = cost.free;
                if free || transpose.is_none() {
                    transpose = Some(Transpose { permutation, cost });
                }
                if free {
                    break;
                }
            }
        }
        let spaces = [from.layout().memory_space(), to.layout().memory_space()];
        Ok(Self {
            from: from.to_string(),
            to: to.to_string(),
            from_bytes: from.byte_size(),
            to_bytes: to.byte_size(),
            same_bytes,
            bitcast: kind != Kind::None,
            kind,
            plain: !matches!(kind, Kind::None | Kind::ReshapeTranspose),
            reason,
            read_as,
            differences: Difference::between(from, to),
            reshape,
            transpose,
            generation: None,
            spaces: (spaces[0] != spaces[1]).then_some(spaces),
            on_tpu: None,
        })
    }

    /// The answer in one paragraph, or two.
    fn verdict(&self, text: &mut Text) {
        let Self { kind, reason, .. } = self;
        match kind {
            Kind::Identity => text.paragraph(format_args!("The same bytes: {reason}.")),
            Kind::Reshape => text.paragraph(format_args!("The same bytes, as a reshape: {reason}.")),
            Kind::Transpose => text.paragraph(format_args!("The same bytes, as a transpose: {reason}.")),
            Kind::ReshapeTranspose => {
                text.paragraph(
                    "The same bytes, but as no single reshape or transpose. An HLO bitcast does several steps at once:",
                );
                text.paragraph(format_args!("  {reason}"));
            }
            Kind::None => text.paragraph(format_args!("Not the same bytes: {reason}.")),
        }
        if let Some(read_as) = &self.read_as {
            text.paragraph(format_args!("The bytes of the first, read as the second, are: {read_as}."));
        }
        if let Some(spaces) = self.spaces {
            let [from, to] = spaces.map(|space| space_name(space, true));
            text.paragraph(format_args!(
                "They are in different memory spaces, {from} and {to}, so a copy moves all bytes."
            ));
        }
    }
}

/// Which bitcast makes `to` from `from`, why, and what the bytes of the first are if they are read as the second.
///
/// If the dimensions are equal, only the layout changes, and each element must keep its position. If they differ, the bitcast may be any
/// reshape and transpose.
fn bitcast(
    from: &ArrayShape,
    to: &ArrayShape,
    same_bytes: bool,
) -> Result<(Kind, String, Option<String>), BitcastError> {
    if from.same_dimensions(to) && from.same_element_type(to) {
        return Ok(match from.layout_change_is_bitcast(to)? {
            Rule::Yes => (Kind::Identity, Rule::Yes.to_string(), None),
            answer => {
                let read_as = from.decompose_bitcast(to).ok().map(|other| other.to_string());
                (Kind::None, answer.to_string(), read_as)
            }
        });
    }
    match from.decompose_bitcast(to) {
        Ok(decomposition) => {
            let kind = match decomposition.kind() {
                DecompositionKind::Identity => Kind::Identity,
                DecompositionKind::Reshape => Kind::Reshape,
                DecompositionKind::Transpose => Kind::Transpose,
                DecompositionKind::ReshapeTransposeReshape => Kind::ReshapeTranspose,
            };
            Ok((kind, decomposition.to_string(), None))
        }
        Err(error @ (BitcastError::Bytes { .. } | BitcastError::NotDecomposed)) => {
            // The answer about a reshape names the first element that would move.
            let reason = match from.reshape_is_bitcast(to) {
                Ok(Rule::No(reason)) if same_bytes => reason.to_string(),
                _ => error.to_string(),
            };
            Ok((Kind::None, reason, None))
        }
        Err(error) => Err(error),
    }
}

impl Answer for Comparison {
    const SCHEMA: &'static str = "xla-shape/compare/1";
}

impl Show for Comparison {
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        if let Some(on_tpu) = &self.on_tpu {
            let not = if on_tpu.bitcast { "" } else { "not " };
            text.paragraph(format_args!(
                "TPU {DEFAULT_GENERATION} stores them as {} and {}: {not}the same bytes (--for {DEFAULT_GENERATION} says more). \
                 Row-major, as without a layout:",
                on_tpu.from, on_tpu.to
            ));
        }
        self.verdict(&mut text);
        let bytes = |bytes: Option<u64>| bytes.map_or(String::new(), |bytes| format!("  {}", Bytes(bytes)));
        text.verbatim(format_args!("\nfrom {}{}", self.from, bytes(self.from_bytes)));
        text.verbatim(format_args!("  to {}{}", self.to, bytes(self.to_bytes)));
        if !self.differences.is_empty() {
            let words = self.differences.iter().map(|difference| difference.words()).collect::<Vec<_>>();
            text.paragraph(format_args!("What differs: {}.", words.join(", ")));
        }
        if let Some(generation) = self.generation {
            text.paragraph(format_args!("Shapes without a layout have that of TPU {generation}."));
        }
        match &self.reshape {
            Some(reshape) if self.differences.contains(&Difference::Dimensions) => {
                reshape.say(&mut text, "As a reshape")
            }
            // The reason is in the first lines.
            Some(Cost { free: false, moved_bytes, .. }) => {
                text.paragraph(format_args!(
                    "A copy to the other layout reads and writes {} together.",
                    Bytes(*moved_bytes)
                ));
            }
            _ => {}
        }
        if let Some(Transpose { permutation, cost }) = &self.transpose {
            let numbers = permutation.iter().map(ToString::to_string).collect::<Vec<_>>();
            cost.say(&mut text, &format!("As a transpose by ({})", numbers.join(",")));
        }
        text
    }
}

/// Why two arrays cannot be compared.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ComparisonError {
    /// The answer cannot be computed.
    Bitcast(BitcastError),
    /// The layout that a TPU chooses for such an array is not known.
    Unknown(DefaultLayoutError),
}

impl From<BitcastError> for ComparisonError {
    fn from(error: BitcastError) -> Self {
        Self::Bitcast(error)
    }
}

impl From<DefaultLayoutError> for ComparisonError {
    fn from(error: DefaultLayoutError) -> Self {
        Self::Unknown(error)
    }
}

impl fmt::Display for ComparisonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bitcast(error) => error.fmt(f),
            Self::Unknown(error) => error.fmt(f),
        }
    }
}

impl Error for ComparisonError {}
