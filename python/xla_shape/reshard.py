"""Changes of shardings: from the shards that devices have to those that they should have, in memory and in files.

    from xla_shape import reshard

    plan = reshard.plan("{devices=[4,1]<=[4]}", "{devices=[1,4]<=[4]}", "f32[64,128]")
    print(plan.answer())          # what must move between devices, at least
    columns = plan.apply(rows)    # the new shards; `rows` is a list with the shard of each device

    reshard.run("four", {"*": "{devices=[8,1]<=[8]}"}, "eight", devices=range(8))

`apply` does on one machine what the devices do: it gives results to test a program with, or moves arrays on a host. `run` makes the files
of one plan of `xla_shape.shard` from the files of another plan.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import Answer, Buffer, Shape, ShapeError, Sharding, relayout
from . import shard as _shard

__all__ = ["Change", "jobs", "plan", "run"]

_Path = str | os.PathLike[str]


@dataclass(frozen=True)
class Change:
    """The change of an array from one sharding to another."""

    shape: Shape
    """The whole array, with the layout of its shards."""
    before: Sharding
    after: Sharding
    layout: str | None = None
    """The layout of the new shards, if it differs."""
    rearrange: str | None = None
    """A reshape and a transposition that come first; `after` then divides their result."""

    def answer(
        self,
        *,
        hosts: int | str | Sequence[Sequence[int]] | None = None,
        devices: Sequence[int] = (),
        for_: str | None = None,
    ) -> Answer:
        """What moves: the bytes, who sends what to whom, and the collective that does it.

        hosts: the number of devices per host, or a list of devices for each host. A part comes from a device of the same host if one has it.
        devices: the devices to list; by default all.
        for_: devices such as `v5e:2x4`, for which XLA compiles the change; `xla` in the answer says what XLA moves.
        """
        return self.before.reshard(
            self.after,
            self.shape,
            layout=self.layout,
            hosts=hosts,
            devices=devices,
            rearrange=self.rearrange,
            for_=for_,
        )

    def receive(self, shards: Mapping[int, Any] | Sequence[Any], device: int) -> Buffer:
        """The new shard of a device, made from the shards that the devices have; see `apply`."""
        return self.before.receive(
            self.after, self.shape, self._bytes(shards), device, layout=self.layout, rearrange=self.rearrange
        )

    def apply(self, shards: Mapping[int, Any] | Sequence[Any], devices: Iterable[int] | None = None) -> dict[int, Any]:
        """The new shards by device, as NumPy arrays, made from the shards that the devices have.

        shards: a dict by the numbers of the devices, or a list in their order, of arrays that NumPy accepts, or of `bytes` in the layout of
            `shape`.
        devices: the devices whose new shards are made; by default all devices of the new sharding.

        Raises `ShapeError` if a shard is missing, or has another shape or element type.
        """
        import numpy as np

        if devices is None:
            told = self.answer().data
            devices = [entry["device"] for entry in told["devices"]]
            if told["more_devices"]:
                raise ShapeError(f"expected `devices`, because there are {told['more_devices'] + len(devices)}")
        data = self._bytes(shards)
        made = {
            device: self.before.receive(
                self.after, self.shape, data, device, layout=self.layout, rearrange=self.rearrange
            )
            for device in devices
        }
        return {device: np.asarray(buffer) for device, buffer in made.items()}

    def _bytes(self, shards: Mapping[int, Any] | Sequence[Any]) -> dict[int, Any]:
        """The bytes of each shard in the layout of `shape`."""
        expected = self.before.shard_shape(self.shape)
        by_device = shards.items() if isinstance(shards, Mapping) else enumerate(shards)
        return {device: _laid_out(device, shard, expected) for device, shard in by_device}


def _laid_out(device: int, shard: Any, expected: Shape) -> Any:
    import numpy as np

    if isinstance(shard, Buffer) and shard.shape == expected:
        return shard.data
    if isinstance(shard, (bytes, bytearray, memoryview)):
        return shard
    try:
        array = np.asarray(shard)
        found = Shape.of(array.dtype, array.shape)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"device {device}: expected an array, found {type(shard).__name__}: {error}") from error
    if found.dimensions != expected.dimensions:
        sizes = [list(shape.dimensions) for shape in (expected, found)]
        raise ShapeError(f"device {device}: expected a shard of the sizes {sizes[0]}, found {sizes[1]}")
    if found.element_type != expected.element_type:
        raise ShapeError(f"device {device}: expected elements of {expected.element_type}, found {found.element_type}")
    if found == expected:
        return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return relayout(array, expected).data


def plan(before: Any, after: Any, shape: str | Shape | None = None, *, rearrange: str | None = None) -> Change:
    """The change from one sharding to another.

    before, after: a `Sharding` or its text, or JAX's `NamedSharding` or `Format`. A sharding that names axes may have fewer dimensions than the
        array. `before` can also be a `jax.Array` or a `jax.ShapeDtypeStruct`.
    shape: the whole array, with the layout of its shards. It may be left out if `before` is an array, which has a shape.
    rearrange: a reshape and a transposition that come first, such as `(page part=4) token d -> page (part token) d`.

    Raises `ShapeError` if a sharding does not divide the array, or the array cannot be rearranged in this way.
    """
    if shape is None:
        if not hasattr(before, "dtype"):
            raise ShapeError("expected the shape of the whole array, because a sharding has none")
        if getattr(before, "sharding", None) is None:
            raise ShapeError(f"expected a sharding, or an array that has one, found {type(before).__name__}")
        from .jax import shape_of

        shape = shape_of(before)
        before = getattr(before, "format", None) or before.sharding
    shape = Shape(shape)
    rank = len(shape.dimensions)
    sharding, layout = _parts(before, rank)
    if layout is not None:
        shape = shape.with_layout(layout)
    after, layout = _parts(after, len(shape.rearrange(rearrange).dimensions) if rearrange else rank)
    sharding._check_reshard(after, shape, layout=layout, rearrange=rearrange)
    return Change(shape, sharding, after, layout, rearrange)


def jobs(input: _Path, plan: _shard.Plan | _Path, output: _Path, devices: Iterable[int]) -> list[_shard.Job]:
    """A job for each file and device: see `xla_shape.shard`. `input` is the folder with the files of all devices of the old plan."""
    return _shard.jobs(_files(input), plan, output, devices)


def run(
    input: _Path, plan: _shard.Plan | _Path, output: _Path, devices: Iterable[int], force: bool = False
) -> list[_shard.Result]:
    """Makes the files and the indices of a plan from the files of another plan, which are in a folder. Files with the same bytes are kept."""
    return _shard.run(_files(input), plan, output, devices, force)


def _files(folder: _Path) -> list[_Path]:
    """The indices in a folder, or its files if it has none."""
    names = sorted(os.listdir(folder))
    for ending in (".index.json", ".safetensors"):
        found: list[_Path] = [os.path.join(folder, name) for name in names if name.endswith(ending)]
        if found:
            return found
    raise ShapeError(f"{os.fspath(folder)}: expected .safetensors files, found none")


def _parts(value: Any, rank: int) -> tuple[Sharding, str | None]:
    """A sharding, and the layout of a `Format`."""
    if isinstance(value, (str, Sharding)):
        return Sharding(value).for_dimensions(rank), None
    from .jax import from_layout, from_sharding

    layout = None
    if hasattr(value, "layout") and hasattr(value, "sharding"):
        layout = None if value.layout is None else str(from_layout(value.layout))
        value = value.sharding
    return from_sharding(value, rank), layout

