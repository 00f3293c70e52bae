//! Products of matrices in TPU tiles: `c += a · b`, register-blocked, for f32, bf16 and s8.
//!
//! [`add_product`](Buffer::add_product) works on arrays and on [blocks](crate::block) of them. It is a building block of larger kernels: attention, a
//! product with scales, a product of a few rows. The code is compiled for the vectors of several machines, and each call selects the version for this
//! one ([`vector`]), which takes nanoseconds; so call it for blocks, not for single tiles. This module shows that tiles in types cost nothing. Other
//! operations will not be added; see [what computes](vector#what-computes).
//!
//! | elements of `a` and `b` | tiles of `a` and `b` | `c`, in `{1,0:T(8,128)}` | an instruction of AVX-512 |
//! |---|---|---|---|
//! | [`F32`] | `T(8,128)` | [`F32`] | `vfmadd` |
//! | `Bf16` | `T(8,128)(2,1)` | [`F32`] | `vdpbf16ps` |
//! | [`S8`] | `T(32,128)(4,1)` | [`S32`] | `vpdpbusd` |
//!
//! These are the layouts that XLA chooses for large arrays on TPUs. The right operand may also be transposed in memory: `{0,1:…}` with the same
//! tiles. Examples are the keys of attention, and weights that are stored with a row for each output. An operand in another layout is copied with
//! [`relayout`](Buffer::relayout) or [`copy_to`](Buffer::copy_to), in one line. The product copies parts of its operands into about 300 KiB of
//! scratch memory, because the pairs or groups of four elements that one instruction multiplies must be adjacent in both operands. A transposed
//! operand takes longer to copy, which shows where `a` has few rows.
//!
//! [`apply_product`](crate::block::Blocks::apply_product) computes the blocks of a result of any type one after the other, and calls a closure
//! with the sums of each while they are in the cache: for scales, a bias, an activation, or numbers of fewer bits.
//!
//! The products of s8 are exact, modulo 2<sup>32</sup> as in XLA. Products of f32 are summed in a different order than in a plain loop, and with
//! fused multiply-add if the machine has it. Products of bf16 follow [`Machine::dot2`](vector::Machine::dot2).

mod blocks;
mod terms;

pub use terms::{Step, Terms};

use crate::block::{Blocks, Part};
use crate::buffer::{Buffer, Bytes, BytesMut, ViewMut};
#[cfg(feature = "half")]
use crate::element::Bf16;
use crate::element::{F32, Plain, S8, S32, Stored};
use crate::iter::{NestedArray, TileView, assert_tiles_are_whole, is_tile};
use crate::sealed::named_in_errors;
use crate::types::{
    Array, ArrayType, Dim, IndexOf, Layout, Minor, Size, StaticArray, Tile, ValueOf, common_index, sizes_of,
};
use crate::vector;
use blocks::{Grid, Product, ROWS, Sums};
use terms::LANES;
use xla_shape_core::text::ConstText;

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

impl Factor for F32 {
    type Sum = F32;
}

#[cfg(feature = "half")]
impl Factor for Bf16 {
    type Sum = F32;
}

impl Factor for S8 {
    type Sum = S32;
}

/// An element type of operands whose products are summed to elements of type `R`: [`F32`] and `Bf16` for [`F32`], [`S8`] for [`S32`].
///
/// ```
/// use xla_shape::element::{F32, S8, S32};
/// use xla_shape::product::FactorOf;
///
/// fn can_add<E: FactorOf<R>, R: xla_shape::element::Stored>() {}
/// can_add::<S8, S32>();
/// can_add::<F32, F32>();
/// ```
// A trait of its own, so that the error says what the result must be. With a bound on `Sum` instead, the error would only say that two types differ.
#[diagnostic::on_unimplemented(
    message = "products of `{Self}` cannot be added to `{R}`",
    label = "expected a result of `S32` for operands of `S8`, of `F32` for `F32` and `Bf16`",
    note = "for a result with other elements, `blocks_mut` and `apply_product` pass the sums of each block to a closure, which converts them"
)]
pub trait FactorOf<R: Stored>: Factor<Sum = R, Total = R::Value> {}

