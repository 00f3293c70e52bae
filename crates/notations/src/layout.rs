//! A layout that is read from any notation.

use crate::linear::LinearLayout;
use crate::modes::sharing::Sharing;
use crate::modes::{Modes, combined};
use crate::reader::ANY_TYPE;
use crate::{Notation, Obstacle};
use alloc::vec::Vec;
use xla_shape_core::{ArrayShape, ElementType, StrideTable};

/// A map from indices to positions, in the simplest of three forms that can express it.
///
/// ```
/// use xla_shape_notations::{AnyLayout, Map, Notation};
///
/// let layout = AnyLayout::read(Notation::Cute, "(4,8):(8,1)")?;
/// let Map::Modes(modes) = layout.map() else { panic!("strides are modes") };
/// assert_eq!(modes.strides()?, [8, 1]);
/// let combined = AnyLayout::of_array(&"f32[7,2,5]{2,1,0:T(2,*,3)}".parse()?)?;
/// assert!(matches!(combined.map(), Map::Table(_)));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "a table has its digits in place; layouts are not kept in long lists")]
pub enum Map {
    /// A sum over parts of indices.
    Modes(Modes),
    /// A linear layout over bits that is not a sum over parts of indices: it swizzles or replicates elements.
    Linear(LinearLayout),
    /// A stride table in which parts of several dimensions are combined.
    Table(StrideTable),
}

/// A layout that was read from any notation, or the layout of an XLA array: a map, and the element type if the notation has one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AnyLayout {
    pub(crate) element_type: Option<ElementType>,
    /// The bits of an element in memory.
    pub(crate) element_bits: u64,
    pub(crate) map: Map,
    /// The array, if this is the layout of an XLA array.
    pub(crate) array: Option<ArrayShape>,
}

impl AnyLayout {
    /// The layout of an XLA array.
    ///
    /// ```
    /// use xla_shape_notations::{AnyLayout, Notation};
    ///
    /// let layout = AnyLayout::of_array(&"f32[2,3]{0,1}".parse()?)?;
    /// assert_eq!(layout.write(Notation::Cute)?, "(2,3):(1,2)");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a dimension is unbounded, or a comparison of its digits is too expensive.
    pub fn of_array(array: &ArrayShape) -> Result<Self, Obstacle> {
        let map = match Modes::of_array(array) {
            Ok(modes) => Map::Modes(modes),
            // Modes cannot express a tile such as `(*,128)`. A table can hold the map of every XLA layout.
            Err(Obstacle::Combined { .. }) => Map::Table(array.stride_table().map_err(Obstacle::StrideTable)?),
            Err(obstacle) => return Err(obstacle),
        };
        let (element_type, element_bits) = (Some(array.element_type()), array.element_bits());
        Ok(Self { element_type, element_bits, map, array: Some(array.clone()) })
    }

    /// A map over elements of this type; `None` if the type is not known.
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    /// use xla_shape_notations::{AnyLayout, Modes, Notation};
    ///
    /// let layout = AnyLayout::of_modes(Modes::strided(&[2, 3], &[3, 1], 0)?, Some(ElementType::Bf16));
    /// assert_eq!(layout.write(Notation::Memref)?, "memref<2x3xbf16>");
    /// # Ok::<(), xla_shape_notations::Obstacle>(())
    /// ```
    #[must_use]
    pub fn of_modes(modes: Modes, element_type: Option<ElementType>) -> Self {
        Self::of_map(Map::Modes(modes), element_type)
    }

    pub(crate) fn of_map(map: Map, element_type: Option<ElementType>) -> Self {
        let element_bits = element_type.unwrap_or(ANY_TYPE).storage_bits();
        Self { element_type, element_bits, map, array: None }
    }

    /// The map as modes.
    ///
    /// # Errors
    /// If it is not a sum over modes.
    pub fn modes(&self) -> Result<&Modes, Obstacle> {
        self.modes_in(Notation::Xla)
    }

    /// The map as modes; the error is about this notation.
    pub(crate) fn modes_in(&self, notation: Notation) -> Result<&Modes, Obstacle> {
        match &self.map {
            Map::Modes(modes) => Ok(modes),
            Map::Linear(linear) => Err(linear.obstacle(notation)),
            Map::Table(table) => Err(combined(table.as_ref())),
        }
    }

    /// The map as a stride table: its digits are the modes.
    ///
    /// ```
    /// use xla_shape_notations::{AnyLayout, Notation};
    ///
    /// let table = AnyLayout::read(Notation::Cute, "((2,4),128):((1,256),2)")?.stride_table()?;
    /// assert_eq!(table.as_ref().linear_index(&[3, 5]), 1 + 256 + 10);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the first element is not at position 0, a stride is negative, or the layout is a swizzle: no stride table has such a map.
    pub fn stride_table(&self) -> Result<StrideTable, Obstacle> {
        match &self.map {
            Map::Modes(modes) => modes.stride_table(),
            Map::Linear(linear) => Err(linear.obstacle(Notation::Xla)),
            Map::Table(table) => Ok(table.clone()),
        }
    }

