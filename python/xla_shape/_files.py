"""Files that hold arrays."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from . import _native
from ._native import Layout, Shape

__all__ = ["relayout_file"]


def relayout_file(
    input: str | os.PathLike[str],
    output: str | os.PathLike[str],
    to: str | Layout | Shape | None = None,
    *,
    from_: str | Shape | None = None,
    tensor: str | None = None,
    permute: Sequence[int] | None = None,
) -> dict[str, Any]:
    """Copies an array in a file into another layout in another file, using little memory. The new file is written whole or not at all.

    `.npy`, `.npz` and `.safetensors` files contain the shape; `from_` is the shape of raw bytes. `tensor` names the array of a
    `.safetensors` or `.npz` file. Entry i of `permute` is the dimension of the source that becomes dimension i of the result.
    """
    done: dict[str, Any] = json.loads(
        _native.relayout_file(input, output, to, from_=from_, tensor=tensor, permute=permute)
    )
    return done
