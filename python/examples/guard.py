"""A test that fails if a training step takes more memory, wastes more of it, or copies its parameters."""

import jax
import jax.numpy as jnp

from xla_shape.jax import assert_fits, assert_memory, assert_no_copies, assert_padding


def step(params: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    return jnp.tanh(x @ params["w1"]) @ params["w2"]


def test_step() -> None:
    params = {"w1": jnp.ones((256, 512)), "w2": jnp.ones((512, 256))}
    compiled = jax.jit(step).lower(params, jnp.ones((64, 256))).compile()
    assert_fits(compiled, 16 << 30)  # or "v5e", for a program that was compiled for a v5e
    assert_memory(compiled, at_most="2MiB")
    assert_padding(compiled, at_most=0.05)
    assert_no_copies(compiled, of="params")


if __name__ == "__main__":
    test_step()
