//! How a TPU tiles elements of each width.

use super::Generation;
use crate::element_type::ElementType;

/// The lanes of a vector register: how many elements of a row a tile holds.
pub(super) const LANES: u64 = 128;

/// How a family of generations tiles arrays whose elements have one width.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Format {
    /// The fewest and the most rows of a tile; between them it has as many as the array, rounded up to a power of two.
    rows: (u64, u64),
    /// The rows of a tile where they cut the array without a remainder.
    whole_rows: Option<u64>,
    /// The rows that a tile is taken to have while the order is chosen, if those are not the real ones.
    pub(super) weighed_rows: Option<u64>,
    /// The fewest and the most elements of a tile of one dimension, as for `rows`.
    line: (u64, u64),
    /// The rows whose elements stand side by side in 32 bits.
    pub(super) packed_rows: u64,
    /// `E(n)`; 0 if an element takes its own bytes.
    pub(super) element_size_in_bits: u64,
}

impl Format {
    /// The format of these elements; `None` if it is not known.
    pub(super) const fn of(family: Family, element_type: ElementType) -> Option<Self> {
        let Some(bits) = width(element_type) else { return None };
        let plain = Self {
            rows: (8, 8),
            whole_rows: None,
            weighed_rows: None,
            line: (1024, 1024),
            packed_rows: 1,
            element_size_in_bits: 0,
        };
        Some(match (family, bits) {
            (Family::V2, 2) => {
                Self { rows: (16, 16), weighed_rows: Some(8), line: (1024, 2048), packed_rows: 4, ..plain }
            }
            (Family::V2, 4 | 8) => Self { packed_rows: 4, ..plain },
            (Family::V2, 16) => Self { rows: (4, 8), line: (512, 1024), packed_rows: 2, ..plain },
            (Family::V2, _) => Self { rows: (2, 8), line: (256, 1024), ..plain },
            (Family::V4, 2) => Self {
                rows: (16, 16),
                whole_rows: Some(128),
                weighed_rows: Some(8),
                line: (2048, 2048),
                packed_rows: 16,
                element_size_in_bits: 2,
            },
            (Family::V4, 4) => Self { whole_rows: Some(64), packed_rows: 8, element_size_in_bits: 4, ..plain },
            (Family::V4, 8) => Self { rows: (4, 8), whole_rows: Some(32), line: (512, 1024), packed_rows: 4, ..plain },
            (Family::V4, 16) => Self { rows: (2, 8), line: (256, 1024), packed_rows: 2, ..plain },
            (Family::V4, _) => Self { rows: (1, 8), line: (128, 1024), ..plain },
        })
    }

    /// The rows of a tile, for an array that has `size` of them.
    pub(super) const fn rows(self, size: u64) -> u64 {
        match self.whole_rows {
            Some(rows) if round_up(size, rows) == size => rows,
            _ => power_of_two(size, self.rows),
        }
    }

    /// The rows of a tile that is not [`whole_rows`](Self::whole_rows) high, for an array with many rows.
    pub(super) const fn most_rows(self) -> u64 {
        self.rows.1
    }

    /// The elements of a tile, for an array of `size` elements in one dimension; 1 for a scalar.
    pub(super) const fn line(self, size: u64) -> u64 {
        power_of_two(size, self.line)
    }
}

/// Generations that give every array the same layout.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Family {
    /// v2 and v3.
    V2,
    /// v4 to v7x.
    V4,
}

impl Family {
    /// The family of a generation; `None` if its layouts are not known.
    pub(super) const fn of(generation: Generation) -> Option<Self> {
        match generation {
            Generation::V2 | Generation::V3 => Some(Self::V2),
            Generation::V4 | Generation::V5e | Generation::V5p | Generation::V6e | Generation::V7x => Some(Self::V4),
            Generation::V8i | Generation::V8t => None,
        }
    }
}

/// The bits of an element in memory, which decide its format; `None` where it is not known.
const fn width(element_type: ElementType) -> Option<u64> {
    match element_type {
        ElementType::Pred => Some(8),
        ElementType::S1 | ElementType::U1 | ElementType::F6E3M2Fn | ElementType::F6E2M3Fn => None,
        other => Some(other.bits()),
    }
}

/// The least multiple of `piece`, which is a power of two, that is at least `size`, which fits in an `i64`.
pub(super) const fn round_up(size: u64, piece: u64) -> u64 {
    let rest = piece.saturating_sub(1);
    size.saturating_add(rest) & !rest
}

/// The least power of two between the bounds that is at least `size`, or the most of them.
const fn power_of_two(size: u64, (least, most): (u64, u64)) -> u64 {
    if size >= most {
        most
    } else if size <= least {
        least
    } else {
        size.next_power_of_two()
    }
}
