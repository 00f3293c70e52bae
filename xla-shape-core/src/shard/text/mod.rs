//! The texts of shardings.
//!
//! `parse` reads XLA's own, `other` those of MLIR and JAX; `print` writes XLA's.

mod lexer;
mod other;
mod parse;
mod print;
