"""Makes JAX accept a `Buffer` wherever it accepts a NumPy array."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._native import Buffer

__all__ = ["register"]


def register() -> None:
    """Registers `Buffer` in JAX's tables of array types, as JAX registers NumPy's arrays.

    JAX has no public function for that. If a version has other tables, only `jax.numpy.asarray` accepts a `Buffer`.
    """
    try:
        from jax._src import core, dtypes
        from jax._src.interpreters import pxla

        tables: list[Any] = [core.pytype_aval_mappings, dtypes.canonicalize_value_handlers]
        arguments: Any = pxla.shard_arg_handlers
        lend = arguments[np.ndarray]
        of_one = [table[np.ndarray] for table in tables]
    except (ImportError, AttributeError, KeyError):
        return
    for table, handler in zip(tables, of_one):
        table[Buffer] = lambda buffer, *more, handler=handler, **named: handler(buffer.numpy(), *more, **named)
    arguments[Buffer] = lambda buffers, *more: lend([buffer.numpy() for buffer in buffers], *more)
