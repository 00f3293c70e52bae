//! Shards of other sizes, of uneven parts, of elements with other bits, and sums that are not reduced.

use xla_shape::types::Shard;
use xla_shape::{Buffer, View, shape, sharding};

type X = shape!(f32[64,256]);
type Packed = shape!(s4[64,256]{1,0:E(4)});
type Rows = sharding!({devices=[4,1]<=[4]});
type Columns = sharding!({devices=[1,4]<=[4]});

fn none<S>(_: i64) -> Option<View<'static, S>>
where
    S: xla_shape::types::ArrayType,
{
    None
}

fn main() {
    let mut rows = Buffer::<Shard<X, Rows>>::zeroed();
    let _ = rows.reshard_from::<X, Rows, Columns>(0, none);
    let _ = rows.reshard_from::<X, sharding!({devices=[3,1]<=[3]}), Rows>(0, none);
    let _ = rows.reshard_from::<X, sharding!({unreduced}), Rows>(0, none);
    let mut whole = Buffer::<X>::zeroed();
    let _ = whole.reshard_from::<X, Rows, sharding!({devices=[1,1,4]<=[4] last_tile_dims={unreduced}})>(0, none);
    let mut bytes = Buffer::<shape!(s4[16,256])>::zeroed();
    let _ = bytes.reshard_from::<Packed, Columns, Rows>(0, none);
}
