"""`xla_shape.shard` on a Ray cluster: jobs that crashed are run again, and finished files are kept. `Executor` is for `tune`."""

from __future__ import annotations

import concurrent.futures
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import ray

from .shard import Job, Plan, Result, index, jobs

__all__ = ["Executor", "shard"]


def shard(
    input: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    plan: Plan | str | os.PathLike[str],
    output: str | os.PathLike[str],
    devices: Iterable[int],
    **options: Any,
) -> list[Result]:
    """Divides a checkpoint among devices, with a Ray task for each file and device; `options` are Ray's, such as `num_cpus`.

    All workers must have access to the files.
    """
    devices = list(devices)
    task = ray.remote(Job.run).options(**{"name": "xla_shape.shard", "max_retries": -1, **options})
    results: list[Result] = ray.get([task.remote(job) for job in jobs(input, plan, output, devices)])
    index(input, plan, output, devices)
    return results


class Executor(concurrent.futures.Executor):
    """Runs each call as a Ray task, for `xla_shape.jax.tune(executor=…)`; `options` are Ray's, such as `num_cpus`."""

    def __init__(self, **options: Any) -> None:
        self._options = {"name": "xla_shape.tune", **options}

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> concurrent.futures.Future[Any]:
        reference = ray.remote(function).options(**self._options).remote(*args, **kwargs)
        future: concurrent.futures.Future[Any] = reference.future()
        # Cancelling a future does not cancel its task, and other tasks would wait for the task's place.
        future.add_done_callback(lambda done: ray.cancel(reference) if done.cancelled() else None)
        return future
