//! The additional time of a call through the C interface, compared with the same call in Rust: for the position of an element, and for the element at
//! a position.
//!
//! Prints the nanoseconds of a call in each language, the difference, and the ratio. The two take turns for several rounds, and the shortest time
//! of each counts.

use std::hint::black_box;
use std::ptr::null_mut;
use std::time::Instant;
use xla_shape_c::{
    XlaShape, XlaShapeSlot, xla_shape_free, xla_shape_linear_index, xla_shape_multi_index, xla_shape_parse,
};
use xla_shape_core::{ArrayShape, Placement};

const ROUNDS: usize = 200;
const CALLS: usize = 20_000;

fn main() {
    println!("{:<42} {:<14} {:>9} {:>9} {:>11} {:>6}", "array", "call", "Rust, ns", "C, ns", "more, ns", "ratio");
    for text in [
        "f32[1000]",
        "f32[100,200]{1,0}",
        "f32[100,200]{1,0:T(8,128)}",
        "bf16[100,200]{1,0:T(8,128)(2,1)}",
        "bf16[16,4,100,200]{3,2,1,0:T(8,128)(2,1)}",
        "u8[16,100,200]{2,1,0:T(*,128)}",
    ] {
        measure(text);
    }
}

fn measure(text: &str) {
    let array: ArrayShape = text.parse().expect("a shape");
    let placement = array.placement().expect("all sizes are known");
    let mut shape = null_mut();
    // SAFETY: the text has these bytes, and the place is a local variable.
    let error = unsafe { xla_shape_parse(text.as_ptr().cast(), text.len(), &raw mut shape) };
    assert!(error.is_null());

    // Random indices, so that the processor cannot predict anything from one call to the next.
    let sizes = placement.table().extents().to_vec();
    let mut random = fastrand::Rng::with_seed(7);
    let indices: Vec<Vec<u64>> = (0..1024).map(|_| sizes.iter().map(|&size| random.u64(0..size)).collect()).collect();
    let signed: Vec<Vec<i64>> =
        indices.iter().map(|index| index.iter().map(|&entry| entry.cast_signed()).collect()).collect();
    let positions: Vec<u64> = indices.iter().map(|index| placement.table().linear_index(index)).collect();

    let forward = compare(
        || indices.iter().cycle().take(CALLS).map(|index| rust_index(&placement, index)).fold(0, u64::wrapping_add),
        || signed.iter().cycle().take(CALLS).map(|index| c_index(shape, index)).fold(0, u64::wrapping_add),
    );
    let mut index = vec![0; sizes.len()];
    let mut c_entries = vec![0; sizes.len()];
    let back = compare(
        || positions.iter().cycle().take(CALLS).map(|&position| rust_element(&placement, position, &mut index)).sum(),
        || positions.iter().cycle().take(CALLS).map(|&position| c_element(shape, position, &mut c_entries)).sum(),
    );
    for (call, (rust, c)) in [("linear_index", forward), ("multi_index", back)] {
        println!("{text:<42} {call:<14} {rust:>9.1} {c:>9.1} {:>11.1} {:>6.2}", c - rust, c / rust);
    }
    // SAFETY: nothing uses the shape any more.
    unsafe { xla_shape_free(shape) };
}

/// Nanoseconds for each call of both; their results must be equal.
fn compare(mut rust: impl FnMut() -> u64, mut c: impl FnMut() -> u64) -> (f64, f64) {
    let mut least = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        let (time, result) = timed(&mut rust);
        let (c_time, c_result) = timed(&mut c);
        assert_eq!(result, c_result);
        least = (least.0.min(time), least.1.min(c_time));
    }
    least
}

fn timed(calls: &mut impl FnMut() -> u64) -> (f64, u64) {
    let start = Instant::now();
    let result = black_box(calls());
    (start.elapsed().as_nanos() as f64 / CALLS as f64, result)
}

/// What the C function computes, called from Rust. It checks the index, too.
#[inline(never)]
fn rust_index(placement: &Placement, index: &[u64]) -> u64 {
    placement.table().checked_linear_index(black_box(index)).expect("the index is in bounds")
}

#[inline(never)]
fn c_index(shape: *const XlaShape, index: &[i64]) -> u64 {
    let mut position = 0;
    // SAFETY: the shape is alive, the index has these entries, and the place is a local variable.
    let error = unsafe { xla_shape_linear_index(shape, black_box(index).as_ptr(), index.len(), &raw mut position) };
    assert!(error.is_null());
    position.cast_unsigned()
}

#[inline(never)]
fn rust_element(placement: &Placement, position: u64, index: &mut [u64]) -> u64 {
    let slot = placement.slot_into(black_box(position), index);
    assert!(slot.element().is_some());
    index.last().copied().unwrap_or_default()
}

#[inline(never)]
fn c_element(shape: *const XlaShape, position: u64, index: &mut [i64]) -> u64 {
    let mut slot = XlaShapeSlot::Padding;
    let (position, count) = (black_box(position).cast_signed(), index.len());
    // SAFETY: the shape is alive, the index has these entries, and the place is a local variable.
    let error = unsafe { xla_shape_multi_index(shape, position, index.as_mut_ptr(), count, &raw mut slot) };
    assert!(error.is_null() && slot == XlaShapeSlot::Element);
    index.last().copied().unwrap_or_default().cast_unsigned()
}
