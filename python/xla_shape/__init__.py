"""XLA shapes and layouts: exact, fast, and the same as in XLA.

    >>> import xla_shape
    >>> shape = xla_shape.Shape("bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}")
    >>> shape.byte_size
    335544320
    >>> shape.linear_index((0, 0, 1, 0))  # rows lie in pairs
    1

`Shape`, `Layout`, `Sharding` and `Module` are values: texts make them, `str` gives the text back. `relayout` copies arrays
between layouts. `xla_shape.jax` speaks with JAX, `xla_shape.shard` and `xla_shape.ray` divide checkpoints among devices, and
`xla_shape.ffi` calls kernels written in Rust.
"""

from __future__ import annotations

from ._arrays import from_dlpack, relayout
from ._errors import OutOfBoundsError, ParseError, ShapeError
from ._files import relayout_file
from ._native import (
    Answer,
    Buffer,
    Instruction,
    Layout,
    Module,
    Shape,
    Sharding,
    __version__,
    advise,
    bitcast,
    byte_size,
    default_layout,
    explain,
    linear_index,
    padding,
    read,
    write,
)

__all__ = [
    "Answer",
    "Buffer",
    "Instruction",
    "Layout",
    "Module",
    "OutOfBoundsError",
    "ParseError",
    "Shape",
    "ShapeError",
    "Sharding",
    "__version__",
    "advise",
    "bitcast",
    "byte_size",
    "default_layout",
    "explain",
    "from_dlpack",
    "linear_index",
    "padding",
    "read",
    "relayout",
    "relayout_file",
    "write",
]
