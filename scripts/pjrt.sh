#!/usr/bin/env bash
# Compares xla-shape-pjrt with JAX's ahead-of-time compilation, in an environment under target with JAX and libtpu. Arguments go to
# scripts/pjrt.py. Takes about half a minute for each device, plus the time to make the environment. BUILT=debug leaves out the kernel whose build
# script asks the compiler: it is a workspace of its own, which compiles the libraries once more.
set -euo pipefail
cd "$(dirname "$0")/.."

jax=0.12.0 libtpu=0.0.52
environment=target/jax-$jax
scripts/jax_environment.sh "$environment" jax,libtpu "jax==$jax" "libtpu==$libtpu"
# `--workspace` gives the libraries the features that they have in other builds of this repository, so that cargo compiles fewer again.
[ -n "${XLA_SHAPE:-}" ] || cargo build --workspace --bin xla-shape
cargo build --workspace --example default_layouts
output=$(VIRTUAL_ENV=$PWD/$environment cargo test --workspace --test pjrt libtpu -- --nocapture | tee >(cat >&2))
# Without libtpu, or without a test of this name, the tests pass, too.
if grep -q 'NOT asked' <<<"$output" || ! grep -q '^test libtpu::libtpu_answers \.\.\. ' <<<"$output"; then
    echo "libtpu was not asked" >&2
    exit 1
fi
# A kernel that is compiled against the compiler's current layouts, called from JAX.
[ -n "${BUILT:-}" ] || (
    cd examples/compiled_kernel
    export CARGO_TARGET_DIR=$PWD/../../target/compiled-kernel
    VIRTUAL_ENV=$PWD/../../$environment cargo run
    "../../$environment/bin/python" run.py
)
"$environment/bin/python" scripts/pjrt.py "$@"
