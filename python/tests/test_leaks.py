"""Calls that are repeated, also by several threads, give equal answers and keep no memory."""

import gc
import sys
import tempfile
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp

import xla_shape
from xla_shape import shard
from xla_shape.jax import assert_fits, assert_memory, assert_no_copies, assert_padding, memory, module

COMPILED = jax.jit(lambda x: jnp.tanh(x @ x.T)).lower(jnp.ones((8, 16))).compile()


class Lowered:
    """Stands for what `lower` returns, but is compiled already: JAX itself keeps objects of each compilation with options."""

    def as_text(self):
        return ""

    def compile(self, compiler_options):
        return COMPILED


MODULE = module(COMPILED)
MESH = jax.make_mesh((len(jax.devices()),), ("data",))
ARRAY = np.arange(60, dtype=np.float32).reshape(6, 10)
LOG = "Ran out of memory in memory space hbm. Used 49.34G of 32.00G hbm. f32[100000,3]{1,0:T(8,128)}"
FOLDER = tempfile.TemporaryDirectory()
TILED = xla_shape.relayout(np.ones((20, 300), np.float32), "{1,0:T(8,128)}")
OUT = np.zeros(TILED.nbytes, np.uint8)


def loaded():
    # Do not convert it to NumPy: JAX itself keeps objects when a sharded array is converted. test_shard compares the elements.
    array = shard.load(f"{FOLDER.name}/out", MESH)["w"]
    return array.shape, str(array.sharding)


def divided():
    xla_shape.write(f"{FOLDER.name}/model.safetensors", xla_shape.relayout(np.ones((64, 256), np.float32)), "w")
    plan = {"w": {"sharding": jax.sharding.NamedSharding(MESH, jax.sharding.PartitionSpec("data", None)), "generation": "v5e"}}
    shard.run(f"{FOLDER.name}/model.safetensors", plan, f"{FOLDER.name}/out", range(MESH.size))


divided()
CALLS = {
    "load": loaded,
    "memory of what is not compiled": lambda: memory(Lowered(), 16 << 30).json,
    "for NumPy": lambda: np.asarray(TILED).tobytes(),
    "into": lambda: xla_shape.relayout(TILED, TILED.shape, out=OUT).tobytes(),
    "scan": lambda: xla_shape.scan(LOG).json,
    "memory of an error": lambda: memory(ValueError(LOG)).json,
    "memory": lambda: memory(COMPILED, 16 << 30).json,
    "guards": lambda: (assert_fits(COMPILED, 16 << 30), assert_memory(COMPILED, at_most=1 << 20), assert_padding(COMPILED, at_most=0.5)),
    "copies": lambda: assert_no_copies(COMPILED),
    "exceeded": lambda: MODULE.exceeded(MODULE, ["memory>2%"]),
    "instructions": lambda: [(i.name, i.users, i.source) for i in MODULE.instructions],
    "permute": lambda: xla_shape.relayout(ARRAY, "{0,1}", permute=(1, 0)).tobytes(),
    "array": lambda: (lambda b: (b.T.tobytes(), len(b), b.dtype, b[0].tobytes()))(xla_shape.relayout(ARRAY, "{1,0:T(8,128)}")),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    call = CALLS[name]
    expected = call()
    with ThreadPoolExecutor(4) as pool:
        assert all(found == expected for found in pool.map(lambda _: call(), range(40)))

    def blocks():
        gc.collect()
        before = sys.getallocatedblocks()
        for _ in range(100):
            call()
        gc.collect()
        return sys.getallocatedblocks() - before

    # Each attempt makes 100 calls, so a leak keeps at least 100 objects every time. Caches, such as JAX's cache of arrays, grow less with each
    # attempt.
    found = []
    while not found or (found[-1] >= 50 and len(found) < 10):
        found.append(blocks())
    assert found[-1] < 50, found


class Exporter:
    """An object that exports bytes, and has an attribute."""

    def __init__(self):
        self.bytes = bytes(1 << 10)

    def __buffer__(self, flags):
        return memoryview(self.bytes)


class OwnArray(np.ndarray):
    """An array with attributes."""


@pytest.mark.parametrize("make", [Exporter, lambda: np.zeros(1 << 10, np.uint8).view(OwnArray)])
def test_cycles_are_collected(make):
    """An exporter that refers to its buffer, or to a view of its bytes."""
    if sys.version_info < (3, 12) and make is Exporter:
        pytest.skip("classes in Python export no buffers")
    kept = []
    for use in (lambda buffer: buffer, lambda buffer: buffer.T, lambda buffer: buffer.data, lambda buffer: [memoryview(buffer), buffer]):
        # The collector clears objects in the order in which it found them. After a collection that they survive, that is the order of their
        # references.
        for survives in (False, True):
            exporter = make()
            exporter.own = own = use(xla_shape.Buffer("u8[32,32]", exporter))
            kept.append(weakref.ref(exporter))
            del exporter
            if survives:
                gc.collect()
            del own
    gc.collect()
    assert [reference() for reference in kept] == [None] * len(kept)
    # An exporter that is still in use is not freed.
    exporter = make()
    exporter.own = buffer = xla_shape.Buffer("u8[32,32]", exporter)
    del exporter
    gc.collect()
    assert buffer.tobytes() == bytes(1 << 10)
