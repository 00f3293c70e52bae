#!/usr/bin/env bash
# Tests the kernels that JAX calls with the oldest JAX that works, a middle one and the newest, each in its own environment
# under target; then the types of the Python module, and the template of a wheel. Arguments go to pytest. JAX_VERSIONS names other versions.
# BUILT=debug tests the libraries in target/debug as they are, and leaves out the template, a workspace of its own that compiles the libraries once more.
set -euo pipefail
cd "$(dirname "$0")/.."

# An environment with a version of JAX and the packages that the tests need.
environment() { # PYTHON VERSION
    [ -x "target/jax-$2/bin/pytest" ] && return
    "$1" -m venv "target/jax-$2"
    "target/jax-$2/bin/pip" install --quiet "jax==$2" absl-py flatbuffers pytest==9.2.0 pytest-xdist==3.8.0 mypy==2.4.1 setuptools setuptools-rust wheel
}

[ -n "${BUILT:-}" ] || cargo build --release -p xla-shape-jax-example -p xla-shape-jax-docs-example -p xla-shape-jax-tiled-example

newest=
for version in ${JAX_VERSIONS:-0.5.3 0.10.2 0.12.0}; do
    found=$(scripts/find_python.sh $([ "$version" = 0.12.0 ] && echo 12 || echo 11)) || found=
    # The oldest version has no packages for newer Pythons.
    [ "$version" = 0.5.3 ] && command -v python3.11 >/dev/null && found=python3.11
    if [ -z "$found" ]; then
        echo "JAX $version was NOT tested: it needs a newer Python than there is here."
        # A version that JAX_VERSIONS names must be tested.
        [ -z "${JAX_VERSIONS:-}" ] || exit 1
        continue
    fi
    environment "$found" "$version"
    echo "-- JAX $version"
    "target/jax-$version/bin/python" -m pytest --quiet -n 2 --dist worksteal -p no:cacheprovider examples/jax "$@"
    newest=$version
done
if [ -z "$newest" ]; then
    echo "NOTHING was tested: JAX needs Python 3.11 or newer, and there is none here."
    exit 1
fi

root=$PWD
jax=$root/target/jax-$newest/bin
library=${CARGO_TARGET_DIR:-target}/${BUILT:-release}/libjax_kernels.so
"$jax/python" examples/jax/run.py
# Says something about times only if the library is optimised.
[ -n "${BUILT:-}" ] || "$jax/python" examples/jax/bench.py --once
# Type checks: the module, the template, and the kernels of the examples, with a program that calls them correctly and incorrectly.
types=target/types
rm -rf "$types" && mkdir -p "$types"
PYTHONPATH=python "$jax/python" -m xla_shape_ffi stubs "$library" > "$types/kernels.pyi"
cat > "$types/calls.py" <<'PYTHON'
import jax
import kernels

x, gain = jax.numpy.ones((6, 4)), jax.numpy.ones(4)
y: jax.Array = kernels.scale_rows(x, gain, factor=2.0, shift=None)
y = kernels.total(gain, gain, gain, last=gain, results=gain)
kernels.options(numbers=[1.0, 2.0], count=3)
kernels.scale_rows(x, gain, factor="2")  # type: ignore[arg-type]
kernels.scale_rows(x, gain, fctor=2.0)  # type: ignore[call-arg]
PYTHON
"$jax/mypy" --strict --no-error-summary python/xla_shape_ffi.py templates/kernels/python/my_kernels/__init__.pyi "$types/kernels.pyi"
(cd "$types" && "$jax/mypy" --strict --no-error-summary calls.py)

if [ -n "${BUILT:-}" ]; then
    echo "JAX $newest: the newest that was tested."
    exit
fi

# The template of a wheel is built with the crates of this repository, installed, and tested.
copy=target/template
rm -rf "$copy" && mkdir -p "$copy/.cargo" && cp -r templates/kernels/. "$copy"
printf '[patch.crates-io]\nxla-shape.path = "%s"\nxla-shape-ffi.path = "%s"\n' "$PWD/xla-shape" "$PWD/crates/ffi" > "$copy/.cargo/config.toml"
(
    cd "$copy"
    CARGO_TARGET_DIR="$root/target" "$jax/pip" wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .
    ls dist/my_kernels-0.1.0-py3-none-*.whl
    # The tag says that any Python 3 can use it, and so must the name of the library.
    "$jax/python" -m zipfile --list dist/*.whl | grep -E "my_kernels/_kernels\.[a-z]+ "
    "$jax/pip" install --quiet --no-deps --force-reinstall dist/*.whl
    # As the README says.
    PYTHONPATH="$root/python" "$jax/python" -m pytest --quiet -p no:cacheprovider tests
)
PYTHONPATH=python "$jax/python" - <<'PYTHON'
import importlib.metadata, pathlib, my_kernels, xla_shape_ffi
metadata = importlib.metadata.metadata("my-kernels")
assert metadata["Requires-Python"] == ">=3.11" and "jax>=0.5.3" in metadata.get_all("Requires-Dist"), metadata
found = pathlib.Path("templates/kernels/python/my_kernels/_kernels.pyi").read_text()
assert found == xla_shape_ffi.stubs(xla_shape_ffi.load(my_kernels.LIBRARY)), "the types of the template are not those of its kernels"
PYTHON
"$jax/pip" uninstall --quiet --yes my-kernels
echo "JAX $newest: the newest that was tested."
