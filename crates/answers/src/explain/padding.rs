//! Where an array has padding, why, and what would take less memory.

use crate::numbers::{Grouped, InUnits, dimension_name};
use std::cmp::Reverse;
use std::fmt;
use xla_shape_core::sorting::sort_by_key;
use xla_shape_core::{ArrayShape, PaddedDimension};

/// Padding up to this expansion does not matter.
const LITTLE: f64 = 1.1;

/// At most this many causes are named, and at most this many dimensions get a remedy.
const MOST_CAUSES: usize = 2;
const MOST_REMEDIES: usize = 3;

/// The padding of an array: where it is, its causes and what helps.
///
/// ```
/// use xla_shape_answers::explain::{Padding, PaddingRemedy, Reshaping};
///
/// let padding = Padding::new(&"f32[1024,1]{1,0:T(8,128)}".parse()?);
/// assert_eq!((padding.causes.len(), padding.tail), (1, None));
/// let [PaddingRemedy::Order(better), PaddingRemedy::Dimension { reshaping, .. }] = &padding.remedies[..] else { panic!("two remedies") };
/// assert_eq!((better.to_string().as_str(), *reshaping), ("f32[1024,1]{0,1:T(8,128)}", Some(Reshaping::Remove)));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Padding {
    /// The dimensions with their padding; empty if the array has no size.
    pub dimensions: Vec<PaddedDimension>,
    /// If tail padding adds positions: the number of positions in tiles, and the number with tail padding.
    pub tail: Option<(u64, u64)>,
    /// The causes of the padding, the worst first.
    pub causes: Vec<PaddingCause>,
    /// What would take less memory; empty without padding.
    pub remedies: Vec<PaddingRemedy>,
}

/// Why an array has padding.
///
/// ```
/// use xla_shape_answers::explain::{Padding, PaddingCause};
///
/// let padding = Padding::new(&"f32[100]{0:T(8,128)}".parse()?);
/// assert_eq!(padding.causes[0], PaddingCause::TileRank);
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PaddingCause {
    /// The tile has more dimensions than the array.
    TileRank,
    /// A dimension is padded, or several dimensions that a tile combines.
    Dimension(PaddedDimension),
    /// There is tail padding.
    End {
        /// The number of positions in tiles, without the padding at the end.
        tiled: u64,
        /// The number of positions including the padding at the end.
        physical: u64,
    },
}

/// What helps against the padding of an array.
///
/// ```
/// use xla_shape_answers::explain::{Padding, PaddingRemedy};
///
/// let padding = Padding::new(&"f32[104,127]{1,0:T(8,128)}".parse()?);
/// assert_eq!(padding.remedies, [PaddingRemedy::Nothing]);
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PaddingRemedy {
    /// Nothing: there is too little padding to matter.
    Nothing,
    /// Use another order of dimensions in memory, as in this array.
    Order(ArrayShape),
    /// Stack many such arrays into one, because the tile has more dimensions than the array.
    Stack,
    /// Change a dimension.
    Dimension {
        /// The dimension.
        dimension: PaddedDimension,
        /// What a reshape could do, if the dimension is short.
        reshaping: Option<Reshaping>,
        /// The largest size that takes the same memory, if that is larger than the present size.
        free_size: Option<u64>,
    },
    /// Use fewer and larger arrays, which have less padding at their ends.
    FewerArrays,
}

/// What a reshape could do about a dimension that is much smaller than its tile.
///
/// ```
/// use xla_shape_answers::explain::{Padding, PaddingRemedy, Reshaping};
///
/// let padding = Padding::new(&"f32[1024,2]{1,0:T(8,128)}".parse()?);
/// let merges = |remedy: &PaddingRemedy| matches!(remedy, PaddingRemedy::Dimension { reshaping: Some(Reshaping::Merge), .. });
/// assert!(padding.remedies.iter().any(merges));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reshaping {
    /// Remove it, or merge it with a long dimension, because its size is 1.
    Remove,
    /// Merge it with a neighbour.
    Merge,
}

