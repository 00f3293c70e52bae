//! The memory that an array takes on a TPU: in the layout that the device chooses, in row-major order, and in others. On a GPU: the orders that
//! operations prefer.

mod gpu;

pub use gpu::GpuAdvice;

use crate::digest::Digest;
use crate::numbers::{count, difference, no_size};
use crate::place::layout_in_jax;
use crate::{Answer, DEFAULT_GENERATION, GivenArray, answer_line};
use schemars::JsonSchema;
use serde::Serialize;
use std::error::Error;
use std::fmt;
use std::str::FromStr;
use xla_shape_core::tpu::{DefaultLayoutError, Generation, Merge, layouts};
use xla_shape_core::{ArrayShape, ValidationError};

/// The layouts of an array on a TPU with the bytes of each, and changes of the dimensions that would take fewer bytes.
///
/// The device's default layout comes first; `xla_shape_core::tpu` has the rule.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Advice {
    /// The layouts, the device's own choice first; then the changes of the dimensions that take fewer bytes.
    pub rows: Vec<Row>,
    /// The given array; row-major if it was given without a layout.
    #[serde(skip)]
    pub given: ArrayShape,
    /// Whether the array was given with a layout.
    #[serde(skip)]
    pub has_layout: bool,
    /// The given array after the changes to its dimensions.
    #[serde(skip)]
    pub changed: ArrayShape,
    /// The generation of the TPU.
    #[serde(skip)]
    pub generation: Generation,
    /// Whether the generation is the default, because none was named.
    #[serde(skip)]
    pub assumed: bool,
    /// How many further entries `top` leaves out.
    #[serde(skip)]
    pub hidden: usize,
}

/// One layout, or a change of the dimensions that takes fewer bytes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Row {
    /// XLA's text of the shape, with its layout.
    pub shape: String,
    /// The bytes in memory, with padding.
    pub bytes: u64,
    /// How many bytes fewer it takes than the device's own choice; negative if it takes more.
    pub saved_bytes: i64,
    /// How many of `bytes` are padding.
    pub padding_bytes: u64,
    /// `bytes` divided by the bytes of the elements alone; null for an array without elements.
    pub expansion: f64,
    /// Whose choice the layout is; null for any other order.
    pub choice: Option<Choice>,
    /// How many choices of the two most minor dimensions take this number of bytes. Only this one is listed.
    pub orders: usize,
    /// What to do to the dimensions first, such as "merge dimensions 0 and 1"; null if they stay as they are.
    pub change: Option<String>,
    /// The layout to ask JAX for; null for the device's own choice, and if the dimensions change first.
    pub jax: Option<String>,
    /// For the layout that the device chooses itself: the dimensions that could be longer without more bytes.
    pub room: Vec<Room>,
    /// Whether it is the layout that was given.
    #[serde(skip)]
    pub is_given: bool,
}

/// A dimension that could be longer and take no more bytes.
///
/// ```
/// use xla_shape_answers::advise::Advice;
/// use xla_shape_core::ArrayShape;
///
/// // In tiles of 8 × 128, the array takes as many bytes as one of 104 × 256.
/// let array: ArrayShape = "f32[100,250]".parse()?;
/// let advice = Advice::new(&array, &[], None, 10)?;
/// let room = advice.rows[0].room.iter().map(|room| (room.dimension, room.size, room.free));
/// assert_eq!(room.collect::<Vec<_>>(), [(0, 100, 104), (1, 250, 256)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Room {
    /// Its number.
    pub dimension: usize,
    /// Its size in elements.
    pub size: u64,
    /// The largest size that takes no more bytes.
    pub free: u64,
}

/// Merging dimensions is suggested if it saves at least this fraction of the bytes.
pub(crate) const WORTH_IT: f64 = 0.05;

/// For at most this many dimensions, the answer says how much longer they could be.
const MAX_ROOM: usize = 12;

