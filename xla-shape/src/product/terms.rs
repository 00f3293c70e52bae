//! The element types of products: how they lie in tiles, and how they are multiplied.

#[cfg(feature = "half")]
use crate::element::Bf16;
use crate::element::{F32, Plain, S8};
use crate::iter::NestedArray;
use crate::vector::Machine;

/// The columns of a tile.
pub(super) const LANES: usize = 128;

/// How the elements lie in tiles. Elements that fill 32 bits together are a group. A group has elements of one column of the right operand,
/// or of one row of the left one.
#[doc(hidden)]
pub trait Terms: Plain {
    /// The type of a sum.
    type Total: Copy + Default;
    /// A group, as it lies in a tile of the right operand.
    type Group: Copy + Default;
    /// A tile of an operand, in memory.
    type Tile: NestedArray<Self::Value> + Copy;
    /// The step that multiplies groups as they are stored.
    type Stored: Step<Group = Self::Group, Total = Self::Total, Right = Self::Group>;
    /// The step that multiplies converted groups. They are converted once, when they are packed.
    type Converted: Step<Group = Self::Group, Total = Self::Total>;

    /// The elements of a group.
    const DEPTH: usize;
    /// The rows of a tile.
    const TILE_ROWS: usize;

    /// The groups of a tile of the right operand, row by row.
    fn rows(tile: &Self::Tile) -> &[[Self::Group; LANES]];
    /// A group of a tile of the left operand, by its row and its number in the row.
    fn group(tile: &Self::Tile, row: usize, group: usize) -> Self::Group;
    /// The first elements of a group, with zeros in place of the others.
    fn first(group: Self::Group, count: usize) -> Self::Group;
    /// The sum of two sums.
    fn plus(a: Self::Total, b: Self::Total) -> Self::Total;
}

/// One step of the innermost loop. It multiplies a part of a group of the left operand by parts of several groups of the right one,
/// and adds the products to the sums.
#[doc(hidden)]
pub trait Step {
    /// A group, as it lies in a tile of the right operand.
    type Group;
    /// The type of a sum.
    type Total;
    /// The type of a part of a left operand's group.
    type Left: Copy + Default;
    /// The type of a part of a right operand's group.
    type Right: Copy + Default;

    /// The number of steps for each group.
    const PER_GROUP: usize = 1;

    /// The part of a left operand's group that a step multiplies.
    fn left(group: Self::Group, step: usize) -> Self::Left;
    /// The part of a right operand's group that a step multiplies.
    fn right(group: Self::Group, step: usize) -> Self::Right;
    /// Adds the products.
    fn add<M: Machine, const N: usize>(sums: &mut [Self::Total; N], left: Self::Left, right: &[Self::Right; N]);
    /// Corrects the initial value of the sums, once for each step.
    #[inline(always)]
    fn begin<M: Machine, const N: usize>(_sums: &mut [Self::Total; N], _right: &[Self::Right; N]) {}
}

impl Terms for F32 {
    type Total = f32;
    type Group = f32;
    type Tile = [[f32; LANES]; 8];
    type Stored = Floats;
    type Converted = Floats;

    const DEPTH: usize = 1;
    const TILE_ROWS: usize = 8;

    #[inline(always)]
    fn rows(tile: &Self::Tile) -> &[[f32; LANES]] {
        tile
    }

    #[inline(always)]
    fn group(tile: &Self::Tile, row: usize, group: usize) -> f32 {
        tile[row][group]
    }

    #[inline(always)]
    fn first(group: f32, _: usize) -> f32 {
        group
    }

    #[inline(always)]
    fn plus(a: f32, b: f32) -> f32 {
        a + b
    }
}

/// Multiplies numbers.
#[doc(hidden)]
#[derive(Debug)]
pub struct Floats;

impl Step for Floats {
    type Group = f32;
    type Total = f32;
    type Left = f32;
    type Right = f32;

    #[inline(always)]
    fn left(group: f32, _: usize) -> f32 {
        group
    }

    #[inline(always)]
    fn right(group: f32, _: usize) -> f32 {
        group
    }

    #[inline(always)]
    fn add<M: Machine, const N: usize>(sums: &mut [f32; N], left: f32, right: &[f32; N]) {
        sums.iter_mut().zip(right).for_each(|(sum, &right)| *sum = M::mul_add(left, right, *sum));
    }
}

/// Groups are pairs of elements: `T(8,128)(2,1)` interleaves pairs of rows, as the right operand's groups need it.
#[cfg(feature = "half")]
impl Terms for Bf16 {
    type Total = f32;
    type Group = [half::bf16; 2];
    type Tile = [[[half::bf16; 2]; LANES]; 4];
    type Stored = Pairs;
    type Converted = PairsAsFloats;

    const DEPTH: usize = 2;
    const TILE_ROWS: usize = 8;

