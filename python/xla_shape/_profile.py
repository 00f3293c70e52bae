"""Profiles: how long each instruction of a program took."""

from __future__ import annotations

import os

from ._native import Module

__all__ = ["profile"]


def profile(path: str | os.PathLike[str], /, module: str | None = None) -> Module:
    """A module of a profile, whose `cost()` has the measured times: by line, scope, opcode and instruction, and copies with cause and remedy.

        profile("trace").cost()

    path: an `.xplane.pb`, the directory of a run, or the directory that `jax.profiler.trace` was given, of which the last run is read.
    module: its name, with or without the number of its program; by default the module that took the most time. `Module.modules` has
        the names of all.

    Raises `ShapeError` if the path is not a profile, or if no module or several modules have the name.
    """
    return Module._profile(path, module)
