//! Layouts of other worlds: the notations of CuTe, Triton, mdspan, NumPy, torch, MLIR, Mosaic and oneDNN, and the maps that they describe.
//!
//! A layout is a map from indices to positions, whoever writes it down. A text of any of these notations is read as such a map
//! ([`AnyLayout`]), and a map is written in any notation that can express it. Where one cannot, an [`Obstacle`] says why, with the
//! element or the position that shows it.
//!
//! ```
//! use xla_shape_core::ArrayShape;
//! use xla_shape_core::worlds::{AnyLayout, World};
//!
//! let array: ArrayShape = "bf16[8,128]{1,0:T(8,128)(2,1)}".parse()?;
//! let layout = AnyLayout::of_array(&array)?;
//! assert_eq!(layout.write(World::Cute)?, "((2,4),128):((1,256),2)");
//! let back = AnyLayout::read(World::Cute, "((2,4),128):((1,256),2)")?;
//! assert_eq!(back.first_moved(&layout)?, None);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! Positions count elements. Layouts are compared by where their elements are. Only XLA's, Mosaic's and oneDNN's notations also
//! describe the room behind the last one.

mod affine;
mod any;
mod assert;
mod cute;
mod linear;
mod mdspan;
mod memref;
mod modes;
mod numpy;
mod obstacle;
mod onednn;
mod python;
mod reader;
mod sharing;
mod spelling;
mod steps;
mod strided;
mod tiles;
mod torch;

pub use any::{AnyLayout, Map, Nearest};
#[doc(hidden)]
pub use assert::assert_same_map;
pub use cute::cute_text;
pub use linear::LinearLayout;
pub use modes::{Mode, Modes};
pub use obstacle::Obstacle;
pub use sharing::Sharing;
pub use steps::{Step, tile_steps};

use core::fmt;

/// A notation for layouts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum World {
    /// XLA's own text of a shape.
    Xla,
    /// CuTe's nested sizes and strides: `((2,4),128):((1,256),2)`.
    Cute,
    /// Linear layouts over bits, as Triton prints them.
    Linear,
    /// The layout mappings of C++'s `mdspan`.
    Mdspan,
    /// NumPy's sizes and strides in bytes.
    Numpy,
    /// torch's sizes and strides, or memory format.
    Torch,
    /// MLIR's memrefs, with strides or an affine map.
    Memref,
    /// MLIR's memrefs with the tiled layouts of Mosaic, the compiler of Pallas kernels for TPUs.
    Mosaic,
    /// oneDNN's tags.
    Onednn,
}

/// The names of the notations, for programs and for people.
const NAMES: &[(World, &str, &str)] = &[
    (World::Xla, "xla", "XLA"),
    (World::Cute, "cute", "CuTe"),
    (World::Linear, "linear", "a linear layout"),
    (World::Mdspan, "mdspan", "mdspan"),
    (World::Numpy, "numpy", "NumPy"),
    (World::Torch, "torch", "torch"),
    (World::Memref, "memref", "a memref"),
    (World::Mosaic, "mosaic", "Mosaic"),
    (World::Onednn, "onednn", "oneDNN"),
];

impl World {
    /// All notations, XLA's first.
    pub const ALL: &'static [Self] = &[
        Self::Xla,
        Self::Cute,
        Self::Linear,
        Self::Mdspan,
        Self::Numpy,
        Self::Torch,
        Self::Memref,
        Self::Mosaic,
        Self::Onednn,
    ];

    /// The name in arguments and in JSON, such as `cute`.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(world, ..)| *world == self).map_or("", |(_, name, _)| name)
    }

    /// The name that people use, such as `CuTe`.
    ///
    /// ```
    /// use xla_shape_core::worlds::World;
    ///
    /// assert_eq!((World::Cute.name(), World::Cute.title()), ("cute", "CuTe"));
    /// ```
    #[must_use]
    pub fn title(self) -> &'static str {
        NAMES.iter().find(|(world, ..)| *world == self).map_or("", |(.., title)| title)
    }

    /// The notation with this [`name`](Self::name).
    ///
    /// ```
    /// use xla_shape_core::worlds::World;
    ///
    /// assert_eq!(World::from_name("cute"), Some(World::Cute));
    /// assert_eq!(World::from_name("CUTE"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        NAMES.iter().find(|(_, known, _)| *known == name).map(|&(world, ..)| world)
    }
}

impl fmt::Display for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
