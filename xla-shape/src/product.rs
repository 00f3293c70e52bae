//! Products of matrices in TPU tiles: `c += a · b`, register-blocked, for f32, bf16 and s8.
//!
//! [`add_product`](Buffer::add_product) works on arrays and on [blocks](crate::block) of them. It is the part that larger kernels are made of:
//! attention, a product with scales, a product of a few rows. The code is compiled for the vectors of several machines, and each call selects
//! the version for this one ([`vector`]), which takes nanoseconds; so call it for blocks, not for single tiles.
//!
//! | elements of `a` and `b` | tiles of `a` and `b` | `c`, in `{1,0:T(8,128)}` | an instruction of AVX-512 |
//! |---|---|---|---|
//! | [`F32`] | `T(8,128)` | [`F32`] | `vfmadd` |
//! | `Bf16` | `T(8,128)(2,1)` | [`F32`] | `vdpbf16ps` |
//! | [`S8`] | `T(32,128)(4,1)` | [`S32`] | `vpdpbusd` |
//!
//! These are the layouts that XLA chooses for large arrays on TPUs. An operand in another layout is copied with
//! [`relayout`](Buffer::relayout) or [`copy_to`](Buffer::copy_to), in one line. The product copies parts of its operands into half a
//! megabyte of scratch memory: pairs and groups of four elements that it multiplies together must be adjacent in both.
//!
//! The products of s8 are exact, modulo 2<sup>32</sup> as in XLA. Those of f32 are summed in another order than in a plain loop, and with
//! fused multiply-add where the machine has it. Those of bf16 follow [`Machine::dot2`].

use crate::buffer::{Buffer, Bytes, BytesMut};
#[cfg(feature = "half")]
use crate::element::Bf16;
use crate::element::{F32, Plain, S8, S32};
use crate::iter::{NestedArray, TileView, assert_is_tile};
use crate::sealed::named_in_errors;
use crate::types::{ArrayType, Dim, IndexOf, ValueOf, common_index, sizes_of};
use crate::vector::{self, Kernel, Machine};
use std::sync::atomic::{Ordering, compiler_fence};
use xla_shape_core::text::ConstText;

/// The columns of a tile.
const LANES: usize = 128;
/// The rows of a tile of the result.
const ROWS: usize = 8;
/// The columns of the right operand that are packed together.
const COLUMNS: usize = 32;
/// How often the innermost loop runs at most: the right operand's part of `GROUPS · COLUMNS · 4` bytes is in the L1 cache.
const GROUPS: usize = 256;
/// So many panels of the left operand use the tiles of the right one where they are. For more, its columns are packed.
const UNPACKED: usize = 4;
/// The rows of the left operand that are packed together: `PANELS · ROWS · GROUPS · 4` bytes are in the L2 cache.
const PANELS: usize = 64;

/// Tiles of sums.
type Sums<T> = [[T; LANES]; ROWS];

/// The elements of operands of [`add_product`](Buffer::add_product): [`F32`], `Bf16`, [`S8`].
///
/// ```
/// use xla_shape::element::{F32, S8, S32};
/// use xla_shape::product::Factor;
///
/// fn sums_are<E: Factor<Sum = S>, S>() {}
/// sums_are::<S8, S32>();
/// sums_are::<F32, F32>();
/// ```
#[diagnostic::on_unimplemented(
    message = "products of `{Self}` have no kernel",
    label = "expected `F32`, `Bf16` or `S8`"
)]
pub trait Factor: Plain + Terms {
    /// The elements of the result.
    type Sum: Plain<Value = Self::Total>;
}

/// How the elements lie in tiles, and how the innermost loop multiplies them. As many as fill 32 bits are multiplied and added together: a
/// group.
#[doc(hidden)]
pub trait Terms: Plain {
    /// The value of a sum.
    type Total: Copy + Default;
    /// A tile of an operand, in memory.
    type Tile: NestedArray<Self::Value> + Copy;
    /// A group of the left operand, prepared for `add`.
    type Left: Copy + Default;
    /// A group of the right operand, as it lies in a tile.
    type Right: Copy + Default;

    /// The elements of a group.
    const DEPTH: usize;
    /// The rows of a tile.
    const TILE_ROWS: usize;
    /// Whether groups are converted before each use, except by AVX-512. Many rows and columns at a time then save more than registers for their
    /// sums do.
    const CONVERTS: bool = false;

