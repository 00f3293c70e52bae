#!/usr/bin/env bash
# The explorer: `scripts/web.sh build DIRECTORY` makes the site, for any server of files. `scripts/web.sh test` runs all tests;
# `scripts/web.sh quick` those of the gate, a few of them in the browser; `scripts/web.sh measure` measures the page. CHROMIUM names the browser,
# XLA_SHAPE the program, which is built without it.
set -euo pipefail
cd "$(dirname "$0")/.."

build() { # DIRECTORY
    rustup target add wasm32-unknown-unknown >/dev/null 2>&1
    cargo build --locked -p xla-shape-web --profile web --target wasm32-unknown-unknown
    mkdir -p "$1"
    (cd web && npm ci --no-audit --no-fund)
    node web/build.mjs target/wasm32-unknown-unknown/web/xla_shape_web.wasm "$1"
}

tests() { # OPTION… of Node
    [ -n "${XLA_SHAPE:-}" ] || cargo build --locked --workspace --bin xla-shape
    (cd web && SITE="$PWD/../target/site" XLA_SHAPE="${XLA_SHAPE:-$PWD/../target/debug/xla-shape}" node --test "$@" tests/)
}

case "${1:-}" in
build)
    build "${2:?expected a directory}"
    ;;
quick)
    build target/site
    names=(Node 'example: A program' 'example: A kernel' 'ten seconds' 'wrong input' 'nothing leaves' '420 pixels, light' offline)
    # Not `tee /dev/stderr`, which would empty a file that stderr is redirected to.
    output=$(tests --test-reporter=tap --test-name-pattern="$(IFS='|' && echo "${names[*]}")" | tee >(cat >&2))
    for name in "${names[@]}"; do
        grep "^ *ok .*$name" <<<"$output" | grep -qv '# SKIP' || { echo "no test with \"$name\" in its name ran" >&2; exit 1; }
    done
    ;;
test)
    build target/site
    tests
    ;;
measure)
    build target/site
    (cd web && SITE="$PWD/../target/site" node measure.mjs first 25 200)
    ;;
*)
    sed -n '2,4s/^# //p' "$0" >&2
    exit 2
    ;;
esac