/// What to do, as a sentence without a full stop.
impl fmt::Display for PaddingRemedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("nothing: the padding is too little to matter"),
            Self::Order(better) => {
                write!(f, "another order in memory takes {}: {better}", InUnits(better.byte_size().unwrap_or_default()))
            }
            Self::Stack => f.write_str("the tile has more dimensions than this array: stack many such arrays into one"),
            Self::Dimension { dimension, reshaping, free_size } => {
                let reshaping = reshaping.map(|reshaping| match reshaping {
                    Reshaping::Remove => "remove it with a reshape, or merge it with a long dimension".to_owned(),
                    Reshaping::Merge => "too short for the tile; merge it with a neighbour in a reshape".to_owned(),
                });
                let free = free_size.map(|size| format!("any size up to {} takes the same memory", Grouped(size)));
                let advice = reshaping.into_iter().chain(free).collect::<Vec<_>>().join("; ");
                let gaps = "the inner tiles leave gaps in each block; other tiles would not";
                write!(f, "{}: {}", dimension_named(dimension), if advice.is_empty() { gaps } else { advice.as_str() })
            }
            Self::FewerArrays => f.write_str("fewer and larger arrays have less padding at their ends"),
        }
    }
}

/// `d1`, or `d0, d1 combined`; empty if the tile has more dimensions than the array.
///
/// ```
/// use xla_shape_answers::explain::dimension_named;
///
/// let array: xla_shape_core::ArrayShape = "f32[100,1]{1,0:T(8,128)}".parse()?;
/// let dimensions = array.padded_dimensions().unwrap();
/// assert_eq!(dimension_named(&dimensions[1]), "d1");
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[must_use]
pub fn dimension_named(dimension: &PaddedDimension) -> String {
    let names = dimension.dimensions.iter().copied().map(dimension_name).collect::<Vec<_>>().join(", ");
    if dimension.dimensions.len() > 1 { format!("{names} combined") } else { names }
}

impl Padding {
    /// What would take much less memory, if most of the array is padding.
    pub(crate) fn remedy(array: &ArrayShape) -> Option<PaddingRemedy> {
        let is_mostly = array.padding_byte_size()? > array.byte_size()? / 2;
        Self::new(array).remedies.into_iter().next().filter(|remedy| is_mostly && *remedy != PaddingRemedy::Nothing)
    }

    /// The padding of an array.
    #[must_use]
    pub fn new(array: &ArrayShape) -> Self {
        let dimensions = array.padded_dimensions().unwrap_or_default();
        // The positions of all tiles. If the array takes more, the rest is tail padding.
        let tiled = dimensions.iter().fold(1_u64, |product, dimension| product.saturating_mul(dimension.padded_size));
        let tail = array.physical_elements().filter(|&physical| physical > tiled).map(|physical| (tiled, physical));
        let mut worst = dimensions.iter().filter(|dimension| is_padded(dimension)).collect::<Vec<_>>();
        sort_by_key(&mut worst, |dimension| Reverse(dimension.padded_size / dimension.size.max(1)));
        let (causes, remedies) = match array.padding_byte_size() {
            None | Some(0) => (Vec::new(), Vec::new()),
            Some(_) => (causes(&worst, tail), remedies(array, &worst, tail)),
        };
        Self { causes, remedies, tail, dimensions }
    }
}

fn is_padded(dimension: &PaddedDimension) -> bool {
    dimension.padded_size > dimension.size
}

fn causes(worst: &[&PaddedDimension], tail: Option<(u64, u64)>) -> Vec<PaddingCause> {
    let cause = |dimension: &&PaddedDimension| match dimension.dimensions.as_slice() {
        [] => PaddingCause::TileRank,
        _ => PaddingCause::Dimension((*dimension).clone()),
    };
    let mut causes = worst.iter().take(MOST_CAUSES).map(cause).collect::<Vec<_>>();
    if causes.is_empty() {
        causes.extend(tail.map(|(tiled, physical)| PaddingCause::End { tiled, physical }));
    }
    causes
}

fn remedies(array: &ArrayShape, worst: &[&PaddedDimension], tail: Option<(u64, u64)>) -> Vec<PaddingRemedy> {
    if array.expansion().unwrap_or(1.0) <= LITTLE {
        return vec![PaddingRemedy::Nothing];
    }
    let better = array.smallest_order().filter(|better| better.byte_size() < array.byte_size());
    let mut remedies = better.map(PaddingRemedy::Order).into_iter().collect::<Vec<_>>();
    remedies.extend(worst.iter().take(MOST_REMEDIES).map(|dimension| {
        let free = match dimension.dimensions.as_slice() {
            [] => return PaddingRemedy::Stack,
            [one] => array.largest_free_size(*one),
            _ => None,
        };
        let reshaping = if dimension.size == 1 {
            Some(Reshaping::Remove)
        } else if dimension.padded_size / 2 >= dimension.size {
            Some(Reshaping::Merge)
        } else {
            None
        };
        let free_size = free.filter(|&free| free > dimension.size);
        PaddingRemedy::Dimension { dimension: (*dimension).clone(), reshaping, free_size }
    }));
    remedies.extend(tail.map(|_| PaddingRemedy::FewerArrays));
    remedies
}
