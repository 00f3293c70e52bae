//! Layouts of 2017, in which each dimension is padded to a width, and the padding has a value.
//!
//! The `LayoutProto` of 2017 had the fields `minor_to_major`, `padded_dimensions` and `padding_value`. Elements have the same positions as in an
//! array whose sizes are the widths. That is a modern layout with one tile (the widths from major to minor), plus a padding value. So a
//! [`LegacyShape`] holds both, and [`LegacyShape::modern`] gives the positions of elements.
//!
//! XLA has no text for these layouts. Instead of tiles, this module writes `PAD(…)`, with the widths from dimension 0 on, and `V(…)`:
//! `f32[2,3]{0,1:PAD(3,5)V(zero)}`. [`parse`] reads such a text even if more text follows.

mod error;
#[cfg(feature = "proto")]
mod proto;
#[cfg(feature = "serde")]
mod serde;
mod text;
mod value;

pub use error::LegacyError;
#[cfg(feature = "proto")]
pub use proto::{LegacyLayoutProto, LegacyShapeProto};
pub use text::{is_next, parse};
pub use value::PaddingValue;

use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;
use xla_shape_core::limits::MAX_SIZE;
use xla_shape_core::map::Source;
use xla_shape_core::{ArrayShape, Dimension, ElementType, Layout, Tile, TileDimension};

/// The shape of an array in a layout of 2017. Always valid.
///
/// Shapes with the same meaning are equal, so attributes without effect are dropped:
///
/// - An array without padded widths has no padding value.
/// - An array without elements takes no bytes, as in every layout here and in XLA, even if its widths are not 0. A
///   width of 0 counts as 1: `f32[0,2]{1,0:PAD(0,4)}` is `f32[0,2]{1,0:PAD(1,4)}`.
///
/// Tuples had no layout in 2017, only their elements had: represent a tuple as a `Shape` of their
/// [`modern`](Self::modern) shapes, and store the padding values separately.
///
/// ```
/// use xla_shape_parity::legacy::{LegacyShape, PaddingValue};
///
/// let shape: LegacyShape = "f32[2,3]{0,1:PAD(3,5)V(zero)}".parse()?;
/// assert_eq!(shape.padded_dimensions(), [3, 5]);
/// assert_eq!(shape.padding_value(), Some(PaddingValue::Zero));
/// assert_eq!(shape.modern().to_string(), "f32[2,3]{0,1:T(5,3)}");
/// assert_eq!(shape.to_string(), "f32[2,3]{0,1:PAD(3,5)V(zero)}");
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LegacyShape {
    modern: ArrayShape,
    padded_dimensions: Cow<'static, [u64]>,
    padding_value: Option<PaddingValue>,
}

impl LegacyShape {
    /// An array of these sizes, each padded to its width in `padded_dimensions`, from dimension 0 on; an empty list
    /// means no padding. Without padding, the padding value is dropped. A width of 0 becomes 1.
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    /// use xla_shape_parity::legacy::{LegacyShape, PaddingValue};
    ///
    /// let shape = LegacyShape::new(ElementType::F32, &[2, 3], &[0, 1], &[3, 5], Some(PaddingValue::Zero))?;
    /// assert_eq!(shape.to_string(), "f32[2,3]{0,1:PAD(3,5)V(zero)}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If `minor_to_major` is not a permutation of the dimensions, there is not one width for each size, a width is
    /// smaller than its size, or the array is too large.
    pub fn new(
        element_type: ElementType,
        sizes: &[u64],
        minor_to_major: &[usize],
        padded_dimensions: &[u64],
        padding_value: Option<PaddingValue>,
    ) -> Result<Self, LegacyError> {
        let dimensions = sizes.iter().copied().map(Dimension::Static).collect::<Vec<_>>();
        let unpadded = ArrayShape::new(element_type, &dimensions, Layout::new(minor_to_major)?)?;
        Self::padded(unpadded, sizes, padded_dimensions, padding_value)
    }