    /// Group `group` of the columns of eight rows of the left operand, the first of which is `8 · eighth`.
    fn left(tile: &Self::Tile, eighth: usize, group: usize) -> [Self::Left; ROWS];
    /// The rows of groups of a tile of the right operand.
    fn right(tile: &Self::Tile) -> &[[Self::Right; LANES]];
    /// An element of a tile.
    fn element(tile: &mut Self::Tile, row: usize, column: usize) -> &mut Self::Value;
    /// Adds the products of a group of the left operand and groups of the right one.
    fn add<M: Machine, const N: usize>(sums: &mut [Self::Total; N], left: Self::Left, right: &[Self::Right; N]);
    /// What sums begin with, for such columns of the right operand.
    #[inline(always)]
    fn start<M: Machine, const W: usize>(_right: Columns<'_, Self, W>) -> [Self::Total; COLUMNS] {
        [Self::Total::default(); COLUMNS]
    }
    /// The sum of two sums.
    fn plus(a: Self::Total, b: Self::Total) -> Self::Total;
}

impl Factor for F32 {
    type Sum = F32;
}

impl Terms for F32 {
    type Total = f32;
    type Tile = [[f32; LANES]; 8];
    type Left = f32;
    type Right = f32;

    const DEPTH: usize = 1;
    const TILE_ROWS: usize = 8;

    #[inline(always)]
    fn left(tile: &Self::Tile, _: usize, group: usize) -> [f32; ROWS] {
        std::array::from_fn(|row| tile[row][group])
    }

    #[inline(always)]
    fn right(tile: &Self::Tile) -> &[[f32; LANES]] {
        tile
    }

    #[inline(always)]
    fn element(tile: &mut Self::Tile, row: usize, column: usize) -> &mut f32 {
        &mut tile[row][column]
    }

    #[inline(always)]
    fn add<M: Machine, const N: usize>(sums: &mut [f32; N], left: f32, right: &[f32; N]) {
        sums.iter_mut().zip(right).for_each(|(sum, &right)| *sum = M::mul_add(left, right, *sum));
    }

    #[inline(always)]
    fn plus(a: f32, b: f32) -> f32 {
        a + b
    }
}

#[cfg(feature = "half")]
impl Factor for Bf16 {
    type Sum = F32;
}

/// Pairs of bits: `T(8,128)(2,1)` has pairs of rows, which are the right operand's groups.
#[cfg(feature = "half")]
impl Terms for Bf16 {
    type Total = f32;
    type Tile = [[[half::bf16; 2]; LANES]; 4];
    type Left = [half::bf16; 2];
    type Right = [half::bf16; 2];

    const DEPTH: usize = 2;
    const TILE_ROWS: usize = 8;

    #[inline(always)]
    fn left(tile: &Self::Tile, _: usize, group: usize) -> [[half::bf16; 2]; ROWS] {
        std::array::from_fn(|row| [0, 1].map(|k| tile[row / 2][2 * group + k][row % 2]))
    }

    #[inline(always)]
    fn right(tile: &Self::Tile) -> &[[[half::bf16; 2]; LANES]] {
        tile
    }

    #[inline(always)]
    fn element(tile: &mut Self::Tile, row: usize, column: usize) -> &mut half::bf16 {
        &mut tile[row / 2][column][row % 2]
    }

    #[inline(always)]
    fn add<M: Machine, const N: usize>(sums: &mut [f32; N], left: [half::bf16; 2], right: &[[half::bf16; 2]; N]) {
        M::dot2(sums, &[left; N], right);
    }

    #[inline(always)]
    fn plus(a: f32, b: f32) -> f32 {
        a + b
    }
}

impl Factor for S8 {
    type Sum = S32;
}

/// `T(32,128)(4,1)` has groups of four rows, which are the right operand's. The left operand's elements get 128 more, so that they have no
/// sign, as the instruction requires; sums begin with that much less.
impl Terms for S8 {
    type Total = i32;
    type Tile = [[[i8; 4]; LANES]; 8];
    type Left = [u8; 4];
    type Right = [i8; 4];

    const DEPTH: usize = 4;
    const TILE_ROWS: usize = 32;
    const CONVERTS: bool = true;

