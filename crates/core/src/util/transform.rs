//! Transformations of shapes: permuting, deleting and inserting dimensions, changing element types and layouts. The
//! names are those of `ShapeUtil` (`xla/shape_util.h`).
//!
//! The layout follows the dimensions: tiles and attributes stay, the order keeps the remaining dimensions in place, and
//! splits stay with their dimensions.

use crate::element_type::ElementType;
use crate::layout::dimension::Dimension;
use crate::layout::error::ValidationError;
use crate::layout::number::{DimensionError, DimensionNumber, resolve_distinct, resolve_permutation};
use crate::layout::{ArrayLayout, Layout};
use crate::list::List;
use crate::shape::Shape;
use crate::shape::array::ArrayShape;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// Why a shape cannot be transformed.
///
/// ```
/// use xla_shape_core::{ArrayShape, ElementType, TransformError};
///
/// let shape: ArrayShape = "f32[2]".parse()?;
/// let error = shape.complex_component_shape().unwrap_err();
/// assert_eq!(error, TransformError::NotComplex { element_type: ElementType::F32 });
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum TransformError {
    /// A dimension number is out of range, repeated, or missing.
    Dimension(DimensionError),
    /// The result would not be valid.
    Invalid(ValidationError),
    /// Only complex elements have a real and an imaginary part.
    NotComplex {
        /// The element type.
        element_type: ElementType,
    },
    /// An unbounded dimension cannot become static: it has no size.
    UnboundedDimension {
        /// Which dimension.
        dimension: usize,
    },
    /// The dimension cannot have this size.
    SizeMismatch {
        /// Which dimension.
        dimension: usize,
        /// The dimension, which limits the size.
        expected: Dimension,
        /// The size.
        found: u64,
    },
    /// The two shapes have different tuple structures.
    StructureMismatch,
    /// Only a tuple has elements.
    NotATuple,
    /// The shape has no part of the required kind at this index.
    NoSuchPart,
}

impl From<DimensionError> for TransformError {
    fn from(error: DimensionError) -> Self {
        Self::Dimension(error)
    }
}

impl From<ValidationError> for TransformError {
    fn from(error: ValidationError) -> Self {
        Self::Invalid(error)
    }
}

impl fmt::Display for TransformError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dimension(error) => error.fmt(f),
            Self::Invalid(error) => error.fmt(f),
            Self::NotComplex { element_type } => write!(f, "expected a complex element type, found {element_type}"),
            Self::UnboundedDimension { dimension } => {
                write!(f, "expected dimension {dimension} to have a size or a bound, found `?`")
            }
            Self::SizeMismatch { dimension, expected, found } => {
                write!(f, "expected a size of {expected} for dimension {dimension}, found {found}")
            }
            Self::StructureMismatch => f.write_str("the tuples have different structures"),
            Self::NotATuple => f.write_str("expected a tuple, found another kind of shape"),
            Self::NoSuchPart => {
                f.write_str("expected a part of the shape at this index, found none of the required kind")
            }
        }
    }
}

impl core::error::Error for TransformError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Dimension(error) => Some(error),
            Self::Invalid(error) => Some(error),
            _ => None,
        }
    }
}

type Result<T> = core::result::Result<T, TransformError>;

impl ArrayShape {
    /// A scalar in the default layout.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, ElementType};
    ///
    /// assert_eq!(ArrayShape::make_scalar_shape(ElementType::F32).to_string(), "f32[]");
    /// ```
    #[must_use]
    pub const fn make_scalar_shape(element_type: ElementType) -> Self {
        Self::unchecked(element_type, List::EMPTY, ArrayLayout::SCALAR)
    }

    /// The number of a dimension, counted from the front.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[2,3,5]".parse()?;
    /// assert_eq!(shape.get_dimension_number(-1), Ok(2));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such dimension.
    pub fn get_dimension_number(
        &self,
        dimension: impl Into<DimensionNumber>,
    ) -> core::result::Result<usize, DimensionError> {
        dimension.into().resolve(self.num_dimensions())
    }

    /// The size of a dimension.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, Dimension, DimensionNumber};
    ///
    /// let shape: ArrayShape = "f32[2,<=3,5]".parse()?;
    /// assert_eq!(shape.get_dimension(-1)?, Dimension::Static(5));
    /// assert_eq!(shape.get_dimension(DimensionNumber::Y)?, Dimension::Bounded(3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such dimension.
    pub fn get_dimension(
        &self,
        dimension: impl Into<DimensionNumber>,
    ) -> core::result::Result<Dimension, DimensionError> {
        let number = dimension.into();
        let out_of_range =
            DimensionError::OutOfRange { number: number.number(), num_dimensions: self.num_dimensions() };
        self.dimensions().get(self.get_dimension_number(number)?).copied().ok_or(out_of_range)
    }

