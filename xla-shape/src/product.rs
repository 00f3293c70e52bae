//! Products of matrices in TPU tiles: `c += a · b`, register-blocked, for f32, bf16 and s8.
//!
//! [`add_product`](Buffer::add_product) works on arrays and on [blocks](crate::block) of them. It is the part that larger kernels are made of:
//! attention, a product with scales, a product of a few rows. The code is compiled for the vectors of several machines, and each call selects
//! the version for this one ([`vector`]), which takes nanoseconds; so call it for blocks, not for single tiles.
//! It shows that tiles in types cost nothing, and there will not be other operations; see [what computes](vector#what-computes).
//!
//! | elements of `a` and `b` | tiles of `a` and `b` | `c`, in `{1,0:T(8,128)}` | an instruction of AVX-512 |
//! |---|---|---|---|
//! | [`F32`] | `T(8,128)` | [`F32`] | `vfmadd` |
//! | `Bf16` | `T(8,128)(2,1)` | [`F32`] | `vdpbf16ps` |
//! | [`S8`] | `T(32,128)(4,1)` | [`S32`] | `vpdpbusd` |
//!
//! These are the layouts that XLA chooses for large arrays on TPUs. An operand in another layout is copied with
//! [`relayout`](Buffer::relayout) or [`copy_to`](Buffer::copy_to), in one line. The product copies parts of its operands into about
//! 300 KiB of scratch memory: pairs and groups of four elements that it multiplies together must be adjacent in both.
//!
//! The products of s8 are exact, modulo 2<sup>32</sup> as in XLA. Those of f32 are summed in another order than in a plain loop, and with
//! fused multiply-add where the machine has it. Those of bf16 follow [`Machine::dot2`](vector::Machine::dot2).

mod blocks;
mod terms;

pub use terms::{Step, Terms};

use crate::buffer::{Buffer, Bytes, BytesMut};
#[cfg(feature = "half")]
use crate::element::Bf16;
use crate::element::{F32, Plain, S8, S32};
use crate::iter::{NestedArray, TileView, assert_tiles_are_whole, is_tile};
use crate::sealed::named_in_errors;
use crate::types::{ArrayType, Dim, IndexOf, ValueOf, common_index, sizes_of};
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

/// Fails the compilation if an array is not row-major in tiles of type `A`, which have this many rows in groups of `depth`.
#[track_caller]
const fn assert_tiled_rows<S: ArrayType<Element: Plain>, A: NestedArray<ValueOf<S>>>(
    role: &str,
    rows: usize,
    depth: usize,
) {
    if matches!(S::MINOR_TO_MAJOR, [1, 0]) && is_tile::<S, A>() {
        return assert_tiles_are_whole::<S>();
    }
    let expected = ConstText::<1024>::new().push_str("expected the ").push_str(role).push_str(" in {1,0:T(");
    let expected = expected.push_count(rows).push_str(",").push_count(LANES).push_str(")");
    let expected = match depth {
        1 => expected,
        _ => expected.push_str("(").push_count(depth).push_str(",1)"),
    };
    let problem = expected.push_str("}, found ").push_str(S::TEXT);
    panic!("{}", problem.push_str("; `relayout` and `copy_to` copy it into another layout").as_str())
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
    #[doc(alias("matmul", "gemm"))]
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
        const { assert_tiled_rows::<S, Sums<ValueOf<S>>>("result", ROWS, 1) };
        const { assert_tiled_rows::<X, E::Tile>("left operand", E::TILE_ROWS, E::DEPTH) };
        const { assert_tiled_rows::<Y, E::Tile>("right operand", E::TILE_ROWS, E::DEPTH) };
        let ([m, n], [rows, depth], [inner, columns]) = (self.sizes(), sizes_of(a.shape()), sizes_of(b.shape()));
        assert!(
            (m, depth, n) == (rows, inner, columns),
            "expected operands for a result of {m} by {n}, found {rows} by {depth} and {inner} by {columns}"
        );
        let ([_, left_width], [_, right_width]) = (common_index::<X>(a.tile_grid()), common_index::<Y>(b.tile_grid()));
        // SAFETY: `assert_tiled_rows` has been evaluated for `X`.
        let tiles = unsafe { a.tiles_as::<E::Tile>() };
        let left = Grid { tiles: tiles.map(matrix_tile::<X, _>).collect(), width: left_width };
        // SAFETY: `assert_tiled_rows` has been evaluated for `Y`.
        let tiles = unsafe { b.tiles_as::<E::Tile>() };
        let right = Grid { tiles: tiles.map(matrix_tile::<Y, _>).collect(), width: right_width };
        let width = self.tile_grid()[1];
        // SAFETY: `assert_tiled_rows` has been evaluated for `S`.
        let tiles = unsafe { self.tiles_mut_as::<Sums<ValueOf<S>>>() };
        let out = Grid { tiles: tiles.collect(), width };
        vector::run(Product::<E> { left, right, out, sizes: [m, depth, n] });
    }
}

/// The same tile, whose index has the type that arrays of the same dimensions have in common.
fn matrix_tile<S: ArrayType, T>(tile: TileView<S::Index, T>) -> TileView<IndexOf<S>, T> {
    tile
}
