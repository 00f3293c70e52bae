//! Comparison of shapes and layouts that ignores some parts.
//!
//! `==` compares everything. [`ShapeEqual`] and [`LayoutEqual`] ignore the parts they are told to, like XLA's
//! `Shape::Equal` (`xla/shape.h`) and `Layout::Equal` (`xla/layout.h`). Methods of [`Shape`] such as
//! [`Shape::compatible`] are the combinations that `ShapeUtil` has names for.

use crate::element_type::ElementType;
use crate::layout::Layout;
use crate::layout::dimension::Dimension;
use crate::shape::Shape;
use crate::shape::array::ArrayShape;

macro_rules! options {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        $($(#[$doc])* #[must_use] pub const fn $name(mut self) -> Self { self.$name = true; self })*
    };
}

macro_rules! layout_equal {
    ($($variant:ident $symbol:literal $field:ident $type:ident $default:literal ($tag:literal) $with:ident $ignore:ident
        [$($parameter:ident)?] $doc:literal $cells:tt)*) => {
        /// Compares layouts, with options to ignore parts: XLA's `Layout::Equal`.
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
            $($ignore: bool,)*
            ignore_split_configs: bool,
        }

        impl LayoutEqual {
            /// Compares everything, as `==` does.
            ///
            /// ```
            /// use xla_shape_core::{Layout, compare::LayoutEqual};
            ///
            /// let (a, b): (Layout, Layout) = ("{0}".parse()?, "{0:S(1)}".parse()?);
            /// assert!(!LayoutEqual::new().compare(&a, &b));
            /// # Ok::<(), Box<dyn core::error::Error>>(())
            /// ```
            #[must_use]
            pub const fn new() -> Self {
                Self { ignore_tiles: false, $($ignore: false,)* ignore_split_configs: false }
            }

            options! {
                /// Ignores tiles.
                ///
                /// ```
                /// use xla_shape_core::{Layout, compare::LayoutEqual};
                ///
                /// let (a, b): (Layout, Layout) = ("{0:T(1024)}".parse()?, "{0}".parse()?);
                /// assert!(a != b && LayoutEqual::new().ignore_tiles().compare(&a, &b));
                /// # Ok::<(), Box<dyn core::error::Error>>(())
                /// ```
                ignore_tiles,
                $(
                    #[doc = concat!("Ignores `", $symbol, "(n)`.")]
                    ///
                    /// ```
                    /// use xla_shape_core::{Layout, compare::LayoutEqual};
                    ///
                    #[doc = concat!("let (a, b): (Layout, Layout) = (\"{0:", $symbol, "(8)}\".parse()?, \"{0}\".parse()?);")]
                    #[doc = concat!("assert!(a != b && LayoutEqual::new().", stringify!($ignore), "().compare(&a, &b));")]
                    /// # Ok::<(), Box<dyn core::error::Error>>(())
                    /// ```
                    $ignore,
                )*
                /// Ignores `SC(…)`.
                ///
                /// ```
                /// use xla_shape_core::{Layout, compare::LayoutEqual};
                ///
                /// let (a, b): (Layout, Layout) = ("{0:SC(0:5)}".parse()?, "{0}".parse()?);
                /// assert!(a != b && LayoutEqual::new().ignore_split_configs().compare(&a, &b));
                /// # Ok::<(), Box<dyn core::error::Error>>(())
                /// ```
                ignore_split_configs,
            }

            /// Compares only the order of the dimensions: ignores all tiles and attributes.
            ///
            /// ```
            /// use xla_shape_core::{Layout, compare::LayoutEqual};
            ///
            /// let (a, b): (Layout, Layout) = ("{0:T(1024)S(1)}".parse()?, "{0}".parse()?);
            /// assert!(a != b && LayoutEqual::new().minor_to_major_only().compare(&a, &b));
            /// # Ok::<(), Box<dyn core::error::Error>>(())
            /// ```
            #[must_use]
            pub const fn minor_to_major_only(self) -> Self {
                self.ignore_tiles()$(.$ignore())*.ignore_split_configs()
            }

            /// Whether the layouts are equal, except for the ignored parts.
            ///
            /// ```
            /// use xla_shape_core::{Layout, compare::LayoutEqual};
            ///
            /// let (a, b): (Layout, Layout) = ("{0:T(8)}".parse()?, "{0:T(8)S(1)}".parse()?);
            /// assert!(LayoutEqual::new().ignore_memory_space().compare(&a, &b));
            /// # Ok::<(), Box<dyn core::error::Error>>(())
            /// ```
            #[must_use]
            pub fn compare(&self, a: &Layout, b: &Layout) -> bool {
                a.minor_to_major() == b.minor_to_major()
                    && (self.ignore_tiles || a.tiles() == b.tiles())
                    $(&& (self.$ignore || a.$field() == b.$field()))*
                    && (self.ignore_split_configs || a.split_configs() == b.split_configs())
            }
        }
    };
}

