"""Calls that are repeated, also by several threads, give equal answers and keep no memory."""

import gc
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp

import xla_shape
from xla_shape.jax import assert_fits, assert_memory, assert_no_copies, assert_padding, memory, module

COMPILED = jax.jit(lambda x: jnp.tanh(x @ x.T)).lower(jnp.ones((8, 16))).compile()
MODULE = module(COMPILED)
ARRAY = np.arange(60, dtype=np.float32).reshape(6, 10)
LOG = "Ran out of memory in memory space hbm. Used 49.34G of 32.00G hbm. f32[100000,3]{1,0:T(8,128)}"
CALLS = {
    "scan": lambda: xla_shape.scan(LOG).json,
    "memory of an error": lambda: memory(ValueError(LOG)).json,
    "memory": lambda: memory(COMPILED, "v5e").json,
    "guards": lambda: (assert_fits(COMPILED, "v5e"), assert_memory(COMPILED, at_most=1 << 20), assert_padding(COMPILED, at_most=0.5)),
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

    # A call that keeps an object keeps 100 of them in each attempt; caches fill once.
    assert min(blocks() for _ in range(3)) < 50
