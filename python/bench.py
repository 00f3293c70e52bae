"""Times of calls of the installed package: small calls, and copies compared with NumPy's own.

    pip install ./python && python python/bench.py

Each figure is the least time of several runs, which take turns.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable
from typing import Any

import numpy as np

import xla_shape
from xla_shape import Layout, Shape, Sharding

TEXT = "bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}"
SHAPE = Shape(TEXT)
F32 = Shape("f32[8,1,1280,16384]")
SHARDING = Sharding("{devices=[8,1,1,1]<=[8]}")

SMALL: dict[str, Callable[[], Any]] = {
    "shape.byte_size": lambda: SHAPE.byte_size,
    "shape.padding": lambda: SHAPE.padding,
    "shape.dimensions": lambda: SHAPE.dimensions,
    "shape.layout": lambda: SHAPE.layout,
    "shape.dtype": lambda: F32.dtype,
    "shape.linear_index((0, 0, 1, 0))": lambda: SHAPE.linear_index((0, 0, 1, 0)),
    "shape.multi_index(1)": lambda: SHAPE.multi_index(1),
    "shape == shape": lambda: SHAPE == SHAPE,
    "hash(shape)": lambda: hash(SHAPE),
    "str(shape)": lambda: str(SHAPE),
    "Shape(text)": lambda: Shape(TEXT),
    "Layout(text)": lambda: Layout("{3,2,0,1:T(8,128)(2,1)}"),
    'Shape.of("bf16", sizes)': lambda: Shape.of("bf16", (8, 1, 1280, 16384)),
    "Shape.of(np.float32, sizes)": lambda: Shape.of(np.float32, (8, 1, 1280, 16384)),
    "shape.with_default_layout": lambda: SHAPE.with_default_layout("v5e"),
    "sharding.shard_shape(shape)": lambda: SHARDING.shard_shape(SHAPE),
    "byte_size(text)": lambda: xla_shape.byte_size(TEXT),
    "padding(text)": lambda: xla_shape.padding(TEXT),
    "linear_index(text, index)": lambda: xla_shape.linear_index(TEXT, (0, 0, 1, 0)),
    'default_layout("v5e", "bf16", sizes)': lambda: xla_shape.default_layout("v5e", "bf16", (1, 3072)),
}


def small() -> None:
    print("| call | µs |\n|---|---|")
    calls = 2000
    for name, call in SMALL.items():
        least = min(timeit.repeat(call, number=calls, repeat=20)) / calls
        print(f"| `{name}` | {least * 1e6:.2f} |")


def copies() -> None:
    """One thread and all threads, compared with a NumPy copy of as many bytes, which also allocates its result."""
    print("\n| copy | one thread, GB/s | all threads, GB/s | `array.copy()`, GB/s |\n|---|---|---|---|")
    array = np.ones((4096, 4096), np.float32)
    bf16 = np.ones((4096, 8192), np.uint16)
    for name, source, to in (
        ("f32[4096,4096] to `{1,0:T(8,128)}`", array, "{1,0:T(8,128)}"),
        ("f32[4096,4096] to `{0,1}`", array, "{0,1}"),
        ("u16[4096,8192] to `{1,0:T(8,128)(2,1)}`", bf16, "{1,0:T(8,128)(2,1)}"),
        ("f32[4096,4096], every second column, to `{1,0:T(8,128)}`", np.ones((4096, 8192), np.float32)[:, ::2], "{1,0:T(8,128)}"),
    ):
        turns: list[Callable[[], Any]] = [
            lambda: xla_shape.relayout(source, to, threads=1),
            lambda: xla_shape.relayout(source, to),
            source.copy,
        ]
        least = [float("inf")] * len(turns)
        for _ in range(7):
            for number, turn in enumerate(turns):
                least[number] = min(least[number], timeit.timeit(turn, number=1))
        print(f"| {name} | {' | '.join(f'{source.nbytes / seconds / 1e9:.1f}' for seconds in least)} |")


if __name__ == "__main__":
    small()
    copies()
