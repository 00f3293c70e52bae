"""Divides a checkpoint among devices, and loads it onto them."""

import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec as P

import xla_shape
from xla_shape import shard

temporary = tempfile.TemporaryDirectory()
folder = Path(temporary.name)
weights = np.arange(64 * 256, dtype=np.float32).reshape(64, 256)
xla_shape.write(folder / "model.safetensors", xla_shape.relayout(weights), "w")

mesh = jax.make_mesh((len(jax.devices()),), ("data",))
plan = {"w": {"sharding": jax.sharding.NamedSharding(mesh, P("data", None)), "generation": "v5e"}}
shard.run(folder / "model.safetensors", plan, folder / "shards", range(mesh.size))
array = shard.load(folder / "shards", mesh)["w"]
assert jnp.array_equal(array, weights)
print(array.sharding)
temporary.cleanup()
