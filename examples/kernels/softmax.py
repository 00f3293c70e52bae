"""A softmax of rows: a kernel with blocks of this many rows, or XLA's own; writes StableHLO for `xla-shape kernel`.

    python softmax.py 8 > eight.mlir && python softmax.py xla > xla.mlir
    xla-shape kernel eight.mlir --against xla.mlir --for v5e
"""

import sys

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def kernel(x_ref, out_ref):
    x = x_ref[...]
    e = jnp.exp(x - jnp.max(x, axis=1, keepdims=True))
    out_ref[...] = e / jnp.sum(e, axis=1, keepdims=True)


def in_blocks(rows):
    def softmax(x):
        block = pl.BlockSpec((rows, x.shape[1]), lambda i: (i, 0))
        grid = (x.shape[0] // rows,)
        return pl.pallas_call(kernel, out_shape=x, grid=grid, in_specs=[block], out_specs=block, name="softmax")(x)

    return softmax


def xla(x):
    return jax.nn.softmax(x, axis=1)


def main(version, height="4096", width="1024"):
    x = jax.ShapeDtypeStruct((int(height), int(width)), jnp.float32)
    function = xla if version == "xla" else in_blocks(int(version))
    print(jax.jit(function).trace(x).lower(lowering_platforms=("tpu",)).as_text())


if __name__ == "__main__":
    main(*sys.argv[1:])
