//! Whether two shapes or layouts are equal, all of them or in part.
//!
//! `==` compares everything. [`ShapeEqual`] and [`LayoutEqual`] leave out what they are told to, as XLA's `Shape::Equal` and
//! `Layout::Equal` do; the methods of [`Shape`] are the combinations that XLA gives names.

use crate::element_type::ElementType;
use crate::layout::Layout;
use crate::layout::dimension::Dimension;
use crate::shape::Shape;
use crate::shape::array::ArrayShape;

/// Compares layouts, all of them or in part.
///
/// ```
/// use xla_shape_core::{Layout, compare::LayoutEqual};
///
/// let a: Layout = "{1,0:T(8,128)}".parse()?;
/// let b: Layout = "{1,0:T(8,128)S(1)}".parse()?;
/// assert!(!LayoutEqual::new().compare(&a, &b));
/// assert!(LayoutEqual::new().ignore_memory_space().compare(&a, &b));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct LayoutEqual {
    ignore_tiles: bool,
    ignore_tail_padding_alignment_in_elements: bool,
    ignore_element_size: bool,
    ignore_memory_space: bool,
    ignore_split_configs: bool,
    ignore_dynamic_shape_metadata_prefix_bytes: bool,
}

macro_rules! options {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        $($(#[$doc])* #[must_use] pub const fn $name(mut self) -> Self { self.$name = true; self })*
    };
}

impl LayoutEqual {
    /// Compares everything, as `==` does.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            ignore_tiles: false,
            ignore_tail_padding_alignment_in_elements: false,
            ignore_element_size: false,
            ignore_memory_space: false,
            ignore_split_configs: false,
            ignore_dynamic_shape_metadata_prefix_bytes: false,
        }
    }

    options! {
        /// Leaves the tiles out.
        ignore_tiles,
        /// Leaves `L(n)` out.
        ignore_tail_padding_alignment_in_elements,
        /// Leaves `E(n)` out.
        ignore_element_size,
        /// Leaves `S(n)` out.
        ignore_memory_space,
        /// Leaves `SC(…)` out.
        ignore_split_configs,
        /// Leaves `M(n)` out.
        ignore_dynamic_shape_metadata_prefix_bytes,
    }

    /// Compares only the order of the dimensions.
    #[must_use]
    pub const fn minor_to_major_only(self) -> Self {
        self.ignore_tiles()
            .ignore_tail_padding_alignment_in_elements()
            .ignore_element_size()
            .ignore_memory_space()
            .ignore_split_configs()
            .ignore_dynamic_shape_metadata_prefix_bytes()
    }

    /// Whether the layouts are equal, except for what is left out.
    #[must_use]
    pub fn compare(&self, a: &Layout, b: &Layout) -> bool {
        a.minor_to_major() == b.minor_to_major()
            && (self.ignore_tiles || a.tiles() == b.tiles())
            && (self.ignore_tail_padding_alignment_in_elements
                || a.tail_padding_alignment_in_elements() == b.tail_padding_alignment_in_elements())
            && (self.ignore_element_size || a.element_size_in_bits() == b.element_size_in_bits())
            && (self.ignore_memory_space || a.memory_space() == b.memory_space())
            && (self.ignore_split_configs || a.split_configs() == b.split_configs())
            && (self.ignore_dynamic_shape_metadata_prefix_bytes
                || a.dynamic_shape_metadata_prefix_bytes() == b.dynamic_shape_metadata_prefix_bytes())
    }
}

/// Compares shapes, all of them or in part; tuples element by element.
///
/// ```
/// use xla_shape_core::{Shape, compare::ShapeEqual};
///
/// let a: Shape = "(f32[2,3]{1,0}, token[])".parse()?;
/// let b: Shape = "(bf16[2,3]{0,1}, token[])".parse()?;
/// assert!(!ShapeEqual::new().ignore_layout().compare(&a, &b));
/// assert!(ShapeEqual::new().ignore_layout().ignore_fp_precision().compare(&a, &b));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct ShapeEqual {
    layout: LayoutEqual,
    ignore_layout: bool,
    ignore_element_type: bool,
    ignore_fp_precision: bool,
    ignore_dynamic_dimension: bool,
    ignore_dimensions: bool,
    ignore_buffer: bool,
}