    /// The array with permuted dimensions: dimension `i` of the result is dimension `permutation[i]` of this array. The
    /// layout is permuted, too, so that every element keeps its position.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "bf16[2,3,5]{2,1,0:T(8,128)(2,1)}".parse()?;
    /// assert_eq!(shape.permute_dimensions([2, 0, 1])?.to_string(), "bf16[5,2,3]{0,2,1:T(8,128)(2,1)}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If `permutation` does not name every dimension once, or if a size of 0 now comes after sizes whose product
    /// overflows.
    pub fn permute_dimensions(
        &self,
        permutation: impl IntoIterator<Item = impl Into<DimensionNumber>>,
    ) -> Result<Self> {
        let permutation = resolve_permutation(permutation, self.num_dimensions())?;
        let mut inverse = vec![0; permutation.len()];
        for (new, &old) in permutation.iter().enumerate() {
            if let Some(entry) = inverse.get_mut(old) {
                *entry = new;
            }
        }
        let renumber = |old: usize| inverse.get(old).copied();
        let layout =
            self.layout().reordered(self.layout().minor_to_major().iter().filter_map(|&d| renumber(d)), renumber);
        self.with_parts(permutation.iter().filter_map(|&old| self.dimensions().get(old).copied()), layout)
    }

    /// The array with its dimensions in the order of memory, from major to minor, and the default order as its layout's
    /// order. Every element keeps its position.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[2,3,5,7]{0,3,2,1}".parse()?;
    /// let physical = shape.make_shape_with_descending_layout_and_same_physical_layout()?;
    /// assert_eq!(physical.to_string(), "f32[3,5,7,2]{3,2,1,0}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a size of 0 comes after sizes whose product overflows.
    pub fn make_shape_with_descending_layout_and_same_physical_layout(&self) -> Result<Self> {
        self.permute_dimensions(self.layout().minor_to_major().iter().rev().copied())
    }

    /// The array without this dimension.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[2,3,5]{0,2,1}".parse()?;
    /// assert_eq!(shape.delete_dimension(0)?.to_string(), "f32[3,5]{1,0}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such dimension.
    pub fn delete_dimension(&self, dimension: impl Into<DimensionNumber>) -> Result<Self> {
        self.delete_dimensions([dimension])
    }

    /// The array without these dimensions.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[2,3,5,7]".parse()?;
    /// assert_eq!(shape.delete_dimensions([0, -1])?.to_string(), "f32[3,5]{1,0}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such dimension, or one is named twice.
    pub fn delete_dimensions(&self, dimensions: impl IntoIterator<Item = impl Into<DimensionNumber>>) -> Result<Self> {
        let deleted = resolve_distinct(dimensions, self.num_dimensions())?;
        self.filter_dimensions(|dimension| !deleted.contains(&dimension))
    }

    /// The array with only the dimensions for which `keep` returns true.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[2,3,5]".parse()?;
    /// assert_eq!(shape.filter_dimensions(|dimension| dimension != 1)?.to_string(), "f32[2,5]{1,0}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the result is too large: a size of 0 was removed, or the tiles now pad other dimensions.
    pub fn filter_dimensions(&self, keep: impl FnMut(usize) -> bool) -> Result<Self> {
        let kept = (0..self.num_dimensions()).map(keep).collect::<Vec<_>>();
        let sizes = self.dimensions().iter().zip(&kept).filter(|(_, kept)| **kept).map(|(&size, _)| size);
        self.with_parts(sizes, self.layout().with_kept_dimensions(&kept))
    }

