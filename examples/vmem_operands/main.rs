//! A kernel that requires its operands in VMEM, the fast memory on a TPU's chip.
//!
//! The memory space is part of the layout, `S(1)`, and so of the type. The kernel is written for any sizes and tiles, but an operand
//! in another memory space does not compile: `multiply(x.view(), …)` with `x` in HBM gives the error below. So the program cuts the arrays into
//! blocks, and copies them to VMEM and back.
//!
//! ```text
//! error[E0308]: mismatched types
//!   expected struct `Buffer<Array<_, _, Layout<_, _, Space<1>>>, …>`
//!      found struct `Buffer<Array<_, _, Layout<_, _, Space<0>>>, …>`
//! ```
//!
//! ```text
//! cargo run --release -p xla-shape-examples --bin vmem_operands
//! ```

#![forbid(unsafe_code)]

use std::error::Error;
use xla_shape::element::F32;
use xla_shape::types::{Array, ArrayType, InSpace, Layout, LayoutType, Space, StaticDimensions};
use xla_shape::{Buffer, View, ViewMut, shape};
use xla_shape_examples::{Numbers, check};

/// An array of f32 in VMEM, with any dimensions, order and tiles.
type Vmem<D, O, T> = Array<F32, D, Layout<O, T, Space<1>>>;

/// `y = x · y`, element by element, with both arrays in VMEM.
fn multiply<D, O, T>(x: View<'_, Vmem<D, O, T>>, mut y: ViewMut<'_, Vmem<D, O, T>>)
where
    D: StaticDimensions,
    Layout<O, T, Space<1>>: LayoutType,
    Vmem<D, O, T>: ArrayType<Element = F32, Dimensions = D>,
{
    y.apply_with(&x, |y, x| x * y);
}

/// An array in HBM. The last blocks have fewer rows.
type Hbm = shape!(f32[60,256]{1,0:T(8,128)});
/// A block in HBM that fits into VMEM.
type Block = shape!(f32[16,128]{1,0:T(8,128)});
/// The same block in VMEM.
type BlockInVmem = InSpace<Block, 1>;

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = Numbers::new(7);
    let x = Buffer::<Hbm>::from_fn(|_| numbers.number());
    let mut y = Buffer::<Hbm>::from_fn(|_| numbers.number());
    let expected = x.iter().zip(y.iter()).map(|(x, y)| x * y).collect::<Vec<_>>();

    let (mut x_in_vmem, mut y_in_vmem) = (Buffer::<BlockInVmem>::zeroed(), Buffer::<BlockInVmem>::zeroed());
    for (x, mut y) in x.blocks::<Block>().zip(y.blocks_mut::<Block>()) {
        x.copy_to_padded(&mut x_in_vmem, 0.0);
        y.copy_to_padded(&mut y_in_vmem, 0.0);
        multiply(x_in_vmem.view(), y_in_vmem.view_mut());
        y_in_vmem.copy_to(&mut y);
    }
    println!("{} bytes in HBM, {} at a time in VMEM", 2 * Hbm::BYTES, 2 * BlockInVmem::BYTES);
    check(Hbm::TEXT, &y.to_row_major(), &expected, 0.0)
}
