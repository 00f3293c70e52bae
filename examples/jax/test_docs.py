"""Runs the Python code in the documentation, in a separate process, with the kernels on the same pages (the crate `docs`)."""

import ast
import re
import subprocess
import sys

import pytest
from test_kernels import LIBRARY, ROOT, TARGET

TEXTS = ["crates/ffi/README.md", "docs/jax.md"]

# A replacement for the reader's own library.
BEFORE = f"""
import sys
sys.path[:0] = [{str(ROOT / "python")!r}]
import jax, jax.export, jax.numpy as jnp, pytest, types, xla_shape_ffi

load, paths = xla_shape_ffi.load, {{"target/release/libkernels.so": sys.argv[1]}}
examples = load({str(LIBRARY)!r})
xla_shape_ffi.load = lambda path: types.SimpleNamespace(softmax=examples.softmax_of_rows, **{{k.__name__: k for k in load(paths[path])}})
"""


def blocks(path):
    text = (ROOT / path).read_text()
    return re.findall(r"^```python(?:,\w+)*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def program(block):
    """The code of a block. A statement followed by a comment with an error must raise that error."""
    lines, written = block.splitlines(), []
    for statement in ast.parse(block).body:
        code = "\n".join(lines[statement.lineno - 1 : statement.end_lineno])
        behind = lines[statement.end_lineno] if statement.end_lineno < len(lines) else ""
        if error := re.fullmatch(r"# (\w+Error): (.*)", behind):
            code = f"with pytest.raises({error[1]}) as error:\n    {code}\nassert str(error.value) == {error[2]!r}"
        written.append(code)
    return "\n".join(written)


@pytest.mark.parametrize("path", TEXTS)
def test_code(path, tmp_path):
    found = blocks(path)
    assert found
    # Run in order, as a reader would.
    (tmp_path / "blocks.py").write_text(BEFORE + "\n".join(map(program, found)))
    done = subprocess.run([sys.executable, "blocks.py", str(TARGET / "libjax_docs_kernels.so")], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