impl FactorOf<F32> for F32 {}
#[cfg(feature = "half")]
impl FactorOf<F32> for Bf16 {}
impl FactorOf<S32> for S8 {}

/// The shape of the sums of a block `P`, in products of elements `E`.
///
/// ```
/// use xla_shape::element::S8;
/// use xla_shape::product::SumsOf;
/// use xla_shape::shape;
///
/// type Block = shape!(s8[32,256]{1,0:T(32,128)(4,1)});
/// fn same(sums: SumsOf<S8, Block>) -> shape!(s32[32,256]{1,0:T(8,128)}) { sums }
/// ```
pub type SumsOf<E, P> = Array<
    <E as Factor>::Sum,
    <P as ArrayType>::Dimensions,
    Layout<(Minor<1>, Minor<0>), (Tile<(Size<ROWS>, Size<LANES>)>,)>,
>;

/// Fails the compilation if an array is not row-major in tiles of type `A`, which have this many rows in groups of `depth`. A right operand may
/// be transposed.
#[track_caller]
const fn assert_tiled_rows<S: ArrayType<Element: Plain>, A: NestedArray<ValueOf<S>>>(
    role: &str,
    rows: usize,
    depth: usize,
    may_be_transposed: bool,
) {
    let is_in_order = matches!(S::MINOR_TO_MAJOR, [1, 0]) || may_be_transposed && is_transposed::<S>();
    if is_in_order && is_tile::<S, A>() {
        return assert_tiles_are_whole::<S>();
    }
    let expected = ConstText::<1024>::new().push_str("expected the ").push_str(role).push_str(" in {1,0:");
    let expected = push_tiles(expected, rows, depth);
    let expected = match may_be_transposed {
        true => push_tiles(expected.push_str("} or {0,1:"), rows, depth),
        false => expected,
    };
    let problem = expected.push_str("}, found ").push_str(S::TEXT);
    panic!("{}", problem.push_str("; `relayout` and `copy_to` copy it into another layout").as_str())
}

const fn push_tiles(text: ConstText<1024>, rows: usize, depth: usize) -> ConstText<1024> {
    let text = text.push_str("T(").push_count(rows).push_str(",").push_count(LANES).push_str(")");
    match depth {
        1 => text,
        _ => text.push_str("(").push_count(depth).push_str(",1)"),
    }
}

/// Whether the columns of a matrix lie in memory as the rows of other matrices do: it is column-major.
const fn is_transposed<S: ArrayType>() -> bool {
    matches!(S::MINOR_TO_MAJOR, [0, 1])
}

/// Fails the compilation if a block `P` of a result `S` begins inside of a tile of the right operand.
#[track_caller]
const fn assert_columns<S: ArrayType, P: StaticArray, Y: ArrayType>() {
    let columns = P::SIZES[1];
    let takes_all = matches!(S::DIMENSIONS[1].extent(), Some(all) if all <= columns as u64);
    if !(is_transposed::<Y>() || takes_all || columns.is_multiple_of(LANES)) {
        let problem = ConstText::<1024>::new().push_str("expected blocks of all columns or of a multiple of ");
        panic!("{}", problem.push_count(LANES).push_str(", found ").push_str(P::TEXT).as_str())
    }
}

/// The sizes of a product: the rows of the result, the columns of the left operand, and the columns of the result.
#[track_caller]
fn sizes_of_product([m, n]: [usize; 2], [rows, depth]: [usize; 2], [inner, columns]: [usize; 2]) -> [usize; 3] {
    assert!(
        (m, depth, n) == (rows, inner, columns),
        "expected operands for a result of {m} by {n}, found {rows} by {depth} and {inner} by {columns}"
    );
    [m, depth, n]
}

