"""Ctrl-C during work on files: it ends early, and leaves the files as they were."""

import json
import signal

import numpy as np
import pytest

import xla_shape
from xla_shape import shard


@pytest.fixture
def interrupt_after():
    """A function to call before a call: it interrupts that call once this process has computed for a number of seconds."""
    before = signal.signal(signal.SIGPROF, signal.default_int_handler)
    yield lambda seconds: signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)


def zeros(path, megabytes):
    """A file of zeros, which take no place on the disk."""
    np.lib.format.open_memmap(path, "w+", np.float32, (1024, megabytes << 8))
    return path


def test_an_interrupt_ends_a_relayout_of_a_file(tmp_path, interrupt_after):
    """The work has many parts."""
    source, output = zeros(tmp_path / "in.npy", 256), tmp_path / "out.bin"
    output.write_bytes(b"as before")
    with pytest.raises(KeyboardInterrupt):
        interrupt_after(0.02)
        xla_shape.relayout_file(source, output, "{0,1:T(8,128)}")
    assert output.read_bytes() == b"as before"
    assert sorted(tmp_path.iterdir()) == [source, output]


def test_an_interrupt_of_the_last_part_counts(tmp_path, interrupt_after):
    """The work has one part, which is written."""
    source, output = zeros(tmp_path / "in.npy", 32), tmp_path / "out.bin"
    with pytest.raises(KeyboardInterrupt):
        interrupt_after(0.005)
        xla_shape.relayout_file(source, output, "{0,1:T(8,128)}")
    assert list(tmp_path.iterdir()) == [source] or output.stat().st_size == 32 << 20


def test_an_interrupt_ends_a_shard(tmp_path, interrupt_after):
    source, size = tmp_path / "model.safetensors", 256 << 20
    header = json.dumps({"w": {"dtype": "F32", "shape": [8192, 8192], "data_offsets": [0, size]}}).encode()
    with source.open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + size)
    plan = {"*": {"sharding": "{replicated}", "layout": "{0,1:T(8,128)}"}}
    [job] = shard.jobs([source], plan, tmp_path / "out", [0])
    with pytest.raises(KeyboardInterrupt):
        interrupt_after(0.02)
        job.run()
    assert list((tmp_path / "out").iterdir()) == []
    # What the interrupted run left does not disturb the next run.
    assert not job.run().resumed and job.run().resumed
