//! The kernels of `crates/ffi/README.md` and `docs/jax.md`, which the Python code on these pages calls.
#![allow(missing_docs, reason = "these pages describe them")]
#![allow(unused_imports, reason = "a page has a list of its kernels, which the build script replaces by one list")]

include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
