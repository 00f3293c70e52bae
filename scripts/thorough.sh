#!/usr/bin/env bash
# What the gate leaves out because it takes too long. Run it before a release, and after a change of what it tests. Stops at the first failure.
# Takes about an hour on two cores; CHROMIUM names the browser.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\n== %s (%d:%02d)\n' "$*" $((SECONDS / 60)) $((SECONDS % 60)); }
export CARGO_INCREMENTAL=0 CHROMIUM=${CHROMIUM:-$(command -v chromium)}

say "the program's pages in a browser: each width with each scheme"
cargo build --workspace --bin xla-shape
export XLA_SHAPE=$PWD/target/debug/xla-shape
(cd crates/cli/tests/browser && npm ci --no-audit --no-fund && VIEWS=all npm test)

say "lints of the benchmarks"
cargo clippy --locked --manifest-path benches/Cargo.toml --target-dir target --all-targets -- -D warnings

say "the explorer: all of its tests"
scripts/web.sh test

say "kernels that JAX calls, with its oldest version, a middle one and the newest, and the template of a wheel"
scripts/jax.sh

say "XLA's own compiler, asked by us, by JAX and by a build script"
scripts/pjrt.sh --for v5e:2x2

say "the Python package, with the oldest JAX, a middle one and the newest"
scripts/wheel.sh

say "the C examples: valgrind and CMake, too"
scripts/c.sh

say "the book"
scripts/book.sh

say "dependencies: none unused; licences, sources, duplicates"
# Building them takes longer than running them, so without optimisations.
tool() { command -v "$1" >/dev/null || cargo install --locked --debug "$1"; }
tool cargo-machete
cargo machete
tool cargo-deny
# Without advisories: their database is no registry's, and is not to be had from everywhere.
cargo deny check bans licenses sources

say "other systems, the oldest toolchain, each feature alone"
scripts/portability.sh
