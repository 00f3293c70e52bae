"""Pallas kernels for TPUs, without a TPU.

    from xla_shape.pallas import blocks

    print(blocks(matmul, [x, w], over={"bm": [256, 512], "bn": [512, 1024]}, for_="v6e"))
"""

from __future__ import annotations

from ._blocks import blocks

__all__ = ["blocks"]


def __dir__() -> list[str]:
    return sorted(__all__)
