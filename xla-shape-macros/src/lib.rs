//! The procedural macros of `xla-shape`, which fronts them.

#![forbid(unsafe_code)]
