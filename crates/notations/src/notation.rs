//! The notations for layouts, and their names.
//!
//! A new notation needs a variant of [`Notation`] with its row here, a file in `text`, and its arms of `read` and `write` in `text/mod.rs`. The
//! tests in `tests/tests/shapes/notations.rs` cover all of [`Notation::ALL`]. `docs/notations.md` and `crates/cli/tests/convert.rs` have an example
//! of each.

use core::fmt;

/// A notation for layouts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Notation {
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
const NAMES: &[(Notation, &str, &str)] = &[
    (Notation::Xla, "xla", "XLA"),
    (Notation::Cute, "cute", "CuTe"),
    (Notation::Linear, "linear", "a linear layout"),
    (Notation::Mdspan, "mdspan", "mdspan"),
    (Notation::Numpy, "numpy", "NumPy"),
    (Notation::Torch, "torch", "torch"),
    (Notation::Memref, "memref", "a memref"),
    (Notation::Mosaic, "mosaic", "Mosaic"),
    (Notation::Onednn, "onednn", "oneDNN"),
];

impl Notation {
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
        NAMES.iter().find(|(notation, ..)| *notation == self).map_or("", |(_, name, _)| name)
    }

    /// The name that people use, such as `CuTe`.
    ///
    /// ```
    /// use xla_shape_notations::Notation;
    ///
    /// assert_eq!((Notation::Cute.name(), Notation::Cute.title()), ("cute", "CuTe"));
    /// ```
    #[must_use]
    pub fn title(self) -> &'static str {
        NAMES.iter().find(|(notation, ..)| *notation == self).map_or("", |(.., title)| title)
    }

    /// The notation with this [`name`](Self::name). `triton` is another name of `linear`.
    ///
    /// ```
    /// use xla_shape_notations::Notation;
    ///
    /// assert_eq!(Notation::from_name("cute"), Some(Notation::Cute));
    /// assert_eq!(Notation::from_name("triton"), Some(Notation::Linear));
    /// assert_eq!(Notation::from_name("CUTE"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let name = if name == "triton" { "linear" } else { name };
        NAMES.iter().find(|(_, known, _)| *known == name).map(|&(notation, ..)| notation)
    }
}

impl fmt::Display for Notation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
