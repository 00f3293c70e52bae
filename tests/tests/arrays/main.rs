//! Tests of arrays in memory: types, buffers, blocks, iteration, copies. These use the `unsafe` code of the library, so sanitizers and Miri run this
//! program and no other.

mod blocks;
mod buffers;
mod dynamic_types;
mod empty;
mod empty_and_large;
mod iteration;
mod ndarray;
mod numbers;
mod product;
mod raw_parts;
mod relayout;
mod reshard;
mod rows;
mod runs;
mod sections;
mod static_and_runtime;
mod windows;
