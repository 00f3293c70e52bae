#!/usr/bin/env bash
# The tests of the code with `unsafe` under Miri, which finds undefined behaviour that no machine shows: scripts/miri.sh. Half an
# hour; relayout takes the paths without vectors, the definitions of all others. Installs the compiler.
#
# The compiler is the nightly one that fuzz/rust-toolchain.toml names, or the nightly one that is here.
set -euo pipefail
cd "$(dirname "$0")/.."

RUSTUP_TOOLCHAIN=$(sed -n 's/^channel = "\(.*\)"/\1/p' fuzz/rust-toolchain.toml)
if ! rustup toolchain install "$RUSTUP_TOOLCHAIN" --profile minimal --component miri,rust-src >/dev/null; then
    RUSTUP_TOOLCHAIN=nightly
    echo "rustup cannot install the compiler of fuzz/rust-toolchain.toml: $(rustc +nightly -V), which is here" >&2
fi
export RUSTUP_TOOLCHAIN
# Random cases are read from files, and few: everything takes a hundred times as long.
export MIRIFLAGS=${MIRIFLAGS--Zmiri-disable-isolation} PROPTEST_CASES=${PROPTEST_CASES:-1}

miri() { cargo miri test --target-dir target/miri --no-fail-fast "$@"; }

miri -p xla-shape --lib --all-features -- buffer dlpack elements

# Calls of kernels with a frame made by hand. The mathematics has nothing that is unsafe, and a hundred thousand cases.
miri -p xla-shape-ffi --lib --all-features -- --skip math::

miri -p xla-shape-tests --test arrays -- empty raw_parts views_of_blocks bands_at_once
