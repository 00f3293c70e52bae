//! The `xla-shape` program.

#![forbid(unsafe_code)]

fn main() {}