crate::layout_numbers!(layout_equal);

/// Compares shapes, tuples element by element, with options to ignore parts: XLA's `Shape::Equal`.
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
    ///
    /// ```
    /// use xla_shape_core::{Shape, compare::ShapeEqual};
    ///
    /// let (a, b): (Shape, Shape) = ("f32[2]".parse()?, "f32[2]{0}".parse()?);
    /// assert!(ShapeEqual::new().compare(&a, &b));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
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
        /// Ignores layouts.
        ///
        /// ```
        /// use xla_shape_core::{Shape, compare::ShapeEqual};
        ///
        /// let (a, b): (Shape, Shape) = ("f32[2,3]{1,0}".parse()?, "f32[2,3]{0,1}".parse()?);
        /// assert!(a != b && ShapeEqual::new().ignore_layout().compare(&a, &b));
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        ignore_layout,
        /// Ignores element types.
        ///
        /// ```
        /// use xla_shape_core::{Shape, compare::ShapeEqual};
        ///
        /// let (a, b): (Shape, Shape) = ("f32[2]".parse()?, "s8[2]".parse()?);
        /// assert!(a != b && ShapeEqual::new().ignore_element_type().compare(&a, &b));
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        ignore_element_type,
        /// Treats all floating-point types as equal.
        ///
        /// ```
        /// use xla_shape_core::{Shape, compare::ShapeEqual};
        ///
        /// let (a, b): (Shape, Shape) = ("f32[2]".parse()?, "bf16[2]".parse()?);
        /// assert!(a != b && ShapeEqual::new().ignore_fp_precision().compare(&a, &b));
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        ignore_fp_precision,
        /// Ignores whether a size is static or a bound, and treats an unbounded dimension as equal to any.
        ///
        /// ```
        /// use xla_shape_core::{Shape, compare::ShapeEqual};
        ///
        /// let (a, b): (Shape, Shape) = ("f32[<=2]".parse()?, "f32[2]".parse()?);
        /// assert!(a != b && ShapeEqual::new().ignore_dynamic_dimension().compare(&a, &b));
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        ignore_dynamic_dimension,
        /// Ignores sizes, but not the number of dimensions.
        ///
        /// ```
        /// use xla_shape_core::{Shape, compare::ShapeEqual};
        ///
        /// let (a, b): (Shape, Shape) = ("f32[2]".parse()?, "f32[3]".parse()?);
        /// assert!(a != b && ShapeEqual::new().ignore_dimensions().compare(&a, &b));
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        ignore_dimensions,
        /// Treats a buffer as equal to the array that it refers to.
        ///
        /// ```
        /// use xla_shape_core::{Shape, compare::ShapeEqual};
        ///
        /// let (a, b): (Shape, Shape) = ("f32[2]".parse()?, "b(f32[2])".parse()?);
        /// assert!(a != b && ShapeEqual::new().ignore_buffer().compare(&a, &b));
        /// # Ok::<(), Box<dyn core::error::Error>>(())
        /// ```
        ignore_buffer,
    }

    /// Compares layouts as `layout` does.
    ///
    /// ```
    /// use xla_shape_core::{Shape, compare::{LayoutEqual, ShapeEqual}};
    ///
    /// let (a, b): (Shape, Shape) = ("f32[2]{0:S(1)}".parse()?, "f32[2]".parse()?);
    /// let equal = ShapeEqual::new().layouts(LayoutEqual::new().ignore_memory_space());
    /// assert!(equal.compare(&a, &b));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn layouts(mut self, layout: LayoutEqual) -> Self {
        self.layout = layout;
        self
    }

    /// Ignores tiles.
    ///
    /// ```
    /// use xla_shape_core::{Shape, compare::ShapeEqual};
    ///
    /// let (a, b): (Shape, Shape) = ("f32[2]{0:T(8)}".parse()?, "f32[2]".parse()?);
    /// assert!(a != b && ShapeEqual::new().ignore_tiles_in_layout().compare(&a, &b));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn ignore_tiles_in_layout(self) -> Self {
        self.layouts(self.layout.ignore_tiles())
    }

    /// Ignores `E(n)`.
    ///
    /// ```
    /// use xla_shape_core::{Shape, compare::ShapeEqual};
    ///
    /// let (a, b): (Shape, Shape) = ("s4[2]{0:E(4)}".parse()?, "s4[2]".parse()?);
    /// assert!(a != b && ShapeEqual::new().ignore_element_size_in_layout().compare(&a, &b));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn ignore_element_size_in_layout(self) -> Self {
        self.layouts(self.layout.ignore_element_size())
    }

    /// Ignores `S(n)`.
    ///
    /// ```
    /// use xla_shape_core::{Shape, compare::ShapeEqual};
    ///
    /// let (a, b): (Shape, Shape) = ("f32[2]{0:S(1)}".parse()?, "f32[2]".parse()?);
    /// assert!(a != b && ShapeEqual::new().ignore_memory_space_in_layout().compare(&a, &b));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn ignore_memory_space_in_layout(self) -> Self {
        self.layouts(self.layout.ignore_memory_space())
    }

    /// Ignores `L(n)`.
    ///
    /// ```
    /// use xla_shape_core::{Shape, compare::ShapeEqual};
    ///
    /// let (a, b): (Shape, Shape) = ("f32[2]{0:L(8)}".parse()?, "f32[2]".parse()?);
    /// assert!(a != b && ShapeEqual::new().ignore_tail_padding_alignment_in_elements().compare(&a, &b));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn ignore_tail_padding_alignment_in_elements(self) -> Self {
        self.layouts(self.layout.ignore_tail_padding_alignment_in_elements())
    }

    /// Ignores `SC(…)`.
    ///
    /// ```
    /// use xla_shape_core::{Shape, compare::ShapeEqual};
    ///
    /// let (a, b): (Shape, Shape) = ("f32[2]{0:SC(0:1)}".parse()?, "f32[2]".parse()?);
    /// assert!(a != b && ShapeEqual::new().ignore_split_config_in_layout().compare(&a, &b));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn ignore_split_config_in_layout(self) -> Self {
        self.layouts(self.layout.ignore_split_configs())
    }

    /// Compares only the order of the dimensions in layouts: ignores all tiles and attributes.
    ///
    /// ```
    /// use xla_shape_core::{Shape, compare::ShapeEqual};
    ///
    /// let (a, b): (Shape, Shape) = ("f32[2]{0:T(8)S(1)}".parse()?, "f32[2]".parse()?);
    /// assert!(a != b && ShapeEqual::new().minor_to_major_only_in_layout().compare(&a, &b));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn minor_to_major_only_in_layout(self) -> Self {
        self.layouts(self.layout.minor_to_major_only())
    }

    /// Whether the shapes are equal, except for the ignored parts.
    ///
    /// ```
    /// use xla_shape_core::{Shape, compare::ShapeEqual};
    ///
    /// let (a, b): (Shape, Shape) = ("(f32[2,3])".parse()?, "(f32[2,3]{0,1})".parse()?);
    /// assert!(ShapeEqual::new().ignore_layout().compare(&a, &b));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn compare(&self, a: &Shape, b: &Shape) -> bool {
        // A module stores equal shapes once, so large tuples are often compared with themselves.
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

    /// Whether the array shapes are equal, except for the ignored parts.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, compare::ShapeEqual};
    ///
    /// let (a, b): (ArrayShape, ArrayShape) = ("f32[2]".parse()?, "bf16[2]".parse()?);
    /// assert!(ShapeEqual::new().ignore_fp_precision().compare_arrays(&a, &b));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn compare_arrays(&self, a: &ArrayShape, b: &ArrayShape) -> bool {
        self.same_element_type(a.element_type(), b.element_type())
            && a.num_dimensions() == b.num_dimensions()
            && a.dimensions().iter().zip(b.dimensions()).all(|(&a, &b)| self.same_dimension(a, b))
            && (self.ignore_layout || self.layout.compare(a.layout(), b.layout()))
    }

    /// Whether two element types are the same under these options.
    ///
    /// ```
    /// use xla_shape_core::ElementType::{Bf16, F32, S32};
    /// use xla_shape_core::compare::ShapeEqual;
    ///
    /// let equal = ShapeEqual::new().ignore_fp_precision();
    /// assert!(equal.same_element_type(F32, Bf16) && !equal.same_element_type(F32, S32));
    /// ```
    #[must_use]
    pub fn same_element_type(&self, a: ElementType, b: ElementType) -> bool {
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
    /// Whether element types and sizes are equal, as [`Shape::compatible`] compares them.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let (a, b): (ArrayShape, ArrayShape) = ("f32[2,3]{0,1}".parse()?, "f32[<=2,3]".parse()?);
    /// assert!(a.compatible(&b));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn compatible(&self, other: &Self) -> bool {
        ShapeEqual::new().ignore_dynamic_dimension().ignore_layout().compare_arrays(self, other)
    }
}

