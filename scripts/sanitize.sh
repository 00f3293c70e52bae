#!/usr/bin/env bash
# The tests of the code with `unsafe` under AddressSanitizer, ThreadSanitizer and valgrind, and lints on where pointers come
# from: scripts/sanitize.sh [lints|address|thread|valgrind…] (all by default).
#
# The pinned compiler is used; it calls the sanitizers unstable.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(rustc -vV | sed -n 's/^host: //p')
# What is unsafe is in two libraries; these tests reach all of it. Half the random cases: everything is slower here.
tests=(--test buffers --test iteration --test ndarray --test raw_parts --test relayout)
export PROPTEST_CASES=${PROPTEST_CASES:-64}

sanitized() { # NAME FLAGS
    RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=$1 $2" cargo test --target "$target" --target-dir "target/sanitize-$1" \
        -p xla-shape -p xla-shape-ffi --lib --all-features
    RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=$1 $2" cargo test --target "$target" --target-dir "target/sanitize-$1" \
        -p xla-shape-tests "${tests[@]}"
}

address() { sanitized address ""; }

# What the standard library's own locks order is seen only where it is instrumented too, so built anew.
thread() {
    if [ ! -e "$(rustc --print sysroot)/lib/rustlib/src/rust/library/Cargo.lock" ]; then
        echo "left out: needs the component rust-src"
        return
    fi
    CARGO_UNSTABLE_BUILD_STD=std,panic_abort,test sanitized thread ""
}

valgrind_() {
    CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="valgrind --quiet --error-exitcode=1 --leak-check=no" \
        PROPTEST_CASES=8 cargo test -p xla-shape -p xla-shape-ffi --lib --all-features
}

# Ready for Miri: no pointer is made of a number, none loses where it comes from.
lints() {
    RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zcrate-attr=feature(strict_provenance_lints) -Dlossy-provenance-casts -Dfuzzy-provenance-casts" \
        cargo check --target "$target" --target-dir target/provenance -p xla-shape -p xla-shape-ffi --lib --all-features
}

[ $# -gt 0 ] || set -- lints address thread valgrind
for what; do
    printf '\n== %s\n' "$what"
    if [ "$what" = valgrind ]; then valgrind_; else "$what"; fi
done
