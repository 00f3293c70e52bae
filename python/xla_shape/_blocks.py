"""Which blocks of a kernel are best: `xla_shape.pallas.blocks`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

from . import Answer, ShapeError
from ._dtypes import element_type
from ._fit import Program, name_of, values_of
from ._native import blocks as _blocks
from ._tune import workers

__all__ = ["blocks"]

# Equations that only call another jaxpr.
_CALLS = ("jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call")


def blocks(
    function: Callable[..., Any],
    arguments: Sequence[Any] | Callable[..., Sequence[Any]],
    *,
    over: Mapping[str, Sequence[Any]],
    for_: str = "v5e",
    executor: Executor | None = None,
    cache: str | os.PathLike[str] | bool = True,
    plugin: str | os.PathLike[str] | None = None,
) -> Answer:
    """Orders sizes of a Pallas kernel's blocks by the least time that the kernel can take, by compiling it ahead of time; needs no TPU.

        x, w = (jax.ShapeDtypeStruct((4096, 4096), "bfloat16") for _ in range(2))
        print(blocks(matmul, [x, w], over={"bm": [256, 512], "bk": [512, 1024], "bn": [512, 1024]}, for_="v6e"))

    function: jitted or not. It gets the axes that it takes by name: as static arguments if it is jitted.
    arguments: its arguments, such as `jax.ShapeDtypeStruct`s; or a function that makes them from axes, which it gets by name.
    over: the values of each axis. Every combination is a candidate.
    for_: the TPU.
    executor: where compilers run: any executor of `concurrent.futures`. By default, as many compilers run on this machine as it has cores
        and memory for.
    cache: the folder for the compiler's answers, or False for none. By default, it is in the user's cache folder.
    plugin: the PJRT plug-in with the compiler, whose code is run; by default, the one that is installed.

    Candidates whose blocks a TPU does not take are not compiled, nor are those that certainly need more VMEM than the kernel may use.

    The text of the answer is that of `xla-shape block --rank`; `answer.data["rows"]` has the candidates, the best first. `bool()` tells whether any
    candidate has a time. The times are lower bounds: bundles and copies, without waits. `limited_by` is None where the notes of a row say that much is left
    out; such rows come after the others.

    If the call is interrupted, the answers so far are in the cache, and the next call goes on from there.
    """
    if not isinstance(for_, str):
        raise ShapeError(f"for_: expected the name of one TPU, such as 'v6e', found {for_!r}")
    if not isinstance(over, Mapping) or not over:
        raise ShapeError(f"over: expected the values of axes, such as {{'bm': [256, 512]}}, found {over!r}")
    settings = {name: values_of(name, values) for name, values in over.items()}
    names = list(settings)
    program = Program(function, arguments, names)

    def values(at: tuple[int, ...]) -> dict[str, Any]:
        return {name: settings[name][number] for name, number in zip(names, at)}

    def make(at: tuple[int, ...]) -> bytes:
        return program.text("tpu", values(at))

    def parts(at: tuple[int, ...]) -> list[_Kernel]:
        return list(_kernels(program.traced(values(at))))

    axes = [(name, [name_of(value) for value in settings[name]]) for name in names]
    with workers(executor) as run:
        return _blocks(axes, parts, make, for_, run, cache, plugin)


# The blocks of a kernel. Each is a kind (input or output), the shape of the array, and the shape of the block.
_Kernel = list[tuple[str, str, str]]


def _kernels(traced: Any) -> Iterator[_Kernel]:
    """The blocks of the kernels that a traced function calls. JAX does not promise this form: what is not understood is left out."""
    try:
        for equation in _equations(traced.jaxpr):
            if equation.primitive.name == "pallas_call":
                yield _kernel(equation)
    except (AttributeError, KeyError, TypeError, ShapeError):
        return


def _equations(jaxpr: Any) -> Iterator[Any]:
    for equation in getattr(jaxpr, "jaxpr", jaxpr).eqns:
        inner = [value for value in equation.params.values() if hasattr(value, "eqns") or hasattr(value, "jaxpr")]
        if equation.primitive.name in _CALLS and len(inner) == 1:
            yield from _equations(inner[0])
        else:
            yield equation


def _kernel(equation: Any) -> _Kernel:
    mapping = equation.params["grid_mapping"]
    parts = []
    for number, block in enumerate(mapping.block_mappings):
        space = str(getattr(block.transformed_block_aval, "memory_space", None)).lower()
        sizes = [_size(dimension) for dimension in block.block_shape]
        # `None` is a window that may begin at any element: other rules hold for it.
        if space not in ("none", "default", "vmem", "memoryspace.vmem") or None in sizes:
            continue
        kind = "input" if number < mapping.num_inputs else "output"
        parts.append((kind, _text(block.array_aval.dtype, block.array_aval.shape), _text(block.array_aval.dtype, sizes)))
    return parts


def _size(dimension: Any) -> int | None:
    """The size of a block's dimension; `None` if the kernel places the block by the number of an element instead of the number of a block."""
    if dimension is None or type(dimension).__name__ in ("Squeezed", "Mapped"):
        return 1
    if type(dimension).__name__ == "Blocked":
        return int(dimension.block_size)
    return dimension if isinstance(dimension, int) else None


def _text(dtype: Any, sizes: Sequence[int | None]) -> str:
    return f"{element_type(dtype)}[{','.join(map(str, sizes))}]"
