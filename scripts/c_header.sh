#!/usr/bin/env bash
# Makes crates/c/include/xla_shape.h with cbindgen, which it installs: scripts/c_header.sh [--check]. With --check, it compares instead.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v cbindgen >/dev/null || CARGO_PROFILE_DEV_DEBUG=0 cargo install --locked --debug cbindgen
made=$(mktemp)
trap 'rm -f "$made"' EXIT
# Files of the crate alone: cbindgen then needs no metadata of cargo, and does not read other crates.
(cd crates/c && cbindgen --quiet --config cbindgen.toml --output "$made" src/lib.rs)
header=crates/c/include/xla_shape.h
if [ "${1:-}" = --check ]; then
    diff -u "$header" "$made" || {
        echo "$header is not what cbindgen makes: run scripts/c_header.sh" >&2
        exit 1
    }
else
    cp "$made" "$header"
fi
