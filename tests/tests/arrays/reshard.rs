//! Shards that are made of shards under another sharding, with shardings as types. Compares them with the region of each device, and with the plan
//! for run-time values.

use xla_shape::element::Stored;
use xla_shape::shard::{Partition, ShardingError};
use xla_shape::types::{DivideBy, MultiIndex, Shard, ShardingType, StaticArray, StaticDimensions, ValueOf};
use xla_shape::{Buffer, shape, sharding};

/// The index that an element of the whole array has in a device's shard; `None` if the device does not have it.
fn local<I: MultiIndex>(partition: &Partition, device: i64, index: I) -> Option<I> {
    let region = partition.region(device).ok()?;
    let mut local = I::ORIGIN;
    let bounds = region.start.iter().zip(&region.limit);
    for ((local, &index), (&start, &limit)) in local.as_mut().iter_mut().zip(index.as_ref()).zip(bounds) {
        *local = (start..limit).contains(&(index as u64)).then(|| index - start as usize)?;
    }
    Some(local)
}

/// Makes the shards of all devices under `T` from the shards under `S`.
fn check<P, X, S, T>()
where
    P: StaticArray<Element: Stored>,
    ValueOf<P>: PartialEq + std::fmt::Debug,
    X: StaticArray<Element = P::Element, Index = P::Index>,
    S: ShardingType,
    T: ShardingType,
    X::Dimensions: DivideBy<S::Pieces, Shard: StaticDimensions<Index = P::Index>>,
    X::Dimensions: DivideBy<T::Pieces, Shard: StaticDimensions>,
{
    let [from, to] = [S::sharding(), T::sharding()];
    let plan = from.reshard(&to, X::SHAPE).unwrap().into_layout(P::LAYOUT.clone()).unwrap();
    let [from, to] = [from, to].map(|sharding| sharding.partition(X::SHAPE).unwrap());
    assert_eq!((from.shard(), to.shard().dimensions()), (<Shard<X, S>>::SHAPE, P::DIMENSIONS), "{}", X::TEXT);
    let mut next = 1_u8;
    let before: Vec<Buffer<Shard<X, S>>> = (0..from.device_count().unwrap_or(4))
        .map(|_| {
            let mut shard = Buffer::zeroed();
            for byte in shard.as_bytes_mut() {
                // Bytes below 128, so that no number is NaN.
                next = next.wrapping_mul(37).wrapping_add(11);
                *byte = next >> 1;
            }
            shard
        })
        .collect();
    let has = |device: i64| before.get(usize::try_from(device).ok()?);
    let receivers: Vec<i64> = plan.receivers().collect();
    assert!(!receivers.is_empty());
    for device in receivers {
        let [mut typed, mut valued] = [(); 2].map(|()| Buffer::<P>::zeroed());
        typed.reshard_from::<X, S, T>(device, |device| Some(has(device)?.view())).unwrap();
        plan.receive(device, |device| Some(has(device)?.as_bytes()), valued.as_bytes_mut()).unwrap();
        assert_eq!(typed.as_bytes(), valued.as_bytes(), "device {device} of {} {to:?}", X::TEXT);
        for index in X::default().indices() {
            let Some(after) = local(&to, device, index) else { continue };
            let source = plan.sources(device).find(|source| {
                let region = source.region.start.iter().zip(&source.region.limit);
                index.as_ref().iter().zip(region).all(|(&i, (&start, &limit))| (start..limit).contains(&(i as u64)))
            });
            let sender = source.expect("all parts come from a device").from;
            let shard = has(sender).expect("a device of the source");
            assert_eq!(typed.get(after), shard.get(local(&from, sender, index).unwrap()), "{index:?} of {}", X::TEXT);
        }
    }
}

#[test]
fn typed_shards_are_those_of_the_plan() {
    type Rows = sharding!({ devices = [4, 1] <= [4] });
    type Columns = sharding!({ devices = [1, 4] <= [4] });
    type Square = sharding!({ devices = [2, 2] <= [4] });
    type Turned = sharding!({devices=[2,2]<=[2,2]T(1,0)});
    type Listed = sharding!({devices=[4,1]2,0,3,1});
    type Halves = sharding!({devices=[1,2,2]<=[4] last_tile_dim_replicate});
    type Two = sharding!({ devices = [2, 1] <= [2] });
    type Whole = sharding!({ replicated });
    type One = sharding!({maximal device=0});
    macro_rules! pairs {
        ($X:ty: $($S:ident -> $T:ident $shard:ty;)*) => { $(check::<$shard, $X, $S, $T>();)* };
    }
    type X = shape!(s16[8,16]{1,0:T(2,8)(2,1)});
    pairs! { X:
        Rows -> Columns shape!(s16[8,4]);
        Rows -> Listed Shard<X, Listed>;
        Columns -> Rows shape!(s16[2,16]{0,1:T(4,2)});
        Square -> Turned shape!(s16[4,8]{1,0:T(2,8)(2,1)});
        Listed -> Halves shape!(s16[8,8]{0,1});
        Halves -> Square Shard<X, Square>;
        Turned -> Whole shape!(s16[8,16]{1,0:T(8,128)(2,1)});
        Whole -> Columns shape!(s16[8,4]{1,0:T(2,8)(2,1)});
        Whole -> One shape!(s16[8,16]);
        One -> Rows shape!(s16[2,16]);
        Rows -> Two shape!(s16[4,16]);
        Two -> Rows Shard<X, Rows>;
        Two -> Whole shape!(s16[8,16]{0,1});
    }
    type Packed = shape!(s4[4,8]{1,0:E(4)});
    pairs! { Packed:
        Rows -> Columns shape!(s4[4,2]{1,0:E(4)});
        Columns -> Square shape!(s4[2,4]{0,1:E(4)});
    }
    type Wide = shape!(f64[4,8,2]{0,2,1:T(2,2)});
    type Middle = sharding!({ devices = [1, 4, 1] <= [4] });
    type Corners = sharding!({devices=[2,1,2]<=[2,2]T(1,0)});
    pairs! { Wide:
        Middle -> Corners shape!(f64[2,8,1]);
        Corners -> Middle Shard<Wide, Middle>;
    }
}

#[test]
fn what_shards_lack_is_an_error() {
    type X = shape!(s32[4,4]);
    type Rows = sharding!({ devices = [2, 1] <= [2] });
    type Columns = sharding!({ devices = [1, 2] <= [2] });
    let first = Buffer::<Shard<X, Rows>>::filled(1);
    let mut mine = Buffer::<Shard<X, Columns>>::zeroed();
    let has = |device: i64| (device == 0).then(|| first.view());
    assert_eq!(mine.reshard_from::<X, Rows, Columns>(2, has), Err(ShardingError::NoSuchDevice { device: 2 }));
    assert_eq!(mine.reshard_from::<X, Rows, Columns>(1, has), Err(ShardingError::NoShard { device: 1 }));
    assert_eq!(mine.as_slice(), [1, 1, 1, 1, 0, 0, 0, 0]);
}
