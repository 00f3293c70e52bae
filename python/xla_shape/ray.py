"""`xla_shape.shard` on a Ray cluster: what has crashed is done again, what is done already is left as it is."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import ray

from .shard import Job, Plan, Result, index, jobs

__all__ = ["shard"]


def shard(
    input: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    plan: Plan | str | os.PathLike[str],
    output: str | os.PathLike[str],
    devices: Iterable[int],
    **options: Any,
) -> list[Result]:
    """Divides a checkpoint, a task for each file and device; `options` are Ray's, such as `num_cpus`.

    The files must be where all workers see them.
    """
    devices = list(devices)
    task = ray.remote(Job.run).options(**{"name": "xla_shape.shard", "max_retries": -1, **options})
    results: list[Result] = ray.get([task.remote(job) for job in jobs(input, plan, output, devices)])
    index(input, plan, output, devices)
    return results
