"""Element types as NumPy has them. Those that it lacks come from the package `ml_dtypes`, if that is installed."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np

from ._errors import ShapeError

__all__ = ["dtype", "element_type"]

_KINDS = {"s": "int", "u": "uint", "f": "float", "bf": "bfloat", "c": "complex"}


def _numpy_name(name: str) -> str:
    """`bf16` is `bfloat16`, `f8e4m3fn` is `float8_e4m3fn`, `s4` is `int4`."""
    if name == "pred":
        return "bool"
    match = re.fullmatch(r"(bf|[sufc])(\d+)(\w*)", name)
    if match is None:
        raise ShapeError(f"NumPy has no elements of type {name}")
    kind, bits, rest = match.groups()
    return _KINDS[kind] + bits + (f"_{rest}" if rest else "")


@cache
def dtype(name: str) -> np.dtype[Any]:
    """NumPy's name of an XLA element type: `dtype("bf16")` is that of `ml_dtypes.bfloat16`."""
    numpy_name = _numpy_name(name)
    try:
        return np.dtype(numpy_name)
    except TypeError:
        pass
    try:
        import ml_dtypes
    except ImportError:
        raise ShapeError(f"elements of type {name} need the package ml_dtypes: pip install ml_dtypes") from None
    try:
        found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, numpy_name))
        return found
    except AttributeError:
        raise ShapeError(f"neither NumPy nor ml_dtypes has elements of type {name}") from None


@cache
def _element_type(numpy_name: str) -> str:
    if numpy_name == "bool":
        return "pred"
    match = re.fullmatch(r"(bfloat|float|complex|uint|int)(\d+)(?:_(\w+))?", numpy_name)
    if match is None:
        raise ShapeError(f"XLA has no elements of NumPy's type {numpy_name}")
    kind, bits, rest = match.groups()
    (short,) = (short for short, long in _KINDS.items() if long == kind)
    return short + bits + (rest or "")


def element_type(like: Any) -> str:
    """XLA's name of an element type that NumPy names: `element_type(np.float32)` is `f32`."""
    try:
        found = np.dtype(like)
    except TypeError:
        if not isinstance(like, str):
            raise
        # The name of one that only ml_dtypes has.
        return _element_type(like)
    if not found.isnative:
        raise ShapeError(f"XLA's elements are in this machine's byte order, those of {found.str} are not")
    return _element_type(found.name)
