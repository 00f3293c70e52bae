"""Conversion between JAX's layouts, shardings, arrays and compiled programs and those of this package.

    from xla_shape.jax import assert_layout, memory, shape_of

    memory(f, x, for_="v5e")                               # its memory on a TPU, and the values in memory at the peak
    compiled = jax.jit(f).lower(x).compile()
    assert_layout(compiled.output_formats, "{1,0:T(8,128)}")

Devices are numbered as in a program: device 3 is the fourth of the mesh, or of `jax.devices()`, whatever its id.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.experimental import layout as jax_layout

from . import Answer, Buffer, Layout, Module, Shape, ShapeError, Sharding
from ._arrays import relayout
from ._checked import Arr, check_layouts, checked
from ._compile import lowered_device, memory_on, module_on, refuse_other_device
from ._fit import fit
from ._guards import assert_fits, assert_memory, assert_no_copies, assert_padding, expect, layout_like
from ._jax_types import register
from ._kernel import kernel
from ._native import memory_of_refused, out_of_memory
from ._profile import profile
from ._tune import Tuned, tune

__all__ = [
    "Arr",
    "Tuned",
    "assert_fits",
    "assert_layout",
    "assert_memory",
    "assert_no_copies",
    "assert_padding",
    "buffer",
    "buffers",
    "check_layouts",
    "checked",
    "cost",
    "expect",
    "fit",
    "from_layout",
    "from_sharding",
    "kernel",
    "memory",
    "module",
    "profiled",
    "shape_dtype_struct",
    "shape_of",
    "shard_shape_of",
    "to_format",
    "to_layout",
    "to_sharding",
    "tune",
]

register()


def __dir__() -> list[str]:
    return sorted(__all__)


# XLA's number for `*` in a tile.
_COMBINE = -(2**63)


def from_layout(layout: Any) -> Layout:
    """The layout of JAX's `Layout` or `Format`."""
    found = getattr(layout, "layout", layout)
    if not isinstance(found, jax_layout.Layout):
        raise ShapeError(f"expected a layout of JAX that says an order, found {layout}")
    tiles = [[None if size == _COMBINE else size for size in tile] for tile in found.tiling or ()]
    # In older versions of JAX, the name of this attribute begins with `_`.
    name = "sub_byte_element_size_in_bits"
    bits = getattr(found, name if hasattr(found, name) else f"_{name}")
    return Layout.of(tuple(reversed(found.major_to_minor)), tiles, element_size_in_bits=bits)


def to_layout(layout: str | Layout) -> jax_layout.Layout:
    """A layout as JAX's `Layout`, which has no memory space: in JAX, that is the sharding's `memory_kind`."""
    layout = Layout(layout)
    tiles = tuple(tuple(_COMBINE if size is None else size for size in tile) for tile in layout.tiles)
    plain = Layout.of(layout.minor_to_major, layout.tiles, element_size_in_bits=layout.element_size_in_bits)
    if Layout.of(layout.minor_to_major, layout.tiles, element_size_in_bits=layout.element_size_in_bits,
                 memory_space=layout.memory_space) != layout:
        raise ShapeError(f"JAX's layouts have an order, tiles and an element size, as {plain}; {layout} has more")
    return jax_layout.Layout(layout.major_to_minor, tiles, layout.element_size_in_bits)


def from_sharding(sharding: Any, num_dimensions: int) -> Sharding:
    """A sharding of JAX, for arrays with this number of dimensions. The mesh of a `NamedSharding` keeps its names."""
    if isinstance(sharding, jax.sharding.NamedSharding):
        return _from_named(sharding, num_dimensions)
    if isinstance(sharding, jax.sharding.SingleDeviceSharding):
        return Sharding("{maximal device=0}")
    if not isinstance(sharding, jax.sharding.Sharding):
        hint = ": a PartitionSpec alone has no mesh" if isinstance(sharding, jax.sharding.PartitionSpec) else ""
        raise TypeError(f"expected a sharding of JAX, such as a NamedSharding, found {sharding!r}{hint}")
    # JAX has no public function for other shardings.
    return Sharding(str(sharding._to_xla_hlo_sharding(num_dimensions)))


