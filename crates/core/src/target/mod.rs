//! Targets: the machines for which programs are compiled, their names and memories, and the rules that hold on them.
//!
//! [`table`] has a row for each generation of TPUs, which [`generation`] reads; [`tpu`] has the rules of TPUs: layouts, blocks of kernels,
//! vectors. [`gpu`] has the rows of GPUs, and what their readers ask of them.

mod generation;
pub mod gpu;
mod name;
mod products;
mod table;
pub mod tpu;
mod unknown;