impl ShapeEqual {
    /// Compares everything, as `==` does.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            layout: LayoutEqual::new(),
            ignore_layout: false,
            ignore_element_type: false,
            ignore_fp_precision: false,
            ignore_dynamic_dimension: false,
            ignore_dimensions: false,
            ignore_buffer: false,
        }
    }

    options! {
        /// Leaves the layouts out.
        ignore_layout,
        /// Leaves the element types out.
        ignore_element_type,
        /// Takes all floating-point types for the same one.
        ignore_fp_precision,
        /// Does not ask whether a size is static or a bound, and takes an unbounded dimension for equal to any.
        ignore_dynamic_dimension,
        /// Leaves the sizes out, but not the number of dimensions.
        ignore_dimensions,
        /// Takes a buffer for the array that it refers to.
        ignore_buffer,
    }

    /// Compares layouts only in what `layout` compares.
    #[must_use]
    pub const fn layouts(mut self, layout: LayoutEqual) -> Self {
        self.layout = layout;
        self
    }

    /// Ignores the layouts' tiles.
    #[must_use]
    pub const fn ignore_tiles_in_layout(self) -> Self {
        self.layouts(self.layout.ignore_tiles())
    }

    /// Ignores the layouts' `E(n)`.
    #[must_use]
    pub const fn ignore_element_size_in_layout(self) -> Self {
        self.layouts(self.layout.ignore_element_size())
    }

    /// Ignores the layouts' `S(n)`.
    #[must_use]
    pub const fn ignore_memory_space_in_layout(self) -> Self {
        self.layouts(self.layout.ignore_memory_space())
    }

    /// Ignores the layouts' `L(n)`.
    #[must_use]
    pub const fn ignore_tail_padding_alignment_in_elements(self) -> Self {
        self.layouts(self.layout.ignore_tail_padding_alignment_in_elements())
    }

    /// Ignores the layouts' `SC(…)`.
    #[must_use]
    pub const fn ignore_split_config_in_layout(self) -> Self {
        self.layouts(self.layout.ignore_split_configs())
    }

    /// Compares only the order of the dimensions in the layouts.
    #[must_use]
    pub const fn minor_to_major_only_in_layout(self) -> Self {
        self.layouts(self.layout.minor_to_major_only())
    }

    /// Whether the shapes are equal, except for what is left out.
    #[must_use]
    pub fn compare(&self, a: &Shape, b: &Shape) -> bool {
        // A module keeps equal shapes once: large tuples are compared with themselves again and again.
        if core::ptr::eq(a, b) {
            return true;
        }
        match (a, b) {
            (Shape::Array(a), Shape::Array(b)) | (Shape::Buffer(a), Shape::Buffer(b)) => self.compare_arrays(a, b),
            (Shape::Array(a), Shape::Buffer(b)) | (Shape::Buffer(a), Shape::Array(b)) => {
                self.ignore_buffer && self.compare_arrays(a, b)
            }
            (Shape::Tuple(a), Shape::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| self.compare(a, b))
            }
            (Shape::Token, Shape::Token) | (Shape::Opaque, Shape::Opaque) => true,
            _ => false,
        }
    }

    /// Whether the array shapes are equal, except for what is left out.
    #[must_use]
    pub fn compare_arrays(&self, a: &ArrayShape, b: &ArrayShape) -> bool {
        self.same_element_type(a.element_type(), b.element_type())
            && a.num_dimensions() == b.num_dimensions()
            && a.dimensions().iter().zip(b.dimensions()).all(|(&a, &b)| self.same_dimension(a, b))
            && (self.ignore_layout || self.layout.compare(a.layout(), b.layout()))
    }

    fn same_element_type(&self, a: ElementType, b: ElementType) -> bool {
        a == b || self.ignore_element_type || (self.ignore_fp_precision && a.is_floating() && b.is_floating())
    }

    fn same_dimension(&self, a: Dimension, b: Dimension) -> bool {
        let same_size = self.ignore_dimensions
            || match (a.extent(), b.extent()) {
                (Some(a), Some(b)) => a == b,
                (None, None) => true,
                (Some(_), None) | (None, Some(_)) => self.ignore_dynamic_dimension,
            };
        same_size && (self.ignore_dynamic_dimension || a.is_dynamic() == b.is_dynamic())
    }
}

impl ArrayShape {
    /// Whether element types and sizes agree; see [`Shape::compatible`].
    #[must_use]
    pub fn compatible(&self, other: &Self) -> bool {
        ShapeEqual::new().ignore_dynamic_dimension().ignore_layout().compare_arrays(self, other)
    }
}

impl Shape {
    /// Whether element types and sizes agree; layouts do not matter, nor whether a size is static or a bound.
    #[must_use]
    pub fn compatible(&self, other: &Self) -> bool {
        ShapeEqual::new().ignore_dynamic_dimension().ignore_layout().compare(self, other)
    }

    /// [`compatible`](Self::compatible), whatever the element types.
    #[must_use]
    pub fn compatible_ignoring_element_type(&self, other: &Self) -> bool {
        ShapeEqual::new().ignore_dynamic_dimension().ignore_element_type().ignore_layout().compare(self, other)
    }

