from collections.abc import Sequence
from typing import Any

import jax
from jax.typing import ArrayLike

def softmax(x: ArrayLike, *, temperature: float = ..., results: Any = ..., vmap_method: str | None = ...) -> jax.Array:
    """Softmax of each row."""
