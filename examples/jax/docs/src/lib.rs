//! The kernels of `crates/ffi/README.md` and `docs/jax.md`, which the Python code on these pages calls.
#![allow(missing_docs, reason = "these pages describe them")]

include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
