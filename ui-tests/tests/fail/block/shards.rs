//! Shards that end inside tiles.

use xla_shape::{Buffer, shape, sharding};

fn main() {
    let x = Buffer::<shape!(f32[16,256]{1,0:T(8,128)})>::zeroed();
    let _ = x.shard::<sharding!({devices=[4,1]<=[4]})>(1);
}
