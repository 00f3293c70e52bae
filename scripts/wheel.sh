#!/usr/bin/env bash
# Builds and installs the Python package in a clean environment, checks its types, and runs its tests against the installed package, with
# a middle version of JAX; before that, those that depend on JAX with the oldest supported version and the newest. If the first argument is
# `quick`, all tests run with the newest version, and no other; the packages that they need are installed while the wheel is built, so that the README
# is not tested with only the packages that it installs. Another argument is the interpreter to use. BUILT=debug tests the loader with the kernels in target/debug as they are.
set -euo pipefail
cd "$(dirname "$0")/.."

quick=
[ "${1:-}" != quick ] || { quick=yes && shift; }
# Python 3.12, because classes written in Python can export memory (`__buffer__`) only from this version on.
python=${1:-$(scripts/find_python.sh 12 || echo python3)}
environment=target/wheel
rm -rf "$environment"
"$python" -m venv "$environment"
pip() { "$environment/bin/python" -m pip --quiet --disable-pip-version-check "$@"; }
# Two processes share the tests, because a test mostly uses one core.
tests() { "$environment/bin/python" -P -m pytest -n 2 --dist worksteal -p no:cacheprovider -c python/pyproject.toml --rootdir python "$@"; }
# That the tests would test the wheel, and not this folder.
is_installed() { "$environment/bin/python" -c 'import xla_shape; print(xla_shape.__file__)' | grep -q "$environment"; }
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}" CARGO_PROFILE_DEV_DEBUG=0

packages=(pytest==9.2.0 pytest-xdist==3.8.0 twine==7.0.0 mypy==2.4.1 "pyright[nodejs]==1.1.414" safetensors nbclient nbformat nbconvert ipykernel distributed "maturin>=1.9,<2")
if [ -n "$quick" ]; then
    pip install "${packages[@]}" jax &
    installing=$!
    trap 'kill "$installing" 2>/dev/null || true' EXIT
fi

# Build without optimisations, because compiling takes most of the time here. `pip install ./python` optimises.
MATURIN_PEP517_ARGS="--profile dev" pip wheel --no-deps --wheel-dir "$environment/dist" ./python
wheel=$(echo "$environment"/dist/xla_shape-*-cp311-abi3-*.whl)
[ -f "$wheel" ]
# Without optimisations, the native part is larger than that of the wheel to publish.
LARGEST=20000000 "$python" scripts/wheel_check.py "$wheel"
if [ -n "$quick" ]; then
    wait "$installing"
    trap - EXIT
else
    # Test the README with the packages that it installs. They include the newest JAX.
    pip install "$wheel[jax]" "${packages[@]:0:2}"
    is_installed
    tests python/tests/test_docs.py -k README.md
    tests python/tests/test_{jax,checked,guards,examples,leaks}.py
    oldest=$(sed -n 's/^jax = \["jax>=\(.*\)"\]/\1/p' python/pyproject.toml)
    pip install "jax==$oldest.0"
    tests python/tests/test_{jax,checked,guards,examples,leaks}.py
    pip install jax==0.10.2
fi

pip install "$wheel[jax,dtypes,ray]" "${packages[@]}"
is_installed
"$environment/bin/twine" check --strict "$wheel"
# The installed package is complete: the stubs match the native part, and each module can be imported alone.
(cd "$environment" && bin/python -m mypy.stubtest xla_shape._native --mypy-config-file ../../python/pyproject.toml \
    --allowlist ../../python/stubtest.txt --ignore-unused-allowlist)
"$environment/bin/python" -m mypy --config-file python/pyproject.toml
examples=(python/examples/{annotations,checkpoint,compare,exchange,guard,kernel,layouts,out_of_memory}.py)
"$environment/bin/python" -m mypy --config-file python/pyproject.toml "${examples[@]}"
"$environment/bin/pyright" --pythonpath "$environment/bin/python" "${examples[@]}"
"$environment/bin/maturin" sdist --manifest-path python/Cargo.toml --out "$environment/dist"
tar tzf "$environment"/dist/xla_shape-*.tar.gz | grep -c '/xla_shape/ffi\.py$' >/dev/null
tar tzf "$environment"/dist/xla_shape-*.tar.gz | grep -c '/LICENSES-OF-CRATES\.txt$' >/dev/null
# A library of kernels for the tests of the loader.
[ -n "${BUILT:-}" ] || cargo build --quiet -p xla-shape-jax-example
XLA_SHAPE_KERNELS="$CARGO_TARGET_DIR/debug" tests python/tests
"$environment/bin/python" -P python/examples/cluster.py --megabytes 64
