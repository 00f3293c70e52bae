//! The tiles that a TPU uses for elements of each width. Found by asking libtpu; see `docs/tpu-formats.md`.

use crate::element_type::ElementType;

/// The number of lanes of a vector register, which is the number of columns of a tile.
pub(super) const LANES: u64 = 128;

/// The tiles of a family of generations for elements of one width.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Format {
    /// The smallest and the largest number of rows of a tile. In between, a tile has the array's number of rows,
    /// rounded up to a power of two.
    rows: (u64, u64),
    /// The number of rows of a tile if it divides the array's number of rows.
    whole_rows: Option<u64>,
    /// The number of rows that the compiler assumes a tile to have while it chooses the order of dimensions. `None` if
    /// it uses the number that tiles really have.
    pub(super) weighed_rows: Option<u64>,
    /// The smallest and the largest size of a one-dimensional tile, as for `rows`.
    line: (u64, u64),
    /// The number of rows whose elements share a 32-bit word.
    pub(super) packed_rows: u64,
    /// `E(n)`; 0 if an element takes the storage size of its type.
    pub(super) element_size_in_bits: u64,
}

impl Format {
    /// The format for this element type; `None` if it is not known.
    pub(super) const fn new(family: Family, element_type: ElementType) -> Option<Self> {
        let Some(bits) = element_type.tpu_bits() else { return None };
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

    /// The number of rows of a tile, for an array with `size` rows.
    pub(super) const fn rows(self, size: u64) -> u64 {
        match self.whole_rows {
            Some(rows) if round_up(size, rows) == size => rows,
            _ => power_of_two(size, self.rows),
        }
    }

    /// The largest number of rows of a tile, except [`whole_rows`](Self::whole_rows).
    pub(super) const fn max_rows(self) -> u64 {
        self.rows.1
    }

    /// The size of a one-dimensional tile, for an array of `size` elements. A scalar counts as one element.
    pub(super) const fn line(self, size: u64) -> u64 {
        power_of_two(size, self.line)
    }
}

/// A family of generations that choose the same layouts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(in super::super) enum Family {
    /// v2 and v3.
    V2,
    /// v4 to v7x.
    V4,
}

/// Rounds `size`, which fits in an `i64`, up to a multiple of `piece`, which is a power of two.
pub(super) const fn round_up(size: u64, piece: u64) -> u64 {
    let rest = piece.saturating_sub(1);
    size.saturating_add(rest) & !rest
}

/// The smallest power of two between the bounds that is at least `size`; the upper bound if there is none.
const fn power_of_two(size: u64, (least, most): (u64, u64)) -> u64 {
    if size >= most {
        most
    } else if size <= least {
        least
    } else {
        size.next_power_of_two()
    }
}