    #[inline(always)]
    fn left(tile: &Self::Tile, eighth: usize, group: usize) -> [[u8; 4]; ROWS] {
        std::array::from_fn(|row| {
            let columns = &tile[2 * eighth + row / 4];
            std::array::from_fn(|k| columns[4 * group + k][row % 4].cast_unsigned() ^ 0x80)
        })
    }

    #[inline(always)]
    fn right(tile: &Self::Tile) -> &[[[i8; 4]; LANES]] {
        tile
    }

    #[inline(always)]
    fn element(tile: &mut Self::Tile, row: usize, column: usize) -> &mut i8 {
        &mut tile[row / 4][column][row % 4]
    }

    #[inline(always)]
    fn add<M: Machine, const N: usize>(sums: &mut [i32; N], left: [u8; 4], right: &[[i8; 4]; N]) {
        M::dot4_unsigned(sums, &[left; N], right);
    }

    #[inline(always)]
    fn start<M: Machine, const W: usize>(right: Columns<'_, Self, W>) -> [i32; COLUMNS] {
        let mut sums = [0; COLUMNS];
        for rows in right.tiles {
            rows.iter().for_each(|row| M::dot4_unsigned(&mut sums, &[[0x80; 4]; COLUMNS], right.of(row, 0)));
        }
        sums.map(i32::wrapping_neg)
    }

    #[inline(always)]
    fn plus(a: i32, b: i32) -> i32 {
        a.wrapping_add(b)
    }
}

/// Fails the compilation if an array is not row-major in tiles of type `A`.
#[track_caller]
const fn assert_tiled_rows<S: ArrayType<Element: Plain>, A: NestedArray<ValueOf<S>>>() {
    if !matches!(S::MINOR_TO_MAJOR, [1, 0]) {
        let problem = ConstText::<1024>::new().push_str("expected an operand in a layout {1,0:…}, found ");
        panic!("{}", problem.push_str(S::TEXT).push_str("; `relayout` and `copy_to` copy it into one").as_str())
    }
    assert_is_tile::<S, A>();
}

impl<S: ArrayType<Element: Plain, Index = [usize; 2]>, B: BytesMut> Buffer<S, B> {
    /// Adds the product of two matrices to this one: `c += a · b`. See the [module](crate::product) for the element types and layouts.
    ///
    /// All three may be blocks, which consist of whole tiles. Padding has no influence on the result, and is not written. Sizes that differ, other element types and
    /// numbers of dimensions show in `cargo check`; other tiles in `cargo build`.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let a = Buffer::<shape!(s8[20,300]{1,0:T(32,128)(4,1)})>::filled(-3);
    /// let b = Buffer::<shape!(s8[300,200]{1,0:T(32,128)(4,1)})>::filled(5);
    /// let mut c = Buffer::<shape!(s32[20,200]{1,0:T(8,128)})>::filled(1);
    /// c.add_product(&a, &b);
    /// assert_eq!(c[[19, 199]], 1 - 300 * 15);
    /// ```
    ///
    /// One block of a larger result:
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let a = Buffer::<shape!(f32[64,128]{1,0:T(8,128)})>::filled(0.5);
    /// let b = Buffer::<shape!(f32[128,256]{1,0:T(8,128)})>::filled(2.0);
    /// let mut c = Buffer::<shape!(f32[64,256]{1,0:T(8,128)})>::zeroed();
    /// let a = a.block::<shape!(f32[32,128]{1,0:T(8,128)})>([1, 0]);
    /// let b = b.block::<shape!(f32[128,128]{1,0:T(8,128)})>([0, 1]);
    /// c.block_mut::<shape!(f32[32,128]{1,0:T(8,128)})>([1, 1]).add_product(&a, &b);
    /// assert_eq!((c[[31, 128]], c[[32, 127]], c[[32, 128]]), (0.0, 0.0, 128.0));
    /// ```
    ///
    /// # Panics
    /// If sizes that are known only at run time do not fit: those of a last block, or of an unbounded dimension.
    #[track_caller]
    pub fn add_product<E, X, Y, M, K, N, C, D>(&mut self, a: &Buffer<X, C>, b: &Buffer<Y, D>)
    where
        E: Factor<Sum = S::Element, Total = ValueOf<S>>,
        S: ArrayType<Dimensions = (M, N)>,
        X: ArrayType<Element = E, Dimensions = (M, K)>,
        Y: ArrayType<Element = E, Dimensions = (K, N)>,
        M: Dim,
        K: Dim,
        N: Dim,
        C: Bytes,
        D: Bytes,
    {
        named_in_errors!(S);
        const { assert_tiled_rows::<S, Sums<ValueOf<S>>>() };
        const { assert_tiled_rows::<X, E::Tile>() };
        const { assert_tiled_rows::<Y, E::Tile>() };
        let ([m, n], [rows, depth], [inner, columns]) = (self.sizes(), sizes_of(a.shape()), sizes_of(b.shape()));
        assert!(
            (m, depth, n) == (rows, inner, columns),
            "expected operands for a result of {m} by {n}, found {rows} by {depth} and {inner} by {columns}"
        );
        let ([_, left_width], [_, right_width]) = (common_index::<X>(a.tile_grid()), common_index::<Y>(b.tile_grid()));
        let widths = [left_width, right_width, self.tile_grid()[1]];
        let left = a.tiles::<E::Tile>().map(matrix_tile::<X, _>).collect();
        let right = b.tiles::<E::Tile>().map(matrix_tile::<Y, _>).collect();
        let out = self.tiles_mut::<Sums<ValueOf<S>>>().collect();
        vector::run(Product::<E> { left, right, out, widths, sizes: [m, depth, n] });
    }
}

