#!/usr/bin/env python3
"""Compares the Python package's `relayout` with NumPy and, if it is installed, with torch, each with one thread.

usage: scripts/relayout_peers.py [--rounds N] [--random N --seed S] [FILTER]    after `pip install ./python`

NumPy and torch copy between strided views of the same bytes. All take turns, and the best of the rounds counts, because disturbances only
make a run longer. "Anew": each allocates its result, and is compared with `array.copy()` of the same number of bytes, which also allocates.
"Into": the result is written to existing memory (for us, `out`), and is compared with `np.copyto` of the same number of bytes. All results are
compared. All existing memory is aligned to 64 bytes. The cases in which NumPy or torch was faster are listed at the end.
"""
import argparse, random, re, time
from math import prod

import numpy as np
import xla_shape

try:
    import torch
    torch.set_num_threads(1)
except ImportError:
    torch = None

TYPES = {"u8": np.uint8, "u16": np.int16, "bf16": np.int16, "f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128}
CASES = [
    *((f"{t}[4096,4096]", "{1,0}", "{0,1}") for t in ("f32", "bf16", "u8")),
    ("u8[8192,8192]", "{1,0}", "{0,1}"),
    ("f32[64,512,512]", "{2,1,0}", "{1,2,0}"),
    *((a, *way) for a, tiled in (("f32[4096,4096]", "{1,0:T(8,128)}"), ("bf16[4096,8192]", "{1,0:T(8,128)(2,1)}"), ("u8[8192,8192]", "{1,0:T(32,128)(4,1)}"))
      for way in (("{1,0}", tiled), (tiled, "{1,0}"))),
    ("f32[4096,4096]", "{1,0:T(8,128)}", "{0,1:T(8,128)}"),
    ("u16[50257,768]", "{1,0}", "{0,1}"),
    ("f32[4095,4097]", "{1,0}", "{0,1}"),
    ("f32[3,1000,777]", "{2,1,0}", "{1,2,0}"),
    *((f"{t}[32,56,56,64]", *way) for t in ("f32", "bf16") for way in (("{3,2,1,0}", "{2,1,3,0}"), ("{2,1,3,0}", "{3,2,1,0}"))),
    *((f"{t}[8,224,224,3]", *way) for t in ("u8", "f32") for way in (("{3,2,1,0}", "{2,1,3,0}"), ("{2,1,3,0}", "{3,2,1,0}"))),
    ("f32[100000,3]", "{1,0}", "{0,1}"),
    ("bf16[100000,6]", "{1,0}", "{0,1}"),
    *((a, "{1,0}", "{0,1}") for a in ("f32[8,128]", "f32[16,128]", "f32[32,256]", "f32[512,512]", "f64[384,384]", "c64[384,384]", "c128[256,256]")),
]


def drawn(count, seed):
    """Cases of 4 KiB to 64 MiB: 2 to 6 dimensions, elements of 1 to 16 bytes, any permutation; a third has a tile of TPUs."""
    r = random.Random(seed)
    while count:
        element = r.choice(list(TYPES))
        rank = r.randint(2, 6)
        size = np.dtype(TYPES[element]).itemsize
        elements = 2 ** r.uniform(12, 26) / size
        cuts = sorted(r.uniform(0, 1) for _ in range(rank - 1))
        parts = [b - a for a, b in zip([0, *cuts], [*cuts, 1])]
        dims = [max(1, round(elements ** part)) for part in parts]
        if elements > 2 ** 12 and r.random() < 1 / 3:
            tile = {1: "T(32,128)(4,1)", 2: "T(8,128)(2,1)"}.get(size, "T(8,128)")
            to = r.sample(range(rank), rank)
            # NumPy's strides can describe whole tiles only.
            dims[to[0]], dims[to[1]] = -(-dims[to[0]] // 128) * 128, -(-dims[to[1]] // 32) * 32
        else:
            tile, to = "", r.sample(range(rank), rank)
        if not 2 ** 12 <= prod(dims) * size <= 2 ** 26:
            continue
        text = lambda order, tile="": "{" + ",".join(map(str, order)) + (":" + tile if tile else "") + "}"
        plain = text(range(rank - 1, -1, -1))
        way = (plain, text(to, tile)) if r.random() < 0.5 else (text(to, tile), plain)
        yield (f"{element}[{','.join(map(str, dims))}]", *way)
        count -= 1


def strides(array, layouts):
    """The sizes and strides of an equivalent array without tiles, with more dimensions, in the order of the result's strides."""
    dims = [int(size) for size in re.search(r"\[(.*)\]", array)[1].split(",")]
    steps = [{1} for _ in dims]
    for layout in layouts:
        order = [int(number) for number in re.match(r"\{([\d,]*)", layout)[1].split(",")]
        tiles = [[int(size) for size in tile.split(",")] for tile in re.findall(r"\(([\d,]*)\)", layout)]
        # Later tiles cut the same dimensions further.
        for tile in tiles:
            for dimension, size in zip(order, reversed(tile)):
                steps[dimension].add(size)
    shapes = [xla_shape.Shape(array + layout) for layout in layouts]
    axes = []
    for dimension, size in enumerate(dims):
        bounds = sorted(step for step in steps[dimension] if step < size) + [size]
        for step, end in zip(bounds, bounds[1:]):
            assert end % step == 0, f"{array} has no whole tiles"
            index = [step if other == dimension else 0 for other in range(len(dims))]
            axes.append((end // step, *(shape.linear_index(tuple(index)) for shape in shapes)))
    axes.sort(key=lambda axis: -axis[2])
    return tuple(zip(*axes)) or ((1,), (0,), (0,))


def bests(rounds, contenders):
    """The shortest time of each function, in seconds; short calls are repeated."""
    times = dict.fromkeys(contenders, float("inf"))
    repeats = {}
    for name, call in contenders.items():
        start = time.perf_counter()
        call()
        repeats[name] = max(1, int(2e-3 / (time.perf_counter() - start)))
    for round in range(rounds):
        for name, call in contenders.items():
            # A slow contender has fewer rounds.
            if round > 1 and times[name] * repeats[name] > 0.3:
                continue
            start = time.perf_counter()
            for _ in range(repeats[name]):
                call()
            times[name] = min(times[name], (time.perf_counter() - start) / repeats[name])
    return times


def room(size):
    """An array of bytes aligned to 64 bytes."""
    memory = np.zeros(size + 63, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size]


def measure(array, source, to, rounds):
    """The times of all contenders of a case."""
    dtype = np.dtype(TYPES[array.partition("[")[0]])
    sizes, from_strides, to_strides = strides(array, (source, to))
    flat = room(prod(sizes) * dtype.itemsize)
    flat[:] = np.frombuffer(np.random.default_rng(1).bytes(flat.size), np.uint8)
    buffer, destination = xla_shape.Buffer(array + source, flat), xla_shape.Shape(array + to)
    typed, out = flat.view(dtype), room(flat.size)
    # Bits are moved, whatever they mean.
    view = lambda flat, strides: np.lib.stride_tricks.as_strided(flat, sizes, [stride * dtype.itemsize for stride in strides])
    taken, result = view(typed, from_strides), out.view(dtype)
    written = view(result, to_strides)

    def numpy():
        result = np.empty_like(typed)
        np.copyto(view(result, to_strides), taken)
        return result

    contenders = {
        "relayout": lambda: xla_shape.relayout(buffer, destination, threads=1),
        "copy": flat.copy,
        "NumPy": numpy,
        "copy into": lambda: np.copyto(out, flat),
        "relayout into": lambda: xla_shape.relayout(buffer, destination, threads=1, out=out),
        "NumPy into": lambda: np.copyto(written, taken),
    }
    expected = bytes(xla_shape.relayout(buffer, destination, threads=1).data)
    results = {"NumPy": numpy, "NumPy into": lambda: (contenders["NumPy into"](), out)[1], "relayout into": contenders["relayout into"]}
    if torch is not None:
        own = torch.from_numpy(typed)
        from_view, own_result = own.as_strided(sizes, from_strides), torch.from_numpy(result)
        to_view = own_result.as_strided(sizes, to_strides)

        def fresh():
            result = torch.empty_like(own)
            result.as_strided(sizes, to_strides).copy_(from_view)
            return result

        contenders |= {"torch": fresh, "torch into": lambda: to_view.copy_(from_view)}
        results |= {"torch": lambda: fresh().numpy(), "torch into": lambda: (to_view.copy_(from_view), out)[1]}
    for name, call in results.items():
        out[:] = 0
        assert call().tobytes() == expected, f"{name} has another result for {array}{source} to {to}"
    return bests(rounds, contenders)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("filter", nargs="?", default="")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--random", type=int)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    behind = []
    print("| case | relayout | NumPy, torch | relayout into | NumPy, torch into |\n|---|---|---|---|---|")
    for array, source, to in CASES if asked.random is None else drawn(asked.random, asked.seed):
        name = f"{array} {source} to {to}"
        if asked.filter not in name:
            continue
        times = measure(array, source, to, asked.rounds)
        ratio = lambda contender, copy="copy": f"{times[copy] / times[contender]:.2f}" if contender in times else "–"
        into = lambda contender: ratio(f"{contender} into", "copy into")
        line = f"| {name} | {ratio('relayout')} | {ratio('NumPy')}, {ratio('torch')} | {into('relayout')} | {into('NumPy')}, {into('torch')} |"
        print(line, flush=True)
        for how in ("", " into"):
            if any(times[peer + how] < times["relayout" + how] for peer in ("NumPy", "torch") if peer + how in times):
                behind.append(f"{how.strip() or 'anew'}: {line}")
    print("\nwhere somebody was faster:", *behind or ["nowhere"], sep="\n")


if __name__ == "__main__":
    main()
