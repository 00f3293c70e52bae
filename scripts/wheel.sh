#!/usr/bin/env bash
# The Python package in a clean environment: built, installed, its types checked, and its tests run against what is installed, with
# the oldest JAX that it promises, a middle one and the newest. One argument is the interpreter to use.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${1:-python3}
environment=target/wheel
rm -rf "$environment"
"$python" -m venv "$environment"
pip() { "$environment/bin/python" -m pip --quiet --disable-pip-version-check "$@"; }
tests() { "$environment/bin/python" -P -m pytest -p no:cacheprovider -c python/pyproject.toml --rootdir python "$@"; }
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target/python}" CARGO_PROFILE_DEV_DEBUG=0

# The gate's time is mostly compiling: without optimisations. `pip install ./python` alone builds with them.
MATURIN_PEP517_ARGS="--profile dev" pip wheel --no-deps --wheel-dir "$environment/dist" ./python
wheel=$(echo "$environment"/dist/xla_shape-*-cp311-abi3-*.whl)
[ -f "$wheel" ]

# The README with what it installs, and the newest JAX.
pip install "$wheel[jax]" pytest==9.2.0
"$environment/bin/python" -c 'import xla_shape; print(xla_shape.__file__)' | grep -q "$environment"
tests python/tests/test_docs.py -k README.md
tests python/tests/test_jax.py
oldest=$(sed -n 's/^jax = \["jax>=\(.*\)"\]/\1/p' python/pyproject.toml)
pip install "jax==$oldest.0"
tests python/tests/test_jax.py

pip install "$wheel[jax,dtypes,ray]" jax==0.10.2 mypy==2.4.1 safetensors nbclient nbformat nbconvert ipykernel distributed "maturin>=1.9,<2"
(cd python && cargo fmt --check)
# What is installed is complete and right: the stubs beside the native part, and every module by itself.
(cd "$environment" && bin/python -m mypy.stubtest xla_shape._native --mypy-config-file ../../python/pyproject.toml)
"$environment/bin/python" -m mypy --config-file python/pyproject.toml
"$environment/bin/maturin" sdist --manifest-path python/Cargo.toml --out "$environment/dist"
tar tzf "$environment"/dist/xla_shape-*.tar.gz | grep -c '/xla_shape/ffi\.py$' >/dev/null
# Kernels for the loader to load.
cargo build --quiet -p xla-shape-jax-example
XLA_SHAPE_KERNELS="$CARGO_TARGET_DIR/debug" tests python/tests
"$environment/bin/python" -P python/examples/cluster.py --megabytes 64
