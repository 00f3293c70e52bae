//! Kernels that JAX calls on CPU.

use xla_shape::{View, ViewMut, shape};
use xla_shape_ffi::{export, kernel, math};

kernel! {
    /// Softmax of each row.
    fn softmax(x: View<'_, shape!(f32[rows,d])>, mut y: ViewMut<'_, shape!(f32[rows,d])>, temperature: f32 = 1.0)
    where batch(rows), multiversion
    {
        let d = x.sizes()[1].max(1);
        for (row, result) in x.as_slice().chunks_exact(d).zip(y.as_mut_slice().chunks_exact_mut(d)) {
            let largest = math::max(row);
            for (result, x) in result.iter_mut().zip(row) {
                *result = math::exp((x - largest) / temperature);
            }
            let factor = 1.0 / math::sum(result);
            result.iter_mut().for_each(|x| *x *= factor);
        }
    }
}

export![softmax];

#[cfg(test)]
mod tests {
    use xla_shape::{Buffer, shape};

    #[test]
    fn rows_add_up_to_one() {
        type Rows = shape!(f32[rows,d]);
        let sizes = Rows::with_sizes([2, 3]).unwrap();
        let (x, mut y) = (Buffer::<Rows>::zeroed_with(sizes).unwrap(), Buffer::<Rows>::zeroed_with(sizes).unwrap());
        super::softmax(x.view(), y.view_mut(), 1.0);
        assert!(y.as_slice().iter().all(|y| (y - 1.0 / 3.0).abs() < 1e-6));
    }
}
