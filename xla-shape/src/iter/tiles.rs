//! Tiles as arrays of fixed size.

use crate::buffer::{Buffer, Bytes, BytesMut, Lends, assert_whole};
use crate::element::{Element, Plain};
use crate::sealed::named_in_errors;
use crate::types::{ArrayType, MultiIndex, ValueOf, WholeArray, count, step};
use xla_shape_core::text::ConstText;
use xla_shape_core::type_limits::MAX_LIST;
use xla_shape_core::{TileBlock, TileBlockError};
use xla_shape_relayout::wide::local;

/// Nested arrays of `V`: `[V; N]`, `[[V; N]; M]`, and so on.
///
/// ```
/// use xla_shape::iter::NestedArray;
///
/// fn positions<A: NestedArray<f32>>() -> usize {
///     A::SIZES.iter().product()
/// }
/// assert_eq!(positions::<[[f32; 128]; 8]>(), 1024);
/// ```
///
/// # Safety
/// The type consists of nested arrays of `V` with the lengths `SIZES`, and of nothing else.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not nested arrays of `{V}`",
    label = "expected a tile such as `[[{V}; 128]; 8]`"
)]
pub unsafe trait NestedArray<V>: 'static {
    /// The lengths of the arrays, the outermost first.
    const SIZES: &'static [usize];
}

macro_rules! nested {
    ($($N:ident)* => $array:ty) => {
        // SAFETY: each invocation names the lengths of the array type in the same order.
        unsafe impl<V: 'static, $(const $N: usize,)*> NestedArray<V> for $array {
            const SIZES: &'static [usize] = &[$($N),*];
        }
    };
}

nested!(A => [V; A]);
nested!(A B => [[V; B]; A]);
nested!(A B C => [[[V; C]; B]; A]);
nested!(A B C D => [[[[V; D]; C]; B]; A]);
nested!(A B C D E => [[[[[V; E]; D]; C]; B]; A]);
nested!(A B C D E F => [[[[[[V; F]; E]; D]; C]; B]; A]);

/// A tile of an array, with its place. `T` is a reference to nested arrays, `I` the index of an element.
///
/// ```
/// use xla_shape::iter::TileView;
/// use xla_shape::{Buffer, shape};
///
/// fn sum(tile: TileView<[usize; 2], &[[f32; 128]; 8]>) -> f32 {
///     let [rows, columns] = tile.inside;
///     tile.elements[..rows].iter().flat_map(|row| &row[..columns]).sum()
/// }
///
/// let x = Buffer::<shape!(f32[20,200]{1,0:T(8,128)})>::filled(1.0);
/// assert_eq!(x.tiles::<[[f32; 128]; 8]>().map(sum).sum::<f32>(), 20.0 * 200.0);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TileView<I, T> {
    /// The index of the tile's first element.
    pub origin: I,
    /// In each of the array's dimensions, how many of the tile's elements are in the array. The other elements are padding.
    pub inside: I,
    /// The elements and the padding.
    pub elements: T,
}

/// Fails the compilation if a tile of `S` is not `A`. Returns the number of positions in a tile.
#[track_caller]
const fn assert_is_tile<S: ArrayType<Element: Plain>, A: NestedArray<ValueOf<S>>>() -> usize {
    let problem = ConstText::<1024>::new();
    let block = TileBlock::new(S::SHAPE.layout());
    let problem = match block {
        Ok(block) if is_block(A::SIZES, &block) => return block.positions() as usize,
        Ok(block) => {
            let problem =
                push_array(problem.push_str("expected a tile of type "), local(block.sizes()), S::Element::TYPE.name());
            push_array(problem.push_str(", found "), A::SIZES, S::Element::TYPE.name())
        }
        Err(error) => problem.push_str(error.as_str()),
    };
    let problem = problem.push_str(": ").push_str(S::TEXT);
    let problem = match block {
        Err(TileBlockError::Untiled) => problem.push_str("; `as_slice().as_chunks()` cuts an array without tiles"),
        _ => problem,
    };
    panic!("{}", problem.as_str())
}

/// Whether a tile of `S` is `A`.
pub(crate) const fn is_tile<S: ArrayType<Element: Plain>, A: NestedArray<ValueOf<S>>>() -> bool {
    matches!(TileBlock::new(S::SHAPE.layout()), Ok(block) if is_block(A::SIZES, &block))
}

