//! Arrays in memory: types, buffers, blocks, iteration, copies.

mod blocks;
mod buffers;
mod dynamic_types;
mod empty;
mod iteration;
mod ndarray;
mod raw_parts;
mod relayout;
mod static_and_runtime;