def _from_named(sharding: jax.sharding.NamedSharding, num_dimensions: int) -> Sharding:
    entries = list(sharding.spec)
    if len(entries) > num_dimensions:
        raise ShapeError(f"expected a sharding of {num_dimensions} dimensions, found {sharding.spec}")
    entries += [None] * (num_dimensions - len(entries))

    def axes(entry: Any) -> str:
        if entry is jax.sharding.PartitionSpec.UNCONSTRAINED:
            return "{?}"
        names = () if entry is None else entry if isinstance(entry, (tuple, list)) else (entry,)
        return "{" + ", ".join(map(_quoted, names)) + "}"

    mesh = ",".join(f"{_quoted(name)}={size}" for name, size in sharding.mesh.shape.items())
    text = f"mesh[{mesh}], [{', '.join(map(axes, entries))}]"
    unreduced = getattr(sharding.spec, "unreduced", None)
    if unreduced:
        # Sets have no order, so the order of the mesh is used.
        names = [name for name in sharding.mesh.axis_names if name in unreduced]
        text += f", unreduced={{{', '.join(map(_quoted, names))}}}"
    return Sharding("{" + text + "}")


def _quoted(name: Any) -> str:
    return "'" + str(name).replace("\\", "\\\\").replace("'", "\\'") + "'"


def to_sharding(sharding: str | Sharding, devices: Sequence[Any] | None = None) -> jax.sharding.NamedSharding:
    """A sharding as JAX's `NamedSharding` on these devices, or on `jax.devices()`.

    A sharding without names of axes gets a mesh with the axes `d0`, `d1`, ….
    """
    axes, numbers, along = Sharding(sharding)._named()
    found = list(jax.devices() if devices is None else devices)
    if not axes:
        axes, numbers = [("d0", len(found))], list(range(len(found)))
    if max(numbers) >= len(found):
        raise ShapeError(f"expected {max(numbers) + 1} devices for {sharding}, found {len(found)}")
    array = np.empty(len(numbers), object)
    array[:] = [found[number] for number in numbers]
    mesh = jax.sharding.Mesh(array.reshape([size for _, size in axes]), [name for name, _ in axes])
    entries = [tuple(names) if len(names) > 1 else names[0] if names else None for names in along]
    return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*entries))


def to_format(
    layout: str | Layout | Shape, sharding: str | Sharding | Any, devices: Sequence[Any] | None = None
) -> jax_layout.Format:
    """A layout and a sharding, of this package or of JAX, as JAX's `Format`."""
    found = layout.layout if isinstance(layout, Shape) else layout
    if isinstance(sharding, (str, Sharding)):
        sharding = to_sharding(sharding, devices)
    return jax_layout.Format(to_layout(found), sharding)


def shape_of(x: Any) -> Shape:
    """The shape of a `jax.Array` or a `ShapeDtypeStruct`, with its layout on the device.

    If `x` has no layout, the shape is row-major. The sizes are those of the whole array; `shard_shape_of` has those of a shard.
    """
    return _shape_of(x, tuple(x.shape))


def shard_shape_of(x: Any) -> Shape:
    """The shape of the shard of an array on each device, with its layout there."""
    sharding = getattr(x, "sharding", None)
    return _shape_of(x, tuple(x.shape) if sharding is None else tuple(sharding.shard_shape(tuple(x.shape))))


def _shape_of(x: Any, sizes: tuple[int, ...]) -> Shape:
    layout = getattr(getattr(x, "format", None), "layout", None)
    return Shape.of(x.dtype, sizes, from_layout(layout) if isinstance(layout, jax_layout.Layout) else None)


def shape_dtype_struct(
    shape: str | Shape, sharding: str | Sharding | Any = None, devices: Sequence[Any] | None = None
) -> jax.ShapeDtypeStruct:
    """A `ShapeDtypeStruct` of this shape, an argument for `jit(f).lower(…)`. With a sharding, it has the shape's layout."""
    shape = Shape(shape)
    placed = None if sharding is None else to_format(shape, sharding, devices)
    return jax.ShapeDtypeStruct(shape.dimensions, shape.dtype, sharding=placed)


def buffer(x: jax.Array) -> Buffer:
    """An array as one buffer, in its layout on the device. On CPU, it shares the memory of a contiguous array."""
    return _buffer(np.asarray(x), shape_of(x))


def buffers(x: jax.Array) -> dict[int, Buffer]:
    """The shards of an array on the devices of this process, by device id."""
    return {shard.device.id: _buffer(np.asarray(shard.data), shape_of(shard.data)) for shard in x.addressable_shards}


def _buffer(array: Any, shape: Shape) -> Buffer:
    if shape == Shape.of(array.dtype, array.shape) and array.flags.c_contiguous and array.size > 0:
        return Buffer(shape, array.reshape(-1).view(np.uint8))
    return relayout(array, shape)


