"""An RMSNorm in blocks of 256 rows, twice: with the product of the scale in bf16, and in f32.

    python rms_norm.py narrow > narrow.mlir && xla-shape kernel narrow.mlir --for v5e
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


def main(version):
    kernel = {"narrow": narrow, "wide": wide}[version]
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
