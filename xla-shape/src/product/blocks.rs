//! The kernel: packs parts of the operands, and multiplies blocks whose sums are in registers.

use super::terms::{LANES, Step, Terms};
use crate::iter::TileView;
use crate::vector::{self, Kernel, Machine};
use std::ops::Range;
use std::sync::atomic::{Ordering, compiler_fence};

/// The rows of a tile of the result.
pub(super) const ROWS: usize = 8;
/// The most steps of the innermost loop. With this many, the packed columns of the right operand take 16 KiB of the L1 cache with AVX2, and
/// 32 KiB with AVX-512.
const STEPS: usize = 256;
/// The most rows of the left operand that are packed together. Each takes 1 KiB of the L2 cache.
const PACKED_ROWS: usize = 288;
/// A left operand with at most this many rows reads the tiles of the right operand in place. With more rows, the right operand is packed first.
const FEW_ROWS: usize = 32;

/// How the groups of `E` are multiplied.
trait StepOf<E: Terms>: Step<Group = E::Group, Total = E::Total> {}
impl<E: Terms, S: Step<Group = E::Group, Total = E::Total>> StepOf<E> for S {}

/// Tiles of sums.
pub(super) type Sums<T> = [[T; LANES]; ROWS];

/// The tiles of a matrix, in row-major order of their places.
pub(super) struct Grid<T> {
    pub(super) tiles: Vec<TileView<[usize; 2], T>>,
    /// How many tiles are side by side. In a bounded dimension, some of them may be all padding.
    pub(super) width: usize,
}

/// The operands of a product and a part of its result. If `TRANSPOSED`, `right` has the tiles of the right operand's transpose, so
/// that the products are summed along the rows of both grids.
pub(super) struct Product<'a, E: Terms, const TRANSPOSED: bool> {
    pub(super) left: &'a Grid<&'a E::Tile>,
    pub(super) right: &'a Grid<&'a E::Tile>,
    pub(super) out: Grid<&'a mut Sums<E::Total>>,
    /// The row of the left operand and the column of the right one that the part begins with. The column is the first one of a tile.
    pub(super) origin: [usize; 2],
    /// The number of rows of the part, of columns of the left operand, and of columns of the part.
    pub(super) sizes: [usize; 3],
}

impl<E: Terms, const TRANSPOSED: bool> Kernel for Product<'_, E, TRANSPOSED> {
    type Output = ();
    const DOT_PRODUCTS: bool = true;

    /// Chooses the rows and columns of a block: their sums fill half of the registers with AVX-512, and three quarters with AVX2.
    #[inline(always)]
    fn run<M: Machine>(self) {
        if const { M::LANES * M::REGISTERS >= 512 } {
            self.by_blocks::<M, 8, 32>();
        } else if const { M::LANES * M::REGISTERS >= 128 } {
            self.by_blocks::<M, 6, 16>();
        } else {
            self.by_blocks::<M, 4, 8>();
        }
    }
}

