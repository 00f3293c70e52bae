//! CuTe's layouts: `((2,4),128):((1,256),2)`, sizes and strides of the same nesting.
//!
//! The index of a dimension is cut into its modes, the first one varying fastest (colexicographic order), as CuTe's `crd2idx` does. Sizes and
//! strides that CuTe knows at compile time are printed with `_` (`_8:_1`); both forms are read.

use super::World;
use super::modes::{Mode, Modes, are_complete, coalesce, fill};
use super::obstacle::Obstacle;
use super::tiles::unit_offset;
use crate::limits::{MAX_NESTING, MAX_SIZE};
use crate::map::{StaticStrideTable, StrideTableRef, same_sizes};
use crate::sink::{self, ConstText, Sink};
use crate::text::{Expected, Found, ParseError, ParseErrorKind, Span};
use alloc::string::{String, ToString};
use alloc::vec;
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
pub(crate) fn to_text(map: &Modes) -> Result<String, Obstacle> {
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

/// What is wrong with the text of a layout, and where; usable in `const` functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Fault {
    kind: FaultKind,
    start: usize,
    end: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FaultKind {
    Expected(&'static str),
    TooLarge,
    TooDeep,
    /// More modes than there is room for, in a `const`.
    TooMany,
}

const SIZE: &str = "a size, or `(` and sizes";
const STRIDE: &str = "a stride: the strides are nested as the sizes are";
const OPEN: &str = "`(`: the strides are nested as the sizes are";
const NEXT: &str = "`,` or `)`";
const SAME_NEXT: &str = "as many strides as sizes";
const NO_SWIZZLE: &str =
    "a layout without a swizzle: a swizzle takes exclusive ors of bits, which is no sum of strides";

/// A place in a text, in a `const`.
#[derive(Clone, Copy)]
struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
    end: usize,
}

#[expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "`const fn` has no iterators; every index is below `end`, which is a length"
)]
impl Cursor<'_> {
    /// The next byte that is no white space; 0 at the end.
    const fn peek(&mut self) -> u8 {
        while self.at < self.end && self.text[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
        if self.at < self.end { self.text[self.at] } else { 0 }
    }

    const fn take(&mut self, byte: u8) -> bool {
        let is_here = self.peek() == byte;
        if is_here {
            self.at += 1;
        }
        is_here
    }

    const fn fault(&mut self, kind: FaultKind) -> Fault {
        self.peek();
        let mut end = self.at;
        // A whole character, or a whole number or word.
        while end < self.end && (self.text[end].is_ascii_alphanumeric() || self.text[end] >= 0x80) {
            end += 1;
        }
        if end == self.at && end < self.end {
            end += 1;
        }
        Fault { kind, start: self.at, end }
    }

    /// A number, with `_` before it if it is static.
    const fn number(&mut self, is_stride: bool) -> Result<i64, Fault> {
        self.peek();
        let start = self.at;
        let mut at = start;
        if at < self.end && self.text[at] == b'_' {
            at += 1;
        }
        let is_negative = is_stride && at < self.end && self.text[at] == b'-';
        if is_negative {
            at += 1;
        }
        let first = at;
        let mut number = 0_i64;
        let mut fits = true;
        while at < self.end && self.text[at].is_ascii_digit() {
            let digit = (self.text[at] - b'0') as i64;
            number = match number.checked_mul(10) {
                Some(number) => match number.checked_sub(digit) {
                    Some(number) => number,
                    None => {
                        fits = false;
                        0
                    }
                },
                None => {
                    fits = false;
                    0
                }
            };
            at += 1;
        }
        if at == first {
            return Err(self.fault(FaultKind::Expected(if is_stride { STRIDE } else { SIZE })));
        }
        self.at = at;
        match if is_negative { Some(number) } else { number.checked_neg() } {
            Some(number) if fits => Ok(number),
            _ => Err(Fault { kind: FaultKind::TooLarge, start, end: at }),
        }
    }
}

