"""Calls a kernel that is written in Rust: kernel.py LIBRARY, such as that of examples/jax."""

import sys

import jax
import jax.numpy as jnp

import xla_shape.ffi

kernels = xla_shape.ffi.load(sys.argv[1])
x, gain = jax.random.normal(jax.random.key(0), (128, 256)), jnp.full(256, 2.0)
found = jax.jit(lambda x: kernels.layer_norm(x, gain, eps=1e-5))(x)
expected = 2 * (x - x.mean(1, keepdims=True)) / jnp.sqrt(x.var(1, keepdims=True) + 1e-5)
assert jnp.allclose(found, expected, rtol=1e-4, atol=1e-5)
try:
    kernels.layer_norm(x[0], gain, eps=1e-5)
except TypeError as error:
    print(error)
