//! Constant slices without a copy: of rows, of one tile, of any elements that are contiguous; for writing; in generic code.

use xla_shape::types::{Array, Size};
use xla_shape::{Buffer, View, element, index, layout, shape};

type Tiled<const M: usize, const N: usize> = Array<element::F32, (Size<M>, Size<N>), layout!({1,0:T(8,128)})>;

fn second_block<const M: usize, const N: usize>(x: View<'_, Tiled<M, N>>) -> f32 {
    let block: View<'_, Tiled<8, N>> = x.slice(index![8, 0]);
    block[[1, 2]]
}

#[test]
fn passes() {
    let mut x = Buffer::<Tiled<64, 200>>::from_fn(|[i, j]| (1000 * i + j) as f32);
    assert_eq!(second_block(x.view()), 9_002.0);
    x.slice_mut::<Tiled<8, 128>, _>(index![56, 0]).set([7, 127], -1.0).unwrap();
    assert_eq!(x[[63, 127]], -1.0);
    let edge: View<'_, Tiled<8, 72>> = x.slice(index![56, 128]);
    assert_eq!(edge[[0, 71]], 56_199.0);
    let y = Buffer::<shape!(s32[4,3,5]{1,0,2})>::from_fn(|[i, j, k]| (100 * i + 10 * j + k) as i32);
    let plane: View<'_, shape!(s32[4,3,2]{1,0,2})> = y.slice(index![0, 0, 3]);
    assert_eq!(plane[[3, 2, 1]], 324);
    let run: View<'_, shape!(s32[1,2,1]{1,0,2})> = y.slice(index![2, 1, 4]);
    assert_eq!(run[[0, 1, 0]], 224);
}
