"""Calls the kernels of this folder from JAX: `cargo build`, then `python run.py`, with JAX installed."""

import os
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "python"))

import xla_shape_ffi  # noqa: E402

target = Path(os.environ.get("CARGO_TARGET_DIR", HERE / "target"))
kernels = xla_shape_ffi.load(target / "debug/libcompiled_kernel.so")

x = jnp.arange(20_000, dtype=jnp.float32).reshape(100, 200) / 1000
w = (jnp.arange(60_000).reshape(200, 300) % 7).astype(jnp.bfloat16)
np.testing.assert_allclose(jax.jit(kernels.step_product)(x, w), x @ w.astype(jnp.float32), rtol=1e-4)

memory = np.asarray(jax.jit(kernels.for_step)(x))
# f32[100,200]{0,1:T(8,128)}: the array is transposed, in tiles of 8 by 128.
padded = np.pad(np.asarray(x).T, ((0, 0), (0, 28)))
np.testing.assert_array_equal(memory, padded.reshape(25, 8, 1, 128).transpose(0, 2, 1, 3).ravel())
print("the kernels compute what JAX does; x takes", memory.nbytes, "bytes on the TPU")
