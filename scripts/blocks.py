#!/usr/bin/env python3
"""Asks `xla_shape.pallas.blocks` about the kernels of `data/block_ranking.py`, and checks its answers with the compiler: the compiler must refuse
each candidate that `blocks` does not compile, and the answer must not depend on the order of the values. No TPU is needed.

Needs: pip install jax==0.12.0.1 libtpu==0.0.52 (Python 3.12 or newer), and the package xla-shape.

usage: scripts/blocks.py [--sample N] [NAME…]     N of the candidates that are not compiled are tried; by default 3 of each kernel"""

import argparse
import functools
import os
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "data"))
# Import this before JAX, because it chooses the platform.
from block_ranking import KERNELS, array, chip

import jax
from xla_shape.pallas import blocks


def refusal(device, function, arguments, setting):
    """Why the compiler refuses a candidate; None if it takes it."""
    arguments = [array(one.shape, one.dtype, sharding=chip(device)) for one in arguments]
    try:
        jax.jit(functools.partial(function, **setting)).trace(*arguments).lower(lowering_platforms=("tpu",)).compile()
    except Exception as error:
        return str(error).strip().replace("\n", " ")[:200]
    return None


def check(name, sample):
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
    return taken


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--sample", type=int, default=3)
    arguments.add_argument("names", nargs="*")
    given = arguments.parse_args()
    taken = sum(check(name, given.sample) for name in given.names or KERNELS)
    sys.stdout.flush()
    os._exit(1 if taken else 0)


main()
