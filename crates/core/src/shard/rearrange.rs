//! [`Rearrangement`]: an array and its reshaped and transposed form, as two orders of the same axes.

use super::error::ShardingError;
use super::partition::Partition;
use super::reshard::{Reshard, check_elements};
use super::sharding::{Sharding, ShardingKind};
use crate::layout::Layout;
use crate::layout::dimension::Dimension;
use crate::layout::error::ValidationError;
use crate::shape::array::ArrayShape;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

/// The most axes of a rearrangement.
const MAX_AXES: usize = 64;

/// A reshape and a transposition that keep all elements, in the notation of einops: each side lists the dimensions of an array, and a
/// dimension in parentheses is the product of several axes, the most major first. Each axis occurs once on each side. Where a dimension
/// has several axes, all of them except one need a size.
///
/// Pages of a KV cache with 16 tokens each become pages of 64:
///
/// ```
/// use xla_shape_core::shard::{Rearrangement, Sharding};
///
/// let pages: Rearrangement = "(page part=4) kv head token d -> page kv head (part token) d".parse()?;
/// let before = "bf16[1024,2,8,16,128]".parse()?;
/// assert_eq!(pages.result(&before)?.to_string(), "bf16[256,2,8,64,128]{4,3,2,1,0}");
///
/// // From 8 devices with a head each to 2 devices with 4 heads each.
/// let eight: Sharding = "{devices=[1,1,8,1,1]<=[8]}".parse()?;
/// let two: Sharding = "{devices=[1,1,2,1,1]<=[2]}".parse()?;
/// let reshard = pages.reshard((&before, &eight), &two, None)?;
/// assert_eq!(reshard.messages(), Some(7), "device 0 has one of its heads");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rearrangement {
    /// In the order of the left side.
    axes: Vec<Axis>,
    /// For each dimension of the left side, the numbers of its axes.
    before: Vec<Vec<usize>>,
    after: Vec<Vec<usize>>,
}

/// A part of a dimension.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Axis {
    name: Box<str>,
    size: Option<u64>,
}

/// Why a text is not a rearrangement, or why a rearrangement does not fit an array or its shardings.
///
/// ```
/// use xla_shape_core::shard::{RearrangeError, Rearrangement};
///
/// let error = "a b -> b".parse::<Rearrangement>().unwrap_err();
/// assert_eq!(error, RearrangeError::OneSide { axis: "a".into() });
/// assert_eq!(error.to_string(), "expected each axis on both sides, found `a` on one");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RearrangeError {
    /// The text is not what the grammar expects.
    Text {
        /// What should be there.
        expected: &'static str,
        /// At which byte.
        at: usize,
    },
    /// An axis occurs twice on one side.
    Twice {
        /// The name.
        axis: Box<str>,
    },
    /// An axis occurs only on one side.
    OneSide {
        /// The name.
        axis: Box<str>,
    },
    /// An axis has two sizes.
    TwoSizes {
        /// The name.
        axis: Box<str>,
    },
    /// There are too many axes.
    TooManyAxes {
        /// The limit.
        limit: usize,
    },
    /// The array and the left side have different numbers of dimensions.
    Rank {
        /// How many the left side has.
        expected: usize,
        /// How many the array has.
        found: usize,
    },
    /// Two axes of one dimension have no size.
    NoSize {
        /// The dimension of the left side.
        dimension: usize,
        /// The second axis without a size.
        axis: Box<str>,
    },
    /// All axes of a dimension have a size, but their product is not the size of the dimension.
    Size {
        /// The dimension of the left side.
        dimension: usize,
        /// The product of the axes.
        expected: u64,
        /// The size of the dimension.
        found: u64,
    },
    /// The product of the sizes that a dimension's axes have does not divide the size of the dimension.
    Uneven {
        /// The dimension of the left side.
        dimension: usize,
        /// The product of the axes that have a size.
        divisor: u64,
        /// The size of the dimension.
        found: u64,
    },
    /// A dimension has no static size.
    Dynamic {
        /// The dimension.
        dimension: usize,
    },
    /// A sharding does not divide a dimension along its axes, as [`Rearrangement::reshard`] requires.
    Cut {
        /// The dimension, of the array before the change, or of the one after it if `is_new`.
        dimension: usize,
        /// In how many tiles.
        tiles: u64,
        /// Whether it is the new sharding.
        is_new: bool,
    },
    /// A tile of a layout spans several axes of a dimension.
    Tiles {
        /// The shard whose layout it is.
        shard: Box<ArrayShape>,
    },
    /// A sharding does not fit its array.
    Sharding(ShardingError),
    /// The array after the change is not valid.
    Array(ValidationError),
}