    /// Whether a dimension has size 1.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[2,1,3]".parse()?;
    /// assert!(shape.has_degenerate_dimensions());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn has_degenerate_dimensions(&self) -> bool {
        self.dimensions().iter().any(|dimension| dimension.extent() == Some(1))
    }

    /// The array without its dimensions of size 1.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[2,1,3]{1,2,0}".parse()?;
    /// assert_eq!(shape.drop_degenerate_dimensions()?.to_string(), "f32[2,3]{1,0}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the result is too large, because the tiles now pad other dimensions.
    pub fn drop_degenerate_dimensions(&self) -> Result<Self> {
        let sizes = self.dimensions();
        self.filter_dimensions(|dimension| sizes.get(dimension).and_then(|size| size.extent()) != Some(1))
    }

    /// The array with one more dimension, whose number is `number`; the numbers of the dimensions from there on
    /// increase by 1. In `minor_to_major`, the new dimension has index `place`: 0 makes it the most minor one.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[2,3]{0,1}".parse()?;
    /// assert_eq!(shape.insert_dimension(1, 7.into(), 0)?.to_string(), "f32[2,7,3]{1,0,2}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If `number` or `place` is out of range for the dimensions of the result, or the result is too large.
    pub fn insert_dimension(
        &self,
        number: impl Into<DimensionNumber>,
        dimension: Dimension,
        place: usize,
    ) -> Result<Self> {
        let count = self.num_dimensions().saturating_add(1);
        let number = number.into().resolve(count)?;
        let place = DimensionNumber::from(place).resolve(count)?;
        let renumber = |old: usize| Some(if old < number { old } else { old.saturating_add(1) });
        let (minor, major) = self.layout().minor_to_major().split_at_checked(place).unwrap_or_default();
        let order = minor.iter().copied().filter_map(renumber).chain([number]);
        let layout = self.layout().reordered(order.chain(major.iter().copied().filter_map(renumber)), renumber);
        let (before, behind) = self.dimensions().split_at_checked(number).unwrap_or_default();
        self.with_parts(before.iter().copied().chain([dimension]).chain(behind.iter().copied()), layout)
    }

    /// The array with a dimension added after the others, the most major one in memory.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[2,3]".parse()?;
    /// assert_eq!(shape.append_major_dimension(7)?.to_string(), "f32[2,3,7]{1,0,2}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the result is too large.
    pub fn append_major_dimension(&self, dimension: impl Into<Dimension>) -> Result<Self> {
        self.insert_dimension(-1, dimension.into(), self.num_dimensions())
    }

    /// The array with a dimension added before the others, the most major one in memory.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[2,3]".parse()?;
    /// assert_eq!(shape.prepend_major_dimension(7)?.to_string(), "f32[7,2,3]{2,1,0}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the result is too large.
    pub fn prepend_major_dimension(&self, dimension: impl Into<Dimension>) -> Result<Self> {
        self.insert_dimension(0, dimension.into(), self.num_dimensions())
    }

    /// The array with a dimension added after the others, the most minor one in memory.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[2,3]".parse()?;
    /// assert_eq!(shape.append_minor_dimension(7)?.to_string(), "f32[2,3,7]{2,1,0}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the result is too large.
    pub fn append_minor_dimension(&self, dimension: impl Into<Dimension>) -> Result<Self> {
        self.insert_dimension(-1, dimension.into(), 0)
    }

    /// The array with this dimension moved to the most major place in memory.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[2,3,5]".parse()?;
    /// assert_eq!(shape.move_dim_to_major(2)?.to_string(), "f32[2,3,5]{1,0,2}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such dimension, or the result is too large with padding.
    pub fn move_dim_to_major(&self, dimension: impl Into<DimensionNumber>) -> Result<Self> {
        Ok(self.clone().with_layout(self.layout().move_dim_to_major(dimension)?)?)
    }

    /// The array with this dimension moved to the most minor place in memory.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[2,3,5]".parse()?;
    /// assert_eq!(shape.move_dim_to_minor(0)?.to_string(), "f32[2,3,5]{0,2,1}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such dimension, or the result is too large with padding.
    pub fn move_dim_to_minor(&self, dimension: impl Into<DimensionNumber>) -> Result<Self> {
        Ok(self.clone().with_layout(self.layout().move_dim_to_minor(dimension)?)?)
    }

    /// The array with another element type. `E(n)` is kept only if the new type has less than 8 bits (and is not
    /// `pred`).
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, ElementType};
    ///
    /// let shape: ArrayShape = "f32[2,3]{0,1}".parse()?;
    /// assert_eq!(shape.change_element_type(ElementType::Bf16)?.to_string(), "bf16[2,3]{0,1}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the result is too large.
    pub fn change_element_type(&self, element_type: ElementType) -> Result<Self> {
        let mut layout = self.layout().clone();
        if !element_type.is_sub_byte_non_pred() {
            layout.element_size_in_bits = 0;
        }
        Ok(Self::new(element_type, self.dimensions(), layout)?)
    }

    /// The shape of the array of real parts (or of imaginary parts) of a complex array.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "c64[2]".parse()?;
    /// assert_eq!(shape.complex_component_shape()?.to_string(), "f32[2]{0}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the elements are not complex.
    pub fn complex_component_shape(&self) -> Result<Self> {
        let element_type = self.element_type();
        let component = element_type.complex_component_type().ok_or(TransformError::NotComplex { element_type })?;
        self.change_element_type(component)
    }

    /// The array in the default layout.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[2,3]{0,1:T(2,4)S(1)}".parse()?;
    /// assert_eq!(shape.get_with_default_layout()?.to_string(), "f32[2,3]{1,0}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the result is too large, because the elements are no longer packed.
    pub fn get_with_default_layout(&self) -> Result<Self> {
        Ok(self.clone().with_layout(Layout::descending(self.num_dimensions()))?)
    }

    /// The array as the host stores it: with the same order of dimensions, without tiles, memory space, splits,
    /// alignment, packing and prefix. XLA's `ShapeUtil::DeviceShapeToHostShape`.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[2,3]{0,1:T(2,4)S(1)}".parse()?;
    /// assert_eq!(shape.device_shape_to_host_shape()?.to_string(), "f32[2,3]{0,1}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the result is too large, because the elements are no longer packed.
    pub fn device_shape_to_host_shape(&self) -> Result<Self> {
        Ok(self.clone().with_layout(Layout::new(self.layout().minor_to_major())?)?)
    }

    /// The array without tiles.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[2,3]{0,1:T(2,4)S(1)}".parse()?;
    /// assert_eq!(shape.clear_tiles()?.to_string(), "f32[2,3]{0,1:S(1)}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Never: removing tiles does not make an array larger. The `Result` is that of other transformations.
    pub fn clear_tiles(&self) -> Result<Self> {
        Ok(self.clone().with_layout(self.layout().clone().with_tiles(&[])?)?)
    }

    /// The array with `E(n)` set to the element type's bits, if `pack` and the type can be packed, or without `E(n)`.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "s4[16]".parse()?;
    /// assert_eq!(shape.update_element_size_in_bits(true)?.to_string(), "s4[16]{0:E(4)}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the result is too large, because the elements are no longer packed.
    pub fn update_element_size_in_bits(&self, pack: bool) -> Result<Self> {
        let element_type = self.element_type();
        let bits = if pack && element_type.is_sub_byte_non_pred() { element_type.bits() } else { 0 };
        Ok(self.clone().with_layout(self.layout().clone().with_element_size_in_bits(bits)?)?)
    }

    /// The array with other dimensions and another layout.
    pub(crate) fn with_parts(&self, dimensions: impl Iterator<Item = Dimension>, layout: Layout) -> Result<Self> {
        Ok(Self::new(self.element_type(), &dimensions.collect::<Vec<_>>(), layout)?)
    }
}

