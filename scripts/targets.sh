#!/usr/bin/env bash
# The tests for other machines: scripts/targets.sh [aarch64|wasm32…] (both by default). Installs Debian's
# emulator and linker, and the compiler's targets.
#
# aarch64: the libraries and their tests, under QEMU. wasm32: the core and HLO in Node, where a usize has 32 bits. A panic ends
# the program there, so no tests run after one that fails.
set -euo pipefail
cd "$(dirname "$0")/.."

debian() { # PROGRAM PACKAGE…
    if ! command -v "$1" >/dev/null; then
        local as_root
        as_root=$([ "$(id -u)" = 0 ] || echo sudo)
        $as_root apt-get update -qq && $as_root apt-get install -y -qq "${@:2}"
    fi
}

aarch64() {
    debian aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu libc6-dev-arm64-cross
    debian qemu-aarch64 qemu-user
    rustup target add aarch64-unknown-linux-gnu
    # Random cases are fewer: an emulator takes ten times as long.
    export PROPTEST_CASES="${PROPTEST_CASES:-32}"
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
    arm() { cargo test --target aarch64-unknown-linux-gnu --no-fail-fast "$@"; }
    arm -p xla-shape-core -p xla-shape-hlo -p xla-shape-relayout -p xla-shape -p xla-shape-ffi -p xla-shape-answers -p xla-shape-render --all-features --lib
    # Without those that look at machine code for x86, start programs, or run cargo.
    arm -p xla-shape-tests --lib --test arrays --test shapes --test programs --test allocations
}

wasm32() {
    debian node nodejs
    rustup target add wasm32-wasip1
    CARGO_TARGET_WASM32_WASIP1_RUNNER="node --no-warnings $PWD/scripts/wasi.mjs" \
        cargo test --target wasm32-wasip1 -p xla-shape-core -p xla-shape-hlo --lib --tests -- --test-threads=1
}

[ $# -gt 0 ] || set -- aarch64 wasm32
for what; do
    printf '\n== %s\n' "$what"
    "$what"
done
