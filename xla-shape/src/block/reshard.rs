//! The shard of a device, made of the shards that devices had under another sharding.

use crate::buffer::{Buffer, BytesMut, View};
use crate::element::Stored;
use crate::sealed::named_in_errors;
use crate::types::{ArrayType, DivideBy, Shard, ShardingType, StaticArray, StaticDimensions};
use xla_shape_core::shard::ShardingError;
use xla_shape_core::text::ConstText;

/// Fails the compilation if `P` is not the shape of a shard of an array `X` that is divided by `T`, in any layout, or if one of the
/// shardings does not say what each device has.
#[track_caller]
const fn assert_reshard<P, X, S, T>()
where
    P: StaticArray,
    X: StaticArray,
    S: ShardingType,
    T: ShardingType,
    X::Dimensions: DivideBy<S::Pieces, Shard: StaticDimensions> + DivideBy<T::Pieces, Shard: StaticDimensions>,
{
    let text = ConstText::<1024>::new();
    if let Some(kind) = if S::UNDETERMINED.is_some() { S::UNDETERMINED } else { T::UNDETERMINED } {
        let text = text.push_str("expected a sharding that says what each device has, found `{");
        panic!("{}", text.push_str(kind).push_str("}`").as_str())
    }
    // The sizes of a shard are constants that fail the compilation if the sharding does not divide evenly.
    let _ = <Shard<X, S>>::SIZES;
    let (expected, found, mut i) = (<Shard<X, T>>::SIZES, P::SIZES, 0);
    while i < expected.len() {
        if expected[i] != found[i] {
            let text = text.push_str("expected a buffer of the sizes of ").push_str(<Shard<X, T>>::TEXT);
            let text = text.push_str(", a shard of ").push_str(X::TEXT).push_str(" afterwards, found ");
            panic!("{}", text.push_str(P::TEXT).as_str())
        }
        i += 1;
    }
    let [expected, found] = [X::SHAPE.element_bits(), P::SHAPE.element_bits()];
    if expected != found {
        let text = text.push_str("expected a layout that keeps the ").push_number(expected);
        let text = text.push_str(" bits of an element, found ").push_number(found).push_str(": ");
        panic!("{}", text.push_str(P::TEXT).as_str())
    }
}

impl<P: ArrayType<Element: Stored>, B: BytesMut> Buffer<P, B> {
    /// Fills this buffer with a device's shard of an array `X` that was divided by `S` and is now divided by `T`: copies each part from the old shard
    /// of a device that has it. `shard` returns the old shard of a device, in the layout of `X`. This buffer may have another layout, and its padding
    /// stays as it is.
    ///
    /// [`Sharding::reshard`](xla_shape_core::shard::Sharding::reshard) says which device gives which part: the device's own shard gives what it
    /// has, and devices with the same part take turns. The compiler checks that both shardings divide `X` evenly and say what each
    /// device has, and that this buffer has the sizes of a [`Shard<X, T>`](Shard). Errors in the sizes show in `cargo build`, not in `cargo check`.
    /// The two shardings may use different devices.
    ///
    /// ```
    /// use xla_shape::types::Shard;
    /// use xla_shape::{Buffer, shard, shape, sharding};
    ///
    /// type Weights = shape!(f32[64,256]{1,0:T(8,128)});
    /// type Rows = sharding!({devices=[4,1]<=[4]});
    /// type Columns = sharding!({devices=[1,2,2]<=[4] last_tile_dim_replicate});
    ///
    /// // The shards of all devices before: 16 rows each, which hold the number of their device.
    /// let before = [0.0, 1.0, 2.0, 3.0].map(Buffer::<Shard<Weights, Rows>>::filled);
    /// let has = |device: i64| Some(before.get(usize::try_from(device).ok()?)?.view());
    ///
    /// // Device 3 gets half of all columns.
    /// let mut mine = Buffer::<shard!(f32[64,256]{0,1}, {devices=[1,2,2]<=[4] last_tile_dim_replicate})>::zeroed();
    /// mine.reshard_from::<Weights, Rows, Columns>(3, has)?;
    /// assert_eq!(mine.sizes(), [64, 128]);
    /// assert_eq!([mine[[0, 0]], mine[[17, 5]], mine[[63, 127]]], [0.0, 1.0, 3.0]);
    /// assert!(mine.reshard_from::<Weights, Rows, Columns>(4, has).is_err(), "there are devices 0 to 3");
    /// # Ok::<(), xla_shape::shard::ShardingError>(())
    /// ```
    ///
    /// # Errors
    /// If `T` does not use the device, or `shard` has nothing for a device that gives a part. Parts that were copied before the error stay.
    /// Also if the shardings have more devices than [`MAX_LISTED_DEVICES`](xla_shape_core::shard::MAX_LISTED_DEVICES).
    #[track_caller]
    pub fn reshard_from<'a, X, S, T>(
        &mut self,
        device: i64,
        shard: impl Fn(i64) -> Option<View<'a, Shard<X, S>>>,
    ) -> Result<(), ShardingError>
    where
        P: StaticArray,
        X: StaticArray<Element = P::Element, Index = P::Index>,
        S: ShardingType,
        T: ShardingType,
        X::Dimensions: DivideBy<S::Pieces, Shard: StaticDimensions> + DivideBy<T::Pieces, Shard: StaticDimensions>,
    {
        named_in_errors!(P);
        const { assert_reshard::<P, X, S, T>() };
        let reshard = S::sharding().reshard(&T::sharding(), X::SHAPE)?.into_layout(P::LAYOUT.clone())?;
        reshard.receive(device, |device| shard(device).map(|shard| shard.as_bytes()), self.as_bytes_mut())
    }
}
