#!/usr/bin/env bash
# Fuzzes every target: scripts/fuzz.sh [SECONDS [TARGET…]] (20 seconds each by default), regressions first. Installs cargo-fuzz
# if it is missing.
#
# The pinned compiler is used; libFuzzer needs options that it calls unstable.
set -euo pipefail
cd "$(dirname "$0")/../fuzz"
export RUSTC_BOOTSTRAP=1

seconds=${1:-20}
shift || true
command -v cargo-fuzz >/dev/null || cargo install cargo-fuzz --locked
cargo run --quiet --bin seeds
cargo fuzz build
if [ $# -gt 0 ]; then targets=("$@"); else mapfile -t targets < <(cargo fuzz list); fi
for target in "${targets[@]}"; do
    [ "$target" != seeds ] || continue
    printf '\n== %s\n' "$target"
    if compgen -G "regressions/$target/*" >/dev/null; then
        cargo fuzz run "$target" regressions/"$target"/* -- -verbosity=0
    fi
    dictionary=()
    [ ! -e "dict/$target" ] || dictionary=("-dict=dict/$target")
    cargo fuzz run "$target" -- "${dictionary[@]}" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0
done
