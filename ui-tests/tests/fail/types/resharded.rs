//! Shards of the wrong element type or number of dimensions, a sharding with the wrong number of dimensions, shards of another sharding, and
//! sizes that are known only at run time.

use xla_shape::types::Shard;
use xla_shape::{Buffer, shape, sharding};

type X = shape!(f32[64,256]);
type Rows = sharding!({devices=[4,1]<=[4]});
type Columns = sharding!({devices=[1,4]<=[4]});

fn main() {
    let rows = Buffer::<Shard<X, Rows>>::zeroed();
    let mut columns = Buffer::<Shard<X, Columns>>::zeroed();
    let _ = Buffer::<shape!(s32[64,64])>::zeroed().reshard_from::<X, Rows, Columns>(0, |_| None);
    let _ = Buffer::<shape!(f32[4096])>::zeroed().reshard_from::<X, Rows, Columns>(0, |_| None);
    let _ = columns.reshard_from::<X, sharding!({devices=[4]<=[4]}), Columns>(0, |_| None);
    let _ = columns.reshard_from::<X, Columns, Rows>(0, |_| Some(rows.view()));
    let _ = columns.reshard_from::<shape!(f32[?,256]), Columns, Columns>(0, |_| None);
}
