"""Compares two versions of a program: what changed, and whether it became worse."""

import jax
import jax.numpy as jnp

from xla_shape.jax import module


def before(x: jax.Array) -> jax.Array:
    return jnp.tanh(x @ x.T).sum(0)


def after(x: jax.Array) -> jax.Array:
    product = jnp.tanh(x @ x.T)
    return (product[:, None] * product[None]).sum((0, 1))


x = jnp.ones((64, 128))
old, new = [module(jax.jit(f).lower(x).compile()) for f in (before, after)]
print(old.difference(new))
print(old.exceeded(new, ["memory>2%", "copies>0"]))
assert old.exceeded(old, ["memory>0%"]) == []