macro_rules! for_all_arrays {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $kind:ty),*);)*) => {
        impl Shape {
            $(
                $(#[$doc])*
                ///
                /// # Errors
                /// The first error of an array in the shape.
                pub fn $name(self, $($argument: $kind),*) -> Result<Self> {
                    self.try_map_arrays(|array| array.$name($($argument),*))
                }
            )*
        }
    };
}

for_all_arrays! {
    /// Applies [`ArrayShape::change_element_type`] to every array in the shape.
    ///
    /// ```
    /// use xla_shape_core::{ElementType, Shape};
    ///
    /// let shape: Shape = "(f32[2], token[])".parse()?;
    /// assert_eq!(shape.change_element_type(ElementType::Bf16)?.to_string(), "(bf16[2]{0}, token[])");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    change_element_type(element_type: ElementType);
    /// Applies [`ArrayShape::device_shape_to_host_shape`] to every array in the shape.
    ///
    /// ```
    /// let shape: xla_shape_core::Shape = "(f32[2]{0:T(1024)S(1)}, token[])".parse()?;
    /// assert_eq!(shape.device_shape_to_host_shape()?.to_string(), "(f32[2]{0}, token[])");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    device_shape_to_host_shape();
    /// Applies [`ArrayShape::get_with_default_layout`] to every array in the shape.
    ///
    /// ```
    /// let shape: xla_shape_core::Shape = "(f32[2,3]{0,1}, token[])".parse()?;
    /// assert_eq!(shape.get_with_default_layout()?.to_string(), "(f32[2,3]{1,0}, token[])");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    get_with_default_layout();
    /// Applies [`ArrayShape::clear_tiles`] to every array in the shape.
    ///
    /// ```
    /// let shape: xla_shape_core::Shape = "(f32[2]{0:T(1024)S(1)}, token[])".parse()?;
    /// assert_eq!(shape.clear_tiles()?.to_string(), "(f32[2]{0:S(1)}, token[])");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    clear_tiles();
    /// Applies [`ArrayShape::update_element_size_in_bits`] to every array in the shape.
    ///
    /// ```
    /// let shape: xla_shape_core::Shape = "(s4[16], f32[2])".parse()?;
    /// assert_eq!(shape.update_element_size_in_bits(true)?.to_string(), "(s4[16]{0:E(4)}, f32[2]{0})");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    update_element_size_in_bits(pack: bool);
    /// Applies [`ArrayShape::move_dim_to_major`] to every array in the shape.
    ///
    /// ```
    /// let shape: xla_shape_core::Shape = "(f32[2,3], s8[5,7])".parse()?;
    /// assert_eq!(shape.move_dim_to_major((-1).into())?.to_string(), "(f32[2,3]{0,1}, s8[5,7]{0,1})");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    move_dim_to_major(dimension: DimensionNumber);
    /// Applies [`ArrayShape::make_static_shape`] to every array in the shape.
    ///
    /// ```
    /// let shape: xla_shape_core::Shape = "(f32[<=8], token[])".parse()?;
    /// assert_eq!(shape.make_static_shape()?.to_string(), "(f32[8]{0}, token[])");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    make_static_shape();
}

