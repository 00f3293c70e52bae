"""Runs the code in the documentation with the installed package."""

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sysconfig.get_path("scripts")


def section(path, heading=None):
    text = (ROOT / path).read_text()
    if heading is None:
        return text
    _, found = text.split(f"\n## {heading}\n", 1)
    return found.split("\n## ", 1)[0]


TEXTS = [("README.md", "Python"), ("python/README.md", None), ("docs/python.md", None)]

# Pages whose code uses the reader's own program, and a program to run that code with.
PAGES = ["docs/fit.md", "docs/gpu.md", "docs/hlo-memory.md", "docs/profiles.md", "docs/tune.md"]
PROGRAM = """import json, os, jax
step = jax.jit(lambda w, x: (w @ x).sum())
decode = lambda cache, x: (cache + x, x)
w = x = weights = batch = jax.numpy.ones((8, 8))
arguments = w, x
compiled = step.lower(w, x).compile()
os.mkdir("dump")
"""


@pytest.mark.parametrize(("path", "heading"), [*TEXTS, *((path, None) for path in PAGES)])
def test_code(path, heading, tmp_path):
    pytest.importorskip("jax")
    blocks = re.findall(r"^```python\n(.*?)^```$", section(path, heading), re.MULTILINE | re.DOTALL)
    assert blocks
    # Run in order, as a reader would.
    (tmp_path / "blocks.py").write_text("\n".join([PROGRAM if path in PAGES else "", *blocks]))
    done = subprocess.run([sys.executable, "blocks.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("path", "heading"), TEXTS)
def test_commands(path, heading):
    blocks = re.findall(r"^```sh\n(.*?)^```$", section(path, heading), re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line]
    assert lines
    for line in lines:
        if line.startswith("pip install "):
            # `.ci/run` installs these packages in the same way.
            (what,) = re.fullmatch(r"pip install ([^# ]+).*", line).groups()
            project, extras = re.fullmatch(r"'?([\w./-]+)(\[\w+\])?'?", what).groups()
            assert (ROOT / project / "pyproject.toml").exists() or project == "xla-shape", line
            if extras:
                assert f"\n{extras[1:-1]} = [" in (ROOT / "python" / "pyproject.toml").read_text()
            continue
        environment = {**os.environ, "PATH": f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}"}
        done = subprocess.run(["sh", "-c", line], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{line}\n{done.stderr}"
