"""NumPy's element types. Those that NumPy does not have come from the package `ml_dtypes`, if it is installed."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

import numpy as np

from ._errors import ShapeError
from ._native import Shape, element_types

__all__ = ["dtype", "element_type", "shape_of"]

_KINDS = {"s": "int", "u": "uint", "f": "float", "bf": "bfloat", "c": "complex"}


def _numpy_name(name: str) -> str | None:
    """`bf16` is `bfloat16`, `f8e4m3fn` is `float8_e4m3fn`, `s4` is `int4`."""
    if name == "pred":
        return "bool"
    match = re.fullmatch(r"(bf|[sufc])(\d+)(\w*)", name)
    if match is None:
        return None
    kind, bits, rest = match.groups()
    return _KINDS[kind] + bits + (f"_{rest}" if rest else "")


_NAMES = {_numpy_name(name): name for name in element_types}


@cache
def dtype(name: str) -> np.dtype[Any]:
    """The NumPy dtype of an XLA element type: `dtype("bf16")` is `ml_dtypes.bfloat16`."""
    numpy_name = _numpy_name(name)
    if numpy_name is None:
        raise ShapeError(f"NumPy has no elements of type {name}")
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


def _element_type(like: Any) -> str:
    if type(like).__module__ == "torch":
        # Torch's types have NumPy's names.
        like = str(like).removeprefix("torch.")
    try:
        # For NumPy, None means float64.
        found = np.dtype("none" if like is None else like)
    except TypeError:
        # The name of a type that only ml_dtypes has.
        if isinstance(like, str) and like in _NAMES:
            return _NAMES[like]
        raise ShapeError(f"expected an element type of XLA or NumPy, found {like!r}") from None
    if not found.isnative:
        raise ShapeError(f"XLA's elements are in this machine's byte order, those of {found.str} are not")
    if found.name not in _NAMES:
        raise ShapeError(f"XLA has no elements of NumPy's type {found.name}")
    return _NAMES[found.name]


# Cached, because NumPy takes microseconds to name a type.
_known = lru_cache(maxsize=1024)(_element_type)


def element_type(like: Any) -> str:
    """XLA's name of a NumPy element type: `element_type(np.float32)` is `f32`."""
    try:
        hash(like)
    except TypeError:
        return _element_type(like)
    return _known(like)


def shape_of(array: Any) -> Shape:
    """The shape of an array of any library; of JAX's, with the layout on its device."""
    if hasattr(array, "format") and hasattr(array, "sharding"):
        from .jax import shape_of

        return shape_of(array)
    return array.shape if isinstance(array.shape, Shape) else Shape.of(array.dtype, tuple(array.shape))
