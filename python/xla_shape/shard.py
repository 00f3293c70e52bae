"""Checkpoints, divided among devices: each `.safetensors` file becomes a file for each device, in the layout that the device wants.

    from xla_shape import shard

    plan = {"*": {"sharding": "{devices=[8,1]<=[8]}", "generation": "v5e"}}
    for job in shard.jobs("model.safetensors.index.json", plan, "sharded", devices=range(8)):
        job.run()

A job makes one file for one device. It can be pickled, and does not depend on other jobs: run it anywhere, in any order, twice, or again
after a crash. A file comes to its place only when it is whole. An existing file is compared with what would be written, and kept if all bytes
are the same. So jobs can run under any engine that calls functions; `xla_shape.ray` runs them with Ray.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import Layout, Shape, ShapeError, Sharding, _native

__all__ = ["Job", "Plan", "Result", "index", "jobs", "load", "run"]

Plan = Mapping[str, Any]
"""Names of tensors, or patterns with `*`, each with a sharding, or `sharding` with a `layout` or a `generation` of TPUs.

A sharding is a text, a `Sharding`, or JAX's `NamedSharding` whose spec has an entry for each dimension."""

_Path = str | os.PathLike[str]
_Paths = _Path | Sequence[_Path]


@dataclass(frozen=True)
class Result:
    """What a job did."""

    output: str
    """The file."""
    device: int
    bytes: int
    """The size of the whole file."""
    resumed: bool
    """Whether it was there already, with the same bytes, and was kept."""
    shards: list[dict[str, Any]]
    """Its tensors: `name`, `whole`, `shape`, `start`, `bytes_read`, `bytes`."""


@dataclass(frozen=True)
class Job:
    """One file of a checkpoint for one device."""

    paths: tuple[str, ...]
    """The file; or, if another plan has divided it, the files of that plan's devices."""
    name: str
    """The file's name in the checkpoint."""
    device: int
    plan: str
    """As JSON."""
    output: str
    """The folder to write into."""

    def run(self, force: bool = False) -> Result:
        """Writes the device's file. A file that is there already with the same bytes is kept, unless `force` is given."""
        done = json.loads(_native.shard_file(self.paths, self.name, self.device, self.plan, self.output, force))
        [file] = done["files"]
        return Result(file["output"], self.device, file["bytes"], file["resumed"], done["tensors"])


def jobs(input: _Paths, plan: Plan | _Path, output: _Path, devices: Iterable[int]) -> list[Job]:
    """A job for each file and device. Reads only the headers of the files, and checks that the plan fits them.

    input: `.safetensors` files, or the `.index.json` of a model with several files; or the files of all devices of another plan, which then
        become the files of this plan.
    plan: how tensors are divided, or the name of a JSON file that says so.
    """
    text = _text(plan)
    files = _native.shard_files(_paths(input), text)
    to = os.fspath(output)
    return [
        Job(tuple(map(str, paths)), str(name), device, text, to) for device in devices for paths, name in files
    ]


def index(input: _Paths, plan: Plan | _Path, output: _Path, devices: Iterable[int]) -> list[str]:
    """Writes for each device the index of its files, where the checkpoint has one."""
    text = _text(plan)
    written = [_native.shard_index(_paths(input), device, text, output) for device in devices]
    return [str(path) for path in written if path is not None]


def run(
    input: _Paths, plan: Plan | _Path, output: _Path, devices: Iterable[int], force: bool = False
) -> list[Result]:
    """Does all jobs, one after the other, and writes the indices; with `force`, also writes files that would stay the same."""
    devices = list(devices)
    results = [job.run(force) for job in jobs(input, plan, output, devices)]
    index(input, plan, output, devices)
    return results


def load(directory: _Path, mesh: Any, shardings: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The arrays that `run` has divided, as `jax.Array`s on the devices of a mesh. Each process reads the files of its own devices.

    directory: the output of `run`, for as many devices as the mesh has. Device 3 is the fourth one of `mesh.devices`, whatever its id.
    mesh: a `jax.sharding.Mesh`.
    shardings: for each name of a tensor, a `NamedSharding` or a `PartitionSpec`. A tensor without one gets the sharding of the plan, which
        the file contains.

    Raises `ShapeError` if a file is missing, or holds another part of an array than the sharding gives to its device.
    """
    import jax
    import numpy as np

    from .jax import to_sharding

    devices = list(mesh.devices.flat)
    parts: dict[str, list[Any]] = {}
    known: dict[str, tuple[Any, str]] = {}
    for number, device in enumerate(devices):
        if device.process_index != jax.process_index():
            continue
        for path, name, note in _noted(directory, number):
            whole = Shape(note["whole"])
            if name not in known:
                given = (shardings or {}).get(name, note["sharding"])
                if isinstance(given, jax.sharding.PartitionSpec):
                    given = jax.sharding.NamedSharding(mesh, given)
                elif isinstance(given, str):
                    given = to_sharding(given, devices)
                known[name] = given, note["whole"]
            sharding, before = known[name]
            if before != note["whole"]:
                raise ShapeError(f"{path}: {name}: expected a part of {before}, as in another file, found one of {whole}")
            shape = Shape(note["shape"])
            start = tuple(entry.start or 0 for entry in sharding.devices_indices_map(whole.dimensions)[device])
            if start != tuple(note["start"]) or sharding.shard_shape(whole.dimensions) != shape.dimensions:
                raise ShapeError(
                    f"{path}: {name}: expected the part of {whole} at {list(start)} with the sizes "
                    f"{list(sharding.shard_shape(whole.dimensions))}, found the part at {note['start']} with {list(shape.dimensions)}"
                )
            array = np.asarray(_native.read(path, name))
            parts.setdefault(name, []).append(jax.device_put(array, device))
    arrays = {}
    for name, found in parts.items():
        sharding, whole_text = known[name]
        if len(found) != len(sharding.addressable_devices):
            raise ShapeError(f"{name}: expected a part for each of {len(sharding.addressable_devices)} devices, found {len(found)}")
        arrays[name] = jax.make_array_from_single_device_arrays(Shape(whole_text).dimensions, sharding, found)
    return arrays


def _noted(directory: _Path, device: int) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The tensors in a device's files: the file, the name, and what its header says."""
    folder = os.fspath(directory)
    files = [name for name in sorted(os.listdir(folder)) if name.endswith(f".device-{device}.safetensors")]
    if not files:
        raise ShapeError(f"{folder}: expected files of device {device}, such as model.device-{device}.safetensors, found none")
    for file in files:
        path = os.path.join(folder, file)
        for name, note in json.loads(_native.shard_notes(path))["tensors"].items():
            yield path, name, note


def _paths(input: _Paths) -> list[_Path]:
    return [input] if isinstance(input, (str, os.PathLike)) else list(input)


def _text(plan: Plan | _Path) -> str:
    if isinstance(plan, (str, os.PathLike)):
        with open(plan, encoding="utf-8") as file:
            return file.read()
    return json.dumps(plan, default=_plain)


def _plain(value: Any) -> str:
    if isinstance(value, (Layout, Sharding)):
        return str(value)
    if hasattr(value, "mesh") and hasattr(value, "spec"):
        from .jax import from_sharding

        return str(from_sharding(value, len(value.spec)))
    raise TypeError(f"expected a Sharding, a Layout or a text in a plan, found {value!r}")
