"""A Pallas kernel in two versions; writes StableHLO for `xla-shape kernel`.

    python shifted_sum.py first > first.mlir
"""

import sys

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

ROWS, WIDTH, MARGIN = 64, 256, 8


def first(x_ref, y_ref, out_ref):
    x = x_ref[...]
    y = y_ref[3:3 + ROWS, :]
    total = jnp.sum(x, axis=1)
    out_ref[...] = x + y * total[:, None]


def aligned(x_ref, y_ref, out_ref):
    x = x_ref[...]
    y = y_ref[8:8 + ROWS, :]
    total = jnp.sum(x, axis=1)
    out_ref[...] = x + y * total[:, None]


def main(version):
    kernel = {"first": first, "aligned": aligned}[version]
    call = pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((ROWS, WIDTH), jnp.float32), name=version)
    x = jax.ShapeDtypeStruct((ROWS, WIDTH), jnp.float32)
    y = jax.ShapeDtypeStruct((ROWS + MARGIN, WIDTH), jnp.float32)
    print(jax.jit(call).trace(x, y).lower(lowering_platforms=("tpu",)).as_text())


main(sys.argv[1])
