//! Conversion between layouts and strides, as NumPy and other libraries have them.

use crate::element_type::ElementType;
use crate::layout::Layout;
use crate::layout::error::ValidationError;
use crate::layout::tile::{Tile, TileDimension};
use crate::map::{Source, StrideTableError};
use crate::shape::array::ArrayShape;
use crate::sorting::sort_by_key;
use alloc::vec::Vec;
use core::fmt;

/// Why an array has no strides, or why no layout has given strides.
///
/// ```
/// use xla_shape_core::{ArrayShape, ElementType, StridesError};
///
/// let tiled: ArrayShape = "f32[30,200]{1,0:T(8,128)}".parse()?;
/// assert_eq!(tiled.strides(), Err(StridesError::Tiled { dimension: 1 }));
/// let reversed = ArrayShape::from_strides(ElementType::F32, &[2, 3], &[-3, 1]);
/// assert_eq!(reversed, Err(StridesError::Negative { dimension: 0, stride: -3 }));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum StridesError {
    /// The number of strides is not the number of dimensions.
    Rank {
        /// How many dimensions there are.
        expected: usize,
        /// How many strides there are.
        found: usize,
    },
    /// Tiles cut a dimension, so that no single stride describes it.
    Tiled {
        /// The dimension.
        dimension: usize,
    },
    /// Tiles combine dimensions (`*`), or cut each other unevenly: no strides describe them, even with more dimensions.
    Combined,
    /// A stride is negative: no layout reverses the order of elements.
    Negative {
        /// The dimension.
        dimension: usize,
        /// Its stride, in elements.
        stride: i64,
    },
    /// A stride is 0, or smaller than the span of the more minor dimensions: elements would overlap.
    Overlap {
        /// The dimension.
        dimension: usize,
        /// Its stride, in elements.
        stride: u64,
        /// How many positions the more minor dimensions span: the smallest valid stride.
        expected: u64,
    },
    /// No dimension has stride 1: a gap would follow each element.
    Gaps {
        /// The dimension with the smallest stride.
        dimension: usize,
        /// That stride, in elements.
        stride: u64,
    },
    /// A stride is not a multiple of the next smaller one.
    Uneven {
        /// The dimension.
        dimension: usize,
        /// Its stride, in elements.
        stride: u64,
        /// The next smaller one.
        inner: u64,
    },
    /// The shape is not valid.
    Invalid(ValidationError),
    /// The array has no stride table.
    StrideTable(StrideTableError),
}

impl fmt::Display for StridesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rank { expected, found } => {
                write!(f, "expected {expected} strides, one for each dimension, found {found}")
            }
            Self::Tiled { dimension } => {
                write!(f, "expected an array with strides, found tiles that cut dimension {dimension}")
            }
            Self::Combined => f.write_str(
                "expected an array with strides, found tiles that combine dimensions or cut each other unevenly",
            ),
            Self::Negative { dimension, stride } => {
                write!(f, "expected strides of at least 0, found {stride} in dimension {dimension}")
            }
            Self::Overlap { dimension, stride, expected } => {
                write!(
                    f,
                    "expected a stride of at least {expected} in dimension {dimension}, found {stride}: elements would overlap"
                )
            }
            Self::Gaps { dimension, stride } => {
                write!(f, "expected a dimension of stride 1, found {stride} as the smallest, in dimension {dimension}")
            }
            Self::Uneven { dimension, stride, inner } => {
                write!(f, "expected a stride that is a multiple of {inner} in dimension {dimension}, found {stride}")
            }
            Self::Invalid(error) => error.fmt(f),
            Self::StrideTable(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for StridesError {}

impl From<ValidationError> for StridesError {
    fn from(error: ValidationError) -> Self {
        Self::Invalid(error)
    }
}

impl From<StrideTableError> for StridesError {
    fn from(error: StrideTableError) -> Self {
        Self::StrideTable(error)
    }
}

/// A tiled array as a strided array with more dimensions: each part that tiles cut a dimension into is a dimension of
/// its own.
///
/// It spans the memory of the array, padding included, so a library without tiles, such as NumPy, can view the same
/// memory.
///
/// ```
/// use xla_shape_core::ArrayShape;
///
/// let shape: ArrayShape = "f32[16,256]{1,0:T(8,128)}".parse()?;
/// let strided = shape.strided_dimensions()?;
/// assert_eq!(strided.sizes, [2, 2, 8, 128], "rows of tiles, columns of tiles, rows in a tile, columns in a tile");
/// assert_eq!(strided.strides, [2048, 1024, 128, 1]);
/// assert_eq!(strided.parts[0], Some((0, 8)), "one step goes on by 8 rows");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StridedDimensions {
    /// The sizes, in elements, from the largest stride to the smallest.
    pub sizes: Vec<u64>,
    /// The strides, in elements.
    pub strides: Vec<u64>,
    /// For each dimension, `(dimension, step)`: which dimension of the array it is a part of, and how many elements of
    /// it one step advances. `None` for a dimension that is padding only.
    pub parts: Vec<Option<(usize, u64)>>,
}

