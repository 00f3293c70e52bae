//! The shard of a device as a block.

use super::cut::part;
use super::part::{Part, assert_block};
use crate::buffer::{Buffer, Bytes, BytesMut, Lends, View, ViewMut};
use crate::element::Stored;
use crate::sealed::named_in_errors;
use crate::types::{ArrayType, DivideBy, MultiIndex, Shard, ShardingType, StaticArray};

/// The place of a device's shard in the grid of shards; `None` if the device has no shard.
fn place<S: StaticArray, P: StaticArray, H: ShardingType>(device: i64) -> Option<S::Index> {
    let region = H::sharding().partition(S::SHAPE).ok()?.region(device).ok()?;
    let mut place = S::Index::ORIGIN;
    for ((place, start), size) in place.as_mut().iter_mut().zip(region.start).zip(P::SIZES) {
        *place = usize::try_from(start).ok()?.checked_div(*size)?;
    }
    Some(place)
}

impl<S: ArrayType<Element: Stored>, B: Bytes> Buffer<S, B> {
    /// The shard of a device if the array is divided by the sharding `H`: a [block](crate::block) with the sizes of [`Shard<S,
    /// H>`](Shard). `None` if the device has no shard.
    ///
    /// ```
    /// use xla_shape::types::Shard;
    /// use xla_shape::{Buffer, shape, sharding};
    ///
    /// type X = shape!(f32[64,256]{1,0:T(8,128)});
    /// type Plan = sharding!({devices=[4,2]<=[8]});
    ///
    /// let x = Buffer::<X>::from_fn(|[i, j]| (1000 * i + j) as f32);
    /// let mine = x.shard::<Plan>(5).unwrap(); // rows 32 to 47, columns 128 to 255
    /// assert_eq!((mine.shape().origin(), mine[[1, 2]]), ([32, 128], 33_130.0));
    /// let copy: Buffer<shape!(f32[16,128]{1,0:T(8,128)})> = mine.to_buffer::<Shard<X, Plan>>().retype();
    /// assert!(x.shard::<Plan>(8).is_none());
    /// ```
    ///
    /// A shard that ends inside of a tile is not a block and does not compile; neither does a size that does not divide evenly. That shows
    /// in `cargo build`, not in `cargo check`.
    #[must_use]
    #[track_caller]
    pub fn shard<'s, 'b, H>(&'s self, device: i64) -> Option<View<'b, Part<S, Shard<S, H>>>>
    where
        S: StaticArray,
        B: Lends<'s, 'b>,
        H: ShardingType,
        S::Dimensions: DivideBy<H::Pieces>,
        Shard<S, H>: StaticArray<Element = S::Element, Layout = S::Layout, Index = S::Index>,
    {
        named_in_errors!(Self);
        const { assert_block::<S, Shard<S, H>>() };
        // SAFETY: `assert_block` has just been evaluated.
        let part = unsafe { part::<S, Shard<S, H>>(self.shape(), place::<S, Shard<S, H>, H>(device)?) };
        // SAFETY: `part` is a part of this array's shape; shared borrows may overlap.
        Some(unsafe { self.lent().cut(part) })
    }
}

impl<S: ArrayType<Element: Stored>, B: BytesMut> Buffer<S, B> {
    /// The shard of a device, to write; see [`shard`](Self::shard).
    ///
    /// ```
    /// use xla_shape::{Buffer, shape, sharding};
    ///
    /// let mut x = Buffer::<shape!(f32[64])>::zeroed();
    /// x.shard_mut::<sharding!({devices=[4]<=[4]})>(3).unwrap().fill(1.0);
    /// assert_eq!((x[[47]], x[[48]]), (0.0, 1.0));
    /// ```
    #[must_use]
    #[track_caller]
    pub fn shard_mut<H>(&mut self, device: i64) -> Option<ViewMut<'_, Part<S, Shard<S, H>>>>
    where
        S: StaticArray,
        H: ShardingType,
        S::Dimensions: DivideBy<H::Pieces>,
        Shard<S, H>: StaticArray<Element = S::Element, Layout = S::Layout, Index = S::Index>,
    {
        named_in_errors!(Self);
        const { assert_block::<S, Shard<S, H>>() };
        // SAFETY: `assert_block` has just been evaluated.
        let part = unsafe { part::<S, Shard<S, H>>(self.shape(), place::<S, Shard<S, H>, H>(device)?) };
        // SAFETY: `part` is a part of this array's shape, and the only one while `self` is borrowed mutably.
        Some(unsafe { self.view_mut().cut(part) })
    }
}