words! {
    /// Whose choice a layout is.
    pub enum Choice {
        /// The device's own choice.
        Default = "default",
        /// The natural order of the dimensions, which is row-major.
        Natural = "natural",
        /// The device's own choice, which is also the natural order.
        Both = "default and natural",
        /// The layout that was given.
        Given = "given",
        /// What a convolution of dimensions N, C, H, W wants on a GPU.
        Convolution = "convolution",
        /// What a product that sums over the second-to-last dimension wants on a GPU.
        Product = "product",
    }
}

impl Advice {
    /// Compares the layouts of `given` on a TPU, after `changes` to its dimensions, and keeps the first `top`. Without a
    /// generation, it is [`DEFAULT_GENERATION`].
    ///
    /// # Errors
    /// If the array has no size, a change names a dimension that does not exist, or the layout that a TPU chooses is not known.
    ///
    /// ```
    /// use xla_shape_answers::advise::{Advice, Change, Choice};
    /// use xla_shape_core::ArrayShape;
    ///
    /// let array: ArrayShape = "f32[100,1]{1,0:T(8,128)}".parse()?;
    /// let advice = Advice::new(&array, &[Change::Swap(0, 1)], None, 10)?;
    /// assert_eq!(advice.changed.without_layout().to_string(), "f32[1,100]");
    /// assert_eq!((advice.rows[0].choice, advice.rows[0].bytes), (Some(Choice::Both), 512));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(
        given: impl Into<GivenArray>,
        changes: &[Change],
        generation: Option<Generation>,
        top: usize,
    ) -> Result<Self, AdviceError> {
        let GivenArray { array: given, has_layout } = given.into();
        let changed = changed(&given, changes)?;
        let assumed = generation.is_none();
        let generation = generation.unwrap_or(DEFAULT_GENERATION);
        let layouts = layouts(generation, changed.element_type(), changed.dimensions())?;
        let arrays = layouts.iter().filter_map(|layout| changed.clone().with_layout(layout.layout()).ok());
        let arrays = arrays.collect::<Vec<_>>();
        let natural = |array: &ArrayShape| array.layout().is_monotonic_with_dim0_major();
        let default_bytes = arrays.first().and_then(ArrayShape::byte_size).unwrap_or(0);
        let row = |array: &ArrayShape, choice| {
            let row = Row::new(array, default_bytes, choice)?;
            Some(Row { is_given: has_layout && *array == changed, ..row })
        };

        let mut rows = Vec::new();
        for (place, array) in arrays.iter().enumerate() {
            let choice = match (place, natural(array)) {
                (0, true) => Some(Choice::Both),
                (0, false) => Some(Choice::Default),
                (_, true) => Some(Choice::Natural),
                _ => None,
            };
            rows.extend(row(array, choice));
        }
        // Add the given layout if it is not in the list, or mark it there.
        let position = arrays.iter().position(|array| *array == changed);
        if has_layout && position.is_none_or(|position| rows.get(position).is_some_and(|row| row.choice.is_none())) {
            if let Some(position) = position {
                rows.remove(position);
            }
            let marked = rows.iter().take_while(|row| row.choice.is_some()).count();
            if let Some(row) = row(&changed, Some(Choice::Given)) {
                rows.insert(marked, row);
            }
        }
        // Of orders that take the same memory, list only the first one.
        let mut kept: Vec<Row> = Vec::new();
        for row in rows {
            match kept.iter_mut().find(|kept| row.choice.is_none() && kept.bytes == row.bytes) {
                Some(kept) => kept.orders += 1,
                None => kept.push(row),
            }
        }
        let hidden = kept.len().saturating_sub(top);
        kept.truncate(top);
        if let Some(merge) = changed.best_merge(generation)?
            && let Some(mut row) = row(&merge.array, Some(Choice::Default))
            && row.saved_bytes as f64 >= WORTH_IT * default_bytes as f64
        {
            row.change = Some(merge_words(&merge));
            row.jax = None;
            row.room = Vec::new();
            kept.push(row);
        }
        Ok(Self { rows: kept, given, has_layout, changed, generation, assumed, hidden })
    }

    /// The layout to request in JAX: the one that saves the most; if none saves memory, row-major order. `None` if that is the device's own choice
    /// or the given layout.
    ///
    /// ```
    /// use xla_shape_answers::advise::Advice;
    /// use xla_shape_core::ArrayShape;
    ///
    /// let array: ArrayShape = "f32[64,3]".parse()?;
    /// let advice = Advice::new(&array, &[], None, 10)?;
    /// assert_eq!(advice.for_jax().unwrap().jax.as_deref(), Some("Layout(major_to_minor=(0, 1))"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn for_jax(&self) -> Option<&Row> {
        let others = || self.rows.iter().filter(|row| row.jax.is_some() && row.choice != Some(Choice::Given));
        let least = others().filter(|row| row.saved_bytes > 0).max_by_key(|row| row.saved_bytes);
        least.or_else(|| others().find(|row| row.choice == Some(Choice::Natural)))
    }
}