    /// The map.
    #[must_use]
    pub const fn map(&self) -> &Map {
        &self.map
    }

    /// The type of the elements; `None` if the notation has none.
    #[must_use]
    pub const fn element_type(&self) -> Option<ElementType> {
        self.element_type
    }

    /// The same layout over elements of this type, in their usual size.
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    /// use xla_shape_notations::{AnyLayout, Notation};
    ///
    /// let layout = AnyLayout::read(Notation::Cute, "8:1")?.with_element_type(ElementType::S8);
    /// assert_eq!(layout.write(Notation::Xla)?, "s8[8]{0}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_element_type(mut self, element_type: ElementType) -> Self {
        if self.element_type != Some(element_type) {
            self.element_type = Some(element_type);
            self.element_bits = element_type.storage_bits();
            self.array = None;
        }
        self
    }

    /// The XLA array that has this map, with elements of type `f32` if no type is known.
    ///
    /// ```
    /// use xla_shape_notations::{AnyLayout, Notation};
    ///
    /// let layout = AnyLayout::read(Notation::Onednn, "aBc16b 2x32x7")?;
    /// assert_eq!(layout.to_array()?.to_string(), "f32[2,32,7]{2,1,0:T(16,1)}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If XLA has no such layout.
    pub fn to_array(&self) -> Result<ArrayShape, Obstacle> {
        match (&self.array, &self.map) {
            (Some(array), _) => Ok(array.clone()),
            (None, Map::Modes(modes)) => modes.to_array(self.element_type.unwrap_or(ANY_TYPE)),
            (None, Map::Linear(linear)) => Err(linear.obstacle(Notation::Xla)),
            (None, Map::Table(table)) => {
                Err(Obstacle::Intricate { index: table.as_ref().first_unstrided().unwrap_or(None) })
            }
        }
    }

    /// The sizes of the dimensions, in elements.
    #[must_use]
    pub fn extents(&self) -> &[u64] {
        match &self.map {
            Map::Modes(modes) => modes.extents(),
            Map::Linear(linear) => linear.extents(),
            Map::Table(table) => table.as_ref().extents(),
        }
    }

    /// The position of an element; `None` if there is no such element.
    ///
    /// ```
    /// use xla_shape_notations::{AnyLayout, Notation};
    ///
    /// let layout = AnyLayout::read(Notation::Torch, "torch.as_strided(x, (2, 3), (1, 2), 5)")?;
    /// assert_eq!(layout.position(&[1, 1]), Some(8));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn position(&self, index: &[u64]) -> Option<i64> {
        match &self.map {
            Map::Modes(modes) => modes.position(index),
            Map::Linear(linear) => linear.position(index),
            Map::Table(table) => i64::try_from(table.as_ref().checked_linear_index(index)?).ok(),
        }
    }

    /// Whether elements share positions. In XLA's layouts and in linear layouts, they never do.
    ///
    /// ```
    /// use xla_shape_notations::{AnyLayout, Sharing, Notation};
    ///
    /// let rows = AnyLayout::read(Notation::Cute, "(4,8):(0,1)")?;
    /// assert_eq!(rows.sharing(), Sharing::Repeats { dimension: 0, index: vec![1, 0] });
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn sharing(&self) -> Sharing {
        match &self.map {
            Map::Modes(modes) => modes.sharing(),
            Map::Linear(_) => Sharing::Unique,
            // In a layout of XLA, every element has a position of its own.
            Map::Table(_) if self.array.is_some() => Sharing::Unique,
            Map::Table(_) => Sharing::Unknown,
        }
    }

    /// The index of the first element, in row-major order, that the other layout puts at another position; `None` if there is none.
    ///
    /// ```
    /// use xla_shape_notations::{AnyLayout, Notation};
    ///
    /// let rows = AnyLayout::read(Notation::Torch, "torch.empty((2, 3))")?;
    /// let columns = AnyLayout::read(Notation::Cute, "(2,3):(1,2)")?;
    /// assert_eq!(rows.first_moved(&columns)?, Some(vec![0, 1]));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the dimensions differ, or the comparison is too expensive.
    pub fn first_moved(&self, other: &Self) -> Result<Option<Vec<u64>>, Obstacle> {
        match (&self.map, &other.map) {
            (Map::Modes(one), Map::Modes(other)) => one.first_moved(other),
            (Map::Table(one), Map::Table(other)) => {
                one.as_ref().first_moved(other.as_ref()).map_err(Obstacle::StrideTable)
            }
            (Map::Linear(one), Map::Linear(other)) => one.first_moved(other),
            (Map::Linear(linear), _) | (_, Map::Linear(linear)) => {
                if self.extents() != other.extents() {
                    return Err(Obstacle::OtherDimensions);
                }
                Err(linear.obstacle(Notation::Xla))
            }
            (Map::Modes(_), Map::Table(_)) | (Map::Table(_), Map::Modes(_)) => {
                let (one, other) = (self.stride_table()?, other.stride_table()?);
                one.as_ref().first_moved(other.as_ref()).map_err(Obstacle::StrideTable)
            }
        }
    }
}
