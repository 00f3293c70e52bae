#!/usr/bin/env bash
# Compares what `compile` says of memory for GPUs with JAX's `memory_analysis()`, in an environment under target with JAX and the compiler
# for GPUs; no GPU is needed. Then compiles the remedies of transposes for the first GPU, of which nine in ten must remove theirs. Arguments are names
# of GPUs; by default h100, b200 and a100-80.
set -euo pipefail
cd "$(dirname "$0")/.."

jax=0.12.0.1
environment=${GPU_ENVIRONMENT:-$PWD/target/gpu-$jax}
scripts/jax_environment.sh "$environment" jax,jax_plugins.xla_cuda13 "jax==$jax" "jax-cuda13-pjrt==$jax" "jax-cuda13-plugin==$jax" nvidia-cuda-nvcc
cargo build -p xla-shape-cli
cargo build -p xla-shape-pjrt --example gpu_config
export JAX_SKIP_CUDA_CONSTRAINTS_CHECK=1 JAX_PLATFORMS=cpu TF_CPP_MIN_LOG_LEVEL=3 VIRTUAL_ENV=$environment
# A `ptxas` in the current directory does not run.
planted=$(mktemp -d)
mkdir -p "$planted/cuda_sdk_lib/bin"
printf '#!/bin/sh\ntouch "%s"\n' "$planted/ran" >"$planted/cuda_sdk_lib/bin/ptxas"
chmod +x "$planted/cuda_sdk_lib/bin/ptxas"
program=$(realpath "${CARGO_TARGET_DIR:-target}/debug/xla-shape")
echo 'module @m { func.func public @main(%x: tensor<8xf32>) -> tensor<8xf32> { %y = stablehlo.tanh %x : tensor<8xf32> return %y : tensor<8xf32> } }' >"$planted/p.mlir"
(cd "$planted" && "$program" compile p.mlir --for h100 >/dev/null)
[ ! -e "$planted/ran" ] || { echo "a ptxas of the current directory ran" >&2; exit 1; }
rm -r "$planted"
"$environment/bin/python" scripts/gpu.py "${CARGO_TARGET_DIR:-target}/debug" "$@"
"$environment/bin/python" scripts/gpu_remedies.py "${CARGO_TARGET_DIR:-target}/debug" "${1:-h100}"
