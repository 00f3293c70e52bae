#!/usr/bin/env bash
# The tests of the code with `unsafe` under AddressSanitizer, ThreadSanitizer and valgrind, and lints on the provenance of pointers:
# scripts/sanitize.sh [lints|address|thread|valgrind…] (all by default). Installs the compiler and valgrind.
#
# The compiler is the nightly that fuzz/rust-toolchain.toml names, because sanitizers are unstable features.
set -euo pipefail
cd "$(dirname "$0")/.."

RUSTUP_TOOLCHAIN=$(sed -n 's/^channel = "\(.*\)"/\1/p' fuzz/rust-toolchain.toml)
export RUSTUP_TOOLCHAIN
rustup toolchain install "$RUSTUP_TOOLCHAIN" --profile minimal --component rust-src >/dev/null
target=$(rustc -vV | sed -n 's/^host: //p')
# These libraries have all unsafe code, and these tests reach all of it. Half of the random cases, because sanitizers are slow.
tests=(--no-fail-fast -p xla-shape -p xla-shape-relayout -p xla-shape-ffi -p xla-shape-tests --all-features --lib --test arrays)
export PROPTEST_CASES=${PROPTEST_CASES:-64}

sanitized() { # NAME OPTIONS…
    RUSTFLAGS="-Zsanitizer=$1" cargo test --target "$target" --target-dir "target/sanitize-$1" "${@:2}" "${tests[@]}"
}

# One test leaks: its panic payload panics when it is dropped, so it is never freed.
address() {
    echo "leak:xla_shape_ffi::tests::Bomb" >target/leaks
    LSAN_OPTIONS="suppressions=$PWD/target/leaks" sanitized address
}

# ThreadSanitizer sees the ordering of the standard library's locks only if that is instrumented, so it is built again.
thread() { sanitized thread -Zbuild-std=std,panic_abort,test; }

# valgrind does not support AVX-512 and hides it, so the code paths of AVX2 run.
valgrind_() {
    if ! command -v valgrind >/dev/null; then
        as_root=$([ "$(id -u)" = 0 ] || echo sudo)
        $as_root apt-get update -qq && $as_root apt-get install -y -qq valgrind
    fi
    PROPTEST_CASES=8 cargo test --target "$target" --target-dir target/valgrind "${tests[@]}" \
        --config "target.$target.runner = ['valgrind', '--quiet', '--error-exitcode=1']"
}

# Strict provenance, as Miri requires: no pointers from integers.
lints() {
    RUSTFLAGS="-Zcrate-attr=feature(strict_provenance_lints) -Dlossy-provenance-casts -Dfuzzy-provenance-casts" \
        cargo check --target "$target" --target-dir target/provenance -p xla-shape -p xla-shape-relayout -p xla-shape-ffi --lib --all-features
}

[ $# -gt 0 ] || set -- lints address thread valgrind
for what; do
    printf '\n== %s\n' "$what"
    if [ "$what" = valgrind ]; then valgrind_; else "$what"; fi
done