/// The same tile, whose index has the type that arrays of the same dimensions have in common.
fn matrix_tile<S: ArrayType, T>(tile: TileView<S::Index, T>) -> TileView<IndexOf<S>, T> {
    tile
}

/// The tiles of the operands and of the result, in row-major order of their places.
struct Product<'a, E: Terms> {
    left: Vec<TileView<[usize; 2], &'a E::Tile>>,
    right: Vec<TileView<[usize; 2], &'a E::Tile>>,
    out: Vec<TileView<[usize; 2], &'a mut Sums<E::Total>>>,
    /// How many tiles are side by side in the left operand, the right one and the result: of a bounded dimension, some may be all padding.
    widths: [usize; 3],
    /// The rows of the result, the columns of the left operand, the columns of the result.
    sizes: [usize; 3],
}

impl<E: Terms> Kernel for Product<'_, E> {
    type Output = ();
    const DOT_PRODUCTS: bool = true;

    #[inline(always)]
    fn run<M: Machine>(self) {
        let Self { left, right, mut out, widths: [left_width, right_width, out_width], sizes: [m, depth, n] } = self;
        let panels = if n == 0 || depth == 0 { 0 } else { m.div_ceil(ROWS) };
        let is_packed = panels > UNPACKED;
        let mut packed = vec![[E::Left::default(); ROWS]; panels.min(PANELS) * GROUPS];
        let mut columns = vec![[E::Right::default(); COLUMNS]; if is_packed { GROUPS } else { 0 }];
        for k in (0..depth).step_by(GROUPS * E::DEPTH) {
            let groups = (depth - k).min(GROUPS * E::DEPTH).div_ceil(E::DEPTH);
            for first in (0..panels).step_by(PANELS) {
                let some = first..panels.min(first + PANELS);
                for (panel, packed) in some.clone().zip(packed.chunks_exact_mut(GROUPS)) {
                    pack_left::<E>(&left, left_width, (panel, k), &mut packed[..groups]);
                }
                let packed = || some.clone().zip(packed.chunks_exact(GROUPS).map(|packed| &packed[..groups]));
                for j in 0..n.div_ceil(LANES) {
                    let mut copy = None;
                    let tiles = right_tiles::<E>(&right, right_width, (k, j), groups, &mut copy);
                    for start in (0..LANES.min(n - j * LANES)).step_by(COLUMNS) {
                        if is_packed {
                            pack_right::<E>(&tiles, start, &mut columns);
                            let tiles = [&columns[..groups]];
                            multiply::<M, E, COLUMNS>(
                                packed(),
                                Columns { tiles: &tiles, start: 0 },
                                &mut out[j..],
                                out_width,
                                start,
                            );
                        } else {
                            multiply::<M, E, LANES>(
                                packed(),
                                Columns { tiles: &tiles, start },
                                &mut out[j..],
                                out_width,
                                start,
                            );
                        }
                    }
                }
            }
        }
    }
}

