//! The memory that an array takes on a TPU: in the layout that the device chooses, in row-major order, and in others.

use crate::tpu::{cost, named};
use crate::words::{Factor, InUnits, column_width, count, difference, no_size};
use crate::{GivenArray, Show, Text};
use schemars::JsonSchema;
use serde::Serialize;
use std::error::Error;
use std::fmt;
use std::str::FromStr;
use xla_shape_answers::{Answer, DEFAULT_GENERATION, answer_line};
use xla_shape_core::tpu::{DefaultLayoutError, Generation, Merge, layouts};
use xla_shape_core::{ArrayShape, ValidationError};

/// The layouts of an array on a TPU with what each takes, and what would take less.
///
/// The device's default layout comes first; `xla_shape_core::tpu` has the rule.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Advice {
    rows: Vec<Row>,
    #[serde(skip)]
    given: ArrayShape,
    /// Whether the given array has a layout.
    #[serde(skip)]
    has_layout: bool,
    /// The given array after the changes to its dimensions.
    #[serde(skip)]
    changed: ArrayShape,
    #[serde(skip)]
    generation: Generation,
    /// Whether the generation is the default, because none was named.
    #[serde(skip)]
    assumed: bool,
    /// How many further entries `top` leaves out.
    #[serde(skip)]
    hidden: usize,
}

/// One layout, or a change of the dimensions that takes less.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Row {
    /// XLA's text of the shape, with its layout.
    shape: String,
    /// The bytes in memory, with padding.
    bytes: u64,
    /// How many bytes fewer than in the device's own choice; negative if it takes more.
    saved_bytes: i64,
    /// How many of `bytes` are padding.
    padding_bytes: u64,
    /// `bytes` divided by the bytes of the elements alone; null for an array without elements.
    expansion: f64,
    /// Whose choice the layout is; null for any other order.
    choice: Option<&'static str>,
    /// How many orders of the two most minor dimensions take as many bytes and stand in this entry.
    orders: usize,
    /// What to do to the dimensions first, such as "merge dimensions 0 and 1"; null if nothing.
    change: Option<String>,
    /// The layout to ask JAX for; null for the device's own choice, and if the dimensions change first.
    jax: Option<String>,
    /// Of the device's own choice: the dimensions that could be longer in as many bytes.
    room: Vec<Room>,
}

/// A dimension that could be longer and take no more bytes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Room {
    /// Its number.
    dimension: usize,
    /// Its size in elements.
    size: u64,
    /// The largest size that takes no more bytes.
    free: u64,
}

/// A merge of dimensions is suggested if it saves at least this part of the bytes.
pub(crate) const WORTH_IT: f64 = 0.05;

/// Of how many dimensions of an array the room is computed.
const MAX_ROOM: usize = 12;

const DEFAULT: &str = "default";
const NATURAL: &str = "natural";
const BOTH: &str = "default and natural";
const GIVEN: &str = "given";

