#!/usr/bin/env bash
# Fuzzes each target: scripts/fuzz.sh [SECONDS [TARGET…]] (20 seconds each by default), several in parallel. Installs what
# it needs: cargo-fuzz, and the nightly compiler that fuzz/rust-toolchain.toml names.
#
# To reproduce a finding: cd fuzz && cargo fuzz run TARGET artifacts/TARGET/…. After it is fixed, the input goes to
# fuzz/regressions/TARGET, where `cargo test -p xla-shape-tests --test shapes fuzz` runs it.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v cargo-fuzz >/dev/null || cargo install --locked cargo-fuzz

cd fuzz
if ! rustup show active-toolchain >/dev/null 2>&1 && ! rustup toolchain install; then
    export RUSTUP_TOOLCHAIN=nightly
    if ! rustc -V >/dev/null 2>&1; then
        echo "fuzzing needs the nightly compiler of fuzz/rust-toolchain.toml, and rustup cannot install it" >&2
        exit 1
    fi
    echo "rustup cannot install the compiler of fuzz/rust-toolchain.toml: fuzzing with $(rustc -V), which is here" >&2
fi
# All targets are built together, because they share a library.
export CARGO_PROFILE_RELEASE_DEBUG=0
cargo fuzz build --codegen-units 16
programs=target/$(rustc -vV | sed -n 's/^host: //p')/release
"$programs/seeds"

# With a FUZZ_SEED, a target tries the same inputs in every run.
export seconds=${1:-20} seed=${FUZZ_SEED:-0} programs ASAN_OPTIONS=detect_odr_violation=0
shift || true
fuzz() {
    mkdir -p "artifacts/$1" "corpus/$1" "regressions/$1"
    dictionary=()
    [ ! -e "dict/$1" ] || dictionary=("-dict=dict/$1")
    log=artifacts/$1.log
    if "$programs/$1" "corpus/$1" "regressions/$1" "${dictionary[@]}" -artifact_prefix="artifacts/$1/" -max_total_time="$seconds" -seed="$seed" \
        -timeout=20 -rss_limit_mb=3072 -print_final_stats=1 -verbosity=0 >"$log" 2>&1; then
        echo "$1: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") executions, no finding"
    else
        echo "$1: a finding"
        cat "$log"
        return 1
    fi
}
export -f fuzz
if [ $# -gt 0 ]; then targets=("$@"); else mapfile -t targets < <(cargo fuzz list | grep -vx -e seeds -e steps); fi
printf '%s\n' "${targets[@]}" | xargs -P $(($(nproc) + 1)) -I{} bash -c 'set -euo pipefail; fuzz {}'
