"""Shapes in signatures, which are checked while JAX traces."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp

import xla_shape
from xla_shape.jax import Arr, checked


@jax.tree_util.register_dataclass
@dataclass
class Params:
    weights: Arr[jax.Array, "f32[d,hidden]"]
    bias: Arr[jax.Array, "f32[hidden]"] | None = None


@checked
def layer(params: Params, x: Arr[jax.Array, "f32[batch,d]"]) -> Arr[jax.Array, "f32[batch,hidden]"]:
    y = x @ params.weights
    return y if params.bias is None else y + params.bias


compiled = jax.jit(layer)
compiled(Params(jnp.ones((8, 16)), jnp.ones(16)), jnp.ones((4, 8)))
try:
    compiled(Params(jnp.ones((8, 16)), jnp.ones(8)), jnp.ones((4, 8)))
except TypeError as error:
    print(error)
else:
    raise SystemExit("a bias of a wrong size was accepted")
print(xla_shape.rust_types(layer))
