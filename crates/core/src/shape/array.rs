//! The shape of an array.

use crate::element_type::ElementType;
use crate::layout::dimension::Dimension;
use crate::layout::error::ValidationError;
use crate::layout::{ArrayLayout, Layout};
use crate::list::{Blank, List};
use crate::map::size;
use crate::map::{Digit, Intermediate, StaticStrideTable, StrideTable, StrideTableError};
use crate::shape::validate;
use crate::sink::Sink;

/// The shape of an array: element type, dimensions and layout. Always valid.
///
/// Parsing normalizes: texts with the same meaning, such as `f32[2]` and `f32[2]{0}`, give equal shapes.
///
/// ```
/// use xla_shape_core::{ArrayShape, ElementType};
///
/// let shape: ArrayShape = "bf16[100,200]{1,0:T(8,128)(2,1)}".parse()?;
/// assert_eq!(shape.element_type(), ElementType::Bf16);
/// assert_eq!(shape.elements(), Some(20_000));
/// assert_eq!(shape.physical_elements(), Some(104 * 256));
/// assert_eq!(shape.byte_size(), Some(104 * 256 * 2));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ArrayShape {
    element_type: ElementType,
    dimensions: List<Dimension, 2>,
    layout: ArrayLayout,
}

/// Writes an array shape without its layout.
pub(crate) const fn write_without_layout(sink: &mut Sink<'_>, element_type: ElementType, dimensions: &[Dimension]) {
    sink.text(element_type.name());
    sink.byte(b'[');
    let mut dimensions = dimensions;
    let mut comma = "";
    while let [first, rest @ ..] = dimensions {
        sink.text(comma);
        first.write(sink);
        (dimensions, comma) = (rest, ",");
    }
    sink.byte(b']');
}

impl ArrayShape {
    /// An array of these dimensions in this layout.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, Dimension, ElementType};
    ///
    /// let dimensions = [Dimension::Bounded(8), Dimension::Static(128)];
    /// let shape = ArrayShape::new(ElementType::F32, &dimensions, "{1,0:T(8,128)}".parse()?)?;
    /// assert_eq!(shape.to_string(), "f32[<=8,128]{1,0:T(8,128)}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the layout does not fit the dimensions, or a size does not fit in an i64.
    pub fn new(element_type: ElementType, dimensions: &[Dimension], layout: Layout) -> Result<Self, ValidationError> {
        Self { element_type, dimensions: List::from_slice(dimensions), layout: layout.into() }.validated()
    }

    /// An array of these static sizes in the default layout: row-major, no tiles. XLA's `ShapeUtil::MakeShape`.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, ElementType};
    ///
    /// let shape = ArrayShape::with_default_layout(ElementType::F32, &[2, 3])?;
    /// assert_eq!(shape.to_string(), "f32[2,3]{1,0}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a size does not fit in an i64.
    pub fn with_default_layout(element_type: ElementType, sizes: &[u64]) -> Result<Self, ValidationError> {
        let mut dimensions = List::EMPTY;
        for &size in sizes {
            dimensions.push(Dimension::Static(size));
        }
        Self { element_type, dimensions, layout: ArrayLayout::descending(sizes.len()) }.validated()
    }

    /// An array shape from its parts, usable in a `const` without allocation.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, Dimension::Static, ElementType, Layout, LayoutAttributes};
    ///
    /// static LAYOUT: Layout = Layout::from_static(&[1, 0], &[], LayoutAttributes::DEFAULT);
    /// static SHAPE: ArrayShape = ArrayShape::from_static(ElementType::F32, &[Static(2), Static(3)], &LAYOUT);
    /// assert_eq!(SHAPE.to_string(), "f32[2,3]{1,0}");
    /// ```
    ///
    /// # Panics
    /// If the layout does not fit the dimensions or a size is too large, with the text of the [`ValidationError`];
    /// in a `const`, that is a compile error.
    #[must_use]
    pub const fn from_static(
        element_type: ElementType,
        dimensions: &'static [Dimension],
        layout: &'static Layout,
    ) -> Self {
        let (mut digits, mut intermediates) = (
            [Digit::BLANK; StaticStrideTable::MAX_DIGITS],
            [Intermediate::BLANK; StaticStrideTable::MAX_INTERMEDIATES],
        );
        let scratch = size::Scratch { digits: &mut digits, intermediates: Some(&mut intermediates) };
        let shape = Self { element_type, dimensions: List::Static(dimensions), layout: ArrayLayout::Static(layout) };
        if let Err(error) = validate::array(element_type, dimensions, layout, scratch) {
            error.panic_about(shape.const_text::<512>().as_str());
        }
        shape
    }

