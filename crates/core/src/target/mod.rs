//! Targets: the machines for which programs are compiled, their names and memories, and the rules that hold on them.
//!
//! [`table`] has a row for each; [`generation`] reads the rows of TPUs; [`tpu`] has the rules of TPUs: layouts, blocks of kernels, vectors.

mod generation;
mod name;
mod table;
pub mod tpu;