/// An array after the changes to its dimensions.
fn changed(given: &ArrayShape, changes: &[Change]) -> Result<ArrayShape, AdviceError> {
    if given.byte_size().is_none() {
        return Err(AdviceError::NoSize(no_size(&given.clone().into())));
    }
    changes.iter().try_fold(given.clone(), |array, change| change.apply(&array))
}

/// A merge in words: `merge dimensions 0 and 1`.
fn merge_words(merge: &Merge) -> String {
    let groups = merge.groups.iter().filter(|group| group.len() > 1).map(|group| {
        let numbers = group.clone().map(|dimension| dimension.to_string()).collect::<Vec<_>>();
        match numbers.as_slice() {
            [first, second] => format!("dimensions {first} and {second}"),
            [first, .., last] => format!("dimensions {first} to {last}"),
            _ => String::new(),
        }
    });
    format!("merge {}", groups.collect::<Vec<_>>().join(", and "))
}

/// The dimensions that could be longer without taking more bytes.
fn room(array: &ArrayShape) -> Vec<Room> {
    let sizes = array.dimensions().iter().enumerate().take(MAX_ROOM).filter_map(|(dimension, size)| {
        let free = array.largest_free_size(dimension)?;
        // A dimension of size 1 can rarely be made longer, so leave it out.
        size.extent().filter(|&size| size > 1 && free > size).map(|size| Room { dimension, size, free })
    });
    sizes.collect()
}

impl Row {
    fn new(array: &ArrayShape, default_bytes: u64, choice: Option<Choice>) -> Option<Self> {
        let bytes = array.byte_size()?;
        let is_default = matches!(choice, Some(Choice::Default | Choice::Both));
        Some(Self {
            shape: array.to_string(),
            bytes,
            saved_bytes: difference(bytes, default_bytes),
            padding_bytes: array.padding_byte_size()?,
            expansion: array.expansion()?,
            choice,
            orders: 1,
            change: None,
            jax: if is_default { None } else { Some(layout_in_jax(array.layout(), false)) },
            room: if is_default { room(array) } else { Vec::new() },
            is_given: false,
        })
    }
}

impl Answer for Advice {
    const SCHEMA: &'static str = "xla-shape/advise/1";

    fn json(&self) -> String {
        self.rows.iter().map(|entry| answer_line(Self::SCHEMA, entry)).collect()
    }

    /// The next command shows what a copy into the requested layout would move.
    fn digest(&self) -> Digest {
        let compare = |row: &Row| vec!["compare".into(), self.changed.to_string().into(), row.shape.clone().into()];
        let next = self.for_jax().map(compare).into_iter().collect();
        Digest { causes: Vec::new(), next }
    }
}

