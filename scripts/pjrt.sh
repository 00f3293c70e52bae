#!/usr/bin/env bash
# Compares xla-shape-pjrt with JAX's ahead-of-time compilation, in an environment under target with JAX and libtpu. Arguments go to
# scripts/pjrt.py. Takes about half a minute for each device, plus the time to make the environment.
set -euo pipefail
cd "$(dirname "$0")/.."

jax=0.12.0 libtpu=0.0.52
for candidate in python3 python3.1{4,3,2} ~/.pyenv/versions/3.1*/bin/python3; do
    if "$candidate" -c "import sys; sys.exit(sys.version_info < (3, 12))" 2>/dev/null; then
        found=$candidate
        break
    fi
done
if [ -z "${found:-}" ]; then
    echo "NOT compared: JAX $jax needs Python 3.12 or newer." >&2
    exit 1
fi
environment=target/jax-$jax
[ -x "$environment/bin/pip" ] || "$found" -m venv "$environment"
if ! "$environment/bin/python" -c 'import jax, libtpu' 2>/dev/null; then
    if ! "$environment/bin/pip" install --quiet "jax==$jax" "libtpu==$libtpu"; then
        echo "NOT compared: libtpu $libtpu cannot be installed here." >&2
        exit 1
    fi
fi
# `--workspace` gives the libraries the features that they have in other builds of this repository, so that cargo compiles fewer again.
cargo build --workspace --bin xla-shape
cargo build --workspace --example default_layouts
output=$(VIRTUAL_ENV=$PWD/$environment cargo test --workspace --test pjrt libtpu -- --nocapture | tee /dev/stderr)
# Without libtpu, or without a test of this name, the tests pass, too.
if grep -q 'NOT asked' <<<"$output" || ! grep -q '^test libtpu::libtpu_answers \.\.\. ' <<<"$output"; then
    echo "libtpu was not asked" >&2
    exit 1
fi
# A kernel that is compiled against the compiler's current layouts, called from JAX.
(
    cd examples/compiled_kernel
    export CARGO_TARGET_DIR=$PWD/../../target/compiled-kernel
    VIRTUAL_ENV=$PWD/../../$environment cargo run
    "../../$environment/bin/python" run.py
)
"$environment/bin/python" scripts/pjrt.py "$@"
