"""XLA shapes and layouts: exact, fast, and the same as in XLA.

    >>> import xla_shape
    >>> shape = xla_shape.Shape("bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}")
    >>> shape.byte_size
    335544320
    >>> shape.linear_index((0, 0, 1, 0))  # rows lie in pairs
    1

`Shape`, `Layout`, `Sharding` and `Module` are values: texts make them, `str` gives the text back. `relayout` copies arrays
between layouts. `xla_shape.jax` speaks with JAX, `xla_shape.shard` and `xla_shape.ray` divide checkpoints among devices,
`xla_shape.reshard` changes how arrays and checkpoints are divided, and `xla_shape.ffi` calls kernels written in Rust.
"""

from __future__ import annotations

from typing import NoReturn

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
    byte_size,
    compare,
    default_layout,
    explain,
    generations,
    linear_index,
    padding,
    read,
    scan,
    write,
)
from ._profile import profile
from ._rust_types import rust_types

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
    "byte_size",
    "compare",
    "default_layout",
    "explain",
    "from_dlpack",
    "generations",
    "linear_index",
    "padding",
    "profile",
    "read",
    "relayout",
    "relayout_file",
    "rust_types",
    "scan",
    "write",
]

# Names that users of other libraries may try, and what to write instead.
_GUESSES = {
    "compile_for": "xla_shape.jax.memory(f, *args, for_=\"v5e\"), or the program `xla-shape compile`",
    "compile": "xla_shape.jax.memory(f, *args, for_=\"v5e\"), or the program `xla-shape compile`",
    "cost": "xla_shape.jax.cost(f, *args, for_=\"v5e\"), or Module(text).cost()",
    "memory": "xla_shape.jax.memory(compiled), or Module(text).memory()",
    "checked": "from xla_shape.jax import checked",
    "Arr": "from xla_shape.jax import Arr",
    "assert_layout": "from xla_shape.jax import assert_layout",
    "assert_memory": "from xla_shape.jax import assert_memory",
    "assert_fits": "from xla_shape.jax import assert_fits",
    "assert_padding": "from xla_shape.jax import assert_padding",
    "shape_of": "from xla_shape.jax import shape_of",
    "parse": "Shape(text), Layout(text), Sharding(text) or Module(text)",
    "load": "read(path), or xla_shape.ffi.load(path) for kernels",
    "save": "write(path, buffer)",
    "draw": "Shape(text).draw()",
    "diff": "Module(before).difference(Module(after))",
    "transpose": "relayout(array, permute=…)",
    "dtypes": "Shape(text).dtype",
}


def __getattr__(name: str) -> NoReturn:
    message = f"module 'xla_shape' has no attribute {name!r}"
    raise AttributeError(f"{message}: write {_GUESSES[name]}" if name in _GUESSES else message)
