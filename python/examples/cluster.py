"""Divides a checkpoint among devices on a Ray cluster of this machine, kills a worker in the middle, and compares every byte with
what one process made. Then it measures one worker, and several.

    pip install 'xla-shape[ray]' && python python/examples/cluster.py --megabytes 1024
"""

from __future__ import annotations

import argparse
import hashlib
import os
import resource
import signal
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import ray

import xla_shape
import xla_shape.ray
from xla_shape import shard

PLAN = {
    "*.weight": {"sharding": "{devices=[2,2]<=[4]}", "generation": "v5e"},
    "*": "{replicated}",
}
DEVICES = range(4)
FILES = 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--megabytes", type=int, default=1024, help="of the checkpoint")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--folder", help="for the checkpoint, instead of a temporary one")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        run(Path(folder), arguments.megabytes, arguments.workers)


def run(folder: Path, megabytes: int, workers: int) -> None:
    files = checkpoint(folder, megabytes)
    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, configure_logging=False)
    try:
        shard.run(files, PLAN, folder / "alone", DEVICES)
        expected = digests(folder / "alone")

        killed: list[int] = []
        killer = threading.Thread(target=kill_one, args=(folder / "cluster", killed))
        killer.start()
        results = xla_shape.ray.shard(files, PLAN, folder / "cluster", DEVICES)
        killer.join()
        assert killed, "no worker was killed"
        assert len(results) == FILES * len(DEVICES)
        assert digests(folder / "cluster") == expected
        assert not [path for path in (folder / "cluster").iterdir() if path.name.startswith(".")]
        print(f"worker {killed[0]} was killed in the middle; {len(expected)} files, all equal to those of one process")

        again = xla_shape.ray.shard(files, PLAN, folder / "cluster", DEVICES)
        assert all(result.resumed for result in again)
        print(f"done again: all {len(again)} files were there already")
        for count in sorted({1, workers}):
            measure(files, folder / f"by {count}", count, workers)
    finally:
        ray.shutdown()


def checkpoint(folder: Path, megabytes: int) -> list[Path]:
    random = np.random.default_rng(0)
    rows = max(4, megabytes * 2**20 // FILES // (4096 * 4) // 4 * 4)
    files = []
    for number in range(FILES):
        path = folder / f"model-{number}.safetensors"
        weight = random.integers(0, 2**31, (rows, 4096), np.int32).view(np.float32)
        xla_shape.write(path, xla_shape.relayout(weight), f"{number}.weight")
        files.append(path)
    return files


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.file_digest(path.open("rb"), "sha256").hexdigest() for path in folder.iterdir()}


def kill_one(output: Path, killed: list[int]) -> None:
    """Waits until some files exist, and kills a busy worker of this process."""
    while not output.exists() or len(list(output.iterdir())) < FILES // 2:
        time.sleep(0.005)
    deadline = time.monotonic() + 30
    while not killed and time.monotonic() < deadline:
        for pid in own_workers():
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)
            return
        time.sleep(0.001)


def own_workers() -> list[int]:
    """The processes that run a task: grandchildren of this process."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            name = (path / "cmdline").read_bytes()
            parent = int((path / "stat").read_text().rsplit(")", 1)[1].split()[1])
            grandparent = int(Path(f"/proc/{parent}/stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError, ValueError):
            continue
        is_at_work = name.startswith(b"ray::xla_shape.shard")
        if is_at_work and grandparent == os.getpid():
            found.append(int(path.name))
    return found


@ray.remote
class Worker:
    """Runs jobs in a process and prints their times and memory."""

    def ready(self) -> int:
        return peak()

    def run(self, jobs: list[shard.Job]) -> tuple[int, int]:
        return sum(job.run().bytes for job in jobs), peak()


def peak() -> int:
    """The peak memory of this process, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure(files: list[Path], output: Path, count: int, workers: int) -> None:
    jobs = shard.jobs(files, PLAN, output, DEVICES)
    hands = [Worker.options(num_cpus=workers / count).remote() for _ in range(count)]
    before = max(ray.get([hand.ready.remote() for hand in hands]))
    start = time.perf_counter()
    done = ray.get([hand.run.remote(jobs[number::count]) for number, hand in enumerate(hands)])
    seconds = time.perf_counter() - start
    written = sum(number for number, _ in done)
    after = max(most for _, most in done)
    print(
        f"{count} worker{'s' if count > 1 else ''}: {written / 2**20:,.0f} MiB in {seconds:.2f} s, "
        f"{written / seconds / 2**20:,.0f} MiB/s; peak memory of a worker {after / 2**20:,.0f} MiB, "
        f"{before / 2**20:,.0f} MiB of them before its first job"
    )
    for hand in hands:
        ray.kill(hand)


if __name__ == "__main__":
    main()
