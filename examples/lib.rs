//! The examples of `xla-shape`; run one with `cargo run --release --example NAME`.

/// The code of the book's chapter is compiled, with the paths of this package.
#[doc = include_str!("../docs/checked-kernel.md")]
#[cfg(doctest)]
struct CheckedKernel;
