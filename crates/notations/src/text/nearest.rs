//! For a layout that a notation cannot express: the nearest one that it can.

use crate::layout::{AnyLayout, Map};
use crate::{Modes, Notation, Obstacle};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use xla_shape_core::sorting::sort_by_key;

/// The nearest layout is only looked for if the array has at most this many dimensions.
const MAX_VIEWED: usize = 64;

/// The nearest layout that a notation can express, and where the array is in it.
///
/// ```
/// use xla_shape_notations::{AnyLayout, Notation};
///
/// let padded = AnyLayout::of_array(&"f32[6,200]{1,0:T(8,128)}".parse()?)?;
/// let nearest = padded.nearest(Notation::Cute).unwrap();
/// assert_eq!(nearest.text, "(6,(128,2)):(128,(1,1024))", "the columns with their padding");
/// assert_eq!(nearest.view, "[0:6, 0:200]");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Nearest {
    /// The layout.
    pub text: String,
    /// The slice of the layout that is the array, or how to compute an index in the layout from an index in the array.
    pub view: String,
}

impl AnyLayout {
    /// The nearest layout that a notation can express, if it cannot express this one. It is the array with its padding, or an array with one
    /// dimension for each part of an index that has a stride of its own.
    ///
    /// ```
    /// use xla_shape_notations::{AnyLayout, Notation};
    ///
    /// let padded = AnyLayout::of_array(&"f32[6,200]{1,0:T(8,128)}".parse()?)?;
    /// let nearest = padded.nearest(Notation::Cute).unwrap();
    /// assert_eq!((nearest.text.as_str(), nearest.view.as_str()), ("(6,(128,2)):(128,(1,1024))", "[0:6, 0:200]"));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn nearest(&self, notation: Notation) -> Option<Nearest> {
        let obstacle = self.write(notation).err()?;
        match obstacle {
            Obstacle::Padding { .. } | Obstacle::NotPowerOfTwo { .. } => self.padded(notation),
            Obstacle::Cut { .. } => self.parts(notation),
            _ => None,
        }
    }

    /// The array with every dimension extended to the room that its tiles have.
    fn padded(&self, notation: Notation) -> Option<Nearest> {
        let modes = self.modes().ok()?;
        // A view of many dimensions is too long to read.
        if modes.extents().len() > MAX_VIEWED {
            return None;
        }
        let mut extents = modes.extents().to_vec();
        let mut parts = modes.modes().to_vec();
        for (dimension, extent) in extents.iter_mut().enumerate() {
            if let Some(outermost) = parts.iter_mut().rfind(|mode| mode.dimension == dimension) {
                if notation == Notation::Linear {
                    outermost.size = outermost.size.checked_next_power_of_two()?;
                }
                *extent = (*extent).max(outermost.divisor.checked_mul(outermost.size)?);
            }
        }
        let padded = Modes::of_modes(extents, parts, modes.offset()).ok()?;
        let layout = Self { map: Map::Modes(padded), array: None, ..self.clone() };
        let ranges = modes.extents().iter().map(|extent| format!("0:{extent}")).collect::<Vec<_>>();
        Some(Nearest { text: layout.write(notation).ok()?, view: format!("[{}]", ranges.join(", ")) })
    }

    /// The array whose dimensions are the modes, from the largest stride to the smallest.
    fn parts(&self, notation: Notation) -> Option<Nearest> {
        let modes = self.modes().ok()?;
        let mut parts = modes.modes().to_vec();
        sort_by_key(&mut parts, |mode| core::cmp::Reverse(mode.stride.unsigned_abs()));
        let extents = parts.iter().map(|mode| mode.size).collect::<Vec<_>>();
        let strides = parts.iter().map(|mode| mode.stride).collect::<Vec<_>>();
        let map = Map::Modes(Modes::strided(&extents, &strides, modes.offset()).ok()?);
        let layout = Self { map, array: None, ..self.clone() };
        let part = |mode: &crate::Mode| {
            let name = format!("d{}", mode.dimension);
            let quotient = if mode.divisor > 1 { format!("{name} / {}", mode.divisor) } else { name };
            let room = mode.divisor.saturating_mul(mode.size);
            let extent = modes.extents().get(mode.dimension).copied().unwrap_or(0);
            if room < extent { format!("{quotient} % {}", mode.size) } else { quotient }
        };
        let view = parts.iter().map(part).collect::<Vec<_>>().join(", ");
        Some(Nearest { text: layout.write(notation).ok()?, view: format!("[{view}]") })
    }
}
