"""An RMSNorm in blocks of 256 rows. The scale is multiplied in bf16 (narrow) or in f32 (wide); with 64, in f32, 64 rows at a time in a loop.

    python rms_norm.py narrow > narrow.mlir && xla-shape kernel narrow.mlir --for v5e
    python rms_norm.py wide 64 > loop.mlir && xla-shape kernel loop.mlir --for v5e
"""

import sys

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

ROWS, BLOCK, WIDTH = 2048, 256, 1024


def narrow(x_ref, scale_ref, out_ref):
    x = x_ref[...].astype(jnp.float32)
    norm = x * jax.lax.rsqrt(jnp.mean(x * x, axis=1, keepdims=True) + 1e-6)
    out_ref[...] = norm.astype(jnp.bfloat16) * scale_ref[...]


def wide(x_ref, scale_ref, out_ref):
    x = x_ref[...].astype(jnp.float32)
    norm = x * jax.lax.rsqrt(jnp.mean(x * x, axis=1, keepdims=True) + 1e-6)
    out_ref[...] = (norm * scale_ref[...].astype(jnp.float32)).astype(jnp.bfloat16)


def loop(rows):
    def kernel(x_ref, scale_ref, out_ref):
        def step(number, carried):
            part = pl.ds(number * rows, rows)
            x = x_ref[part, :].astype(jnp.float32)
            norm = x * jax.lax.rsqrt(jnp.mean(x * x, axis=1, keepdims=True) + 1e-6)
            out_ref[part, :] = (norm * scale_ref[...].astype(jnp.float32)).astype(jnp.bfloat16)
            return carried

        jax.lax.fori_loop(0, BLOCK // rows, step, None)

    return kernel


def main(version, rows=None):
    kernel = {"narrow": narrow, "wide": wide}[version] if rows is None else loop(int(rows))
    block = pl.BlockSpec((BLOCK, WIDTH), lambda i: (i, 0))
    call = pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct((ROWS, WIDTH), jnp.bfloat16),
        grid=(ROWS // BLOCK,),
        in_specs=[block, pl.BlockSpec((1, WIDTH), lambda i: (0, 0))],
        out_specs=block,
    )
    x = jax.ShapeDtypeStruct((ROWS, WIDTH), jnp.bfloat16)
    scale = jax.ShapeDtypeStruct((1, WIDTH), jnp.bfloat16)
    print(jax.jit(lambda x, scale: call(x, scale)).trace(x, scale).lower(lowering_platforms=("tpu",)).as_text())


if __name__ == "__main__":
    main(*sys.argv[1:])