impl fmt::Display for RearrangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { expected, at } => write!(f, "expected {expected} at byte {at}"),
            Self::Twice { axis } => write!(f, "expected each axis once on a side, found `{axis}` again"),
            Self::OneSide { axis } => write!(f, "expected each axis on both sides, found `{axis}` on one"),
            Self::TwoSizes { axis } => write!(f, "expected one size of axis `{axis}`, found two"),
            Self::TooManyAxes { limit } => write!(f, "expected at most {limit} axes, found more"),
            Self::Rank { expected, found } => {
                write!(f, "expected an array of {expected} dimensions, as the left side has, found one of {found}")
            }
            Self::NoSize { dimension, axis } => write!(
                f,
                "expected sizes of all axes of dimension {dimension} except one, such as `{axis}=2`, found two without"
            ),
            Self::Size { dimension, expected, found } => {
                write!(f, "expected dimension {dimension} to have the product of its axes ({expected}), found {found}")
            }
            Self::Uneven { dimension, divisor, found } => {
                write!(f, "expected dimension {dimension} to have a size divisible by {divisor}, found {found}")
            }
            Self::Dynamic { dimension } => {
                write!(f, "expected dimension {dimension} to have a static size, found another")
            }
            Self::Cut { dimension, tiles, is_new } => {
                let side = if *is_new { "new" } else { "old" };
                write!(
                    f,
                    "the {side} sharding cuts dimension {dimension} in {tiles}, which cuts none of its axes evenly"
                )
            }
            Self::Tiles { shard } => write!(
                f,
                "a tile of {shard} spans several axes of a dimension; each tile must divide the innermost axis"
            ),
            Self::Sharding(error) => error.fmt(f),
            Self::Array(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for RearrangeError {}

impl From<ShardingError> for RearrangeError {
    fn from(error: ShardingError) -> Self {
        Self::Sharding(error)
    }
}

impl From<ValidationError> for RearrangeError {
    fn from(error: ValidationError) -> Self {
        Self::Array(error)
    }
}

impl FromStr for Rearrangement {
    type Err = RearrangeError;

    fn from_str(text: &str) -> Result<Self, RearrangeError> {
        let arrow = text.find("->");
        let arrow = arrow.ok_or(RearrangeError::Text { expected: "`->` between two sides", at: text.len() })?;
        let (left, right) = (text.get(..arrow).unwrap_or(""), text.get(arrow + 2..).unwrap_or(""));
        let mut axes = Vec::<Axis>::new();
        let mut before = side(left, 0)?;
        for found in before.iter_mut().flatten() {
            if axes.iter().any(|axis| axis.name == found.name) {
                return Err(RearrangeError::Twice { axis: found.name.clone() });
            }
            axes.push(found.clone());
            if axes.len() > MAX_AXES {
                return Err(RearrangeError::TooManyAxes { limit: MAX_AXES });
            }
        }
        let mut is_used = alloc::vec![false; axes.len()];
        let mut after = Vec::new();
        for group in side(right, arrow + 2)? {
            let mut numbers = Vec::new();
            for found in group {
                let known =
                    axes.iter_mut().zip(&mut is_used).enumerate().find(|(_, (axis, _))| axis.name == found.name);
                let Some((number, (axis, used))) = known else {
                    return Err(RearrangeError::OneSide { axis: found.name });
                };
                if core::mem::replace(used, true) {
                    return Err(RearrangeError::Twice { axis: found.name });
                }
                if axis.size.is_some() && found.size.is_some() && axis.size != found.size {
                    return Err(RearrangeError::TwoSizes { axis: found.name });
                }
                axis.size = axis.size.or(found.size);
                numbers.push(number);
            }
            after.push(numbers);
        }
        if let Some((axis, _)) = axes.iter().zip(&is_used).find(|(_, used)| !**used) {
            return Err(RearrangeError::OneSide { axis: axis.name.clone() });
        }
        let mut number = 0..;
        let before = before.iter().map(|group| number.by_ref().take(group.len()).collect()).collect();
        Ok(Self { axes, before, after })
    }
}

/// The dimensions of a side, which begins at byte `start` of the text.
fn side(text: &str, start: usize) -> Result<Vec<Vec<Axis>>, RearrangeError> {
    let mut dimensions = Vec::new();
    let mut open: Option<Vec<Axis>> = None;
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let at = start + text.len() - rest.len();
        let wrong = |expected| RearrangeError::Text { expected, at };
        let mut letters = rest.chars();
        match (letters.next(), &mut open) {
            (None, None) => return Ok(dimensions),
            (None, Some(_)) => return Err(wrong("`)`")),
            (Some('('), None) => (open, rest) = (Some(Vec::new()), letters.as_str()),
            (Some(')'), Some(group)) => {
                dimensions.push(core::mem::take(group));
                (open, rest) = (None, letters.as_str());
            }
            (Some(letter), open) if letter.is_ascii_alphabetic() || letter == '_' => {
                let is_in_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
                let (name, after) = split(rest, is_in_name);
                let mut axis = Axis { name: name.into(), size: None };
                rest = after;
                if let Some(number) = after.strip_prefix('=') {
                    let (digits, after) = split(number, |letter| letter.is_ascii_digit());
                    let size = digits.parse::<u64>().ok().filter(|&size| size > 0);
                    let at = start + text.len() - number.len();
                    axis.size = Some(size.ok_or(RearrangeError::Text { expected: "a size of at least 1", at })?);
                    rest = after;
                }
                match open {
                    Some(group) => group.push(axis),
                    None => dimensions.push(alloc::vec![axis]),
                }
            }
            _ => return Err(wrong("the name of an axis")),
        }
    }
}