def module(program: Any, *args: Any, for_: str | None = None) -> Module:
    """The optimized program of a function.

        module(jax.jit(f).lower(x, y).compile())
        module(f, x, y, for_="v5e:2x4")          # compiles f(x, y) for these TPUs, without one
        module(f, x, y, for_="h100")             # for this GPU, without one

    args, for_: as in `memory`. With `for_`, a program that JAX has lowered for that device is compiled.

    Raises `ShapeError` if the compiler refuses the program, or JAX compiled it for another device.
    """
    if for_ is not None:
        device = lowered_device(for_, program, args)
        if device is None:
            return module_on(for_, program, args)
        program = program.compile() if hasattr(program, "compile") else program
        refuse_other_device(program, device)
    elif args:
        raise TypeError('expected module(compiled), or module(f, *args, for_="v5e")')
    if isinstance(program, (Module, str, bytes)):
        return Module(program)
    if not hasattr(program, "as_text") or hasattr(program, "compile"):
        raise TypeError(f'expected what jit(f).lower(…).compile() gives, or module(f, *args, for_="v5e"), found {program!r}')
    text = program.as_text()
    if text is None:
        raise ShapeError("the runtime does not return the optimized program")
    return Module(text)


def cost(program: Any, *args: Any, for_: str | None = None) -> Answer:
    """What a program costs: see `Module.cost`.

        cost(jax.jit(f).lower(x, y).compile())
        cost(f, x, y, for_="v5e")                # compiles f(x, y) for this TPU, without one

    args, for_: as in `memory`.

    Raises `ShapeError` if the compiler refuses the program, or JAX compiled it for another device.
    """
    return module(program, *args, for_=for_).cost()


class profiled:
    """Measures what runs inside of it, with JAX's profiler, and reads the profile at its end.

        step(x).block_until_ready()                 # compiles before
        with profiled() as p:
            step(x).block_until_ready()
        p.cost()                                    # measured times, copies with cause and remedy; a notebook shows them as a page

    What is still running at the end is not measured, so wait for the results inside of the `with` statement.

    directory: where the profile stays; by default it is deleted with this object.
    """

    def __init__(self, directory: str | None = None) -> None:
        if directory is None:
            self._temporary = tempfile.TemporaryDirectory()
            directory = self._temporary.name
        self.directory = directory
        """The directory of the profile."""

    def __enter__(self) -> profiled:
        jax.profiler.start_trace(self.directory)
        return self

    def __exit__(self, *error: object) -> None:
        jax.profiler.stop_trace()

    def module(self, name: str | None = None, /) -> Module:
        """The module of this name, or the one that took the most time: see `xla_shape.profile`."""
        return profile(self.directory, name)

    def cost(self, name: str | None = None, /) -> Answer:
        """What this module cost, with the measured times."""
        return self.module(name).cost()


def memory(
    program: Any, *args: Any, device: str | int | None = None, for_: str | None = None, top: int = 10, space: int | None = None
) -> Answer:
    """The memory of a program: see `Module.memory`. A notebook shows it as a page.

        memory(f, x, y, for_="v5e")              # compiles f(x, y) for this TPU, without one
        memory(f, x, y, for_="h100")             # for this GPU, without one
        memory(jax.jit(f).lower(x, y))           # compiles it for the devices of JAX
        memory(jax.jit(f).lower(x, y).compile())
        memory(jax.jit(f).lower(x, y), for_="v5e")   # only if x and y are on a v5e, such as one of a topology
        memory(error)                            # what the message of an error says, as `xla_shape.scan` reads it

    args: with `for_`, the arguments of the function, such as `jax.ShapeDtypeStruct`s. Without `for_`, the argument after the program is `device`.
    device: the TPU whose memory the program must fit, such as `"v5e"`, for which it must have been compiled; or a number of bytes.
    for_: the TPU to compile for, with libtpu (`pip install libtpu`): a generation, or a slice such as `"v5e:2x4"`; or the GPU
        (`pip install jax-cuda13-pjrt nvidia-cuda-nvcc`), such as `"h100"` or `"a100-80:2x8"`, whose memory is exact for the compiler
        without autotuning.

    If a program that is compiled here needs more memory than there is, the answer is about the program that the compiler gave up: how much memory it
    needs, how much there is, and its largest values.

    The totals are those of `compiled.memory_analysis()`, if the runtime has it. `bool()` of the answer tells whether the compiled program
    fits the device, or raises a `ShapeError` with the reason if that is unknown: `assert memory(f, x, for_="v5e")`. Raises `ShapeError` if
    the program was compiled for another device.
    """
    if for_ is not None:
        if device is not None:
            raise TypeError("expected `device` or `for_`, found both")
        device = lowered_device(for_, program, args)
        if device is None:
            return memory_on(for_, program, args, top, space)
    if len(args) > 1 or (args and device is not None):
        raise TypeError('expected memory(program, device), or memory(f, *args, for_="v5e")')
    device = args[0] if args else device
    if isinstance(program, BaseException):
        return out_of_memory(str(program))
    refuse_other_device(program, device)
    if hasattr(program, "compile") and hasattr(program, "as_text"):
        compiled = _compiled(program, device, top, space)
        if isinstance(compiled, Answer):
            return compiled
        program = compiled
        refuse_other_device(program, device)
    return module(program)._memory(device, top, space, _analysis(program))