    #[inline(always)]
    fn rows(tile: &Self::Tile) -> &[[[half::bf16; 2]; LANES]] {
        tile
    }

    #[inline(always)]
    fn group(tile: &Self::Tile, row: usize, group: usize) -> [half::bf16; 2] {
        let columns = &tile[row / 2];
        [columns[2 * group][row % 2], columns[2 * group + 1][row % 2]]
    }

    #[inline(always)]
    fn first(group: [half::bf16; 2], count: usize) -> [half::bf16; 2] {
        std::array::from_fn(|k| if k < count { group[k] } else { half::bf16::ZERO })
    }

    #[inline(always)]
    fn plus(a: f32, b: f32) -> f32 {
        a + b
    }
}

/// Multiplies pairs.
#[cfg(feature = "half")]
#[doc(hidden)]
#[derive(Debug)]
pub struct Pairs;

#[cfg(feature = "half")]
impl Step for Pairs {
    type Group = [half::bf16; 2];
    type Total = f32;
    type Left = [half::bf16; 2];
    type Right = [half::bf16; 2];

    #[inline(always)]
    fn left(group: [half::bf16; 2], _: usize) -> [half::bf16; 2] {
        group
    }

    #[inline(always)]
    fn right(group: [half::bf16; 2], _: usize) -> [half::bf16; 2] {
        group
    }

    #[inline(always)]
    fn add<M: Machine, const N: usize>(sums: &mut [f32; N], left: [half::bf16; 2], right: &[[half::bf16; 2]; N]) {
        M::dot2(sums, &[left; N], right);
    }
}

/// Multiplies the numbers of pairs as f32, the second number of a pair first. [`Machine::dot2`] has the same order, so the sums are the same.
#[cfg(feature = "half")]
#[doc(hidden)]
#[derive(Debug)]
pub struct PairsAsFloats;

#[cfg(feature = "half")]
impl Step for PairsAsFloats {
    type Group = [half::bf16; 2];
    type Total = f32;
    type Left = f32;
    type Right = f32;

    const PER_GROUP: usize = 2;

    #[inline(always)]
    fn left(group: [half::bf16; 2], step: usize) -> f32 {
        Self::right(group, step)
    }

    #[inline(always)]
    fn right(group: [half::bf16; 2], step: usize) -> f32 {
        f32::from_bits(u32::from(group[1 - step].to_bits()) << 16)
    }

    #[inline(always)]
    fn add<M: Machine, const N: usize>(sums: &mut [f32; N], left: f32, right: &[f32; N]) {
        Floats::add::<M, N>(sums, left, right);
    }
}

/// Groups have four elements: `T(32,128)(4,1)` interleaves four rows, as the right operand's groups need it.
impl Terms for S8 {
    type Total = i32;
    type Group = [i8; 4];
    type Tile = [[[i8; 4]; LANES]; 8];
    type Stored = Bytes;
    type Converted = Bytes;

    const DEPTH: usize = 4;
    const TILE_ROWS: usize = 32;

    #[inline(always)]
    fn rows(tile: &Self::Tile) -> &[[[i8; 4]; LANES]] {
        tile
    }

    #[inline(always)]
    fn group(tile: &Self::Tile, row: usize, group: usize) -> [i8; 4] {
        let columns = &tile[row / 4];
        [0, 1, 2, 3].map(|k| columns[4 * group + k][row % 4])
    }

    #[inline(always)]
    fn first(group: [i8; 4], count: usize) -> [i8; 4] {
        std::array::from_fn(|k| if k < count { group[k] } else { 0 })
    }

    #[inline(always)]
    fn plus(a: i32, b: i32) -> i32 {
        a.wrapping_add(b)
    }
}

/// Multiplies groups of bytes. The instruction requires unsigned bytes on the left, so 128 is added to each of them. To make up for that, the sums
/// begin with -128 times the right operand.
#[doc(hidden)]
#[derive(Debug)]
pub struct Bytes;

impl Step for Bytes {
    type Group = [i8; 4];
    type Total = i32;
    type Left = [u8; 4];
    type Right = [i8; 4];

    #[inline(always)]
    fn left(group: [i8; 4], _: usize) -> [u8; 4] {
        group.map(|x| x.cast_unsigned() ^ 0x80)
    }

    #[inline(always)]
    fn right(group: [i8; 4], _: usize) -> [i8; 4] {
        group
    }

    #[inline(always)]
    fn add<M: Machine, const N: usize>(sums: &mut [i32; N], left: [u8; 4], right: &[[i8; 4]; N]) {
        M::dot4_unsigned(sums, &[left; N], right);
    }

    #[inline(always)]
    fn begin<M: Machine, const N: usize>(sums: &mut [i32; N], right: &[[i8; 4]; N]) {
        M::dot4(sums, &[[i8::MIN; 4]; N], right);
    }
}