impl Shape {
    /// Gives every array in `target` the layout of the corresponding array in `source`. XLA's
    /// `LayoutUtil::CopyLayoutBetweenShapes`.
    ///
    /// ```
    /// use xla_shape_core::Shape;
    ///
    /// let source: Shape = "(f32[2,3]{0,1:T(4)}, token[])".parse()?;
    /// let mut target: Shape = "(s8[5,7], token[])".parse()?;
    /// Shape::copy_layout_between_shapes(&source, &mut target)?;
    /// assert_eq!(target.to_string(), "(s8[5,7]{0,1:T(4)}, token[])");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the tuple structures differ, or a layout does not fit its array; then `target` is unchanged.
    pub fn copy_layout_between_shapes(source: &Self, target: &mut Self) -> Result<()> {
        let arrays = |shape: &Self| shape.flatten_tuple_shape().map(Self::is_array).collect::<Vec<_>>();
        if !source.equal_structure(target) || arrays(source) != arrays(target) {
            return Err(TransformError::StructureMismatch);
        }
        let mut changed = target.clone();
        changed.for_each_mutable_leaf_shape(|array, index| {
            let source = source.get_subshape(index).and_then(Self::array).ok_or(TransformError::StructureMismatch)?;
            *array = array.clone().with_layout(source.layout().clone())?;
            Ok::<_, TransformError>(())
        })?;
        *target = changed;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::TransformError;
    use crate::element_type::ElementType;
    use crate::layout::dimension::Dimension;
    use crate::shape::Shape;
    use crate::shape::array::ArrayShape;
    use alloc::string::{String, ToString};

    fn array(text: &str) -> ArrayShape {
        text.parse().unwrap()
    }

    fn text(result: Result<ArrayShape, TransformError>) -> String {
        result.unwrap().to_string()
    }

    #[test]
    fn dimensions_are_inserted_and_deleted() {
        let shape = array("bf16[2,1,3]{1,2,0:T(8,128)(2,1)S(1)}");
        assert_eq!(text(shape.delete_dimension(1)), "bf16[2,3]{1,0:T(8,128)(2,1)S(1)}");
        assert_eq!(text(shape.delete_dimensions([0, -1])), "bf16[1]{0:T(8,128)(2,1)S(1)}");
        assert_eq!(text(shape.filter_dimensions(|d| d == 0)), "bf16[2]{0:T(8,128)(2,1)S(1)}");
        assert_eq!(text(shape.drop_degenerate_dimensions()), "bf16[2,3]{1,0:T(8,128)(2,1)S(1)}");
        assert!(shape.has_degenerate_dimensions() && !array("f32[2]").has_degenerate_dimensions());
        let shape = array("f32[2,3]{0,1:SC(0:2)}");
        assert_eq!(text(shape.append_major_dimension(7)), "f32[2,3,7]{0,1,2:SC(1:2)}");
        assert_eq!(text(shape.append_minor_dimension(7)), "f32[2,3,7]{2,0,1:SC(0:2)}");
        assert_eq!(text(shape.prepend_major_dimension(Dimension::Bounded(7))), "f32[<=7,2,3]{1,2,0:SC(1:2)}");
    }

    #[test]
    fn every_error_has_its_message() {
        let shape = array("f32[2,3]");
        let message = |result: Result<ArrayShape, TransformError>| result.unwrap_err().to_string();
        assert_eq!(message(shape.delete_dimension(2)), "expected a dimension number from -2 to 1, found 2");
        assert_eq!(message(shape.delete_dimensions([0, 0])), "dimension 0 is named twice");
        assert_eq!(message(shape.permute_dimensions([0])), "expected one entry for each of 2 dimensions, found 1");
        assert_eq!(
            message(shape.insert_dimension(3, 1.into(), 0)),
            "expected a dimension number from -3 to 2, found 3"
        );
        assert_eq!(
            message(shape.insert_dimension(0, 1.into(), 3)),
            "expected a dimension number from -3 to 2, found 3"
        );
        assert_eq!(message(shape.complex_component_shape()), "expected a complex element type, found f32");
        assert_eq!(
            message(shape.append_major_dimension(u64::MAX)),
            "expected a dimension's size that fits in an i64, found 18446744073709551615"
        );
        assert_eq!(
            message(array("f32[0,9223372036854775807]").delete_dimension(0)),
            "expected a number of bytes that fits in an i64, found more"
        );
        assert_eq!(TransformError::StructureMismatch.to_string(), "the tuples have different structures");
    }

    #[test]
    fn element_types_change_with_their_packing() {
        let packed = array("s4[16]{0:T(64)E(4)}");
        assert_eq!(text(packed.change_element_type(ElementType::U4)), "u4[16]{0:T(64)E(4)}");
        assert_eq!(text(packed.change_element_type(ElementType::S8)), "s8[16]{0:T(64)}");
        assert_eq!(text(packed.update_element_size_in_bits(false)), "s4[16]{0:T(64)}");
        assert_eq!(text(array("s2[16]").update_element_size_in_bits(true)), "s2[16]{0:E(2)}");
        assert_eq!(text(array("pred[16]").update_element_size_in_bits(true)), "pred[16]{0}");
        assert_eq!(text(array("c64[2]{0:T(2)}").complex_component_shape()), "f32[2]{0:T(2)}");
    }

    #[test]
    fn a_host_shape_has_only_the_order() {
        let shape: Shape =
            "(s4[16,256]{0,1:T(8,128)L(1024)E(4)S(5)SC(0:5)M(8)}, token[], b(f32[2]{0:S(1)}))".parse().unwrap();
        let host = shape.clone().device_shape_to_host_shape().unwrap();
        assert_eq!(host.to_string(), "(s4[16,256]{0,1}, token[], b(f32[2]{0}))");
        let default = shape.clone().get_with_default_layout().unwrap();
        assert_eq!(default.to_string(), "(s4[16,256]{1,0}, token[], b(f32[2]{0}))");
        let untiled = shape.clear_tiles().unwrap();
        assert_eq!(untiled.to_string(), "(s4[16,256]{0,1:L(1024)E(4)S(5)SC(0:5)M(8)}, token[], b(f32[2]{0:S(1)}))");
    }

    #[test]
    fn layouts_are_copied_between_shapes_of_the_same_structure() {
        let source: Shape = "(f32[2,3]{0,1:T(4)}, (u8[4]{0:S(1)}, token[]))".parse().unwrap();
        let mut target: Shape = "(s8[5,7], (pred[9], token[]))".parse().unwrap();
        Shape::copy_layout_between_shapes(&source, &mut target).unwrap();
        assert_eq!(target.to_string(), "(s8[5,7]{0,1:T(4)}, (pred[9]{0:S(1)}, token[]))");
        for other in ["(s8[5,7], pred[9])", "(s8[5], (pred[9], token[]))", "(s8[5,7], (token[], token[]))"] {
            let mut target: Shape = other.parse().unwrap();
            let before = target.clone();
            assert!(Shape::copy_layout_between_shapes(&source, &mut target).is_err(), "{other}");
            assert_eq!(target, before);
        }
    }
}
