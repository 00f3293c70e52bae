//! Linear layouts, as Triton prints them: each bit of a place flips certain bits of the indices.
//!
//! ```text
//! - offset=1 -> (0, 1)
//!   offset=2 -> (1, 0)
//! where out dims are: [dim0 (size 2), dim1 (size 2)]
//! ```
//!
//! The place may have several parts, such as `register`, `lane`, `warp` and `block`; the first one varies fastest. The index at a place is the
//! exclusive or of the indices that belong to its bits (`LinearLayout` in Triton's `Tools/LinearLayout.h`).

use crate::modes::sharing::Sharing;
use crate::modes::tiles::positive;
use crate::modes::{Mode, Modes};
use crate::reader::{Reader, Result};
use crate::{Notation, Obstacle};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use xla_shape_core::map::row_major_index;
use xla_shape_core::sorting::{sort, sort_by, sort_by_key};

/// The most bits of a place, and of an index, because positions fit in an i64.
const MAX_BITS: usize = 62;

/// A linear layout over F2: for each bit of each part of a place, the index that the bit adds by exclusive or.
///
/// ```
/// use xla_shape_notations::{AnyLayout, Map, Notation};
///
/// // A swizzle of 4 columns: the column is the column of the position, exclusive or the row.
/// let text = "- offset=1 -> (0, 1)\n  offset=2 -> (0, 2)\n  offset=4 -> (1, 1)\n  offset=8 -> (2, 2)\nwhere out dims are: [dim0 (size 4), dim1 (size 4)]";
/// let layout = AnyLayout::read(Notation::Linear, text)?;
/// assert!(matches!(layout.map(), Map::Linear(_)));
/// assert_eq!(layout.position(&[1, 1]), Some(4));
/// let obstacle = layout.write(Notation::Cute).unwrap_err();
/// assert_eq!(obstacle.to_string(), "CuTe's strides have no swizzles: from position 4 on, positions are exclusive ors of bits, not sums");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LinearLayout {
    /// The parts of a place, the fastest first, with the index that each of their bits adds.
    inputs: Vec<(String, Vec<Vec<u64>>)>,
    /// The dimensions and their sizes, powers of two.
    outputs: Vec<(String, u64)>,
    extents: Vec<u64>,
}

impl LinearLayout {
    /// The sizes of the dimensions, in elements.
    #[must_use]
    pub fn extents(&self) -> &[u64] {
        &self.extents
    }