    /// A shape from parts that the parser has read, not validated: the caller must call [`check`](Self::check).
    pub(crate) const fn unchecked(
        element_type: ElementType,
        dimensions: List<Dimension, 2>,
        layout: ArrayLayout,
    ) -> Self {
        Self { element_type, dimensions, layout }
    }

    /// Checks all rules, those of the layout included.
    #[inline]
    pub(crate) fn check(&self) -> Result<(), ValidationError> {
        // A wrong number of dimensions is reported before any error in one of them.
        validate::num_dimensions(self.dimensions.as_slice(), self.layout())?;
        if let ArrayLayout::Own(layout) = &self.layout {
            layout.check()?;
        }
        self.check_dimensions()
    }

    /// Checks that a valid layout fits the dimensions.
    #[inline]
    fn check_dimensions(&self) -> Result<(), ValidationError> {
        let (element_type, dimensions, layout) = (self.element_type, self.dimensions.as_slice(), self.layout());
        validate::dimensions(dimensions, layout)?;
        if size::surely_fits(element_type, dimensions, layout) {
            return Ok(());
        }
        size::with_scratch(layout, |scratch| size::check(element_type, dimensions, layout, scratch))
    }

    fn validated(self) -> Result<Self, ValidationError> {
        self.check_dimensions()?;
        Ok(self)
    }

