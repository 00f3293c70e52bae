//! Shapes in the signatures of functions, methods and closures, with elided lifetimes.

use xla_shape::{Buffer, View, ViewMut, shape};

fn first(x: View<'_, shape!(f32[2,3])>) -> View<'_, shape!(f32[2,3])> {
    x
}

fn add(x: &Buffer<shape!(f32[2,3])>, y: &mut ViewMut<'_, shape!(f32[2,3])>) {
    for [i, j] in <shape!(f32[2,3])>::default().into_indices() {
        y.set([i, j], x[[i, j]] + y[[i, j]]).unwrap();
    }
}

trait IntoIndices {
    fn into_indices(self) -> Vec<[usize; 2]>;
}

impl IntoIndices for shape!(f32[2,3]) {
    fn into_indices(self) -> Vec<[usize; 2]> {
        (0..2).flat_map(|i| (0..3).map(move |j| [i, j])).collect()
    }
}

#[test]
fn passes() {
    let x = Buffer::<shape!(f32[2,3])>::from_fn(|[i, j]| (3 * i + j) as f32);
    let mut y = Buffer::<shape!(f32[2,3])>::zeroed();
    add(&x, &mut y.view_mut());
    let element = |y: View<'_, shape!(f32[2,3])>| first(y)[[1, 2]];
    assert_eq!(element(y.view()), 5.0);
}
