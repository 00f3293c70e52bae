//! A layout of any notation.

use super::modes::{Modes, combined};
use super::reader::ANY_TYPE;
use super::sharing::Sharing;
use super::{LinearLayout, World, cute, linear, mdspan, memref, numpy, onednn, torch};
use crate::element_type::ElementType;
use crate::map::StrideTable;
use crate::notation::Obstacle;
use crate::shape::array::ArrayShape;
use crate::text::ParseError;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The most dimensions of an array for which the nearest layout is looked for.
const MAX_VIEWED: usize = 64;

/// A map from indices to positions, in the form that suits it.
///
/// ```
/// use xla_shape_core::worlds::{AnyLayout, Map, World};
///
/// let layout = AnyLayout::read(World::Cute, "(4,8):(8,1)")?;
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
    /// A linear layout over bits whose positions are no sum: a swizzle, or one that replicates elements.
    Linear(LinearLayout),
    /// A stride table in which parts of several dimensions are combined.
    Table(StrideTable),
}

/// A layout that was read from any notation, or is that of an XLA array: a map, and the type of the elements where the notation has one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AnyLayout {
    pub(super) element_type: Option<ElementType>,
    /// The bits of an element in memory.
    pub(super) element_bits: u64,
    pub(super) map: Map,
    /// The array, if the layout is XLA's.
    pub(super) array: Option<ArrayShape>,
}

/// The nearest layout that a notation has, and how the array is found in it.
///
/// ```
/// use xla_shape_core::worlds::{AnyLayout, World};
///
/// let padded = AnyLayout::of_array(&"f32[6,200]{1,0:T(8,128)}".parse()?)?;
/// let nearest = padded.nearest(World::Cute).unwrap();
/// assert_eq!(nearest.text, "(6,(128,2)):(128,(1,1024))", "the columns with their padding");
/// assert_eq!(nearest.view, "[0:6, 0:200]");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Nearest {
    /// The layout.
    pub text: String,
    /// The part of it that is the array, or how an index of the array is one of it.
    pub view: String,
}

impl AnyLayout {
    /// The layout of an XLA array.
    ///
    /// ```
    /// use xla_shape_core::worlds::{AnyLayout, World};
    ///
    /// let layout = AnyLayout::of_array(&"f32[2,3]{0,1}".parse()?)?;
    /// assert_eq!(layout.write(World::Cute)?, "(2,3):(1,2)");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a dimension is unbounded, or a comparison of its digits is too expensive.
    pub fn of_array(array: &ArrayShape) -> Result<Self, Obstacle> {
        let map = match Modes::of_array(array) {
            Ok(modes) => Map::Modes(modes),
            Err(Obstacle::Combined { .. }) => Map::Table(array.stride_table().map_err(Obstacle::StrideTable)?),
            Err(obstacle) => return Err(obstacle),
        };
        let (element_type, element_bits) = (Some(array.element_type()), array.element_bits());
        Ok(Self { element_type, element_bits, map, array: Some(array.clone()) })
    }

    /// A map over elements of this type; of an unknown one, if there is none.
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    /// use xla_shape_core::worlds::{AnyLayout, Modes, World};
    ///
    /// let layout = AnyLayout::of_modes(Modes::strided(&[2, 3], &[3, 1], 0)?, Some(ElementType::Bf16));
    /// assert_eq!(layout.write(World::Memref)?, "memref<2x3xbf16>");
    /// # Ok::<(), xla_shape_core::worlds::Obstacle>(())
    /// ```
    #[must_use]
    pub fn of_modes(modes: Modes, element_type: Option<ElementType>) -> Self {
        Self::of_map(Map::Modes(modes), element_type)
    }

    pub(super) fn of_map(map: Map, element_type: Option<ElementType>) -> Self {
        let element_bits = element_type.unwrap_or(ANY_TYPE).storage_bits();
        Self { element_type, element_bits, map, array: None }
    }

