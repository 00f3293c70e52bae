"""Checkpoints, divided among devices: `.safetensors` files to a file for each device, in the layout that the device wants.

    from xla_shape import shard

    plan = {"*": {"sharding": "{devices=[8,1]<=[8]}", "generation": "v5e"}}
    for job in shard.jobs("model.safetensors.index.json", plan, "sharded", devices=range(8)):
        job.run()

A job is one file and one device. It is a value that can be pickled, and what it does depends on nothing else: run it anywhere,
in any order, twice, or again after a crash. A file comes to its place only when it is whole; one that is there already is compared
with what would be written, and left as it is if all bytes are the same. So it runs under any engine that calls functions; `xla_shape.ray` has Ray's.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import Layout, Sharding, _native

__all__ = ["Job", "Plan", "Result", "index", "jobs", "run"]

Plan = Mapping[str, str | Sharding | Mapping[str, str | Sharding | Layout]]
"""Names of tensors, or patterns with `*`, each with a sharding, or `sharding` with a `layout` or a `generation` of TPUs."""

_Path = str | os.PathLike[str]
_Paths = _Path | Sequence[_Path]


@dataclass(frozen=True)
class Result:
    """What a job did."""

    output: str
    """The file."""
    device: int
    bytes: int
    """Of the whole file."""
    resumed: bool
    """Whether it was there already, with the same bytes, and was left as it is."""
    shards: list[dict[str, Any]]
    """Its tensors: `name`, `whole`, `shape`, `start`, `bytes_read`, `bytes`."""


@dataclass(frozen=True)
class Job:
    """One file of a checkpoint for one device."""

    path: str
    name: str
    """The file's name in the checkpoint."""
    device: int
    plan: str
    """As JSON."""
    output: str
    """The folder to write into."""

    def run(self, force: bool = False) -> Result:
        """Writes the device's file, unless it is there already with the same bytes; with `force`, also then."""
        done = json.loads(_native.shard_file(self.path, self.name, self.device, self.plan, self.output, force))
        [file] = done["files"]
        return Result(file["output"], self.device, file["bytes"], file["resumed"], done["tensors"])


def jobs(input: _Paths, plan: Plan | _Path, output: _Path, devices: Iterable[int]) -> list[Job]:
    """A job for each file and device. Reads only what the files say that they contain, and checks the plan against it.

    input: `.safetensors` files, or the `.index.json` of a model of several.
    plan: how tensors are divided, or the name of a JSON file that says so.
    """
    text = _text(plan)
    files = _native.shard_files(_paths(input), text)
    to = os.fspath(output)
    return [Job(str(path), str(name), device, text, to) for device in devices for path, name in files]


def index(input: _Paths, plan: Plan | _Path, output: _Path, devices: Iterable[int]) -> list[str]:
    """Writes for each device the index of its files, where the checkpoint has one."""
    text = _text(plan)
    written = [_native.shard_index(_paths(input), device, text, output) for device in devices]
    return [str(path) for path in written if path is not None]


def run(
    input: _Paths, plan: Plan | _Path, output: _Path, devices: Iterable[int], force: bool = False
) -> list[Result]:
    """Does all jobs, one after the other, and writes the indices; with `force`, also writes files that are the same."""
    devices = list(devices)
    results = [job.run(force) for job in jobs(input, plan, output, devices)]
    index(input, plan, output, devices)
    return results


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
    raise TypeError(f"expected a Sharding, a Layout or a text in a plan, found {value!r}")
