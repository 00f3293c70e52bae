"""If there is not enough memory for a copy of the input, a `MemoryError` is raised, and Python continues."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits memory so")

BEGIN = """
import pickle, resource, sys
import numpy as np
import xla_shape
from xla_shape import Buffer, Module, ParseError, ShapeError

MIB = 1 << 20

def limit(more):
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + more * MIB, resource.RLIM_INFINITY))

def refused(call, *others):
    try:
        call()
    except (MemoryError, *others) as error:
        return type(error).__name__
    raise AssertionError("there was memory")

folder = sys.argv[1]
"""


def run(code, folder):
    done = subprocess.run([sys.executable, "-c", BEGIN + code, str(folder)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.split()


def test_copies_of_buffers(tmp_path):
    run(
        """
array = np.zeros(300 * MIB, np.uint8)
buffer = Buffer(f"u8[{array.size}]", array)
limit(100)
for call in (buffer.tobytes, lambda: pickle.dumps(buffer), lambda: pickle.dumps(buffer, protocol=5), lambda: bytes(buffer)):
    refused(call)
refused(lambda: xla_shape.relayout(array))
refused(lambda: buffer.relayout("{0:T(128)}"))
refused(lambda: buffer.__dlpack__(copy=True))
refused(lambda: buffer.__dlpack__())
# Without a copy, the original still exists.
assert memoryview(buffer).nbytes == array.size and np.asarray(buffer)[-1] == 0
xla_shape.write(folder + "/a.npy", buffer)
xla_shape.write(folder + "/a.safetensors", buffer, "a")
for call in (
    lambda: xla_shape.read(folder + "/a.npy"),
    lambda: xla_shape.read(folder + "/a.safetensors", "a"),
    lambda: xla_shape.read(folder + "/a.npy", from_=buffer.shape),
):
    refused(call)
""",
        tmp_path,
    )


FILES = {
    "text of nothing": lambda size: b" " * size,
    "no text": lambda size: b"\xff" + b" " * size,
    "no module": lambda size: b"x " * (size // 2),
    "a module": lambda size: b'ENTRY e { ROOT a = f32[2] parameter(0), backend_config="' + b"a" * size + b'" }',
    "a message": lambda size: b"\x0a" + bytes([0x80 | size & 127, 0x80 | size >> 7 & 127, 0x80 | size >> 14 & 127, size >> 21]) + b"a" * size,
}


@pytest.mark.parametrize("name", FILES)
def test_modules_of_any_size(name, tmp_path):
    """The interpreter survives, whether memory is too small for the file, for a copy of it, or for neither."""
    size = 10 << 20
    (tmp_path / "m.txt").write_bytes(FILES[name](size))
    found = []
    for more in (5, 13, 23, 35, 50, 100):
        found += run(
            f"""
limit({more})
for call in (lambda: Module.read(folder + "/m.txt"), lambda: Module(open(folder + "/m.txt", "rb").read())):
    try:
        module = call()
        print("read")
    except (MemoryError, ShapeError) as error:
        print(type(error).__name__)
""",
            tmp_path,
        )
    # The first limits are too small for the file, the last ones large enough.
    assert found[:2] == ["MemoryError"] * 2 and found[-1] != "MemoryError", found


def test_texts_of_modules(tmp_path):
    run(
        """
module = Module('ENTRY e { ROOT a = f32[2] parameter(0), backend_config="' + "a" * (40 * MIB) + '" }')
limit(30)
for call in (lambda: str(module), lambda: pickle.dumps(module), lambda: hash(module)):
    refused(call)
assert module.result == xla_shape.Shape("f32[2]")
""",
        tmp_path,
    )