def _compiled(lowered: Any, device: str | int | None, top: int, space: int | None) -> Any:
    """The compiled program; or, if memory runs out, the answer from the files that the compiler leaves."""
    with tempfile.TemporaryDirectory(prefix="xla-shape-") as folder:
        try:
            return lowered.compile(compiler_options={"xla_dump_to": folder})
        except jax.errors.JaxRuntimeError as error:
            answer = memory_of_refused(str(error), folder, device, top, space)
            if answer is None:
                raise
            return answer


def _analysis(compiled: Any) -> str | None:
    """The compiler's memory analysis as JSON."""
    try:
        found = compiled.memory_analysis()
    except (AttributeError, NotImplementedError, jax.errors.JaxRuntimeError):
        return None
    sizes = {name: getattr(found, name) for name in dir(found) if name.endswith("_in_bytes")}
    return json.dumps(sizes) if "temp_size_in_bytes" in sizes else None


def assert_layout(x: Any, expected: Any) -> None:
    """For tests: raises `AssertionError` unless an array, a `Format`, a layout or a shape has this layout.

    x: one of them, or a tree of them, such as `compiled.input_formats`, or the dict of arrays that a function returned.
    expected: a layout or a whole shape that all leaves of `x` must have; or `"row-major"`, `"default"` (of the array's own device) or a
        generation such as `"v5e"` (its default layouts), for leaves of any rank; or a tree of these with the structure of `x`, in which
        `None` stands for any layout.
    """
    wanted = _leaves(expected)
    if len(wanted) == 1 and wanted[0][0] == ():
        expected = wanted[0][1]
        found = _leaves(x)
        if not found:
            raise AssertionError(f"expected {expected}, found nothing that has a layout: {x!r}")
        wanted = [(path, expected) for path, _ in found]
    else:
        found = _leaves(x)
        if [path for path, _ in wanted] != [path for path, _ in found]:
            places = [", ".join(_place(path) or "one value" for path, _ in side) for side in (wanted, found)]
            raise AssertionError(f"expected layouts of {places[0]}; found {places[1]}")
    wrong = []
    for (path, value), (_, layout) in zip(found, wanted):
        if layout is not None and (message := _difference(value, layout)):
            wrong.append(f"{_place(path)}: {message}" if path else message)
    if wrong:
        raise AssertionError("\n".join(wrong))


def _leaves(tree: Any) -> list[tuple[Any, Any]]:
    """The leaves of a tree, each with its path. `None` is a leaf here, unlike in JAX."""
    found: list[tuple[Any, Any]] = jax.tree_util.tree_flatten_with_path(tree, is_leaf=lambda x: x is None)[0]
    return found


def _place(path: Any) -> str:
    return str(jax.tree_util.keystr(path))


def _difference(x: Any, expected: str | Layout | Shape) -> str | None:
    """The difference, or `None`."""
    if isinstance(x, (Shape, Layout)):
        found: Shape | Layout = x
    elif hasattr(x, "shape") and hasattr(x, "dtype"):
        found = shape_of(x)
    else:
        found = from_layout(x)
    if isinstance(expected, str):
        named = layout_like(expected, x, found)
        if named is not None:
            expected = named
    if isinstance(expected, str):
        expected = Layout(expected) if expected.lstrip().startswith("{") else Shape(expected)
    compared = found.layout if isinstance(expected, Layout) and isinstance(found, Shape) else found
    return None if compared == expected else f"expected {expected}, found {found}"
