"""Runs the code in the documentation: its kernels are compiled, and its Python runs in a separate process."""

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


def blocks(path, language):
    text = (ROOT / path).read_text()
    return re.findall(rf"^```{language}(?:,\w+)*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


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


@pytest.fixture(scope="module")
def library():
    """A library of all kernels in the texts; if several texts have the same kernel, of the first."""
    modules, kernels = [], {}
    for i, block in enumerate(block for path in TEXTS for block in blocks(path, "rust")):
        block = re.sub(r"^(xla_shape_ffi::)?export!\[.*\];\n", "", block, flags=re.MULTILINE)
        imports = "" if "use xla_shape" in block else "use xla_shape::{View, ViewMut, shape};\n"
        modules.append(f"pub mod block_{i} {{\n{imports}{block}}}\n")
        for kernel in re.findall(r"^    fn (\w+)\(", block, re.MULTILINE):
            kernels.setdefault(kernel, f"block_{i}::{kernel}")
    source = re.sub("^    fn ", "    pub fn ", "".join(modules), flags=re.MULTILINE)
    folder = ROOT / "target" / "docs-kernels"
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "src/lib.rs").write_text(f"{source}xla_shape_ffi::export![{', '.join(kernels.values())}];\n")
    # With the features of the examples, whose dependencies are already built.
    (folder / "Cargo.toml").write_text(
        '[package]\nname = "docs-kernels"\nversion = "0.0.0"\nedition = "2024"\n[workspace]\n[lib]\ncrate-type = ["cdylib"]\n'
        f'[dependencies]\nxla-shape = {{ path = "{ROOT}/xla-shape", features = ["hlo"] }}\n'
        f'xla-shape-ffi = {{ path = "{ROOT}/crates/ffi", features = ["threads"] }}\n'
    )
    (folder / "Cargo.lock").write_bytes((ROOT / "Cargo.lock").read_bytes())
    command = ["cargo", "build", "--quiet", "--target-dir", str(TARGET.parent), *["--release"] * (TARGET.name == "release")]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return TARGET / "libdocs_kernels.so"


@pytest.mark.parametrize("path", TEXTS)
def test_code(path, library, tmp_path):
    found = blocks(path, "python")
    assert found
    # Run in order, as a reader would.
    (tmp_path / "blocks.py").write_text(BEFORE + "\n".join(map(program, found)))
    done = subprocess.run([sys.executable, "blocks.py", str(library)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