    /// [`compatible`](Self::compatible), with all floating-point types treated as equal.
    #[must_use]
    pub fn compatible_ignoring_fp_precision(&self, other: &Self) -> bool {
        ShapeEqual::new().ignore_dynamic_dimension().ignore_fp_precision().ignore_layout().compare(self, other)
    }

    /// Whether the tuple structures are the same and arrays have the same number of dimensions; nothing else matters.
    #[must_use]
    pub fn compatible_kind(&self, other: &Self) -> bool {
        let equal = ShapeEqual::new().ignore_dynamic_dimension().ignore_dimensions();
        equal.ignore_element_type().ignore_layout().compare(self, other)
    }

    /// Equal, whatever the element types.
    #[must_use]
    pub fn equal_ignoring_element_type(&self, other: &Self) -> bool {
        ShapeEqual::new().ignore_element_type().compare(self, other)
    }

    /// Equal, with all floating-point types treated as equal.
    #[must_use]
    pub fn equal_ignoring_fp_precision(&self, other: &Self) -> bool {
        ShapeEqual::new().ignore_fp_precision().compare(self, other)
    }

    /// Whether the tuple structures are the same, whatever the leaves.
    #[must_use]
    pub fn equal_structure(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Tuple(a), Self::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.equal_structure(b))
            }
            (Self::Tuple(_), _) | (_, Self::Tuple(_)) => false,
            _ => true,
        }
    }

    /// Whether arrays in the same places of the tuples have the same layouts, in what `equal` compares; nothing else in the
    /// shapes matters.
    #[must_use]
    pub fn layouts_in_shapes_equal(&self, other: &Self, equal: LayoutEqual) -> bool {
        match (self, other) {
            (Self::Tuple(a), Self::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.layouts_in_shapes_equal(b, equal))
            }
            _ => match (self.array(), other.array()) {
                (Some(a), Some(b)) => equal.compare(a.layout(), b.layout()),
                (None, None) => self.tuple_shapes().is_none() && other.tuple_shapes().is_none(),
                _ => false,
            },
        }
    }

    /// Whether a value of this shape can be passed where `bounded` is expected: the tuple structures are the same, and where this shape
    /// has a dynamic array, no dimension's size or bound is larger than there.
    #[must_use]
    pub fn dynamic_shape_is_compatible(&self, bounded: &Self) -> bool {
        match (self, bounded) {
            (Self::Tuple(a), Self::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.dynamic_shape_is_compatible(b))
            }
            (Self::Tuple(_), _) | (_, Self::Tuple(_)) => false,
            _ => match (self.array(), bounded.array()) {
                (Some(a), Some(b)) => a.is_static() || a.dynamic_array_shape_is_compatible(b),
                (None, None) => self == bounded,
                _ => false,
            },
        }
    }
}

impl ArrayShape {
    /// Whether the sizes agree, where both are bounded; element types and layouts do not matter.
    #[must_use]
    pub fn same_dimensions(&self, other: &Self) -> bool {
        let equal = ShapeEqual::new().ignore_dynamic_dimension();
        equal.ignore_element_type().ignore_layout().compare_arrays(self, other)
    }

    /// Whether the number of dimensions is the same.
    #[must_use]
    pub const fn same_rank(&self, other: &Self) -> bool {
        self.num_dimensions() == other.num_dimensions()
    }

    /// Whether the element types are the same.
    #[must_use]
    pub const fn same_element_type(&self, other: &Self) -> bool {
        ElementType::same(self.element_type(), other.element_type())
    }

    /// Whether the element types are the same, or both floating-point types.
    #[must_use]
    pub fn same_element_type_ignoring_fp_precision(&self, other: &Self) -> bool {
        ShapeEqual::new().ignore_fp_precision().same_element_type(self.element_type(), other.element_type())
    }

    /// The element type of the two that holds more, as [`ElementType::higher_precision_type`].
    #[must_use]
    pub fn higher_precision_element_type(&self, other: &Self) -> Option<ElementType> {
        self.element_type().higher_precision_type(other.element_type())
    }

    /// Whether the element type of `to` holds more than this one, or as much.
    #[must_use]
    pub fn element_can_upcast(&self, to: &Self) -> bool {
        self.higher_precision_element_type(to) == Some(to.element_type())
    }

    /// Whether no dimension's size or bound is larger than that of `bounded`; an unbounded one is only not larger than
    /// another unbounded one.
    #[must_use]
    pub fn dynamic_array_shape_is_compatible(&self, bounded: &Self) -> bool {
        let fits = |(a, b): (&Dimension, &Dimension)| match (a.extent(), b.extent()) {
            (Some(a), Some(b)) => a <= b,
            (_, None) => true,
            (None, Some(_)) => false,
        };
        self.same_rank(bounded) && self.dimensions().iter().zip(bounded.dimensions()).all(fits)
    }
}