/// `COLUMNS` columns of the right operand, from column `start` on of these rows of groups.
#[doc(hidden)]
#[derive(Debug)]
pub struct Columns<'a, E: Terms, const W: usize> {
    tiles: &'a [&'a [[E::Right; W]]],
    start: usize,
}

impl<E: Terms, const W: usize> Clone for Columns<'_, E, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E: Terms, const W: usize> Copy for Columns<'_, E, W> {}

impl<E: Terms, const W: usize> Columns<'_, E, W> {
    /// The groups of a row, from one of these columns on.
    #[inline(always)]
    fn of<const N: usize>(self, row: &[E::Right; W], first: usize) -> &[E::Right; N] {
        row[self.start + first..].first_chunk().expect("a row has these columns")
    }
}

/// A tile that has zeros after the elements that are inside of the array, if the last group in direction `dimension` has such places. All other
/// padding takes part in sums that are not used.
#[inline(always)]
fn with_whole_groups<'a, E: Terms>(
    tile: &TileView<[usize; 2], &'a E::Tile>,
    dimension: usize,
    copy: &'a mut Option<E::Tile>,
) -> &'a E::Tile {
    let [rows, columns] = tile.inside;
    if tile.inside[dimension].is_multiple_of(E::DEPTH) {
        return tile.elements;
    }
    let copy = copy.insert(*tile.elements);
    for (row, column) in (0..E::TILE_ROWS).flat_map(|row| (0..LANES).map(move |column| (row, column))) {
        if row >= rows || column >= columns {
            *E::element(copy, row, column) = E::Value::default();
        }
    }
    copy
}

/// Copies groups of eight rows of the left operand, from column `k` on.
#[inline(always)]
fn pack_left<E: Terms>(
    tiles: &[TileView<[usize; 2], &E::Tile>],
    width: usize,
    (panel, k): (usize, usize),
    packed: &mut [[E::Left; ROWS]],
) {
    let (row, eighth) = (panel * ROWS / E::TILE_ROWS, panel % (E::TILE_ROWS / ROWS));
    let tiles = &tiles[row * width + k / LANES..];
    for (tile, packed) in tiles.iter().zip(packed.chunks_mut(LANES / E::DEPTH)) {
        let mut copy = None;
        let tile = with_whole_groups::<E>(tile, 1, &mut copy);
        packed.iter_mut().enumerate().for_each(|(group, packed)| *packed = E::left(tile, eighth, group));
    }
}

/// The tiles of column `j` of the right operand that have these groups, from row `k` on.
#[inline(always)]
fn right_tiles<'a, E: Terms>(
    tiles: &[TileView<[usize; 2], &'a E::Tile>],
    width: usize,
    (k, j): (usize, usize),
    groups: usize,
    copy: &'a mut Option<E::Tile>,
) -> Vec<&'a [[E::Right; LANES]]> {
    let in_tile = E::TILE_ROWS / E::DEPTH;
    let tiles = &tiles[k / E::TILE_ROWS * width + j..];
    let mut rows = tiles
        .iter()
        .step_by(width)
        .take(groups.div_ceil(in_tile))
        .map(|tile| E::right(tile.elements))
        .collect::<Vec<_>>();
    if let Some(last) = rows.last_mut() {
        let count = groups - (groups - 1) / in_tile * in_tile;
        let tile = &tiles[(groups - 1) / in_tile * width];
        *last = &E::right(with_whole_groups::<E>(tile, 0, copy))[..count];
    }
    rows
}

/// Copies 32 columns of such tiles.
#[inline(always)]
fn pack_right<E: Terms>(tiles: &[&[[E::Right; LANES]]], start: usize, packed: &mut [[E::Right; COLUMNS]]) {
    for (rows, packed) in tiles.iter().zip(packed.chunks_mut(E::TILE_ROWS / E::DEPTH)) {
        for (row, packed) in rows.iter().zip(packed) {
            packed.copy_from_slice(&row[start..start + COLUMNS]);
        }
    }
}