impl ArrayShape {
    /// The stride of each dimension, in elements. A dimension of size 1 has stride 0.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// assert_eq!("f32[2,3]{0,1}".parse::<ArrayShape>()?.strides()?, [1, 2]);
    /// let error = "f32[30,200]{1,0:T(8,128)}".parse::<ArrayShape>()?.strides().unwrap_err();
    /// assert_eq!(error.to_string(), "expected an array with strides, found tiles that cut dimension 1");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a dimension has no common stride, or is unbounded.
    pub fn strides(&self) -> Result<Vec<u64>, StridesError> {
        let table = self.stride_table()?;
        if let Some(strides) = table.as_ref().strides() {
            return Ok(strides);
        }
        // A dimension with several digits is cut by tiles.
        let digits = table.as_ref().digits();
        let dimension = |digit: &crate::map::Digit| match digit.term.source {
            Source::Dimension(dimension) => Some(dimension),
            _ => None,
        };
        let mut parts = digits.iter().filter_map(dimension).collect::<Vec<_>>();
        parts.sort_unstable();
        let cut = parts.windows(2).filter_map(|pair| pair.first().filter(|&first| pair.last() == Some(first))).max();
        Err(cut.map_or(StridesError::Combined, |dimension| StridesError::Tiled { dimension: *dimension as usize }))
    }

    /// The shape of an array of these sizes with these strides, both in elements. The order of its dimensions follows
    /// the strides; it gets a tile if a stride is larger than the span of the more minor dimensions.
    ///
    /// Strides of dimensions of size 1 are ignored.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, ElementType};
    ///
    /// let shape = |sizes: &[u64], strides: &[i64]| ArrayShape::from_strides(ElementType::F32, sizes, strides);
    /// assert_eq!(shape(&[2, 3], &[1, 2])?.to_string(), "f32[2,3]{0,1}");
    /// assert_eq!(shape(&[2, 100], &[128, 1])?.to_string(), "f32[2,100]{1,0:T(128)}"); // rows of 128
    /// let error = shape(&[2, 3], &[0, 1]).unwrap_err();
    /// assert_eq!(error.to_string(), "expected a stride of at least 1 in dimension 0, found 0: elements would overlap");
    /// # Ok::<(), xla_shape_core::StridesError>(())
    /// ```
    ///
    /// # Errors
    /// If no layout has these strides.
    pub fn from_strides(element_type: ElementType, sizes: &[u64], strides: &[i64]) -> Result<Self, StridesError> {
        let (expected, found) = (sizes.len(), strides.len());
        if expected != found {
            return Err(StridesError::Rank { expected, found });
        }
        let shape = Self::with_default_layout(element_type, sizes)?;
        if sizes.contains(&0) {
            return Ok(shape);
        }
        let mut order = Vec::with_capacity(sizes.len());
        for (dimension, (&size, &stride)) in sizes.iter().zip(strides).enumerate() {
            if size > 1 {
                order.push((
                    u64::try_from(stride).map_err(|_| StridesError::Negative { dimension, stride })?,
                    dimension,
                ));
            }
        }
        // The most minor dimension first; of equal strides, the later dimension, as in row-major order.
        sort_by_key(&mut order, |&(stride, dimension)| (stride, core::cmp::Reverse(dimension)));
        let pitches = pitches(sizes, &order)?;
        let minor_to_major = with_ones(sizes, &order);
        let layout = Layout::new(&minor_to_major)?;
        let pitch = |&dimension: &usize| pitches.get(dimension).copied().unwrap_or(1);
        // One tile expresses the padding: its sizes are the pitches, up to the most major dimension that has padding.
        let padded = |dimension: &usize| sizes.get(*dimension).is_some_and(|&size| pitch(dimension) != size);
        let layout = match minor_to_major.iter().rposition(padded) {
            None => layout,
            Some(last) => {
                let tile = minor_to_major.iter().take(last + 1).rev();
                let tile = tile.map(|dimension| TileDimension::Size(pitch(dimension))).collect::<Vec<_>>();
                layout.with_tiles(&[Tile::new(&tile)])?
            }
        };
        Ok(shape.with_layout(layout)?)
    }