impl<E: Terms, const TRANSPOSED: bool> Product<'_, E, TRANSPOSED> {
    #[inline(always)]
    fn by_blocks<M: Machine, const R: usize, const C: usize>(self) {
        if self.sizes.contains(&0) {
            return;
        }
        let [rows, ..] = self.sizes;
        if TRANSPOSED {
            // Columns of a transposed operand are always packed: the elements of their groups are not adjacent in memory,
            // unlike those of a row-major operand.
            if const { E::DEPTH == 2 && !M::DOT2 } {
                self.many_rows::<M, E::Converted, R, C>();
            } else if const { E::DEPTH == 4 } {
                self.many_rows::<M, E::Stored, 8, 32>();
            } else {
                self.many_rows::<M, E::Stored, R, C>();
            }
        } else if rows == 1 {
            // With eight independent vectors of sums, the latency of an addition does not matter.
            if const { M::LANES >= 8 } {
                self.few_rows::<M, E::Stored, 1, 64>();
            } else {
                self.few_rows::<M, E::Stored, 1, 32>();
            }
        } else if const { E::DEPTH == 2 && !M::DOT2 } {
            if rows <= FEW_ROWS {
                // Pairs are converted before each use. That needs registers, so a block has only four rows.
                self.few_rows::<M, E::Stored, 4, C>();
            } else {
                self.many_rows::<M, E::Converted, R, C>();
            }
        } else if rows <= FEW_ROWS {
            self.few_rows::<M, E::Stored, R, C>();
        } else if const { E::DEPTH == 4 } {
            // Most machines convert bytes before each use. Large blocks convert them less often, which saves more time than sums that stay in
            // registers.
            self.many_rows::<M, E::Stored, 8, 32>();
        } else {
            self.many_rows::<M, E::Stored, R, C>();
        }
    }

    /// Multiplies packed rows of the left operand, and columns of the right one that are read in place.
    #[inline(always)]
    fn few_rows<M: Machine, S: StepOf<E, Right = E::Group>, const R: usize, const C: usize>(mut self) {
        let ([m, depth, n], [first, column]) = (self.sizes, self.origin);
        let mut packed = vec![[S::Left::default(); R]; m.div_ceil(R) * STEPS];
        for k in (0..depth).step_by(STEPS * E::DEPTH) {
            let count = (depth - k).min(STEPS * E::DEPTH);
            pack_rows::<E, S, _, R>(self.left, first..first + m, k, count, S::left, &mut packed);
            for j in 0..n.div_ceil(LANES) {
                let mut last = [[E::Group::default(); LANES]];
                let tiles = right_tiles::<E>(self.right, k, column / LANES + j, count, &mut last);
                for start in (0..LANES.min(n - j * LANES)).step_by(C) {
                    let right = Columns::<S::Right, LANES> { tiles: &tiles, start };
                    add::<M, E, S, R, C, LANES>(&mut self.out, 0..m, &packed, right, j * LANES + start);
                }
            }
        }
    }

    /// Multiplies rows of the left operand that are in the L2 cache, and columns of the right one that are in the L1 cache, both packed.
    #[inline(always)]
    fn many_rows<M: Machine, S: StepOf<E>, const R: usize, const C: usize>(mut self) {
        let ([m, depth, n], [first, column]) = (self.sizes, self.origin);
        let rows = m.div_ceil(m.div_ceil(PACKED_ROWS)).next_multiple_of(R);
        let mut packed = vec![[S::Left::default(); R]; rows / R * STEPS];
        let mut columns = vec![[S::Right::default(); C]; STEPS];
        let part = STEPS / S::PER_GROUP * E::DEPTH;
        for k in (0..depth).step_by(part) {
            let count = (depth - k).min(part);
            for row in (0..m).step_by(rows) {
                let rows = row..m.min(row + rows);
                let left = first + rows.start..first + rows.end;
                pack_rows::<E, S, _, R>(self.left, left, k, count, S::left, &mut packed);
                for j in 0..n.div_ceil(LANES) {
                    let mut last = [[E::Group::default(); LANES]];
                    let tiles = match TRANSPOSED {
                        true => Vec::new(),
                        false => right_tiles::<E>(self.right, k, column / LANES + j, count, &mut last),
                    };
                    for start in (0..LANES.min(n - j * LANES)).step_by(C) {
                        let columns = if TRANSPOSED {
                            let at = column + j * LANES + start;
                            let among = at..(at + C).min(column + n);
                            pack_rows::<E, S, _, C>(self.right, among, k, count, S::right, &mut columns);
                            &columns[..count.div_ceil(E::DEPTH) * S::PER_GROUP]
                        } else {
                            pack_columns::<E, S, C>(&tiles, start, &mut columns)
                        };
                        let right = Columns::<S::Right, C> { tiles: &[columns], start: 0 };
                        add::<M, E, S, R, C, C>(&mut self.out, rows.clone(), &packed, right, j * LANES + start);
                    }
                }
            }
        }
    }
}

/// Calls `f` with the number of each step that a group takes, as a constant.
#[inline(always)]
fn each_step<S: Step>(mut f: impl FnMut(usize)) {
    f(0);
    if const { S::PER_GROUP == 2 } {
        f(1);
    }
}

