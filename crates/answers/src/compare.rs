//! Compares two arrays: whether they have the same bytes, and what a reshape or a transpose between them moves.

use crate::digest::Digest;
use crate::{Answer, DEFAULT_GENERATION, GivenArray, names};
use schemars::JsonSchema;
use serde::Serialize;
use std::error::Error;
use std::fmt;
use xla_shape_core::bitcast::{Answer as Rule, BitcastError, Decomposition, DecompositionKind};
use xla_shape_core::tpu::{DefaultLayoutError, Generation};
use xla_shape_core::{ArrayShape, LayoutAttributes, Movement};

/// Whether two arrays are the same bytes, which operation makes one from the other, and what differs.
///
/// The rules are those of `xla_shape_core::bitcast`, which follow `ShapeUtil::DecomposeBitcast`, `ReshapeIsBitcast` and
/// `TransposeIsBitcast` of `xla/shape_util.cc`.
///
/// ```
/// use xla_shape_answers::compare::{Comparison, Difference, Kind};
/// use xla_shape_core::ArrayShape;
///
/// let (a, b): (ArrayShape, ArrayShape) = ("f32[2,3]{1,0}".parse()?, "f32[3,2]{0,1}".parse()?);
/// let comparison = Comparison::new(&a, &b, None)?;
/// assert_eq!((comparison.bitcast, comparison.kind), (true, Kind::Transpose));
/// assert_eq!(comparison.differences, [Difference::Dimensions, Difference::MinorToMajor]);
/// // As a reshape, it moves the elements.
/// let reshape = comparison.reshape.unwrap();
/// assert_eq!((reshape.free, reshape.moved_bytes), (false, 48));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Comparison {
    /// The shape of the first array, with its layout.
    pub from: String,
    /// The shape of the second, with its layout.
    pub to: String,
    /// The bytes of the first, with padding; null if they do not fit in 64 bits.
    pub from_bytes: Option<u64>,
    /// The bytes of the second, with padding; null if they do not fit in 64 bits.
    pub to_bytes: Option<u64>,
    /// Whether both arrays take the same number of bytes.
    pub same_bytes: bool,
    /// Whether the first can be read as the second without moving a byte.
    pub bitcast: bool,
    /// Which operation the bitcast is.
    pub kind: Kind,
    /// Whether a plain reshape or transpose leaves every byte where it is; false for reshape+transpose.
    pub plain: bool,
    /// Why, as a sentence.
    #[serde(serialize_with = "names::text")]
    #[schemars(with = "String")]
    pub reason: Why,
    /// If only the layouts differ and elements move: the operations on the first array with the same result as reading its bytes as the second array,
    /// such as `transpose [2,3] by [1,0] to [3,2]`; otherwise null.
    pub read_as: Option<String>,
    /// How the two arrays differ.
    pub differences: Vec<Difference>,
    /// What a reshape moves; null if no reshape is possible, because the element types or the numbers of elements differ.
    pub reshape: Option<Cost>,
    /// What a transpose moves; null unless the second array has the sizes of the first in some order.
    pub transpose: Option<Transpose>,
    /// The TPU (--for) that chose the layout of a shape without one; null if none did.
    pub generation: Option<&'static str>,
    /// The memory spaces of both, if they differ.
    #[serde(skip)]
    pub spaces: Option<[u8; 2]>,
    /// If no TPU was named and the shapes have no layouts: the comparison on the default TPU.
    #[serde(skip)]
    pub on_tpu: Option<Box<Self>>,
}

words! {
    /// Which operation a bitcast is.
    pub enum Kind {
        /// Nothing changes.
        Identity = "identity",
        /// A reshape.
        Reshape = "reshape",
        /// A transpose.
        Transpose = "transpose",
        /// A sequence of reshapes and transposes that no single reshape or transpose can replace.
        ReshapeTranspose = "reshape+transpose",
        /// It is not a bitcast.
        None = "none",
    }

    /// How two arrays differ.
    pub enum Difference {
        /// The element type.
        ElementType = "element_type",
        /// The sizes of the dimensions, or their number.
        Dimensions = "dimensions",
        /// The order of the dimensions in memory.
        MinorToMajor = "minor_to_major",
        /// The tiles.
        Tiles = "tiles",
        /// The bits that an element takes.
        ElementBits = "element_bits",
        /// The memory space.
        MemorySpace = "memory_space",
        /// Other attributes of the layout.
        Attributes = "attributes",
    }
}

impl Difference {
    /// All differences of two arrays.
    #[must_use]
    pub fn between(a: &ArrayShape, b: &ArrayShape) -> Vec<Self> {
        let [one, other] = [a.layout(), b.layout()];
        // Ignore attributes that have a variant of their own.
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

/// Why one array is, or is not, equal to the other one without moving a byte.
///
/// ```
/// use xla_shape_answers::compare::{Comparison, Why};
/// use xla_shape_core::ArrayShape;
/// use xla_shape_core::bitcast::Answer;
///
/// let (a, b): (ArrayShape, ArrayShape) = ("f32[2,3]{1,0}".parse()?, "f32[2,3]{0,1}".parse()?);
/// assert!(matches!(Comparison::new(&a, &b, None)?.reason, Why::Rule(Answer::No(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Why {
    /// The reason that the rule for one operation gives.
    Rule(Rule),
    /// The operations of which the bitcast consists.
    Decomposition(Decomposition),
    /// Why the first array cannot be read as the second.
    Error(BitcastError),
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(answer) => answer.fmt(f),
            Self::Decomposition(decomposition) => decomposition.fmt(f),
            Self::Error(error) => error.fmt(f),
        }
    }
}