    /// Adds padding to this array, which has static sizes and no tiles yet.
    fn padded(
        unpadded: ArrayShape,
        sizes: &[u64],
        padded_dimensions: &[u64],
        padding_value: Option<PaddingValue>,
    ) -> Result<Self, LegacyError> {
        check_widths(sizes, padded_dimensions)?;
        let padded_dimensions = padded_dimensions.iter().map(|&width| width.max(1)).collect::<Vec<_>>();
        let mut modern = unpadded;
        if !padded_dimensions.is_empty() {
            let order = modern.layout().minor_to_major().iter().rev();
            let widths = order.filter_map(|&dimension| padded_dimensions.get(dimension)).copied();
            let layout = modern.layout().clone().with_tiles(&[Tile::from_sizes(widths)])?;
            modern = modern.with_layout(layout)?;
        }
        let padding_value = padding_value.filter(|_| !padded_dimensions.is_empty());
        Ok(Self { modern, padded_dimensions: Cow::Owned(padded_dimensions), padding_value })
    }

    /// A shape from its [`modern`](Self::modern) shape and its padded widths, usable in a `const` without allocation.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, Dimension::Static, ElementType, Layout, LayoutAttributes};
    /// use xla_shape_parity::legacy::LegacyShape;
    ///
    /// static LAYOUT: Layout = Layout::from_static(&[0, 1], &[], LayoutAttributes::DEFAULT);
    /// static SHAPE: LegacyShape =
    ///     LegacyShape::from_static(ArrayShape::from_static(ElementType::F32, &[Static(2), Static(3)], &LAYOUT), &[], None);
    /// assert_eq!(SHAPE.to_string(), "f32[2,3]{0,1}");
    /// ```
    ///
    /// # Panics
    /// If the modern shape is not the one that [`new`](Self::new) makes of these widths; in a `const`, that is a
    /// compile error.
    #[must_use]
    pub const fn from_static(
        modern: ArrayShape,
        padded_dimensions: &'static [u64],
        padding_value: Option<PaddingValue>,
    ) -> Self {
        assert!(
            is_modern(&modern, padded_dimensions),
            "expected the tile of the modern shape to be the padded dimensions"
        );
        Self { modern, padded_dimensions: Cow::Borrowed(padded_dimensions), padding_value }
    }

