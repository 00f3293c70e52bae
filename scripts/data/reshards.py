#!/usr/bin/env python3
"""Makes tests/corpus/reshards.jsonl: what XLA's SPMD partitioner sends to change a sharding, for random pairs on 8 CPU devices.

usage: reshards.py COUNT > tests/corpus/reshards.jsonl (with JAX installed)
       reshards.py COUNT PROGRAM [DEVICES] > tests/corpus/through.jsonl (PROGRAM is xla-shape; 8 devices)

Each line has the array, both shardings as XLA writes them, and the collectives of the compiled program: their opcode, the bytes of an
operand on one device, and the devices of a group (of a permutation, the number of pairs of different devices).

With PROGRAM, lines are of changes for which XLA warns of an "Involuntary full rematerialization": the shardings to go through that
`xla-shape reshard` names (null if none), the bytes that all devices receive without and with them, and whether XLA warns with them, too."""

import json
import os
import random
import re
import subprocess
import sys
import tempfile

DEVICES = int(sys.argv[3]) if len(sys.argv) > 3 else 8
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={DEVICES}"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

COLLECTIVE = re.compile(r"= (\(?[^=]*?) (all-gather|all-to-all|all-reduce|collective-permute|reduce-scatter)(?:-start)?\((.*)")
ARRAY = re.compile(r"\b(pred|[suf]\d+|bf16|f8\w+|c\d+)\[([\d,]*)\]")
SHAPES = {
    8: [(8,), (4, 2), (2, 2, 2), (2, 4)],
    16: [(16,), (4, 4), (2, 8), (8, 2), (4, 2, 2), (2, 4, 2), (2, 2, 2, 2)],
}
# The names of a mesh's axes, each of which has two devices.
AXES = "pqrs"[: DEVICES.bit_length() - 1]
BYTES = {"pred": 1, "s8": 1, "u8": 1, "bf16": 2, "f16": 2, "f32": 4, "s32": 4, "u32": 4, "c64": 8}


def size(text):
    """The bytes of all arrays in a shape."""
    total = 0
    for element, sizes in ARRAY.findall(text):
        total += BYTES[element] * int(np.prod([int(n) for n in sizes.split(",") if n], initial=1))
    return total


def group_size(groups):
    """The devices of a group: `{{0,1},{2,3}}`, `[2,2]<=[4]` or `mesh['x'=4,'y'=2] {'x':(2)2}`."""
    if groups.startswith("{{"):
        return len(groups[2:].split("}")[0].split(","))
    if groups.startswith("["):
        return int(groups[1:].split("]")[0].split(",")[1])
    sizes = dict(re.findall(r"'(\w+)'=(\d+)", groups))
    axes = re.findall(r"'(\w+)'(?::\(\d+\)(\d+))?", groups.split("] {")[1])
    return int(np.prod([int(part or sizes[name]) for name, part in axes]))


def collectives(text):
    found = []
    for line in re.sub(r"/\*.*?\*/", "", text).splitlines():
        match = COLLECTIVE.search(line)
        if not match:
            continue
        result, opcode, rest = match.groups()
        if opcode == "collective-permute":
            pairs = re.search(r"source_target_pairs=\{(.*?)\}\}", rest)[1]
            pairs = [pair.split(",") for pair in re.findall(r"\{?(\d+,\d+)", pairs)]
            found.append({"opcode": opcode, "bytes": size(result), "pairs": sum(a != b for a, b in pairs)})
            continue
        group = group_size(re.search(r"replica_groups=(.*?), [a-z_]+=", rest)[1])
        # The bytes of the operand on one device. The operand of an all-gather is a part of its result; that of a reduce-scatter is larger than its result.
        operand = size(result) // (group if opcode == "all-gather" else 1) * (group if opcode == "reduce-scatter" else 1)
        found.append({"opcode": opcode, "bytes": operand, "group": group})
    return found


def spec(random_, axes, rank):
    """Axes of a mesh for each dimension, each used at most once."""
    names = [name for name in axes if random_.random() < 0.75]
    random_.shuffle(names)
    along = [[] for _ in range(rank)]
    for name in names:
        along[random_.randrange(rank)].append(name)
    return PartitionSpec(*[tuple(names) or None for names in along])