/// Packs panels of `R` rows of the left operand: `count` columns from column `k` on. For a transposed right operand, packs its columns in the same
/// way, because they are rows of its tiles. `part` is the part of a group that one of its steps multiplies.
#[inline(always)]
fn pack_rows<E: Terms, S: StepOf<E>, P: Copy, const R: usize>(
    grid: &Grid<&E::Tile>,
    rows: Range<usize>,
    k: usize,
    count: usize,
    part: impl Fn(E::Group, usize) -> P,
    packed: &mut [[P; R]],
) {
    let in_tile = const { LANES / E::DEPTH };
    for (first, packed) in rows.clone().step_by(R).zip(packed.chunks_exact_mut(STEPS)) {
        for (at, packed) in (0..count).step_by(LANES).zip(packed.chunks_mut(in_tile * S::PER_GROUP)) {
            // If a panel reaches beyond the last row, the last row is repeated in it: the sums of the repeated rows are not used.
            let tiles: [_; R] = std::array::from_fn(|i| {
                let row = rows.end.min(first + i + 1) - 1;
                (grid.tiles[row / E::TILE_ROWS * grid.width + (k + at) / LANES].elements, row % E::TILE_ROWS)
            });
            for (first, packed) in (0..in_tile).step_by(8).zip(packed.chunks_exact_mut(8 * S::PER_GROUP)) {
                let mut groups = [[E::Group::default(); 8]; R];
                for (groups, (tile, row)) in groups.iter_mut().zip(tiles) {
                    groups.iter_mut().enumerate().for_each(|(i, to)| *to = E::group(tile, row, first + i));
                }
                each_step::<S>(|step| {
                    for (i, packed) in packed.iter_mut().skip(step).step_by(S::PER_GROUP).enumerate() {
                        packed.iter_mut().zip(&groups).for_each(|(packed, groups)| *packed = part(groups[i], step));
                    }
                });
                // With AVX-512, LLVM would otherwise pack eight of these parts at a time, with scatters.
                compiler_fence(Ordering::SeqCst);
            }
            let (whole, rest) = ((count - at) / E::DEPTH, (count - at) % E::DEPTH);
            if rest != 0 && whole < in_tile {
                for (i, packed) in packed[whole * S::PER_GROUP..][..S::PER_GROUP].iter_mut().enumerate() {
                    *packed = tiles.map(|(tile, row)| part(E::first(E::group(tile, row, whole), rest), i));
                }
            }
        }
    }
}

/// The tiles in column `j` of the right operand's grid: `count` rows of them, from row `k` on. The last group may have fewer elements than others;
/// its copy has zeros in place of padding.
#[inline(always)]
fn right_tiles<'t, E: Terms>(
    grid: &Grid<&'t E::Tile>,
    k: usize,
    j: usize,
    count: usize,
    last: &'t mut [[E::Group; LANES]; 1],
) -> Vec<&'t [[E::Group; LANES]]> {
    let in_tile = E::TILE_ROWS / E::DEPTH;
    let (whole, rest) = (count / E::DEPTH, count % E::DEPTH);
    let column = grid.tiles[k / E::TILE_ROWS * grid.width + j..].iter().step_by(grid.width);
    let mut column = column.map(|tile| E::rows(tile.elements));
    let mut tiles = column
        .clone()
        .zip((0..whole).step_by(in_tile))
        .map(|(rows, at)| &rows[..in_tile.min(whole - at)])
        .collect::<Vec<_>>();
    if let Some(rows) = column.nth(whole / in_tile).filter(|_| rest != 0) {
        *last = [rows[whole % in_tile].map(|group| E::first(group, rest))];
        tiles.push(last);
    }
    tiles
}

/// Adds the product of packed rows and columns of the right operand to the result, from column `column` on.
#[inline(always)]
fn add<M: Machine, E: Terms, S: StepOf<E>, const R: usize, const C: usize, const W: usize>(
    out: &mut Grid<&mut Sums<E::Total>>,
    rows: Range<usize>,
    packed: &[[S::Left; R]],
    right: Columns<'_, S::Right, W>,
    column: usize,
) {
    let (j, start) = (column / LANES, column % LANES);
    let mut begin = [E::Total::default(); C];
    for row in right.tiles.iter().flat_map(|rows| *rows) {
        S::begin::<M, C>(&mut begin, right.of(row));
    }
    for (first, packed) in rows.clone().step_by(R).zip(packed.chunks_exact(STEPS)) {
        for row in (first + R).min(rows.end)..(first + 2 * R).min(rows.end) {
            let tile = &out.tiles[row / ROWS * out.width + j];
            tile.elements[row % ROWS][start..start + C].chunks(16).for_each(|line| vector::prefetch(&line[0]));
        }
        let sums = block::<M, E, S, R, C, W>(packed, right, begin);
        for (row, sums) in (first..rows.end).zip(&sums) {
            let tile = &mut out.tiles[row / ROWS * out.width + j];
            let inside = tile.inside[1].saturating_sub(start);
            add_to::<E, C>(&mut tile.elements[row % ROWS][start..], sums, inside);
        }
    }
}

