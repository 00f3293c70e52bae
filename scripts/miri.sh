#!/usr/bin/env bash
# The tests of the code with `unsafe` under Miri, which detects undefined behaviour: scripts/miri.sh. Takes half an
# hour. Relayout uses its scalar kernels, which define the results of all others. Installs the compiler.
#
# The compiler is the nightly that fuzz/rust-toolchain.toml names, or an installed nightly.
set -euo pipefail
cd "$(dirname "$0")/.."

RUSTUP_TOOLCHAIN=$(sed -n 's/^channel = "\(.*\)"/\1/p' fuzz/rust-toolchain.toml)
if ! rustup toolchain install "$RUSTUP_TOOLCHAIN" --profile minimal --component miri,rust-src >/dev/null; then
    RUSTUP_TOOLCHAIN=nightly
    echo "rustup cannot install the compiler of fuzz/rust-toolchain.toml: $(rustc +nightly -V), which is here" >&2
fi
export RUSTUP_TOOLCHAIN
# Few random cases, read from files, because Miri is about a hundred times slower.
export MIRIFLAGS=${MIRIFLAGS--Zmiri-disable-isolation} PROPTEST_CASES=${PROPTEST_CASES:-1}

miri() { cargo miri test --target-dir target/miri --no-fail-fast "$@"; }

miri -p xla-shape --lib --all-features -- buffer dlpack words
miri -p xla-shape-relayout --lib --all-features -- elements bits memory wide vector

# Calls of kernels with handmade call frames. `math` is left out: it has no unsafe code, and 100,000 cases.
miri -p xla-shape-ffi --lib --all-features -- --skip math::

miri -p xla-shape-tests --test arrays -- empty raw_parts views_of_blocks bands_at_once a_block_can_be lines_ sections::sections_ windows:: rows:: \
    conversions_between tiles_and_packed \
    runs_of_arrays runs_of_three runs_of_blocks runs_of_few runs_of_lines