impl Advice {
    /// Compares the layouts of `given` on a TPU, after `changes` to its dimensions, and keeps the first `top`. Without a
    /// generation, it is [`DEFAULT_GENERATION`].
    ///
    /// # Errors
    /// If the array has no size, a change names a dimension that does not exist, or the layout that a TPU chooses is not known.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    /// use xla_shape_render::{Show, advise::Advice};
    ///
    /// let array: ArrayShape = "f32[100,1]{1,0:T(8,128)}".parse()?;
    /// let advice = Advice::new(&array, &["0,1".parse()?], None, 10)?;
    /// assert!(advice.text(80).to_string().contains("What if it were f32[1,100]"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(
        given: impl Into<GivenArray>,
        changes: &[Change],
        generation: Option<Generation>,
        top: usize,
    ) -> Result<Self, AdviceError> {
        let GivenArray { array: given, has_layout } = given.into();
        if given.byte_size().is_none() {
            return Err(AdviceError::NoSize(no_size(&given.into())));
        }
        let changed = changes.iter().try_fold(given.clone(), |array, change| change.apply(&array))?;
        let assumed = generation.is_none();
        let generation = generation.unwrap_or(DEFAULT_GENERATION);
        let layouts = layouts(generation, changed.element_type(), changed.dimensions())?;
        let arrays = layouts.iter().filter_map(|layout| changed.clone().with_layout(layout.layout()).ok());
        let arrays = arrays.collect::<Vec<_>>();
        let natural = |array: &ArrayShape| array.layout().is_monotonic_with_dim0_major();
        let default_bytes = arrays.first().and_then(ArrayShape::byte_size).unwrap_or(0);
        let row = |array: &ArrayShape, choice| Row::new(array, default_bytes, choice);

        let mut rows = Vec::new();
        for (place, array) in arrays.iter().enumerate() {
            let choice = match (place, natural(array)) {
                (0, true) => Some(BOTH),
                (0, false) => Some(DEFAULT),
                (_, true) => Some(NATURAL),
                _ => None,
            };
            rows.extend(row(array, choice));
        }
        // A layout that was given but is not in the list, or not marked in it.
        let position = arrays.iter().position(|array| *array == changed);
        if has_layout && position.is_none_or(|position| rows.get(position).is_some_and(|row| row.choice.is_none())) {
            if let Some(position) = position {
                rows.remove(position);
            }
            let marked = rows.iter().take_while(|row| row.choice.is_some()).count();
            if let Some(row) = row(&changed, Some(GIVEN)) {
                rows.insert(marked, row);
            }
        }
        // The first of the orders that take the same memory stands for all of them.
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
            && let Some(mut row) = row(&merge.array, Some(DEFAULT))
            && row.saved_bytes as f64 >= WORTH_IT * default_bytes as f64
        {
            row.change = Some(merge_words(&merge));
            row.jax = None;
            row.room = Vec::new();
            kept.push(row);
        }
        Ok(Self { rows: kept, given, has_layout, changed, generation, assumed, hidden })
    }
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

/// The order of an array's dimensions as JAX writes it.
pub(crate) fn jax_layout(array: &ArrayShape) -> String {
    let order = array.layout().minor_to_major().iter().rev().map(usize::to_string).collect::<Vec<_>>();
    let comma = if order.len() == 1 { "," } else { "" };
    format!("Layout(major_to_minor=({}{comma}))", order.join(", "))
}

/// The dimensions that could be longer and take no more bytes.
fn room(array: &ArrayShape) -> Vec<Room> {
    let sizes = array.dimensions().iter().enumerate().take(MAX_ROOM).filter_map(|(dimension, size)| {
        let free = array.largest_free_size(dimension)?;
        // A dimension of size 1 is rarely one that could be made longer.
        size.extent().filter(|&size| size > 1 && free > size).map(|size| Room { dimension, size, free })
    });
    sizes.collect()
}

impl Row {
    fn new(array: &ArrayShape, default_bytes: u64, choice: Option<&'static str>) -> Option<Self> {
        let bytes = array.byte_size()?;
        let is_default = matches!(choice, Some(DEFAULT | BOTH));
        Some(Self {
            shape: array.to_string(),
            bytes,
            saved_bytes: difference(bytes, default_bytes),
            padding_bytes: array.padding_byte_size()?,
            expansion: array.expansion()?,
            choice,
            orders: 1,
            change: None,
            jax: if is_default { None } else { Some(jax_layout(array)) },
            room: if is_default { room(array) } else { Vec::new() },
        })
    }

    /// Whose choice the layout is, and what it saves or costs. `given` is the text of the layout that was given.
    fn remark(&self, given: Option<&str>) -> String {
        let as_it_is = if self.choice != Some(GIVEN) && given == Some(&self.shape) { "as it is, " } else { "" };
        let what = match self.choice {
            Some(BOTH) => "the device's choice, in the natural order",
            Some(DEFAULT) => "the device's choice",
            Some(NATURAL) => "the natural order",
            Some(_) => "as it is",
            None => "another order",
        };
        let amount = InUnits(self.saved_bytes.unsigned_abs());
        let difference = match self.saved_bytes {
            0 if matches!(self.choice, Some(BOTH | DEFAULT)) => String::new(),
            0 => ": takes the same".to_owned(),
            1.. => format!(": saves {amount}"),
            _ => format!(": costs {amount}"),
        };
        let orders = match self.orders {
            1 => String::new(),
            2 => "; so does 1 more".to_owned(),
            orders => format!("; so do {} more", orders - 1),
        };
        format!("{as_it_is}{what}{difference}{orders}")
    }
}

impl Answer for Advice {
    const SCHEMA: &'static str = "xla-shape/advise/1";

    fn json(&self) -> String {
        self.rows.iter().map(|entry| answer_line(Self::SCHEMA, entry)).collect()
    }
}

