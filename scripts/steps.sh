#!/usr/bin/env bash
# Counts the steps that each target of fuzz/ takes, and fails where one takes more than it may (TARGETS in tests/src/fuzz). Needs the
# nightly compiler of fuzz/rust-toolchain.toml.
set -euo pipefail
cd "$(dirname "$0")/../fuzz"
host=$(rustc -vV | sed -n 's/^host: //p')
export CARGO_PROFILE_RELEASE_DEBUG=0
export RUSTFLAGS="--cfg count_steps -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=3 -Cllvm-args=-sanitizer-coverage-trace-pc"
# With a target, so that what runs while building does not count.
cargo run --release --bin steps --target "$host" --target-dir target/steps
