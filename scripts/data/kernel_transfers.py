#!/usr/bin/env python3
"""Writes tests/corpus/kernel_transfers.jsonl.zst: Pallas kernels with random grids and index maps, compiled for a TPU, with the blocks that each
fetches and writes. Those are counted by a simulation of the grid in Python, with the index maps themselves. No TPU is needed.

Needs: pip install jax==0.12.0.1 libtpu==0.0.52 (Python 3.12 or newer), for example in an environment under target/, and the program zstd.

usage: scripts/data/kernel_transfers.py [N] [SEED]       N kernels, 60 if not given

A row: `text`, Mosaic's text after the stage relayout-insertion, without what the body computes; `windows`, for each block: its bytes, how often
it is copied, and whether it is written; `steps`, for each step the bytes that are fetched for it, and those that are written after it.
"""
import glob, itertools, json, os, pathlib, random, re, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
count, seed = int(sys.argv[1]) if len(sys.argv) > 1 else 60, sys.argv[2] if len(sys.argv) > 2 else "1"
DUMP = tempfile.mkdtemp()
os.environ.update(TPU_SKIP_MDS_QUERY="1", JAX_PLATFORMS="cpu", ALLOW_MULTIPLE_LIBTPU_LOAD="1", LIBTPU_INIT_ARGS=f"--xla_mosaic_dump_to={DUMP}")
import jax, jax.numpy as jnp
from jax.experimental import pallas as pl, topologies
from jax.experimental.pallas import tpu as pltpu

chip = topologies.get_topology_desc(platform="tpu", topology_name="v6e:2x2").devices[0]
device = jax.sharding.SingleDeviceSharding(chip)
mesh = jax.sharding.AbstractMesh((), (), abstract_device=jax.sharding.AbstractDevice(chip.device_kind, 1, "tpu"))
rng = random.Random(seed)


class Plain:
    """The functions that index maps use, for whole numbers."""
    where = staticmethod(lambda test, a, b: a if test else b)
    minimum, maximum = staticmethod(min), staticmethod(max)


def index_map(rank):
    """The places along the rows and along the columns, as functions of the step and of a library with where, minimum and maximum."""
    a, b, c = (rng.randrange(rank) for _ in range(3))
    n, m = rng.randint(2, 4), rng.randint(0, 3)
    return rng.choice([
        lambda at, np: (at[a], 0), lambda at, np: (at[a], at[b]), lambda at, np: (0, at[a]), lambda at, np: (m, 0), lambda at, np: (at[a] // n, at[b]),
        lambda at, np: ((at[a] + at[b]) % n, m), lambda at, np: (np.where(at[a] > m, at[b], 0), at[c]), lambda at, np: (np.minimum(at[a], m), at[b]),
        lambda at, np: (np.maximum(at[a] - m, 0), 0), lambda at, np: (np.where((at[a] == m) & (at[b] < n), 1, at[c]), 0),
        lambda at, np: (np.where(((at[a] + 1) * 128 - 1) > at[b] * 128, at[b], 0), 0), lambda at, np: (at[a] * n + at[b] % 2, 0),
    ])


def simulate(grid, windows):
    """How often each block is copied, and the bytes that are fetched for each step and written after it."""
    at = list(itertools.product(*map(range, grid)))
    steps, times = [[0, 0] for _ in at], []
    for size, place, written in windows:
        places = [tuple(int(p) for p in place(step, Plain)) for step in at]
        new = [number for number in range(len(at)) if number == 0 or places[number] != places[number - 1]]
        last = [number - 1 for number in new[1:]] + [len(at) - 1]
        for number in last if written else new:
            steps[number][written] += size
        times.append([size, len(new), written])
    return times, steps


def kernel():
    rank = rng.randint(1, 3)
    grid = tuple(rng.randint(1, 5) for _ in range(rank))
    kinds = [(jnp.float32, 4), (jnp.bfloat16, 2), (jnp.int8, 1)]
    windows = []
    for written in [False] * rng.randint(1, 3) + [True] * rng.randint(1, 2):
        kind, width = rng.choice(kinds)
        rows, columns = rng.choice([32, 64, 96]), rng.choice([128, 256])
        windows.append((kind, rows, columns, rows * columns * width, index_map(rank), written))
    specs = [pl.BlockSpec((rows, columns), (lambda place: lambda *at: tuple(place(at, jnp)))(place)) for _, rows, columns, _, place, _ in windows]
    arrays = [jax.ShapeDtypeStruct((rows * 32, columns * 8), kind, sharding=device) for kind, rows, columns, *_ in windows]
    inputs = sum(not window[5] for window in windows)

    def body(*refs):
        total = sum(jnp.sum(ref[...].astype(jnp.float32)) for ref in refs[:inputs])
        for ref in refs[inputs:]:
            ref[...] = jnp.full(ref.shape, total).astype(ref.dtype)

    outputs = [pltpu.HBM(array.shape, array.dtype) for array in arrays[inputs:]]
    call = pl.pallas_call(body, grid=grid, in_specs=specs[:inputs], out_specs=specs[inputs:], out_shape=outputs)
    for file in glob.glob(DUMP + "/*"):
        os.remove(file)
    with jax.sharding.use_abstract_mesh(mesh):
        jax.jit(lambda *arrays: call(*arrays)).trace(*arrays[:inputs]).lower(lowering_platforms=("tpu",)).compile()
    [text] = [open(file).read() for file in glob.glob(DUMP + "/*post-relayout-insertion.txt")]
    # In the body, only the stores tell which blocks are written; keep them, and the views of memory that they may write through.
    head, functions = text.split("  func.func @transform_0", 1)
    lines = head.splitlines()
    keep = [line for number, line in enumerate(lines) if number < 2 or "_store " in line or "-> memref<" in line or re.match(r"\s*return|  }", line)]
    text = "\n".join(keep) + "\n  func.func @transform_0" + functions
    text = re.sub(r' \{(?:in|out)_layout = \[[^]]*\](?:, out_layout = \[[^]]*\])?\}', "", text)
    times, steps = simulate(grid, [(size, place, written) for *_, size, place, written in windows])
    return {"text": text, "windows": times, "steps": steps}


rows, failed = [], 0
while len(rows) < count:
    try:
        rows.append(kernel())
    except Exception as error:
        failed += 1
        print(str(error).splitlines()[0][:200], file=sys.stderr)
        assert failed < 20, "too many kernels do not compile"
target = ROOT / "tests/corpus/kernel_transfers.jsonl.zst"
text = "".join(json.dumps(row) + "\n" for row in rows)
subprocess.run(["zstd", "-19", "-f", "-q", "-o", target], input=text.encode(), check=True)
print(f"{len(rows)} kernels, {target.stat().st_size} bytes")
os._exit(0)