    /// Reads a text of a notation.
    ///
    /// ```
    /// use xla_shape_core::worlds::{AnyLayout, World};
    ///
    /// let layout = AnyLayout::read(World::Cute, "(4,8):(8,1)")?;
    /// assert_eq!(layout.write(World::Xla)?, "f32[4,8]{1,0}");
    /// let error = AnyLayout::read(World::Cute, "(4,8):(8)").unwrap_err();
    /// assert_eq!(error.to_string(), "expected as many strides as sizes, found `)`");
    /// assert_eq!(error.span().start, 8);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the text is not in this notation, with the place of the mistake; or if it describes no map, or one whose positions do not fit in an i64.
    pub fn read(world: World, text: &str) -> Result<Self, ParseError> {
        match world {
            World::Xla => {
                let array = text.parse::<ArrayShape>()?;
                Self::of_array(&array).map_err(|obstacle| super::reader::obstacle_of_all(obstacle, text))
            }
            World::Cute => Ok(Self::of_modes(cute::from_text(text)?, None)),
            World::Linear => linear::from_text(text),
            World::Mdspan => mdspan::from_text(text),
            World::Numpy => numpy::from_text(text),
            World::Torch => torch::from_text(text),
            World::Memref | World::Mosaic => memref::from_text(text),
            World::Onednn => onednn::from_text(text),
        }
    }

    /// The text of this map in a notation.
    ///
    /// ```
    /// use xla_shape_core::worlds::{AnyLayout, World};
    ///
    /// let padded = AnyLayout::of_array(&"bf16[6,200]{1,0:T(8,128)(2,1)}".parse()?)?;
    /// let obstacle = padded.write(World::Cute).unwrap_err();
    /// assert_eq!(obstacle.position(), Some(768)); // rows 6 and 7 of the first tile
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the notation does not have the map.
    pub fn write(&self, world: World) -> Result<String, Obstacle> {
        match world {
            World::Xla => self.to_array().map(|array| array.to_string()),
            World::Cute => cute::to_text(self.modes_in(world)?),
            World::Linear => match &self.map {
                Map::Linear(linear) => Ok(linear.to_string()),
                _ => linear::to_text(self.modes_in(world)?),
            },
            World::Mdspan => mdspan::to_text(self),
            World::Numpy => numpy::to_text(self),
            World::Torch => torch::to_text(self),
            World::Memref => memref::to_text(self),
            World::Mosaic => memref::to_tiled_text(self),
            World::Onednn => onednn::to_text(self),
        }
    }

    /// The map as modes.
    ///
    /// # Errors
    /// If it is not a sum over modes.
    pub fn modes(&self) -> Result<&Modes, Obstacle> {
        self.modes_in(World::Xla)
    }

    /// The map as modes, for this notation.
    pub(super) fn modes_in(&self, world: World) -> Result<&Modes, Obstacle> {
        match &self.map {
            Map::Modes(modes) => Ok(modes),
            Map::Linear(linear) => Err(linear.obstacle(world)),
            Map::Table(table) => Err(combined(table.as_ref())),
        }
    }

    /// The map as a stride table: its digits are the modes.
    ///
    /// ```
    /// use xla_shape_core::worlds::{AnyLayout, World};
    ///
    /// let table = AnyLayout::read(World::Cute, "((2,4),128):((1,256),2)")?.stride_table()?;
    /// assert_eq!(table.as_ref().linear_index(&[3, 5]), 1 + 256 + 10);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the first element is not at position 0, a stride is negative, or the layout is a swizzle: no stride table has such a map.
    pub fn stride_table(&self) -> Result<StrideTable, Obstacle> {
        match &self.map {
            Map::Modes(modes) => modes.stride_table(),
            Map::Linear(linear) => Err(linear.obstacle(World::Xla)),
            Map::Table(table) => Ok(table.clone()),
        }
    }

    /// The map.
    #[must_use]
    pub const fn map(&self) -> &Map {
        &self.map
    }

    /// The type of the elements; `None` where the notation has none.
    #[must_use]
    pub const fn element_type(&self) -> Option<ElementType> {
        self.element_type
    }

    /// The same layout over elements of this type, in their usual size.
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    /// use xla_shape_core::worlds::{AnyLayout, World};
    ///
    /// let layout = AnyLayout::read(World::Cute, "8:1")?.with_element_type(ElementType::S8);
    /// assert_eq!(layout.write(World::Xla)?, "s8[8]{0}");
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

    /// The XLA array that has this map; of `f32`, where no type is known.
    ///
    /// ```
    /// use xla_shape_core::worlds::{AnyLayout, World};
    ///
    /// let layout = AnyLayout::read(World::Onednn, "aBc16b 2x32x7")?;
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
            (None, Map::Linear(linear)) => Err(linear.obstacle(World::Xla)),
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
    /// use xla_shape_core::worlds::{AnyLayout, World};
    ///
    /// let layout = AnyLayout::read(World::Torch, "torch.as_strided(x, (2, 3), (1, 2), 5)")?;
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