/// Fails the compilation if elements are not whole values, or a block cuts tiles.
#[track_caller]
pub(crate) const fn assert_tiles_are_whole<S: ArrayType<Element: Plain>>() {
    assert_whole::<S>();
    let (own, memory, mut i) = (S::DIMENSIONS, S::MEMORY_DIMENSIONS, 0);
    while i < own.len() && !S::IS_WHOLE_ARRAY {
        let (size, tile) = (own[i].extent(), S::SHAPE.layout().tile_size(i));
        let is_whole = match (size, memory[i].extent()) {
            (Some(own), Some(memory)) if own >= memory => true,
            (Some(own), _) => own % tile == 0,
            (None, _) => false,
        };
        if !is_whole {
            let problem =
                ConstText::<1024>::new().push_str("expected a block of whole tiles, found ").push_str(S::TEXT);
            let problem = problem.push_str(", which cuts dimension ").push_count(i);
            panic!("{}", problem.push_str(" inside of tiles of ").push_number(tile).as_str())
        }
        i += 1;
    }
}

/// The number of values in `A`. `size_of` counts them: a value is plain, so it takes at least one byte.
const fn positions_of<S: ArrayType<Element: Plain>, A: NestedArray<ValueOf<S>>>() -> usize {
    size_of::<A>() / size_of::<ValueOf<S>>()
}

/// Whether nested arrays of these sizes match the block: they have the block's sizes, without sizes of 1, or they are one flat array.
const fn is_block(sizes: &[usize], block: &TileBlock) -> bool {
    if sizes.len() == 1 && sizes[0] == block.positions() as usize {
        return true;
    }
    let (mut i, mut k) = (0, 0);
    while i < sizes.len() {
        if sizes[i] != 1 {
            if k == block.sizes().len() || block.sizes()[k] as usize != sizes[i] {
                return false;
            }
            k += 1;
        }
        i += 1;
    }
    k == block.sizes().len()
}

const fn push_array<const N: usize>(text: ConstText<N>, sizes: &[usize], element: &str) -> ConstText<N> {
    let mut text = text;
    let mut i = 0;
    while i < sizes.len() {
        text = text.push_str("[");
        i += 1;
    }
    text = text.push_str(element);
    while i > 0 {
        i -= 1;
        text = text.push_str("; ").push_count(sizes[i]).push_str("]");
    }
    text
}

/// The sizes of a tile of `S` in each dimension, in elements: the first entries of the list.
const fn tile_sizes<S: ArrayType>() -> [usize; MAX_LIST] {
    let mut sizes = [1; MAX_LIST];
    let mut dimension = 0;
    while dimension < S::SHAPE.num_dimensions() {
        sizes[dimension] = S::SHAPE.layout().tile_size(dimension) as usize;
        dimension += 1;
    }
    sizes
}

/// The number of tiles in each dimension. A bounded dimension has as many tiles as its bound needs; a block has only the tiles with one of its
/// elements.
#[inline]
fn tile_grid<S: ArrayType>(shape: S) -> S::Index {
    let mut grid = shape.sizes();
    let tile = const { tile_sizes::<S>() };
    for ((count, dimension), tile) in grid.as_mut().iter_mut().zip(const { S::DIMENSIONS }).zip(tile) {
        let size = if S::IS_WHOLE_ARRAY { dimension.extent().map_or(*count, |extent| extent as usize) } else { *count };
        *count = size.div_ceil(tile);
    }
    grid
}

/// The index of the first element of each tile, and how much of the tile is in the array, in the order of memory.
struct Origins<S: ArrayType> {
    sizes: S::Index,
    grid: S::Index,
    /// The place of the next tile in the grid.
    next: S::Index,
    /// The number of tiles that are left.
    left: usize,
}

impl<S: ArrayType> Origins<S> {
    /// Empty if there are no values.
    fn new(shape: S, values: usize) -> Self {
        let grid = tile_grid(shape);
        let left = if values == 0 { 0 } else { count(grid.as_ref()) };
        Self { sizes: shape.sizes(), grid, next: S::Index::ORIGIN, left }
    }
}

