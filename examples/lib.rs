//! The examples of `xla-shape`; run one with `cargo run --release --example NAME`.