/// Splits a text before its first letter that `is_in` refuses.
fn split(text: &str, is_in: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|letter| !is_in(letter)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

impl fmt::Display for Rearrangement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (side, is_first) in [(&self.before, true), (&self.after, false)] {
            for (place, group) in side.iter().enumerate() {
                let is_one = group.len() == 1;
                f.write_str(if place > 0 { " " } else { "" })?;
                f.write_str(if is_one { "" } else { "(" })?;
                for (place, axis) in group.iter().filter_map(|&axis| self.axes.get(axis)).enumerate() {
                    write!(f, "{}{}", if place > 0 { " " } else { "" }, axis.name)?;
                    if let Some(size) = axis.size.filter(|_| is_first) {
                        write!(f, "={size}")?;
                    }
                }
                f.write_str(if is_one { "" } else { ")" })?;
            }
            f.write_str(if is_first { " -> " } else { "" })?;
        }
        Ok(())
    }
}

impl Rearrangement {
    /// The array after the change, row-major.
    ///
    /// ```
    /// use xla_shape_core::shard::Rearrangement;
    ///
    /// let rearrangement: Rearrangement = "(a b=3) c -> c a b".parse()?;
    /// assert_eq!(rearrangement.result(&"f32[6,5]".parse()?)?.to_string(), "f32[5,2,3]{2,1,0}");
    /// assert!(rearrangement.result(&"f32[7,5]".parse()?).is_err());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the array does not have the dimensions of the left side.
    pub fn result(&self, array: &ArrayShape) -> Result<ArrayShape, RearrangeError> {
        let axes = self.sizes(array)?;
        let sizes = self.after.iter().map(|group| product(group, &axes)).collect::<Option<Vec<_>>>();
        let sizes = sizes.ok_or(ShardingError::Overflow)?;
        Ok(ArrayShape::with_default_layout(array.element_type(), &sizes)?)
    }