    /// The parts of a place, the one that varies fastest first. For each: its name, and the index that each of its bits adds.
    ///
    /// ```
    /// use xla_shape_notations::{AnyLayout, Map, Notation};
    ///
    /// let text = "- lane=1 -> (1)\n  lane=2 -> (3)\nwhere out dims are: [dim0 (size 4)]";
    /// let layout = AnyLayout::read(Notation::Linear, text)?;
    /// let Map::Linear(linear) = layout.map() else { panic!("a swizzle") };
    /// assert_eq!(linear.inputs().next(), Some(("lane", &[vec![1], vec![3]][..])));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn inputs(&self) -> impl Iterator<Item = (&str, &[Vec<u64>])> {
        self.inputs.iter().map(|(name, bases)| (name.as_str(), bases.as_slice()))
    }

    /// The index that each bit of a position adds, the lowest bit first. A position has the bits of all parts of a place, one after the other.
    fn bases(&self) -> impl Iterator<Item = &Vec<u64>> {
        self.inputs.iter().flat_map(|(_, bases)| bases)
    }

    /// The row-major number of an index. Sizes are powers of two, so its bits are the bits of the index's entries.
    fn number(&self, index: &[u64]) -> u64 {
        let next = |number: u64, (&entry, &size): (&u64, &u64)| number.saturating_mul(size).saturating_add(entry);
        index.iter().zip(&self.extents).fold(0, next)
    }

    /// For each bit of an element's row-major number, the lowest first: the position that the bit adds by exclusive or. `None` unless each element
    /// has exactly one position.
    fn positions_of_bits(&self) -> Option<Vec<u64>> {
        // Gauss-Jordan elimination over F2: each row is the number of an element, and its position.
        let mut rows =
            self.bases().enumerate().map(|(bit, basis)| (self.number(basis), 1_u64 << bit)).collect::<Vec<_>>();
        let elements = self.extents.iter().fold(1_u64, |product, &size| product.saturating_mul(size));
        let bits = elements.checked_ilog2()? as usize;
        if rows.len() != bits {
            return None;
        }
        let mut positions = Vec::with_capacity(bits);
        for bit in 0..bits {
            let has_bit = |row: &(u64, u64)| row.0 & (1 << bit) != 0;
            let pivot = rows.iter().enumerate().skip(bit).find(|(_, row)| has_bit(row))?.0;
            rows.swap(bit, pivot);
            let (number, position) = rows.get(bit).copied()?;
            for (other, row) in rows.iter_mut().enumerate() {
                if other != bit && has_bit(row) {
                    *row = (row.0 ^ number, row.1 ^ position);
                }
            }
        }
        positions.extend(rows.into_iter().map(|(_, position)| position));
        Some(positions)
    }

    /// The position of an element; `None` if there is no such element, or if elements do not have exactly one position each.
    #[must_use]
    pub fn position(&self, index: &[u64]) -> Option<i64> {
        if index.len() != self.extents.len() || index.iter().zip(&self.extents).any(|(entry, size)| entry >= size) {
            return None;
        }
        let number = self.number(index);
        let bits = self.positions_of_bits()?;
        let taken = bits.iter().enumerate().filter(|(bit, _)| number & (1 << bit) != 0);
        i64::try_from(taken.fold(0, |position, (_, add)| position ^ add)).ok()
    }

    /// The index of the first element, in row-major order, that the other layout puts at another position.
    pub(crate) fn first_moved(&self, other: &Self) -> core::result::Result<Option<Vec<u64>>, Obstacle> {
        if self.extents != other.extents {
            return Err(Obstacle::OtherDimensions);
        }
        if self.bases().eq(other.bases()) {
            return Ok(None);
        }
        let (Some(one), Some(two)) = (self.positions_of_bits(), other.positions_of_bits()) else {
            return Err(if self.positions_of_bits().is_none() { self } else { other }.obstacle(Notation::Linear));
        };
        // Both are linear: if two positions of an element differ, so do those of one of the bits of its row-major number. So the number of the
        // first element that differs has a single bit.
        let bit = one.iter().zip(&two).position(|(a, b)| a != b);
        Ok(bit.map(|bit| row_major_index(1 << bit, &self.extents)))
    }

    /// Why the positions are not a sum over parts of indices.
    pub(crate) fn obstacle(&self, notation: Notation) -> Obstacle {
        let mut seen = 0_u64;
        let mut swizzle = None;
        let mut basis_numbers: Vec<u64> = Vec::new();
        for (bit, basis) in self.bases().enumerate() {
            let position = 1_u64 << bit;
            let number = self.number(basis);
            // Reduce the number by the bases of earlier bits. If nothing is left, earlier bits already reach the same elements.
            let reduced = basis_numbers.iter().fold(number, |rest, &known| rest.min(rest ^ known));
            if reduced == 0 {
                return Obstacle::Replicated { notation, position };
            }
            basis_numbers.push(reduced);
            sort_by(&mut basis_numbers, |a, b| b.cmp(a));
            if number.count_ones() > 1 {
                swizzle = swizzle.or(Some(position));
            }
            seen |= number;
        }
        if let Some(position) = swizzle {
            return Obstacle::Swizzle { notation, position };
        }
        let missing = (!seen).trailing_zeros();
        Obstacle::Missing { notation, index: row_major_index(1_u64.checked_shl(missing).unwrap_or(0), &self.extents) }
    }

    /// The map as modes, if every bit of a position is one bit of one index.
    pub(crate) fn to_modes(&self) -> Option<Modes> {
        let mut modes = Vec::new();
        let mut seen = 0_u64;
        for (bit, basis) in self.bases().enumerate() {
            let number = self.number(basis);
            if number.count_ones() != 1 || seen & number != 0 {
                return None;
            }
            seen |= number;
            let (dimension, &divisor) = basis.iter().enumerate().find(|(_, entry)| **entry != 0)?;
            modes.push(Mode { dimension, divisor, size: 2, stride: 1 << bit });
        }
        let elements = self.extents.iter().fold(1_u64, |product, &size| product.saturating_mul(size));
        if seen != elements.saturating_sub(1) {
            return None;
        }
        sort_by_key(&mut modes, |mode| (mode.dimension, mode.divisor));
        Modes::of_modes(self.extents.clone(), modes, 0).ok()
    }
}

impl fmt::Display for LinearLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, bases) in &self.inputs {
            if bases.is_empty() {
                writeln!(f, "- {name} is a size 1 dimension")?;
            }
            for (bit, basis) in bases.iter().enumerate() {
                let dash = if bit == 0 { '-' } else { ' ' };
                let basis = basis.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                writeln!(f, "{dash} {name}={} -> ({basis})", 1_u64 << bit)?;
            }
        }
        let outputs = self.outputs.iter().map(|(name, size)| format!("{name} (size {size})")).collect::<Vec<_>>();
        write!(f, "where out dims are: [{}]", outputs.join(", "))
    }
}

/// Two elements at one position.
fn overlap(map: &Modes) -> Obstacle {
    match map.sharing() {
        Sharing::Overlaps { index, with, position } => {
            Obstacle::Overlap { notation: Notation::Linear, index, with, position }
        }
        _ => Obstacle::Intricate { index: None },
    }
}