impl<S: ArrayType> Iterator for Origins<S> {
    type Item = (S::Index, S::Index);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let (mut origin, mut inside) = (self.next, self.sizes);
        let tile = const { tile_sizes::<S>() };
        for ((origin, inside), tile) in origin.as_mut().iter_mut().zip(inside.as_mut()).zip(tile) {
            *origin *= tile;
            *inside = inside.saturating_sub(*origin).min(tile);
        }
        step(self.next.as_mut(), self.grid.as_ref(), const { S::MINOR_TO_MAJOR }.iter().copied(), |_| 1);
        Some((origin, inside))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<S: ArrayType> ExactSizeIterator for Origins<S> {}

impl<S: WholeArray<Element: Plain>, B: Bytes> Buffer<S, B> {
    /// The tiles in the order of memory, padding included, as arrays: `A` is a tile as it is in memory, or flat. A type that does not match
    /// the tile does not compile; that shows in `cargo build`, not in `cargo check`. An array without tiles
    /// is cut by `as_slice().as_chunks()`.
    ///
    /// ```
    /// use half::bf16;
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(f32[16,200]{1,0:T(8,128)})>::zeroed();
    /// assert_eq!(x.as_tiles::<[[f32; 128]; 8]>().len(), 4);
    ///
    /// // In a tile of 8 by 128, pairs of rows are interleaved.
    /// let x = Buffer::<shape!(bf16[16,256]{1,0:T(8,128)(2,1)})>::zeroed();
    /// let tiles: &[[[[bf16; 2]; 128]; 4]] = x.as_tiles();
    /// assert_eq!(tiles.len(), 4);
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn as_tiles<'s, 'b, A: NestedArray<ValueOf<S>>>(&'s self) -> &'b [A]
    where
        B: Lends<'s, 'b>,
    {
        named_in_errors!(Self);
        let positions = const { assert_is_tile::<S, A>() };
        const { assert_whole::<S>() };
        let values = self.as_slice();
        let len = count(tile_grid(self.shape()).as_ref()).min(values.len() / positions);
        // SAFETY: `A` is nested arrays of values (`NestedArray`), `positions` values in all (`assert_is_tile`), with the alignment of a
        // value. So `len` of them take at most `values.len()` values, which are borrowed for `'b`.
        unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), len) }
    }
}

impl<S: ArrayType<Element: Plain>, B: Bytes> Buffer<S, B> {
    /// The number of tiles in each dimension. In a dimension that tiles do not cut, it is the dimension's size. A bounded dimension has as many tiles
    /// as its bound needs.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(f32[20,200]{1,0:T(8,128)})>::zeroed();
    /// assert_eq!(x.tile_grid(), [3, 2]);
    /// ```
    #[must_use]
    #[inline]
    pub fn tile_grid(&self) -> S::Index {
        tile_grid(self.shape())
    }

    /// The tiles in the order of memory, each with its place in the array and how much of it is in the array; see
    /// [`as_tiles`](Self::as_tiles).
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(f32[16,200]{1,0:T(8,128)})>::from_fn(|[i, j]| (i * 200 + j) as f32);
    /// for tile in x.tiles::<[[f32; 128]; 8]>() {
    ///     let ([i, j], [rows, columns]) = (tile.origin, tile.inside);
    ///     assert_eq!((rows, columns), (8, if j == 0 { 128 } else { 72 }));
    ///     assert_eq!(tile.elements[7][71], x[[i + 7, j + 71]]);
    /// }
    /// ```
    #[inline]
    pub fn tiles<A: NestedArray<ValueOf<S>>>(&self) -> impl ExactSizeIterator<Item = TileView<S::Index, &A>> {
        named_in_errors!(Self);
        const { assert_is_tile::<S, A>() };
        const { assert_tiles_are_whole::<S>() };
        // SAFETY: both assertions have just been evaluated.
        unsafe { self.tiles_as() }
    }