    /// The shape of 2017 in which every element has the same position as in `array`. `None` if no such shape exists, because a
    /// size is not static, padded dimensions would give other positions, or the layout has attributes (memory
    /// space, packing, alignment, …).
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    /// use xla_shape_parity::legacy::LegacyShape;
    ///
    /// let tiled: ArrayShape = "f32[3,8]{1,0:T(3,5)}".parse()?;
    /// assert_eq!(LegacyShape::from_modern(&tiled, None), None); // the first row ends after the second one's beginning
    /// let tiled: ArrayShape = "f32[3,8]{1,0:T(1,5)}".parse()?;
    /// assert_eq!(LegacyShape::from_modern(&tiled, None).unwrap().to_string(), "f32[3,8]{1,0:PAD(3,10)}");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn from_modern(array: &ArrayShape, padding_value: Option<PaddingValue>) -> Option<Self> {
        let sizes = array.is_static().then(|| array.dimensions().iter().filter_map(|size| size.extent()))?;
        let sizes = sizes.collect::<Vec<_>>();
        let order = array.layout().minor_to_major();
        let plain = Layout::new(order).ok()?.with_tiles(array.layout().tiles()).ok()?;
        if plain != *array.layout() {
            return None;
        }
        let build = |order: &[usize], widths: &[u64]| {
            Self::new(array.element_type(), &sizes, order, widths, padding_value).ok()
        };
        if array.layout().is_untiled() {
            return build(order, &[]);
        }
        let (order, widths) = padded(array, &sizes)?;
        build(&order, &widths)
    }

    /// The same array in a modern layout: with one tile, whose sizes are the padded widths.
    ///
    /// ```
    /// use xla_shape_parity::legacy::LegacyShape;
    ///
    /// let shape: LegacyShape = "f32[2,3]{0,1:PAD(3,5)V(one)}".parse()?;
    /// assert_eq!(shape.modern().to_string(), "f32[2,3]{0,1:T(5,3)}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn modern(&self) -> &ArrayShape {
        &self.modern
    }

    /// The type of the elements.
    ///
    /// ```
    /// let shape: xla_shape_parity::legacy::LegacyShape = "f32[2,3]{0,1:PAD(3,5)}".parse()?;
    /// assert_eq!(shape.element_type(), xla_shape_core::ElementType::F32);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn element_type(&self) -> ElementType {
        self.modern.element_type()
    }

    /// The sizes of the dimensions, dimension 0 first; all are static.
    ///
    /// ```
    /// use xla_shape_core::Dimension::Static;
    ///
    /// let shape: xla_shape_parity::legacy::LegacyShape = "f32[2,3]{0,1:PAD(3,5)}".parse()?;
    /// assert_eq!(shape.dimensions(), [Static(2), Static(3)]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn dimensions(&self) -> &[Dimension] {
        self.modern.dimensions()
    }

    /// The dimensions from the fastest varying one to the slowest.
    ///
    /// ```
    /// let shape: xla_shape_parity::legacy::LegacyShape = "f32[2,3]{0,1:PAD(3,5)}".parse()?;
    /// assert_eq!(shape.minor_to_major(), [0, 1]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn minor_to_major(&self) -> &[usize] {
        self.modern.layout().minor_to_major()
    }

    /// The width of each dimension in memory, dimension 0 first, in elements; empty if there is no padding.
    ///
    /// ```
    /// use xla_shape_parity::legacy::LegacyShape;
    ///
    /// let shape: LegacyShape = "f32[2,3]{0,1:PAD(3,5)V(one)}".parse()?;
    /// assert_eq!(shape.padded_dimensions(), [3, 5]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn padded_dimensions(&self) -> &[u64] {
        match &self.padded_dimensions {
            Cow::Borrowed(widths) => widths,
            Cow::Owned(widths) => widths.as_slice(),
        }
    }

    /// The value in the padding; `None` if it is unspecified.
    ///
    /// ```
    /// use xla_shape_parity::legacy::{LegacyShape, PaddingValue};
    ///
    /// let shape: LegacyShape = "f32[2,3]{0,1:PAD(3,5)V(one)}".parse()?;
    /// assert_eq!(shape.padding_value(), Some(PaddingValue::One));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn padding_value(&self) -> Option<PaddingValue> {
        self.padding_value
    }

    /// The bits of the padding value as an element; `None` if it is unspecified, or the element type has no such value.
    ///
    /// ```
    /// use xla_shape_parity::legacy::LegacyShape;
    ///
    /// let shape: LegacyShape = "f32[2,3]{0,1:PAD(3,5)V(one)}".parse()?;
    /// assert_eq!(shape.padding_bits(), Some(1_f32.to_bits().into()));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn padding_bits(&self) -> Option<u128> {
        self.padding_value?.bits(self.element_type())
    }
}

/// Whether a modern shape has one tile of these widths (none if there are no widths), and no attribute that layouts of
/// 2017 lacked.
#[expect(
    clippy::indexing_slicing,
    reason = "`const fn` has no iterators; every index is below a length that is checked"
)]
const fn is_modern(modern: &ArrayShape, widths: &[u64]) -> bool {
    let layout = modern.layout();
    let plain = layout.has_default_attributes();
    if !plain || widths.is_empty() {
        return plain && layout.tiles().is_empty();
    }
    if layout.tiles().len() != 1 || widths.len() != modern.num_dimensions() {
        return false;
    }
    let entries = layout.tiles()[0].dimensions();
    let mut place = 0;
    while place < widths.len() {
        let dimension = layout.minor_to_major()[widths.len() - 1 - place];
        let width = widths[dimension];
        let (Dimension::Static(size), true) = (modern.dimensions()[dimension], entries.len() == widths.len()) else {
            return false;
        };
        match entries[place] {
            TileDimension::Size(entry) if entry == width && width >= size => {}
            _ => return false,
        }
        place += 1;
    }
    true
}

