#!/usr/bin/env bash
# The explorer: `scripts/web.sh build DIRECTORY` makes the site, for any server of files; `scripts/web.sh test` builds it, too, and runs all
# tests; `scripts/web.sh quick` those without a browser. CHROMIUM names the browser.
set -euo pipefail
cd "$(dirname "$0")/.."

build() { # DIRECTORY
    rustup target add wasm32-unknown-unknown >/dev/null 2>&1
    cargo build --locked -p xla-shape-web --profile web --target wasm32-unknown-unknown
    mkdir -p "$1"
    node web/build.mjs target/wasm32-unknown-unknown/web/xla_shape_web.wasm "$1"
}

case "${1:-}" in
build)
    build "${2:?expected a directory}"
    ;;
quick)
    build target/site
    SITE="$PWD/target/site" node --test web/tests/engine.test.mjs
    ;;
test)
    build target/site
    (cd web && npm ci --no-audit --no-fund && SITE="$PWD/../target/site" npm test)
    ;;
*)
    sed -n '2,3s/^# //p' "$0" >&2
    exit 2
    ;;
esac
