//! Shardings and shards as types.

use xla_shape::types::{ArrayType, Exchanged, ReduceScattered, Shard, ShardingType};
use xla_shape::{Buffer, View, shape, shard, sharding};

type Whole = shape!(bf16[64,256]{1,0:T(8,128)(2,1)});
type Listed = sharding!({devices=[2,8]15,14,13,12,11,10,9,8,7,6,5,4,3,2,1,0});
type Copies = sharding!({devices=[4,1,2]<=[8] last_tile_dim_replicate});
type Transposed = sharding!({devices=[4,2]<=[2,4]T(1,0)});
type One = sharding!({maximal device=3});

/// In any memory space, which is a const parameter.
fn in_space<const SP: u8>() -> &'static str {
    <shape!(f32[8,128]{1,0:T(8,128)S(SP)}) as ArrayType>::TEXT
}

fn same_meaning(x: sharding!({devices=[4,2,1]<=[2,2,2]T(1,2,0) last_tile_dims={manual}})) -> Transposed {
    x
}

fn by_names(x: sharding!({mesh['x'=2,'y'=4], [{'x'}, {'y'}]})) -> sharding!({devices=[2,4]<=[8]}) {
    x
}

fn replicated(x: Shard<Whole, sharding!({replicated})>) -> Whole {
    x
}

fn uncut<const M: usize>(x: Shard<shape!(f32[M,128]), sharding!({devices=[1,4]<=[4]})>) -> String {
    x.to_string()
}

#[test]
fn passes() {
    assert_eq!(Listed::sharding().to_string(), "{devices=[2,8]15,14,13,12,11,10,9,8,7,6,5,4,3,2,1,0}");
    assert_eq!(Copies::sharding(), "{devices=[4,1,2]<=[8] last_tile_dim_replicate}".parse().unwrap());
    assert_eq!((One::sharding().to_string().as_str(), Shard::<Whole, One>::TEXT), ("{maximal device=3}", Whole::TEXT));
    assert_eq!(same_meaning(Default::default()), Transposed::default());
    by_names(Default::default());
    replicated(Whole::default());
    assert_eq!(uncut::<3>(Default::default()), "f32[3,32]{1,0}");
    assert_eq!(Shard::<Whole, Copies>::TEXT, "bf16[16,256]{1,0:T(8,128)(2,1)}");
    assert_eq!(ReduceScattered::<Shard<Whole, Copies>, 1, 2>::TEXT, "bf16[16,128]{1,0:T(8,128)(2,1)}");
    assert_eq!(Exchanged::<Shard<Whole, Copies>, 1, 0, 4>::TEXT, "bf16[64,64]{1,0:T(8,128)(2,1)}");
    assert_eq!((in_space::<0>(), in_space::<5>()), ("f32[8,128]{1,0:T(8,128)}", "f32[8,128]{1,0:T(8,128)S(5)}"));
    let mine = Buffer::<Shard<Whole, Copies>>::zeroed();
    let _: View<'_, shard!(bf16[64,256]{1,0:T(8,128)(2,1)}, {devices=[4,1,2]<=[8] last_tile_dim_replicate})> =
        mine.view().retype();
}