fn check_widths(sizes: &[u64], widths: &[u64]) -> Result<(), LegacyError> {
    if widths.is_empty() {
        return Ok(());
    }
    if widths.len() != sizes.len() {
        return Err(LegacyError::WidthCount { dimensions: sizes.len(), widths: widths.len() });
    }
    for (dimension, (&size, &width)) in sizes.iter().zip(widths).enumerate() {
        if width < size {
            return Err(LegacyError::WidthTooSmall { dimension, width, size });
        }
        if width > MAX_SIZE {
            return Err(LegacyError::WidthTooLarge { dimension, width });
        }
    }
    Ok(())
}

/// An order of the dimensions, and their widths, with which every element has the same position as in `array`.
fn padded(array: &ArrayShape, sizes: &[u64]) -> Option<(Vec<usize>, Vec<u64>)> {
    let order = array.layout().minor_to_major();
    if let [tile] = array.layout().tiles()
        && tile.dimensions().len() == sizes.len()
    {
        // If one tile covers all dimensions and holds the whole array, its sizes are the widths.
        let mut fits = true;
        let mut widths = vec![1; sizes.len()];
        for (entry, &dimension) in tile.dimensions().iter().zip(order.iter().rev()) {
            let (TileDimension::Size(entry), Some(&size), Some(width)) =
                (entry, sizes.get(dimension), widths.get_mut(dimension))
            else {
                return None;
            };
            *width = *entry;
            fits &= *entry >= size;
        }
        if fits {
            return Some((order.to_vec(), widths));
        }
    }
    let table = array.stride_table().ok()?;
    if array.elements() == Some(0) {
        return Some((order.to_vec(), sizes.to_vec()));
    }
    // Otherwise, each dimension with more than one element must be a single digit. A dimension's width is the next larger stride divided by the
    // dimension's own stride.
    let form = table.as_ref().canonical().ok()?;
    let mut digits = Vec::new();
    for digit in form.digits() {
        let Source::Dimension(dimension) = digit.term.source else { return None };
        let dimension = dimension as usize;
        if Some(&digit.size) != sizes.get(dimension) {
            return None;
        }
        digits.push((dimension, digit.stride));
    }
    digits.sort_unstable_by_key(|&(_, stride)| stride);
    let mut minor_to_major = Vec::new();
    let mut widths = vec![1; sizes.len()];
    let mut ones = order.iter().copied().filter(|&dimension| sizes.get(dimension) == Some(&1));
    if digits.first().is_some_and(|&(_, stride)| stride != 1) {
        // The first stride is not 1: only a padded dimension of size 1 can be more minor.
        minor_to_major.push((ones.next()?, 1));
    }
    minor_to_major.append(&mut digits);
    let ends = minor_to_major
        .iter()
        .skip(1)
        .map(|&(_, stride)| stride)
        .chain([table.as_ref().positions()])
        .collect::<Vec<_>>();
    for (&(dimension, stride), end) in minor_to_major.iter().zip(ends) {
        let width = end.checked_div(stride).filter(|width| width.checked_mul(stride) == Some(end))?;
        *widths.get_mut(dimension)? = width;
    }
    let mut order = minor_to_major.into_iter().map(|(dimension, _)| dimension).collect::<Vec<_>>();
    if order.is_empty() && table.as_ref().positions() > 1 {
        // A single element with padding: give the padding to a dimension of size 1.
        let first = ones.next()?;
        *widths.get_mut(first)? = table.as_ref().positions();
        order.push(first);
    }
    order.extend(ones);
    Some((order, widths))
}
