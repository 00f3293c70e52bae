//! CuTe's layouts: `((2,4),128):((1,256),2)`, sizes and strides of the same nesting.
//!
//! The index of a dimension is cut into its modes, the first one varying fastest (colexicographic order), as CuTe's `crd2idx` does. Sizes and
//! strides that CuTe knows at compile time are printed with `_` (`_8:_1`); both forms are read.

use crate::modes::tiles::unit_offset;
use crate::reader::{Reader, Result, fits, obstacle_of_all};
use crate::{Mode, Modes, Notation, Obstacle};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The items with commas between them, in parentheses unless there is only one.
fn list(items: &[String]) -> String {
    match items {
        [item] => item.clone(),
        items => format!("({})", items.join(",")),
    }
}

/// The sizes or the strides of a layout, as nested lists: `entry` gives the text of a mode; `alone`, the text of a dimension without modes.
fn entries(map: &Modes, entry: impl Fn(Mode) -> String, alone: impl Fn(u64) -> String) -> String {
    let of_dimension = |(dimension, &extent): (usize, &u64)| {
        let modes = map.modes_of(dimension).map(&entry).collect::<Vec<_>>();
        // The dimension has one element, or none.
        if modes.is_empty() { alone(extent) } else { list(&modes) }
    };
    let dimensions = map.extents().iter().enumerate().map(of_dimension).collect::<Vec<_>>();
    match dimensions.as_slice() {
        // A list at the top level is a list of dimensions. So the list of modes of a single dimension needs parentheses around it.
        [only] if map.modes().len() > 1 => format!("({only})"),
        dimensions => list(dimensions),
    }
}

/// The first mode that is not full. The product of the sizes of its dimension's modes is larger than the dimension.
fn partial(map: &Modes) -> Option<Mode> {
    let is_partial = |mode: &Mode| {
        map.extents().get(mode.dimension).is_none_or(|&extent| mode.divisor.saturating_mul(mode.size) > extent)
    };
    map.modes().iter().copied().find(is_partial)
}

/// The text of a map.
pub(crate) fn to_text(map: &Modes) -> core::result::Result<String, Obstacle> {
    unit_offset(map, Notation::Cute)?;
    if let Some(mode) = partial(map) {
        let size = map.extents().get(mode.dimension).copied().unwrap_or(0);
        let position = map.first_hole().unwrap_or(0);
        let (dimension, tile) = (mode.dimension, mode.divisor);
        return Err(Obstacle::Padding { notation: Notation::Cute, position, dimension, size, tile });
    }
    let sizes = entries(map, |mode| mode.size.to_string(), |extent| extent.to_string());
    let strides = entries(map, |mode| mode.stride.to_string(), |_| "0".to_string());
    Ok(format!("{sizes}:{strides}"))
}

const SIZE: &str = "a size, or `(` and sizes";
const STRIDE: &str = "a stride: the strides are nested as the sizes are";
const OPEN: &str = "`(`: the strides are nested as the sizes are";
const COLON: &str = "`:` and the strides";
const SAME_NEXT: &str = "as many strides as sizes";
const NO_SWIZZLE: &str =
    "a layout without a swizzle: a swizzle takes exclusive ors of bits, which is no sum of strides";

/// The sizes and the strides of a layout, read side by side.
struct Pair<'a> {
    sizes: Reader<'a>,
    strides: Reader<'a>,
    extents: Vec<u64>,
    modes: Vec<Mode>,
    /// The divisor of the dimension's next mode.
    divisor: u64,
}

impl Pair<'_> {
    /// Reads a size and its stride, each with `_` before it if it is static.
    fn mode(&mut self) -> Result<()> {
        let start = self.sizes.at();
        self.sizes.take("_");
        let size = self.sizes.number(SIZE)?;
        self.strides.take("_");
        let stride = self.strides.signed(STRIDE)?;
        if self.strides.is("@") {
            return Err(self.strides.expected("a stride that is a number: `@` makes coordinates"));
        }
        self.modes.push(Mode { dimension: self.extents.len(), divisor: self.divisor, size, stride });
        let next = self.divisor.checked_mul(size).filter(|&next| fits(next));
        self.divisor = next.ok_or_else(|| self.sizes.obstacle(Obstacle::TooLarge, start))?;
        Ok(())
    }

    /// Reads the end of both lists.
    fn close(&mut self) -> Result<()> {
        self.sizes.all(")", "`,` or `)`")?;
        // A comma may follow the last entry.
        self.strides.take(",");
        self.strides.all(")", SAME_NEXT)
    }

    /// Reads one size or a list of sizes, and their strides.
    fn read(&mut self) -> Result<()> {
        let mut depth = 0_usize;
        loop {
            if self.sizes.is("(") {
                depth = self.sizes.nest(depth)?;
                self.sizes.character('(')?;
                self.strides.all("(", OPEN)?;
                if !self.sizes.is(")") {
                    continue;
                }
            } else {
                self.mode()?;
                self.end_dimension(depth);
            }
            // Read the ends of lists, until a comma separates the next item.
            while depth > 0 {
                if self.sizes.take(",") && !self.sizes.is(")") {
                    self.strides.all(",", SAME_NEXT)?;
                    break;
                }
                self.close()?;
                depth = depth.saturating_sub(1);
                if depth > 0 {
                    self.end_dimension(depth);
                }
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Must be called at the end of each item, with its depth. An item on the first level is a dimension.
    fn end_dimension(&mut self, depth: usize) {
        if depth <= 1 {
            self.extents.push(core::mem::replace(&mut self.divisor, 1));
        }
    }
}

/// Reads the map that a text describes.
pub(crate) fn from_text(text: &str) -> Result<Modes> {
    let whole = Reader::new(text);
    if whole.peek_word().starts_with(['S', 's']) {
        // A swizzle, such as `Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)`.
        return Err(whole.expected(NO_SWIZZLE));
    }
    let Some(colon) = text.find(':') else {
        // There are only sizes: the error points after them, where the strides are missing.
        let rest = text.trim_start_matches(|c: char| c.is_ascii_digit() || "(,)_ ".contains(c));
        let end = Reader::from(text, text.len() - rest.len());
        return Err(end.expected(if rest.is_empty() && !text.is_empty() { COLON } else { SIZE }));
    };
    let strides = Reader::from(text, colon + 1);
    let sizes = Reader::new(text.get(..colon).unwrap_or(""));
    let mut pair = Pair { sizes, strides, extents: Vec::new(), modes: Vec::new(), divisor: 1 };
    pair.read()?;
    pair.sizes.end(COLON)?;
    pair.strides.end("the end of the layout")?;
    Modes::of_modes(pair.extents, pair.modes, 0).map_err(|obstacle| obstacle_of_all(obstacle, text))
}
