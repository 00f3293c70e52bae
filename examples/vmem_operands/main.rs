//! A kernel that demands its operands in VMEM, the fast memory on a TPU's chip.
//!
//! The memory space is a part of a shape, `S(1)`, and of its type. The kernel is written for any sizes and tiles, but an operand
//! that lies elsewhere does not compile: `multiply(x.view(), …)` with `x` in HBM says
//!
//! ```text
//! error[E0308]: mismatched types
//!   expected struct `Buffer<Array<_, _, Layout<_, _, Space<1>>>, &_>`
//!      found struct `Buffer<Array<_, _, Layout<_, _, Space<0>>>, &_>`
//! ```
//!
//! ```text
//! cargo run --release --example vmem_operands
//! ```

#![forbid(unsafe_code)]

use std::error::Error;
use xla_shape::element::F32;
use xla_shape::relayout::StaticPlan;
use xla_shape::types::{Array, ArrayType, Layout, LayoutType, Space, StaticDimensions};
use xla_shape::{Buffer, View, ViewMut, index, shape};
use xla_shape_examples::{Numbers, check};

/// An array of f32 in VMEM: of any dimensions, order and tiles.
type Vmem<D, O, T> = Array<F32, D, Layout<O, T, Space<1>>>;

/// `y = x · y`, element by element, all on the chip.
fn multiply<D, O, T>(x: View<'_, Vmem<D, O, T>>, mut y: ViewMut<'_, Vmem<D, O, T>>)
where
    D: StaticDimensions,
    Layout<O, T, Space<1>>: LayoutType,
    Vmem<D, O, T>: ArrayType<Element = F32, Dimensions = D>,
{
    y.apply_with(&x, |y, x| x * y);
}

/// Where the arrays lie.
type Hbm = shape!(f32[64,256]{1,0:T(8,128)});
/// What fits on the chip at a time: a row of tiles.
type Rows = shape!(f32[8,256]{1,0:T(8,128)});
type RowsInVmem = shape!(f32[8,256]{1,0:T(8,128)S(1)});

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = Numbers::new(7);
    let x = Buffer::<Hbm>::from_fn(|_| numbers.number());
    let mut y = Buffer::<Hbm>::from_fn(|_| numbers.number());
    let expected = x.to_row_major().into_iter().zip(y.to_row_major()).map(|(x, y)| x * y).collect::<Vec<_>>();

    let (mut x_in_vmem, mut y_in_vmem) = (Buffer::<RowsInVmem>::zeroed(), Buffer::<RowsInVmem>::zeroed());
    // Slices are constant: one that is no array of its own in this memory does not compile.
    macro_rules! rows {
        ($($row:literal)*) => { $(
            StaticPlan::<Rows, RowsInVmem>::new().run(&x.slice::<Rows, _>(index![$row, 0]), &mut x_in_vmem);
            StaticPlan::<Rows, RowsInVmem>::new().run(&y.slice::<Rows, _>(index![$row, 0]), &mut y_in_vmem);
            multiply(x_in_vmem.view(), y_in_vmem.view_mut());
            StaticPlan::<RowsInVmem, Rows>::new().run(&y_in_vmem, &mut y.slice_mut::<Rows, _>(index![$row, 0]));
        )* };
    }
    rows! { 0 8 16 24 32 40 48 56 }
    println!("{} bytes in HBM, {} at a time in VMEM", 2 * Hbm::BYTES, 2 * RowsInVmem::BYTES);
    check(Hbm::TEXT, &y.to_row_major(), &expected, 0.0)
}