/// The tiles of an operand.
///
/// # Safety
/// `assert_tiled_rows` has been evaluated for `S` and the tiles of `E`.
unsafe fn operand<E, S, M, N, B>(x: &Buffer<S, B>) -> Grid<&E::Tile>
where
    E: Factor,
    S: ArrayType<Element = E, Dimensions = (M, N)>,
    M: Dim,
    N: Dim,
    B: Bytes,
{
    let grid: [usize; 2] = common_index::<S>(x.tile_grid());
    // SAFETY: the caller has evaluated `assert_tiled_rows`, and so `is_tile` and `assert_tiles_are_whole`.
    let tiles = unsafe { x.tiles_as::<E::Tile>() };
    Grid { tiles: tiles.map(matrix_tile::<S, _>).collect(), width: grid[usize::from(!is_transposed::<S>())] }
}

impl<S: ArrayType<Element: Plain, Index = [usize; 2]>, B: BytesMut> Buffer<S, B> {
    /// Adds the product of two matrices to this one: `c += a · b`. See the [module](crate::product) for the element types and layouts.
    ///
    /// All three may be blocks, which consist of whole tiles. The right operand may be transposed in memory. Padding has no influence on the result,
    /// and is not written. For a result whose elements are not those of the sums, such as `s8`, take
    /// [`apply_product`](crate::block::Blocks::apply_product). Sizes that differ, other element types and numbers of dimensions show in
    /// `cargo check`; other tiles in `cargo build`.
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
    #[doc(alias("matmul", "gemm"))]
    #[track_caller]
    pub fn add_product<E, X, Y, M, K, N, C, D>(&mut self, a: &Buffer<X, C>, b: &Buffer<Y, D>)
    where
        E: FactorOf<S::Element>,
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
        const { assert_tiled_rows::<S, Sums<ValueOf<S>>>("result", ROWS, 1, false) };
        const { assert_tiled_rows::<X, E::Tile>("left operand", E::TILE_ROWS, E::DEPTH, false) };
        const { assert_tiled_rows::<Y, E::Tile>("right operand", E::TILE_ROWS, E::DEPTH, true) };
        let sizes = sizes_of_product(self.sizes(), sizes_of(a.shape()), sizes_of(b.shape()));
        // SAFETY: `assert_tiled_rows` has been evaluated for `X`.
        let left = unsafe { operand(a) };
        // SAFETY: `assert_tiled_rows` has been evaluated for `Y`.
        let right = unsafe { operand(b) };
        let width = self.tile_grid()[1];
        // SAFETY: `assert_tiled_rows` has been evaluated for `S`.
        let tiles = unsafe { self.tiles_mut_as::<Sums<ValueOf<S>>>() };
        let out = Grid { tiles: tiles.collect(), width };
        multiply::<E, Y>(&left, &right, out, [0, 0], sizes);
    }
}

