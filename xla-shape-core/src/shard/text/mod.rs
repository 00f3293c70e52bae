//! The texts of shardings.
//!
//! `parse` reads XLA's own, `shardy` those of MLIR, `partition_spec` JAX's; `print` writes XLA's.

mod lexer;
mod parse;
mod print;
