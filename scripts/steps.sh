#!/usr/bin/env bash
# Counts the steps of each target of fuzz/, and fails if one exceeds its limit (TARGETS in tests/src/fuzz). Needs the
# nightly compiler of fuzz/rust-toolchain.toml.
set -euo pipefail
cd "$(dirname "$0")/../fuzz"
host=$(rustc -vV | sed -n 's/^host: //p')
export CARGO_PROFILE_RELEASE_DEBUG=0
export RUSTFLAGS="--cfg count_steps -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=3 -Cllvm-args=-sanitizer-coverage-trace-pc"
# With --target, so that build scripts and macros are not instrumented.
cargo run --release --bin steps --target "$host" --target-dir target/steps
