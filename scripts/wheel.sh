#!/usr/bin/env bash
# The Python package in a clean environment: built, installed, its types checked, and its tests run against what is installed. One
# argument is the interpreter to use.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${1:-python3}
environment=target/wheel
rm -rf "$environment"
"$python" -m venv "$environment"
pip() { "$environment/bin/python" -m pip --quiet --disable-pip-version-check "$@"; }

# The gate's time is mostly compiling: without optimisations. `pip install ./python` alone builds with them.
CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target/python}" CARGO_PROFILE_DEV_DEBUG=0 MATURIN_PEP517_ARGS="--profile dev" pip install './python[jax,dtypes,ray]'
pip install jax==0.10.2 pytest==9.2.0 mypy==2.4.1 safetensors nbclient nbformat nbconvert ipykernel
"$environment/bin/python" -c 'import xla_shape; print(xla_shape.__file__)' | grep -q "$environment"

(cd python && cargo fmt --check)
# What is installed is complete and right: the stubs beside the native part, and every module by itself.
(cd "$environment" && bin/python -m mypy.stubtest xla_shape._native --mypy-config-file ../../python/pyproject.toml)
"$environment/bin/python" -m mypy --config-file python/pyproject.toml
"$environment/bin/python" -P -m pytest -p no:cacheprovider -c python/pyproject.toml --rootdir python python/tests
"$environment/bin/python" -P python/examples/cluster.py --megabytes 64
