//! Texts that are not shardings, shardings that do not determine the devices, and arrays that a sharding cannot divide.

use xla_shape::{shard, sharding};

type TooManyDevices = sharding!({devices=[2,4]<=[9]});
type ByHand = sharding!({manual});
type Tuple = sharding!({{replicated}, {maximal device=1}});
type NoEnd = sharding!({devices=[2,4] replicated});
type UnknownAxis = sharding!("{mesh['data'=2], [{'model'}]}");
type Uneven = shard!(f32[10,256], {devices=[4,1]<=[4]});
type OtherRank = shard!(f32[8], {devices=[4,1]<=[4]});
type NoSharding = shard!(f32[8]);
type NoArray = shard!((f32[8], s32[]), {replicated});

fn main() {}
