#!/usr/bin/env bash
# Compares what `compile` says of memory for GPUs with JAX's `memory_analysis()`, in an environment under target with JAX and the compiler
# for GPUs; no GPU is needed. Arguments are names of GPUs; by default h100, b200 and a100-80.
set -euo pipefail
cd "$(dirname "$0")/.."

jax=0.12.0.1
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
environment=${GPU_ENVIRONMENT:-$PWD/target/gpu-$jax}
[ -x "$environment/bin/pip" ] || "$found" -m venv "$environment"
if ! "$environment/bin/python" -c 'import jax, jax_plugins.xla_cuda13' 2>/dev/null; then
    if ! "$environment/bin/pip" install --quiet "jax==$jax" "jax-cuda13-pjrt==$jax" "jax-cuda13-plugin==$jax" nvidia-cuda-nvcc; then
        echo "NOT compared: the compiler for GPUs cannot be installed here." >&2
        exit 1
    fi
fi
cargo build -p xla-shape-cli
cargo build -p xla-shape-pjrt --example gpu_config
JAX_SKIP_CUDA_CONSTRAINTS_CHECK=1 JAX_PLATFORMS=cpu TF_CPP_MIN_LOG_LEVEL=3 VIRTUAL_ENV=$environment \
    "$environment/bin/python" scripts/gpu.py "${CARGO_TARGET_DIR:-target}/debug" "$@"
