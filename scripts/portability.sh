#!/usr/bin/env bash
# Compiles the packages as their users may: scripts/portability.sh [features|systems|oldest…] (all by default; ten minutes on two cores).
#
# features: each feature of a library alone. systems: for Linux on aarch64, for Windows, and for a browser. oldest: with the oldest toolchain
# that Cargo.toml promises. scripts/targets.sh runs tests on other machines.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0

# The packages that can be published, without the program, which the oldest toolchain need not compile.
libraries=()
while read -r name; do libraries+=(-p "$name"); done < <(cargo metadata --locked --format-version 1 --no-deps | python3 -c '
import json, sys
for package in json.load(sys.stdin)["packages"]:
    if package["publish"] != [] and package["name"] != "xla-shape-cli":
        print(package["name"])')

features() {
    # Build it without optimisations, because building it takes longer than running it.
    command -v cargo-hack >/dev/null || cargo install --locked --debug cargo-hack
    cargo hack clippy -p xla-shape -p xla-shape-core -p xla-shape-parity -p xla-shape-relayout -p xla-shape-hlo -p xla-shape-files -p xla-shape-ffi --lib --each-feature -- -D warnings
    # If a program needs features that are off, the compiler's messages name them.
    { cargo check --locked --manifest-path ui-tests/without_features/Cargo.toml --target-dir target/without-features 2>&1 || true; } |
        grep -E '^error\[|= note: (in Cargo.toml|for )' | diff ui-tests/without_features/expected.txt -
}

systems() {
    for target in aarch64-unknown-linux-gnu x86_64-pc-windows-gnu; do
        rustup target add "$target" >/dev/null 2>&1
        RUSTFLAGS="-D warnings" cargo check --target "$target" --target-dir target/others --all-features "${libraries[@]}" -p xla-shape-cli
    done
    rustup target add wasm32-unknown-unknown >/dev/null 2>&1
    local browser=()
    for name in core parity notations hlo mlir mosaic program answers render web; do browser+=(-p "xla-shape-$name"); done
    cargo check --target wasm32-unknown-unknown --target-dir target/others "${browser[@]}"
}

oldest() {
    local toolchain
    toolchain=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    rustup toolchain install "$toolchain" --profile minimal >/dev/null 2>&1
    cargo "+$toolchain" check --target-dir target/oldest --all-features "${libraries[@]}"
}

[ $# -gt 0 ] || set -- features systems oldest
for what; do
    printf '\n== %s\n' "$what"
    "$what"
done
