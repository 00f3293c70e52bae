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
    arguments: its arguments, such as `jax.ShapeDtypeStruct`s; or a function that makes them of the axes that it takes by name.
    over: the values of each axis. Every combination is a candidate.
    for_: the TPU.
    executor: where compilers run: any executor of `concurrent.futures`. By default, as many compilers run on this machine as it has cores
        and memory for.
    cache: the folder for the compiler's answers, or False for none. By default, it is in the user's cache folder.
    plugin: the PJRT plug-in with the compiler, whose code is run; by default, the one that is installed.

    Candidates whose blocks a TPU does not take, or whose blocks and scratch buffers need more VMEM than the kernel may use, are not compiled. Blocks of
    arrays that XLA may keep in VMEM are not counted: the arguments and results of other operations in the function, unless they are larger than
    VMEM.

    The text of the answer is that of `xla-shape block --rank`; `answer.data["rows"]` has the candidates, the best first. `bool()` tells whether any has a time. The
    times are bounds: bundles and copies, without waits.

    If it is interrupted, the answers so far are in the cache, and the next call goes on from there.
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


# The limit of VMEM, whether the program is this kernel alone, and the parts: the kind, the array and its block, or the shape of a scratch buffer twice.
_Kernel = tuple["int | None", bool, list[tuple[str, str, str]]]


def _kernels(traced: Any) -> Iterator[_Kernel]:
    """The blocks of the kernels that a traced function calls. JAX does not promise this form: what is not understood is left out."""
    try:
        equations = list(_equations(traced.jaxpr))
        is_alone = len(equations) == 1 and not getattr(traced.jaxpr, "consts", ())
        for equation in equations:
            if equation.primitive.name == "pallas_call":
                yield _kernel(equation, is_alone)
    except (AttributeError, KeyError, TypeError, ShapeError):
        return


def _equations(jaxpr: Any) -> Iterator[Any]:
    for equation in getattr(jaxpr, "jaxpr", jaxpr).eqns:
        inner = [value for value in equation.params.values() if hasattr(value, "eqns") or hasattr(value, "jaxpr")]
        if equation.primitive.name in _CALLS and len(inner) == 1:
            yield from _equations(inner[0])
        else:
            yield equation


def _kernel(equation: Any, is_alone: bool) -> _Kernel:
    mapping, parameters = equation.params["grid_mapping"], equation.params["compiler_params"]
    limit = getattr(parameters, "vmem_limit_bytes", None)
    parts = []
    for number, block in enumerate(mapping.block_mappings):
        space = str(getattr(block.transformed_block_aval, "memory_space", None)).lower()
        sizes = [_size(dimension) for dimension in block.block_shape]
        # An element window may begin anywhere, and has other rules.
        if space not in ("none", "default", "vmem", "memoryspace.vmem") or None in sizes:
            continue
        kind = "fixed" if _is_fixed(block, mapping.grid) else "input" if number < mapping.num_inputs else "output"
        parts.append((kind, _text(block.array_aval.dtype, block.array_aval.shape), _text(block.array_aval.dtype, sizes)))
    for scratch in mapping.scratch_avals:
        if str(scratch.memory_space).lower() in ("vmem", "memoryspace.vmem"):
            shape = _text(scratch.dtype, scratch.shape)
            parts.append(("scratch", shape, shape))
    return limit, is_alone, parts


def _size(dimension: Any) -> int | None:
    """The size of a block's dimension; `None` if it is not a block's number but an element's that says its place."""
    if dimension is None or type(dimension).__name__ in ("Squeezed", "Mapped"):
        return 1
    if type(dimension).__name__ == "Blocked":
        return int(dimension.block_size)
    return dimension if isinstance(dimension, int) else None


def _is_fixed(block: Any, grid: Sequence[Any]) -> bool:
    """Whether a block has one buffer, or its place depends on no dimension of the grid with several steps."""
    if getattr(block.pipeline_mode, "buffer_count", 2) == 1:
        return True
    jaxpr = getattr(block.index_map_jaxpr, "jaxpr", block.index_map_jaxpr)
    # Dimensions with one step do not move a block. After them come tables, which may.
    moving = {variable for number, variable in enumerate(jaxpr.invars) if number >= len(grid) or grid[number] != 1}
    for equation in jaxpr.eqns:
        if any(not hasattr(operand, "val") and operand in moving for operand in equation.invars):
            moving.update(equation.outvars)
    return not any(not hasattr(place, "val") and place in moving for place in jaxpr.outvars)


def _text(dtype: Any, sizes: Sequence[int]) -> str:
    return f"{element_type(dtype)}[{','.join(map(str, sizes))}]"
