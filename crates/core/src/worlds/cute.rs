//! CuTe's layouts: `((2,4),128):((1,256),2)`, sizes and strides of the same nesting.
//!
//! The index of a dimension is cut into its modes, the first one varying fastest (colexicographic order), as CuTe's `crd2idx` does. Sizes and
//! strides that CuTe knows at compile time are printed with `_` (`_8:_1`); both forms are read.

use super::World;
use super::modes::{Mode, Modes, are_complete, fill};
use super::reader::{Reader, Result, fits, obstacle_of_all};
use super::tiles::unit_offset;
use crate::map::{StaticStrideTable, StrideTableRef};
use crate::notation::Obstacle;
use crate::sink::{self, ConstText, Sink};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// Writes a layout over dimensions of these sizes with these modes.
#[expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "`const fn` has no iterators; counters are below lengths"
)]
const fn write(sink: &mut Sink<'_>, extents: &[u64], modes: &[Mode]) {
    let mut part = 0;
    while part < 2 {
        let is_list = extents.len() != 1 || modes.len() > 1;
        if part == 1 {
            sink.byte(b':');
        }
        if is_list {
            sink.byte(b'(');
        }
        let (mut dimension, mut mode) = (0, 0);
        while dimension < extents.len() {
            if dimension > 0 {
                sink.byte(b',');
            }
            let first = mode;
            while mode < modes.len() && modes[mode].dimension == dimension {
                mode += 1;
            }
            if mode == first {
                // One element, or none.
                sink.number(if part == 0 { extents[dimension] } else { 0 });
            }
            if mode - first > 1 {
                sink.byte(b'(');
            }
            let mut i = first;
            while i < mode {
                if i > first {
                    sink.byte(b',');
                }
                if part == 0 {
                    sink.number(modes[i].size);
                } else {
                    sink.signed(modes[i].stride);
                }
                i += 1;
            }
            if mode - first > 1 {
                sink.byte(b')');
            }
            dimension += 1;
        }
        if is_list {
            sink.byte(b')');
        }
        part += 1;
    }
}

/// The first mode that is not full: the sizes of a dimension's modes then multiply to more than its size.
#[expect(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "the counter is below the length")]
const fn partial(extents: &[u64], modes: &[Mode]) -> Option<Mode> {
    let mut i = 0;
    while i < modes.len() {
        let mode = modes[i];
        if mode.divisor.saturating_mul(mode.size) > extents[mode.dimension] {
            return Some(mode);
        }
        i += 1;
    }
    None
}

/// The text of a map.
pub(crate) fn to_text(map: &Modes) -> core::result::Result<String, Obstacle> {
    unit_offset(map, World::Cute)?;
    if let Some(mode) = partial(map.extents(), map.modes()) {
        let size = map.extents().get(mode.dimension).copied().unwrap_or(0);
        let position = map.first_hole().unwrap_or(0);
        let (dimension, tile) = (mode.dimension, mode.divisor);
        return Err(Obstacle::Padding { world: World::Cute, position, dimension, size, tile });
    }
    Ok(Written(map).to_string())
}

struct Written<'a>(&'a Modes);

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        sink::display(f, |sink| write(sink, self.0.extents(), self.0.modes()))
    }
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
    /// What the next mode of the dimension divides its index by.
    divisor: u64,
}

impl Pair<'_> {
    /// A size and its stride, each with `_` before it if it is static.
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

    /// Both lists end here.
    fn close(&mut self) -> Result<()> {
        self.sizes.all(")", "`,` or `)`")?;
        // A comma may stand behind the last entry.
        self.strides.take(",");
        self.strides.all(")", SAME_NEXT)
    }

    /// One size, or a list of them, and their strides.
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
            // Lists that end, until a comma separates the next item.
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

    /// An item ends at this depth: on the first level, it is a dimension.
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
        // `Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)`
        return Err(whole.expected(NO_SWIZZLE));
    }
    let Some(colon) = text.find(':') else {
        // The sizes alone: what is missing stands behind them.
        let rest = text.trim_start_matches(|c: char| c.is_ascii_digit() || "(,)_ ".contains(c));
        let end = Reader::from(text, text.len().saturating_sub(rest.len()));
        return Err(end.expected(if rest.is_empty() && !text.is_empty() { COLON } else { SIZE }));
    };
    let strides = Reader::from(text, colon.saturating_add(1));
    let sizes = Reader::new(text.get(..colon).unwrap_or(""));
    let mut pair = Pair { sizes, strides, extents: Vec::new(), modes: Vec::new(), divisor: 1 };
    pair.read()?;
    pair.sizes.end(COLON)?;
    pair.strides.end("the end of the layout")?;
    Modes::of_modes(pair.extents, pair.modes, 0).map_err(|obstacle| obstacle_of_all(obstacle, text))
}

/// How many dimensions and modes a layout in a `const` may have.
const ROOM: usize = StaticStrideTable::MAX_DIGITS;

/// The modes of a table, for a `const`.
const fn modes_of(table: StrideTableRef<'_>) -> ([Mode; ROOM], usize) {
    let mut modes = [Mode::BLANK; ROOM];
    if is_empty(table.extents()) {
        // Without elements there are no modes.
        return (modes, 0);
    }
    match fill(table.digits(), table.extents(), &mut modes) {
        Some(len) if are_complete(modes.split_at(len).0, table.extents()) => (modes, len),
        _ => panic!("{}", Obstacle::COMBINED),
    }
}

/// The text of a layout in CuTe's notation, for the constants of types.
///
/// ```
/// use xla_shape_core::worlds::cute_text;
///
/// let table = "f32[8,128]{1,0:T(8,128)}".parse::<xla_shape_core::ArrayShape>()?.stride_table()?;
/// assert_eq!(cute_text::<64>(table.as_ref()).as_str(), "(8,128):(128,1)");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Panics
/// If CuTe has no such layout, or it is too large for a `const`.
#[must_use]
pub const fn cute_text<const CAPACITY: usize>(table: StrideTableRef<'_>) -> ConstText<CAPACITY> {
    let (modes, len) = modes_of(table);
    let modes = modes.split_at(len).0;
    if let Some(mode) = partial(table.extents(), modes) {
        let text = ConstText::<256>::new().push_str("CuTe has no padding: tiles of ").push_number(mode.divisor);
        let text = text.push_str(" do not divide dimension ").push_count(mode.dimension);
        panic!("{}", text.as_str())
    }
    let mut text = ConstText::new();
    write(&mut text.sink(), table.extents(), modes);
    assert!(!text.is_cut(), "the text of the CuTe layout is too long for a `const`");
    text
}

#[expect(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "the counter is below the length")]
const fn is_empty(extents: &[u64]) -> bool {
    let mut i = 0;
    while i < extents.len() {
        if extents[i] == 0 {
            return true;
        }
        i += 1;
    }
    false
}