/// How many dimensions and modes were read.
struct Read {
    dimensions: usize,
    modes: usize,
}

/// Reads a layout into these lists.
#[expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "`const fn` has no iterators; counters are compared with lengths first"
)]
const fn read(text: &[u8], extents: &mut [u64], modes: &mut [Mode]) -> Result<Read, Fault> {
    let mut colon = 0;
    while colon < text.len() && text[colon] != b':' {
        colon += 1;
    }
    let mut sizes = Cursor { text, at: 0, end: colon };
    if sizes.peek() == b'S' || sizes.peek() == b's' {
        // `Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)`
        return Err(sizes.fault(FaultKind::Expected(NO_SWIZZLE)));
    }
    let mut strides = Cursor { text, at: if colon < text.len() { colon + 1 } else { colon }, end: text.len() };
    let mut found = Read { dimensions: 0, modes: 0 };
    let (mut depth, mut divisor) = (0, 1_u64);
    loop {
        // Here an item begins: a list, or a number.
        let mut is_item = true;
        if sizes.take(b'(') {
            if colon < text.len() && !strides.take(b'(') {
                return Err(strides.fault(FaultKind::Expected(OPEN)));
            }
            depth += 1;
            if depth > MAX_NESTING {
                return Err(Fault { kind: FaultKind::TooDeep, start: sizes.at - 1, end: sizes.at });
            }
            if sizes.peek() != b')' {
                continue;
            }
            is_item = false;
        } else {
            sizes.peek();
            let start = sizes.at;
            let size = match sizes.number(false) {
                Ok(size) => size as u64,
                Err(fault) => return Err(fault),
            };
            if colon == text.len() {
                // The sizes alone: what is missing stands behind them.
                let mut end = Cursor { text, at: text.len(), end: text.len() };
                return Err(end.fault(FaultKind::Expected("`:` and the strides")));
            }
            let stride = match strides.number(true) {
                Ok(stride) => stride,
                Err(fault) => return Err(fault),
            };
            if strides.peek() == b'@' {
                return Err(strides.fault(FaultKind::Expected("a stride that is a number: `@` makes coordinates")));
            }
            if found.dimensions >= extents.len() || found.modes >= modes.len() {
                return Err(Fault { kind: FaultKind::TooMany, start, end: sizes.at });
            }
            modes[found.modes] = Mode { dimension: found.dimensions, divisor, size, stride };
            found.modes += 1;
            divisor = match divisor.checked_mul(size) {
                Some(divisor) if divisor <= MAX_SIZE => divisor,
                _ => return Err(Fault { kind: FaultKind::TooLarge, start, end: sizes.at }),
            };
        }
        loop {
            if is_item && depth <= 1 {
                if found.dimensions >= extents.len() {
                    return Err(sizes.fault(FaultKind::TooMany));
                }
                extents[found.dimensions] = divisor;
                found.dimensions += 1;
                divisor = 1;
            }
            if depth > 0 && is_item && sizes.take(b',') && sizes.peek() != b')' {
                if !strides.take(b',') {
                    return Err(strides.fault(FaultKind::Expected(SAME_NEXT)));
                }
                break;
            }
            if depth > 0 {
                if !sizes.take(b')') {
                    return Err(sizes.fault(FaultKind::Expected(NEXT)));
                }
                // A comma may stand behind the last entry.
                strides.take(b',');
                if !strides.take(b')') {
                    return Err(strides.fault(FaultKind::Expected(SAME_NEXT)));
                }
                depth -= 1;
                is_item = true;
                if depth > 0 {
                    continue;
                }
            }
            return match (sizes.peek(), strides.peek()) {
                (0, 0) if colon < text.len() => Ok(found),
                (0, 0) => Err(strides.fault(FaultKind::Expected("`:` and the strides"))),
                (0, _) => Err(strides.fault(FaultKind::Expected("the end of the layout"))),
                _ => Err(sizes.fault(FaultKind::Expected("`:` and the strides"))),
            };
        }
    }
}