/// A change of an array's dimensions: `1=128` gives dimension 1 the size 128, `0,1` swaps dimensions 0 and 1.
///
/// ```
/// use xla_shape_answers::advise::Change;
///
/// assert_eq!("1=128".parse(), Ok(Change::Resize { dimension: 1, size: 128 }));
/// assert!("1".parse::<Change>().is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// Another size for a dimension.
    Resize {
        /// The dimension.
        dimension: usize,
        /// Its size.
        size: u64,
    },
    /// Two dimensions change places.
    Swap(usize, usize),
}

impl Change {
    fn apply(self, array: &ArrayShape) -> Result<ArrayShape, AdviceError> {
        let mut dimensions = array.dimensions().to_vec();
        let place = |dimension: usize| match dimension {
            dimension if dimension < dimensions.len() => Ok(dimension),
            dimension => Err(AdviceError::NoDimension { dimension, num_dimensions: dimensions.len() }),
        };
        match self {
            Self::Resize { dimension, size } => {
                let dimension = place(dimension)?;
                dimensions[dimension] = size.into();
            }
            Self::Swap(a, b) => {
                let (a, b) = (place(a)?, place(b)?);
                dimensions.swap(a, b);
            }
        }
        Ok(ArrayShape::new(array.element_type(), &dimensions, array.layout().clone())?)
    }
}

impl FromStr for Change {
    type Err = AdviceError;

    fn from_str(text: &str) -> Result<Self, AdviceError> {
        fn number<N: FromStr>(text: &str) -> Result<N, AdviceError> {
            text.trim().parse().map_err(|_| AdviceError::NoNumber(text.into()))
        }
        if let Some((dimension, size)) = text.split_once('=') {
            return Ok(Self::Resize { dimension: number(dimension)?, size: number(size)? });
        }
        match text.split_once(',') {
            Some((a, b)) => Ok(Self::Swap(number(a)?, number(b)?)),
            None => Err(AdviceError::NoChange),
        }
    }
}

/// Why [`Advice`] cannot be given for a shape.
///
/// ```
/// use xla_shape_answers::advise::{Advice, AdviceError, Change};
/// use xla_shape_core::ArrayShape;
///
/// let array: ArrayShape = "f32[64,3]".parse()?;
/// let error = Advice::new(&array, &[Change::Resize { dimension: 2, size: 128 }], None, 10).unwrap_err();
/// assert_eq!(error, AdviceError::NoDimension { dimension: 2, num_dimensions: 2 });
/// assert_eq!(error.to_string(), "dimension 2 does not exist: the array has 2 dimensions");
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum AdviceError {
    /// A shape has no size; the text says which and why.
    NoSize(String),
    /// The layout that a TPU chooses for such an array is not known.
    Unknown(DefaultLayoutError),
    /// A change names a dimension that does not exist.
    NoDimension {
        /// The dimension.
        dimension: usize,
        /// How many dimensions there are.
        num_dimensions: usize,
    },
    /// The changed shape is not valid.
    Invalid(ValidationError),
    /// A change has this text where it should have a number.
    NoNumber(String),
    /// The text of a change is neither `1=128` nor `0,1`.
    NoChange,
}

impl From<ValidationError> for AdviceError {
    fn from(error: ValidationError) -> Self {
        Self::Invalid(error)
    }
}

impl From<DefaultLayoutError> for AdviceError {
    fn from(error: DefaultLayoutError) -> Self {
        Self::Unknown(error)
    }
}

impl fmt::Display for AdviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSize(why) => f.write_str(why),
            Self::Unknown(error) => error.fmt(f),
            Self::NoDimension { dimension, num_dimensions } => {
                let all = count(*num_dimensions as u64, "dimension", "dimensions");
                write!(f, "dimension {dimension} does not exist: the array has {all}")
            }
            Self::Invalid(error) => error.fmt(f),
            Self::NoNumber(text) => write!(f, "expected a number, found `{text}`"),
            Self::NoChange => f.write_str("expected a dimension and its size (1=128) or two dimensions (0,1)"),
        }
    }
}

impl Error for AdviceError {}