    /// The sizes of the axes, in the order of the left side, and the permutation to the order of the right side. Reshape the array to these
    /// sizes, transpose it by the permutation, and reshape it again: that is the [`result`](Self::result).
    ///
    /// ```
    /// use xla_shape_core::shard::Rearrangement;
    ///
    /// let rearrangement: Rearrangement = "(a b=3) c -> c a b".parse()?;
    /// assert_eq!(rearrangement.axes(&"f32[6,5]".parse()?)?, (vec![2, 3, 5], vec![2, 0, 1]));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`result`](Self::result).
    pub fn axes(&self, array: &ArrayShape) -> Result<(Vec<u64>, Vec<usize>), RearrangeError> {
        Ok((self.sizes(array)?, self.after.iter().flatten().copied().collect()))
    }

    /// What must move to change an array's sharding from `from` to a sharding of the rearranged array. Its shards then have `layout`, or
    /// are row-major. Regions of the plan have an index for each axis, in the order of the left side.
    ///
    /// Each sharding must divide a dimension along its axes, beginning with the outermost one. It divides the last of these axes into
    /// equal parts, and each axis before that into single indices.
    ///
    /// ```
    /// use xla_shape_core::shard::{RearrangeError, Rearrangement, Sharding};
    ///
    /// let transpose: Rearrangement = "a b -> b a".parse()?;
    /// let (array, rows): (_, Sharding) = ("f32[4,6]".parse()?, "{devices=[2,1]<=[2]}".parse()?);
    /// // The rows of the transposed array are the columns of this one.
    /// assert_eq!(transpose.reshard((&array, &rows), &rows, None)?.bytes(), Some(2 * 6 * 4));
    /// assert_eq!(transpose.reshard((&array, &rows), &"{devices=[1,2]<=[2]}".parse()?, None)?.bytes(), Some(0));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the array does not have the dimensions of the left side, a sharding or the layout does not fit its array or its axes, or
    /// [`Sharding::reshard`] fails.
    pub fn reshard(
        &self,
        (array, from): (&ArrayShape, &Sharding),
        to: &Sharding,
        layout: Option<&Layout>,
    ) -> Result<Reshard, RearrangeError> {
        check_elements(from)?;
        check_elements(to)?;
        let axes = self.sizes(array)?;
        let mut result = self.result(array)?;
        if let Some(layout) = layout {
            result = result.with_layout(layout.clone())?;
        }
        let in_order = (0..self.axes.len()).collect::<Vec<_>>();
        let before = self.partition((array, from), false, &self.before, &axes, &in_order)?;
        // Where each axis is on the right side.
        let mut places = in_order;
        for (place, &axis) in self.after.iter().flatten().enumerate() {
            if let Some(own) = places.get_mut(axis) {
                *own = place;
            }
        }
        let after = self.partition((&result, to), true, &self.after, &axes, &places)?;
        Ok(Reshard::between(before, after)?)
    }

    /// The size of each axis.
    fn sizes(&self, array: &ArrayShape) -> Result<Vec<u64>, RearrangeError> {
        let (expected, found) = (self.before.len(), array.num_dimensions());
        if expected != found {
            return Err(RearrangeError::Rank { expected, found });
        }
        let mut sizes = Vec::with_capacity(self.axes.len());
        for (dimension, (group, size)) in self.before.iter().zip(array.dimensions()).enumerate() {
            let &Dimension::Static(found) = size else {
                return Err(RearrangeError::Dynamic { dimension });
            };
            let own = || group.iter().filter_map(|&axis| self.axes.get(axis));
            let known = own().filter_map(|axis| axis.size).try_fold(1_u64, u64::checked_mul);
            let known = known.ok_or(ShardingError::Overflow)?;
            let mut unknown = own().filter(|axis| axis.size.is_none());
            // If the dimension has no elements, the axis without a size gets the size 0.
            let rest = match (unknown.next(), unknown.next()) {
                (None, _) if known == found => 1,
                (Some(_), None) if found.is_multiple_of(known) => found.checked_div(known).unwrap_or(0),
                (Some(_), Some(axis)) => return Err(RearrangeError::NoSize { dimension, axis: axis.name.clone() }),
                (Some(_), None) => return Err(RearrangeError::Uneven { dimension, divisor: known, found }),
                (None, _) => return Err(RearrangeError::Size { dimension, expected: known, found }),
            };
            sizes.extend(own().map(|axis| axis.size.unwrap_or(rest)));
        }
        Ok(sizes)
    }