/// The map that a text says.
pub(crate) fn from_text(text: &str) -> Result<Modes, ParseError> {
    // A number takes at least two bytes of each list, its own and a comma.
    let most = text.len().div_ceil(2).saturating_add(1);
    let (mut extents, mut modes) = (vec![0; most], vec![Mode::BLANK; most]);
    let read = read(text.as_bytes(), &mut extents, &mut modes).map_err(|fault| fault.into_error(text))?;
    extents.truncate(read.dimensions);
    modes.truncate(read.modes);
    Modes::of_modes(extents, modes, 0)
        .map_err(|error| ParseError::new(ParseErrorKind::World(error), Span { start: 0, end: text.len() }))
}

impl Fault {
    fn into_error(self, text: &str) -> ParseError {
        // The end is the end of a character, because the bytes of one are not cut.
        let span = Span { start: self.start, end: self.end };
        let found = Found::new(text.get(self.start..self.end).unwrap_or(""));
        let kind = match self.kind {
            FaultKind::Expected(expected) => ParseErrorKind::Unexpected { expected: Expected::Value(expected), found },
            FaultKind::TooLarge | FaultKind::TooMany => ParseErrorKind::NumberTooLarge { found },
            FaultKind::TooDeep => ParseErrorKind::TooDeeplyNested { limit: MAX_NESTING },
        };
        ParseError::new(kind, span)
    }

    const fn panic(self) -> ! {
        let text = ConstText::<256>::new().push_str("CuTe layout, byte ").push_count(self.start).push_str(": ");
        let text = match self.kind {
            FaultKind::Expected(expected) => text.push_str("expected ").push_str(expected),
            FaultKind::TooLarge => text.push_str("expected numbers and sizes that fit in an i64"),
            FaultKind::TooDeep => {
                text.push_str("expected at most ").push_count(MAX_NESTING).push_str(" nested brackets")
            }
            FaultKind::TooMany => text.push_str("expected fewer modes: a `const` has room for ").push_count(ROOM),
        };
        panic!("{}", text.as_str())
    }
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

/// Panics, in a `const` at compile time, unless a text in CuTe's notation says the map of this table.
///
/// ```
/// let table = "f32[2,3]{0,1}".parse::<xla_shape_core::ArrayShape>()?.stride_table()?;
/// xla_shape_core::worlds::assert_same_as_cute(table.as_ref(), "(2,3):(1,2)");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Panics
/// If the text is no layout, or places an element elsewhere.
#[expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "`const fn` has no iterators; counters are below lengths"
)]
pub const fn assert_same_as_cute(table: StrideTableRef<'_>, text: &str) {
    let (mut extents, mut modes) = ([0; ROOM], [Mode::BLANK; ROOM]);
    let read = match read(text.as_bytes(), &mut extents, &mut modes) {
        Ok(read) => read,
        Err(fault) => fault.panic(),
    };
    let extents = extents.split_at(read.dimensions).0;
    assert!(same_sizes(extents, table.extents()), "the CuTe layout has dimensions of other sizes than the array");
    let len = coalesce(modes.split_at_mut(read.modes).0, extents);
    let (ours, ours_len) = modes_of(table);
    let mut i = 0;
    let mut same = len == ours_len || is_empty(extents);
    while same && i < len && i < ours_len {
        let (a, b) = (modes[i], ours[i]);
        same = a.dimension == b.dimension && a.divisor == b.divisor && a.size == b.size && a.stride == b.stride;
        i += 1;
    }
    if !same {
        let mut message = ConstText::<512>::new().push_str("the array has another map; in CuTe's notation it is ");
        write(&mut message.sink(), table.extents(), ours.split_at(ours_len).0);
        panic!("{}", message.as_str())
    }
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
