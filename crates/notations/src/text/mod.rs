//! Reads and writes the notations.

mod affine;
mod cute;
mod mdspan;
mod memref;
mod nearest;
mod numpy;
mod onednn;
mod python;
mod spelling;
mod strided;
mod torch;

pub use nearest::Nearest;

use crate::layout::{AnyLayout, Map};
use crate::linear;
use crate::reader::obstacle_of_all;
use crate::{Notation, Obstacle};
use alloc::string::{String, ToString};
use xla_shape_core::{ArrayShape, ParseError};

impl AnyLayout {
    /// Reads a text of a notation.
    ///
    /// ```
    /// use xla_shape_notations::{AnyLayout, Notation};
    ///
    /// let layout = AnyLayout::read(Notation::Cute, "(4,8):(8,1)")?;
    /// assert_eq!(layout.write(Notation::Xla)?, "f32[4,8]{1,0}");
    /// let error = AnyLayout::read(Notation::Cute, "(4,8):(8)").unwrap_err();
    /// assert_eq!(error.to_string(), "expected as many strides as sizes, found `)`");
    /// assert_eq!(error.span().start, 8);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the text is not in this notation, with the place of the mistake; or if it describes no map, or one whose positions do not fit in an i64.
    pub fn read(notation: Notation, text: &str) -> Result<Self, ParseError> {
        match notation {
            Notation::Xla => {
                let array = text.parse::<ArrayShape>()?;
                Self::of_array(&array).map_err(|obstacle| obstacle_of_all(obstacle, text))
            }
            Notation::Cute => Ok(Self::of_modes(cute::from_text(text)?, None)),
            Notation::Linear => {
                let linear = linear::from_text(text)?;
                let map = linear.to_modes().map_or(Map::Linear(linear), Map::Modes);
                Ok(Self::of_map(map, None))
            }
            Notation::Mdspan => mdspan::from_text(text),
            Notation::Numpy => numpy::from_text(text),
            Notation::Torch => torch::from_text(text),
            Notation::Memref | Notation::Mosaic => memref::from_text(text),
            Notation::Onednn => onednn::from_text(text),
        }
    }

    /// The text of this map in a notation.
    ///
    /// ```
    /// use xla_shape_notations::{AnyLayout, Notation};
    ///
    /// let padded = AnyLayout::of_array(&"bf16[6,200]{1,0:T(8,128)(2,1)}".parse()?)?;
    /// let obstacle = padded.write(Notation::Cute).unwrap_err();
    /// assert_eq!(obstacle.position(), Some(768)); // rows 6 and 7 of the first tile
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the notation does not have the map.
    pub fn write(&self, notation: Notation) -> Result<String, Obstacle> {
        match notation {
            Notation::Xla => self.to_array().map(|array| array.to_string()),
            Notation::Cute => cute::to_text(self.modes_in(notation)?),
            Notation::Linear => match &self.map {
                Map::Linear(linear) => Ok(linear.to_string()),
                _ => linear::to_text(self.modes_in(notation)?),
            },
            Notation::Mdspan => mdspan::to_text(self),
            Notation::Numpy => numpy::to_text(self),
            Notation::Torch => torch::to_text(self),
            Notation::Memref => memref::to_text(self),
            Notation::Mosaic => memref::to_tiled_text(self),
            Notation::Onednn => onednn::to_text(self),
        }
    }
}
