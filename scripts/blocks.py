#!/usr/bin/env python3
"""Asks `xla_shape.pallas.blocks` about kernels with many sizes of blocks, and checks its answers with the compiler: each candidate that it does not compile must be
refused by it, and the order must not depend on the order of the values. No TPU is needed.

Needs: pip install jax==0.12.0.1 libtpu==0.0.52 (Python 3.12 or newer), and the package xla-shape.

usage: scripts/blocks.py [--write] [NAME…]     --write adds the answers to tests/corpus/block_ranking.jsonl"""

import argparse
import functools
import json
import os
import pathlib
import random
import sys

os.environ.update(TPU_SKIP_MDS_QUERY="1", ALLOW_MULTIPLE_LIBTPU_LOAD="1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental import topologies
from jax.experimental.pallas import tpu as pltpu

from xla_shape.pallas import blocks

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "tests/corpus/block_ranking.jsonl"
TOPOLOGIES = {"v5e": "v5e:2x2", "v5p": "v5p:2x2x1", "v6e": "v6e:2x2", "v7x": "tpu7x:2x2x1"}
array = jax.ShapeDtypeStruct
KERNELS = {}


def add(name, device, function, arguments, **over):
    KERNELS[name] = (device, function, arguments, over)


def matmul(x, w, *, bm, bk, bn, out=jnp.bfloat16, sums=jnp.float32, limit=None):
    def kernel(x_ref, w_ref, o_ref, acc_ref):
        @pl.when(pl.program_id(2) == 0)
        def _():
            acc_ref[...] = jnp.zeros_like(acc_ref)

        acc_ref[...] += jnp.dot(x_ref[...], w_ref[...], preferred_element_type=sums)

        @pl.when(pl.program_id(2) == pl.num_programs(2) - 1)
        def _():
            o_ref[...] = acc_ref[...].astype(out)

    (m, k), n = x.shape, w.shape[1]
    return pl.pallas_call(
        kernel, out_shape=array((m, n), out), grid=(m // bm, n // bn, k // bk),
        in_specs=[pl.BlockSpec((bm, bk), lambda i, j, l: (i, l)), pl.BlockSpec((bk, bn), lambda i, j, l: (l, j))],
        out_specs=pl.BlockSpec((bm, bn), lambda i, j, l: (i, j)), scratch_shapes=[pltpu.VMEM((bm, bn), sums)],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary"), vmem_limit_bytes=limit))(x, w)


def softmax(x, *, rows):
    def kernel(x_ref, o_ref):
        o_ref[...] = jax.nn.softmax(x_ref[...].astype(jnp.float32), axis=-1).astype(o_ref.dtype)

    spec = pl.BlockSpec((rows, x.shape[1]), lambda i: (i, 0))
    return pl.pallas_call(kernel, out_shape=array(x.shape, x.dtype), grid=(x.shape[0] // rows,), in_specs=[spec], out_specs=spec)(x)


def flash(q, k, v, *, bq, bk):
    from jax.experimental.pallas.ops.tpu.flash_attention import BlockSizes, flash_attention

    return flash_attention(q, k, v, causal=True, block_sizes=BlockSizes(block_q=bq, block_k_major=bk, block_k=bk, block_b=1))


def of(kind, *sizes):
    return array(sizes, kind)


bf16, s8, f8 = jnp.bfloat16, jnp.int8, jnp.float8_e4m3fn
add("product_bf16", "v6e", matmul, [of(bf16, 4096, 4096)] * 2, bm=[256, 512, 1024], bk=[512, 1024, 2048], bn=[512, 1024, 2048])
add("product_bf16_v5e", "v5e", matmul, [of(bf16, 2048, 4096), of(bf16, 4096, 2048)], bm=[100, 128, 512, 1024], bk=[512, 2048], bn=[256, 1024, 2048])
add("product_s8", "v6e", functools.partial(matmul, out=jnp.int32, sums=jnp.int32), [of(s8, 4096, 4096)] * 2, bm=[512, 1024, 2048], bk=[512, 2048], bn=[512, 1024])
add("product_f8", "v7x", matmul, [of(f8, 2048, 4096), of(f8, 4096, 2048)], bm=[256, 1024], bk=[512, 2048], bn=[512, 1024])
add("narrow", "v6e", matmul, [of(bf16, 16, 8192), of(bf16, 8192, 8192)], bm=[16], bk=[512, 2048, 8192], bn=[256, 1024, 4096])
add("limit", "v6e", functools.partial(matmul, limit=64 << 20), [of(bf16, 4096, 4096)] * 2, bm=[1024, 2048], bk=[1024, 2048], bn=[1024, 2048])
add("softmax", "v5e", softmax, [of(jnp.float32, 16384, 1024)], rows=[60, 64, 128, 256, 512, 1024, 2048])
add("softmax_bf16", "v7x", softmax, [of(bf16, 32768, 2048)], rows=[128, 256, 512, 1024, 4096])
add("flash", "v6e", flash, [of(bf16, 1, 8, 4096, 128)] * 3, bq=[128, 512, 1024], bk=[128, 512, 1024])


def refusal(device, function, arguments, setting):
    """Why the compiler refuses a candidate; None if it takes it."""
    chip = topologies.get_topology_desc(platform="tpu", topology_name=TOPOLOGIES[device]).devices[0]
    on = jax.sharding.SingleDeviceSharding(chip)
    arguments = [array(one.shape, one.dtype, sharding=on) for one in arguments]
    try:
        jax.jit(functools.partial(function, **setting)).trace(*arguments).lower(lowering_platforms=("tpu",)).compile()
    except Exception as error:
        return str(error).strip().replace("\n", " ")[:200]
    return None


def check(name, write, sample):
    device, function, arguments, over = KERNELS[name]
    answer = blocks(function, arguments, over=over, for_=device)
    rows = answer.data["rows"]
    shuffled = {axis: random.Random(name).sample(values, len(values)) for axis, values in reversed(over.items())}
    # All answers are in the cache now.
    other = blocks(function, arguments, over=shuffled, for_=device).data["rows"]
    times = lambda rows: [row["least_seconds"] for row in rows]
    assert times(rows) == times(other), f"{name}: the order of the values changes the answer"
    not_compiled = [row for row in rows if row["state"] in ("not allowed", "too large")]
    taken = 0
    for row in random.Random(name).sample(not_compiled, min(sample, len(not_compiled))):
        setting = {axis: next(value for value in over[axis] if str(value) == text) for axis, text in row["setting"].items()}
        why = refusal(device, function, arguments, setting)
        taken += why is None
        print(f"  {row['setting']}: {row['error']}: {'TAKEN' if why is None else 'refused'}")
    print(answer)
    print(f"{name}: {len(rows)} candidates, {len(not_compiled)} not compiled, of which the compiler took {taken}", flush=True)
    if write:
        answer.data["kept"] = 0
        with open(RESULTS, "a") as file:
            file.write(json.dumps({"kernel": name, "answer": {**answer.data, "kept": 0}}) + "\n")
    return taken


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--write", action="store_true")
    arguments.add_argument("--sample", type=int, default=3)
    arguments.add_argument("names", nargs="*")
    given = arguments.parse_args()
    taken = sum(check(name, given.write, given.sample) for name in given.names or KERNELS)
    sys.stdout.flush()
    os._exit(1 if taken else 0)


main()