def received(found):
    """The bytes that all devices receive."""
    total = 0
    for one in found:
        group, size = one.get("group", 1), one["bytes"]
        total += {
            "all-gather": DEVICES * size * (group - 1),
            "all-to-all": DEVICES * size * (group - 1) // group,
            "all-reduce": 2 * DEVICES * size * (group - 1) // group,
            "reduce-scatter": DEVICES * size * (group - 1) // group,
            "collective-permute": size * one.get("pairs", 0),
        }[one["opcode"]]
    return total


def spec_of(text, rank):
    """The axes of a mesh of 2 by 2 by … devices that make a sharding of XLA's text."""
    if text == "{replicated}":
        return PartitionSpec()
    tiles, sizes, order = re.match(r"\{devices=\[([\d,]+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?", text).groups()
    tiles, sizes = ([int(n) for n in part.split(",")] for part in (tiles, sizes))
    order = [int(n) for n in order.split(",")] if order else range(len(sizes))
    names = iter(AXES)
    of_iota = [[next(names) for _ in range(size.bit_length() - 1)] for size in sizes]
    names = iter([name for dimension in order for name in of_iota[dimension]])
    return PartitionSpec(*[tuple(next(names) for _ in range(tiles[d].bit_length() - 1)) or None for d in range(rank)])


def partitioned(sizes, element, shardings):
    """The collectives of a program that gives an array these shardings, one after another, and whether XLA warns."""
    array = jax.ShapeDtypeStruct(sizes, element, sharding=shardings[0])

    def change(x):
        for sharding in shardings[1:-1]:
            x = jax.lax.with_sharding_constraint(x, sharding)
        return x

    lowered = jax.jit(change, out_shardings=shardings[-1]).lower(array)
    stderr = os.dup(2)
    with tempfile.TemporaryFile() as log:
        os.dup2(log.fileno(), 2)
        try:
            compiled = lowered.compile()
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
        log.seek(0)
        warns = b"nvoluntary full rematerialization" in log.read()
    return collectives(compiled.as_text()), warns


def through(row, program):
    """The shardings that `xla-shape reshard` names between the two of this row."""
    answer = subprocess.run(
        [program, "reshard", row["array"], "--from", row["from"], "--to", row["to"], "--format", "json"],
        check=True, capture_output=True, text=True,
    )
    found = json.loads(answer.stdout)["through"]
    return found and [between["sharding"] for between in found["shardings"]]


def main():
    count, program = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None
    random_ = random.Random(67)
    devices = np.array(jax.devices())
    halves = Mesh(devices.reshape([2] * len(AXES)), list(AXES))
    seen = set()
    while len(seen) < count:
        shape = random_.choice(SHAPES[DEVICES])
        order = devices if random_.random() < 0.7 else devices[random_.sample(range(DEVICES), DEVICES)]
        mesh = Mesh(order.reshape(shape), ["x", "y", "z", "w"][: len(shape)])
        rank = random_.choice([1, 2, 2, 3])
        sizes = tuple(random_.choice([8, 16, 24, 32, 64]) for _ in range(rank))
        element = random_.choice(["float32", "bfloat16", "int8"])
        one, other = (NamedSharding(mesh, spec(random_, mesh.axis_names, rank)) for _ in range(2))
        name = {"float32": "f32", "bfloat16": "bf16", "int8": "s8"}[element]
        text = [str(sharding._to_xla_hlo_sharding(rank)) for sharding in (one, other)]
        row = {"array": f"{name}[{','.join(map(str, sizes))}]", "from": text[0], "to": text[1]}
        try:
            found, warns = partitioned(sizes, element, [one, other])
        except ValueError:
            continue  # A dimension cannot be divided evenly.
        if text[0] == text[1] or json.dumps(row) in seen:
            continue
        seen.add(json.dumps(row))
        if not program:
            print(json.dumps({**row, "collectives": found}))
        elif warns:
            row["through"] = through(row, program)
            row["direct_bytes"] = received(found)
            if row["through"]:
                steps = [spec_of(text, rank) for text in [row["from"], *row["through"], row["to"]]]
                found, row["warns"] = partitioned(sizes, element, [NamedSharding(halves, step) for step in steps])
                row["through_bytes"] = received(found)
            print(json.dumps(row), flush=True)


main()