    /// The type of the elements.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "bf16[100,200]{1,0:T(8,128)(2,1)}".parse()?;
    /// assert_eq!(shape.element_type(), xla_shape_core::ElementType::Bf16);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub const fn element_type(&self) -> ElementType {
        self.element_type
    }

    /// The sizes of the dimensions, dimension 0 first.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, Dimension};
    ///
    /// let shape: ArrayShape = "f32[<=8,128,?]".parse()?;
    /// assert_eq!(shape.dimensions(), [Dimension::Bounded(8), Dimension::Static(128), Dimension::Unbounded]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub const fn dimensions(&self) -> &[Dimension] {
        self.dimensions.as_slice()
    }

    /// The layout: how the elements are arranged in memory.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "bf16[100,200]{1,0:T(8,128)(2,1)}".parse()?;
    /// assert_eq!(shape.layout().minor_to_major(), [1, 0]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub const fn layout(&self) -> &Layout {
        self.layout.get()
    }

    /// The same array in another layout.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[16,256]".parse()?;
    /// assert_eq!(shape.with_layout("{0,1:T(8,128)}".parse()?)?.to_string(), "f32[16,256]{0,1:T(8,128)}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the layout does not fit the dimensions, or makes a size that does not fit in an i64.
    pub fn with_layout(mut self, layout: Layout) -> Result<Self, ValidationError> {
        self.layout = layout.into();
        self.validated()
    }

    /// The number of dimensions, formerly called the rank.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "bf16[100,200]{1,0:T(8,128)(2,1)}".parse()?;
    /// assert_eq!(shape.num_dimensions(), 2);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub const fn num_dimensions(&self) -> usize {
        self.dimensions().len()
    }

    /// The number of dimensions whose size (or bound) is greater than 1, formerly called the true rank.
    ///
    /// ```
    /// assert_eq!("f32[2,1,3]".parse::<xla_shape_core::ArrayShape>()?.true_num_dimensions(), 2);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]
    pub const fn true_num_dimensions(&self) -> usize {
        let mut count = 0_usize;
        let mut i = 0;
        while i < self.num_dimensions() {
            if let Some(2..) = self.dimensions()[i].extent() {
                count += 1;
            }
            i += 1;
        }
        count
    }

    /// Whether every dimension is static.
    ///
    /// ```
    /// assert!(!"f32[<=8,128]".parse::<xla_shape_core::ArrayShape>()?.is_static());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_static(&self) -> bool {
        self.dimensions().iter().all(|dimension| !dimension.is_dynamic())
    }

    fn is_bounded(&self) -> bool {
        !size::is_unbounded(self.dimensions())
    }

    /// The number of elements: the product of the sizes, or bounds. `None` if a dimension is unbounded.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "bf16[100,200]{1,0:T(8,128)(2,1)}".parse()?;
    /// assert_eq!(shape.elements(), Some(20_000));
    /// assert_eq!("f32[2,?]".parse::<xla_shape_core::ArrayShape>()?.elements(), None);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn elements(&self) -> Option<u64> {
        self.is_bounded().then(|| size::elements(self.dimensions()).ok()).flatten()
    }

    /// The number of positions, in elements, padding included. A split dimension counts with its largest piece. `None`
    /// if a dimension is unbounded.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "bf16[100,200]{1,0:T(8,128)(2,1)}".parse()?;
    /// assert_eq!(shape.physical_elements(), Some(104 * 256)); // whole tiles
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn physical_elements(&self) -> Option<u64> {
        self.sized(|scratch| size::physical_elements(self.dimensions(), self.layout(), scratch))
    }

    /// The bits that one element takes: the layout's `E(n)`, or the element type's
    /// [`storage_bits`](ElementType::storage_bits).
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// assert_eq!("s4[16]".parse::<ArrayShape>()?.element_bits(), 8); // one per byte
    /// assert_eq!("s4[16]{0:E(4)}".parse::<ArrayShape>()?.element_bits(), 4); // packed
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub const fn element_bits(&self) -> u64 {
        size::element_bits(self.element_type, self.layout())
    }

    /// The bytes that the array takes, with padding and with the prefix for bounded dimensions. `None` if a dimension
    /// is unbounded.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "bf16[100,200]{1,0:T(8,128)(2,1)}".parse()?;
    /// assert_eq!(shape.byte_size(), Some(104 * 256 * 2));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn byte_size(&self) -> Option<u64> {
        self.sized(|scratch| size::bytes(self.element_type, self.dimensions(), self.layout(), scratch))
    }

    fn sized(&self, size: impl FnOnce(size::Scratch<'_>) -> Result<u64, ValidationError>) -> Option<u64> {
        self.is_bounded().then(|| size::with_scratch(self.layout(), size).ok()).flatten()
    }

    /// The number of elements, positions and bytes, for a `const`. `None` if a dimension is unbounded.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, Dimension::Static, ElementType, Layout, LayoutAttributes};
    ///
    /// static LAYOUT: Layout = Layout::from_static(&[1, 0], &[], LayoutAttributes::DEFAULT);
    /// static SHAPE: ArrayShape = ArrayShape::from_static(ElementType::F32, &[Static(2), Static(3)], &LAYOUT);
    /// const BYTES: u64 = SHAPE.sizes_in_const().unwrap().bytes;
    /// assert_eq!(BYTES, 24);
    /// ```
    ///
    /// # Panics
    /// If the layout has more dimensions and tiles than a table in a `const` can hold.
    #[must_use]
    pub const fn sizes_in_const(&self) -> Option<Sizes> {
        if size::is_unbounded(self.dimensions()) {
            return None;
        }
        let mut digits = [Digit::BLANK; StaticStrideTable::MAX_DIGITS];
        let mut intermediates = [Intermediate::BLANK; StaticStrideTable::MAX_INTERMEDIATES];
        let scratch = size::Scratch { digits: &mut digits, intermediates: Some(&mut intermediates) };
        let Ok(elements) = size::elements(self.dimensions()) else { return None };
        let Ok(physical_elements) = size::physical_elements(self.dimensions(), self.layout(), scratch) else {
            return None;
        };
        match size::bytes_of(self.element_type, physical_elements, self.layout()) {
            Ok(bytes) => Some(Sizes { elements, physical_elements, bytes }),
            Err(_) => None,
        }
    }

    /// The bytes on the heap that the shape holds.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.dimensions.heap_bytes() + self.layout.heap_bytes()
    }

    /// The stride table: the map from indices to positions.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "bf16[100,200]{1,0:T(8,128)(2,1)}".parse()?;
    /// let table = shape.stride_table()?;
    /// assert_eq!(table.as_ref().linear_index(&[1, 0]), 1); // rows alternate in pairs
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a dimension is unbounded, or if the shape has splits and its number of positions without them does not fit in
    /// an i64.
    pub fn stride_table(&self) -> Result<StrideTable, StrideTableError> {
        let mut table = StrideTable::BLANK;
        table.assign(self.dimensions(), self.layout())?;
        Ok(table)
    }

    /// Writes the stride table into `table` and returns the array's sizes, as [`stride_table`](Self::stride_table) and
    /// [`byte_size`](Self::byte_size) do. Faster than both: the tiles are processed once, and `table` keeps its
    /// storage.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, StrideTable};
    ///
    /// let shape: ArrayShape = "f32[3,1000]{1,0:T(8,128)}".parse()?;
    /// let mut table = StrideTable::BLANK;
    /// assert_eq!(shape.stride_table_into(&mut table)?.bytes, 8 * 1024 * 4);
    /// assert_eq!(table, shape.stride_table()?);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`stride_table`](Self::stride_table); then the content of `table` is unspecified.
    pub fn stride_table_into(&self, table: &mut StrideTable) -> Result<Sizes, StrideTableError> {
        table.assign(self.dimensions(), self.layout())?;
        // The table covers whole dimensions, but memory holds only the largest piece of a split one.
        let physical_elements = if self.layout().split_configs().is_empty() {
            size::with_tail_padding(table.as_ref().positions(), self.layout()).ok()
        } else {
            self.physical_elements()
        };
        // The product of a valid shape's sizes does not overflow.
        let elements = table.as_ref().extents().iter().fold(1, |elements: u64, size| elements.saturating_mul(*size));
        let sizes = || {
            let physical_elements = physical_elements?;
            let bytes = size::bytes_of(self.element_type, physical_elements, self.layout()).ok()?;
            Some(Sizes { elements, physical_elements, bytes })
        };
        sizes().ok_or(StrideTableError::Overflow)
    }

    /// The table of the layout with only its first `tiles` tiles, for showing how tiling works step by step. Unlike in
    /// [`stride_table`](Self::stride_table), every dimension and every entry of a tile has its own digit, even one of
    /// size 1.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let shape: ArrayShape = "f32[3,1000]{1,0:T(8,128)}".parse()?;
    /// let sizes = |tiles| -> Result<Vec<_>, _> {
    ///     Ok(shape.stride_table_after_tiles(tiles)?.as_ref().digits().iter().map(|digit| digit.size).collect())
    /// };
    /// assert_eq!(sizes(0), Ok(vec![3, 1000]));
    /// assert_eq!(sizes(1), Ok::<_, xla_shape_core::StrideTableError>(vec![1, 8, 8, 128]));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`stride_table`](Self::stride_table).
    pub fn stride_table_after_tiles(&self, tiles: usize) -> Result<StrideTable, StrideTableError> {
        let mut table = StrideTable::BLANK;
        table.assign_after_tiles(self.dimensions(), self.layout(), tiles)?;
        Ok(table)
    }
}

/// The size of an array in elements, positions and bytes.
///
/// ```
/// use xla_shape_core::ArrayShape;
///
/// let shape: ArrayShape = "f32[100,1]{1,0:T(8,128)}".parse()?;
/// let sizes = shape.sizes_in_const().unwrap();
/// assert_eq!((sizes.elements, sizes.physical_elements, sizes.bytes), (100, 104 * 128, 4 * 104 * 128));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sizes {
    /// [`ArrayShape::elements`].
    pub elements: u64,
    /// [`ArrayShape::physical_elements`].
    pub physical_elements: u64,
    /// [`ArrayShape::byte_size`].
    pub bytes: u64,
}