/// Adds the products of panels of the left operand and columns of the right one to the tiles of a column of the result.
#[inline(always)]
fn multiply<'p, M: Machine, E: Terms<Left: 'p>, const W: usize>(
    panels: impl Iterator<Item = (usize, &'p [[E::Left; ROWS]])>,
    right: Columns<'_, E, W>,
    out: &mut [TileView<[usize; 2], &mut Sums<E::Total>>],
    width: usize,
    start: usize,
) {
    let begin = E::start::<M, W>(right);
    for (panel, left) in panels {
        if let Some(next) = out.get((panel + 1) * width) {
            next.elements
                .iter()
                .for_each(|row| row[start..start + COLUMNS].chunks(16).for_each(|line| vector::prefetch(&line[0])));
        }
        let sums = kernel::<M, E, W>(left, right, &begin);
        add_to::<E>(&mut out[panel * width], start, &sums);
    }
}

/// The product of eight rows and `COLUMNS` columns: in parts whose sums fill half of the machine's registers, or all of it at once.
#[inline(always)]
fn kernel<M: Machine, E: Terms, const W: usize>(
    left: &[[E::Left; ROWS]],
    right: Columns<'_, E, W>,
    begin: &[E::Total; COLUMNS],
) -> [[E::Total; COLUMNS]; ROWS] {
    let mut sums = [*begin; ROWS];
    match const { if E::CONVERTS { ROWS * COLUMNS } else { M::LANES * M::REGISTERS / 2 } } {
        256.. => part::<M, E, W, 8, 32>(left, right, &mut sums),
        64.. => part::<M, E, W, 4, 16>(left, right, &mut sums),
        _ => part::<M, E, W, 4, 8>(left, right, &mut sums),
    }
    sums
}

/// Adds the product to sums, `R` rows and `C` columns at a time.
///
/// Each row of a part is a separate variable, because the compiler would not keep an array of rows in registers.
#[inline(always)]
fn part<M: Machine, E: Terms, const W: usize, const R: usize, const C: usize>(
    left: &[[E::Left; ROWS]],
    right: Columns<'_, E, W>,
    sums: &mut [[E::Total; COLUMNS]; ROWS],
) {
    for column in (0..COLUMNS).step_by(C) {
        for row in (0..ROWS).step_by(R) {
            let of = |i: usize| *sums[row + i % R][column..].first_chunk::<C>().expect("a part is in the block");
            let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = [0, 1, 2, 3, 4, 5, 6, 7].map(of);
            let mut rest = left;
            for rows in right.tiles {
                let (left, behind) = rest.split_at(rows.len());
                rest = behind;
                for (x, groups) in left.iter().zip(*rows) {
                    let groups = right.of::<C>(groups, column);
                    E::add::<M, C>(&mut a, x[row], groups);
                    E::add::<M, C>(&mut b, x[row + 1], groups);
                    E::add::<M, C>(&mut c, x[row + 2], groups);
                    E::add::<M, C>(&mut d, x[row + 3], groups);
                    if const { R == 8 } {
                        E::add::<M, C>(&mut e, x[row + 4], groups);
                        E::add::<M, C>(&mut f, x[row + 5], groups);
                        E::add::<M, C>(&mut g, x[row + 6], groups);
                        E::add::<M, C>(&mut h, x[row + 7], groups);
                    }
                }
            }
            for (sums, part) in sums[row..row + R].iter_mut().zip([a, b, c, d, e, f, g, h]) {
                sums[column..column + C].copy_from_slice(&part);
            }
        }
    }
}

/// Adds sums to the elements of a tile, not to its padding.
#[inline(always)]
fn add_to<E: Terms>(
    tile: &mut TileView<[usize; 2], &mut Sums<E::Total>>,
    start: usize,
    sums: &[[E::Total; COLUMNS]; ROWS],
) {
    let [rows, columns] = tile.inside;
    if rows == ROWS && columns == LANES {
        for (row, sums) in tile.elements.iter_mut().zip(sums) {
            let row = &mut row[start..start + COLUMNS];
            row.iter_mut().zip(sums).for_each(|(value, &sum)| *value = E::plus(*value, sum));
            // With AVX-512, LLVM would add one element of each of eight rows at a time, with gathers and scatters; it does not move elements
            // across a fence. The fence is no instruction.
            compiler_fence(Ordering::SeqCst);
        }
        return;
    }
    for (row, sums) in tile.elements.iter_mut().zip(sums).take(rows) {
        let end = columns.clamp(start, start + COLUMNS);
        row[start..end].iter_mut().zip(sums).for_each(|(value, &sum)| *value = E::plus(*value, sum));
    }
}
