"""Explains a program that does not fit, and an error message from a log."""

import jax
import jax.numpy as jnp

import xla_shape
from xla_shape.jax import memory

LOG = "RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 49.34G of 32.00G hbm. f32[100000,3]{1,0:T(8,128)}"

x = jax.ShapeDtypeStruct((1024, 1024), jnp.float32)
answer = memory(jax.jit(lambda x: jnp.tanh(x @ x.T) + x).lower(x), 6 << 20)
assert not answer  # it does not fit into 6 MiB
for value in answer["largest"][:3]:
    print(f"{value['bytes']:>9} bytes", value["shape"], value["op_name"])

found = xla_shape.scan(LOG)
print(found)
assert found["amounts"][0]["limit"] == 32 << 30