    /// The division of an array, as a division of the array of its axes. `groups` are the axes of each dimension of the array, and `places`
    /// is the place of each axis among all of them.
    fn partition(
        &self,
        (array, sharding): (&ArrayShape, &Sharding),
        is_new: bool,
        groups: &[Vec<usize>],
        axes: &[u64],
        places: &[usize],
    ) -> Result<Partition, RearrangeError> {
        let own = sharding.partition(array)?;
        own.check_even()?;
        let order = groups.iter().flatten().filter_map(|&axis| axes.get(axis).copied());
        let (order, mut cuts) = (order.collect::<Vec<_>>(), Vec::new());
        for (dimension, (group, &tiles)) in groups.iter().zip(own.tiles()).enumerate() {
            let wrong = || RearrangeError::Cut { dimension, tiles, is_new };
            // The outermost axes are cut first: into single indices, and the last of them evenly.
            let mut rest = tiles;
            for &axis in group {
                let size = axes.get(axis).copied().unwrap_or(1);
                let cut = match () {
                    () if size > 0 && rest.is_multiple_of(size) => size,
                    () if size.is_multiple_of(rest) => rest,
                    () => return Err(wrong()),
                };
                rest = rest.checked_div(cut).unwrap_or(1);
                cuts.push(cut);
            }
            if rest != 1 {
                return Err(wrong());
            }
        }
        let tiled = sharding.to_tiled()?;
        let divided = match tiled.kind() {
            ShardingKind::Tiled(tiled) => {
                let groups = tiled.assignment().dimensions().get(tiled.tiles().len()..).unwrap_or(&[]);
                let (rank, all) = (cuts.len(), cuts.iter().chain(groups).copied().collect::<Vec<_>>());
                let permutation = places.iter().copied().chain(rank..all.len()).collect::<Vec<_>>();
                let assignment = tiled.assignment().clone().reshape(all).transpose(&permutation)?;
                Sharding::tiled(assignment, tiled.subgroups())?
            }
            _ => tiled.into_owned(),
        };
        let whole = ArrayShape::with_default_layout(array.element_type(), axes)?;
        let layout = self.layout(own.shard(), groups, &order, &cuts, places)?;
        Ok(divided.partition(&whole)?.with_layout(layout)?)
    }

    /// The layout of a shard as an array of its axes.
    fn layout(
        &self,
        shard: &ArrayShape,
        groups: &[Vec<usize>],
        order: &[u64],
        cuts: &[u64],
        places: &[usize],
    ) -> Result<Layout, RearrangeError> {
        let mut first = 0_usize;
        let mut numbers = Vec::with_capacity(groups.len());
        for group in groups {
            let end = first + group.len();
            numbers.push((first..end).rev());
            first = end;
        }
        let minor_to_major =
            shard.layout().minor_to_major().iter().filter_map(|&dimension| numbers.get(dimension).cloned());
        let minor_to_major = minor_to_major.flatten().collect::<Vec<_>>();
        let layout = shard.layout().clone().with_minor_to_major(&minor_to_major)?;
        let sizes = order.iter().zip(cuts).map(|(size, &cut)| size.checked_div(cut).unwrap_or(0)).collect::<Vec<_>>();
        let same = ArrayShape::with_default_layout(shard.element_type(), &sizes)?.with_layout(layout)?;
        if !shard.reshape_is_bitcast(&same).is_ok_and(|answer| answer.is_yes()) {
            return Err(RearrangeError::Tiles { shard: shard.clone().into() });
        }
        let axis = |&place: &usize| places.iter().position(|&own| own == place);
        let minor_to_major = minor_to_major.iter().filter_map(axis).collect::<Vec<_>>();
        Ok(same.layout().clone().with_minor_to_major(&minor_to_major)?)
    }
}

/// The product of the sizes of these axes; `None` if it does not fit in a `u64`.
fn product(group: &[usize], axes: &[u64]) -> Option<u64> {
    group.iter().map(|&axis| axes.get(axis).copied()).try_fold(1_u64, |product, size| product.checked_mul(size?))
}