    /// Whether elements share positions. Those of XLA's layouts and of linear ones never do.
    ///
    /// ```
    /// use xla_shape_core::worlds::{AnyLayout, Sharing, World};
    ///
    /// let rows = AnyLayout::read(World::Cute, "(4,8):(0,1)")?;
    /// assert_eq!(rows.sharing(), Sharing::Repeats { dimension: 0, index: vec![1, 0] });
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn sharing(&self) -> Sharing {
        match &self.map {
            Map::Modes(modes) => modes.sharing(),
            Map::Linear(_) => Sharing::Unique,
            Map::Table(_) if self.array.is_some() => Sharing::Unique,
            Map::Table(_) => Sharing::Unknown,
        }
    }

    /// The index of the first element, in row-major order, that the other layout places elsewhere; `None` if there is none.
    ///
    /// ```
    /// use xla_shape_core::worlds::{AnyLayout, World};
    ///
    /// let rows = AnyLayout::read(World::Torch, "torch.empty((2, 3))")?;
    /// let columns = AnyLayout::read(World::Cute, "(2,3):(1,2)")?;
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
                Err(linear.obstacle(World::Xla))
            }
            (Map::Modes(_), Map::Table(_)) | (Map::Table(_), Map::Modes(_)) => {
                let (one, other) = (self.stride_table()?, other.stride_table()?);
                one.as_ref().first_moved(other.as_ref()).map_err(Obstacle::StrideTable)
            }
        }
    }

    /// The nearest layout that a notation has, where it does not have this one: the array with its padding, or cut into parts that have
    /// strides.
    ///
    /// ```
    /// use xla_shape_core::worlds::{AnyLayout, World};
    ///
    /// let padded = AnyLayout::of_array(&"f32[6,200]{1,0:T(8,128)}".parse()?)?;
    /// let nearest = padded.nearest(World::Cute).unwrap();
    /// assert_eq!((nearest.text.as_str(), nearest.view.as_str()), ("(6,(128,2)):(128,(1,1024))", "[0:6, 0:200]"));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn nearest(&self, world: World) -> Option<Nearest> {
        let obstacle = self.write(world).err()?;
        match obstacle {
            Obstacle::Padding { .. } | Obstacle::NotPowerOfTwo { .. } => self.padded(world),
            Obstacle::Cut { .. } => self.parts(world),
            _ => None,
        }
    }

    /// The array with every dimension as large as its tiles have room for.
    fn padded(&self, world: World) -> Option<Nearest> {
        let modes = self.modes().ok()?;
        // With many dimensions, no one reads it.
        if modes.extents().len() > MAX_VIEWED {
            return None;
        }
        let mut extents = modes.extents().to_vec();
        let mut parts = modes.modes().to_vec();
        for (dimension, extent) in extents.iter_mut().enumerate() {
            if let Some(outermost) = parts.iter_mut().rfind(|mode| mode.dimension == dimension) {
                if world == World::Linear {
                    outermost.size = outermost.size.checked_next_power_of_two()?;
                }
                *extent = (*extent).max(outermost.divisor.checked_mul(outermost.size)?);
            }
        }
        let padded = Modes::of_modes(extents, parts, modes.offset()).ok()?;
        let layout = Self { map: Map::Modes(padded), array: None, ..self.clone() };
        let ranges = modes.extents().iter().map(|extent| format!("0:{extent}")).collect::<Vec<_>>();
        Some(Nearest { text: layout.write(world).ok()?, view: format!("[{}]", ranges.join(", ")) })
    }

    /// The array whose dimensions are the modes, from the largest stride to the smallest.
    fn parts(&self, world: World) -> Option<Nearest> {
        let modes = self.modes().ok()?;
        let mut parts = modes.modes().to_vec();
        parts.sort_by_key(|mode| core::cmp::Reverse(mode.stride.unsigned_abs()));
        let extents = parts.iter().map(|mode| mode.size).collect::<Vec<_>>();
        let strides = parts.iter().map(|mode| mode.stride).collect::<Vec<_>>();
        let map = Map::Modes(Modes::strided(&extents, &strides, modes.offset()).ok()?);
        let layout = Self { map, array: None, ..self.clone() };
        let part = |mode: &super::Mode| {
            let name = format!("d{}", mode.dimension);
            let quotient = if mode.divisor > 1 { format!("{name} / {}", mode.divisor) } else { name };
            let room = mode.divisor.saturating_mul(mode.size);
            let extent = modes.extents().get(mode.dimension).copied().unwrap_or(0);
            if room < extent { format!("{quotient} % {}", mode.size) } else { quotient }
        };
        let view = parts.iter().map(part).collect::<Vec<_>>().join(", ");
        Some(Nearest { text: layout.write(world).ok()?, view: format!("[{view}]") })
    }
}