impl Show for Advice {
    fn text(&self, width: usize) -> Text {
        let Self { rows, given, has_layout, changed, generation, assumed, hidden } = self;
        let mut text = Text::new(width);
        let (layouts, merges): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.change.is_none());
        let device = named(generation, *assumed);
        if *has_layout {
            text.paragraph(format_args!("{given} takes {}.", cost(given.byte_size(), given.expansion())));
        }
        if changed != given {
            text.verbatim(format_args!("What if it were {changed}:"));
        }
        if let Some(default) = layouts.first() {
            let without = changed.without_layout();
            let cost = cost(Some(default.bytes), Some(default.expansion));
            text.paragraph(format_args!("{device} stores {without} in {cost}."));
        }
        text.verbatim("");
        let column = column_width(rows.iter().map(|row| row.shape.chars().count()));
        let show = |text: &mut Text, row: &Row, remark: &str| {
            let (bytes, expansion) = (InUnits(row.bytes).to_string(), Factor(row.expansion).to_string());
            text.row(&format!("  {:column$}  {bytes:>9}  {expansion:>7}", row.shape), remark);
        };
        let given = has_layout.then(|| changed.to_string());
        for row in &layouts {
            show(&mut text, row, &row.remark(given.as_deref()));
        }
        if *hidden > 0 {
            text.verbatim(format_args!("  … and {} (--top)", count(*hidden as u64, "other size", "other sizes")));
        }
        if !merges.is_empty() {
            text.heading("What would take less");
            for row in &merges {
                let saved = InUnits(row.saved_bytes.unsigned_abs());
                let change = row.change.as_deref().unwrap_or_default();
                show(&mut text, row, &format!("{change}: saves {saved}"));
            }
            text.paragraph(
                "  Merge by `x.reshape(…)`. `xla-shape compare` says whether the reshape itself moves the data.",
            );
        }
        room_words(&mut text, &layouts);
        in_jax(&mut text, &layouts);
        text
    }
}

/// Says which dimensions could be longer and take no more bytes.
fn room_words(text: &mut Text, layouts: &[&Row]) {
    let rooms = layouts.iter().flat_map(|row| &row.room);
    let words =
        rooms.map(|Room { dimension, size, free }| format!("dimension {dimension} could be {free} instead of {size}"));
    let words = words.collect::<Vec<_>>();
    if !words.is_empty() {
        text.heading("What the padding has room for");
        text.paragraph(format_args!("  In the same bytes, {}.", words.join(", and ")));
    }
}

/// Says how to ask JAX for the layout that saves most; if none saves memory, for row-major order.
fn in_jax(text: &mut Text, layouts: &[&Row]) {
    let others = || layouts.iter().filter(|row| row.jax.is_some() && row.choice != Some(GIVEN));
    let least = others().filter(|row| row.saved_bytes > 0).max_by_key(|row| row.saved_bytes);
    let Some(row) = least.or_else(|| others().find(|row| row.choice == Some(NATURAL))) else { return };
    let what = if row.choice == Some(NATURAL) { "the natural order" } else { "the order that takes less" };
    let cost = match row.saved_bytes {
        ..0 => format!(", which costs {}", InUnits(row.saved_bytes.unsigned_abs())),
        _ => String::new(),
    };
    let layout = row.jax.as_deref().unwrap_or_default();
    text.heading("In JAX");
    text.paragraph(format_args!(
        "  The device's own choice needs nothing. For {what}{cost}, `from jax.experimental.layout import Format, Layout` \
         and give `Format({layout}, sharding)` to `jax.device_put`, or as `in_shardings` or `out_shardings` to `jax.jit`."
    ));
}

/// A change of an array's dimensions: `1=128` gives dimension 1 the size 128, `0,1` swaps dimensions 0 and 1.
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

/// Why there is no advice.
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
        /// How many there are.
        num_dimensions: usize,
    },
    /// The changed shape is not valid.
    Invalid(ValidationError),
    /// A change has this text in the place of a number.
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
                write!(f, "there is no dimension {dimension}: the array has {all}")
            }
            Self::Invalid(error) => error.fmt(f),
            Self::NoNumber(text) => write!(f, "expected a number, found `{text}`"),
            Self::NoChange => f.write_str("expected a dimension and its size (1=128) or two dimensions (0,1)"),
        }
    }
}

impl Error for AdviceError {}
