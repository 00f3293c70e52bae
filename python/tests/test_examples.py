"""Runs the programs of `python/examples`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jax")
from test_ffi import LIBRARY

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
# `cluster.py` is part of `scripts/wheel.sh`.
PROGRAMS = sorted(path.name for path in EXAMPLES.glob("*.py") if path.name != "cluster.py")


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, tmp_path):
    if name == "kernel.py" and LIBRARY is None:
        pytest.skip("the library of kernels is not built")
    environment = os.environ | {"JAX_PLATFORMS": "cpu", "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-P", str(EXAMPLES / name), *([str(LIBRARY)] if name == "kernel.py" else [])]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
