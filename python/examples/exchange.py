"""Exchanges an array with a device's memory, NumPy and JAX, without copies where the layout allows it."""

import jax
import jax.numpy as jnp
import numpy as np

import xla_shape
import xla_shape.jax

array = np.arange(20_000, dtype=np.float32).reshape(100, 200)
tiled = xla_shape.relayout(array, "{1,0:T(8,128)}")  # the bytes of a TPU
raw = tiled.tobytes()
back = xla_shape.Buffer("f32[100,200]{1,0:T(8,128)}", raw)
assert np.array_equal(back, array)

columns = back.relayout("{0,1}")
shared = np.asarray(columns)  # no tiles, so this is not a copy
assert shared.strides == (4, 400) and not shared.flags.writeable
assert jnp.array_equal(jax.device_put(columns), array)
assert np.array_equal(back.T[5], array[:, 5])
print(back, columns)