/// The text of a map: from a position, `offset`, to an index of `dim0`, `dim1`, ….
pub(crate) fn to_text(map: &Modes) -> core::result::Result<String, Obstacle> {
    let notation = Notation::Linear;
    positive(map, notation)?;
    let hole = map.first_hole();
    #[expect(clippy::arithmetic_side_effects, reason = "the size of an `i64` is at most 2^63")]
    let end = map.positions().map_or(0, |(_, last)| last.unsigned_abs() + 1);
    for (dimension, &size) in map.extents().iter().enumerate() {
        if !size.is_power_of_two() {
            return Err(Obstacle::NotPowerOfTwo { dimension, size, position: hole.unwrap_or(end) });
        }
    }
    if let Some(position) = hole {
        return Err(Obstacle::Hole { notation, position });
    }
    // With more than `MAX_BITS` bits, some elements share positions. The check comes first, because each bit takes a list with an entry for each
    // dimension.
    let num_bits = map.modes().iter().map(|mode| mode.size.checked_ilog2().unwrap_or(0) as usize);
    if num_bits.sum::<usize>() > MAX_BITS {
        return Err(overlap(map));
    }
    // All sizes are powers of two and there are no holes, so the strides are powers of two, too.
    let mut bits = Vec::new();
    for mode in map.modes() {
        let mut part = 1_u64;
        while part < mode.size {
            let stride = mode.stride.unsigned_abs().saturating_mul(part);
            let mut basis = vec![0; map.extents().len()];
            if let Some(entry) = basis.get_mut(mode.dimension) {
                *entry = mode.divisor.saturating_mul(part);
            }
            bits.push((stride, basis));
            part = part.saturating_mul(2);
        }
    }
    sort(&mut bits);
    if bits.iter().enumerate().any(|(bit, (stride, _))| *stride != 1 << bit) {
        // The strides overlap.
        return Err(overlap(map));
    }
    let inputs = vec![("offset".to_string(), bits.into_iter().map(|(_, basis)| basis).collect())];
    let extents = map.extents().to_vec();
    let outputs = extents.iter().enumerate().map(|(dimension, &size)| (format!("dim{dimension}"), size)).collect();
    Ok(LinearLayout { inputs, outputs, extents }.to_string())
}

/// Reads the layout that a text describes.
pub(crate) fn from_text(text: &str) -> Result<LinearLayout> {
    const INPUT: &str = "`- NAME=1 -> (…)`, `- NAME is a size 1 dimension`, or `where out dims are:`";
    let mut reader = Reader::new(text);
    let mut inputs: Vec<(String, Vec<Vec<u64>>)> = Vec::new();
    let mut num_bits = 0_usize;
    while reader.take("-") {
        let at = reader;
        let name = reader.word();
        if inputs.len() >= MAX_BITS {
            return Err(at.obstacle(Obstacle::TooLong { most: MAX_BITS }, at.at()));
        }
        if name.is_empty() || inputs.iter().any(|(known, _)| known == name) {
            return Err(at.expected("the name of a part of places, once"));
        }
        let mut bases: Vec<Vec<u64>> = Vec::new();
        if reader.take("is") {
            for word in ["a", "size", "1", "dimension"] {
                reader.all(word, "`is a size 1 dimension`")?;
            }
        } else {
            loop {
                reader.character('=')?;
                let at = reader;
                let value = reader.number("a power of two")?;
                // The indices of the powers of two determine a layout over bits. So there must be a line for each power, in order.
                if value != 1_u64 << bases.len() {
                    return Err(at.expected("the next power of two"));
                }
                reader.all("->", "`->`")?;
                bases.push(reader.list('(', ')', |reader| reader.number("an index"))?);
                num_bits += 1;
                if num_bits > MAX_BITS {
                    return Err(reader.obstacle(Obstacle::TooLarge, at.at()));
                }
                if reader.peek_word() != name {
                    break;
                }
                reader.word();
            }
        }
        inputs.push((name.to_string(), bases));
    }
    let start = reader;
    if reader.word() != "where" {
        return Err(start.expected(INPUT));
    }
    for word in ["out", "dims", "are"] {
        reader.all(word, "`where out dims are:`")?;
    }
    reader.character(':')?;
    let at = reader.at();
    let outputs = reader.list('[', ']', |reader| {
        let name = reader.word();
        if name.is_empty() {
            return Err(reader.expected("the name of a dimension"));
        }
        reader.character('(')?;
        reader.all("size", "`size`")?;
        let at = *reader;
        let size = reader.number("a size")?;
        if !size.is_power_of_two() {
            return Err(at.expected("a power of two"));
        }
        reader.character(')')?;
        Ok((name.to_string(), size))
    })?;
    reader.end("the end of the layout")?;
    let extents = outputs.iter().map(|(_, size)| *size).collect::<Vec<_>>();
    let elements = extents.iter().try_fold(1_u64, |product, &size| product.checked_mul(size));
    if elements.is_none_or(|elements| elements > 1 << MAX_BITS) {
        return Err(reader.obstacle(Obstacle::TooLarge, at));
    }
    let fits = |basis: &Vec<u64>| basis.len() == extents.len() && basis.iter().zip(&extents).all(|(a, size)| a < size);
    if !inputs.iter().flat_map(|(_, bases)| bases).all(fits) {
        return Err(crate::reader::error_at(text, at, "dimensions that have room for every index, one for each entry"));
    }
    Ok(LinearLayout { inputs, outputs, extents })
}