impl<'a, S, P> Blocks<S, P, ViewMut<'a, S>>
where
    S: ArrayType<Element: Stored, Index = [usize; 2]>,
    P: StaticArray<Index = [usize; 2]>,
{
    /// Calls `f` with each block of a matrix and the sums of the same block of the product `a · b`: for a scale, a bias, an activation, or
    /// numbers of fewer bits. The sums are in scratch memory of the size of a block, so that the matrix may have any element type and
    /// layout, and the sums are in the cache. A last block may be smaller; its sums beyond the end of the matrix are 0.
    ///
    /// See the [module](crate::product) for the element types and layouts of the operands. If the right one is row-major, a block has all
    /// columns or a multiple of 128. Blocks of 64 to 256 rows are fast, if the matrix has that many rows.
    ///
    /// The rows and the columns that a block multiplies are packed anew for each block: with 8 blocks side by side, the rows are packed 8 times.
    /// [`add_product`](Buffer::add_product) packs them less often. Packing takes a small part of the time if the depth and the blocks are large. If
    /// the depth is a few hundred or less, take blocks of all columns; and if all sums fit into the cache, `add_product` and then a pass over them
    /// may be faster: measure both.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(s8[40,300]{1,0:T(32,128)(4,1)})>::filled(-2);
    /// // A row of weights for each output.
    /// let w = Buffer::<shape!(s8[300,256]{0,1:T(32,128)(4,1)})>::from_fn(|[_, j]| if j < 128 { 1 } else { -1 });
    /// let bias = Buffer::<shape!(s32[256])>::filled(100);
    ///
    /// // The next layer's input: bias, activation, 8 bits.
    /// let mut y = Buffer::<shape!(s8[40,256]{1,0:T(32,128)(4,1)})>::zeroed();
    /// y.blocks_mut::<shape!(s8[32,128]{1,0:T(32,128)(4,1)})>().apply_product(&x, &w, |mut y, sums| {
    ///     let [_, column] = y.shape().origin();
    ///     sums.apply_along::<-1, _, _>(&bias.block::<shape!(s32[128])>([column / 128]), |sum, bias| sum + bias);
    ///     y.apply_with(sums, |_, sum| (sum.max(0) >> 3).min(127) as i8);
    /// });
    /// assert_eq!([y[[0, 0]], y[[39, 127]], y[[39, 128]], y[[0, 255]]], [0, 0, 87, 87]);
    /// ```
    ///
    /// # Panics
    /// If sizes that are known only at run time do not fit, or there is not enough memory for the sums of a block.
    #[doc(alias("epilogue", "requantize"))]
    #[track_caller]
    pub fn apply_product<E, X, Y, M, K, N, C, D>(
        self,
        a: &Buffer<X, C>,
        b: &Buffer<Y, D>,
        mut f: impl FnMut(ViewMut<'a, Part<S, P>>, &mut Buffer<SumsOf<E, P>>),
    ) where
        E: Factor,
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
        const { assert_tiled_rows::<X, E::Tile>("left operand", E::TILE_ROWS, E::DEPTH, false) };
        const { assert_tiled_rows::<Y, E::Tile>("right operand", E::TILE_ROWS, E::DEPTH, true) };
        const { assert_columns::<S, P, Y>() };
        let [_, depth, _] = sizes_of_product(self.whole().sizes(), sizes_of(a.shape()), sizes_of(b.shape()));
        // SAFETY: `assert_tiled_rows` has been evaluated for `X`.
        let left = unsafe { operand(a) };
        // SAFETY: `assert_tiled_rows` has been evaluated for `Y`.
        let right = unsafe { operand(b) };
        let mut sums = Buffer::<SumsOf<E, P>>::zeroed();
        for block in self {
            let ([rows, columns], origin) = (block.sizes(), block.shape().origin());
            sums.fill(E::Total::default());
            let width = sums.tile_grid()[1];
            let tiles = sums.tiles_mut::<Sums<E::Total>>();
            let tiles = tiles.map(|tile| {
                // Sums outside of the block are not written.
                let inside = [tile.inside[0], tile.inside[1].min(columns.saturating_sub(tile.origin[1]))];
                TileView { inside, ..tile }
            });
            multiply::<E, Y>(&left, &right, Grid { tiles: tiles.collect(), width }, origin, [rows, depth, columns]);
            f(block, &mut sums);
        }
    }
}

/// Adds a part of a product, which has these sizes and this origin, to `out`. `Y` is the shape of the right operand.
fn multiply<E: Factor, Y: ArrayType>(
    left: &Grid<&E::Tile>,
    right: &Grid<&E::Tile>,
    out: Grid<&mut Sums<E::Total>>,
    origin: [usize; 2],
    sizes: [usize; 3],
) {
    if const { is_transposed::<Y>() } {
        vector::run(Product::<E, true> { left, right, out, origin, sizes });
    } else {
        vector::run(Product::<E, false> { left, right, out, origin, sizes });
    }
}

/// The same tile, with the index type that all arrays with the dimensions of `S` share (see [`IndexOf`]).
fn matrix_tile<S: ArrayType, T>(tile: TileView<S::Index, T>) -> TileView<IndexOf<S>, T> {
    tile
}