/// Columns of the right operand: as many as a block has, from column `start` of the tiles on. Each tile is a list of rows of groups.
#[derive(Clone, Copy)]
struct Columns<'a, T, const W: usize> {
    tiles: &'a [&'a [[T; W]]],
    start: usize,
}

impl<T, const W: usize> Columns<'_, T, W> {
    /// The columns of a row.
    #[inline(always)]
    fn of<'r, const C: usize>(&self, row: &'r [T; W]) -> &'r [T; C] {
        row[self.start..].first_chunk().expect("a row has these columns")
    }
}

/// Packs columns of tiles.
#[inline(always)]
fn pack_columns<'p, E: Terms, S: StepOf<E>, const C: usize>(
    tiles: &[&[[E::Group; LANES]]],
    start: usize,
    packed: &'p mut [[S::Right; C]],
) -> &'p [[S::Right; C]] {
    let mut steps = 0;
    for row in tiles.iter().flat_map(|rows| *rows) {
        if let Some(next) = row.get(start + C) {
            vector::prefetch(next);
        }
        // A copy, so that the compiler knows that `packed` does not overlap it, and vectorizes the loop.
        let row = *row[start..].first_chunk::<C>().expect("a row has these columns");
        each_step::<S>(|step| {
            let mut parts = [S::Right::default(); C];
            parts.iter_mut().zip(row).for_each(|(part, group)| *part = S::right(group, step));
            packed[steps + step] = parts;
        });
        steps += S::PER_GROUP;
    }
    &packed[..steps]
}

/// The product of `R` packed rows and `C` columns.
///
/// The sums of each row are a separate variable, because the compiler would not keep an array of rows in registers.
#[inline(always)]
fn block<M: Machine, E: Terms, S: StepOf<E>, const R: usize, const C: usize, const W: usize>(
    left: &[[S::Left; R]],
    right: Columns<'_, S::Right, W>,
    begin: [E::Total; C],
) -> [[E::Total; C]; R] {
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = [begin; 8];
    let mut rest = left;
    for rows in right.tiles {
        let (left, after) = rest.split_at(rows.len());
        rest = after;
        for (x, row) in left.iter().zip(*rows) {
            let row = right.of::<C>(row);
            S::add::<M, C>(&mut a, x[0], row);
            if const { R > 1 } {
                S::add::<M, C>(&mut b, x[1], row);
                S::add::<M, C>(&mut c, x[2], row);
                S::add::<M, C>(&mut d, x[3], row);
            }
            if const { R > 4 } {
                S::add::<M, C>(&mut e, x[4], row);
                S::add::<M, C>(&mut f, x[5], row);
            }
            if const { R > 6 } {
                S::add::<M, C>(&mut g, x[6], row);
                S::add::<M, C>(&mut h, x[7], row);
            }
        }
    }
    let rows = [a, b, c, d, e, f, g, h];
    std::array::from_fn(|i| rows[i])
}

/// Adds sums to elements: as many as are inside of the array.
#[inline(always)]
fn add_to<E: Terms, const C: usize>(row: &mut [E::Total], sums: &[E::Total; C], inside: usize) {
    match row.first_chunk_mut::<C>() {
        Some(row) if inside >= C => *row = std::array::from_fn(|i| E::plus(row[i], sums[i])),
        _ => row.iter_mut().zip(sums).take(inside).for_each(|(value, &sum)| *value = E::plus(*value, sum)),
    }
    // With AVX-512, LLVM would add one element of each of eight rows at a time, with gathers and scatters; it does not move elements across a
    // fence. The fence adds no instruction.
    compiler_fence(Ordering::SeqCst);
}