    /// The array as a strided array with more dimensions, one for each part that tiles cut a dimension into.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let strided = "f32[30,200]{1,0:T(8,128)}".parse::<ArrayShape>()?.strided_dimensions()?;
    /// assert_eq!(strided.sizes, [4, 2, 8, 128]); // tiles down, tiles across, rows, columns
    /// assert_eq!(strided.strides, [2048, 1024, 128, 1]);
    /// assert_eq!(strided.parts, [Some((0, 8)), Some((1, 128)), Some((0, 1)), Some((1, 1))]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If tiles combine dimensions or cut each other unevenly, or a dimension is unbounded.
    pub fn strided_dimensions(&self) -> Result<StridedDimensions, StridesError> {
        let table = self.stride_table()?;
        let table = table.as_ref();
        let mut strided = StridedDimensions { sizes: Vec::new(), strides: Vec::new(), parts: Vec::new() };
        for digit in table.digits() {
            strided.parts.push(match digit.term.source {
                Source::Zero => None,
                Source::Dimension(dimension) => Some((dimension as usize, digit.term.divisor.get())),
                Source::Intermediate(_) => return Err(StridesError::Combined),
            });
            strided.sizes.push(digit.size);
            strided.strides.push(digit.stride);
        }
        if table.intermediates().is_empty() { Ok(strided) } else { Err(StridesError::Combined) }
    }
}

/// Adds the dimensions of size 1 to an order from minor to major. Positions do not depend on their places. Each is placed as in row-major order:
/// one place more minor than the dimension before it; those at the beginning become the most major ones.
fn with_ones(sizes: &[u64], order: &[(u64, usize)]) -> Vec<usize> {
    let is_one = |&dimension: &usize| sizes.get(dimension) == Some(&1);
    let mut all = Vec::with_capacity(sizes.len());
    for &(_, dimension) in order {
        // The dimensions of size 1 that follow this one are just more minor than it, in row-major order.
        let inside = (dimension + 1)..sizes.len();
        let count = inside.clone().take_while(is_one).count();
        all.extend(inside.take(count).rev());
        all.push(dimension);
    }
    let outside = (0..sizes.len()).take_while(is_one).count();
    all.extend((0..outside).rev());
    all
}

/// The padded length of each dimension; the most major one is not padded.
fn pitches(sizes: &[u64], order: &[(u64, usize)]) -> Result<Vec<u64>, StridesError> {
    let mut pitches = sizes.to_vec();
    let mut put = |dimension: usize, pitch: u64| {
        if let Some(place) = pitches.get_mut(dimension) {
            *place = pitch;
        }
    };
    if let Some(&(stride, dimension)) = order.first() {
        match stride {
            0 => return Err(StridesError::Overlap { dimension, stride, expected: 1 }),
            1 => {}
            _ => return Err(StridesError::Gaps { dimension, stride }),
        }
    }
    for pair in order.windows(2) {
        let &[(inner, minor), (stride, dimension)] = pair else { continue };
        let size = sizes.get(minor).copied().unwrap_or(1);
        // The pitch of a dimension is its size with padding: the stride of the next dimension divided by its own stride.
        let expected = inner.saturating_mul(size);
        if stride < expected {
            return Err(StridesError::Overlap { dimension, stride, expected });
        }
        match (stride.checked_div(inner), stride.checked_rem(inner)) {
            (Some(pitch), Some(0)) => put(minor, pitch),
            _ => return Err(StridesError::Uneven { dimension, stride, inner }),
        }
    }
    Ok(pitches)
}
