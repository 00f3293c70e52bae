//! Comparisons of shapes, with the names of `ShapeUtil` (`xla/shape_util.h`): combinations of the options of
//! [`ShapeEqual`].

use crate::shape::Shape;
use crate::shape::array::ArrayShape;
use crate::shape::compare::ShapeEqual;

impl Shape {
    /// [`compatible`](Self::compatible), ignoring element types.
    ///
    /// ```
    /// use xla_shape_core::Shape;
    ///
    /// let (a, b): (Shape, Shape) = ("f32[2,3]".parse()?, "s8[2,3]".parse()?);
    /// assert!(a.compatible_ignoring_element_type(&b) && !a.compatible(&b));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn compatible_ignoring_element_type(&self, other: &Self) -> bool {
        ShapeEqual::new().ignore_dynamic_dimension().ignore_element_type().ignore_layout().compare(self, other)
    }

    /// [`compatible`](Self::compatible), with all floating-point types treated as equal.
    ///
    /// ```
    /// use xla_shape_core::Shape;
    ///
    /// let (a, b): (Shape, Shape) = ("f32[2,3]".parse()?, "bf16[2,3]".parse()?);
    /// assert!(a.compatible_ignoring_fp_precision(&b) && !a.compatible(&b));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn compatible_ignoring_fp_precision(&self, other: &Self) -> bool {
        ShapeEqual::new().ignore_dynamic_dimension().ignore_fp_precision().ignore_layout().compare(self, other)
    }

    /// Whether the tuple structures are the same, leaves are of the same kind, and arrays have the same number of
    /// dimensions. XLA's `ShapeUtil::CompatibleKind`.
    ///
    /// ```
    /// use xla_shape_core::Shape;
    ///
    /// let (a, b): (Shape, Shape) = ("(f32[2,3], token[])".parse()?, "(s8[5,7], token[])".parse()?);
    /// assert!(a.compatible_kind(&b));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn compatible_kind(&self, other: &Self) -> bool {
        let equal = ShapeEqual::new().ignore_dynamic_dimension().ignore_dimensions();
        equal.ignore_element_type().ignore_layout().compare(self, other)
    }

    /// Whether the shapes are equal, ignoring element types.
    ///
    /// ```
    /// use xla_shape_core::Shape;
    ///
    /// let (a, b): (Shape, Shape) = ("f32[2,3]".parse()?, "s8[2,3]".parse()?);
    /// assert!(a.equal_ignoring_element_type(&b));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn equal_ignoring_element_type(&self, other: &Self) -> bool {
        ShapeEqual::new().ignore_element_type().compare(self, other)
    }

    /// Whether the shapes are equal, with all floating-point types treated as equal.
    ///
    /// ```
    /// use xla_shape_core::Shape;
    ///
    /// let (a, b): (Shape, Shape) = ("f32[2,3]".parse()?, "bf16[2,3]".parse()?);
    /// assert!(a.equal_ignoring_fp_precision(&b));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn equal_ignoring_fp_precision(&self, other: &Self) -> bool {
        ShapeEqual::new().ignore_fp_precision().compare(self, other)
    }
}

impl ArrayShape {
    /// Whether the element types are the same, or both floating-point types.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let (a, b): (ArrayShape, ArrayShape) = ("f32[2]".parse()?, "bf16[2]".parse()?);
    /// assert!(a.same_element_type_ignoring_fp_precision(&b));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn same_element_type_ignoring_fp_precision(&self, other: &Self) -> bool {
        ShapeEqual::new().ignore_fp_precision().same_element_type(self.element_type(), other.element_type())
    }

    /// Whether the element type of `to` is this one or more precise. XLA's `ShapeUtil::ElementCanUpcast`.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let (a, b): (ArrayShape, ArrayShape) = ("bf16[2]".parse()?, "f32[2]".parse()?);
    /// assert!(a.element_can_upcast(&b) && !b.element_can_upcast(&a));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn element_can_upcast(&self, to: &Self) -> bool {
        self.higher_precision_element_type(to) == Some(to.element_type())
    }
}
