"""The program in the wheel, and the installed package."""

import ast
import functools
import inspect
import os
import subprocess
import sys
import sysconfig
from importlib.metadata import requires, version
from pathlib import Path

import pytest

import xla_shape

SHAPE = "f32[100,200]{1,0:T(8,128)}"
SCRIPT = Path(sysconfig.get_path("scripts")) / "xla-shape"


@pytest.mark.parametrize("program", [[str(SCRIPT)], [sys.executable, "-m", "xla_shape"]])
def test_program(program):
    def run(*arguments):
        return subprocess.run([*program, *arguments], capture_output=True, text=True, check=False)

    explained = run("explain", SHAPE)
    assert explained.returncode == 0 and "106,496 bytes" in explained.stdout
    wrong = run("explain", "f32[2,3]{1,1}")
    assert wrong.returncode == 1 and "^" in wrong.stderr
    assert run("--help").returncode == 0
    usage = run("no-verb")
    assert usage.returncode == 2 and "Usage" in usage.stderr


def test_package():
    assert xla_shape.__version__ == version("xla-shape")
    # NumPy is the only required package.
    assert [line.split(">")[0] for line in requires("xla-shape") if "extra ==" not in line] == ["numpy"]
    assert (Path(xla_shape.__file__).parent / "py.typed").exists()


def test_everything_public_is_documented_and_typed():
    stubs = (Path(xla_shape.__file__).parent / "_native.pyi").read_text()
    for name in xla_shape.__all__:
        value = getattr(xla_shape, name)
        if name.startswith("__") or isinstance(value, tuple):
            continue
        assert value.__module__.startswith("xla_shape") or value.__module__ == "builtins", name
        assert inspect.getdoc(value), name
        if isinstance(value, type) and value.__module__ == "xla_shape":
            for member in vars(value):
                assert member.startswith("__") or f"def {member}(" in stubs, f"{name}.{member}"
                assert member.startswith("_") or inspect.getdoc(getattr(value, member)), f"{name}.{member}"


def test_help_says_what_the_stubs_say():
    tree = ast.parse((Path(xla_shape.__file__).parent / "_native.pyi").read_text())
    said = {}
    for node in tree.body:
        if not isinstance(node, (ast.ClassDef, ast.FunctionDef)) or node.name == "_Array":
            continue
        members = [member for member in getattr(node, "body", ()) if isinstance(member, ast.FunctionDef)]
        # The last overload of a function has the docstring.
        said[(node.name,)] = ast.get_docstring(node) or said.get((node.name,))
        said |= {(node.name, member.name): ast.get_docstring(member) for member in members if member.name[0] != "_"}
    compared = 0
    for names, text in said.items():
        value = functools.reduce(getattr, names, xla_shape._native)
        if text is not None:
            assert inspect.getdoc(value) == text, ".".join(names)
            compared += 1
    assert compared > 80


def test_it_needs_numpy_alone():
    blocked = "import sys; sys.modules.update(jax=None, ml_dtypes=None, ray=None); import xla_shape; "
    code = blocked + "print(xla_shape.Shape('bf16[8,128]').byte_size); xla_shape.relayout([[1, 2]]); "
    code += "\ntry: xla_shape.Shape('bf16[2]').dtype\nexcept xla_shape.ShapeError as error: print(error)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.splitlines() == ["2048", "elements of type bf16 need the package ml_dtypes: pip install ml_dtypes"]


def test_the_compiler_is_that_of_the_interpreter_that_runs(tmp_path):
    """A hostile directory has libtpu and modules named like Python's own; each leaves a file if it runs."""
    # An environment that is not active, with a file in place of its plug-in.
    environment, here = tmp_path / "environment", tmp_path / "here"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    packages = next(environment.glob("lib/python3*/site-packages"))
    # The packages of this interpreter are visible, as with --system-site-packages.
    (packages / "outer.pth").write_text("\n".join(path for path in sys.path if path.endswith("-packages")))
    for folder in (packages, here):
        (folder / "libtpu").mkdir(parents=True)
        (folder / "libtpu" / "libtpu.so").write_text(f"no library of {folder}")
    for name in ("contextlib", "signal", "xla_shape", "importlib", "site", "sitecustomize"):
        (here / f"{name}.py").write_text("open('mark', 'w').write(__name__)")
    (here / "p.mlir").write_text("module {}")
    unset = ("PJRT_PLUGIN", "TPU_LIBRARY_PATH", "VIRTUAL_ENV", "CONDA_PREFIX")
    variables = {name: value for name, value in os.environ.items() if name not in unset}
    code = "import sys; sys.path.remove(''); from xla_shape.__main__ import main; main()"
    for more in ({}, {"PYTHONPATH": ""}):
        program = [environment / "bin" / "python", "-E", "-c", code, "compile", "p.mlir"]
        done = subprocess.run(program, cwd=here, env=variables | more, capture_output=True, text=True, check=False)
        assert f"cannot load the plug-in `{packages / 'libtpu' / 'libtpu.so'}`" in done.stderr, done
        assert done.returncode == 1 and not (here / "mark").exists()