    /// Like [`tiles`](Self::tiles), but unchecked: the caller checks the tiles itself, with its own error message.
    ///
    /// # Safety
    /// [`is_tile::<S, A>`](is_tile), and [`assert_tiles_are_whole`] has been evaluated for `S`.
    #[inline]
    pub(crate) unsafe fn tiles_as<A: NestedArray<ValueOf<S>>>(
        &self,
    ) -> impl ExactSizeIterator<Item = TileView<S::Index, &A>> {
        let positions = const { positions_of::<S, A>() };
        let shape = self.shape();
        // SAFETY: `assert_whole` has been evaluated (`assert_tiles_are_whole`); the memory is borrowed with `self`.
        let values = unsafe { self.values_for() };
        Origins::new(shape, values.len()).map(move |(origin, inside)| {
            let first = shape.linear_index_of(origin);
            // SAFETY: `A` is a tile of `S`, so each of its positions holds an element of this array or padding of its tile: tiles are not shared
            // with other blocks (`assert_tiles_are_whole`).
            let tile = unsafe { values.range(first..first + positions) };
            // SAFETY: `A` is nested arrays of values (`NestedArray`), `positions` values in all (`positions_of`), with the alignment of a
            // value; `tile` has as many.
            TileView { origin, inside, elements: unsafe { &*tile.as_ptr().cast() } }
        })
    }
}

impl<S: WholeArray<Element: Plain>, B: BytesMut> Buffer<S, B> {
    /// The tiles in the order of memory, to write; see [`as_tiles`](Self::as_tiles).
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let mut x = Buffer::<shape!(f32[16,128]{1,0:T(8,128)})>::zeroed();
    /// x.as_mut_tiles::<[[f32; 128]; 8]>()[1][0][5] = 1.0;
    /// assert_eq!(x[[8, 5]], 1.0);
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn as_mut_tiles<A: NestedArray<ValueOf<S>>>(&mut self) -> &mut [A] {
        named_in_errors!(Self);
        let positions = const { assert_is_tile::<S, A>() };
        const { assert_whole::<S>() };
        let len = count(tile_grid(self.shape()).as_ref());
        let values = self.as_mut_slice();
        let len = len.min(values.len() / positions);
        // SAFETY: as in `as_tiles`; `values` is borrowed mutably with `self`.
        unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), len) }
    }
}

impl<S: ArrayType<Element: Plain>, B: BytesMut> Buffer<S, B> {
    /// The tiles in the order of memory, to write, each with its place in the array and how much of it is in the array; see
    /// [`tiles`](Self::tiles).
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let mut x = Buffer::<shape!(f32[16,256]{1,0:T(8,128)})>::zeroed();
    /// for tile in x.tiles_mut::<[[f32; 128]; 8]>() {
    ///     tile.elements[0][0] = tile.origin[1] as f32;
    /// }
    /// assert_eq!((x[[8, 0]], x[[8, 128]]), (0.0, 128.0));
    /// ```
    #[inline]
    pub fn tiles_mut<A: NestedArray<ValueOf<S>>>(
        &mut self,
    ) -> impl ExactSizeIterator<Item = TileView<S::Index, &mut A>> {
        named_in_errors!(Self);
        const { assert_is_tile::<S, A>() };
        const { assert_tiles_are_whole::<S>() };
        // SAFETY: both assertions have just been evaluated.
        unsafe { self.tiles_mut_as() }
    }

    /// Like [`tiles_mut`](Self::tiles_mut), but unchecked: the caller checks the tiles itself, with its own error message.
    ///
    /// # Safety
    /// [`is_tile::<S, A>`](is_tile), and [`assert_tiles_are_whole`] has been evaluated for `S`.
    #[inline]
    pub(crate) unsafe fn tiles_mut_as<A: NestedArray<ValueOf<S>>>(
        &mut self,
    ) -> impl ExactSizeIterator<Item = TileView<S::Index, &mut A>> {
        let positions = const { positions_of::<S, A>() };
        let shape = self.shape();
        // SAFETY: `assert_whole` has been evaluated (`assert_tiles_are_whole`); the memory is borrowed mutably with `self`.
        let mut values = unsafe { self.values_mut_for() };
        Origins::new(shape, values.len()).map(move |(origin, inside)| {
            let first = shape.linear_index_of(origin);
            // SAFETY: as in `tiles_as`; each tile comes once, and different tiles have no position in common.
            let tile = unsafe { values.range_for(first..first + positions) };
            // SAFETY: as in `tiles_as`; `tile` is borrowed mutably.
            TileView { origin, inside, elements: unsafe { &mut *tile.as_mut_ptr().cast() } }
        })
    }
}
