#!/usr/bin/env python3
"""Prints rows of tests/corpus/tpu_default_layouts.jsonl.zst: the default layouts of arrays, by the TPU compiler. No TPU is needed.

Needs: pip install jax==0.12.0.1 libtpu==0.0.52 (Python 3.12 or newer), for example in an environment under target/.

usage: tpu_layouts.py < SHAPES          one shape a line, such as f32[100,200]
       tpu_layouts.py --random N SEED   N random shapes
"""

import json
import os
import random
import re
import sys

os.environ.update(TPU_SKIP_MDS_QUERY="1", JAX_PLATFORMS="cpu", ALLOW_MULTIPLE_LIBTPU_LOAD="1")

import ml_dtypes
import numpy as np
from jax.experimental import topologies

# One generation of each family, and the numbers of element types in XLA's interface.
TOPOLOGIES = {"v2": "v3:2x2", "v4": "v6e:2x2"}
TYPES = {
    "pred": np.bool_,
    **{f"s{bits}": getattr(np, f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"u{bits}": getattr(np, f"uint{bits}") for bits in (8, 16, 32, 64)},
    **{f"f{bits}": getattr(np, f"float{bits}") for bits in (16, 32, 64)},
    "c64": np.complex64,
    "c128": np.complex128,
    "bf16": ml_dtypes.bfloat16,
    "s4": ml_dtypes.int4,
    "u4": ml_dtypes.uint4,
    "s2": ml_dtypes.int2,
    "u2": ml_dtypes.uint2,
    "f4e2m1fn": ml_dtypes.float4_e2m1fn,
    "f8e8m0fnu": ml_dtypes.float8_e8m0fnu,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
}


def asker(topology):
    device = topologies.get_topology_desc(platform="tpu", topology_name=topology).devices[0]
    return lambda dtype, sizes: str(device.client.get_default_layout(np.dtype(dtype), sizes, device))


def random_size(rng):
    return rng.choice(
        [
            lambda: rng.randint(1, 40),
            lambda: 8 * rng.randint(1, 300),
            lambda: 16 * rng.randint(1, 300),
            lambda: 128 * rng.randint(1, 60),
            lambda: 1 << rng.randint(0, 14),
            lambda: rng.randint(0, 20000),
        ]
    )()


def random_shapes(count, seed):
    rng = random.Random(seed)
    for _ in range(count):
        sizes, elements = [], 1
        for _ in range(rng.choice([0, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6, 7, 8, 9, 10])):
            # The library ends the process when a size overflows.
            size = random_size(rng)
            size = size if elements * size < 1 << 40 else 1
            elements *= max(size, 1)
            sizes.append(size)
        rng.shuffle(sizes)
        yield f"{rng.choice(list(TYPES))}[{','.join(map(str, sizes))}]"


def main(arguments):
    shapes = random_shapes(int(arguments[1]), arguments[2]) if arguments else (line.strip() for line in sys.stdin)
    askers = {family: asker(topology) for family, topology in TOPOLOGIES.items()}
    for shape in shapes:
        dtype, sizes = re.fullmatch(r"(\w+)\[([\d,]*)\]", shape).groups()
        sizes = tuple(int(size) for size in sizes.split(",") if size)
        print(json.dumps({"shape": shape, **{family: ask(TYPES[dtype], sizes) for family, ask in askers.items()}}))


if __name__ == "__main__":
    main(sys.argv[1:])
