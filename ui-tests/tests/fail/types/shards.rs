//! Shardings with the wrong number of dimensions, something that is not a sharding, and a collective over the wrong number of devices.

use xla_shape::types::{AllGathered, Shard};
use xla_shape::{shape, sharding};

fn use_it<T: xla_shape::types::ArrayType>() {}

fn main() {
    use_it::<Shard<shape!(f32[8]), sharding!({devices=[2,2]<=[4]})>>();
    use_it::<Shard<shape!(f32[?,8]), sharding!({devices=[2,2]<=[4]})>>();
    use_it::<Shard<shape!(f32[8,8]), shape!(f32[2])>>();
    // The pieces are of 4 devices, not of 2.
    use_it::<AllGathered<Shard<shape!(f32[8,8]), sharding!({devices=[4,1]<=[4]})>, 0, 2>>();
}
