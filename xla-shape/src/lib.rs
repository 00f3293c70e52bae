//! XLA shapes and layouts: exact, fast and checked by the compiler.

pub use xla_shape_core::*;