/// What an operation moves.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Cost {
    /// Whether every byte stays where it is.
    pub free: bool,
    /// The bytes that are read and written together; 0 if it is free.
    pub moved_bytes: u64,
    /// The result in a layout with which the operation would be free; null if none was found.
    pub free_result: Option<String>,
    /// Why, as a sentence.
    #[serde(serialize_with = "names::text")]
    #[schemars(with = "String")]
    pub reason: Rule,
}

/// What a transpose moves.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Transpose {
    /// Entry i is the dimension of the operand that becomes dimension i of the result.
    pub permutation: Vec<usize>,
    /// What it moves.
    #[serde(flatten)]
    pub cost: Cost,
}

impl Cost {
    fn new(movement: &Movement) -> Self {
        Self {
            free: movement.answer.is_yes(),
            moved_bytes: movement.moved_bytes,
            free_result: movement.free_result.as_ref().map(ToString::to_string),
            reason: movement.answer.clone(),
        }
    }
}

impl Comparison {
    /// Compares two arrays. A shape without a layout gets the one that a TPU of this generation chooses; without a generation it is
    /// row-major, and `on_tpu` has the answer for a TPU of the default generation.
    ///
    /// # Errors
    /// If an array has no size, the answer cannot be computed, or the layout that the TPU chooses is not known.
    ///
    /// ```
    /// use xla_shape_answers::Given;
    /// use xla_shape_answers::compare::{Comparison, Kind};
    /// use xla_shape_core::tpu::Generation;
    ///
    /// let given = |text: &str| text.parse::<Given>().ok()?.array();
    /// let (a, b) = (given("f32[8,1024]").unwrap(), given("f32[8192]").unwrap());
    /// assert_eq!(Comparison::new(a.clone(), b.clone(), None)?.kind, Kind::Reshape);
    /// // On a TPU, the array of two dimensions has tiles of 8 rows.
    /// assert_eq!(Comparison::new(a, b, Some(Generation::V5e))?.kind, Kind::ReshapeTranspose);
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

    fn of_arrays(from: &ArrayShape, to: &ArrayShape) -> Result<Self, ComparisonError> {
        let same_bytes = from.byte_size() == to.byte_size();
        let (kind, reason, read_as) = bitcast(from, to, same_bytes)?;
        let has_reshape = from.same_element_type(to) && from.elements() == to.elements();
        let (mut reshape, mut transpose) = (None, None);
        if has_reshape {
            reshape = Some(Cost::new(&from.reshape_movement(to)?));
            // The identity permutation is the same as the reshape, so leave it out.
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
}

/// Returns which bitcast turns `from` into `to`, why, and how the second array reads the bytes of the first.
///
/// If the dimensions are equal, only the layout changes, and each element must keep its position. If they differ, the bitcast may be any
/// reshape and transpose.
fn bitcast(from: &ArrayShape, to: &ArrayShape, same_bytes: bool) -> Result<(Kind, Why, Option<String>), BitcastError> {
    if from.same_dimensions(to) && from.same_element_type(to) {
        return Ok(match from.layout_change_is_bitcast(to)? {
            Rule::Yes => (Kind::Identity, Why::Rule(Rule::Yes), None),
            answer => {
                let read_as = from.decompose_bitcast(to).ok().map(|other| other.to_string());
                (Kind::None, Why::Rule(answer), read_as)
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
            Ok((kind, Why::Decomposition(decomposition), None))
        }
        Err(error @ (BitcastError::Bytes { .. } | BitcastError::NotDecomposed)) => {
            // The answer about a reshape names the first element that would move.
            let reason = match from.reshape_is_bitcast(to) {
                Ok(answer @ Rule::No(_)) if same_bytes => Why::Rule(answer),
                _ => Why::Error(error),
            };
            Ok((Kind::None, reason, None))
        }
        Err(error) => Err(error),
    }
}

impl Answer for Comparison {
    const SCHEMA: &'static str = "xla-shape/compare/1";

    /// The next command compares with a layout of the result that makes the reshape or the transpose free, or explains the second array.
    fn digest(&self) -> Digest {
        let costs = || self.reshape.iter().chain(self.transpose.iter().map(|transpose| &transpose.cost));
        let is_free = self.bitcast || costs().any(|cost| cost.free);
        let better = costs().find_map(|cost| cost.free_result.clone()).filter(|_| !is_free);
        let next = match better {
            Some(better) => vec!["compare".into(), self.from.clone().into(), better.into()],
            None => vec!["explain".into(), self.to.clone().into()],
        };
        Digest { causes: Vec::new(), next: vec![next] }
    }
}

/// Why two arrays cannot be compared.
///
/// ```
/// use xla_shape_answers::compare::{Comparison, ComparisonError};
/// use xla_shape_core::ArrayShape;
/// use xla_shape_core::tpu::Generation;
///
/// let array = |text: &str| text.parse::<ArrayShape>();
/// let (rows, bytes) = (array("s4[8,1024]")?, array("f32[?,128]")?);
/// // A TPU chooses no layout for an array whose sizes are not known.
/// let error = Comparison::new(&rows, &bytes, Some(Generation::V5e)).unwrap_err();
/// assert!(matches!(error, ComparisonError::Unknown(_)), "{error}");
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
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