impl Shape {
    /// Whether element types and sizes are equal. Ignores layouts, and whether a size is static or a bound. XLA's
    /// `ShapeUtil::Compatible`.
    ///
    /// ```
    /// use xla_shape_core::Shape;
    ///
    /// let (a, b): (Shape, Shape) = ("(f32[2,3]{0,1}, token[])".parse()?, "(f32[<=2,3], token[])".parse()?);
    /// assert!(a.compatible(&b));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn compatible(&self, other: &Self) -> bool {
        ShapeEqual::new().ignore_dynamic_dimension().ignore_layout().compare(self, other)
    }

    /// Whether the tuple structures are the same, ignoring the leaves. XLA's `ShapeUtil::EqualStructure`.
    ///
    /// ```
    /// use xla_shape_core::Shape;
    ///
    /// let (a, b): (Shape, Shape) = ("(f32[2], (s8[]))".parse()?, "(token[], (u8[9]))".parse()?);
    /// assert!(a.equal_structure(&b));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
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

    /// Whether the tuple structures are the same and corresponding arrays have layouts that `equal` finds equal. XLA's
    /// `LayoutUtil::LayoutsInShapesEqual`.
    ///
    /// ```
    /// use xla_shape_core::{Shape, compare::LayoutEqual};
    ///
    /// let (a, b): (Shape, Shape) = ("(f32[2,3]{0,1}, token[])".parse()?, "(s8[4,4]{0,1:S(1)}, token[])".parse()?);
    /// assert!(!a.layouts_in_shapes_equal(&b, LayoutEqual::new()));
    /// assert!(a.layouts_in_shapes_equal(&b, LayoutEqual::new().ignore_memory_space()));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
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

    /// Whether a value of this shape can be passed where `bounded` is expected: the tuple structures are the same, and
    /// no size or bound of a dynamic array is larger than the corresponding one of `bounded`. XLA's
    /// `ShapeUtil::DynamicShapeIsCompatible`.
    ///
    /// ```
    /// use xla_shape_core::Shape;
    ///
    /// let (a, b): (Shape, Shape) = ("f32[<=4]".parse()?, "f32[<=8]".parse()?);
    /// assert!(a.dynamic_shape_is_compatible(&b) && !b.dynamic_shape_is_compatible(&a));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
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
    /// Whether the sizes are equal, where neither is unbounded. Ignores element types and layouts.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let (a, b): (ArrayShape, ArrayShape) = ("f32[2,3]{0,1}".parse()?, "s8[2,3]".parse()?);
    /// assert!(a.same_dimensions(&b));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn same_dimensions(&self, other: &Self) -> bool {
        let equal = ShapeEqual::new().ignore_dynamic_dimension();
        equal.ignore_element_type().ignore_layout().compare_arrays(self, other)
    }

    /// Whether the number of dimensions is the same.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let (a, b): (ArrayShape, ArrayShape) = ("f32[2,3]".parse()?, "s8[5,7]".parse()?);
    /// assert!(a.same_rank(&b));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn same_rank(&self, other: &Self) -> bool {
        self.num_dimensions() == other.num_dimensions()
    }

    /// Whether the element types are the same.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let (a, b): (ArrayShape, ArrayShape) = ("f32[2]".parse()?, "f32[5,7]".parse()?);
    /// assert!(a.same_element_type(&b));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn same_element_type(&self, other: &Self) -> bool {
        ElementType::same(self.element_type(), other.element_type())
    }

    /// The more precise of the two element types, as [`ElementType::higher_precision_type`] decides.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let (a, b): (ArrayShape, ArrayShape) = ("bf16[2]".parse()?, "f32[2]".parse()?);
    /// assert_eq!(a.higher_precision_element_type(&b), Some(xla_shape_core::ElementType::F32));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn higher_precision_element_type(&self, other: &Self) -> Option<ElementType> {
        self.element_type().higher_precision_type(other.element_type())
    }

    /// Whether the ranks are equal and no size or bound is larger than the corresponding one of `bounded`. An unbounded
    /// dimension fits only an unbounded one.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let (a, b): (ArrayShape, ArrayShape) = ("f32[<=4,2]".parse()?, "f32[<=8,2]".parse()?);
    /// assert!(a.dynamic_array_shape_is_compatible(&b));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
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
