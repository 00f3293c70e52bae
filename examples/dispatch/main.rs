//! One operation, three kernels: for one static shape, for any number of rows, and for all other arrays.
//!
//! ```text
//! cargo run --release -p xla-shape-examples --bin dispatch
//! ```
//!
//! Every result is compared with the definition.

#![forbid(unsafe_code)]

mod kernel;

use kernel::{Batch, scale, sizes};
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;
use xla_shape::element::F32;
use xla_shape::{ArrayShape, Buffer, DynBuffer, dispatch, shape};

fn main() -> Result<(), Box<dyn Error>> {
    let factors = DynBuffer::from_fn_with::<F32>("f32[256]".parse()?, |index| index[0] as f32)?;
    for (shape, expected) in [
        ("f32[64,256]{1,0:T(8,128)}", "f32[64,256], static"),
        ("f32[13,256]{1,0:T(8,128)}", "f32[?,256], any number of rows"),
        ("f32[64,256]{0,1}", "fallback"),
    ] {
        let shape: ArrayShape = shape.parse()?;
        let mut x = DynBuffer::from_fn_with::<F32>(shape.clone(), |index| index[0] as f32)?;
        let kernel = scale(&mut x, &factors)?;
        let [rows, _] = sizes(&shape);
        for (row, column) in (0..rows).flat_map(|row| (0..256).map(move |column| (row, column))) {
            if x.get::<F32>(&[row, column])? != (row * column) as f32 {
                return Err(format!("{shape}: element [{row},{column}] is wrong").into());
            }
        }
        if kernel != expected {
            return Err(format!("{shape}: expected the kernel for {expected}, found {kernel}").into());
        }
        println!("{shape:28} {kernel}");
    }
    made_at_run_time()?;
    time_of_a_miss()
}

/// A typed array whose number of rows is known at run time.
fn made_at_run_time() -> Result<(), Box<dyn Error>> {
    let x = Buffer::<Batch>::zeroed_with(Batch::with_sizes([13, 256])?)?;
    if x.as_bytes().len() != 16 * 256 * 4 || x.get([13, 0]).is_ok() {
        return Err("13 rows lie in 16, of which 13 are elements".into());
    }
    Ok(())
}

/// Measures how long it takes to try arms that do not match.
fn time_of_a_miss() -> Result<(), Box<dyn Error>> {
    const TIMES: u32 = 1_000_000;
    let x = DynBuffer::zeroed_with("f32[64,256]{1,0:T(8,128)S(1)}".parse()?)?;
    let start = Instant::now();
    for _ in 0..TIMES {
        let x = black_box(&x);
        black_box(dispatch!(match &x {
            shape!(f32[8,256]{1,0:T(8,128)}) => 0,
            shape!(f32[64,256]{1,0:T(8,128)}) => 1,
            shape!(f32[?,256]{1,0:T(8,128)}) => 2,
            shape!(bf16[64,256]{1,0:T(8,128)(2,1)}) => 3,
            _ => 4,
        }));
    }
    let nanoseconds = start.elapsed().as_nanos() as f64 / f64::from(TIMES);
    println!("four arms that do not run: {nanoseconds:.1} ns");
    Ok(())
}
